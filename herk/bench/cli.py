"""The command line of the bench: without a command the standard comparison, `list` and `run` for the studies."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

OUT = Path("reports/out")
FINE, CLAIM_FAILED = 0, 1


def say(text: str) -> None:
    """Report progress where somebody looks."""
    if sys.stderr.isatty():
        print(text, file=sys.stderr)


def thesis(folder: Path, quick: bool) -> int:
    """Run the study of the thesis, print its tables and write them with the figures."""
    from herk.bench.thesis_study import run
    from reports import thesis_figures, thesis_text

    study = run(quick, say)
    files = [*thesis_text.write(study, folder), *thesis_figures.draw(study, folder)]
    print(f"{thesis_text.plain(study)}\n\nWritten: {files[3]} and {len(files) - 1} tables and figures beside it")
    return FINE if all(holds for _, holds in study.claims()) else CLAIM_FAILED


STUDIES: dict[str, Callable[[Path, bool], int]] = {"thesis": thesis}


def parser() -> argparse.ArgumentParser:
    """Return the parser; options of the standard comparison stand before a command."""
    top = argparse.ArgumentParser(prog="python -m herk.bench", description="Compare solvers on the pendulum, 10 periods, or run a study.")
    top.add_argument("--out", type=Path, default=None, help="where to write (reports/out, for a study reports/out/STUDY)")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    listing = commands.add_parser("list", help="what there is to run")
    listing.add_argument("what", nargs="?", choices=("problems", "solvers", "methods", "studies"), help="only these")
    running = commands.add_parser("run", help="run studies")
    running.add_argument("study", nargs="+", choices=sorted(STUDIES), metavar="STUDY", help=", ".join(sorted(STUDIES)))
    running.add_argument("--quick", action="store_true", help="leave the longest runs out")
    running.add_argument("--out", dest="study_out", type=Path, default=None, help="where to write (reports/out/STUDY)")
    return top


def show(what: str | None) -> None:
    """Print names, one in a line; solvers with version, forms and availability."""
    import baselines
    import testset
    from herk.bench import listing
    from herk.method.tableaus import METHODS

    known = {"problems": testset.names(), "solvers": baselines.names(), "methods": sorted(METHODS), "studies": sorted(STUDIES)}
    for name, entries in known.items():
        if what is None:
            print(f"{name}: {', '.join(entries)}")
        elif what == name:
            print(listing.solvers() if name == "solvers" else "\n".join(entries))


def main(standard: Callable[[Path], int], arguments: Sequence[str] | None = None) -> int:
    """Carry out a command line; `standard` is the comparison that runs without a command."""
    asked = parser().parse_args(arguments)
    if asked.command is None:
        return standard(asked.out or OUT)
    if asked.command == "list":
        show(asked.what)
        return FINE
    folder = asked.study_out or asked.out
    return max(STUDIES[name](folder or OUT / name, asked.quick) for name in asked.study)
