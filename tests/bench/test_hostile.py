"""Nothing that is stored is ever run.

Hostile content in every file of a report folder ends in a page or a sentence.
"""

from __future__ import annotations

import ast
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from herk.bench import cli, record, store
from herk.bench.store import Store

ROOT = Path(__file__).parents[2]
OWN = [
    path
    for folder in ("herk/bench", "herk/reproductions", "reports")
    for path in sorted((ROOT / folder).rglob("*.py"))
]
LOADERS = {"herk/bench/plugins.py"}  # it runs files that a user names
MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "yaml", "dbm", "code", "runpy"}
BUILTINS = {"eval", "exec", "compile", "__import__"}
CALLS = {"read_pickle", "parse_expr", "sympify", "lambdify", "exec_module"}  # of any module
SWITCHES = "herk/bench/recommend/switching.py"  # makes functions of formulas that the parser has read


class Payload:
    """Whoever unpickles it makes a folder."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def texts(mark: Path) -> list[str]:
    """Return texts that do something where they are run, as Python, as a template, as a page.

    By a shell or a spreadsheet.
    """
    code = f"__import__('os').mkdir({str(mark)!r})"
    return [
        f"import os\nos.mkdir({str(mark)!r})\n",
        code,
        f"().__class__.__base__.__subclasses__()[-1].__init__.__globals__['__builtins__'].eval({code!r})",
        f"{{{{ cycler.__init__.__globals__.os.mkdir({str(mark)!r}) }}}}{{% include '/etc/passwd' %}}",
        f"</script><script>hostile()</script><img src=x onerror='hostile()'>$(mkdir {mark})",
        f"=cmd|' /C mkdir {mark}'!A0",
        "../../../../etc/passwd",
        f"!!python/object/apply:os.mkdir [{mark}]",
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Return a folder with a report of a few runs, the page of a recommendation beside it."""
    from tests.bench.conftest import STUDY, TOY

    out = tmp_path_factory.mktemp("hostile")
    (out / "toy.py").write_text(TOY)
    (out / "toys.toml").write_text(STUDY)
    chosen = ["--file", str(out / "toy.py"), "--solver", "toy_euler", "--problem", "toy"]
    assert cli.main(["run", str(out / "toys.toml"), "--out", str(out / "out"), *chosen]) == cli.FINE
    (out / "out" / "recommend.html").write_text("advice")
    return out / "out"


@pytest.mark.parametrize("what", ["pickle", "text"])
def test_hostile_files_beside_the_records_are_written_over_and_never_run(folder, what, tmp_path, capsys):
    mark = tmp_path / "planted"
    stored = [path for path in folder.rglob("*") if path.is_file() and path.name != store.NAME]
    assert {path.suffix for path in stored} >= {".csv", ".html", ".md", ".svg", ".png", ".lock"}
    for k, path in enumerate(stored):
        path.write_bytes(
            pickle.dumps(Payload(mark)) if what == "pickle" else texts(mark)[k % len(texts(mark))].encode()
        )
    for name in (
        "herk.py",
        "sitecustomize.py",
        "conftest.py",
        "numpy.py",
        "records.py",
        "records.pkl",
        "runs.pkl",
        "index.py",
    ):
        (folder / name).write_text(texts(mark)[0])
    assert cli.main(["report", "--out", str(folder)]) == cli.FINE
    assert cli.main(["compare", str(folder), str(folder)]) == cli.FINE
    assert "No regression" in capsys.readouterr().out
    assert not mark.exists()
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "<script>hostile()" not in page
    assert (folder / "runs.csv").read_text(encoding="utf-8").count("toy_euler") == 3


def hostile(rec: dict[str, object], text: str) -> dict[str, object]:
    """Return a record that says the hostile text wherever a text is free, under a key that fits."""
    fixed = {*record.ALWAYS, "status", "changes", "options", "run", "form"}
    changed = {
        name: text if isinstance(value, str) and name not in fixed else value for name, value in rec.items()
    }
    changed |= {
        name: [text for _ in value]
        for name, value in rec.items()
        if name in ("equations", "constraints", "tags", "components")
    }
    return {**changed, "key": record.key(str(rec["kind"]), changed)}


def test_hostile_texts_in_records_are_shown_and_never_run(folder, tmp_path, capsys):
    mark, out = tmp_path / "planted", tmp_path / "out"
    known = Store(folder / store.NAME).read()[0]
    claim = record.make("claim", study="thesis", text="a", holds=True, evidence="b")
    figure = record.make("figure", study="thesis", name="n", path="p", caption="c", file="f")
    for text in texts(mark):
        Store(out / store.NAME).append([hostile(rec, text) for rec in (*known, claim, figure)])
    assert cli.main(["report", "--out", str(out)]) == cli.FINE
    assert cli.main(["compare", str(out), str(out)]) == cli.FINE
    assert "No regression" in capsys.readouterr().out
    assert not mark.exists()
    assert "<script>hostile()" not in (out / "index.html").read_text(encoding="utf-8")
    for path in out.rglob("*.csv"):
        assert "\n=cmd" not in path.read_text(encoding="utf-8")
        assert ",=cmd" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "command", [["report", "--out", "{0}"], ["compare", "{0}", "{0}"], ["run", "drift", "--out", "{0}"]]
)
@pytest.mark.parametrize("what", ["pickle", "text", "deep", "large"])
def test_hostile_files_of_records_end_in_a_sentence(command, what, tmp_path, capsys):
    mark, path = tmp_path / "planted", tmp_path / store.NAME
    content = {
        "pickle": pickle.dumps(Payload(mark)),
        "text": texts(mark)[0].encode(),
        "deep": b'{"schema":1,"kind":"run","a":' + b"[" * 100_000,
        "large": b'{"schema":1,"kind":"run","a":' + b"9" * 100_000 + b"}\n",
    }[what]
    path.write_bytes(content + b"\n")
    assert cli.main([each.format(tmp_path) for each in command]) == cli.USAGE
    said = capsys.readouterr().err
    assert "line 1, is not a record of this bench" in said
    assert "Traceback" not in said
    assert not mark.exists()
    assert path.read_bytes() == content + b"\n"


AUDIT = """
import sys
seen = []
sys.addaudithook(lambda event, args: seen.append((event, args)) if event in ("pickle.find_class", "exec", "compile") else None)
from herk.bench import cli
code = cli.main(["compare", sys.argv[1], sys.argv[1]])
stored = [event for event, args in seen if event == "pickle.find_class"]
stored += [event for event, args in seen if event == "exec" and sys.argv[1] in getattr(args[0], "co_filename", "")]
print("RAN", stored)
raise SystemExit(code)
"""


def test_reading_records_unpickles_and_runs_nothing_by_the_word_of_the_interpreter(folder):
    done = subprocess.run(
        [sys.executable, "-c", AUDIT, str(folder)], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "RAN []" in done.stdout


def called(tree: ast.AST) -> set[str]:
    functions = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = {each.id for each in functions if isinstance(each, ast.Name)}
    return (
        names & (BUILTINS | CALLS)
        | {each.attr for each in functions if isinstance(each, ast.Attribute)} & CALLS
    )


def imported(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def test_no_module_of_bench_or_reports_can_run_what_it_reads():
    assert len(OWN) > 50
    for path in OWN:
        name, tree = path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))
        assert not imported(tree) & MODULES, name
        trusted = {"exec_module"} if name in LOADERS else {"lambdify"} if name == SWITCHES else set()
        trusted |= (
            {"sympify"} if name.startswith("herk/reproductions/") else set()
        )  # studies read formulas printed in their own sources
        assert not called(tree) - trusted, name


def test_the_payloads_of_these_tests_are_live(tmp_path):
    pickle.loads(pickle.dumps(Payload(tmp_path / "unpickled")))
    exec(texts(tmp_path / "executed")[0])
    eval(texts(tmp_path / "evaluated")[1])
    assert {path.name for path in tmp_path.iterdir()} == {"unpickled", "executed", "evaluated"}
    assert called(ast.parse("eval(x); re.compile(y); sp.sympify(z)")) == {"eval", "sympify"}
    assert imported(ast.parse("import pickle.x\nfrom marshal import loads")) == {"pickle", "marshal"}


def test_a_record_is_read_as_json_and_nothing_else():
    text = json.dumps(
        {
            "schema": 1,
            "kind": "run",
            "__class__": "os.system",
            "py/object": "os.system",
            "__reduce__": ["os.mkdir", ["x"]],
        }
    )
    with pytest.raises(record.RecordError, match="It lacks"):
        record.parse(text)
