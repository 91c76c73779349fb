"""Stage code solves g = 0 to rounding and gives the derivatives of E y' = f, in both styles.

Compiled and interpreted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import mpmath
import numpy as np
import pytest
import sympy as sp

import herk
from herk.codegen.equations import Equations
from herk.codegen.scope import PYTHON, SHARED
from herk.codegen.stage import stage_source
from herk.core import InputError
from herk.jit import native

t = sp.Symbol("t", real=True)
TOLERANCE = 1e-9


def system(names, E, f, g):
    symbols = tuple(sp.Symbol(name) for name in names.split())
    matrix = sp.ImmutableDenseMatrix
    local = {s.name: s for s in symbols} | {"t": t}
    rows = [[sp.sympify(e, local) for e in part] for part in (f, g)]
    return Equations(
        t, symbols, matrix(sp.Matrix(sp.sympify(E, local))), matrix(rows[0]), matrix(len(g), 1, rows[1])
    )


SYSTEMS = {
    # thesis (4.5) with m = 2
    "pendulum": system(
        "x y v w lam",
        "diag(1, 1, 2, 2, 0)",
        ["v", "w", "-2*x*lam", "-2*y*lam - 2*9.81", "x**2 + y**2 - 1"],
        ["x**2 + y**2 - 1", "2*x*v + 2*y*w", "2*v**2 + 2*w**2 - 4/2*(x**2 + y**2)*lam - 2*9.81*y"],
    ),
    # a rod about a point that is not the origin and moves: the position row is no pure square
    "moving pendulum": system(
        "x y v w lam",
        "diag(1, 1, 3, 3, 0)",
        ["v", "w", "-x*lam", "-y*lam - 29", "0"],
        [
            "(x - t)**2 + (y - 1)**2 + x*y/9 - 4",
            "x*v + y*w - t",
            "v**2 + w**2 - (x**2 + y**2)*lam - y + exp(-lam)/9",
        ],
    ),
    # thesis section 4.5, c = 1/6, m = 1
    "spring chain": system(
        "p1 p2 p3 v1 v2 v3 F",
        "diag(1, 1, 1, 1, 1, 1, 0)",
        ["v1", "v2", "v3", "F - (p1 - p2)/6", "(p1 - p2)/6 - (p2 - p3)/6", "F + (p2 - p3)/6", "p2 - sin(t)"],
        [
            "p2 - sin(t)",
            "v2 - cos(t)",
            "(p1 - p2)/6 - (p2 - p3)/6 + sin(t)",
            "(v1 - v2)/6 - (v2 - v3)/6 + cos(t)",
            "(-3*(p1 - p2)/6 + 3*(p2 - p3)/6 + 2*F)/6 - sin(t)",
        ],
    ),
    # thesis section 4.6
    "circuit": system(
        "q1 q2 e1 e2 iV",
        "[[-1,0,0,0,0],[1,-1,0,0,0],[0,0,0,0,0],[0,0,0,0,0],[0,0,0,0,0]]",
        ["e1 + iV", "e2", "e1 - sin(100*t)", "q1 - e1 + e2", "q2 - e2"],
        ["e1 - sin(100*t)", "q1 - e1 + e2", "q2 - e2", "2*e1 + e2 + 2*iV + 100*cos(100*t)"],
    ),
    "three by three": system(
        "s a b c d",
        "diag(1, t + 2, 1, 0, 0)",
        ["-s*a", "b + s", "c", "0", "0"],
        ["a + sin(b)/4 + c**2/5 - s", "b + a*c/4 - cos(s)", "c + exp(a)/8 + b**2/6 - 1", "d*(2 + a**2) - c"],
    ),
    # squares as they are written, one with a shift and a factor, one with a factor that depends on the state
    "linkage": system(
        "x y z s",
        "diag(1, 1, 1, 1)",
        ["1", "1", "1", "1"],
        ["(2 + s)*x**2 + s*x**2 - 3 - t", "(3*y - 2*x)**2 + s**2 - 2", "5*(s - z)**2/2 - y"],
    ),
    "linear block": system(
        "s a b", "diag(1, 0, 0)", ["a + b", "0", "0"], ["(2 + s**2)*a + b - cos(s)", "a - 3*b*s + t"]
    ),
    "mixing E": system("x y", "[[1 + x**2, x], [y, -2]]", ["cos(t) + y", "x*y"], []),
    "constant mixing E": system("x y z", "[[1, 1, 0], [1, -1, 0], [1/2, x, 3]]", ["y", "t", "x*z + y"], []),
    "singular E": system("x y", "[[1, 1], [0, 0]]", ["cos(t) + x", "0"], ["x**3 + x - y - sin(t)"]),
    "singular E, twice": system(
        "x y z",
        "[[1, 1, z], [0, 0, 0], [0, 0, 0]]",
        ["x - t", "0", "0"],
        ["x - y*exp(z) - t", "z**3 + z - y - t**2"],
    ),
    "nothing differential": system(
        "x y", "[[0, 0], [0, 0]]", ["0", "0"], ["x - cos(t)", "y**3 + y*x**2 + y - 2"]
    ),
    "nothing algebraic": system("x y", "[[3, 0], [0, x**2 + 1]]", ["y - t", "-x*sqrt(y)"], []),
    "one unknown": system("x", "[[1]]", ["-x*t"], []),
}

PENDULUM = [0.6, -0.8, 0.4, 0.3, 4.0]
POINTS = {
    "pendulum": PENDULUM,
    "moving pendulum": [1.9, -0.2, 0.4, 0.9, 0.3],
    "spring chain": [-0.5, 0.3, -0.7, -1.2, 0.9, -1.4, 0.4],
    "circuit": [0.3, 0.2, 0.5, 0.2, -40.0],
    "three by three": [0.8, 0.6, 0.5, 0.7, 0.3],
    "linkage": [0.9, 0.95, -0.1, 0.7],
    "linear block": [0.7, 0.2, 0.4],
    "mixing E": [0.7, 0.3],
    "constant mixing E": [0.7, 0.3, 1.1],
    "singular E": [0.5, 0.4],
    "singular E, twice": [0.9, 0.4, 0.5],
    "nothing differential": [0.7, 0.8],
    "nothing algebraic": [0.7, 0.3],
    "one unknown": [0.7],
}
CASES = [
    ("pendulum", (0, 2, 4)),
    ("pendulum", (1, 3, 4)),
    ("pendulum", (0, 1, 4)),
    ("pendulum", (0, 3, 4)),
    ("moving pendulum", (0, 2, 4)),
    ("moving pendulum", (1, 3, 4)),
    ("spring chain", (0, 1, 3, 4, 6)),
    ("spring chain", (1, 2, 3, 4, 6)),
    ("circuit", (0, 2, 3, 4)),
    ("circuit", (1, 2, 3, 4)),
    ("three by three", (1, 2, 3, 4)),
    ("linkage", (0, 1, 2)),
    ("linear block", (1, 2)),
    ("mixing E", ()),
    ("constant mixing E", ()),
    ("singular E", (0,)),
    ("singular E", (1,)),
    ("singular E, twice", (0, 2)),
    ("singular E, twice", (1, 2)),
    ("nothing differential", (0, 1)),
    ("nothing algebraic", ()),
    ("one unknown", ()),
]
every_case = pytest.mark.parametrize(("name", "algebraic"), CASES, ids=[f"{n} {a}" for n, a in CASES])
TIME = 0.3


@pytest.fixture(scope="module", autouse=True)
def own_folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HERK_CACHE_DIR", str(tmp_path_factory.mktemp("stages")))
        yield


@dataclass
class Stage:
    """One stage in one style and one way of running, behind the same two calls."""

    source: object
    complete_code: object
    rate_code: object

    def complete(self, time, y, floor=1.0, tolerance=TOLERANCE):
        s = self.source
        floors, pivots, work = np.full(2 * len(y), floor), np.full(s.pivots, np.nan), np.zeros(s.work)
        y = np.array(y, dtype=float)
        with np.errstate(all="ignore"):
            return self.complete_code(time, y, tolerance, floors, pivots, work, np.zeros(1)), y, pivots

    def rate(self, time, y):
        s = self.source
        out, floors = np.full(len(s.differential) + s.predicted, np.nan), np.ones(2 * len(y))
        work = np.zeros(s.work)
        with np.errstate(all="ignore"):
            status = self.rate_code(time, np.array(y, dtype=float), out, floors, work, np.zeros(1))
        return out if status == 0 else np.full(out.size, np.nan)


@cache
def source_of(name, algebraic, scalar):
    return stage_source(SYSTEMS[name], algebraic, scalar)


def build(name, algebraic, *, scalar, compiled):
    source = source_of(name, algebraic, scalar)
    return Stage(
        source, *_code(source.text + (_on_arrays(source, SYSTEMS[name].n) if scalar else ""), compiled)
    )


@cache
def _code(text, compiled):
    """Return complete(t, y, tolerance, floor, pivots, work, par) and rate(t, y, out, floor, work, par).

    In machine code or in Python.
    """
    names = [f"{name}_array" if "complete_array" in text else name for name in ("complete", "rate")]
    made = native.build(text, names, {}, SHARED, PYTHON)
    return tuple(_called(made[name], compiled) for name in names)


def _called(function, compiled):
    return function if compiled else function.py_func


def _on_arrays(source, n):
    """Return functions that hand components over one by one, as a kernel does.

    Under the names of the functions they call.
    """
    y = ", ".join(f"y[{j}]" for j in range(n))
    results = ["count", *(f"z{j}" for j in source.algebraic), *(f"p{k}" for k in range(source.pivots))]
    rates = [f"k{i}" for i in range(len(source.differential) + source.predicted)]
    back = [f"    y[{j}] = z{j}" for j in source.algebraic] + [
        f"    pivots[{k}] = p{k}" for k in range(source.pivots)
    ]
    listed, comma = ", ".join(rates), "," if len(rates) == 1 else ""
    call = [f"    {listed}{comma} = rate(t, {y}, floor, work, par)"] if rates else []
    return "\n".join(
        [
            "",
            "def complete_array(t, y, tolerance, floor, pivots, work, par):",
            (
                f"    {', '.join(results)}{',' if len(results) == 1 else ''} = complete(t, {y}, tolerance,"
                " floor, work, par)"
            ),
            *back,
            "    return count",
            "",
            "def rate_array(t, y, out, floor, work, par):",
            *call,
            *(f"    out[{i}] = {k}" for i, k in enumerate(rates)),
            "    return 0",
            "",
        ]
    )


def ways(name, algebraic):
    return [build(name, algebraic, scalar=s, compiled=c) for s in (False, True) for c in (False, True)]


@cache
def consistent(name, algebraic):
    """Return a point of g = 0 near the given one to 30 digits, by mpmath.

    Algebraic components changed only.
    """
    system, point = SYSTEMS[name], [mpmath.mpf(v) for v in POINTS[name]]
    with mpmath.workdps(40):
        if algebraic:
            function = sp.lambdify([system.t, *system.states], list(system.g), "mpmath")
            unknown = list(algebraic)

            def residual(*values):
                full = list(point)
                for j, value in zip(unknown, values, strict=True):
                    full[j] = value
                return function(mpmath.mpf(TIME), *full)

            root = mpmath.findroot(residual, [point[j] for j in unknown], tol=1e-60, maxsteps=100)
            for j, value in zip(unknown, root, strict=True):
                point[j] = value
        return tuple(point)


def exact_rate(name, algebraic):
    """Return y' from [E; g_y] y' = [f; -g_t] in 40 digits; components it leaves open are nan."""
    system, point = SYSTEMS[name], consistent(name, algebraic)
    with mpmath.workdps(40):
        at = {
            s: sp.Float(v, 40)
            for s, v in zip((system.t, *system.states), (mpmath.mpf(TIME), *point), strict=True)
        }
        top = sp.Matrix.hstack(system.E, system.f)
        bottom = sp.Matrix.hstack(system.jac_g, -system.g_t) if system.m else sp.zeros(0, system.n + 1)
        stacked = sp.Matrix.vstack(*(m for m in (top, bottom) if m.rows)).xreplace(at).evalf(40)
        rows = mpmath.matrix(stacked.tolist())
        answer = mpmath.lu_solve(rows[:, : system.n], rows[:, system.n])
        return np.array([float(v) for v in answer])


@every_case
def test_complete_solves_the_constraints_to_rounding_from_a_perturbed_start(name, algebraic):
    exact = np.array([float(v) for v in consistent(name, algebraic)])
    for stage in ways(name, algebraic):
        start = exact.copy()
        start[list(algebraic)] = 1e9  # what is not guessed has no influence
        for k, j in enumerate(stage.source.guessed):
            start[j] = exact[j] * (1 + 0.03 * (-1) ** k)
        iterations, y, pivots = stage.complete(TIME, start)
        assert 0 <= iterations <= 12
        assert np.isfinite(pivots).all()
        np.testing.assert_allclose(y, exact, rtol=2e-14, atol=2e-15)


FLOWS = [
    case for case in CASES if case[0] not in ("moving pendulum", "three by three", "linkage", "linear block")
]  # g = 0 follows from E y' = f


@pytest.mark.parametrize(("name", "algebraic"), FLOWS, ids=[f"{n} {a}" for n, a in FLOWS])
def test_rate_is_the_derivative_along_the_flow(name, algebraic):
    exact = np.array([float(v) for v in consistent(name, algebraic)])
    derivative = exact_rate(name, algebraic) if name != "nothing differential" else None
    for stage in ways(name, algebraic):
        wanted = [*stage.source.differential, *stage.source.guessed[: stage.source.predicted]]
        got = stage.rate(TIME, exact)
        assert len(got) == len(wanted)
        if wanted:
            np.testing.assert_allclose(got, derivative[wanted], rtol=5e-14, atol=1e-14)


@pytest.mark.parametrize(
    ("name", "algebraic"),
    [
        ("moving pendulum", (0, 2, 4)),
        ("three by three", (1, 2, 3, 4)),
        ("linkage", (0, 1, 2)),
        ("linear block", (1, 2)),
    ],
)
def test_rate_divides_by_the_diagonal_of_E(name, algebraic):
    system = SYSTEMS[name]
    exact = [float(v) for v in consistent(name, algebraic)]
    at = dict(zip((system.t, *system.states), (TIME, *exact), strict=True))
    for stage in ways(name, algebraic):
        wanted = [*stage.source.differential, *stage.source.guessed[: stage.source.predicted]]
        expected = [float((system.f[j] / system.E[j, j]).evalf(30, subs=at)) for j in wanted]
        np.testing.assert_allclose(stage.rate(TIME, exact), expected, rtol=1e-14)


@every_case
def test_styles_and_ways_of_running_agree(name, algebraic):
    start = np.array(POINTS[name]) * 1.01
    results = [(stage.complete(TIME, start), stage.rate(TIME, start)) for stage in ways(name, algebraic)]
    for (iterations, y, pivots), rate in results[1:]:
        assert iterations == results[0][0][0]
        np.testing.assert_allclose(y, results[0][0][1], rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(pivots, results[0][0][2], rtol=1e-14)
        np.testing.assert_allclose(rate, results[0][1], rtol=1e-14, atol=1e-15)


def test_guessed_components_with_a_derivative_come_first():
    source = source_of("three by three", (1, 2, 3, 4), True)
    assert source.guessed == (1, 2, 3)
    assert source.predicted == 2
    assert source.differential == (0,)
    source = source_of("moving pendulum", (0, 2, 4), True)
    assert (source.guessed, source.predicted) == ((0, 4), 1)
    assert source_of("circuit", (1, 2, 3, 4), True).guessed == ()


def test_a_general_E_predicts_every_guessed_component():
    source = source_of("singular E, twice", (0, 2), False)
    assert source.guessed == (2,)
    assert source.predicted == 1


def test_pivots_report_how_near_a_choice_is_to_failing():
    y = 0.1
    for stage in ways("pendulum", (0, 2, 4)):
        assert stage.source.pivots == 3
        near = stage.complete(TIME, [y, -np.sqrt(1 - y * y), 0.0, 0.3, 4.0])[2]
        far = stage.complete(TIME, [1.0, -0.01, 0.0, 0.3, 4.0])[2]
        np.testing.assert_allclose(near[:2] / far[:2], y, rtol=1e-3)
    assert source_of("circuit", (1, 2, 3, 4), True).pivots == 0


def test_a_root_keeps_the_side_of_its_start_value():
    for stage in ways("pendulum", (0, 2, 4)):
        for side in (-1.0, 1.0):
            iterations, y, _ = stage.complete(TIME, [side * 1e-3, 0.8, 0.0, 0.3, 0.0])
            assert iterations == 0
            np.testing.assert_allclose(y[0], side * 0.6, rtol=1e-15)


def test_squares_as_they_are_written_need_no_iteration():
    assert "range(" not in source_of("linkage", (0, 1, 2), True).text
    assert "sqrt" not in source_of("moving pendulum", (0, 2, 4), True).text


FAILURES = {
    "no solution (root)": ("pendulum", (0, 2, 4), [0.5, 1.5, 0.0, 0.3, 0.0]),
    "turning point": ("pendulum", (0, 2, 4), [0.0, 1.0, 0.0, 0.3, 0.0]),
    "nan where it matters": ("pendulum", (0, 2, 4), [0.5, np.nan, 0.0, 0.3, 0.0]),
    "nan as side of a root": ("pendulum", (0, 2, 4), [np.nan, 0.5, 0.0, 0.3, 0.0]),
    "nan in a linear row": ("pendulum", (0, 2, 4), [0.5, 0.5, 0.0, np.nan, 0.0]),
    "infinite": ("pendulum", (0, 2, 4), [0.5, 0.5, 0.0, np.inf, 0.0]),
    "singular Jacobian": ("pendulum", (0, 1, 4), [0.6, 0.8, 0.6, 0.8, 0.0]),
    "nan in a block": ("pendulum", (0, 1, 4), [np.nan, 0.8, 0.3, -0.8, 0.0]),
    "no solution (Newton)": ("moving pendulum", (0, 2, 4), [1.9, 40.0, 0.4, 0.9, 0.3]),
    "nan as start value": ("singular E", (0,), [np.nan, 0.4]),
    "nan in a linear block": ("linear block", (1, 2), [np.nan, 0.0, 0.0]),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_block_without_solution_is_reported(case):
    name, algebraic, start = FAILURES[case]
    for stage in ways(name, algebraic):
        assert stage.complete(TIME, start)[0] == -1


def test_an_iteration_that_would_start_at_a_flat_point_is_reported():
    flat = system("s a", "diag(1, 0)", ["0", "0"], ["a**3 + a**2 - s"])
    SYSTEMS["flat"] = flat
    for stage in ways("flat", (1,)):
        assert stage.complete(TIME, [1.0, 0.0])[0] == -1
        assert stage.complete(TIME, [1.0, 0.7])[0] > 0


def test_a_singular_E_gives_nan_or_minus_one():
    for stage in ways("mixing E", ()):
        assert np.isnan(stage.rate(TIME, [1.0, -4.0])).all()
        assert np.isfinite(stage.rate(TIME, [1.0, -3.0])).all()


def test_a_parameter_of_E_that_is_zero_gives_nan_or_minus_one():
    x, m = sp.symbols("x m", real=True)
    matrix = sp.ImmutableDenseMatrix
    falling = Equations(t, (x,), matrix([[m]]), matrix([x]), matrix(0, 1, []), (m,))
    for scalar, point, out, wanted in ((True, 3.0, (), np.nan), (False, [3.0], ([0.0],), -1)):
        space = dict(PYTHON)
        exec(stage_source(falling, (), scalar).text, space)
        found = space["rate"](TIME, point, *out, [1.0], [0.0], [0.0])
        np.testing.assert_equal(found[0] if scalar else found, wanted)
        found = space["rate"](TIME, point, *out, [1.0], [0.0], [2.0])
        assert (found[0] if scalar else out[0][0]) == 1.5


def test_the_stop_follows_the_tolerance_and_the_floor():
    for stage in ways("singular E", (0,)):
        tight = stage.complete(TIME, [0.9, 0.4], tolerance=1e-9)[0]
        loose = stage.complete(TIME, [0.9, 0.4], tolerance=1e-2)[0]
        floored = stage.complete(TIME, [0.9, 0.4], tolerance=1e-9, floor=1e9)[0]
        assert floored == 1
        assert 1 < loose < tight <= 7


def test_a_component_without_derivative_must_be_algebraic():
    with pytest.raises(InputError, match="derivative of lam"):
        stage_source(SYSTEMS["pendulum"], [0, 1, 2], True)


def test_a_general_E_needs_enough_rows():
    short = system("x y z", "[[1, 1, 0], [0, 0, 0], [0, 0, 0]]", ["0", "0", "0"], ["x - t"])
    with pytest.raises(InputError, match="too few"):
        stage_source(short, [0], True)


def test_a_number_on_the_diagonal_of_E_costs_no_division_where_it_disappears():
    assert "/" not in source_of("pendulum", (0, 2, 4), True).text.split("def rate")[1]


def test_a_pivot_is_divided_by_before_what_depends_on_more_is_known():
    text = source_of("pendulum", (0, 2, 4), True).text.split("def rate")[0]  # y0: x, y2: v, y4: lam
    assert "v1 = 1.0/p1\n" in text  # of the velocity, which depends on x and y; the top on w too
    assert "y2 = r1*v1\n" in text
    assert "y4 = r2*v2\n" in text


@pytest.mark.parametrize("long", [False, True])
def test_an_unknown_that_cancels_in_a_constraint_is_not_waited_for(long: bool) -> None:
    """x (2 l x + m y) + y (2 l y - m x) does not depend on m; what is long is not multiplied out."""
    more = "".join(f" + {k}*sin({k}*t)*(x**2 + y**2 - 1)" for k in range(1, 60)) if long else ""
    E = np.diag([1, 1, 0, 0])
    rows = ["-y", "x", f"x*(2*l*x + m*y) + y*(2*l*y - m*x) - 2*cos(t){more}", "m - l*x"]
    model = herk.Model("cancelled", ["x", "y", "l", "m"], E, rows, t_span=(0, 3), y0=[1, 0, 1, 1])
    for method in ("dopri5", "radau5"):
        sol = herk.solve_dae(model, method=method, rtol=1e-9, atol=1e-9)
        assert sol.y[2, -1] == pytest.approx(np.cos(3.0), abs=1e-6)
        assert sol.y[3, -1] == pytest.approx(np.cos(3.0) ** 2, abs=1e-6)
