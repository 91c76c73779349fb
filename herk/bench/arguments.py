"""What the command line of the bench understands."""

from __future__ import annotations

import argparse
from pathlib import Path

OUT = Path("reports/out")
EXITS = (
    "Exit codes: 0 success (a solver that fails on a hard problem is data), 1 a claim failed or something got"
    " worse, 2 wrong usage, 3 nothing ran."
)
RECOMMEND = (
    "find the best solver for your model: try every one that fits, against a reference two solvers agree on"
)


def parser() -> argparse.ArgumentParser:
    """Return the parser; what holds for the standard report may stand without a command."""
    top = argparse.ArgumentParser(
        prog="python -m herk.bench",
        epilog=EXITS,
        description=(
            "Run solvers side by side and write a report. Without a command, run the standard studies:"
            " work-precision, convergence and drift."
        ),
    )
    _running_options(top)
    commands = top.add_subparsers(dest="command", metavar="COMMAND")

    def command(name: str, words: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=words, description=words, argument_default=argparse.SUPPRESS)

    listing = command("list", "list problems, solvers, methods and studies")
    kinds = ("problems", "solvers", "methods", "studies")
    listing.add_argument("what", nargs="?", choices=kinds, default=None, help="list only these")
    running = command("run", "run studies; results already stored are not computed again")
    running.add_argument(
        "study",
        nargs="+",
        metavar="STUDY",
        help="name of a study (see `list studies`) or path of a TOML file",
    )
    _running_options(running)
    _out(command("report", "rebuild tables, figures and page from stored records, without running anything"))
    comparing = command(
        "compare", "show what changed between two sets of records; exit 1 if anything got worse"
    )
    comparing.add_argument("old", type=Path, metavar="OLD", help="folder or file with the old records")
    comparing.add_argument("new", type=Path, metavar="NEW", help="folder or file with the new records")
    _checking_options(command("check", "test every claim and print PASS or FAIL; exit 1 if any fails"))
    _recommending_options(command("recommend", RECOMMEND))
    making = command("new", "write a commented template that runs as it is")
    making.add_argument("what", choices=("problem", "solver", "thesis-problem"), help="kind of template")
    making.add_argument("name", metavar="NAME", help="name of the new file, without .py")
    return top


def _checking_options(place: argparse.ArgumentParser) -> None:
    _out(place)
    place.add_argument(
        "--problem", metavar="GLOB", default=None, help="check the references of these problems only"
    )
    place.add_argument(
        "--quick", action="store_true", default=argparse.SUPPRESS, help="skip the longest checks"
    )


def _recommending_options(place: argparse.ArgumentParser) -> None:
    place.add_argument(
        "file", type=Path, metavar="FILE", help="Python file that defines `model`, `dae` or `problem()`"
    )
    place.add_argument("--error", type=float, default=1e-6, help="error you can accept (default: 1e-6)")
    place.add_argument(
        "--budget", type=float, default=240.0, metavar="S", help="time budget in seconds (default: 240)"
    )
    _files(place)
    _out(place)


def _files(place: argparse.ArgumentParser) -> None:
    words = "Python file with your own model, problem or SOLVERS (repeatable)"
    place.add_argument("--file", dest="files", action="append", type=Path, metavar="PATH", help=words)


def _out(place: argparse.ArgumentParser) -> None:
    place.add_argument(
        "--out", type=Path, metavar="DIR", help=f"folder for records and report (default: {OUT})"
    )


def _running_options(place: argparse.ArgumentParser) -> None:
    many = {"action": "append", "metavar": "GLOB"}
    yes = {
        "action": "store_true",
        "default": place.argument_default or False,
    }  # a command leaves what stands before it
    place.add_argument(
        "--problem",
        **many,
        help="run only these problems (repeatable), including ones the study does not list",
    )
    place.add_argument(
        "--solver", **many, help="run only these solvers (repeatable), including ones the study does not list"
    )
    place.add_argument("--tag", help="run only problems with this tag")
    _files(place)
    place.add_argument("--quick", **yes, help="run a small selection; takes about a minute")
    place.add_argument(
        "--jobs",
        type=_count,
        metavar="N",
        help="number of parallel processes (default: 1 for timed studies, otherwise one per core)",
    )
    place.add_argument("--cluster", metavar="ADDRESS", help="run on the Dask scheduler at this address")
    place.add_argument(
        "--time-limit", type=_seconds, metavar="S", help="time limit for one solve, in seconds"
    )
    place.add_argument("--repeats", type=_count, metavar="N", help="minimum number of timed repetitions")
    place.add_argument("--no-report", **yes, help="store records but write no report")
    place.add_argument("--fresh", **yes, help="repeat stored runs too (failed runs are always repeated)")
    _out(place)


def _count(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {text}")
    return number


def _seconds(text: str) -> float:
    if not 0 < (number := float(text)) < float("inf"):
        raise argparse.ArgumentTypeError(f"must be positive, not {text}")
    return number
