"""A file to start from that runs at once: a problem, a solver, or the mask of the thesis."""

from __future__ import annotations

import keyword
from pathlib import Path

from herk.core import InputError, nearest

HERE = Path(__file__).parent
TEMPLATES = {
    "problem": HERE / "templates" / "problem.txt",
    "solver": HERE / "templates" / "solver.txt",
    "thesis-problem": HERE.parent / "thesis" / "mask.txt",
}


def create(what: str, name: str, folder: Path | None = None) -> Path:
    """Write NAME.py into the folder (default: the current one); nothing is ever overwritten."""
    if what not in TEMPLATES:
        raise nearest(what, TEMPLATES, "template")
    _check_name(what, name)
    path = Path.cwd() / f"{name}.py" if folder is None else Path(folder) / f"{name}.py"
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {str(path.parent)!r} to write into; make it first.")
    text = TEMPLATES[what].read_text(encoding="utf-8").replace("@name@", name)
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
