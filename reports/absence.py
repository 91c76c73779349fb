"""What is not there, in words: nothing of a kind, nothing that could be measured, no such solver."""

from __future__ import annotations

from reports.words import Facts

UNMEASURED = {
    "fixed": "runs with fixed steps reached the end",
    "drift": "runs of the drift study came to a point that could be measured",
}
NONE = {
    "work": "There are no runs with tolerances in these records, so work and precision cannot be compared.",
    "problem": "There are no runs with tolerances on {} in these records.",
    "profiles": "There are too few problems with a solution in these records for a profile.",
    "tolerance": "No run with a tolerance has an error that is known.",
    "fixed": "There are no runs with fixed steps in these records.",
    "drift": "There are no runs of the drift study in these records.",
    "scaling": "There are no runs of the study of sizes in these records.",
    "problems": "There are no records of problems.",
    "standing": "There are no runs with tolerances on problems as they stand in these records.",
    "steps": "There are no series of step sizes in these records.",
    "asked": "There are no runs with tolerances in these records.",
    "printed": "No published end values are in these records.",
    "others": "There are no records of other problems.",
    "documents": "There are no studies of documents in these records.",
}


def none(f: Facts) -> str:
    """Say that the records hold nothing of a kind."""
    return NONE[f["what"]].format(f["name"])


def unmeasured(f: Facts) -> str:
    """Say that runs were tried, and none came to a number."""
    return f"None of the {f['runs']} {UNMEASURED[f['what']]}; see Failures."


def absent(f: Facts) -> str:
    """Say that a solver that was asked for by name did not run, and who stands in for it."""
    why = f" ({f['why']})" if f["why"] else ""
    instead = f"; IDA through {f['through']} ({f['instead']}) stands in for it" if f["instead"] else ""
    return f"{f['solver']} ({f['package']}) did not run here{why}{instead}."
