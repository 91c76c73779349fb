"""Who is fastest, in words: the sentences about races to an error."""

from __future__ import annotations

from reports.tables import fraction, seconds, short, tolerance
from reports.words import Facts, counted, listed


def _of_the_time(ratio: float) -> str:
    return f"{fraction(ratio)} of the time" if ratio <= 1 else f"{short(ratio)} times the time"


def speed(f: Facts) -> str:
    """Return on how many problems half-explicit methods are ahead."""
    error, compared = tolerance(f["error"]), len(f["ahead"]) + len(f["level"]) + len(f["behind"])
    who = {"alone": "only half-explicit methods reach it", "missed": "only foreign solvers reach it"}
    who["none"] = "neither reach it"
    told = [f"{words} on {listed(f[name])}" for name, words in who.items() if f[name]]
    rest = f" With the tolerances tried {listed(told)}." if told else ""
    if f["open"]:
        rest += f" On {listed(f['open'])} the runs that would decide are missing: our limit stopped them,"
        rest += " or the tolerances tried end too early."
    if not compared:
        return (
            f"At an error of {error} no problem allows a comparison of half-explicit methods with foreign"
            f" solvers.{rest}"
        )
    parts = [
        f"a half-explicit method is faster than every foreign solver on {len(f['ahead'])} of"
        f" {counted(compared, 'problem')} on which both reach it"
    ]
    parts += [f"level on {len(f['level'])} ({listed(f['level'])})"] if f["level"] else []
    parts += [f"slower on {len(f['behind'])} ({listed(f['behind'])})"] if f["behind"] else []
    return (
        f"At an error of {error} {', '.join(parts)}; in the median it needs {'at most ' * bool(f['bounded'])}"
        f"{_of_the_time(f['median'])} of the fastest foreign one.{rest}"
    )


def duel(f: Facts) -> str:
    """Return the fastest of each group on one problem."""
    parts = []
    for group, best in f["best"].items():
        if best is not None:
            sooner = f["sooner"][group]
            ended = f" ({sooner[0]} ends above it after {seconds(sooner[1])})" if sooner else ""
            parts.append(f"{group} {best[0]} in {seconds(best[1])}{ended}")
        elif f["stopped"][group]:
            stopped = counted(f["stopped"][group], "curve")
            parts.append(f"{group}: open, because our limit stopped {stopped} before that")
        else:
            parts.append(f"{group}: none with the tolerances tried")
    return (
        f"Fastest to an error of {tolerance(f['error'])} on {f['case']}, group by group:"
        f" {'; '.join(parts) or 'nobody was asked'}{_ratio(f)}."
    )


def _ratio(f: Facts) -> str:
    """Return how the two sides compare: a bound, if a curve ends above the error before that."""
    mine, foreign = f["best"].get("half-explicit"), f["best"].get("foreign")
    if not (mine and foreign):
        return ""
    least = f["sooner"]["foreign"] or foreign
    bounded = f["sooner"]["foreign"] or f["sooner"]["half-explicit"]
    words, whom = ("at most ", "a foreign one") if bounded else ("", "the foreign one")
    return f". The half-explicit one needs {words}{_of_the_time(mine[1] / least[1])} of {whom}"
