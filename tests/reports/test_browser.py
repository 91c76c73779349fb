"""The page in a real browser: it works from a file, without a network, on a phone and on paper."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from reports import contents, curves
from reports.contents import FIVE
from tests.reports.conftest import HOSTILE, report, sweep

BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
pytestmark = [
    pytest.mark.skipif(
        BROWSER is None, reason="no browser: tools/install_browser.sh installs one where it may"
    ),
    pytest.mark.slow,
]


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    with api.sync_playwright() as play:
        running = play.chromium.launch(executable_path=BROWSER, args=OPTIONS)
        yield running
        running.close()


@pytest.fixture
def view(browser, out: Path):
    """The page, with a list of everything that went wrong or was asked for."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.troubles = []
    tab.on("console", lambda message: tab.troubles.append(f"{message.type}: {message.text}"))
    tab.on("pageerror", lambda error: tab.troubles.append(str(error)))
    tab.on("dialog", lambda dialog: (tab.troubles.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    tab.on(
        "request",
        lambda request: None if request.url.startswith("data:") else tab.troubles.append(request.url),
    )
    tab.goto((out / "index.html").as_uri())
    yield tab
    tab.close()


def shown(view) -> list[str]:
    """Return the curves in the plot."""
    return view.eval_on_selector_all("#x-plot [data-curve]", "groups => groups.map(g => g.dataset.curve)")


def choose(view, name: str, label: str) -> None:
    view.select_option(f"#x-{name}", label=label)


def test_it_loads_without_errors_and_asks_for_nothing_but_itself(view, out):
    assert view.troubles == [(out / "index.html").as_uri()]
    assert shown(view)


def test_a_hostile_name_is_shown_and_not_run(view, out):
    """The name of a solver in the records is a script; it must appear as text, in the plot too."""
    assert HOSTILE in view.inner_text("#x-legend")
    assert view.locator("script").count() == 2
    assert len(view.troubles) == 1


def test_every_figure_is_there_and_can_be_read(view):
    view.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    sizes = view.evaluate(
        "Promise.all([...document.images].map(i => i.decode().then(() => [i.naturalWidth, i.alt])))"
    )
    assert len(sizes) >= 8
    assert all(width > 0 and words for width, words in sizes)


def test_filters_change_what_is_shown(view):
    choose(view, "solvers", "all")
    everything = shown(view)
    assert {"herk_dop853", "scipy_lsoda · ode", f"{HOSTILE} · ode"} <= set(everything)
    choose(view, "solvers", "half-explicit")
    assert set(shown(view)) == {"herk_dop853", "herk_dopri5"}
    choose(view, "solvers", "foreign")
    assert set(shown(view)) == {"scipy_lsoda · ode", f"{HOSTILE} · ode"}
    choose(view, "solvers", "tag explicit")
    assert set(shown(view)) == {"herk_dop853", "herk_dopri5"}
    choose(view, "solvers", "all")
    choose(view, "form", "ode")
    assert set(shown(view)) == {"scipy_lsoda · ode", f"{HOSTILE} · ode"}
    choose(view, "form", "all")
    choose(view, "case", "akzo")
    assert set(shown(view)) == {"herk_dop853", "scipy_lsoda · ode"}


def test_a_tag_of_problems_leaves_only_its_problems(view):
    choose(view, "tag", "stiff")
    assert view.eval_on_selector_all("#x-case option", "all => all.map(o => o.textContent)") == ["akzo"]
    assert set(shown(view)) == {"herk_dop853", "scipy_lsoda · ode"}


def test_a_solver_that_failed_is_counted_in_the_legend(view):
    choose(view, "case", "akzo")
    choose(view, "solvers", "all")
    assert "scipy_radau · ode (7 failed)" in view.inner_text("#x-legend")
    assert "scipy_radau · ode" not in shown(view)  # the only survivor of its decade does not speak for it


def test_the_axes_can_be_changed(view):
    ours = '#x-plot [data-curve="herk_dop853"]'
    before = view.inner_html(ours)
    for cost, axis in (
        ("Evaluations of f", "Evaluations of f"),
        ("Accepted steps", "Accepted steps"),
        ("Tolerance asked for (rtol)", "Tolerance asked for (rtol)"),
    ):
        choose(view, "cost", cost)
        assert axis in view.text_content("#x-plot")
        assert view.inner_html(ours) != before
    choose(view, "error", "Error at the end, velocities")
    assert "Error at the end, velocities" in view.text_content("#x-plot")


def test_a_curve_can_be_switched_off_and_on(view):
    box = view.locator("#x-legend label", has_text="herk_dop853").locator("input")
    box.uncheck()
    assert "herk_dop853" not in shown(view)
    view.locator("#x-legend label", has_text="herk_dop853").locator("input").check()
    assert "herk_dop853" in shown(view)


def test_hovering_shows_the_run(view):
    view.uncheck("#x-single")
    marker = view.locator('#x-plot [data-curve="herk_dop853"] path').last
    marker.hover(force=True)
    words = view.inner_text("#x-detail")
    assert words.startswith("herk_dop853 on pendulum: median of 5 runs, rtol 1e-10 to 1e-11")
    view.check("#x-single")
    place = view.eval_on_selector(
        '#x-plot [data-curve="scipy_lsoda · ode"] .dots',
        "p => { const q = p.getPointAtLength(0), f = p.closest('svg').getBoundingClientRect(); return [f.x +"
        " q.x, f.y + q.y]; }",
    )
    view.mouse.move(*place)
    assert view.inner_text("#x-detail").startswith(
        "scipy_lsoda · ode on pendulum, one run, rtol 1e-3: error 1e-3, CPU time"
    )
    view.mouse.move(0, 0)
    assert view.inner_text("#x-detail").startswith("Point at a curve")


def test_the_keyboard_reaches_every_point(view):
    view.uncheck("#x-single")
    view.focus("#x-plot")
    view.keyboard.press("ArrowRight")
    first = view.inner_text("#x-detail")
    assert first.startswith("herk_dop853 on pendulum: median of 4 runs, rtol 1e-3")
    seen = {first}
    for _ in range(view.locator("#x-plot [data-curve] path[transform]").count()):
        view.keyboard.press("ArrowRight")
        seen.add(view.inner_text("#x-detail"))
    assert len(seen) == view.locator("#x-plot [data-curve] path[transform]").count()
    view.keyboard.press("ArrowDown")
    assert not view.inner_text("#x-detail").startswith("herk_dop853 on")
    view.keyboard.press("Escape")
    assert view.inner_text("#x-detail").startswith("Point at a curve")


def test_the_plot_draws_the_medians_that_the_tables_hold(view, found: contents.Contents):
    """Both count decades and take medians, here in two languages: they must agree."""
    view.uncheck("#x-single")
    runs = found.sweeps[(found.sweeps["case"] == "pendulum") & (found.sweeps["curve"] == "scipy_lsoda · ode")]
    curve = curves.medians(runs, "time", "mixed")
    choose(view, "solvers", "scipy_lsoda")
    view.focus("#x-plot")
    for k in range(len(curve)):
        view.keyboard.press("ArrowRight")
        words = view.inner_text("#x-detail")
        assert float(words.split("error ")[1].split(" ")[0]) == pytest.approx(curve.error[k], rel=0.05)
        assert f"median of {curve.runs[k]:.0f} runs" in words


@pytest.mark.parametrize("width", [390, 820, 1280])
def test_no_width_needs_horizontal_scrolling(view, width):
    view.set_viewport_size({"width": width, "height": 844})
    view.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    view.wait_for_function(f"document.querySelector('#x-plot').clientWidth < {width}")
    assert view.evaluate("document.documentElement.scrollWidth") <= width


def test_a_link_opens_the_folded_part_it_leads_to(view):
    view.evaluate("location.hash = '#more-akzo'")
    view.wait_for_function("document.getElementById('more-akzo').open")


def test_controls_have_labels_and_headings_have_levels(view):
    unlabelled = view.evaluate(
        "[...document.querySelectorAll('select, input')].filter(e => !e.labels.length).length"
    )
    assert unlabelled == 0
    levels = view.eval_on_selector_all("h1, h2, h3", "all => all.map(h => Number(h.tagName[1]))")
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert view.evaluate(
        "[...document.querySelectorAll('[id]')].length === new"
        " Set([...document.querySelectorAll('[id]')].map(e => e.id)).size"
    )


def test_paper_shows_folded_parts_and_no_controls(view):
    view.emulate_media(media="print")
    assert not view.is_visible(".explorer form")
    assert not view.is_visible("nav")
    assert view.locator("#problem-akzo figure img").first.is_visible()
    assert view.locator("#more-akzo table").first.is_visible()


def test_on_paper_no_figure_and_no_number_is_cut(five):
    """A4 without margins has 718 pixels: pictures shrink to it, numbers stay on one line."""
    five.emulate_media(media="print")
    five.set_viewport_size({"width": 718, "height": 1000})
    widths = five.evaluate("[...document.images].map(i => i.getBoundingClientRect().right)")
    assert len(widths) > 10
    assert max(widths) <= 718
    table = five.locator("#table-error_against_steps_pendulum")
    assert table.evaluate("t => t.getBoundingClientRect().right") <= 718
    heights = table.evaluate("t => [...t.querySelectorAll('td.n')].map(c => c.getClientRects()[0].height)")
    assert max(heights) < 40
    five.emulate_media(media="screen")
    five.set_viewport_size({"width": 1280, "height": 900})


def test_on_a_phone_captions_of_wide_tables_are_read_without_scrolling(five):
    five.set_viewport_size({"width": 390, "height": 844})
    words = five.locator("#table-error_against_steps_pendulum caption .words")
    assert words.evaluate("w => w.getBoundingClientRect().right") <= 390
    five.set_viewport_size({"width": 1280, "height": 900})


def test_without_javascript_all_but_the_plot_can_be_read(browser, out):
    tab = browser.new_context(java_script_enabled=False).new_page()
    tab.goto((out / "index.html").as_uri())
    assert "This plot needs JavaScript" in tab.inner_text("#explorer")
    assert "At an error of 1e-6" in tab.inner_text("#summary")
    tab.context.close()


RIVALS = ("scipy_radau · ode", "ida_scikits_jac · index1")
PUBLISHED = Path(__file__).parents[2] / "reports" / "published" / "index.html"


def made(folder: Path) -> Path:
    """Return a page of the five problems.

    Each is solved by a half-explicit method, SciPy's Radau and IDA through scikits.odes.
    """
    solvers = (
        ("herk_dop853", "overdetermined", 1e-5),
        ("scipy_radau", "ode", 1e-2),
        ("ida_scikits_jac", "index1", 1e-3),
    )
    rows = [
        row
        for name in FIVE
        for solver, form, speed in solvers
        for row in sweep(solver, form, 5, speed, 1.0, problem=name)
    ]
    return report(folder, rows) / "index.html"


@pytest.fixture(scope="module", params=["made", "published"])
def five(request, browser, tmp_path_factory):
    """The page of the five problems: one made from formulas, and the one that was published from real runs."""
    page = PUBLISHED if request.param == "published" else made(tmp_path_factory.mktemp("five"))
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.goto(page.as_uri())
    yield tab
    tab.close()


@pytest.mark.parametrize("name", FIVE)
def test_each_of_the_five_problems_shows_figure_and_table_of_error_against_steps_with_radau_and_ida(
    five, name
):
    figure = five.locator(f"#problem-{name} #figure-error_against_steps_{name} img")
    assert figure.is_visible()
    assert figure.evaluate("image => image.decode().then(() => image.naturalWidth)") > 300
    drawn = figure.evaluate("image => decodeURIComponent(image.src)")
    table = five.locator(f"#problem-{name} #table-error_against_steps_{name}")
    assert table.is_visible()
    for rival in RIVALS:
        assert rival in drawn
        cells = table.locator("tr", has_text=rival).locator("td").all_inner_texts()
        assert sum("→" in cell for cell in cells) >= 6


def test_the_five_problems_are_in_the_bar_and_each_lists_its_parts(five):
    assert five.locator("nav a").all_inner_texts()[1:6] == list(FIVE)
    for name in FIVE:
        links = five.locator(f"#problem-{name} .toc a").all()
        assert [link.inner_text() for link in links][:3] == [
            "What it is",
            "Error against steps",
            "Error against time",
        ]
        assert all(five.locator(link.get_attribute("href")).count() == 1 for link in links)
