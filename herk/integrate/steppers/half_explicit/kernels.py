"""Text of kernels for one model, one selection and one tableau, every sum written out.

Made where a run is long enough to pay for them.

They do what `step.kernel` does at run-time sizes, in the same order, so a run may change from one to the
other at any step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from herk.core.dae import StageSource
from herk.integrate.steppers.half_explicit import layout
from herk.integrate.steppers.half_explicit.layout import HalfExplicit, rows_of, sizes
from herk.integrate.steppers.half_explicit.probes import probes
from herk.integrate.steppers.half_explicit.tableau import Tableau

UNROLLED_TERMS = 600  # products in the Runge-Kutta sums up to which they are written out
UNROLLED_STATES = 12
INLINED_LINES = 700  # of stage code, all stages together, up to which none of it is called

CONSTANTS = {
    name: value for name, value in vars(layout).items() if name.isupper() and isinstance(value, (int, float))
}
CONSTANTS |= {name.upper(): place for name, place in HalfExplicit.constants({}).items()}

TASKS = """
def kernel(task, t, h, state):
    mem, ints = floats_at(state), wholes_at(state)
    if task == ACCEPT:
        return accept(h, mem, ints)
    if task == SPREAD:
        return spread(t, mem, ints)
    if task == DERIVATIVE:
        return first_derivative(t, mem, ints)
    if task == ALGEBRAIC:
        return solve_new(t, mem, ints)
    if task == EXTEND:
        return extend(t, h, mem, ints)
"""


def is_small(n: int, m: int, tableau: Tableau) -> bool:
    """Tell whether the step is written out with every number in a local variable."""
    s = tableau.stages
    return n <= UNROLLED_STATES and (n - m + 1) * s * (s + 1) // 2 <= UNROLLED_TERMS


def kernel_text(source: StageSource, tableau: Tableau, n: int, m: int, parameters: int) -> str:
    """Return the text that defines `kernel` for this stage code and tableau, every sum written out."""
    written = source.text
    if written.count("\n") * tableau.stages <= INLINED_LINES:
        for name in ("complete", "rate"):
            written = written.replace(f"def {name}(", f"@inline\ndef {name}(")
    return written + "\n" + "\n".join(Unrolled(source, tableau, n, m, parameters).lines())


class Unrolled:
    """The step with its sums written out: every stage value, derivative and component is a local scalar."""

    def __init__(self, source: StageSource, tableau: Tableau, n: int, m: int, parameters: int) -> None:
        """Collect the names the lines are made of."""
        self.source, self.n, self.m = source, n, m
        self.stages, self.extra = tableau.stages, len(tableau.dense_c)
        self.rows, self.nodes, self.estimates = rows_of(tableau)
        places = sizes(n, m, tableau, parameters)
        self.start = HalfExplicit.constants({**places, "work": 0})
        self.probes = probes(tableau) if m else None
        self.free = set(source.free)
        self.columns = (*source.differential, *source.guessed[: source.predicted])
        self.extrapolated = source.guessed[source.predicted :]

    def lines(self) -> Iterator[str]:
        """Yield the functions of a kernel; the step itself stands in `kernel`, to save a call."""
        yield from self.function("accept(h, mem, ints)", self.acceptance())
        yield from self.function("extend(t, h, mem, ints)", self.extension())
        loads = [f"z0_{i} = mem[{self.start['y'] + i}]" for i in range(self.n)]
        keep = [f"mem[{self.start['k'] + j}] = k0_{j}" for j in range(len(self.columns))]
        yield from self.function(
            "first_derivative(t, mem, ints)",
            [self.views(), *loads, self.rate(0, "t"), *keep, "ints[NFEV] += 1", "return 0"],
        )
        keep = [f"mem[{self.start['new'] + i}] = z0_{i}" for i in self.source.algebraic]
        yield from self.function("solve_new(t, mem, ints)", self.solved_near_new([], keep))
        error = self.start["error"]
        moved = [f"z0_{c} += mem[{error + j}]" for j, c in enumerate(self.source.differential)]
        keep = [f"mem[{error + i}] = z0_{i} - mem[{self.start['new'] + i}]" for i in range(self.n)]
        yield from self.function("spread(t, mem, ints)", self.solved_near_new(moved, keep))
        yield TASKS.rstrip()
        yield from (
            f"    {line}" for line in [*self.load(1), *self.sequence(1, self.stages + 1), *self.store()]
        )
        yield ""

    def solved_near_new(self, moved: Sequence[str], keep: Sequence[str]) -> list[str]:
        """Return the lines that complete the new point, or one that was moved from it."""
        loads = [f"z0_{i} = mem[{self.start['new'] + i}]" for i in range(self.n)]
        counted = [f"ints[NGEV] += {1 if self.m else 0}", "ints[NIT] += it0", "return 0"]
        solved = self.complete(0, "t", "mem[TIGHT]")
        return [self.views(), *loads, *moved, *solved, *keep, *self.pivots(), *counted]

    @staticmethod
    def function(head: str, body: Sequence[str]) -> Iterator[str]:
        """Yield a compiled function."""
        yield from (f"def {head}:", *(f"    {line}" for line in body), "", "")

    def views(self) -> str:
        """Return the line that names the memory stage code needs."""
        floor, work, par = (self.start[name] for name in ("floor", "work", "parameters"))
        return f"floor, work, par = mem[{floor}:], mem[{work}:], mem[{par}:]"

    def load(self, stages: int) -> list[str]:
        """Return the lines that load the point, the slopes and the first stages."""
        lines = [
            self.views(),
            *(f"y{i} = mem[{self.start['y'] + i}]" for i in (*self.columns, *self.extrapolated)),
        ]
        lines += [f"slope{i} = mem[{self.start['slope'] + i}]" for i in self.extrapolated]
        lines += [f"sign{j} = mem[{self.start['sign'] + j}]" for j in range(self.source.pivots)]
        return lines + [
            f"k{s}_{j} = mem[{self.start['k'] + s * self.n + j}]"
            for s in range(stages)
            for j in range(len(self.columns))
        ]

    def sequence(self, first: int, last: int) -> list[str]:
        """Return the lines of the stages first .. last - 1."""
        lines = []
        for i in range(first, last):
            lines.append(f"t{i} = t + {float(self.nodes[i])!r} * h")
            lines += [
                f"z{i}_{c} = y{c} + h * ({self.sum(self.rows[i], j)})" for j, c in enumerate(self.columns)
            ]
            lines += [f"z{i}_{c} = y{c} + {float(self.nodes[i])!r} * h * slope{c}" for c in self.extrapolated]
            lines += self.complete(i, f"t{i}", "mem[TIGHT]" if i == self.stages else "mem[TOLERANCE]")
            lines.append(self.rate(i, f"t{i}"))
        iterations = " + ".join(f"it{i}" for i in range(first, last))
        return [
            *lines,
            f"ints[NFEV] += {last - first}",
            f"ints[NGEV] += {last - first if self.m else 0}",
            f"ints[NIT] += {iterations}",
        ]

    @staticmethod
    def sum(weights: Sequence[float], j: int) -> str:
        """Return the weighted sum of the derivatives of column j."""
        return " + ".join(f"{float(w)!r} * k{s}_{j}" for s, w in enumerate(weights) if w != 0.0) or "0.0"

    def complete(self, i: int, t: str, tolerance: str) -> list[str]:
        """Return the lines that complete stage i.

        Its unset components are passed as zero, they have no influence.
        """
        known = {*self.columns, *self.extrapolated} if i else set(range(self.n))
        arguments = ", ".join(f"z{i}_{c}" if c in known else "0.0" for c in range(self.n))
        results = [
            f"it{i}",
            *(f"z{i}_{c}" for c in self.source.algebraic),
            *(f"p{j}" for j in range(self.source.pivots)),
        ]
        call = (
            f"{', '.join(results)}{',' if len(results) == 1 else ''} = complete({t}, {arguments},"
            f" {tolerance}, floor, work, par)"
        )
        lines = [call, f"if it{i} < 0:", f"    mem[STAGE_T] = {t}", "    return NO_CONVERGENCE"]
        if self.probes is not None and i in self.probes[0]:
            lines += [f"q{i}_{j} = p{j}" for j in range(self.source.pivots)]
        if i and self.source.pivots:
            turned = " or ".join(f"p{j} * sign{j} < 0.0" for j in range(self.source.pivots))
            lines += [f"if {turned}:", "    return BRANCH"]
        return lines

    def rate(self, i: int, t: str) -> str:
        """Return the line that computes the derivatives of stage i."""
        names = [f"k{i}_{j}" for j in range(len(self.columns))]
        if not names:
            return "pass"
        return (
            f"{', '.join(names)}{',' if len(names) == 1 else ''} = rate({t},"
            f" {', '.join(f'z{i}_{c}' for c in range(self.n))}, floor, work, par)"
        )

    def pivots(self) -> list[str]:
        """Return the lines that report the pivots."""
        return [f"mem[{self.start['pivot'] + j}] = p{j}" for j in range(self.source.pivots)]

    def store(self) -> list[str]:
        """Return the lines that hand back the new point, its derivatives, residual and error estimates."""
        s = self.stages
        lines = [f"mem[{self.start['new'] + c}] = z{s}_{c}" for c in range(self.n)]
        for q, row in enumerate(self.estimates):
            start = self.start["error"] + q * self.n
            lines += [
                f"mem[{start + j}] = h * ({self.sum(row, j)})" for j in range(len(self.source.differential))
            ]
        residual = (
            f"mem[RESIDUAL] = residual(t{s}, {', '.join(f'z{s}_{c}' for c in range(self.n))}, work, par)"
        )
        finite = " + ".join(f"0.0 * z{s}_{c}" for c in self.source.differential) or "0.0"
        return [
            *lines,
            *self.keep(s, s + 1),
            *self.pivots(),
            *self.dominating(),
            *self.roughness(),
            residual,
            f"return OK if {finite} == 0.0 else NONFINITE",
        ]

    def dominating(self) -> list[str]:
        """Return the lines of `step.dominating`, where the tableau allows it."""
        s = self.stages
        if s < 2 or self.nodes[s - 1] != 1.0 or not self.source.differential:
            return []
        lines, faint = ["top, bottom = 0.0, 0.0"], ["top, bottom, least = 0.0, 0.0, FAINTEST"]
        for j, c in enumerate(self.source.differential):
            here = [f"weight = 1.0 / (abs(z{s}_{c}) + floor[{c}])"]
            here += [f"top += ((k{s}_{j} - k{s - 1}_{j}) * weight) ** 2"]
            here += [f"bottom += ((z{s}_{c} - z{s - 1}_{c}) * weight) ** 2"]
            lines += here
            faint += [f"if (z{s}_{c} - z{s - 1}_{c}) ** 2 > NO_DIFFERENCE * z{s}_{c} ** 2:"]
            faint += [f"    {line}" for line in here]
        lines += ["least = NO_DIFFERENCE", "if not bottom > NO_DIFFERENCE:"]
        lines += [*(f"    {line}" for line in faint)]
        lines += ["mem[FASTEST] = (top / bottom) ** 0.5 if bottom > least else 0.0"]
        return ["if ints[ASKING] > 0:", *(f"    {line}" for line in lines)]

    def roughness(self) -> list[str]:
        """Return the lines of `step.roughness`."""
        lines: list[str] = []
        if self.probes is not None:
            (first, second, third), (w0, w1, w2, w3) = self.probes
            for j in range(self.source.pivots):
                for q, i in enumerate((first, second, third)):
                    place = self.start["pivot_probed"] + q * (self.m + 1) + j
                    lines.append(f"mem[{place}] = q{i}_{j}")
            for c in self.source.algebraic:
                where, new = "rough_free" if c in self.free else "rough", f"z{self.stages}_{c}"
                lines += [
                    f"start = mem[{self.start['y'] + c}]",
                    f"middle, end = z{first}_{c} - start, {new} - start",
                ]
                lines += [f"early, late = z{second}_{c} - start, z{third}_{c} - start"]
                lines += [f"off = abs(early - {w0!r} * middle - {w1!r} * end)"]
                lines += [f"off = max(off, abs(late - {w2!r} * middle - {w3!r} * end))"]
                lines += ["change = max(abs(middle), abs(early), abs(late), abs(end))"]
                lines += [f"size = max(abs(start), abs({new})) + floor[{c}]"]
                lines += [f"{where} = max({where}, off / (change + UNSEEN * size))"]
        inside = [f"    {line}" for line in lines]
        lines = ["rough = 0.0", "rough_free = 0.0", *(["if ints[PROBES] > 0:", *inside] if inside else [])]
        return [*lines, "mem[ROUGHNESS] = rough", "mem[ROUGHNESS_FREE] = rough_free"]

    def acceptance(self) -> list[str]:
        """Return the lines that move on to the new point and compare the pivots with their best values."""
        y, new, k, pivot, best = (self.start[name] for name in ("y", "new", "k", "pivot", "best_pivot"))
        lines = [
            f"mem[{self.start['slope'] + c}] = (mem[{new + c}] - mem[{y + c}]) / h" for c in self.extrapolated
        ]
        lines += [f"mem[{y + c}] = mem[{new + c}]" for c in range(self.n)]
        lines += [f"mem[{k + j}] = mem[{k + self.stages * self.n + j}]" for j in range(len(self.columns))]
        lines += ["mem[WORST_RESIDUAL] = max(mem[WORST_RESIDUAL], mem[RESIDUAL])", "status = OK"]
        for j in range(self.source.pivots):
            lines += [
                f"if not abs(mem[{pivot + j}]) >= DETERIORATED * mem[{best + j}]:",
                "    status = WORSE",
            ]
            lines.append(f"mem[{best + j}] = max(mem[{best + j}], abs(mem[{pivot + j}]))")
        return [*lines, "return status"]

    def keep(self, first: int, last: int) -> list[str]:
        """Return the lines that store the derivatives of the stages first .. last - 1."""
        columns = range(len(self.columns))
        return [
            f"mem[{self.start['k'] + i * self.n + j}] = k{i}_{j}" for i in range(first, last) for j in columns
        ]

    def extension(self) -> list[str]:
        """Return the lines that compute and store all stages, those of dense output included.

        And the new point and the probes, among which values between steps must be.
        """
        last = self.stages + 1 + self.extra
        new = [f"mem[{self.start['new'] + c}] = z{self.stages}_{c}" for c in range(self.n)]
        inside = [*new, *self.probed(), *self.roughness()]
        return [*self.load(1), *self.sequence(1, last), *self.keep(1, last), *inside, "return 0"]

    def probed(self) -> list[str]:
        """Return the lines that store the algebraic components of the probes."""
        places = self.probes[0] if self.probes is not None else ()
        start, n = self.start["probed"], self.n
        return [
            f"mem[{start + q * n + c}] = z{i}_{c}"
            for q, i in enumerate(places)
            for c in self.source.algebraic
        ]
