"""Hidden constraints of the thesis' problems and of two mechanisms.

Equal to the printed ones, zero on independent solutions.
"""

from __future__ import annotations

import time

import mpmath
import pytest
import sympy as sp

import testset
from herk.core import InputError
from herk.model.entries import t
from herk.model.index_reduction.regularize import Regularization, RegularizationError, regularize
from herk.model.model import Model


def pendulum(wind: str = "0", length: str = "l", y0: tuple[float | None, ...] = (1, 0, 0, 0, None)) -> Model:
    f = ["v", "w", f"-2*x*lam + m*({wind})", "-2*y*lam - m*g", f"x**2 + y**2 - ({length})**2"]
    E = sp.diag(1, 1, sp.Symbol("m"), sp.Symbol("m"), 0)
    return Model(
        "pendulum",
        ["x", "y", "v", "w", "lam"],
        E,
        f,
        parameters={"m": 2, "g": 9.78, "l": 1},
        t_span=(0, 50),
        y0=y0,
    )


def wind_pendulum() -> Model:
    return pendulum("1 - t/25", "Rational(1, 2) + Rational(3, 100)*(50 - t)", (0, -2, 0, 0.03, None))


def spring_chain() -> Model:
    f = ["v1", "v2", "v3", "F - c*(p1 - p2)", "c*(p1 - p2) - c*(p2 - p3)", "F + c*(p2 - p3)", "sin(t) - p2"]
    E = sp.diag(1, 1, 1, *[sp.Symbol("m")] * 3, 0)
    states = ["p1", "p2", "p3", "v1", "v2", "v3", "F"]
    return Model(
        "spring_chain",
        states,
        E,
        f,
        parameters={"m": 1, "c": 1 / 6},
        t_span=(0, 400),
        y0=(0, 0, 0, -2, 1, -2, 0),
    )


def cv_circuit() -> Model:
    E = [[-1, 0, 0, 0, 0], [1, -1, 0, 0, 0], [0] * 5, [0] * 5, [0] * 5]
    f = ["e1 + iV", "e2", "e1 - sin(100*t)", "q1 - e1 + e2", "q2 - e2"]
    return Model("cv_circuit", ["q1", "q2", "e1", "e2", "iV"], E, f, t_span=(0, 1), y0=(0, 0, 0, 0, None))


def akzo() -> Model:
    r1, r2, r3, r4, r5 = (
        f"({r})" for r in ("k1*y1**4*sqrt(y2)", "k2*y3*y4", "k2*y1*y5/K", "k3*y1*y4**2", "k4*y6**2*sqrt(y2)")
    )
    f = [
        f"-2*{r1} + {r2} - {r3} - {r4}",
        f"-{r1}/2 - {r4} - {r5}/2 + klA*(p/H - y2)",
        f"{r1} - {r2} + {r3}",
        f"-{r2} + {r3} - 2*{r4}",
        f"{r2} - {r3} + {r5}",
        "Ks*y1*y4 - y6",
    ]
    values = {
        "k1": 18.7,
        "k2": 0.58,
        "k3": 0.09,
        "k4": 0.42,
        "K": 34.4,
        "klA": 3.3,
        "Ks": 115.83,
        "p": 0.9,
        "H": 737,
    }
    y0 = (0.444, 0.00123, 0, 0.007, 0, 0.444 * 0.007 * 115.83)
    return Model(
        "akzo",
        [f"y{i}" for i in range(1, 7)],
        sp.diag(1, 1, 1, 1, 1, 0),
        f,
        parameters=values,
        t_span=(0, 180),
        y0=y0,
    )


# What the thesis prints: (2.8), 4.5, Example 2.7, 4.7; for the wind pendulum with the terms in l' and l''
# that it drops.
PRINTED = {
    pendulum: [
        ["x**2 + y**2 - l**2"],
        ["2*x*v + 2*y*w"],
        ["2*v**2 + 2*w**2 - 4/m*(x**2 + y**2)*lam - 2*g*y"],
    ],
    spring_chain: [
        ["p2 - sin(t)"],
        ["v2 - cos(t)"],
        ["c/m*(p1 - p2) - c/m*(p2 - p3) + sin(t)"],
        ["c/m*(v1 - v2) - c/m*(v2 - v3) + cos(t)"],
        ["c/m**2*(-3*c*(p1 - p2) + 3*c*(p2 - p3) + 2*F) - sin(t)"],
    ],
    cv_circuit: [["e1 - sin(100*t)", "q1 - e1 + e2", "q2 - e2"], ["2*e1 + 2*iV + e2 + 100*cos(100*t)"]],
    akzo: [["Ks*y1*y4 - y6"]],
    wind_pendulum: [
        ["x**2 + y**2 - L**2"],
        ["2*x*v + 2*y*w - 2*L*dL"],
        ["2*v**2 + 2*w**2 + 2*x*(1 - t/25) - 4/m*(x**2 + y**2)*lam - 2*g*y - 2*dL**2"],
    ],
}


def expected(model: Model, text: str) -> sp.Expr:
    length = sp.Rational(1, 2) + sp.Rational(3, 100) * (50 - t)
    names = {s.name: s for s in (*model.states, *model.parameters, t)} | {
        "L": length,
        "dL": sp.diff(length, t),
    }
    return sp.sympify(text, locals=names)


@pytest.mark.parametrize("make", PRINTED)
def test_constraints_equal_the_printed_ones_up_to_a_constant_factor(make) -> None:
    model = make()
    found = regularize(model)
    assert found.index == len(PRINTED[make])
    assert found.strangeness_index == max(0, found.index - 1)
    assert [len(level) for level in found.levels] == [len(level) for level in PRINTED[make]]
    for constraint, text in zip(
        found.constraints, [text for level in PRINTED[make] for text in level], strict=True
    ):
        ratio = sp.cancel(sp.expand(constraint) / sp.expand(expected(model, text)))
        assert ratio != 0
        assert not ratio.free_symbols & {*model.states, t}, (constraint, text)
    assert not found.notes


@pytest.mark.parametrize("make", PRINTED)
def test_thesis_problems_take_at_most_three_seconds(make) -> None:
    model = make().with_start([*make().y0[:-1], None])
    began = time.perf_counter()
    regularize(model, max_index=9)
    assert time.perf_counter() - began < 3.0


def test_steps_of_example_2_7_are_in_the_trace() -> None:
    first, second = regularize(cv_circuit()).trace[:3], regularize(cv_circuit()).trace[3]
    assert [(step.level, step.row, step.combined, step.differentiated) for step in first] == [
        (0, f"row {i}", (), None) for i in (2, 3, 4)
    ]
    # The last row of Z^1 is (2, 1, 1, 1, 1): the fifth row plus these multiples of the others.
    assert dict(second.combined) == {"row 0": -2, "row 1": -1, "d/dt g[0]": -1, "d/dt g[1]": -1}
    assert (second.level, second.row, second.differentiated) == (1, "d/dt g[2]", first[2].constraint)


def test_what_is_no_model_is_refused_in_a_sentence_and_a_problem_is_as_good_as_its_model() -> None:
    problem = testset.get("pendulum")
    assert regularize(problem).constraints == regularize(problem.model).constraints
    with pytest.raises(InputError, match=r"takes a herk\.Model or a problem of the test set, not NoneType"):
        regularize(None)
    with pytest.raises(InputError, match="'hanging_chain' is given by callables"):
        regularize(testset.get("hanging_chain"))


def test_ordinary_differential_equations_have_index_zero() -> None:
    model = Model("ode", ["x", "v"], [[1, 0], ["x", "2 + cos(x)"]], ["v", "-x"], t_span=(0, 1), y0=(1, 0))
    found = regularize(model)
    assert (found.index, found.strangeness_index, found.levels, found.constraints, found.trace) == (
        0,
        0,
        [],
        [],
        (),
    )


def test_explanations_show_index_constraints_and_origin() -> None:
    found = regularize(pendulum())
    text = found.explain()
    for part in ("index 3", "Level 2:", "2*v*x + 2*w*y", "d/dt of 0 = -l**2 + x**2 + y**2", "row 0, row 1"):
        assert part in text
    for rich in (found._repr_latex_(), found._repr_html_()):
        for constraint in found.constraints:
            assert sp.latex(constraint).replace("lam ", r"\lambda ") in rich
    assert "<table>" in found._repr_html_()
    assert "index 3" in repr(found)
    assert "no constraints" in regularize(Model("ode", ["x"], [[1]], ["x"], t_span=(0, 1), y0=[1])).explain()


def test_results_do_not_depend_on_the_process_or_on_earlier_calls() -> None:
    first = [str(c) for c in regularize(wind_pendulum()).constraints]
    again = regularize(wind_pendulum().with_span(t_end=40))
    assert [str(c) for c in again.constraints] == first
    again.levels[0].append(sp.S.One)
    assert len(again.levels[0]) == 1


def residuals(found: Regularization, at: float, values: list[str]) -> list[float]:
    """Return each constraint at a given point, relative to the size of its terms."""
    model = found.model
    with mpmath.workdps(40):
        point = {model.t: sp.Float(at, 40)} | {p: sp.Float(v, 40) for p, v in model.parameters.items()}
        point |= {s: sp.Float(v, 40) for s, v in zip(model.states, values, strict=True)}
        terms = [
            [sp.N(term.xreplace(point), 40) for term in sp.Add.make_args(sp.expand(c))]
            for c in found.constraints
        ]
    return [abs(float(sum(row))) / max(1e-300, *(abs(float(term)) for term in row)) for row in terms]


def car_axis() -> Model:
    yb = "(r*sin(w*t))"
    xb = f"sqrt(L**2 - {yb}**2)"
    left, right = "sqrt(xl**2 + yl**2)", f"sqrt((xr - {xb})**2 + (yr - {yb})**2)"
    f = [
        *("ul", "vl", "ur", "vr"),
        f"(L0 - {left})*xl/{left} + a*{xb} + 2*b*(xl - xr)",
        f"(L0 - {left})*yl/{left} + a*{yb} + 2*b*(yl - yr) - K*g",
        f"(L0 - {right})*(xr - {xb})/{right} - 2*b*(xl - xr)",
        f"(L0 - {right})*(yr - {yb})/{right} - 2*b*(yl - yr) - K*g",
        f"{xb}*xl + {yb}*yl",
        "(xl - xr)**2 + (yl - yr)**2 - L**2",
    ]
    states = ["xl", "yl", "xr", "yr", "ul", "vl", "ur", "vr", "a", "b"]
    values = {"K": 5e-4, "L": 1, "L0": 0.5, "r": 0.1, "w": 10, "g": 1}
    y0 = (0, 0.5, 1, 0.5, -0.5, 0, -0.5, 0, 0, 0)
    return Model(
        "car_axis",
        states,
        sp.diag(1, 1, 1, 1, *[sp.Symbol("K")] * 4, 0, 0),
        f,
        parameters=values,
        t_span=(0, 3),
        y0=y0,
    )


def test_car_axis_is_regularised_in_atand_holds_on_the_reference() -> None:
    began = time.perf_counter()
    found = regularize(car_axis())
    assert time.perf_counter() - began < 60.0
    assert (found.index, [len(level) for level in found.levels]) == (3, [2, 2, 2])
    end = """4.934557842752409213153e-2 4.969894602300081067629e-1 1.041742524885426115195 3.739110272653658193579e-1
        -7.705836840359208428394e-2 7.446866592068416491402e-3 1.755681575354173662974e-2 7.703410437796010631206e-1
        -4.736886590853326515313e-3 -1.104680331259565839861e-3"""
    assert max(residuals(found, 3.0, end.split())) < 1e-10


def test_an_index_above_the_limit_is_refused() -> None:
    with pytest.raises(
        RegularizationError,
        match="index of model 'spring_chain' is above the limit of 4: level 4 still has the constraint 0 = ",
    ):
        regularize(spring_chain(), max_index=4)
    assert regularize(spring_chain(), max_index=5).index == 5


def test_hidden_constraint_holds_in_branches_that_are_not_entered_near_the_start():
    """w = max(u - 1/2, 0) and u = t.

    The charge q = u + w^2 drives the current I = -1 - 2 w w', of which the start sees -1 only.
    """
    states = q, u, w, current = sp.symbols("q u w I", real=True)
    channel = sp.Piecewise((u - sp.Rational(1, 2), u > sp.Rational(1, 2)), (0, True))
    f = [-current, u - t, w - channel, q - u - w**2]
    found = regularize(Model("branches", states, sp.diag(1, 0, 0, 0), f, t_span=(0, 2), y0=(0, 0, 0, -1)))
    assert [len(level) for level in found.levels] == [3, 1]
    hidden = found.levels[1][0]
    for at, values in ((0, (0, 0, 0, -1)), (1, (sp.Rational(5, 4), 1, sp.Rational(1, 2), -2))):
        assert hidden.subs({t: at, **dict(zip(states, values, strict=True))}) == 0
