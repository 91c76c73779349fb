"""The package is complete: wheel and sdist are built, and run from an empty folder; the command says what there is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import herk
from herk.__main__ import main

ROOT = Path(__file__).parents[2]
RUN = """
import herk, herk.circuit, testset, baselines, reports
from pathlib import Path
assert Path(herk.__file__).is_relative_to(Path.cwd()), herk.__file__
model = herk.Model.from_equations("decay", ["x' = -x"], start={"x": 1}, t_span=(0, 1))
print(round(herk.solve_dae(model, rtol=1e-9).y[0, -1], 6), len(testset.names()) > 25, len(baselines.names()) > 25)
"""


def build(kind: str, source: Path, folder: Path) -> Path:
    """Build a wheel or sdist without network and return its path."""
    pytest.importorskip("hatchling", reason="building needs the extra dev: pip install '.[dev]'")
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    return next(folder.iterdir())


@pytest.mark.slow
def test_the_wheel_runs_from_an_empty_folder(tmp_path) -> None:
    wheel = build("wheel", ROOT, tmp_path / "dist")
    assert wheel.name.startswith(f"herk-{herk.__version__}-")
    here = tmp_path / "empty"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(here)
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {
        "HERK_CACHE_DIR": str(tmp_path / "cache")
    }
    found = subprocess.run(
        [sys.executable, "-c", RUN],
        cwd=here,
        capture_output=True,
        text=True,
        env=clean | {"PYTHONPATH": str(here)},
    )
    assert found.stdout.split() == ["0.367879", "True", "True"], found.stderr  # 1/e


@pytest.mark.slow
def test_the_sdist_holds_all_that_the_wheel_needs(tmp_path) -> None:
    direct = build("wheel", ROOT, tmp_path / "direct")
    sdist = build("sdist", ROOT, tmp_path / "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    source = next((tmp_path / "source").iterdir())
    again = build("wheel", source, tmp_path / "again")
    contents = [sorted(zipfile.ZipFile(wheel).namelist()) for wheel in (direct, again)]
    assert contents[0] == contents[1]
    assert (source / "docs" / "conf.py").exists()
    assert not any(
        path.parts[0] == "reports" and "published" in path.parts for path in map(Path, contents[0])
    )


def test_the_version_is_written_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "herk/__init__.py"
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is not None
    assert cited[1] == herk.__version__


def test_the_command_says_what_there_is(capsys) -> None:
    assert main([]) == 0
    words = capsys.readouterr().out
    assert herk.__version__ in words
    assert "herk bench recommend" in words
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == herk.__version__


def test_the_model_in_the_words_of_the_command_is_one(capsys) -> None:
    main(["help"])
    words = capsys.readouterr().out
    code = words[words.index("  import herk") : words.index("  sol = ")]
    names: dict[str, object] = {}
    exec("\n".join(line[2:] for line in code.splitlines()), names)
    assert herk.regularize(names["model"]).index == 3


def test_an_unknown_command_is_answered_with_the_known_ones(capsys) -> None:
    assert main(["benhc"]) == 2
    assert "known are bench" in capsys.readouterr().err


def test_the_bench_is_reached_by_the_command(capsys) -> None:
    assert main(["bench", "list", "methods"]) == 0
    assert "dopri5" in capsys.readouterr().out
