"""What an optional package is needed for says so before any work, and names the extra."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from judgekit.extras import EXTRAS
from tests.cli.commanding import Ran, runner

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., Ran]

ROOT = Path(__file__).parents[1]
CASE = {"id": "a", "input": "?", "reference": "SELECT 1"}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return runner(capsys)


def test_errors_name_the_extras_that_the_distribution_declares() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = project["optional-dependencies"]
    everything = re.findall(r"\w+", declared.pop("all")[0].partition("[")[2])
    packages = {
        re.split(r"[\[=<>]", need)[0].removesuffix("-skinny"): extra
        for extra, needs in declared.items()
        for need in needs
    }
    assert packages == EXTRAS
    # Ray is large, and clients of other tools' servers have many packages of their own.
    assert set(declared) - set(everything) == {"mlflow", "ray", "wandb"}
    assert not set(EXTRAS) & {re.split(r"[\[=<>]", need)[0] for need in project["dependencies"]}


@pytest.mark.parametrize(
    ("assertion", "package", "extra"),
    [("is-sql", "sqlglot", "sql"), ("text.chrf", "sacrebleu", "text")],
)
def test_a_suite_that_needs_an_extra_is_refused_before_it_runs(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    assertion: str,
    package: str,
    extra: str,
) -> None:
    suite = {
        "name": "s",
        "cases": [CASE],
        "variants": [{"id": "v", "outputs": "outputs.jsonl"}],
        "assertions": [{"type": assertion}],
    }
    (tmp_path / "judgekit.yaml").write_text(json.dumps(suite), encoding="utf-8")
    (tmp_path / "outputs.jsonl").write_text(
        json.dumps({"case_id": "a", "text": "SELECT 1"}), encoding="utf-8"
    )
    assert run("validate", "judgekit.yaml").code == 0
    monkeypatch.setitem(sys.modules, package, None)
    for command in (["validate", "judgekit.yaml"], ["run"]):
        ran = run(*command)
        assert ran.code == 2
        said = " ".join((ran.out + ran.err).split())
        assert f"needs {package}, which is not installed" in said
        assert f'pip install "judgekit-llm[{extra}]"' in said


@pytest.mark.parametrize("command", [["view"], ["view", "--export", "site"]])
def test_the_viewer_without_its_extra_names_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setitem(sys.modules, "starlette", None)
    ran = run(*command)
    assert ran.code == 2
    assert "judgekit view needs starlette, which is not installed" in ran.err
    assert 'pip install "judgekit-llm[view]"' in ran.err
    assert list(tmp_path.iterdir()) == []
