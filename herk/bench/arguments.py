"""What the command line of the bench understands."""

from __future__ import annotations

import argparse
from pathlib import Path

OUT = Path("reports/out")
EXITS = (
    "exit codes: 0 fine (a solver that fails on a hard problem is data), 1 a claim failed or something got"
    " worse, 2 usage, 3 nothing ran"
)
RECOMMEND = "which solver for my model? every fitting one is tried against a reference two solvers agree on"


def parser() -> argparse.ArgumentParser:
    """Return the parser; what holds for the standard report may stand without a command."""
    top = argparse.ArgumentParser(
        prog="python -m herk.bench",
        epilog=EXITS,
        description=(
            "Run solvers side by side and write a report. Without a command: work and precision, convergence"
            " and drift."
        ),
    )
    _running_options(top)
    commands = top.add_subparsers(dest="command", metavar="COMMAND")

    def command(name: str, words: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=words, description=words, argument_default=argparse.SUPPRESS)

    listing = command("list", "what there is to run")
    kinds = ("problems", "solvers", "methods", "studies")
    listing.add_argument("what", nargs="?", choices=kinds, default=None, help="only these")
    running = command("run", "run studies; what is stored already is not run again")
    running.add_argument(
        "study", nargs="+", metavar="STUDY", help="a name (see `list studies`) or the path of a TOML file"
    )
    _running_options(running)
    _out(command("report", "write tables, figures and page again from the stored records; nothing is run"))
    comparing = command("compare", "what changed between two record sets; exit 1 if something got worse")
    comparing.add_argument("old", type=Path, metavar="OLD", help="a folder or a file of records")
    comparing.add_argument("new", type=Path, metavar="NEW")
    _checking_options(command("check", "test every claim and print PASS or FAIL; exit 1 if one fails"))
    _recommending_options(command("recommend", RECOMMEND))
    making = command("new", "write a commented template that runs")
    making.add_argument("what", choices=("problem", "solver", "thesis-problem"))
    making.add_argument("name", metavar="NAME")
    return top


def _checking_options(place: argparse.ArgumentParser) -> None:
    _out(place)
    place.add_argument("--problem", metavar="GLOB", default=None, help="references of these problems only")
    place.add_argument(
        "--quick", action="store_true", default=argparse.SUPPRESS, help="leave the longest checks out"
    )


def _recommending_options(place: argparse.ArgumentParser) -> None:
    place.add_argument(
        "file", type=Path, metavar="FILE", help="a Python file that defines `model`, `dae` or `problem()`"
    )
    place.add_argument("--error", type=float, default=1e-6, help="the accuracy you want (1e-6)")
    place.add_argument(
        "--budget", type=float, default=240.0, metavar="S", help="seconds after which all has ended (240)"
    )
    _files(place)
    _out(place)


def _files(place: argparse.ArgumentParser) -> None:
    words = "a Python file with something to solve or SOLVERS of your own (may be repeated)"
    place.add_argument("--file", dest="files", action="append", type=Path, metavar="PATH", help=words)


def _out(place: argparse.ArgumentParser) -> None:
    place.add_argument("--out", type=Path, metavar="DIR", help=f"where records and report are ({OUT})")


def _running_options(place: argparse.ArgumentParser) -> None:
    many = {"action": "append", "metavar": "GLOB"}
    yes = {
        "action": "store_true",
        "default": place.argument_default or False,
    }  # a command leaves what stands before it
    place.add_argument(
        "--problem",
        **many,
        help="only these problems (may be repeated); one the study does not name is added",
    )
    place.add_argument(
        "--solver", **many, help="only these solvers (may be repeated); one the study does not name is added"
    )
    place.add_argument("--tag", help="only problems with this tag")
    _files(place)
    place.add_argument("--quick", **yes, help="a small selection, about a minute")
    place.add_argument(
        "--jobs",
        type=_count,
        metavar="N",
        help="processes at a time (1 for timed studies, else the number of cores)",
    )
    place.add_argument("--cluster", metavar="ADDRESS", help="run on the Dask scheduler at this address")
    place.add_argument("--time-limit", type=_seconds, metavar="S", help="seconds for one solve")
    place.add_argument(
        "--repeats", type=_count, metavar="N", help="least number of timed repetitions of a run"
    )
    place.add_argument("--no-report", **yes, help="store records only")
    place.add_argument(
        "--fresh", **yes, help="run again what is stored (failed runs are run again in any case)"
    )
    _out(place)


def _count(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {text}")
    return number


def _seconds(text: str) -> float:
    if not 0 < (number := float(text)) < float("inf"):
        raise argparse.ArgumentTypeError(f"must be positive, not {text}")
    return number
