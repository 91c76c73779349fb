"""The report: reads the records, writes tables and figures beside index.html.

And the page itself, which needs no other file.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import jinja2
import matplotlib as mpl
import pandas as pd
from markupsafe import Markup

from herk.bench import whole_files
from herk.reproductions import style
from reports import contents as records
from reports import explorer, images, literature
from reports.claims import Claim
from reports.contents import Contents
from reports.mathml import mathml
from reports.section import Section
from reports.sections import (
    convergence,
    default,
    documents,
    drift,
    failures,
    five,
    problems,
    profiles,
    proportionality,
    reached,
    references,
    scaling,
    steps,
    work_precision,
)
from reports.tables import Table, bound
from reports.words import counted

TEMPLATES = Path(__file__).with_name("templates")
SECTIONS = (
    work_precision,
    default,
    profiles,
    proportionality,
    convergence,
    drift,
    scaling,
    reached,
    steps,
    failures,
    references,
    problems,
    documents,
)
WANTED = {"ida_scikits_jac": "scikits.odes", "scipy_radau": "SciPy"}  # the rivals that were asked for by name
STAND_IN = {"ida_scikits_jac": ("ida_sundae_jac", "scikit-sundae")}
STANDARD = ("work_precision", "convergence", "drift")


def write(out: Path) -> Path:
    """Write OUT/index.html from OUT/records.jsonl, with tables in OUT/tables and figures in OUT/figures.

    Return its path.
    """
    found = records.read(out)
    with mpl.rc_context(style.RC):
        sections = [*five.sections(found), *(module.section(found) for module in SECTIONS)]
    for table in bound(
        (environments(found), *(table for section in sections for table in section.all_tables()))
    ):
        table.write(out / "tables")
    inlined = {
        picture.name: images.inline(picture, out)
        for section in sections
        for picture in section.all_pictures()
    }
    return whole_files.text(out / "index.html", render(found, sections, inlined))


def render(found: Contents, sections: list[Section], inlined: dict[str, images.Inlined | None]) -> str:
    """Return the page; everything that comes from records is escaped."""
    # Autoescaping holds for every template and is never switched off; Markup marks the three texts that are
    # ours.
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    script = (TEMPLATES / "explorer.js").read_text(encoding="utf-8")
    cited = literature.cited(**shown(found))
    return environment.get_template("page.html").render(
        sections=sections,
        images=inlined,
        missing=absent(found),
        notes=found.notes,
        counts=counts(found),
        command=command(found),
        environments=environments(found),
        commits=sorted({str(each["commit"] or "") for each in found.environments} - {""}),
        bibtex=literature.bibtex(cited),
        citations=len(cited),
        counted=counted,
        mathml=lambda latex: Markup(mathml(latex)),  # noqa: S704 - the reader escapes every token
        css=Markup((TEMPLATES / "page.css").read_text(encoding="utf-8")),  # noqa: S704 - ours
        javascript=Markup(script),  # noqa: S704 - ours
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        explorer=(Markup(explorer.script(found)) if len(found.tried) else ""),  # noqa: S704 - JSON without angle brackets
    )


def shown(found: Contents) -> dict[str, set[str]]:
    """Return what the report shows, for its references."""
    runs = found.runs
    return {
        "solvers": set(runs["solver"]),
        "problems": set(runs["problem"]) | {name for name, _ in found.problems},
        "forms": set(runs["form"]),
        "studies": set(found.documents),
    }


def absent(found: Contents) -> list[Claim]:
    """Return a claim for every rival that was asked for by name and is not in these records.

    With who stands in for it.
    """
    claims = []
    present = set(found.runs.loc[~found.runs["status"].isin(["unavailable", "unsupported"]), "solver"])
    for name, package in WANTED.items():
        if name in present or not present:
            continue
        other, stand_in = STAND_IN.get(name, ("", ""))
        said = found.runs.loc[
            (found.runs["solver"] == name) & (found.runs["status"] == "unavailable"), "message"
        ]
        facts = {"solver": name, "package": package, "why": str(said.iloc[0]) if len(said) else ""}
        stands = (
            {"instead": other, "through": stand_in} if other in present else {"instead": "", "through": ""}
        )
        claims.append(Claim("absent", {**facts, **stands}))
    return claims


def counts(found: Contents) -> Claim:
    """Return what the records hold, in a line."""
    published = [row for kinds in found.documents.values() for row in kinds.get("published", [])]
    runs = found.runs
    days = sorted(date[:10] for date in runs["date"] if date)
    facts = {
        "runs": len(runs),
        "solvers": found.programs(runs["solver"].unique()),
        "problems": int(runs["problem"].nunique()),
        "values": documents.checked(published),
        "days": [days[0], days[-1]] if days else [],
    }
    return Claim("whole", facts)


def command(found: Contents) -> str:
    """Return the command that makes such records again."""
    studies = [name for name in dict.fromkeys([*found.runs["study"], *found.documents]) if name]
    if set(studies) <= set(STANDARD):
        return "python -m herk.bench"
    return f"python -m herk.bench run {' '.join(studies)}"


def environments(found: Contents) -> Table:
    """Return versions, machine and commit of all records."""
    frame = pd.DataFrame(list(found.environments), columns=["records", *records.ENVIRONMENT])
    return Table(
        "environments", "Versions, machine and commit behind the records.", frame.fillna("").astype(str)
    )
