"""A solution is read by name, drawn, tabulated, animated, and tells what was solved and how it ended."""

from __future__ import annotations

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from PIL import Image

import herk
from herk.core import Reason, Solution

mpl.use("Agg")
T = np.linspace(0, 2, 21)


def circle(**changes) -> Solution:
    """Return x = cos t, y = sin t with its velocity, as a solver would return it."""
    base = Solution(
        t=T,
        y=np.array([np.cos(T), np.sin(T), -np.sin(T)]),
        reason=Reason.FINISHED,
        message="The end of the span was reached.",
        nstep=20,
        residual=1e-15,
        names=("x", "y", "dx"),
        system="circle",
        method="dopri5",
        seconds=0.25,
    )
    return replace(base, **changes)


def test_components_are_read_by_name() -> None:
    sol = circle()
    assert np.array_equal(sol["x"], np.cos(T))
    assert np.array_equal(sol["x'"], -np.sin(T))
    assert np.array_equal(sol["t"], T)
    assert np.array_equal(sol["x", "y"], sol.y[:2])
    assert "x" in sol
    assert "z" not in sol


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(
        herk.InputError, match=r"no component of this solution named 'dxx'. Did you mean 'dx'"
    ):
        circle()["dxx"]
    with pytest.raises(TypeError, match="read by name"):
        list(circle())


def test_without_names_components_are_numbered() -> None:
    assert circle(names=()).labels == ("y0", "y1", "y2")
    assert np.array_equal(circle(names=())["y1"], np.sin(T))


def test_a_frame_has_times_as_index_and_names_as_columns() -> None:
    frame = circle().to_pandas()
    assert list(frame.columns) == ["x", "y", "dx"]
    assert frame.index.name == "t"
    assert frame.loc[2.0, "y"] == np.sin(2.0)


def test_curves_show_what_was_asked_for() -> None:
    ax = circle().plot("x", "y")
    assert [line.get_label() for line in ax.lines] == ["x", "y"]
    assert np.array_equal(ax.lines[1].get_ydata(), np.sin(T))
    assert len(circle().plot().lines) == 3
    ax = circle().plot(phase=("x", "y"))
    assert np.array_equal(ax.lines[0].get_xdata(), np.cos(T))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")
    assert circle().plot("y", ax=ax) is ax
    with pytest.raises(herk.InputError, match="named 'z'"):
        circle().plot("z")


def test_curves_are_smooth_with_dense_output() -> None:
    dense = circle(sol=lambda t: np.array([np.cos(t), np.sin(t), -np.sin(t)]))
    x = dense.plot("x").lines[0].get_ydata()
    assert len(x) >= 1000
    backwards = replace(dense, t=T[::-1], y=dense.y[:, ::-1])
    assert backwards.plot("x").lines[0].get_ydata()[0] == np.cos(2.0)


def test_an_animation_is_written_with_a_frame_for_every_moment(tmp_path) -> None:
    path = circle().animate(tmp_path / "circle.gif", [(0, 0), ("x", "y")], fps=10)
    with Image.open(path) as picture:
        assert picture.n_frames == 21  # two seconds of ten frames, and the first
    path = circle().animate(tmp_path / "quick.gif", [("x", "y")], fps=10, seconds=0.5)
    with Image.open(path) as picture:
        assert picture.n_frames == 6
    for points in ([], ["xy"], [("x", "y", "t")], ("x", "y")):
        with pytest.raises(herk.InputError, match="points that are pairs of names or numbers"):
            circle().animate(tmp_path / "none.gif", points)
    for path in ("circle.avi", [("x", "y")]):
        with pytest.raises(herk.InputError, match=r"a file of the kind \.gif"):
            circle().animate(path, [("x", "y")])


def test_the_summary_says_what_was_solved_and_how_it_ended() -> None:
    text = circle().summary()
    for part in ("circle, t = 0 to 2, 3 unknowns", "(finished)", "20 accepted", "1e-15", "dopri5", "0.25 s"):
        assert part in text
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines()[-3:]}
    assert rows["x"] == ["1", f"{np.cos(2):.6g}", f"{np.cos(2):.6g}", "1"]


def test_the_notebook_shows_the_same_and_escapes_names() -> None:
    shown = circle(names=("<x>", "y", "dx"))._repr_html_()
    assert "&lt;x&gt;" in shown
    assert "<x>" not in shown
    assert "circle, t = 0 to 2" in shown


def test_the_repr_has_scipys_fields_and_ours() -> None:
    text = repr(circle())
    for part in (
        "message: The end",
        "status: 0",
        "system: circle",
        "names: x, y, dx",
        "nstep: 20",
        "seconds: 0.25",
    ):
        assert part in text


def test_a_solution_without_points_can_still_be_shown() -> None:
    empty = circle(t=np.empty(0), y=np.empty((3, 0)), reason=Reason.CRASHED, message="It crashed.")
    assert "no points" in empty.summary()
    assert "crashed" in repr(empty)
