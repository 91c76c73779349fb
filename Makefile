# `make bench` and `make test` are each complete on a fresh machine with Python 3.11+ and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
CONSTRAIN := --constraint constraints.txt

.PHONY: help bench published test pytest lint newest docs

help:
	@echo "make bench   set up, run the comparison, say where the report is"
	@echo "make published  every study from clean records of this commit, put into reports/published"
	@echo "make test    set up, lint, run every test"
	@echo "make lint    set up, check style and types"
	@echo "make docs    set up, build the documentation, say where it is"
	@echo "make newest  run every test with the newest version of every library, in .venv-newest"

bench: $(VENV)/.installed $(VENV)/.scikits
	@$(BIN)/python -m herk.bench

# Stopped, it goes on where it was; records of another commit are left alone.
published: $(VENV)/.installed $(VENV)/.scikits
	@$(BIN)/python tools/publish.py

# Style and types are checked beside the tests, which leave a core idle now and then.
test: $(VENV)/.scikits $(VENV)/.rivals $(VENV)/.browser
	@$(MAKE) --no-print-directory -j 2 lint pytest

# Many tests start processes of their own: bytecode is kept, whatever the machine says, and they start twice as fast.
# Three processes on two cores took longer than two; neighbours share what they set up, so each begins with one half.
pytest: $(VENV)/.installed
	@PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n 2 --dist worksteal

lint: $(VENV)/.installed
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy

# Pictures and lists are made anew; warnings are errors, so that no link is broken.
docs: $(VENV)/.installed
	@$(BIN)/pip install -qq --disable-pip-version-check $(CONSTRAIN) --editable ".[docs]"
	@rm -rf docs/_build docs/pictures docs/generated
	@$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "The documentation is in docs/_build/html/index.html"

newest:
	@$(MAKE) VENV=.venv-newest CONSTRAIN= test

# Stamps: nothing is installed again until pyproject.toml or constraints.txt changes. Other interpreter: make PYTHON=python3.12 ...
$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.version_info < (3, 11) and sys.exit("herk needs Python 3.11 or newer; name one: make PYTHON=python3.12 test")'
	@echo "Setting up $(VENV) (a minute or two) ..."
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install -qq --disable-pip-version-check $(CONSTRAIN) --editable ".[dev]"
	@touch $@

# The script makes its stamp only if scikits.odes could be installed; without it the report says so and its tests are skipped.
$(VENV)/.scikits: $(VENV)/.installed
	@tools/install_scikits.sh $(BIN)/python $@

# Rivals that install in two minutes, from wheels and Debian packages; one that does not is named, and its tests are skipped.
$(VENV)/.rivals: $(VENV)/.installed tools/install_rivals.sh
	@CONSTRAIN="$(CONSTRAIN)" tools/install_rivals.sh $(BIN)/python $@

# The same for the browser in which the page is tested.
$(VENV)/.browser: $(VENV)/.installed
	@tools/install_browser.sh $@
