"""What there is to run, as aligned tables: problems, solvers, methods, studies."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

import baselines
import testset
from herk.bench import study


def everything(documents: Sequence[str]) -> str:
    """Return all names, one kind in a line; `documents` are studies beside those written as files."""
    from herk.integrate.steppers.half_explicit.tableaus import METHODS

    known = {
        "problems": testset.names(),
        "solvers": baselines.names(),
        "methods": sorted(METHODS),
        "studies": sorted([*study.names(), *documents]),
    }
    return "\n".join(f"{kind}: {', '.join(names)}" for kind, names in known.items())


def one(kind: str, documents: Sequence[str]) -> str:
    """Return a table of one kind."""
    if kind == "studies":
        return studies(documents)
    return {"problems": problems, "solvers": solvers, "methods": methods}[kind]()


def problems() -> str:
    """Return one row for every problem: what its module says of it, because to build them all takes long."""
    return aligned([("problem", "what", "tags"), *((name, *_about(name)) for name in testset.names())])


def _about(name: str) -> tuple[str, str]:
    if find_spec(f"testset.{name}"):
        module = import_module(f"testset.{name}")
        return (module.__doc__ or "").strip().splitlines()[0], " ".join(sorted(module.TAGS))
    own = testset.get(name)
    return own.title, " ".join(sorted(own.tags))


def solvers() -> str:
    """Return one row for every solver, ours and foreign, and for every plugin that could not be loaded."""
    rows = [("solver", "version", "forms", "available")]
    for name in baselines.names():
        solver = baselines.get(name)
        available, reason = solver.available()
        rows.append(
            (
                name,
                str(getattr(solver, "version", "")) or "-",
                " ".join(solver.forms),
                "yes" if available else f"no: {reason}",
            )
        )
    rows += [
        (name, "-", "-", f"no: the plugin cannot be loaded: {reason}")
        for name, reason in baselines.broken().items()
    ]
    return aligned(rows)


def methods() -> str:
    """Return one row for every half-explicit method."""
    from herk.integrate.steppers.half_explicit.tableaus import METHODS

    rows = [("method", "order", "steps")]
    rows += [
        (name, str(METHODS[name].order), "adaptive" if METHODS[name].adaptive else "fixed")
        for name in sorted(METHODS)
    ]
    return aligned(rows)


def studies(documents: Sequence[str]) -> str:
    """Return one row for every study."""
    rows = [("study", "what")]
    rows += [(name, study.load(name).title) for name in study.names()]
    about = {"fitting": "fits to data: exact derivatives against finite differences"}
    document = "a document reproduced: its numbers against ours"
    rows += [(name, about.get(name, document)) for name in documents]
    return aligned(rows)


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines with columns under each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
