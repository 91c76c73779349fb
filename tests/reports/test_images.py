"""Figures as parts of a page."""

from __future__ import annotations

from urllib.parse import unquote

import matplotlib as mpl
from matplotlib.figure import Figure
from PIL import Image

from herk.reproductions import style
from reports import images
from reports.section import Picture


def test_a_path_cannot_leave_the_report(tmp_path):
    (tmp_path / "secret.png").write_bytes(b"x")
    out = tmp_path / "out"
    out.mkdir()
    assert images.inside(out, "../secret.png") is None
    assert images.inside(out, "/etc/passwd") is None
    assert images.inside(out, "") is None
    assert images.inside(out, "figures/a.png") == out / "figures" / "a.png"
    assert images.inline(Picture("stolen", "", path="../secret.png"), out) is None


def test_a_link_inside_the_report_that_leads_out_is_refused(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "link").symlink_to(tmp_path)
    assert images.inside(out, "link/secret.png") is None


def test_a_drawn_figure_is_written_and_inlined(tmp_path):
    figure = Figure(figsize=(3, 2))
    figure.subplots().plot([1, 2])
    found = images.inline(Picture("a b", "", drawn=figure), tmp_path)
    assert (found.width, found.height) == (288, 192)  # 96 pixels an inch
    assert unquote(found.src).startswith("data:image/svg+xml,<svg")
    assert all((tmp_path / path).is_file() for _, path in found.files)


def test_of_two_files_the_smaller_is_inlined(tmp_path):
    Image.new("RGB", (300, 150), "white").save(tmp_path / "a.png")
    (tmp_path / "a.svg").write_text(
        '<svg width="100pt" height="50pt" xmlns="http://www.w3.org/2000/svg">' + "<g/>" * 10000 + "</svg>"
    )
    found = images.inline(Picture("a", "", path="a.svg"), tmp_path)
    assert found.src.startswith("data:image/png")
    assert [name for name, _ in found.files] == ["SVG", "PNG"]


def test_a_file_that_is_no_picture_is_left_out(tmp_path):
    (tmp_path / "a.png").write_text("no picture")
    (tmp_path / "a.svg").write_text("no picture")
    assert images.inline(Picture("a", "", path="a.png"), tmp_path) is None
    assert images.inline(Picture("b", "", path="b.png"), tmp_path) is None


def test_labels_and_the_scales_of_glyphs_keep_their_digits(tmp_path):
    """Thousandths on an axis are read as written.

    Glyphs drawn as paths are scaled by 0.015625, which must not become 0.
    """
    for fonttype, wanted in (("none", ">0.005<"), ("path", "scale(0.015625")):
        with mpl.rc_context({"svg.fonttype": fonttype, "font.size": 10.0}):
            figure = Figure(figsize=(3, 2))
            axes = figure.subplots()
            axes.plot([0, 0.03], [1, 2])
            axes.set_xticks([0.0, 0.005], ["0.000", "0.005"])
            figure.savefig(tmp_path / "a.svg")
            assert wanted in images.shorter(style.small((tmp_path / "a.svg").read_bytes())), fonttype
