"""What the report cites."""

from __future__ import annotations

import re
from pathlib import Path

import baselines
import testset
from reports import literature


def test_every_entry_has_author_title_and_something_it_belongs_to():
    for key, entry in literature.entries().items():
        assert entry["type"] in ("article", "book", "misc", "techreport"), key
        assert entry["author"], key
        assert entry["title"], key
        assert any(entry.get(kind) for kind in literature.KINDS), key


def test_every_solver_of_ours_and_every_rival_is_cited():
    missing = [
        name
        for name in baselines.names()
        if name.startswith(("herk_", "ida_", "scipy_", "solve_dae_", "casadi_"))
        and not literature.cited(solvers=[name])
    ]
    assert missing == []


def test_every_problem_that_names_the_test_set_cites_it():
    """The source is read from the text of the module: building every problem would take long."""
    files = [
        path
        for path in Path(testset.__file__).parent.glob("*.py")
        if "Test Set for IVP Solvers" in path.read_text(encoding="utf-8")
    ]
    problems = {path.stem for path in files} & set(testset.names())
    assert len(problems) >= 5
    assert [name for name in sorted(problems) if "testset2008" not in literature.cited(problems=[name])] == []


def test_only_what_is_shown_is_cited():
    assert set(literature.cited(solvers=["herk_dop853"])) == {"baese2017", "hairer1993"}
    assert set(literature.cited(forms=["ggl"])) == {"gear1985"}
    assert literature.cited() == {}


def test_bibtex_has_balanced_braces_and_unique_keys():
    text = literature.bibtex(literature.entries())
    assert text.count("{") == text.count("}")
    keys = re.findall(r"^@\w+\{(\w+),$", text, re.MULTILINE)
    assert len(keys) == len(set(keys)) == len(literature.entries())


def test_dois_have_the_form_of_dois():
    dois = [entry["doi"] for entry in literature.entries().values() if "doi" in entry]
    assert dois
    assert all(re.fullmatch(r"10\.\d{4,5}/\S+", doi) for doi in dois)
