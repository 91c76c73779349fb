"""Many runs by one call: the same numbers as single runs, failures as rows, nothing compiled twice."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import herk
import testset
from herk.core.dae import Array
from herk.jit.native import Native
from herk.parameters import crew
from herk.parameters.crew import Crew

TIMES = np.linspace(0.0, 3.0, 16)


def pendulums(count: int) -> tuple[dict[str, Array], Array]:
    """Return lengths, gravities and starts on the constraints; the multiplier is left open."""
    rng = np.random.default_rng(7)
    length, gravity, angle = rng.uniform(0.5, 2, count), rng.uniform(5, 15, count), rng.uniform(-2, 2, count)
    still = np.zeros(count)
    y0 = np.stack(
        [length * np.sin(angle), -length * np.cos(angle), still, still, np.full(count, np.nan)], axis=1
    )
    return {"l": length, "g": gravity}, y0


def test_members_are_bitwise_the_single_runs_and_need_no_compilation() -> None:
    model = testset.get("pendulum").model
    values, y0 = pendulums(40)
    herk.solve_many(model, values, y0, t_eval=TIMES)
    herk.solve_dae(model)  # the first run of a structure computes what is left open in another way
    before = Native.compilations
    found = herk.solve_many(model, values, y0, t_eval=TIMES, jobs=2)
    assert Native.compilations == before
    for k in range(len(found)):
        start, own = [*y0[k, :4], None], {name: column[k] for name, column in values.items()}
        single = herk.solve_dae(model, y0=start, parameters=own, t_eval=TIMES)
        assert np.array_equal(single.y, found.y[k])
        assert single.nstep == found.nstep[k]


@pytest.mark.parametrize("method", ["dopri5", "radau5"])
def test_the_number_of_threads_changes_nothing(method: str) -> None:
    model = testset.get("pendulum").model
    values, y0 = pendulums(12)
    one, two = (
        herk.solve_many(model, values, y0, t_eval=TIMES, jobs=jobs, method=method, rtol=1e-5)
        for jobs in (1, 2)
    )
    assert np.array_equal(one.y, two.y)
    assert one.success.all()


def test_radau_members_are_bitwise_the_single_runs() -> None:
    model = testset.get("pendulum").model
    values, y0 = pendulums(5)
    y0[:, 4] = [
        herk.consistent_start(model.with_parameters(l=a, g=b), 0.0, row)[4]
        for a, b, row in zip(values["l"], values["g"], y0, strict=True)
    ]
    found = herk.solve_many(model, values, y0, t_eval=TIMES, method="radau5")
    for k in range(len(found)):
        own = {name: column[k] for name, column in values.items()}
        single = herk.solve_dae(model, y0=y0[k], parameters=own, t_eval=TIMES, method="radau5")
        assert np.array_equal(single.y, found.y[k])


def test_members_that_change_their_selection_are_the_single_runs() -> None:
    model = testset.get("selector_change").model
    starts = [model.y0, model.y0]  # the second one finds the selection of the first
    times = np.linspace(*model.t_span, 9)
    found = herk.solve_many(model, y0=starts, t_eval=times)
    for k, start in enumerate(starts):
        single = herk.solve_dae(model, y0=start, t_eval=times)
        assert len(single.selections) > 1
        assert np.array_equal(single.y, found.y[k])


def test_starts_off_the_constraints_are_put_on_them() -> None:
    model = testset.get("pendulum").model
    found = herk.solve_many(model, herk.grid(l=[0.5, 1.0, 2.0]), t_eval=TIMES)
    length = np.sqrt(found["x"] ** 2 + found["y"] ** 2)
    assert np.allclose(length, np.array([[0.5], [1.0], [2.0]]), rtol=1e-13)


def test_wrong_multipliers_are_repaired_by_the_machine_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """At rest lam = g cos(angle) / (2 l), which is -g y / (2 l^2); 5 was given."""
    model = testset.get("pendulum").model
    values, y0 = pendulums(8)
    y0[:, 4] = 5.0
    herk.solve_dae(model, consistent="project")
    monkeypatch.setattr(crew, "consistent_start", None)  # nothing is left to Python
    found = herk.solve_many(model, values, y0, t_eval=TIMES)
    assert found.success.all()
    assert np.allclose(found["lam"][:, 0], -values["g"] * y0[:, 1] / (2 * values["l"] ** 2), rtol=1e-13)
    for k in range(len(found)):
        own = {name: column[k] for name, column in values.items()}
        single = herk.solve_dae(model, y0=y0[k], parameters=own, t_eval=TIMES, consistent="project")
        assert np.array_equal(single.y, found.y[k])


def test_breakpoints_that_other_members_have_are_seen() -> None:
    """x' = 1 before a, 3 after it; the first member has no breakpoint inside the span."""
    f = ["Piecewise((1, t < a), (3, True))"]
    model = herk.Model("step", ["x"], [[1]], f, parameters={"a": 0.4}, t_span=(0, 1), y0=[0.0])
    found = herk.solve_many(model, {"a": [2.0, 0.4]}, t_eval=[1.0])
    assert np.allclose(found["x"][:, 0], [1.0, 2.2], rtol=1e-12)


DECAY = herk.Model("decay", ["x"], [[1]], ["-k*x"], parameters={"k": 1.0}, t_span=(0, 1), y0=[1.0])


def test_the_decay_of_every_member_is_the_exact_one() -> None:
    points = herk.grid(k=[0.5, 1.0, 2.0], **{"y0:x": [1.0, 3.0]})
    found = herk.solve_many(DECAY, points, rtol=1e-9, atol=1e-12)
    exact = points["y0:x"][:, None] * np.exp(-points["k"][:, None] * found.t)
    assert np.allclose(found["x"], exact, rtol=1e-7)
    assert found.shape == (3, 2)


def test_a_failing_member_is_a_row_with_its_reason_and_what_it_reached() -> None:
    """x' = k x**2 from 1 has a pole at 1/k."""
    model = herk.Model("pole", ["x"], [[1]], ["k*x**2"], parameters={"k": 1.0}, t_span=(0, 1), y0=[1.0])
    found = herk.solve_many(model, {"k": [0.5, 2.0, 0.25]}, t_eval=np.linspace(0, 1, 12), jobs=2)
    assert found.success.tolist() == [True, False, True]
    assert "t = 0.5" in found.messages[1] or "0.49999" in found.messages[1]
    assert np.isfinite(found.y[1, 0, :6]).all()
    assert found.mask[1, 0, 6:].all()
    assert np.allclose(found["x"][0], 1 / (1 - 0.5 * found.t), rtol=1e-4)


def test_a_member_without_a_start_is_a_row_with_its_reason() -> None:
    model = herk.Model(
        "root",
        ["x", "y"],
        [[1, 0], [0, 0]],
        ["-x", "y**2 - a + x*0"],
        parameters={"a": 1.0},
        t_span=(0, 1),
        y0=[1, None],
    )
    found = herk.solve_many(model, {"a": [-1.0, 4.0]}, t_eval=[0.0, 1.0])
    assert found.success.tolist() == [False, True]
    assert "start" in found.messages[0]
    assert abs(abs(found["y"][1, -1]) - 2.0) < 1e-12


def test_callables_have_ensembles_of_starts() -> None:
    dae = herk.Dae(E=np.eye(1), f=lambda t, y: -y, n=1)
    found = herk.solve_many(dae, y0=[[1.0], [2.0]], t_span=(0, 1), t_eval=[1.0], rtol=1e-9)
    assert np.allclose(found.y[:, 0, 0], np.exp(-1) * np.array([1, 2]), rtol=1e-7)


def test_events_stop_members_one_by_one() -> None:
    def half(t: float, y: Array) -> float:
        return y[0] - 0.5

    half.terminal = True  # type: ignore[attr-defined]
    found = herk.solve_many(DECAY, {"k": [0.1, 10.0]}, t_eval=np.linspace(0, 1, 11), events=half)
    assert [reason.value for reason in found.reasons] == ["finished", "event"]
    assert np.isnan(found["x"][1, 1:]).all()


def test_an_interrupt_keeps_what_was_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    def press(crew: Crew, bar: object) -> None:
        if crew._done > 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Crew, "show", press)
    values, y0 = pendulums(2000)
    for jobs in (1, 2):
        with pytest.raises(KeyboardInterrupt) as caught:
            herk.solve_many(testset.get("pendulum").model, values, y0, t_eval=TIMES, jobs=jobs)
        kept = caught.value.solution  # type: ignore[attr-defined]
        done = kept.success
        assert 3 < done.sum() < 2000
        assert np.isfinite(kept.y[done]).all()
        assert {kept.reasons[k].value for k in np.flatnonzero(~done)} == {"interrupted"}


def test_frames_go_in_and_out() -> None:
    pd = pytest.importorskip("pandas")
    found = herk.solve_many(DECAY, pd.DataFrame({"k": [1.0, 2.0]}), t_eval=[0.0, 0.5])
    frame = found.to_pandas()
    assert list(frame.columns) == ["x"]
    assert frame.loc[(1, 0.5), "x"] == found["x"][1, 1]
    assert found.table()["k"].tolist() == [1.0, 2.0]
    assert "2 finished" in repr(found)


def test_a_dataset_of_xarray_is_looked_up_by_member_time_and_parameter() -> None:
    xr = pytest.importorskip("xarray")
    found = herk.solve_many(DECAY, {"k": [1.0, 2.0], "y0:x": [1.0, 3.0]}, t_eval=[0.0, 0.5], rtol=1e-9)
    data = found.to_xarray()
    assert isinstance(data, xr.Dataset)
    assert dict(data.sizes) == {"member": 2, "t": 2}
    assert float(data["x"].sel(t=0.5)[1]) == pytest.approx(3 * np.exp(-1.0), rel=1e-7)
    assert float(data.where(data["k"] == 1.0, drop=True)["x"].sel(t=0.5).item()) == found["x"][0, 1]
    assert data["y0:x"].values.tolist() == [1.0, 3.0]
    assert np.array_equal(data["x"].mean("member").values, found["x"].mean(axis=0))


def test_without_xarray_its_datasets_are_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xarray", None)
    found = herk.solve_many(DECAY, {"k": [1.0, 2.0]}, t_eval=[0.0, 0.5], progress=True)
    with pytest.raises(herk.InputError, match="needs the package xarray"):
        found.to_xarray()


def test_quantiles_of_equally_spaced_members_are_in_between() -> None:
    found = herk.solve_many(DECAY, {"y0:x": [0.0, 1.0, 2.0, 3.0, 4.0]}, t_eval=[0.0])
    assert found.quantiles("x", [0.0, 0.25, 0.5, 1.0])[:, 0].tolist() == [0.0, 1.0, 2.0, 4.0]
    with pytest.raises(herk.InputError, match="from 0 to 1"):
        found.quantiles("x", [50])
    assert found.fan("x").get_ylabel() == "x"
    assert len(found.plot("x").lines) == 5


def test_the_workers_of_a_client_find_the_same() -> None:
    distributed = pytest.importorskip("distributed")
    values, y0 = pendulums(6)
    model = testset.get("pendulum").model
    here = herk.solve_many(model, values, y0, t_eval=TIMES)
    settings = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        there = herk.solve_many(model, values, y0, t_eval=TIMES, client=client)
    assert np.array_equal(here.y, there.y)
    assert there.success.all()


class Workers:
    """A client of whose two workers the second one ends as told."""

    def __init__(self, end: BaseException) -> None:
        self.end, self.parts, self.cancelled = end, 0, False

    def ncores(self) -> dict[str, int]:
        return {"one": 1}

    def submit(self, work: Any, *given: Any, **_: Any) -> Any:
        self.parts += 1
        return Delivered(None if self.parts == 2 else work(*given), self.end)

    def cancel(self, _: Any) -> None:
        self.cancelled = True


@dataclass
class Delivered:
    """What a worker found; None: it was lost."""

    found: Any
    end: BaseException

    def result(self) -> Any:
        if self.found is None:
            raise self.end
        return self.found


def test_members_of_a_worker_that_stays_lost_are_solved_here() -> None:
    values, y0 = pendulums(8)
    model = testset.get("pendulum").model
    here = herk.solve_many(model, values, y0, t_eval=TIMES)
    there = herk.solve_many(model, values, y0, t_eval=TIMES, client=Workers(ConnectionError("gone")))
    assert np.array_equal(here.y, there.y)
    assert there.success.all()
    with pytest.raises(herk.InputError, match="rtol must be"):
        herk.solve_many(model, values, y0, client=Workers(ConnectionError("gone")), rtol=-1.0)


def test_an_interrupt_keeps_what_workers_sent_back() -> None:
    values, y0 = pendulums(8)
    client = Workers(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt) as caught:
        herk.solve_many(testset.get("pendulum").model, values, y0, t_eval=TIMES, client=client)
    kept = caught.value.solution  # type: ignore[attr-defined]
    assert kept.success.tolist() == [True] * 2 + [False] * 6
    assert client.cancelled


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"parameters": {"ll": [1.0]}}, "Did you mean 'l'"),
        ({"parameters": {"l": []}}, "No values are given for l"),
        ({"parameters": {"l": [1.0, np.nan]}}, "value of l of member 1 is not finite"),
        ({"parameters": {"l": [1, 2], "g": [1, 2, 3]}}, "do not fit: l 2, g 3"),
        ({"parameters": {"l": "long"}}, "must be numbers"),
        ({"parameters": {"l": np.ones((2, 2))}}, "a sequence of numbers is needed"),
        ({"parameters": 3}, "parameters must be a mapping"),
        ({"parameters": {"y0:z": [1.0]}}, "no unknown named 'z'"),
        ({"y0": [1, 2]}, "5 values are needed"),
        ({"y0": np.zeros((0, 5))}, "y0 has no rows"),
        ({"y0": ["a"] * 5}, "y0 must be numbers"),
        ({"y0": {"x": np.inf}}, "y0 is not finite in x"),
        ({"jobs": 0}, "jobs must be"),
        ({"client": 3}, "must be a Dask client"),
        ({"dense_output": True}, "solve_many does not take"),
        ({"sensitivities": ["l"]}, "solve_many does not take"),
        ({"rtol": -1.0}, "rtol must be"),
    ],
)
def test_wrong_input_gets_a_sentence(given: dict[str, object], words: str) -> None:
    with pytest.raises(herk.InputError, match=words):
        herk.solve_many(testset.get("pendulum").model, **given)  # type: ignore[arg-type]


def test_an_empty_grid_and_a_foreign_system_get_a_sentence() -> None:
    with pytest.raises(herk.InputError, match="at least one name"):
        herk.grid()
    with pytest.raises(herk.InputError, match="solve_many takes"):
        herk.solve_many(3)
    dae = herk.Dae(E=np.eye(1), f=lambda t, y: -y, n=1)
    with pytest.raises(herk.InputError, match="has no start"):
        herk.solve_many(dae, t_span=(0, 1))
    with pytest.raises(herk.InputError, match="has no span"):
        herk.solve_many(dae, y0=[[1.0]])
    with pytest.raises(herk.InputError, match="no component named"):
        herk.solve_many(DECAY, t_eval=[0.0])["q"]
