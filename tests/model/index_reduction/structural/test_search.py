"""Structure shows the same hidden constraints as Procedure 2.4, or says that it does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

import testset
from herk.codegen.gradient import gradient
from herk.codegen.tape import Tape
from herk.codegen.values import Space
from herk.linalg.balance import rank
from herk.linalg.sparse_rank import Corrections
from herk.model.index_reduction.regularize import by_structure, regularize
from herk.model.index_reduction.structural.elimination import UnfitError
from herk.model.index_reduction.structural.points import Constraints, guesses
from herk.model.index_reduction.structural.search import Search
from herk.model.model import Model
from tests.model.index_reduction.structural.models import chain, ladder, net, pipes

# Too large for formulas without structure, or without a model.
OTHERS = {n for tag in ("large", "callables", "contradictory") for n in testset.names(tag)}
UNFIT = {"time_varying"}  # its ranks hang on how entries of E change with time


def consistent(search: Search) -> tuple[float, np.ndarray]:
    """Return a point where all constraints hold that the structure shows."""
    model, space = search.model, Space(search.catalogue, search.model.values)
    constraints = Constraints(search.catalogue, space, search.levels(), model.n)
    found = [(g.t, constraints.onto(g.t, g.y, scale)) for g, scale in list(guesses(model, search.scale))[:2]]
    return next((t, y) for t, y in found if y is not None)


def evaluated(model: Model, rows: list[sp.Expr], t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and their derivatives at a point."""
    slopes = [(i, j, gradient(row)[s]) for i, row in enumerate(rows) for j, s in enumerate(model.states)
              if s in gradient(row)]  # fmt: skip
    tape = Tape((model.t, *model.states, *model.parameters), [*rows, *(e for _, _, e in slopes)])
    values = tape.floats([t, *y, *model.values])
    matrix = np.zeros((len(rows), model.n))
    for (i, j, _), value in zip(slopes, values[len(rows) :], strict=True):
        matrix[i, j] = value
    return np.array(values[: len(rows)]), matrix


def agree(model: Model) -> None:
    """Check that both ways find the same index, as many constraints per level, and the same set."""
    search, procedure = Search(model), regularize(model)
    assert search.run(10) == procedure.index
    assert [len(level) for level in search.levels()] == procedure.counts
    assert search.notes() == procedure.notes
    if not procedure.index:
        return
    t, y = consistent(search)
    written = [search.catalogue.written(each.formula) for each in search.found]
    ours, slopes = evaluated(model, written, t, y)
    theirs, others = evaluated(model, procedure.constraints, t, y)
    for values, matrix in ((ours, slopes), (theirs, others)):
        np.testing.assert_array_less(np.abs(values), 1e-8 * (np.abs(matrix) @ (np.abs(y) + 1.0)) + 1e-12)
    assert rank(np.vstack([slopes, others]), 1e-9) == len(ours)


@pytest.mark.parametrize("name", [n for n in testset.names() if n not in OTHERS])
def test_both_ways_agree_on_every_model_of_the_test_set(name: str) -> None:
    model = testset.get(name).model
    assert model is not None
    if name in UNFIT:
        with pytest.raises(UnfitError, match="nearly vanishes"):
            by_structure(model)
        return
    agree(model)


@pytest.mark.parametrize(
    "model",
    [
        chain(3),
        chain(4, seed=1),
        net(2, 2),
        ladder(4),
        ladder(7, seed=2),
        *(pipes(6, seed) for seed in range(3)),
    ],
    ids=lambda model: f"{model.name}{model.n}",
)
def test_both_ways_agree_on_chains_nets_ladders_and_pipes(model: Model) -> None:
    agree(model)


def test_a_chain_of_many_rods_has_its_lengths_speeds_and_accelerations_as_constraints() -> None:
    found = regularize(chain(60))
    assert (found.index, found.counts, found.notes) == (3, [60, 60, 60], ())
    assert found.way.startswith("Found from the structure")
    x, y, u, w, T = (sp.symbols(f"{letter}:60", real=True) for letter in "xyuwT")
    g, l, m = sp.symbols("g l m", real=True)  # noqa: E741
    lengths = found.levels[0][7], (x[7] - x[6]) ** 2 + (y[7] - y[6]) ** 2 - l**2
    speeds = found.levels[1][7], 2 * (x[7] - x[6]) * (u[7] - u[6]) + 2 * (y[7] - y[6]) * (w[7] - w[6])

    def pull(z: tuple[sp.Symbol, ...], i: int) -> sp.Expr:
        return (-2 * T[i] * (z[i] - z[i - 1]) + 2 * T[i + 1] * (z[i + 1] - z[i])) / m

    bend = (x[7] - x[6]) * (pull(x, 7) - pull(x, 6)) + (y[7] - y[6]) * (pull(y, 7) - pull(y, 6))
    accelerations = found.levels[2][7], 2 * ((u[7] - u[6]) ** 2 + (w[7] - w[6]) ** 2 + bend)
    for ours, wanted in (lengths, speeds, accelerations):
        assert sp.expand(ours - wanted) == 0
    assert g not in found.levels[2][7].free_symbols or sp.expand(found.levels[2][7]).coeff(g) == 0


def test_what_a_large_model_hides_is_told_in_few_lines() -> None:
    found = regularize(chain(60))
    told = found.explain().splitlines()
    assert told[0] == "Model 'chain': index 3, strangeness index 2, 180 constraints, per level [60, 60, 60]."
    assert told[1].startswith("Found from the structure")
    assert told.count("  ... 57 more of this level") == 3
    assert len(told) < 20
    assert "57 more of level 2" in found._repr_html_()
    assert "57 more of level 2" in found._repr_latex_()


def write(rows: list[str], E: dict[tuple[int, int], Any], states: str) -> Model:
    """Return a model of few rows."""
    names = states.split()
    return Model("small", names, E, rows, t_span=(0, 1), y0=[None] * len(names))


# A constraint beside another one that is the same in the multipliers: their difference is hidden.
SUMS = write(["a + b", "a - b", "a + b + x - t", "2*a + 2*b + 3*x + y"], {(0, 0): 1, (1, 1): 1}, "x y a b")
# Reissig, Martinson & Barton: rows of E that are equal. Their pattern alone would say a higher index.
EQUAL = write(
    ["-x1 + sin(t)", "-x2", "-x3", "-x4", "-x5"],
    {(0, 1): 1, (0, 2): 1, (1, 1): 1, (1, 2): 1, (2, 3): 1, (2, 4): 1, (3, 3): 1, (3, 4): 1},
    "x1 x2 x3 x4 x5",
)
# A capacitor between two nodes: rows of E that cancel.
FLOATING = write(
    ["j - u", "-j - w", "u - w - sin(t)"], {(0, 0): 2, (0, 1): -2, (1, 0): -2, (1, 1): 2}, "u w j"
)


@pytest.mark.parametrize("model", [SUMS, EQUAL, FLOATING], ids=["sums", "equal rows of E", "floating"])
def test_constraints_hidden_in_constant_combinations_of_few_rows_are_found(model: Model) -> None:
    agree(model)


def test_the_structural_index_does_not_mislead() -> None:
    assert by_structure(EQUAL).index == regularize(EQUAL).index == 1


CANCELLING = {
    # The factors of the multipliers are dependent only where the constraints hold.
    "on the constraints": (
        ["y", "a + b", "z", "x - t", "x*a + t*b - z"],
        {(0, 0): 1, (1, 1): 1, (2, 2): 1},
        "x y z a b",
    ),
    "a square": (["z", "(x - z)**2"], {(0, 0): 1}, "x z"),
    "an entry of E that is zero": (["y", "x - t"], {(0, 0): 1, (0, 1): "sin(x)**2 + cos(x)**2 - 1"}, "x y"),
    "rounding in E": (["y", "x - t"], {(0, 0): 1, (0, 1): 0.1 + 0.2 - 0.3}, "x y"),
    "the same constraint twice": (["a + b", "a", "x - t", "2*x - 2*t"], {(0, 0): 1, (1, 1): 1}, "x y a b"),
    "nothing for an unknown": (["z", "0*x + 1 - 1"], {(0, 0): 1}, "x z"),
}


@pytest.mark.parametrize("name", CANCELLING)
def test_what_the_pattern_does_not_show_is_refused(name: str) -> None:
    with pytest.raises(UnfitError):
        by_structure(write(*CANCELLING[name]))


def test_where_structure_does_not_decide_procedure_2_4_does() -> None:
    names = [f"x{i}" for i in range(101)]
    E = {(i, i): 1 for i in range(100)} | {(0, 1): "sin(x0)**2 + cos(x0)**2 - 1"}
    f = [f"-x{i}" for i in range(100)] + ["x100 - x0"]
    found = regularize(Model("odd", names, E, f, t_span=(0, 1), y0=[1.0] * 101))
    assert (found.index, found.counts) == (1, [1])
    assert found.way.startswith("Structure alone did not decide, since an entry of E vanishes")
    assert found.way in found.explain()


def test_smallest_corrections_are_those_of_least_squares() -> None:
    from scipy.sparse import csr_array

    matrix = np.array([[1.0, 2.0, 0.0, 0.0], [0.0, 1e-6, 3e-6, 1e-6]])
    right = np.array([1.0, 2e-6])
    found = Corrections(csr_array(matrix))
    np.testing.assert_allclose(found.smallest(right), np.linalg.pinv(matrix) @ right, rtol=1e-10)
    assert found.independent


def test_a_factor_that_cancels_by_its_numbers_hides_no_constraint() -> None:
    # 0.1 times ten is one: y0' does not occur in the derivatives of the first two rows. The determinant of the
    # pencil s E - A is a constant, so nothing is left free, and there are as many constraints as unknowns.
    E = [[0, 0, 0, 0, 0], [0] * 5, [0, "1e-4", 0, 0, 0], ["-1e5", 0, "0.1", 0, 0], ["1e-3", "-1e6", 0, 0, 0]]
    f = [
        "1e-18*y2 + 1e-12*y4 - t",
        "1e5*y4 + cos(t)",
        "1e-17*y0 + 10*y1 - t",
        "1e19*y1 - 1e4*y2 - 1e10*y3 - 1e10*y4 + t",
        "-1e-7*y0 - 1e11*y1 + 100*y3 + 200*y4 + t",
    ]
    model = Model("cancelling", ["y4", "y1", "y2", "y3", "y0"], E, f, t_span=(0, 1), y0=[None] * 5)
    s = sp.Symbol("s")
    pencil = s * model.E - sp.Matrix(model.f).jacobian(list(model.states))
    assert sp.nsimplify(pencil, rational=True).det().free_symbols == set()
    assert len(by_structure(model).constraints) == 5
