"""One random model as a plain record, with its truth, and the short script that shows its fault."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

Array = np.ndarray
Truth = Callable[[Array], Array]  # times -> n x times
METHODS = (
    "auto",
    "auto",
    "auto",
    "dop853",
    "dopri5",
    "dopri5",
    "radau5",
    "radau5",
    "tsit5",
    "verner98",
    "bs32",
)
CHANNELS = ("accepted", "dense", "t_eval", "unprojected", "again")
TIGHT = dict.fromkeys(("auto", "dop853", "verner98"), (1e-6, 1e-8, 1e-10))
TOLERANCES = TIGHT | {"bs32": (1e-4, 1e-5)}


@contextmanager
def sparse_code() -> Iterator[None]:
    """Let systems of any size be solved by the code for many unknowns."""
    import herk.core.dae

    usual, herk.core.dae.LARGE = herk.core.dae.LARGE, 0
    try:
        yield
    finally:
        herk.core.dae.LARGE = usual


class JudgeError(Exception):
    """The judges of a member do not agree with each other, so nothing can be said about the solver."""


@dataclass(frozen=True)
class Member:
    """A model in texts and numbers, how it is solved, and what is known about its solution.

    sizes        of the unknowns, to which atol is proportional
    ends_at      the solution exists up to this time only, and the run must end there
    singular_at  the constraints lose rank at these times: a run may end there, or go on rightly with a note
    dependent_at the constraints as they are given, as functions, depend on each other there: a run may end
    corners      times at which the solution or a derivative of it jumps
    channels     where values are judged
    located      corners are found by a run itself, to this multiple of its tolerance
    moved        errors of the state move the whole solution by as much in time
    sparse       it is solved by the code for many unknowns
    called       it is solved as Python functions with these names; empty: as a model
    enlarged     how many times larger a relative error may be later: that is the model's doing
    """

    family: str
    kind: str
    seed: int
    states: tuple[str, ...]
    E: tuple[tuple[str, ...], ...]
    f: tuple[str, ...]
    t_span: tuple[float, float]
    y0: tuple[float | None, ...]
    sizes: tuple[float, ...]
    truth: Truth = field(compare=False, repr=False)
    parameters: dict[str, float] = field(default_factory=dict)
    method: str = "dopri5"
    rtol: float = 1e-6
    ends_at: float | None = None
    singular_at: tuple[float, ...] = ()
    dependent_at: tuple[float, ...] = ()
    corners: tuple[float, ...] = ()
    channels: tuple[str, ...] = CHANNELS
    enlarged: float = 1.0
    located: float = 0.0
    sparse: bool = False
    moved: bool = False
    called: tuple[str, ...] = ()

    @property
    def atol(self) -> Array:
        """Return the absolute tolerance of each unknown."""
        return self.rtol * np.array(self.sizes)

    @property
    def breakpoints(self) -> list[float]:
        """Return the corners that functions do not show and that are not to be found."""
        return list(self.corners) if self.called and not self.located else []

    @property
    def label(self) -> str:
        """Return the name under which --replay finds this member again."""
        return f"{self.family}:{self.seed}"

    def model(self, values: Mapping[str, float] | None = None) -> Any:
        """Return the herk.Model, with other values of its parameters if such are given."""
        import herk

        return herk.Model(
            f"{self.family}_{self.seed}",
            list(self.states),
            [list(row) for row in self.E],
            list(self.f),
            parameters=dict(self.parameters if values is None else values),
            t_span=self.t_span,
            y0=list(self.y0),
        )

    def system(self, values: Mapping[str, float] | None = None) -> tuple[Any, ...]:
        """Return what is solved, with span and start if it does not bring them."""
        model = self.model(values)
        if not self.called:
            return (model,)
        from tests.fuzz.callables import dae_of

        return dae_of(model, self.called), self.t_span, list(self.y0)

    def script(self, t: float | None = None, channel: str = "t_eval") -> str:
        """Return a short program that solves this member and shows what it gives and what is right at t."""
        rows = ",\n       ".join(repr(list(row)) for row in self.E)
        atol = [float(f"{value:.3g}") for value in self.atol]
        system = "dae, model.t_span, model.y0" if self.called else "model"
        call = f'{system}, method="{self.method}", rtol={self.rtol:g}, atol={atol}'
        call += f", parameters={self.parameters}" if self.parameters and not self.called else ""
        call += f", breakpoints={self.breakpoints}" if self.breakpoints else ""
        lines = [
            f"# {self.label} ({self.kind})",
            "import herk",
            *(["import herk.core.dae; herk.core.dae.LARGE = 0"] if self.sparse else []),
            f'model = herk.Model("{self.family}_{self.seed}", states={list(self.states)},',
            f"    E=[{rows}],",
            "    f=[" + ",\n       ".join(repr(row) for row in self.f) + "],",
            f"    parameters={self.parameters}, t_span={self.t_span},",
            f"    y0={list(self.y0)})",
        ]
        if self.called:  # from the root of the repository
            lines += ["from tests.fuzz.callables import dae_of", f"dae = dae_of(model, {self.called})"]
        if t is None:
            lines += [f"sol = herk.solve_dae({call})", "print(sol.success, sol.t[-1], sol.message)"]
            lines += [f"# the solution ends at t = {self.ends_at!r}"] if self.ends_at is not None else []
            return "\n".join(lines)
        if channel == "noted":
            from tests.fuzz.passing import level

            event = level(self)
            assert event is not None
            call += f", events=[lambda t, y: y[{event.component}] - {event.value!r}]"
            lines += [f"sol = herk.solve_dae({call})", "print(sol.success, sol.t_events)"]
            return "\n".join([*lines, f"# look at t = {t!r}"])
        option = {"t_eval": f", t_eval=[{t!r}]", "unprojected": f", t_eval=[{t!r}], project_output=False"}
        lines.append(f"sol = herk.solve_dae({call}{option.get(channel, ', dense_output=True')})")
        value = (
            f"sol({t!r})"
            if channel == "dense"
            else "sol.y[:, -1]"
            if channel in option
            else f"sol.y[:, sol.t == {t!r}]"
        )
        right = (
            "none: the solution has ended" if self.past_end(t) else self.truth(np.array([t]))[:, 0].tolist()
        )
        return "\n".join([*lines, f"print(sol.success, {value})", f"# right: {right}"])

    def past_end(self, t: float) -> bool:
        """Tell whether a time lies beyond the end of the solution."""
        return self.ends_at is not None and (t - self.ends_at) * np.sign(self.t_span[1] - self.t_span[0]) >= 0


def rng_of(family: str, seed: int) -> np.random.Generator:
    """Return the generator of a member; families do not share their streams."""
    return np.random.default_rng([zlib.crc32(family.encode()), seed])


def pick(rng: np.random.Generator, choices: Sequence[Any]) -> Any:
    """Return one of the choices."""
    return choices[int(rng.integers(len(choices)))]


def number(value: float) -> str:
    """Return a number as a text with all its digits, in brackets if it is negative."""
    text = repr(float(value))
    return f"({text})" if value < 0 else text


def round_digits(rng: np.random.Generator, low: float, high: float) -> float:
    """Return a random number with three digits, as people write them."""
    return float(f"{rng.uniform(low, high):.3g}")


def with_settings(member: Member, rng: np.random.Generator) -> Member:
    """Return the member with a random method and tolerance."""
    method = pick(rng, METHODS)
    return replace(member, method=method, rtol=pick(rng, TOLERANCES.get(method, (1e-5, 1e-6, 1e-8))))
