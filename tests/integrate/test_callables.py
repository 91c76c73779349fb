"""Functions as users write them.

Compiled where possible, always with the values they see at the time of the call.
"""

from __future__ import annotations

import functools
import gc
import re
import types
import warnings
from math import exp
from pathlib import Path

import numba
import numpy as np
import pytest

import herk
import testset
from herk.integrate import callables
from herk.integrate.callables import bound
from tests.integrate.systems import ACADEMIC, PENDULUM, called_back

RATE = -1.0
WEIGHTS = np.array([1.0, 1.0])
PAIR = (1.0, 1.0)
settings = types.ModuleType("settings")
settings.rate = -1.0


@numba.njit
def scaled(y):
    return -2.0 * y


def end(f, n: int = 1, **options) -> np.ndarray:
    """Return y(1) of y' = f, y(0) = 1."""
    sol = herk.solve_dae(
        herk.Dae(E=np.eye(n), f=f, n=n), (0.0, 1.0), np.ones(n), rtol=1e-9, atol=1e-10, **options
    )
    assert sol.success
    return sol.y[:, -1]


def by_global(t, y):
    return RATE * y


def by_comprehension(t, y):
    return np.array([RATE * value for value in y])


def by_array(t, y):
    return -WEIGHTS[:1] * y


def by_tuple(t, y):
    return -PAIR[1] * y


def by_module(t, y):
    return settings.rate * y


CAPTURES = [
    (by_global, "RATE", -1.0, -3.0),
    (by_global, "RATE", -1, -1.5),
    (by_global, "RATE", np.float32(-1.0), np.int64(-2)),
    (by_comprehension, "RATE", -1.0, -3.0),
    (by_array, "WEIGHTS", np.array([1.0, 0.0]), np.array([2.0, 0.0])),
    (by_tuple, "PAIR", (1.0, 1.0), (1.0, 2.0)),
]


@pytest.mark.parametrize(("f", "name", "first", "second"), CAPTURES)
def test_a_global_that_changes_between_two_solves_is_honoured(f, name, first, second, monkeypatch) -> None:
    for value in (first, second, first):
        monkeypatch.setitem(globals(), name, value)
        rate = float(f(0.0, np.ones(1))[0])
        assert end(f)[0] == pytest.approx(exp(rate), rel=1e-7)


def test_an_array_that_is_changed_in_place_between_two_solves_is_honoured() -> None:
    rates = np.array([-1.0])

    def f(t, y):
        return rates * y

    assert end(f)[0] == pytest.approx(exp(-1.0), rel=1e-7)
    rates[0] = -2.0
    assert end(f)[0] == pytest.approx(exp(-2.0), rel=1e-7)


def test_a_value_of_a_module_that_changes_between_two_solves_is_honoured(monkeypatch) -> None:
    assert end(by_module)[0] == pytest.approx(exp(-1.0), rel=1e-7)
    monkeypatch.setattr(settings, "rate", -2.0)
    assert end(by_module)[0] == pytest.approx(exp(-2.0), rel=1e-7)


def test_closures_over_different_values_are_different_functions() -> None:
    def make(rate):
        return lambda t, y: rate * y

    assert [end(make(rate))[0] for rate in (-1.0, -2.0)] == pytest.approx([exp(-1.0), exp(-2.0)], rel=1e-7)


def as_list(t, y):
    return [-y[0], -2.0 * y[1]]


def as_tuple(t, y):
    return -y[0], -2.0 * y[1]


def as_array(t, y):
    return np.array([-y[0], -2.0 * y[1]])


@numba.njit
def as_numba(t, y):
    return np.array([-y[0], -2.0 * y[1]])


def by_numba_part(t, y):
    return np.array([-y[0], scaled(y[1])])


def as_whole_numbers(t, y):
    return np.array([-1, -2]) * y


def as_strided(t, y):
    return np.array([[-y[0], -2.0 * y[1]], [0.0, 0.0]]).T[:, 0]


as_lambda = lambda t, y: -y * np.arange(1, 3)


@pytest.mark.parametrize(
    "f", [as_list, as_tuple, as_array, as_numba, by_numba_part, as_whole_numbers, as_strided, as_lambda]
)
def test_lists_tuples_arrays_lambdas_and_numba_functions_are_compiled(f) -> None:
    assert bound(herk.Dae(E=np.eye(2), f=f, n=2)).compiled
    assert end(f, n=2) == pytest.approx([exp(-1.0), exp(-2.0)], rel=1e-7)


def matrix_as_lists(t, y):
    return [[1.0, 0.0], [0.0, 0.5]]


def test_a_matrix_may_be_given_as_lists() -> None:
    sol = herk.solve_dae(
        herk.Dae(E=matrix_as_lists, f=lambda t, y: [-y[0], -y[1]], n=2),
        (0.0, 1.0),
        [1.0, 1.0],
        rtol=1e-9,
        atol=1e-10,
    )
    assert sol.y[:, -1] == pytest.approx([exp(-1.0), exp(-2.0)], rel=1e-7)


class Plant:
    """A system as an object."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def f(self, t, y):
        return self.rate * y

    def __call__(self, t, y):
        return self.rate * y


class Unhashable(Plant):
    __hash__ = None  # type: ignore[assignment]


def partial_rate(rate, t, y):
    return rate * y


@pytest.mark.parametrize(
    "f", [Plant(-2.0).f, Plant(-2.0), Unhashable(-2.0), functools.partial(partial_rate, -2.0)]
)
def test_what_cannot_be_compiled_is_called_back_and_right(f) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert end(f)[0] == pytest.approx(exp(-2.0), rel=1e-7)


def test_a_changed_object_is_seen() -> None:
    plant = Plant(-1.0)
    dae = herk.Dae(E=np.eye(1), f=plant.f, n=1)
    for rate in (-1.0, -2.0):
        plant.rate = rate
        assert herk.solve_dae(dae, (0.0, 1.0), [1.0], rtol=1e-9).y[0, -1] == pytest.approx(
            exp(rate), rel=1e-6
        )


def growth(solve, count: int) -> float:
    """Return by how many bytes the process grows in a solve, of 2 `count`; what happens once does not count."""
    import resource

    def resident() -> int:
        gc.collect()
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    sizes = []
    gc.freeze()  # what other tests have left is not looked through again and again
    try:
        for _ in range(4):
            for _ in range(count // 2):
                solve()
            sizes.append(resident())
    finally:
        gc.unfreeze()
    return 2 * min(np.diff(sizes)) / count


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="the size of the process is read from /proc"
)
@pytest.mark.parametrize("kind", ["callables", "model", "dense", "python"])
def test_thousands_of_solves_do_not_leak(kind) -> None:
    dae = {"model": testset.get("pendulum").dae, "python": called_back(ACADEMIC.dae)}.get(kind, PENDULUM.dae)
    options = {"dense": {"dense_output": True, "events": lambda t, y: y[0], "t_eval": [0.005]}}
    y0 = ACADEMIC.y0 if kind == "python" else PENDULUM.y0

    def solve() -> None:
        assert herk.solve_dae(dae, (0.0, 0.01), y0, method="rk4", step=0.005, **options.get(kind, {})).success

    assert growth(solve, 150 if kind == "python" else 200) < (7000 if kind == "python" else 1000)


def test_solves_in_several_threads_do_not_disturb_each_other() -> None:
    from concurrent.futures import ThreadPoolExecutor

    alone = herk.solve_dae(PENDULUM.dae, (0.0, 2.0), PENDULUM.y0, dense_output=True)
    times = np.linspace(0.0, 2.0, 500)
    expected = alone(times)
    with ThreadPoolExecutor(4) as pool:
        solutions = list(pool.map(lambda _: herk.solve_dae(PENDULUM.dae, (0.0, 2.0), PENDULUM.y0), range(16)))
        values = list(pool.map(lambda _: alone(times), range(16)))
    assert all(np.array_equal(sol.y, alone.y) for sol in solutions)
    assert all(np.array_equal(each, expected) for each in values)


def test_of_many_closures_of_one_text_only_some_are_compiled_and_all_are_right(monkeypatch) -> None:
    monkeypatch.setattr(callables, "MOST_CLOSURES", 3)

    def decay(rate: float):
        return lambda t, y: np.array([-rate * y[0]])

    # what stands for functions that are not given is compiled once per process, whichever test comes first
    herk.solve_dae(herk.Dae(E=np.eye(1), f=lambda t, y: -y, n=1), (0.0, 1.0), [1.0])
    before = len(callables._compiled)
    for k in range(1, 7):
        sol = herk.solve_dae(herk.Dae(E=np.eye(1), f=decay(float(k)), n=1), (0.0, 1.0), [1.0], rtol=1e-9)
        assert sol.y[0, -1] == pytest.approx(exp(-k), rel=1e-6)
    assert len(callables._compiled) - before == 3


class Late:
    """A callable object, which numba does not compile: right until t = 0.5, then of another shape."""

    def __init__(self, other) -> None:
        self.other = other

    def __call__(self, t, y):
        return self.other if t > 0.5 else [-y[0], -y[1]]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ([0.0], r"shape \(1,\)"),
        (0.0, r"shape \(\)"),
        ([[1.0, 2.0]], r"shape \(1, 2\)"),
        ([1.0, 2.0, 3.0], r"shape \(3,\)"),
        (None, "None"),
    ],
)
def test_values_of_another_shape_later_end_the_run_with_a_sentence(other, words: str) -> None:
    sol = herk.solve_dae(herk.Dae(E=np.eye(2), f=Late(other), n=2), (0.0, 1.0), [1.0, 1.0])
    assert sol.reason == "exception"
    assert sol.t[-1] < 0.5
    assert re.search(rf"f\(t, y\) returned .*{words} at t = .*shape \(2,\) is needed everywhere", sol.message)


def shorter_later(t, y):
    return y if t < 0.5 else y[:1]


def test_compiled_values_of_another_shape_later_end_the_run_too() -> None:
    dae = herk.Dae(E=np.eye(2), f=shorter_later, n=2)
    assert bound(dae).compiled
    sol = herk.solve_dae(dae, (0.0, 1.0), [1.0, 1.0])
    assert sol.reason == "exception"
    assert re.search(r"f\(t, y\) returned an array of shape \(1,\) at t = ", sol.message)


def spoiling(t, y):
    y *= -2.0
    return y


def spoiling_a_part(t, y):
    y[0] = -2.0 * y[0]
    return [y[0], -2.0 * y[1]]


@pytest.mark.parametrize("f", [spoiling, spoiling_a_part])
def test_a_compiled_function_that_changes_y_in_place_spoils_a_copy(f) -> None:
    assert bound(herk.Dae(E=np.eye(2), f=f, n=2)).compiled
    assert end(f, n=2) == pytest.approx([exp(-2.0), exp(-2.0)], rel=1e-7)


class Pairs:
    """y0 = y1 among many unknowns; matrices by methods, objects and partial functions."""

    n = 120

    def slopes(self, t, y):
        jac = np.zeros((1, self.n))
        jac[0, :2] = 1.0, -1.0
        return jac

    def __call__(self, t, y):
        return self.slopes(t, y)

    def mass(self, t, y):
        return (1.0 + t) * np.eye(self.n)


@pytest.mark.parametrize("method", ["dopri5", "radau5"])
def test_matrices_of_many_unknowns_are_given_by_whatever_can_be_called(method: str) -> None:
    pairs, start = Pairs(), np.ones(Pairs.n)
    E = np.diag([1.0, 0.0, *np.ones(Pairs.n - 2)])
    for jac in (pairs, pairs.slopes, functools.partial(Pairs.slopes, pairs)):
        dae = herk.Dae(E=E, f=lambda t, y: -y, g=lambda t, y: [y[0] - y[1]], n=Pairs.n, m=1, jac_g=jac)
        sol = herk.solve_dae(dae, (0.0, 1.0), start, method=method, rtol=1e-6)
        assert sol.y[:2, -1] == pytest.approx([exp(-1), exp(-1)], rel=1e-5)
    mass = functools.partial(Pairs.mass, pairs)
    sol = herk.solve_dae(herk.Dae(E=mass, f=lambda t, y: -y, n=Pairs.n), (0.0, 1.0), start, method=method)
    assert sol.y[:, -1] == pytest.approx(0.5 * start, rel=1e-3)


def slopes_by_global(t, y):
    jac = np.zeros((1, 120))
    jac[0, 0], jac[0, 1] = 1.0, RATE
    return jac


def test_a_global_of_a_matrix_of_many_unknowns_is_honoured_when_it_changes(monkeypatch) -> None:
    """With a wrong slope Newton's method finds no end: 1 instead of -1e3."""
    E = np.diag([1.0, 0.0, *np.ones(118)])
    dae = herk.Dae(
        E=E, f=lambda t, y: -y, g=lambda t, y: [y[0] + RATE * y[1]], n=120, m=1, jac_g=slopes_by_global
    )
    for rate in (-1.0, -1e3):
        monkeypatch.setitem(globals(), "RATE", rate)
        sol = herk.solve_dae(dae, (0.0, 1.0), [1.0, -1.0 / rate, *np.ones(118)], rtol=1e-6)
        assert sol.success, sol.message
        assert sol.y[1, -1] == pytest.approx(-exp(-1) / rate, rel=1e-5)


def test_what_a_callable_raises_between_steps_is_said_in_its_name() -> None:
    class Fragile:
        broken = False

        def __call__(self, t, y):
            if self.broken:
                raise ValueError("no data")
            return -y

    f = Fragile()
    sol = herk.solve_dae(
        herk.Dae(E=np.eye(1), f=f, n=1), (0.0, 1.0), [1.0], method="dopri5", dense_output=True
    )
    f.broken = True
    with pytest.raises(herk.HerkError, match=r"f\(t, y\) raised ValueError: no data"):
        sol(0.05)
    f.broken = False
    assert sol(0.05)[0] == pytest.approx(exp(-0.05), rel=1e-3)
