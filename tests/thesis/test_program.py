"""herk.thesis: the rules of the program of 2017.

Checked on small systems where theory says what must come out.
"""

from __future__ import annotations

import inspect
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

import herk
from herk.thesis import NewtonAbort, Settings, ThesisError, ThesisWarning, herkosidae, integrate

METHODS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 3, 6: 4, 7: 4}  # number -> order
MANUAL = ("h0", "ssc", "eps0", "beta", "tol", "ptol", "delta", "Jopt", "Estat", "Nopt", "x0", "t0", "tf")


def decay_f(t, x):
    return np.array([-x[0], x[0] - x[1]])


def decay_g(t, x):
    return np.array([x[0] - x[1]])


DECAY = herk.Dae(E=np.diag([1.0, 0.0]), f=decay_f, g=decay_g, n=2, m=1)


def circle_f(t, x):
    return np.array([-x[1], x[0]])


def circle_g(t, x):
    return np.array([x[0] ** 2 + x[1] ** 2 - 1.0])


def circle_jac(t, x):
    return np.array([[2 * x[0], 2 * x[1]]])


CIRCLE = herk.Dae(E=np.eye(2), f=circle_f, g=circle_g, jac_g=circle_jac, n=2, m=1)


def test_every_parameter_of_the_manual_is_there_under_its_name():
    names = inspect.signature(herkosidae).parameters
    assert [name for name in MANUAL if name not in names] == []
    assert herk.thesis.herkosidae is herkosidae


@pytest.mark.parametrize(("method", "order"), METHODS.items())
def test_all_seven_methods_have_their_order(method, order):
    errors = []
    for h in (0.1, 0.05, 0.025):
        X, _, _ = herkosidae(DECAY, 0, 1, [1, 1], method=method, h0=h, ssc=0, tol=1e-14, delta=1e-8)
        errors.append(abs(X[0, -1] - math.exp(-1)))
    assert np.polyfit(np.log([0.1, 0.05, 0.025]), np.log(errors), 1)[0] == pytest.approx(order, abs=0.12)


def test_shapes_are_those_of_the_original():
    X, T, H = herkosidae(CIRCLE, 0, 1, [1, 0], eps0=1e-6)
    assert X.shape == (2, len(T))
    assert T.shape == H.shape
    assert H[0] == 0.01
    assert T[-1] == 1.0
    assert H[-1] == 0.0


def test_a_constant_step_that_does_not_divide_the_span_misses_its_end():
    _, T, H = herkosidae(DECAY, 0, 1, [1, 1], method=1, h0=0.3, ssc=0)
    assert np.allclose(T, [0, 0.3, 0.6, 0.9])
    assert (H == 0.3).all()


def test_the_word_adaptive_means_constant_steps_as_in_the_original():
    _, T, _ = herkosidae(DECAY, 0, 1, [1, 1], method=1, h0=0.25, ssc="adaptive")
    assert len(T) == 5


def test_the_first_step_is_not_clipped():
    _, T, _ = herkosidae(DECAY, 0, 0.1, [1, 1], h0=0.2, eps0=1e-3)
    assert T.tolist() == [0.0, 0.2]


def test_the_coarse_value_is_kept_after_step_doubling():
    h = 0.1
    X, _, _ = herkosidae(DECAY, 0, h, [1, 1], method=1, h0=h, eps0=1.0)
    assert X[0, -1] == pytest.approx(1 - h, abs=1e-15)
    fine = integrate(DECAY, 0, h, [1, 1], Settings(method=1, h0=h, eps0=1.0, keep_fine=True))
    assert fine.X[0, -1] == pytest.approx((1 - h / 2) ** 2, abs=1e-15)


def test_the_step_is_planned_by_the_absolute_two_norm_of_all_components():
    h, eps0, beta = 0.1, 0.05, 0.8
    _, _, H = herkosidae(DECAY, 0, 5, [1, 1], method=1, h0=h, eps0=eps0, beta=beta)
    error = math.sqrt(2) * ((1 - h / 2) ** 2 - (1 - h))  # both components, divided by 2^1 - 1
    assert H[1] == pytest.approx(beta * h * (eps0 / error) ** 0.5, rel=1e-9)


def opposite_f(t, x):
    return np.array([0.0, 0.0, 0.0])


def opposite_g(t, x):
    return np.array([x[1] - 5.0 * t, -(x[2] - 5.0 * t)])


@pytest.mark.parametrize("Nopt", [0, 1])
def test_residuals_of_opposite_sign_cancel_in_newtons_stop(Nopt):
    dae = herk.Dae(E=np.diag([1.0, 0.0, 0.0]), f=opposite_f, g=opposite_g, n=3, m=2)
    settings = {"method": 1, "h0": 1.0, "ssc": 0, "Nopt": Nopt, "delta": 1e-8}
    X, _, _ = herkosidae(dae, 0, 1, [0, 0, 0], **settings)
    assert X[:, -1].tolist() == [0.0, 0.0, 0.0]
    right = integrate(dae, 0, 1, [0, 0, 0], Settings(**settings, max_norm=True))
    assert right.X[:, -1] == pytest.approx([0, 5, 5])


def test_newton_failure_ends_the_run_and_keeps_the_points_reached():
    def g(t, x):
        return np.array([x[1] ** 2 + 1.0 if t > 0.25 else x[1]])

    def f(t, x):
        return np.array([1.0, 0.0])

    dae = herk.Dae(E=np.diag([1.0, 0.0]), f=f, g=g, n=2, m=1)
    with pytest.raises(NewtonAbort, match="does not converge") as caught:
        herkosidae(dae, 0, 1, [0, 0], method=1, h0=0.1, ssc=0, delta=1e-8)
    assert isinstance(caught.value, herk.HerkError)
    assert pytest.approx([0, 0.1, 0.2]) == caught.value.T
    assert caught.value.X.shape == (2, 3)
    assert caught.value.t == pytest.approx(0.3)


def test_an_estimate_that_is_not_a_number_ends_the_run():
    def f(t, x):
        return np.array([math.sqrt(x[0] - 0.9)])

    dae = herk.Dae(E=np.eye(1), f=f, n=1)
    reversed_f = herk.Dae(E=-np.eye(1), f=f, n=1)
    assert herkosidae(dae, 0, 1, [1.0], eps0=1e-4)[1][-1] == 1.0
    with pytest.raises(ThesisError, match=r"not a finite number|no longer changes"):
        herkosidae(reversed_f, 0, 5, [1.0], h0=2.0, eps0=1e-4)


def test_required_components_need_not_be_the_last_ones():
    def f(t, x):
        return np.array([0.0, -x[1], 0.0, -x[3]])

    def g(t, x):
        return np.array([x[0] - x[1], x[2] - x[3]])

    dae = herk.Dae(E=np.diag([0.0, 1.0, 0.0, 1.0]), f=f, g=g, n=4, m=2)
    X, _, _ = herkosidae(dae, 0, 1, [1, 1, 2, 2], method=4, h0=0.1, ssc=0, delta=1e-8)
    assert X[:, -1] == pytest.approx(np.array([1, 1, 2, 2]) * math.exp(-1), rel=1e-5)


def test_an_e_that_is_not_regularly_reducible_is_refused():
    dae = herk.Dae(E=np.ones((2, 2)), f=decay_f, g=decay_g, n=2, m=1)
    with pytest.raises(ThesisError, match="regularly reducible"):
        herkosidae(dae, 0, 1, [1, 1])


def test_a_tolerance_above_eps0_is_reduced_with_a_warning():
    with pytest.warns(ThesisWarning, match="set to it"):
        loose = herkosidae(CIRCLE, 0, 1, [1, 0], eps0=1e-8, tol=1e-3)
    tight = herkosidae(CIRCLE, 0, 1, [1, 0], eps0=1e-8, tol=1e-8)
    assert np.array_equal(loose[0], tight[0])


@pytest.mark.parametrize("Nopt", [0, 1])
def test_the_given_jacobian_is_used_and_keeps_the_constraint(Nopt):
    X, T, _ = herkosidae(CIRCLE, 0, 2, [1, 0], eps0=1e-8, Jopt=1, Nopt=Nopt)
    assert np.abs(np.hypot(*X) - 1).max() < 1e-12
    assert np.abs(X - [np.cos(T), np.sin(T)]).max() < 1e-6


def test_a_callable_that_raises_is_named_with_its_place_compiled_or_not():
    def compiled(t, x):
        if t > 0.5:
            raise ValueError("too late")
        return np.array([-x[0], x[0] - x[1]])

    def called_back(t, x):
        return np.array(list(compiled(t, x)) if str(t) else [])

    for f in (compiled, called_back):
        dae = herk.Dae(E=np.diag([1.0, 0.0]), f=f, g=decay_g, n=2, m=1)
        with pytest.raises(herk.HerkError, match=r"f\(t, y\) raised ValueError: too late at t = 0\.\d"):
            herkosidae(dae, 0, 1, [1, 1], h0=0.1, ssc=0)


def test_python_that_no_compiler_reads_gives_the_points_of_compiled_callables():
    def f(t, x):
        return np.array([float(str(float(-x[0]))), x[0] - x[1]])

    settings = {"h0": 0.05, "ssc": 0, "delta": 1e-8}
    X, T, _ = herkosidae(herk.Dae(E=DECAY.E, f=f, g=decay_g, n=2, m=1), 0, 1, [1, 1], **settings)
    assert np.array_equal(X, herkosidae(DECAY, 0, 1, [1, 1], **settings)[0])
    assert np.abs(X[0] - np.exp(-T)).max() < 1e-5


def test_selections_are_told_with_the_steps_from_which_they_hold():
    """On the circle the component that changes less is algebraic: x, y, x and y again in 3/4 of a turn."""
    outcome = integrate(CIRCLE, 0, 3 * math.pi / 2, [1, 0], Settings(eps0=1e-9, Jopt=1))
    assert [components for _, components in outcome.selections] == [(0,), (1,), (0,), (1,)]
    expected = [0.0, math.pi / 4, 3 * math.pi / 4, 5 * math.pi / 4]
    assert [t for t, _ in outcome.selections] == pytest.approx(expected, abs=0.1)


def test_a_leading_matrix_that_changes_is_evaluated_at_every_stage():
    dae = herk.Dae(E=lambda t, x: np.array([[1.0 + t]]), f=lambda t, x: np.array([1.0]), n=1)
    moving = herkosidae(dae, 0, 1, [0.0], method=4, h0=0.1, ssc=0)[0][0, -1]
    frozen = herkosidae(dae, 0, 1, [0.0], method=4, h0=0.1, ssc=0, Estat=1)[0][0, -1]
    assert moving == pytest.approx(math.log(2), abs=1e-6)
    assert frozen == pytest.approx(1.0)


def test_models_and_problems_are_taken_too():
    import testset

    problem = testset.get("academic")
    X, _, _ = herkosidae(problem, 0, 1, [1, 1], eps0=1e-9)
    assert X[:, -1] == pytest.approx([math.e, math.e], abs=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": 8}, "1 to 7"),
        ({"method": "rk5"}, "no method named"),
        ({"h0": 0.0}, "h0 must be a positive"),
        ({"eps0": math.nan}, "eps0 must be a finite"),
        ({"Jopt": 1}, "no jac_g"),
    ],
)
def test_wrong_input_is_named(change, message):
    with pytest.raises(herk.InputError, match=message):
        herkosidae(DECAY, 0, 1, [1, 1], **change)


def test_backward_time_and_wrong_starts_are_named():
    with pytest.raises(herk.InputError, match="forward only"):
        herkosidae(DECAY, 1, 0, [1, 1])
    with pytest.raises(herk.InputError, match="2 finite numbers"):
        herkosidae(DECAY, 0, 1, [1])
    with pytest.raises(herk.InputError, match="shape"):
        herkosidae(herk.Dae(E=np.eye(2), f=lambda t, x: np.zeros(3), n=2), 0, 1, [1, 1])


def test_a_nearly_singular_jacobian_of_three_constraints_is_counted():
    """Three constraints of which two differ by 1e-7 in direction.

    Every Jacobian is worth the original's warning.
    """
    dae = herk.Dae(
        E=np.diag([1.0, 0.0, 0.0, 0.0]), f=lambda t, x: np.array([1.0, 0.0, 0.0, 0.0]),
        g=lambda t, x: np.array([x[1] + x[2], x[1] + (1 + 1e-7) * x[2], x[3] - x[0]]), n=4, m=3,
        jac_g=lambda t, x: np.array([[0.0, 1.0, 1.0, 0.0], [0.0, 1.0, 1 + 1e-7, 0.0], [-1.0, 0.0, 0.0, 1.0]]),
    )  # fmt: skip
    with pytest.warns(ThesisWarning, match=r"R_11/R_mm"):
        herkosidae(dae, 0.0, 0.1, [0.0, 0.0, 0.0, 0.0], h0=0.05, ssc=0, Jopt=1)


def test_rows_of_f_that_nothing_keeps_are_warned_about():
    """f demands x1 = x0 where E has no row, but g keeps x1 = x0 + 1.

    The warning of the manual, once for each of 2 steps x 1 stage.
    """
    dae = herk.Dae(E=np.diag([1.0, 0.0]), f=decay_f, g=lambda t, x: np.array([x[1] - x[0] - 1.0]), n=2, m=1)
    with pytest.warns(ThesisWarning, match="Inhomogeneity not fulfilled: 2 times"):
        herkosidae(dae, 0, 0.2, [1, 2], method=1, h0=0.1, ssc=0, delta=1e-8)


def test_the_drifting_pendulum_violates_the_position_as_often_as_in_the_original():
    """The original program warned 7214 times in this run of Table 1; rounding moves such counts by a few."""
    from herk.reproductions.thesis.systems import DRIFTING, SETTINGS_43_TABLE

    outcome = integrate(DRIFTING.dae, 0.0, 20.0, DRIFTING.x0, replace(SETTINGS_43_TABLE, beta=0.7, eps0=1e-5))
    assert len(outcome.T) == 528
    assert outcome.beyond == pytest.approx(7214, abs=5)


def test_nothing_is_warned_about_in_a_good_run():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        herkosidae(CIRCLE, 0, 1, [1, 0])
