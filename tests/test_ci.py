"""The GitHub action and the workflows of docs/ci.md do what they promise: their scripts are run.

The scripts run in a fresh folder with the files that GitHub gives a job. `pip` is a stand-in that
records what it would install, and GitHub's client is an object that records its calls.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[1]
ACTION = ROOT / ".github" / "actions" / "judgekit" / "action.yml"
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
SHA = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")

RUBRIC = """name: policy
pass_threshold: 0.5
criteria: [{name: right, question: Is it right?, scale: binary}]
"""
SUITE = """name: support
rubric: rubric.yaml
judge: {model: "recorded:replies.jsonl"}
variants: [{id: v1, outputs: outputs.jsonl}]
dataset: cases.jsonl
"""
N_CASES = 20

pytestmark = [
    pytest.mark.no_cover,  # in processes of their own
    pytest.mark.skipif(which("bash") is None, reason="the action's scripts are for bash"),
]


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def write_suite(folder: Path, n_wrong: int) -> None:
    """A suite whose judge finds some of the answers wrong."""
    folder.mkdir(exist_ok=True)
    (folder / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    (folder / "judgekit.yaml").write_text(SUITE, encoding="utf-8")
    ids = [f"case-{number}" for number in range(N_CASES)]
    write_rows(folder / "cases.jsonl", [{"id": name, "input": "Can I return it?"} for name in ids])
    outputs = [{"case_id": name, "variant": "v1", "text": "Yes, @ada."} for name in ids]
    write_rows(folder / "outputs.jsonl", outputs)
    answers = [
        {"reasoning": "It states the policy." if right else "Wrong.", "score": int(right)}
        for right in (number >= n_wrong for number in range(N_CASES))
    ]
    write_rows(
        folder / "replies.jsonl",
        [
            {"case_id": name, "variant": "v1", "criterion": "right", "text": json.dumps(answer)}
            for name, answer in zip(ids, answers, strict=True)
        ],
    )


class Job:
    """A job of GitHub Actions, as far as scripts see it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.summary = folder / "summary"
        self.output = folder / "output"
        tools = folder / "bin"
        tools.mkdir()
        (folder / "temp").mkdir()
        python = Path(sys.executable)
        for name in ("python", "judgekit"):
            (tools / name).symlink_to(python.with_name(name))
        self.env = {
            "PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "COLUMNS": "80",
            "HOME": str(folder), "RUNNER_TEMP": str(folder / "temp"), "PYTHONUTF8": "1",
            "GITHUB_OUTPUT": str(self.output), "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_ACTION_PATH": str(ACTION.parent),
        }  # fmt: skip

    def bash(self, script: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run a script as the runner does with `shell: bash`."""
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.workspace, env=self.env | env, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def act(self, **inputs: str) -> int:
        """Run the action's scripts one after the other; the exit code of the first that fails."""
        action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
        given = {name: one["default"] for name, one in action["inputs"].items()} | inputs
        for step in action["runs"]["steps"]:
            if "run" not in step or not _is_wanted(step, given):
                continue
            known = {f"inputs.{name}": value for name, value in given.items()} | self._outputs()
            env = {name: _filled(text, known) for name, text in step.get("env", {}).items()}
            ran = self.bash(step["run"], **env)
            if ran.returncode:
                return ran.returncode
        return 0

    def _outputs(self) -> dict[str, str]:
        text = self.output.read_text("utf-8") if self.output.exists() else ""
        pairs = (line.partition("=") for line in text.splitlines())
        return {f"steps.run.outputs.{name}": value for name, _, value in pairs}


def _is_wanted(step: Mapping[str, Any], inputs: Mapping[str, str]) -> bool:
    condition = step.get("if")
    if condition is None:
        return True
    named = re.fullmatch(r"inputs\.(\w+) != ''", condition)
    assert named is not None, condition
    return bool(inputs[named[1]])


def _filled(text: str, known: Mapping[str, str]) -> str:
    facts = {"github.server_url": "https://git.example", "github.repository": "o/r"}
    facts |= {"github.run_id": "7"}
    return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: {**facts, **known}[found[1]], text)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


def documented(name: str) -> dict[Any, Any]:
    """A file of the page, as YAML."""
    found = re.search(rf"^`{re.escape(name)}`:\n```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, name
    whole: dict[Any, Any] = yaml.safe_load(found[1])
    return whole


def test_a_worse_pull_request_fails_and_its_comment_says_by_how_much(job: Job) -> None:
    write_suite(job.workspace, n_wrong=12)
    write_suite(job.workspace / ".base", n_wrong=1)
    assert job.act(install="none", base=".base", arguments="--frozen --max-drop 0.05") == 1
    folder = job.workspace / "judgekit-report"
    comment = (folder / "comment.md").read_text("utf-8")
    assert comment.startswith("## judgekit: ❌ failed: quality is below the gate\n\n### `v1`\n")
    assert "**this branch is worse than base: mean value -0.55 \\[-0." in comment
    assert "| pass rate | 20 | 0.950 | 0.400 | -0.550 \\[" in comment
    assert "- **worse** case-1: 1.00 → 0.00\n  - right 0: Wrong." in comment
    assert "(https://git.example/o/r/actions/runs/7)" in comment
    summary = job.summary.read_text("utf-8")
    assert summary.startswith(comment)
    assert "**Gate failed. v1 passed 8/20**" in summary
    suites = ET.parse(folder / "junit.xml").getroot()  # noqa: S314 - judgekit wrote it
    assert len(list(suites.iter("failure"))) == N_CASES - 8
    assert (folder / "report.html").stat().st_size > 0


def test_without_a_base_the_comment_has_the_run_and_a_broken_suite_ends_with_2(job: Job) -> None:
    write_suite(job.workspace, n_wrong=1)
    assert job.act(install="none") == 0
    comment = (job.workspace / "judgekit-report" / "comment.md").read_text("utf-8")
    assert comment.startswith("## judgekit: ✅ passed\n\nThere is no run of the base branch")
    assert "v1 passed 19/20" in comment
    job.output.unlink()
    (job.workspace / "judgekit-report" / "results.jsonl").unlink()
    assert job.act(install="none", suite="none.yaml") == 2
    comment = (job.workspace / "judgekit-report" / "comment.md").read_text("utf-8")
    assert comment.startswith("## judgekit: ❌ error: a file, setting or option is invalid\n")


def test_the_scripts_of_gitlab_run(job: Job) -> None:
    write_suite(job.workspace, n_wrong=0)
    write_rows(job.workspace / "judge-cache.jsonl", [])
    steps = documented(".gitlab-ci.yml")["judgekit"]
    (job.folder / "bin" / "pip").write_text('#!/bin/sh\necho "$@" > pip.txt\n')
    (job.folder / "bin" / "pip").chmod(0o755)
    git = "git -c user.name=a -c user.email=a@example.org"
    job.bash(f"git init -q && git add . && {git} commit -qm base").check_returncode()
    head = job.bash("git rev-parse HEAD").stdout.strip()
    env = {name: str(value) for name, value in steps["variables"].items()}
    env["CI_MERGE_REQUEST_DIFF_BASE_SHA"] = head
    before = job.bash("\n".join([*steps["before_script"], *steps["script"]]), **env)
    assert before.returncode == 0, before.stderr
    assert "Gate passed. v1 passed 20/20" in (job.workspace / "summary.md").read_text("utf-8")
    assert "judgekit-llm @ git+https://" in (job.workspace / "pip.txt").read_text()
    job.bash("\n".join(steps["after_script"]), **env).check_returncode()
    for name in steps["artifacts"]["paths"]:
        assert (job.workspace / name).stat().st_size > 0


def test_what_runs_code_of_a_pull_request_cannot_write_and_has_no_secret() -> None:
    work, comment = (
        documented(f".github/workflows/{name}.yml") for name in ("judgekit", "judgekit-comment")
    )
    # YAML 1.1, which PyYAML reads, takes the key `on` for a truth value.
    assert work[True] == "pull_request"
    assert work["permissions"] == {"contents": "read"}
    assert "permissions" not in work["jobs"]["judgekit"]
    assert "{{ secrets" not in PAGE
    action = ACTION.read_text(encoding="utf-8")
    scripts = [step["run"] for step in yaml.safe_load(action)["runs"]["steps"] if "run" in step]
    assert not any("${{" in script for script in scripts)
    assert [*comment[True]] == ["workflow_run"]
    assert comment["permissions"] == {}
    steps = comment["jobs"]["comment"]["steps"]
    assert not any("run" in step or "checkout" in step["uses"] for step in steps)
    uses = re.findall(r"uses: (\S+)", PAGE + action)
    assert all(SHA.fullmatch(one) for one in uses if not one.startswith("OWNER/"))


FAKE_GITHUB = """
const calls = [];
const list = (name, rows) => Object.assign(() => {}, {rows});
const github = {
  paginate: async (route, options) => { calls.push(options); return route.rows; },
  rest: {
    pulls: {list: list('pulls', PULLS)},
    issues: {
      listComments: list('comments', COMMENTS),
      createComment: async (one) => calls.push({created: one}),
      updateComment: async (one) => calls.push({updated: one}),
    },
  },
};
const context = {
  repo: {owner: 'o', repo: 'r'},
  payload: {workflow_run: {
    head_sha: 'abc', head_branch: 'fix', head_repository: {owner: {login: 'fork'}},
  }},
};
const core = {notice: (text) => calls.push({notice: text})};
(async () => {SCRIPT})().then(() => console.log(JSON.stringify(calls)));
"""


@pytest.mark.skipif(which("node") is None, reason="Node.js is not installed")
def test_the_comment_is_written_once_as_text_and_only_on_the_pull_request_of_the_commit(
    tmp_path: Path,
) -> None:
    script = documented(".github/workflows/judgekit-comment.yml")["jobs"]["comment"]["steps"][1]
    file = tmp_path / "comment.md"
    file.write_text("Thanks, @ada.\n" + "x" * 70_000, encoding="utf-8")

    def calls(sha: str, comments: list[dict[str, Any]]) -> Any:
        pulls = [{"number": 8, "head": {"sha": "other"}}, {"number": 9, "head": {"sha": sha}}]
        parts = {"PULLS": pulls, "COMMENTS": comments}
        code = FAKE_GITHUB.replace("SCRIPT", script["with"]["script"])
        for name, value in parts.items():
            code = code.replace(name, json.dumps(value))
        ran = subprocess.run(
            ["node", "-e", code], env={**os.environ, "FILE": str(file)},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return json.loads(ran.stdout)

    looked, _, new = calls("abc", [{"id": 1, "user": {"type": "User"}, "body": "Hello"}])
    assert looked["head"] == "fork:fix"
    assert new["created"]["issue_number"] == 9
    assert new["created"]["body"].startswith("<!-- judgekit -->\nThanks, @\u200bada.")
    assert len(new["created"]["body"]) < 65_536
    own = {"id": 5, "user": {"type": "Bot"}, "body": "<!-- judgekit -->\nold"}
    assert calls("abc", [own])[-1]["updated"]["comment_id"] == 5
    assert calls("gone", [])[-1] == {"notice": "No open pull request has this commit."}
