"""One look for every figure."""

from __future__ import annotations

import itertools

import matplotlib as mpl
import numpy as np
import pytest

from herk.reproductions import style
from reports import contents, figures, histories, orders
from tests.reports.conftest import sweep


def test_no_two_of_seventy_solvers_look_alike_even_in_grey_on_one_form():
    looks = style.looks([(f"s{k:02d}", "ode") for k in range(70)], ())
    assert len({(look.colour, look.marker) for look in looks.values()}) == 70
    first = [looks[f"s{k:02d}", "ode"].marker for k in range(10)]
    assert len(set(first)) == 10  # as many as one picture shows


def test_forms_of_one_solver_differ_by_line():
    forms = ("overdetermined", "ode", "index1", "index2", "index3", "ggl", "baumgarte", "other")
    looks = style.looks([("s", form) for form in forms], ())
    assert len({look.dashes for look in looks.values()}) == len(forms)
    assert len({look.colour for look in looks.values()}) == 1


def test_ours_are_filled_and_heavier():
    looks = style.looks([("mine", "ode"), ("theirs", "ode")], {"mine"})
    mine, theirs = looks["mine", "ode"].line(), looks["theirs", "ode"].line()
    assert mine["linewidth"] > theirs["linewidth"]
    assert theirs["markerfacecolor"] == "white"


@pytest.mark.parametrize(
    ("value", "text"), [(1e-3, "10⁻³"), (2e-3, "2·10⁻³"), (1e12, "10¹²"), (1.0, "10⁰"), (0.0, "")]
)
def test_ticks_are_powers_of_ten(value, text):
    assert style.power(value) == text


def contrast(colour: str) -> float:
    """Return the contrast of a colour with white (WCAG 2)."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    light = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 1.05 / (0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] + 0.05)


def test_every_colour_is_seen_on_white():
    assert min(contrast(colour) for colour in style.COLOURS) > 2


def drawn(found):
    with mpl.rc_context(style.RC):
        return figures.proportionality(found, found.sweeps, figures.looks(found))


def test_the_same_records_give_the_same_files(found, tmp_path):
    names = tmp_path / "a", tmp_path / "b"
    (svg, png), (again, png_again) = (style.save(drawn(found), name) for name in names)
    assert svg.read_bytes() == again.read_bytes()
    assert png.read_bytes() == png_again.read_bytes()
    assert b"dc:date" not in svg.read_bytes()


def test_no_label_of_a_saved_figure_is_mathematics_that_nobody_reads(tmp_path):
    """Texts from records are taken as they are, so matplotlib's own labels of powers must not be formulas."""
    figure = style.figure()
    axes = figure.subplots(1, 2)
    axes[0].loglog([1e-8, 1e3], [1e-5, 1.0])
    axes[1].semilogy([0, 1], [2e-3, 4e-3])
    svg, _ = style.save(figure, tmp_path / "powers")
    text = svg.read_text(encoding="utf-8")
    assert "mathdefault" not in text
    assert "10⁻³" in text


def test_labels_of_a_figure_do_not_overlap(found):
    figure = drawn(found)
    figure.draw_without_rendering()
    axes, (legend,) = figure.axes[0], figure.legends
    boxes = [axes.get_tightbbox(), legend.get_window_extent()]
    ticks = [label.get_window_extent() for label in axes.get_xticklabels() if label.get_text()]
    texts = [text.get_window_extent() for text in legend.get_texts()]
    for group in (boxes, ticks, texts):
        assert not any(one.overlaps(other) for one, other in itertools.combinations(group, 2))


@pytest.mark.parametrize("ends", [(90.0, 110.0), (90.0, 4e3), (130.0, 9e3), (80.0, 7e4), (1e-9, 1e3)])
def test_a_logarithmic_axis_has_at_least_two_labels_and_at_most_eight(ends):
    figure = style.figure()
    axes = figure.subplots()
    axes.plot(ends, [1, 2])
    style.logarithmic(axes.xaxis)
    low, high = axes.get_xlim()
    inside = [place for place in axes.xaxis.get_major_locator()() if low <= place <= high]
    assert 2 <= len(inside) <= 8


@pytest.mark.parametrize("values", [[1e-5, 1e-5], [1e-5, 1e-5 * (1 + 4e-16)], [3.0]])
def test_a_logarithmic_axis_whose_points_have_one_value_shows_them_in_its_middle(values):
    figure = style.figure()
    for axes in figure.subplots(1, 2, sharey=True):
        axes.plot(range(len(values)), values)
    style.logarithmic(figure.axes[0].yaxis)
    low, high = figure.axes[0].get_ylim()
    assert low == pytest.approx(values[0] / 10)
    assert high == pytest.approx(values[0] * 10)


def styles(axes):
    """Return colour, marker and dashes of every curve with a label."""
    lines = [line for line in axes.get_lines() if not line.get_label().startswith("_")]
    return [(line.get_color(), line.get_marker(), str(line._dash_pattern)) for line in lines]


def test_no_two_curves_of_one_panel_look_alike_with_every_baseline_in_it():
    solvers = {
        "herk_dopri5": ("overdetermined",),
        "herk_dop853": ("overdetermined", "ode"),
        "scipy_radau": ("ode", "baumgarte"),
        "scipy_lsoda": ("ode",),
        "scipy_dop853": ("ode",),
        "ida_scikits_jac": ("index1", "index2", "ggl"),
        "casadi_idas": ("index1",),
        "irk_radau5": ("index1", "index2", "ggl"),
        "irk_radau5_projected": ("index1",),
    }
    rows = [
        row
        for solver, forms in solvers.items()
        for form in forms
        for row in sweep(solver, form, 5, 1e-5, 1.0)
    ]
    found = contents.sort(rows)
    figure = figures.by_group(found, found.sweeps, figures.panel_looks(found), "nstep")
    seen = [styles(axes) for axes in figure.axes]
    assert [len(each) for each in seen] == [3, 4, 8]
    for each in seen:
        assert len({colour for colour, *_ in each}) == len(each), "a colour repeats within one panel"
    colours = {
        solver: figures.looks(found)[
            " · ".join(filter(None, (solver, forms[0].replace("overdetermined", ""))))
        ].colour
        for solver, forms in solvers.items()
    }
    assert len(set(colours.values())) == len(solvers)


def test_twelve_methods_of_seven_orders_are_told_apart_by_colour_and_marker():
    known = {
        "euler": 1,
        "heun": 2,
        "kutta3": 3,
        "herk3": 3,
        "bs32": 3,
        "rk4": 4,
        "rk38": 4,
        "hem4": 4,
        "dopri5": 5,
        "tsit5": 5,
        "dop853": 8,
        "verner98": 9,
    }
    steps = np.array([0.1, 0.05, 0.025, 0.0125])
    sweeps = [
        orders.Sweep("p", "p", name, name, "overdetermined", "all", steps, steps**order)
        for name, order in known.items()
    ]
    look = figures.order_looks(sweeps, known)
    assert len({(each.colour, each.marker) for each in look.values()}) == len(known)
    assert all((look[a].colour == look[b].colour) == (known[a] == known[b]) for a in known for b in known)


def test_many_selections_are_counted_because_their_names_would_cover_each_other():
    look = style.Look("#000000", "o", (), True)
    names = [f"{k} {k + 1}" for k in range(9)]
    series = {"step": ([0.0, 9.0], [0.1, 0.1]), "selection": ([float(k) for k in range(9)], names)}
    axes = histories.steps([("a", look, series)]).axes[1]
    assert [label.get_text() for label in axes.get_yticklabels()] == []
    assert "9" in axes.get_ylabel()


def test_labels_of_selections_are_not_cut():
    chosen = " ".join(map(str, range(30)))
    look = style.Look("#000000", "o", (), True)
    series = {"step": ([0.0, 1.0], [0.1, 0.1]), "selection": ([0.0, 0.5], [chosen, "1 2"])}
    figure = histories.steps([("a", look, series)])
    labels = [label.get_text().replace("\n", " ") for label in figure.axes[1].get_yticklabels()]
    assert chosen in labels
