"""The shared types: validated, frozen, picklable, with errors in sentences."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest
from scipy.sparse import eye_array, issparse

import herk
from herk.core import (
    Dae,
    InputError,
    Invariant,
    Problem,
    Reason,
    Reference,
    Settings,
    Solution,
    Stats,
    Status,
    nearest,
)


def rhs(t, y):
    return -y


def constraint(t, y):
    return y[:1]


def energy(t, y):
    return float(y @ y)


def make(**changes) -> Dae:
    return Dae(**({"E": np.diag([1.0, 0.0]), "f": rhs, "g": constraint, "n": 2, "m": 1} | changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"n": 0}, "n must be a whole number of at least 1"),
        ({"n": 2.0}, "n must be a whole number"),
        ({"m": -1}, "m must be a whole number of at least 0"),
        ({"m": 3}, "cannot have m = 3 independent constraints"),
        ({"f": 1.0}, "f must be a callable"),
        ({"g": None}, "g is not a callable"),
        ({"jac_g": 1}, "jac_g must be a callable"),
        ({"g_t": 1}, "g_t must be a callable"),
        ({"E": np.eye(3)}, r"E has shape \(3, 3\)"),
        ({"jac_g_sparsity": np.eye(3)}, r"jac_g_sparsity has shape \(3, 3\)"),
        ({"E": [[1.0, np.nan], [0.0, 0.0]]}, "not finite"),
        ({"names": ("x",)}, "1 names are given for n = 2"),
    ],
)
def test_a_wrong_dae_is_refused_with_a_sentence(changes: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make(**changes)


def test_a_dae_is_frozen_and_its_matrix_is_a_copy() -> None:
    matrix = np.diag([1.0, 0.0])
    dae = make(E=matrix)
    matrix[0, 0] = 5.0
    assert dae.E[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        dae.E[0, 0] = 2.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        dae.n = 3  # type: ignore[misc]


def test_types_survive_pickling() -> None:
    reference = Reference(1.0, [1.0, 0.0], 12.0, "theory")
    problem = Problem(
        "p",
        "A problem",
        (0, 1),
        [1.0, 0.0],
        "source",
        given_dae=make(),
        reference=reference,
        invariants=(Invariant("energy", energy),),
    )
    again = pickle.loads(pickle.dumps(problem))
    assert again.name == "p"
    assert again.dae.n == 2
    np.testing.assert_array_equal(again.reference.y, reference.y)
    assert again.invariants[0].value(0.0, np.array([3.0, 4.0])) == 25.0


def test_a_problem_needs_equations_and_groups_inside_its_state() -> None:
    with pytest.raises(InputError, match="needs a model or a Dae"):
        Problem("p", "A problem", (0, 1), [1.0], "source")
    with pytest.raises(InputError, match="names components outside"):
        Problem(
            "p", "A problem", (0, 1), [1.0, 0.0], "source", given_dae=make(), groups={"positions": (0, 2)}
        )


def test_single_tolerance_is_in_units_of_the_sizes_of_a_problem() -> None:
    plain = Problem("p", "A problem", (0, 1), [1.0, 0.0], "source", given_dae=make())
    sized = Problem("p", "A problem", (0, 1), [1.0, 0.0], "source", given_dae=make(), sizes=(1.0, 1e-6))
    assert plain.atol(1e-9) == 1e-9
    assert sized.atol(1e-9) == pytest.approx((1e-9, 1e-15))
    for sizes in ((1.0,), (1.0, 0.0)):
        with pytest.raises(InputError, match="positive size for each of its 2 components"):
            Problem("p", "A problem", (0, 1), [1.0, 0.0], "source", given_dae=make(), sizes=sizes)


@pytest.mark.parametrize(
    ("values", "words"), [({"rtol": 0.0}, "rtol must be positive"), ({"step": -1.0}, "step must be positive")]
)
def test_settings_refuse_what_makes_no_sense(values: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Settings(**values)


def test_status_follows_from_the_reason_by_scipys_rule() -> None:
    assert Reason.FINISHED.status == Status.FINISHED == 0
    assert Reason.EVENT.status == Reason.CALLBACK.status == Status.STOPPED == 1
    failures = set(Reason) - {Reason.FINISHED, Reason.EVENT, Reason.CALLBACK}
    assert {reason.status for reason in failures} == {Status.FAILED}


def test_a_solution_prints_short_and_refuses_to_interpolate_without_dense_output() -> None:
    sol = Solution(
        t=np.linspace(0, 1, 1000),
        y=np.zeros((2, 1000)),
        reason=Reason.MAX_STEPS,
        message="Too many.",
        nstep=7,
    )
    assert not sol.success
    assert sol.status == -1
    assert sol.stats == Stats(nstep=7)
    assert len(repr(sol)) < 1500
    assert "max_steps" in repr(sol)
    with pytest.raises(InputError, match="dense_output=True"):
        sol(0.5)


def test_unknown_names_come_with_the_nearest_known_ones() -> None:
    assert "Did you mean 'dopri5'?" in str(nearest("dopri", ["dopri5", "rk4"], "method"))
    assert "Known: dopri5, rk4." in str(nearest("xyz", ["rk4", "dopri5"], "method"))


def test_the_forms_of_a_problem_start_where_the_problem_does():
    model = herk.Model(
        "decay", states=["x", "y"], E=[[1, 0], [0, 0]], f=["-x", "y - 2*x"], t_span=(0, 1), y0=[1, None]
    )
    kept = herk.Problem(name="decay", title="", t_span=(0, 1), y0=[1, 2], source="", model=model)
    moved = herk.Problem(name="decay", title="", t_span=(0, 1), y0=[3, 6], source="", model=model)
    assert kept.model is model
    assert list(moved.form("index1").y0) == [3, 6]
    assert herk.solve_dae(moved).y[:, 0].tolist() == [3, 6]


def test_a_sparse_e_stays_sparse_where_it_is_large_and_only_there() -> None:
    for n, sparse in ((3, False), (500, True)):
        dae = herk.Dae(E=eye_array(n), f=lambda t, y: y, n=n)
        assert issparse(dae.E) is sparse
        assert (dae.E @ np.ones(n) == 1.0).all()


def test_a_sparse_e_is_checked_like_a_dense_one() -> None:
    with pytest.raises(InputError, match="E has shape"):
        herk.Dae(E=eye_array(400), f=lambda t, y: y, n=500)
    with pytest.raises(InputError, match="not finite"):
        herk.Dae(E=np.nan * eye_array(500), f=lambda t, y: y, n=500)
