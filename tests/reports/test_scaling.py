"""A net that was kept of a run is drawn as it was: the largest of each problem, at every moment kept."""

from __future__ import annotations

from typing import Any

import numpy as np

import testset
from herk.bench import record, series
from herk.core import Reason, Solution
from reports import contents
from reports.sections import scaling
from tests.reports.conftest import run


def kept(size: int) -> list[dict[str, Any]]:
    """Return a run on the cloth and the nets kept of it, at two points: the start, and the start moved."""
    cloth = testset.get("cloth", N=size)
    y = np.column_stack([cloth.y0, cloth.y0 + 0.25])
    solution = Solution(t=np.array([0.0, 1.0]), y=y, reason=Reason.FINISHED, message="")
    row = run(study="scaling", problem="cloth", changes=record.canonical({"N": size}), rtol=1e-6)
    nets = series.nets(cloth, solution)
    return [
        *(record.make("series", run=row["key"], name=name, t=t, values=v) for name, (t, v) in nets.items()),
        row,
    ]


def test_nets_are_kept_with_the_edge_that_is_held() -> None:
    found = {each["name"]: (each["t"], each["values"]) for each in kept(2)[:-1]}
    assert sorted(found) == ["net.x", "net.y", "net.z"]
    times, values = found["net.z"]
    assert set(times) == {0.0, 1.0}
    start, end = np.array(values[0]), np.array(values[-1])
    assert start.shape == (3, 2)
    np.testing.assert_allclose(start[:, 0], -np.cos(np.pi / 6) * np.array([0.0, 0.5, 1.0]), atol=1e-4)
    np.testing.assert_allclose(end - start, [[0.0, 0.0], [0.25, 0.25], [0.25, 0.25]], atol=2e-4)


def test_problems_without_a_net_keep_none() -> None:
    pendulum = testset.get("pendulum")
    solution = Solution(t=np.zeros(1), y=pendulum.y0[:, None], reason=Reason.FINISHED, message="")
    assert series.nets(pendulum, solution) == {}


def test_the_largest_net_is_drawn_at_every_moment_kept() -> None:
    [picture] = scaling.nets(contents.sort([*kept(3), *kept(2)]))
    assert "3 x 3 masses" in picture.caption
    assert picture.drawn is not None
    assert [len(axes.lines) for axes in picture.drawn.axes] == [4 + 3] * series.MOMENTS
    assert picture.drawn.axes[0].get_title() == "t = 0 s"


def test_without_nets_there_is_no_picture_of_one() -> None:
    assert scaling.nets(contents.sort([run(study="scaling", rtol=1e-6)])) == ()
