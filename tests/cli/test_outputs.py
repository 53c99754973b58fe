"""`-o` given several times: every file is written, each in its own form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from judgekit.cli.outputs import sort_outputs
from judgekit.errors import SettingsError
from tests.cli.bench import scores
from tests.evaluation.suites import lay_suite
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from judgekit.models.request import ModelRequest
    from tests.cli.bench import Bench
    from tests.cli.commanding import Run


@pytest.mark.usefixtures("owned")
def test_every_file_is_written(run: Run) -> None:
    ran = run("cache", "stats", "-o", "a.html", "-o", "a.md", "-o", "a.json")
    assert ran.code == 0
    assert Path("a.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert Path("a.md").read_text(encoding="utf-8").startswith("# Reply cache")
    assert json.loads(Path("a.json").read_text(encoding="utf-8"))["n_entries"] == 4
    assert ran.err == "".join(f"wrote the report to a.{end}\n" for end in ("html", "md", "json"))


def test_a_suffix_that_is_both_is_a_data_file() -> None:
    found = sort_outputs((Path("a.json"), Path("a.html")), what="x", exports=(".json", ".csv"))
    assert found.exports == (Path("a.json"),)
    assert found.documents == (Path("a.html"),)


def test_what_cannot_be_written_is_refused(tmp_path: Path, owned: list[ModelRequest]) -> None:
    assert owned
    with pytest.raises(SettingsError, match=r"suffix is \.pdf") as error:
        sort_outputs((Path("a.pdf"),), what="a plan", exports=(".csv",))
    assert error.value.hint == "use .csv, .json, .md, .html"
    with pytest.raises(SettingsError, match="there is no folder"):
        sort_outputs((tmp_path / "none" / "a.md",), what="a plan")


HOSTILE = "<script>alert(1)</script> **bold** | [link](http://x)"
ESCAPED_PAGE = "&lt;script&gt;alert(1)&lt;/script&gt;"
ESCAPED_MARKDOWN = r"\<script\>alert(1)\</script\> \*\*bold\*\* \| \[link\](http://x)"


def written(name: str) -> str:
    return Path(name).read_text(encoding="utf-8")


def test_a_run_writes_its_answers_and_its_report(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, n=3, texts={"c1": "wrong"})
    ran = run("run", "-o", "run.html", "-o", "run.md", "-o", "run.jsonl")
    assert ran.code == 0
    page, text = written("run.html"), written("run.md")
    assert page.index("v1 passed 2/3") < page.index("<table") < page.index("Not passed")
    assert "<summary>All answers</summary>" in page
    assert text.splitlines()[2] == "**v1 passed 2/3**"
    assert len(written("run.jsonl").splitlines()) == 3
    assert ran.err.splitlines()[-4:-1] == [
        "wrote the report to run.html",
        "wrote the report to run.md",
        "wrote 3 answers to run.jsonl",
    ]


def test_a_page_of_a_run_holds_foreign_text_as_text_only(run: Run, tmp_path: Path) -> None:
    check = {"type": "contains", "value": HOSTILE}
    lay_suite(tmp_path, n=1, texts={"c0": HOSTILE[::-1]}, assertions=[check])
    assert run("run", "-q", "-o", "run.html", "-o", "run.md").code == 0
    assert ESCAPED_PAGE in written("run.html")
    # Not even where the data of the cases are, which only the script reads.
    assert "<script>alert" not in written("run.html")
    assert ESCAPED_MARKDOWN in written("run.md")


def test_a_grading_writes_its_verdicts_and_its_report(bench: Bench) -> None:
    with OpenAILikeServer(scores(d=1)) as server:
        ran = bench.grade(server, "-o", "a.html", "-o", "a.md", "-o", "a.jsonl", "-o", "a.csv")
    assert ran.code == 0
    assert "outputs passed 3/4" in written("a.html")
    assert "**outputs passed 3/4**" in written("a.md")
    assert len(written("a.jsonl").splitlines()) == 4
    assert len(written("a.csv").splitlines()) == 9


def test_the_result_comes_first_on_stdout(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, n=2, texts={"c1": "wrong"}, gate={"tier": "production"})
    lines = run("run").out.splitlines()
    assert lines[2].startswith("Gate ")
    assert lines[2].endswith("v1 passed 1/2")


def test_a_report_never_replaces_what_is_graded(bench: Bench) -> None:
    Path("outputs.jsonl").rename("outputs.json")
    ran = bench.run("grade", "outputs.json", "-o", "outputs.json", "-o", "a.md")
    assert ran.code == 2
    assert "would overwrite outputs.json, which" in ran.err


@pytest.mark.parametrize("file", ["cases.jsonl", "outputs/v1.jsonl", "replies.jsonl"])
@pytest.mark.parametrize("command", ["run", "grade", "compare v1 v2", "rank v1 v2"])
def test_no_result_replaces_a_file_of_the_suite(run: Run, command: str, file: str) -> None:
    run("init", ".")
    before = Path(file).read_bytes()
    ran = run(*command.split(), "-q", "-o", file)
    assert (ran.code, ran.out) == (2, "")
    assert f"--output would overwrite {file}, which this command reads" in ran.err
    assert Path(file).read_bytes() == before


def test_a_report_never_replaces_the_labels_it_is_about(run: Run) -> None:
    run("init", ".")
    Path("labels.jsonl").rename("labels.json")
    ran = run("calibrate", "labels.json", "--results", "replies.jsonl", "-o", "labels.json")
    assert (ran.code, "would overwrite labels.json" in ran.err) == (2, True)
