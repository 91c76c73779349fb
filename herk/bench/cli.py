"""The command line of the bench; commands are carried out by modules of their own."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from herk.bench.arguments import OUT, parser
from herk.core import HerkError, InputError

if TYPE_CHECKING:
    from herk.bench.claims import Claim
    from herk.bench.sweeps import Choice

PUBLISHED = Path(__file__).parents[2] / "reports" / "published"
STANDARD = ("work_precision", "convergence", "drift")
FINE, CLAIM_FAILED, USAGE, NOTHING_RAN, INTERRUPTED, NO_READER = 0, 1, 2, 3, 130, 141


def say(text: str) -> None:
    """Tell people what is going on; results go to standard output."""
    print(text, file=sys.stderr, flush=True)


def standard(asked: argparse.Namespace) -> int:
    """Run the standard studies and write the report."""
    asked.study = list(STANDARD)
    return run(asked)


def run(asked: argparse.Namespace) -> int:
    """Run studies and write the report; studies of documents write their own tables and figures too."""
    from herk.bench import estimate, plugins, study, sweeps
    from herk.reproductions import documents

    told = [name for name in asked.study if name in documents.NAMES]
    files = {name for name in asked.study if name.endswith(".toml")}
    if wrong := set(asked.study) - set(told) - set(study.names()) - files:
        raise study.nearest(wrong.pop(), [*documents.NAMES, *study.names()], "study")
    _prepare(asked.out)
    own = plugins.load(asked.files or ())
    choice = sweeps.Choice(
        tuple(asked.problem or ()),
        tuple(asked.solver or ()),
        asked.tag,
        tuple(each.path for each in own),
        tuple(name for each in own for name in each.problems),
        tuple(name for each in own for name in each.solvers),
    )
    start, wanted, code = time.monotonic(), 0, FINE
    for name in asked.study:
        if name in told:
            code = max(code, document(name, asked.out, asked.quick))
        else:
            wanted += _study(name, choice, asked)
    if not told and not wanted:
        say("Nothing ran: no solver, form and problem fit what was asked for.")
        return NOTHING_RAN
    if not asked.no_report:
        report(asked)
    say(f"All of it took {estimate.words(time.monotonic() - start)}.")
    return code


def _study(name: str, choice: Choice, asked: argparse.Namespace) -> int:
    """Run what is left of a study; return how many runs it has."""
    from herk.bench import session, study

    plan = study.with_settings(
        study.load(name, asked.quick), repeats=asked.repeats, time_limit=asked.time_limit
    )
    how = {"jobs": asked.jobs, "cluster": asked.cluster, "fresh": asked.fresh, "whole": not asked.quick}
    tally = session.carry_out(plan, choice, asked.out, say=say, **how)
    say(f"{plan.name}: {tally}.")
    return tally.wanted


def _prepare(folder: Path) -> None:
    """Make the folder and look whether it can be written into: better now than after an hour of work."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The folder {str(folder)!r} cannot be made: {error.strerror}. Name another one with --out."
        ) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"The folder {str(folder)!r} cannot be written into. Name another one with --out.")


def document(name: str, out: Path, quick: bool) -> int:
    """Run the study of a document: tables, figures, records; 1 if a claim fails."""
    from herk.bench import store
    from herk.reproductions import documents
    from reports import seed_text

    study = import_module(f"herk.reproductions.{name}").run(quick, say)
    pictures = import_module(f"herk.reproductions.{name}.figures")
    folder = out / name
    if name == "thesis":
        from reports import thesis_text

        written, text = thesis_text.write(study, folder), thesis_text.plain(study)
    else:
        written, text = seed_text.write(study, folder, pictures.FIGURES), seed_text.plain(study)
    drawn = pictures.draw(study, folder)
    store.Store(out / store.NAME).append(documents.records(study, pictures.FIGURES, drawn, out))
    print(f"{text}\n\nWritten: {written[0]} and {len(written) + len(drawn) - 1} tables and figures beside it")
    return FINE if all(holds for _, holds in study.claims()) else CLAIM_FAILED


def report(asked: argparse.Namespace) -> int:
    """Write tables, figures and page from the records."""
    from herk.bench import store
    from reports import export, page

    if not (asked.out / store.NAME).exists():
        say(
            f"There are no records in {asked.out}; `python -m herk.bench run work_precision` makes some,"
            " --out names another folder."
        )
        return NOTHING_RAN
    with store.alone(asked.out, say):
        files, note = export.runs(asked.out)
        written = page.write(asked.out)
    if note:
        say(note)
    print(f"Report: {written}\nRecords: {asked.out / store.NAME}, as tables: {', '.join(map(str, files))}")
    return FINE


def show(asked: argparse.Namespace) -> int:
    """Print what there is to run."""
    from herk.bench import listing
    from herk.reproductions.documents import NAMES

    print(listing.everything(NAMES) if asked.what is None else listing.one(asked.what, NAMES))
    return FINE


def compare(asked: argparse.Namespace) -> int:
    """Print what changed."""
    from reports import compare as comparing

    found = comparing.compare(asked.old, asked.new)
    print(found.text)
    return CLAIM_FAILED if found.regression else FINE if found.common else NOTHING_RAN


def check(asked: argparse.Namespace) -> int:
    """Test every claim, and every sentence of the page in OUT and of the published one."""
    from herk.bench import claims

    found = claims.check(asked.out, say, asked.problem, asked.quick)
    if asked.problem is None:
        found += sentences(asked.out) + sentences(PUBLISHED)
    for claim in found:
        print(
            f"{'PASS' if claim.holds else 'FAIL'} "
            f" {claim.text}{f': {claim.evidence}' if claim.evidence else ''}"
        )
    if not found:
        return NOTHING_RAN
    return FINE if all(claim.holds for claim in found) else CLAIM_FAILED


def sentences(folder: Path) -> list[Claim]:
    """Return the sentences of a page as claims: each is counted again from the records beside the page."""
    from herk.bench import claims
    from reports import proof

    found = proof.of_folder(folder)
    if not found:
        say(f"no page with records in {folder}: none of its sentences is checked")
    return [claims.Claim(f"{folder}: {each.sentence}", each.holds, each.evidence) for each in found]


def recommend(asked: argparse.Namespace) -> int:
    """Print advice for a model of the user, and write it as a page."""
    from herk.bench.recommend import recommend as advise
    from reports import recommend_page

    _prepare(asked.out)
    found = advise(asked.file, asked.error, asked.budget, say, asked.files or ())
    if found.verdict == "unusable":
        raise InputError(found.advice)
    print(found.text)
    print(f"\nPage: {recommend_page.write(found, asked.out)}")
    return FINE


def new(asked: argparse.Namespace) -> int:
    """Write a template."""
    from herk.bench.new import create

    path = create(asked.what, asked.name)
    # A solver in plain Python needs more time than those the quick study is made for, and is compared on one
    # problem first.
    more = "--problem pendulum --time-limit 10 " if asked.what == "solver" else ""
    start = (
        "python"
        if asked.what == "thesis-problem"
        else f"python -m herk.bench run work_precision --quick {more}--file"
    )
    print(f"Written: {path}\nRun it: {start} {shlex.quote(str(path))}")
    return FINE


COMMANDS: dict[str | None, Callable[[argparse.Namespace], int]] = {
    None: standard,
    "list": show,
    "run": run,
    "report": report,
    "compare": compare,
    "check": check,
    "recommend": recommend,
    "new": new,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a command line and return its exit code."""
    asked = parser().parse_args(arguments)
    asked.out = asked.out or OUT
    try:
        code = COMMANDS[asked.command](asked)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read our output, such as `head`, has enough: nothing is wrong
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NO_READER
    except HerkError as error:
        say(f"{parser().prog}: {error}")
        return USAGE
    except OSError as error:  # most likely a disk that is full
        where = f" ({error.filename})" if error.filename else ""
        say(
            f"{parser().prog}: Files could not be written: {error.strerror or error}{where}. What was stored"
            " before is unharmed; make room, or name another folder with --out, and give the same command"
            " again."
        )
        return USAGE
    except KeyboardInterrupt:
        resume = f" What has been run is stored in {asked.out}; the same command goes on from there."
        say(f"\nInterrupted.{resume if asked.command in (None, 'run') else ''}")
        return INTERRUPTED
    return code
