"""tools/fuzz.py: exit codes, the table, and one member again."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.fuzz.judge import Outcome, Verdict

TOOL = Path(__file__).parents[2] / "tools" / "fuzz.py"


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = importlib.util.spec_from_file_location("fuzz_tool", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def results(*outcomes: Outcome):
    def campaign(stream, jobs, limit, tell):
        records = [
            {
                "family": family,
                "seed": seed,
                "outcome": outcome,
                "kind": "a kind",
                "detail": "seen",
                "script": "# text",
            }
            for (family, seed), outcome in zip(stream, outcomes, strict=False)
        ]
        for record in records:
            tell(record)
        return records

    return campaign


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ((Outcome.RIGHT, Outcome.HONEST), 0),
        ((Outcome.RIGHT, Outcome.UNDECIDED), 0),
        ((Outcome.RIGHT, Outcome.WRONG_SUCCESS), 1),
        ((Outcome.REFUSED, Outcome.RIGHT), 1),
        ((Outcome.CRASH, Outcome.RIGHT), 1),
        ((Outcome.HANG, Outcome.RIGHT), 1),
        ((), 3),
    ],
)
def test_the_exit_code_tells_whether_there_was_a_fault(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, outcomes: tuple[Outcome, ...], code: int
) -> None:
    monkeypatch.setattr(tool, "campaign", results(*outcomes))
    assert tool.main(["--members", "2", "--family", "limits"]) == code


def test_faults_are_told_with_their_seeds_and_scripts(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tool, "campaign", results(Outcome.RIGHT, Outcome.REFUSED))
    tool.main(["--members", "2", "--family", "limits", "--seed", "70", "--scripts"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "limits:71 (a kind) refused: seen"
    assert lines[1] == "# text"
    assert lines[-1] == "refused: limits 71"


def test_a_member_is_shown_again(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tool, "examine", lambda *_: (Verdict(Outcome.CRASH, "seen"), "a kind", "import herk"))
    assert tool.main(["--replay", "limits:7"]) == 1
    assert "# crash: seen" in capsys.readouterr().out


@pytest.mark.parametrize("label", ["limits", "limit:7", "limits:x"])
def test_a_member_that_does_not_exist_gets_a_sentence(tool: ModuleType, label: str) -> None:
    with pytest.raises(SystemExit, match="FAMILY:SEED"):
        tool.main(["--replay", label])


def test_known_faults_are_written_only_when_asked_for(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tool, "campaign", results(Outcome.HANG))
    monkeypatch.setattr(tool, "KNOWN", tmp_path / "known.toml")
    tool.main(["--members", "1", "--family", "limits", "--seed", "0"])
    assert not tool.KNOWN.exists()
    tool.main(["--members", "1", "--family", "limits", "--seed", "0", "--known"])
    assert '0 = "hang"' in tool.KNOWN.read_text()
