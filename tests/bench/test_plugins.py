"""What a user's file may offer, and what is said when it offers nothing."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

import testset
from herk.bench import plugins, study, sweeps
from herk.bench.plugins import to_solve
from herk.bench.recommend.examine import examine
from herk.bench.runner import run
from herk.core import InputError


def told(path) -> tuple[str, object]:
    found: list[tuple[str, object]] = []
    examine(lambda kind, content: found.append((kind, content)), str(path))
    assert len(found) == 1
    return found[0]


def test_model_is_found_and_open_start_values_are_computed(user_file):
    loaded = to_solve(user_file("switched"))
    assert (loaded.kind, loaded.attribute) == ("model", "model")
    # 2 lam l^2 = v^2 + w^2 + 5 x - 9.81 y with x = 1, at rest
    np.testing.assert_allclose(loaded.problem.y0, [1, 0, 0, 0, 2.5], atol=1e-13)


def test_dae_brings_span_and_start_beside_it(user_file):
    loaded = to_solve(user_file("callables"))
    assert loaded.kind == "dae"
    assert loaded.problem.t_span == (0.0, 1.2)
    np.testing.assert_allclose(loaded.problem.y0[4], 2.5)


def test_problem_file_of_the_template_is_taken(tmp_path):
    from herk.bench.new import create

    loaded = to_solve(create("problem", "own_bead", tmp_path))
    assert (loaded.kind, loaded.problem.name) == ("problem()", "own_bead")


def test_file_without_anything_usable_is_answered_with_what_it_should_define(user_file):
    kind, (verdict, text) = told(user_file("nothing"))
    assert (kind, verdict) == ("wrong", "unusable")
    assert "nothing to solve" in text
    assert "`model`" in text


def test_two_models_without_a_chosen_name_are_named(user_file):
    with pytest.raises(InputError, match="several models: a, b"):
        to_solve(user_file("several"))


def test_file_that_raises_is_shown_with_its_own_traceback(user_file):
    path = user_file("broken")
    _, (verdict, text) = told(path)
    assert verdict == "unusable"
    assert "ZeroDivisionError" in text
    assert "in deep" in text
    assert "importlib" not in text


def test_missing_file_is_said(tmp_path):
    _, (verdict, text) = told(tmp_path / "none.py")
    assert verdict == "unusable"
    assert "cannot be read: No such file" in text


def test_dae_without_span_is_told_what_is_missing(user_file):
    path = user_file("callables")
    path.write_text(path.read_text().replace("t_span, y0 =", "span, start ="))
    with pytest.raises(InputError, match="not t_span and y0"):
        to_solve(path)


@pytest.mark.parametrize(("name", "verdict", "words"), [
    ("redundant", "ill-posed", "follows from the other equations"),
    ("contradicting", "ill-posed", "contradicts"),
    ("inconsistent", "inconsistent", "is 0.21 (allowed"),
])  # fmt: skip
def test_ill_posed_models_are_refused_with_the_reason(user_file, name, verdict, words):
    kind, content = told(user_file(name))
    assert kind == "wrong"
    assert content[0] == verdict
    assert words in content[1]


def test_inconsistent_start_is_answered_with_the_nearest_consistent_one(user_file):
    _, (_, text) = told(user_file("inconsistent"))
    assert "nearest consistent start is y0 = (1, 0, 0, 0, 0)" in text


@pytest.mark.parametrize("name", ["switched", "callables"])
def test_the_same_file_is_taken_by_run_and_by_recommend(user_file, name, tmp_path):
    """What a file offers as a model, or as callables with span and start, joins the bench under its name."""
    path = user_file(name)
    [joined] = plugins.load([path])
    try:
        problem = testset.get(*joined.problems)
        np.testing.assert_array_equal(problem.y0, to_solve(path).problem.y0)
        (found,) = sweeps.expand(
            study.load("work_precision", quick=True),
            sweeps.Choice(solver=("herk_dop853",), files=(str(path),), own_problems=joined.problems),
        )
        assert (found.problem, found.form, found.files) == (*joined.problems, "overdetermined", (str(path),))
        rows = [row for batch in run.records(replace(found, settings=found.settings[:1])) for row in batch]
        assert [row["status"] for row in rows if row["kind"] == "run"] == ["ok"]
    finally:
        testset._registered.pop(joined.problems[0])
        plugins._makers.pop(joined.problems[0])


def test_a_file_may_import_its_neighbour_and_leaves_no_trace_in_the_path(user_file, tmp_path):
    (tmp_path / "neighbour_of_it.py").write_text("RATE = -2.0\n")
    path = tmp_path / "importing.py"
    path.write_text(
        "import herk\nfrom neighbour_of_it import RATE\n"
        "model = herk.Model('m', ['x'], [[1]], [f'{RATE}*x'], t_span=(0, 1), y0=(1,))\n"
    )
    before = list(sys.path)
    assert to_solve(path).problem.name == "m"
    assert sys.path == before


def test_a_file_with_solvers_only_is_told_that_there_is_nothing_to_solve(tmp_path):
    from herk.bench.new import create

    with pytest.raises(InputError, match="has solvers, but nothing to solve"):
        to_solve(create("solver", "own_heun", tmp_path))
