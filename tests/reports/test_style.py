"""One look for every figure."""

from __future__ import annotations

import itertools

import matplotlib as mpl
import pytest

from reports import figures, style


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


@pytest.mark.parametrize(("value", "text"), [(1e-3, "10⁻³"), (2e-3, "2·10⁻³"), (1e12, "10¹²"), (1.0, "10⁰"), (0.0, "")])
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
        return figures.proportionality(found, found.ladders, figures.looks(found))


def test_the_same_records_give_the_same_files(found, tmp_path):
    names = tmp_path / "a", tmp_path / "b"
    (svg, png), (again, png_again) = (style.save(drawn(found), name) for name in names)
    assert svg.read_bytes() == again.read_bytes()
    assert png.read_bytes() == png_again.read_bytes()
    assert b"dc:date" not in svg.read_bytes()


def test_labels_of_a_figure_do_not_overlap(found):
    figure = drawn(found)
    figure.draw_without_rendering()
    axes, (legend,) = figure.axes[0], figure.legends
    boxes = [axes.get_tightbbox(), legend.get_window_extent()]
    ticks = [label.get_window_extent() for label in axes.get_xticklabels() if label.get_text()]
    texts = [text.get_window_extent() for text in legend.get_texts()]
    for group in (boxes, ticks, texts):
        assert not any(one.overlaps(other) for one, other in itertools.combinations(group, 2))


@pytest.mark.parametrize("values", [[1e-5, 1e-5], [1e-5, 1e-5 * (1 + 4e-16)], [3.0]])
def test_a_logarithmic_axis_whose_points_have_one_value_shows_them_in_its_middle(values):
    figure = style.figure()
    for axes in figure.subplots(1, 2, sharey=True):
        axes.plot(range(len(values)), values)
    style.logarithmic(figure.axes[0].yaxis)
    low, high = figure.axes[0].get_ylim()
    assert low == pytest.approx(values[0] / 10)
    assert high == pytest.approx(values[0] * 10)
