"""Small models of our own with exact solutions, and models that have none.

What regularize finds and what it refuses.
"""

from __future__ import annotations

from dataclasses import dataclass

import mpmath
import numpy as np
import pytest
import sympy as sp

from herk.model.index_reduction.regularize import Regularization, RegularizationError, regularize
from herk.model.model import Model


@dataclass(frozen=True)
class Known:
    """A model with its solution as texts in t, and the number of constraints per level found by hand."""

    model: Model
    solution: tuple[str, ...]
    levels: tuple[int, ...]


def make(
    name: str,
    states: str,
    E,
    f: list[str],
    solution: list[str],
    levels: tuple[int, ...],
    t0: float = 0.0,
    **parameters: float,
) -> Known:
    exact = [sp.sympify(text, locals={"t": sp.Symbol("t")}).subs(parameters) for text in solution]
    y0 = [float(x.subs("t", t0)) for x in exact]
    model = Model(name, states.split(), E, f, parameters=parameters, t_span=(t0, t0 + 2.0), y0=y0)
    return Known(model, tuple(map(str, exact)), levels)


def eye(*diagonal: object) -> sp.Matrix:
    return sp.diag(*[sp.sympify(d) for d in diagonal])


MODELS = [
    # Only x + z has a derivative: E is singular and not regularly reducible.
    make(
        "mixed derivatives",
        "x z",
        [[1, 1], [2, 2]],
        ["-x - z", "-2*x - 2*z + x - z + sin(t)"],
        ["(exp(-t) - sin(t))/2", "(exp(-t) + sin(t))/2"],
        (1,),
    ),
    # The dependence of the rows itself changes with the state.
    make(
        "mixed with factors that depend on the state",
        "x y w",
        [[1, "y", 0], [0, 1, 0], ["w", "w*y", 0]],
        ["w", "-y", "w**2 + x + y**2/2 - cos(t)"],
        ["cos(t) - exp(-2*t)/2", "exp(-t)", "-sin(t)"],
        (1, 1),
        t0=0.5,
    ),
    # A free particle on a line that turns: r = n + sinh(t) e with n = (cos t, sin t), e = n'.
    make(
        "turning line",
        "x y v w lam",
        eye(1, 1, 1, 1, 0),
        ["v", "w", "-lam*cos(t)", "-lam*sin(t)", "x*cos(t) + y*sin(t) - 1"],
        [
            "cos(t) - sinh(t)*sin(t)",
            "sin(t) + sinh(t)*cos(t)",
            "-sin(t) - cosh(t)*sin(t) - sinh(t)*cos(t)",
            "cos(t) + cosh(t)*cos(t) - sinh(t)*sin(t)",
            "1 + 2*cosh(t)",
        ],
        (1, 1, 1),
    ),
    # A skate cannot slip sideways: a constraint on velocities that is not the derivative of one on positions.
    make(
        "skate",
        "x y th u w om lam",
        eye(1, 1, 1, 1, 1, 1, 0),
        ["u", "w", "om", "-lam*sin(th)", "lam*cos(th)", "0", "u*sin(th) - w*cos(th)"],
        ["3*sin(t)", "-3*cos(t)", "t", "3*cos(t)", "3*sin(t)", "1", "3"],
        (1, 1),
        t0=0.25,
    ),
    # The force is quadratic in the multiplier.
    make(
        "quadratic multiplier",
        "x y v w lam",
        eye(1, 1, "m", "m", 0),
        ["v", "w", "-m*x*lam**2", "-m*y*lam**2", "x**2 + y**2 - r**2"],
        ["r*cos(2*t)", "r*sin(2*t)", "-2*r*sin(2*t)", "2*r*cos(2*t)", "2"],
        (1, 1, 1),
        m=3.0,
        r=0.5,
    ),
    # A great circle on a sphere.
    make(
        "great circle",
        "x y z u v w lam",
        eye(1, 1, 1, 1, 1, 1, 0),
        ["u", "v", "w", "-2*lam*x", "-2*lam*y", "-2*lam*z", "x**2 + y**2 + z**2 - 1"],
        ["cos(t)", "3*sin(t)/5", "4*sin(t)/5", "-sin(t)", "3*cos(t)/5", "4*cos(t)/5", "1/2"],
        (1, 1, 1),
    ),
    # A cart is moved through a spring so that a second one follows sin t.
    make(
        "servo through a spring",
        "a b u v F",
        eye(1, 1, 1, 1, 0),
        ["u", "v", "k*(b - a)", "F", "a - sin(t)"],
        ["sin(t)", "sin(t)*(1 - 1/k)", "cos(t)", "cos(t)*(1 - 1/k)", "-sin(t)*(1 - 1/k)"],
        (1, 1, 1, 1, 1),
        k=4.0,
    ),
    # A mass matrix that depends on the state, not diagonal; the motion along p = cos q is prescribed by the
    # forces.
    make(
        "mass matrix",
        "q p u v lam",
        [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 2, "cos(q)", 0], [0, 0, "cos(q)", 1, 0], [0, 0, 0, 0, 0]],
        ["u", "v", "exp(t)*sin(t) - cos(t)**2 - lam*sin(q)", "exp(t) - cos(t) - lam", "p - cos(q)"],
        ["t", "cos(t)", "1", "-sin(t)", "exp(t)"],
        (1, 1, 1),
        t0=0.25,
    ),
    # Stabilised index 2: both levels are given, the second multiplier vanishes on the solution.
    make(
        "two multipliers",
        "x y v w lam mu",
        eye(1, 1, 1, 1, 0, 0),
        ["v - 2*x*mu", "w - 2*y*mu", "-2*x*lam", "-2*y*lam", "x**2 + y**2 - 1", "x*v + y*w"],
        ["cos(t)", "sin(t)", "-sin(t)", "cos(t)", "1/2", "0"],
        (2, 2),
    ),
    # No derivatives at all.
    make("only algebra", "x z", eye(0, 0), ["x - t**3 - t", "z**3 + z - x"], ["t**3 + t", "t"], (2,), t0=1.0),
]


def on_solution(known: Known, expressions: list[sp.Expr], at: float) -> list[float]:
    model = known.model
    with mpmath.workdps(30):
        point = {model.t: sp.Float(at, 30)} | {p: sp.Float(v, 30) for p, v in model.parameters.items()}
        point |= {
            s: sp.N(sp.sympify(text).subs("t", sp.Float(at, 30)), 30)
            for s, text in zip(model.states, known.solution, strict=True)
        }
        return [float(sp.N(e.xreplace(point), 25)) for e in expressions]


@pytest.mark.parametrize("known", MODELS, ids=lambda k: k.model.name)
def test_the_stated_solution_satisfies_the_model(known: Known) -> None:
    """A check of the tests themselves: E y' = f along the formulas."""
    model = known.model
    rates = [sp.diff(sp.sympify(text).subs("t", model.t), model.t) for text in known.solution]
    residual = list(model.E * sp.Matrix(rates) - model.f)
    for at in np.linspace(*model.t_span, 4):
        assert max(map(abs, on_solution(known, residual, at))) < 1e-14


@pytest.mark.parametrize("known", MODELS, ids=lambda k: k.model.name)
def test_derived_constraints_vanish_on_the_exact_solution_and_determine_all_derivatives(known: Known) -> None:
    found = regularize(known.model)
    assert tuple(len(level) for level in found.levels) == known.levels
    assert found.index == len(known.levels)
    n = known.model.n
    stacked = [*known.model.E, *(sp.diff(c, s) for c in found.constraints for s in known.model.states)]
    for at in np.linspace(*known.model.t_span, 5):
        assert max(map(abs, on_solution(known, found.constraints, at))) < 1e-10
        matrix = np.array(on_solution(known, stacked, at)).reshape(-1, n)
        assert np.linalg.svd(matrix, compute_uv=False)[-1] > 1e-6
        assert np.linalg.matrix_rank(matrix[n:]) == len(found.constraints)


@pytest.mark.parametrize("known", MODELS, ids=lambda k: k.model.name)
def test_the_trace_tells_combinations_that_are_free_of_derivatives(known: Known) -> None:
    """Rebuild every constraint from the rows and factors of the trace.

    On the exact solution moved off it in y'.
    """
    found = regularize(known.model)
    model = known.model
    rates = sp.symbols(f"rate:{model.n}", real=True)
    rows = {f"row {i}": (model.E[i, :] * sp.Matrix(rates))[0] - model.f[i] for i in range(model.n)}
    for number, step in enumerate(found.trace):
        total = rows[step.row] - sum(factor * rows[label] for label, factor in step.combined)
        sign = -1 if step.differentiated is None else 1
        for at in (model.t_span[0] + 0.3, model.t_span[0] + 1.1):
            parts = [
                *(sp.diff(total, rate) for rate in rates),
                total.subs(dict.fromkeys(rates, 0)) - sign * step.constraint,
            ]
            assert max(map(abs, on_solution(known, parts, at))) < 1e-12
        slope = [sp.diff(step.constraint, s) for s in model.states]
        rows[f"d/dt g[{number}]"] = sp.Add(*(a * b for a, b in zip(slope, rates, strict=True))) + sp.diff(
            step.constraint, model.t
        )


def small(f: list[str], E=None, states: str = "x z", **parameters: float) -> Model:
    names = states.split()
    E = eye(1, *[0] * (len(names) - 1)) if E is None else E
    return Model("small", names, E, f, parameters=parameters, t_span=(0, 1), y0=[1.0] * len(names))


REFUSED = {
    "contradicting": (
        small(["-x + w", "x - z", "x - z - 1"], states="x z w"),
        r"0 = x - z - 1 contradicts 0 = x - z\.$",
    ),
    "contradicting in time": (
        small(["x - z", "x - z - sin(t)"], eye(0, 0)),
        r"0 = x - z - sin\(t\) contradicts 0 = x - z\.$",
    ),
    "impossible": (small(["x + z", "1"]), r"lead to 0 = 1, which cannot hold\.$"),
    "no real solution": (
        small(["-x", "x**2 + z**2 + 1"]),
        r"no real point was found that satisfies 0 = x\*\*2 \+ z\*\*2 \+ 1",
    ),
    "redundant": (
        small(["-x + w", "x - z", "2*x - 2*z"], states="x z w"),
        r"do not determine w, because row 2 \(0 = 2\*x - 2\*z\) follows",
    ),
    "empty row": (small(["x + z", "0"]), r"do not determine z, because row 1 \(0 = 0\) follows"),
    "empty in disguise": (small(["-z", "sin(x)**2 + cos(x)**2 - 1"]), r"do not determine z, because row 1 "),
    "absent unknown": (small(["-x", "x - 1"]), r"structurally singular: z occurs in no equation"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_models_without_a_unique_solution_are_refused_with_the_equations_and_unknowns_at_fault(
    case: str,
) -> None:
    model, sentence = REFUSED[case]
    with pytest.raises(RegularizationError, match=sentence):
        regularize(model)


def test_a_contradiction_found_only_after_differentiation_is_named() -> None:
    # x' = z and x = t give z = 1, against z = 2; w is held by its own equation.
    model = Model(
        "late", ["x", "z", "w"], eye(1, 0, 0), ["z + w", "x - t", "z + w - 2"], t_span=(0, 1), y0=[0, 1, 0]
    )
    with pytest.raises(RegularizationError, match=r"contradicts 0 = w \+ z - 2"):
        regularize(model)


def test_redundant_constraints_of_a_mechanism_name_the_multipliers_they_leave_open() -> None:
    f = ["v", "w", "-2*x*(a + 2*b)", "-2*y*(a + 2*b) - 1", "x**2 + y**2 - 1", "2*x**2 + 2*y**2 - 2"]
    model = Model(
        "twice",
        ["x", "y", "v", "w", "a", "b"],
        eye(1, 1, 1, 1, 0, 0),
        f,
        t_span=(0, 1),
        y0=[1, 0, 0, 0, None, None],
    )
    with pytest.raises(
        RegularizationError, match=r"do not determine a, b, because row 5 .* follows from the other equations"
    ):
        regularize(model)


@pytest.mark.parametrize("square", ["(x - z)**2", "x**2 - 2*x*z + z**2"])
def test_a_squared_constraint_is_replaced_by_its_root_with_a_note(square: str) -> None:
    found = regularize(small(["-z", square]))
    x, z = found.model.states
    assert found.constraints in ([x - z], [z - x])
    assert any("used as" in note for note in found.notes)


def test_ranks_hold_for_the_parameter_values_given() -> None:
    oscillator = {"E": eye(1, "m"), "f": ["v", "-x - v"], "states": "x v"}
    assert regularize(small(**oscillator, m=0.5)).index == 0
    massless = regularize(small(**oscillator, m=0.0))
    assert massless.index == 1
    assert any("m of v' is zero for the parameter values given" in note for note in massless.notes)


def test_parameters_that_cancel_up_to_rounding_count_as_cancelled_and_are_reported() -> None:
    # 0.1 + 0.2 - 0.3 is 5.6e-17 in doubles.
    found = regularize(small(["-x + z", "z - x"], [[1, 0], [0, "a + b - c"]], a=0.1, b=0.2, c=0.3))
    assert found.index == 1
    assert any("a + b - c" in note for note in found.notes)


def doubtful(size: str) -> Regularization:
    return regularize(small(["x", "z"], [[1, "x"], [1, f"x + {size}*x**2"]]))


def test_a_rank_that_hangs_on_a_tiny_term_is_reported() -> None:
    assert any("Doubtful rank: row 1" in note for note in doubtful("1e-12").notes)
    assert not doubtful("1e-3").notes
    assert doubtful("1e-3").index == 0


def test_small_units_are_not_mistaken_for_zeros() -> None:
    model = small(["-x/1000000000 + z", "z - x", "w - z"], [[1e-15, 0, 0], [0, 0, 0], [0, 0, 0]], "x z w")
    assert regularize(model).index == 1
    assert not regularize(model).notes


def test_the_branch_of_the_start_values_decides() -> None:
    # z (z - x) = 0 has the branches z = 0 and z = x; w is determined on the second one only.
    f = ["-x", "z*(z - x)", "z*w - z"]
    on_second = Model("branches", ["x", "z", "w"], eye(1, 0, 0), f, t_span=(0, 1), y0=[1, 1, 1])
    assert regularize(on_second).index == 1
    with pytest.raises(RegularizationError, match="determine"):
        regularize(on_second.with_start([1, 0, 1]))
