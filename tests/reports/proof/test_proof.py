"""Claims against a brute-force count on generated records.

Ties, failures, stopped runs, one solver alone, missing numbers.
"""

from __future__ import annotations

import copy
import gzip
import shutil

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from herk.bench import record
from reports import contents, orders, page, proof, verdicts
from reports.absence import NONE
from reports.claims import Claim, none
from reports.proof.counts import FOUND
from reports.proof.kinds import KINDS
from reports.proof.world import world
from reports.sections import (
    convergence,
    documents,
    drift,
    failures,
    problems,
    profiles,
    proportionality,
    reached,
    references,
    scaling,
    steps,
    work_precision,
)
from reports.sentences import WORDS
from tests.reports.conftest import run

SOLVERS = [
    ("herk_dop853", "overdetermined"),
    ("herk_dop853", "ode"),
    ("scipy_lsoda", "ode"),
    ("irk_radau5", "index1"),
    ("scipy_radau", "ode"),
    ("ida_sundae_jac", "index1"),
]
NUMBERS = st.sampled_from([0.0, 1e-15, 1e-12, 3e-7, 1e-6, 1e-4, 0.5, 2.0]) | st.none()
ENDS = st.sampled_from(
    [
        {},
        {},
        {},
        {"status": "failed", "reason": "time_limit"},
        {"status": "failed", "reason": "max_steps"},
        {"status": "failed", "reason": "newton"},
        {"status": "unavailable", "reason": "unavailable"},
        {"status": "unsupported"},
    ]
)
DIGITS = st.sampled_from([-1.0, 3.0, 5.9, 6.0, 6.0, 8.0, 15.9]) | st.none()


@st.composite
def tolerance_run(draw, study):
    solver, form = draw(st.sampled_from(SOLVERS))
    problem = draw(st.sampled_from(["pendulum", "akzo", "third"]))
    t_end = draw(st.sampled_from([2.0, 20.0])) if study == "drift" else 20.0
    changes = record.canonical({"t_end": t_end}) if study == "drift" else "{}"
    product = draw(st.sampled_from([None, 0.1, 1.0, 2.0, 3.0]))
    return run(
        study=study,
        solver=solver,
        form=form,
        problem=problem,
        changes=changes,
        rtol=10.0 ** -draw(st.integers(3, 9)),
        atol=1e-6,
        mescd=draw(DIGITS),
        cpu_min=draw(st.sampled_from([1e-3, 1e-3, 1.1e-3, 2e-3, 1.0, 0.0]) | st.none()),
        nfev=draw(st.integers(0, 3)),
        t_end=t_end,
        h_lambda=product,
        h_lambda_bound=None if product is None else 3.3,
        machine=draw(st.sampled_from(["", "one", "one", "another"])),
        **{"drift.all": draw(NUMBERS), "drift.level0": draw(NUMBERS), "drift.level1": draw(NUMBERS)},
        **draw(ENDS),
    )


@st.composite
def sweep_of_tolerances(draw):
    """Return three tolerances that a solver meets, more or less, at a cost close to that of others.

    Here races are decided.
    """
    solver, form = draw(st.sampled_from(SOLVERS))
    problem, factor = (
        draw(st.sampled_from(["pendulum", "akzo"])),
        draw(st.sampled_from([1.0, 1.0, 1.1, 1.24, 1.5, 2.5, 5.0])),
    )
    offset, last = draw(st.sampled_from([-2.5, 0.0, 0.5])), draw(ENDS)
    same = {"solver": solver, "form": form, "problem": problem, "atol": 1e-6}
    return [
        run(
            rtol=10.0**-k,
            mescd=k + offset,
            cpu_min=1e-3 * factor * k,
            nfev=round(10 * factor * k),
            **same,
            **(last if k == 8 else {}),
        )
        for k in (4, 6, 8)
    ]


@st.composite
def sweep_of_steps(draw):
    solver = draw(st.sampled_from(["herk_rk4", "herk_heun", "radau_iia3"]))
    order, floor = draw(st.sampled_from([1.0, 2.0, 4.0, 4.1])), draw(st.sampled_from([0.0, 1e-14, 1e-6]))
    factor, column = (
        draw(st.sampled_from([1e-14, 0.1, 1e3])),
        draw(st.sampled_from(["error_end", "error_grid.positions"])),
    )
    count, status = draw(st.integers(1, 8)), draw(st.sampled_from(["ok", "ok", "failed"]))
    steps = [0.25 / 2**k for k in range(count)]
    return [
        run(study="convergence", solver=solver, step=h, status=status, **{column: factor * h**order + floor})
        for h in steps
    ]


def facts():
    rows = [("herk_rk4", "herk", 4), ("herk_heun", "herk", 2), ("radau_iia3", "irk", 5)]
    solvers = [
        record.make("solver", solver=name, version="1", family=family, order=order)
        for name, family, order in rows
    ]
    known = [("pendulum", 14.0), ("akzo", 24.0), ("third", None), ("fourth", 9.0)]
    print_ = {"akzo": [3.0, None], "third": [3.0 + 3e-7, 5.0], "fourth": [None, None]}
    return solvers + [
        record.make(
            "problem",
            problem=name,
            changes="{}",
            reference_digits=d,
            reference_y=[3.0, 5.0],
            published_y=print_.get(name),
        )
        for name, d in known
    ]


@st.composite
def selected(draw):
    """Return a run with the selections it used."""
    made = run(rtol=10.0 ** -draw(st.integers(3, 9)), problem=draw(st.sampled_from(["pendulum", "akzo"])))
    used = draw(st.lists(st.sampled_from(["0 2", "1 3"]), min_size=1, max_size=3))
    times = [float(k) for k in range(len(used))]
    return [made, record.make("series", run=made["key"], name="selection", t=times, values=used)]


@st.composite
def studied(draw):
    """Return a claim of a study of a document."""
    text, study = (
        draw(st.sampled_from(["Orders.", "Steps", "Drift"])),
        draw(st.sampled_from(["thesis", "lecture"])),
    )
    date = draw(st.sampled_from(["2026-01-01T00:00:00", "2026-01-02T00:00:00"]))
    return record.make("claim", study=study, date=date, text=text, holds=draw(st.booleans()), evidence="")


@st.composite
def printed(draw):
    part, verdict = (
        draw(st.sampled_from(["Fig. 1", "Table 1", "code run again"])),
        draw(st.sampled_from(["same", "misprint"])),
    )
    value = draw(st.sampled_from([1.0, "not printed (2)"]) | st.none())
    same = {
        "study": draw(st.sampled_from(["thesis", "lecture"])),
        "date": "2026-01-01T00:00:00",
        "quantity": "order",
    }
    return record.make(
        "published",
        part=part,
        case=str(draw(st.integers())),
        printed=value,
        ours=1.0,
        verdict=verdict,
        why="",
        **same,
    )


@st.composite
def sized(draw):
    """Return runs of one solver on one problem of growing size; some fail, some have no time."""
    solver, form = draw(st.sampled_from(SOLVERS))
    problem, power = draw(st.sampled_from(["chain", "net"])), draw(st.sampled_from([0.9, 1.0, 3.0]))
    made = []
    for n in draw(st.lists(st.sampled_from([5, 50, 500]), min_size=1, max_size=3, unique=True)):
        changes = record.canonical({"N": n})
        made.append(record.make("problem", problem=problem, changes=changes, n=5 * n, reference_y=[1.0]))
        cost = {"cpu_min": draw(st.sampled_from([1e-6 * n**power, 1.0]) | st.none()), "nstep": 7}
        same = {"study": "scaling", "solver": solver, "form": form, "problem": problem, "changes": changes}
        made.append(run(rtol=1e-6, **same, **cost, **draw(ENDS)))
    return made


def flat(parts):
    return [each for part in parts for each in part]


RECORDS = st.tuples(
    st.lists(tolerance_run("work_precision"), max_size=12), st.lists(tolerance_run("testset"), max_size=6),
    st.lists(tolerance_run("drift"), max_size=10), st.lists(printed(), max_size=5),
    st.lists(studied(), max_size=4),
    st.lists(sweep_of_steps(), max_size=4), st.lists(sweep_of_tolerances(), max_size=10),
    st.lists(selected(), max_size=3), st.lists(sized(), max_size=3),
).map(lambda parts: [*facts(), *flat(parts[:5]), *flat(flat(parts[5:]))])  # fmt: skip


def claims(records):
    """Return every claim that the sections make of these records, without drawing anything."""
    found = contents.sort(copy.deepcopy(records))
    goals = (1e-4, 1e-6, 1e-8)
    races = verdicts.races(found.sweeps, goals, found.group)
    made = [verdicts.tally([race for race in races if race.error == goal]) for goal in goals]
    tried = verdicts.races(found.tried, goals, found.group)
    table = orders.table(found, orders.sweeps(found))
    made += [
        *(race.claim for race in tried),
        verdicts.endings(found),
        verdicts.stiff(found),
        verdicts.orders(table),
    ]
    made += [
        claim for name in sorted(set(found.drifts["problem"])) for claim in drift.problem_claims(found, name)
    ]
    made += [
        profiles.claim(profiles.relative(profiles.compared(found), cost), cost) for cost in profiles.COSTS
    ]
    made += [*references.section(found).verdicts, *reached.section(found).verdicts, *failures.lines(found)]
    made += proportionality.lines(proportionality.table(found.sweeps), found)
    made += [page.counts(found), *page.absent(found), problems.counts(found), steps.selections(found)]
    made += work_precision.machines(found)
    grown = scaling.measured(found)
    made += [scaling.claim(name, grown) for name in sorted({problem for problem, _ in grown})]
    if table.empty:
        made += convergence.section(found).verdicts
    for kind, words in (("published", documents.value_words), ("claim", documents.claim_words)):
        made += words([row for kinds in found.documents.values() for row in kinds.get(kind, [])])
    assert all(isinstance(claim, Claim) for claim in made)
    return made


@settings(derandomize=True, deadline=None, max_examples=20, phases=[Phase.explicit, Phase.generate])
@given(RECORDS)
def test_a_brute_force_count_agrees_with_every_claim(records):
    known = world(copy.deepcopy(records))
    for claim in claims(records):
        found = proof.of_claim(claim, known)
        assert found.holds, f"{found.sentence}\n{found.evidence}"
        assert "nan" not in found.sentence.lower().replace("nand", "")


def test_a_page_about_changed_problems_alone_is_proved():
    """Fixed steps on a shorter span: problems are known, none of them as it stands."""
    known = [{**each, "changes": '{"t_end":1.0}'} for each in facts() if each["kind"] == "problem"]
    for claim in claims(known):
        found = proof.of_claim(claim, world(copy.deepcopy(known)))
        assert found.holds, found.sentence


def changed(value):
    """Return every way to falsify one number or one name in a fact."""
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, (int, float)):
        return [value + 1, value * 1.01 + 0.01]
    if isinstance(value, str):
        return [f"{value}x"]
    if isinstance(value, dict):
        return [{**value, name: other} for name, entry in value.items() for other in changed(entry)]
    return [
        [*value[:k], other, *value[k + 1 :]] for k, entry in enumerate(value) for other in changed(entry)
    ] + [[*value, "one more"]]


CHOICES = {
    "kind",
    "error",
    "case",
    "group",
    "factor",
    "cost",
    "cost_name",
    "column",
    "level_name",
    "problem",
    "study",
    "digits",
    "goal",
    "what",
    "name",
    "solver",
    "package",
    "through",
}


@settings(derandomize=True, deadline=None, max_examples=4, phases=[Phase.explicit, Phase.generate])
@given(RECORDS)
def test_a_claim_that_is_broken_on_purpose_is_found_out(records):
    known = world(copy.deepcopy(records))
    kinds: dict[str, int] = {}
    for claim in claims(records):
        kinds[claim.kind] = kinds.get(claim.kind, 0) + 1
        if kinds[claim.kind] > 2:  # of each kind some, because every wrong value is a count of its own
            continue
        for name in claim.facts.keys() - CHOICES:
            for wrong in changed(claim.facts[name]):
                assert proof.contradictions(Claim(claim.kind, {**claim.facts, name: wrong}), known), (
                    claim,
                    name,
                    wrong,
                )


def test_every_kind_of_sentence_has_a_proof():
    assert set(WORDS) == set(KINDS)
    assert set(NONE) == set(FOUND)


@pytest.mark.parametrize("what", NONE)
def test_that_something_is_not_there_is_believed_of_empty_records_only(records, what):
    claim = none(what, "pendulum")
    assert proof.of_claim(claim, world([])).holds
    others = {
        "others": [record.make("problem", problem="robertson", changes="{}")],
        "scaling": [run(study="scaling", rtol=1e-6)],
    }
    first = next(row for row in records if row["kind"] == "run" and row["solver"] == "herk_dop853")
    series = [record.make("series", run=first["key"], name="step", t=[0.0], values=[1.0])]
    assert not proof.of_claim(claim, world([*records, *series, *others.get(what, [])])).holds


def test_a_solver_that_ran_is_not_believed_to_be_absent():
    facts_ = {"solver": "scipy_lsoda", "package": "SciPy", "why": "", "instead": "", "through": ""}
    ran = run(solver="scipy_lsoda", form="ode", rtol=1e-6)
    missing = run(solver="scipy_lsoda", form="ode", rtol=1e-6, status="unavailable", message="No module.")
    assert not proof.of_claim(Claim("absent", facts_), world([ran])).holds
    assert proof.of_claim(Claim("absent", {**facts_, "why": "No module."}), world([missing])).holds
    assert not proof.of_claim(Claim("absent", {**facts_, "why": "Lost."}), world([missing])).holds
    assert not proof.of_claim(
        Claim("absent", {**facts_, "instead": "ida_sundae_jac"}), world([missing])
    ).holds


@pytest.fixture
def copied(out, tmp_path):
    """The small report, to be tampered with."""
    for name in ("index.html", "records.jsonl"):
        shutil.copy(out / name, tmp_path / name)
    return tmp_path


def test_all_sentences_of_a_page_are_proved_from_its_records(copied):
    found = proof.of_folder(copied)
    assert len(found) > 12
    assert [each for each in found if not each.holds] == []


def test_every_verdict_of_the_page_carries_its_facts(out):
    text = (out / "index.html").read_text(encoding="utf-8")
    lists = [part.split("</ul>")[0] for part in text.split('<ul class="verdict">')[1:]]
    assert len(lists) > 8
    assert sum(part.count("<li") for part in lists) == sum(part.count("<li data-claim=") for part in lists)
    assert "<p data-claim=" in text.split("</header>")[0]


def test_every_sentence_of_the_summary_carries_its_facts(out):
    summary = (
        (out / "index.html").read_text(encoding="utf-8").split('<dl class="summary">')[1].split("</dl>")[0]
    )
    assert summary.count("<dd") > 8
    assert summary.count("<dd") == summary.count("data-claim=")


def test_a_sentence_that_says_something_else_than_its_facts_is_found_out(copied):
    page_ = copied / "index.html"
    page_.write_text(
        page_.read_text(encoding="utf-8").replace("1/24 of the time", "1/25 of the time"), encoding="utf-8"
    )
    wrong = [each for each in proof.of_folder(copied) if not each.holds]
    assert wrong
    assert all("its facts say" in each.evidence for each in wrong)


def test_a_page_of_another_version_is_not_proved_and_says_so(copied):
    page_ = copied / "index.html"
    text = page_.read_text(encoding="utf-8")
    page_.write_text(text.replace("&#34;sooner&#34;", "&#34;later&#34;"), encoding="utf-8")
    wrong = [each for each in proof.of_folder(copied) if not each.holds]
    assert any("another version of herk" in each.evidence for each in wrong)


def test_records_that_do_not_belong_to_a_page_are_found_out(copied):
    stored = copied / "records.jsonl"
    lines = stored.read_bytes().splitlines(keepends=True)
    rest = b"".join(line for line in lines if b'"study":"drift"' not in line or b"herk_dop853" not in line)
    stored.unlink()
    with gzip.open(copied / "records.jsonl.gz", "wb") as file:
        file.write(rest)
    assert any("until t = 2000" in each.sentence for each in proof.of_folder(copied) if not each.holds)


def test_a_folder_without_a_page_has_no_sentences(tmp_path):
    assert proof.of_folder(tmp_path) == []


HALVED = tuple(0.25 / 2**k for k in range(5))
RADAU = {"solver": "scipy_radau", "form": "ode"}
BREAKS = {
    "times a factor of four apart are called level": (verdicts, "LEVEL", 30.0),
    "what our limit stopped is called failed": (contents, "OUR_LIMITS", ()),
    "an order one too low is called kept": (orders, "SLACK", 1.5),
    "an order four too high is called kept": (orders, "ABOVE", 5.0),
    "half-explicit methods are called foreign": (contents, "OF_FAMILY", {}),
    "the control races for the method": (verdicts, "KEEPING", "ode"),
    "drift of the control is called that of the method": (drift, "KEEPING", "ode"),
    "steps far from the bound are called limited": (verdicts, "DECIDES", 0.01),
    "every error is called 1": (
        proportionality,
        "usable",
        lambda runs, *_: runs[runs["ok"]].assign(mixed=1.0),
    ),
    "a single family is called enough": (reached, "ENOUGH", 1),
    "a curve without a tighter tolerance is called slow": (
        verdicts.Race,
        "least",
        lambda race, group: race.best[group] and race.best[group][1],
    ),
}


@pytest.fixture(scope="module")
def more(records):
    """Return records in which every break makes a difference, and which are proved without one."""
    made = [
        *records,
        run(problem="pendulum", rtol=1e-3, h_lambda=0.2, h_lambda_bound=3.3, mescd=3.0, atol=0.5),
        *(run(solver="herk_dop853", form="ode", rtol=10.0**-k, mescd=k, cpu_min=1e-9) for k in (4, 6, 8)),
        run(study="testset", problem="alone", rtol=1e-6, mescd=8.0),
        *(
            run(study="convergence", problem="fast", solver="herk_rk4", step=h, error_end=h**6)
            for h in HALVED
        ),
        *(run(problem="early", rtol=10.0**-k, mescd=k, cpu_min=1e-3) for k in (4, 6, 8)),
        *(run(problem="early", rtol=10.0**-k, mescd=k, cpu_min=1.0, **RADAU) for k in (4, 6, 8)),
        run(problem="early", rtol=1e-4, mescd=4.0, cpu_min=1e-3, solver="scipy_lsoda", form="ode"),
    ]
    known = world(copy.deepcopy(made))
    assert all(proof.of_claim(claim, known).holds for claim in claims(made))
    return made


@pytest.mark.parametrize("broken", BREAKS)
def test_a_verdict_that_is_broken_in_the_program_is_found_out(more, monkeypatch, broken):
    place, name, value = BREAKS[broken]
    known = world(copy.deepcopy(more))
    monkeypatch.setattr(place, name, value)
    assert not all(proof.of_claim(claim, known).holds for claim in claims(more))
