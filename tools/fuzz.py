"""Random models against truths of their own, as many as the time allows: `python tools/fuzz.py --minutes 20`.

Prints a line per fault as it is found and, at the end, a table family x outcome with the seeds of every
fault. Exit code: 1 if there is a fault, 3 if there was no time for a single member. `--replay family:seed`
shows one member again: what came of it, and a short script for a colleague.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the fuzzer lives with the tests, which are not installed

from tests.fuzz.campaign import Record, as_known, campaign, faults, table, tasks
from tests.fuzz.examine import examine
from tests.fuzz.families import FAMILIES

KNOWN = Path(__file__).parents[1] / "tests" / "fuzz" / "known_faults.toml"


def arguments(given: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=1.0, help="how long to go on (default 1)")
    parser.add_argument("--members", type=int, help="stop after so many members of each family")
    parser.add_argument(
        "--seed", type=int, default=1_000, help="seed of the first member of each family (default 1000)"
    )
    parser.add_argument(
        "--family", action="append", choices=list(FAMILIES), help="only this family; may be repeated"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument(
        "--limit",
        type=float,
        default=60.0,
        help="seconds of computing after which a member counts as hanging (default 60)",
    )
    parser.add_argument("--scripts", action="store_true", help="print the script of every fault")
    parser.add_argument(
        "--known", action="store_true", help="write the faults to tests/fuzz/known_faults.toml"
    )
    parser.add_argument("--replay", metavar="FAMILY:SEED", help="examine one member and print its script")
    return parser.parse_args(given)


def tell(record: Record) -> None:
    if faults([record]):
        print(
            f"{record['family']}:{record['seed']} ({record['kind']}) {record['outcome']}:"
            f" {record['detail'][:300]}",
            flush=True,
        )


def replay(label: str) -> int:
    family, _, seed = label.partition(":")
    if family not in FAMILIES or not seed.isdigit():
        sys.exit(f"--replay takes FAMILY:SEED with a family of {', '.join(FAMILIES)}, not {label!r}.")
    print(FAMILIES[family](int(seed)).script(), flush=True)  # before it is solved, which may take for ever
    verdict, _, script = examine(family, int(seed))
    where = script.splitlines()[-3:] if verdict.t is not None else []
    print(f"# {verdict.outcome.value}: {verdict.detail}", *where, sep="\n")
    return int(verdict.outcome.fault)


def main(given: list[str] | None = None) -> int:
    asked = arguments(given)
    if asked.replay:
        return replay(asked.replay)
    until = time.monotonic() + 60 * asked.minutes
    stream = tasks(asked.family or list(FAMILIES), asked.seed, asked.members, until)
    records = campaign(stream, asked.jobs, asked.limit, tell)
    if not records:
        print("Nothing was examined: give it more --minutes.")
        return 3
    if asked.scripts:
        print("\n\n".join(record["script"] for record in faults(records)))
    if asked.known:
        KNOWN.write_text(as_known(records))
    print(table(records))
    return int(bool(faults(records)))


if __name__ == "__main__":
    sys.exit(main())
