"""A file to start from: a commented problem, solver.

Or mask of the program of the thesis, that runs at once.
"""

from __future__ import annotations

import keyword
from pathlib import Path

from herk.core import InputError, nearest

FOLDER = Path(__file__).with_name("templates")
KINDS = ("problem", "solver", "thesis-problem")


def create(what: str, name: str, folder: Path | None = None) -> Path:
    """Write NAME.py into the folder (default: the current one) and return its path.

    Nothing is ever overwritten.
    """
    if what not in KINDS:
        raise nearest(what, KINDS, "template")
    _check_name(what, name)
    path = Path.cwd() / f"{name}.py" if folder is None else Path(folder) / f"{name}.py"
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {str(path.parent)!r} to write into; make it first.")
    text = (FOLDER / f"{what}.txt").read_text(encoding="utf-8").replace("@name@", name)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(
            f"{path} is there already and is not overwritten; choose another name, or move it away."
        ) from None
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from None
    return path


def _check_name(what: str, name: str) -> None:
    """Refuse what cannot be the name of a module, and what is taken."""
    import baselines
    import testset

    if (
        not (name.isidentifier() and name.isascii() and name == name.lower())
        or keyword.iskeyword(name)
        or name.startswith("_")
    ):
        raise InputError(
            f"{name!r} cannot be a name: use small letters, digits and underscores, a letter first, such as"
            " 'my_own'."
        )
    if what != "thesis-problem" and name in (testset.names() if what == "problem" else baselines.names()):
        raise InputError(f"A {what} named {name!r} is there already; choose another name.")
