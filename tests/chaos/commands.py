"""Commands that call judges, run as processes against a `ChaosServer`: their files, and results."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.testing import ChaosServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.testing import ServedReply, ServedRequest

IN_FLIGHT = 8
# Starting an interpreter takes a second of CPU time, and a fork of one that has imported everything
# none. What is read is a folder and a command line; what is written is the id of the process, and
# a line when it ended.
_FORKING = """
import importlib, json, os, pkgutil, sys
import judgekit
from judgekit.cli.main import main

for module in pkgutil.walk_packages(judgekit.__path__, "judgekit."):
    if not any(part in module.name for part in ("litellm", "pytest_plugin", "__main__")):
        importlib.import_module(module.name)
print("ready", flush=True)
for line in sys.stdin:
    folder, arguments = json.loads(line)
    if not (child := os.fork()):
        for number, mode in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
            os.dup2(os.open(os.devnull, mode), number)
        os.chdir(folder)
        main(arguments)
    print(child, flush=True)
    os.waitpid(child, 0)
    print("ended", flush=True)
"""
COMMANDS: dict[str, list[str]] = {
    "grade": ["grade", "a.jsonl", "--cases", "cases.jsonl", "--rubric", "rubric.yaml"],
    "run": ["run"],
    "compare": [
        "compare", "a.jsonl", "b.jsonl", "--cases", "cases.jsonl", "--rubric", "rubric.yaml",
    ],
    "calibrate": [
        "calibrate", "labels.jsonl", "--outputs", "a.jsonl", "--cases", "cases.jsonl",
        "--rubric", "rubric.yaml",
    ],
}  # fmt: skip
"""The commands that pay for judgments."""

_CRITERIA = ("right", "short")
# What differs from run to run although the results are equal.
_VOLATILE = re.compile(
    r"id|run|run_id|.*_at|duration_ms|latency_ms|spent|cached|.*_usd|n_replies|n_calls|calls|usage|"
    r"config|created|saved|money|store|findings|stored_as|key|replies|n_cached|progress|asked|judge_.*_tokens"
)


@dataclass
class Bench:
    """A folder with a suite, labels and outputs, and the server that plays the judge."""

    folder: Path
    server: ChaosServer

    def start(self, name: str, *more: str) -> subprocess.Popen[str]:
        """Start a command that calls the judge."""
        command = COMMANDS[name]
        judge = ["--judge", "openai/chaos", "--api-base", self.server.url, "-j", str(IN_FLIGHT)]
        arguments = [*command, *(judge if name != "run" else ()), "-q", "--json", *more]
        return self.judgekit(*arguments)

    def judgekit(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the command `judgekit`."""
        environment = {**os.environ, "NO_COLOR": "1", "OPENAI_API_KEY": "k", "COLUMNS": "100"}
        return subprocess.Popen(
            [sys.executable, "-m", "judgekit", *arguments],
            cwd=self.folder, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def result(self, name: str, *more: str) -> object:
        """What a command that runs to its end finds, without what differs from run to run."""
        out, err = self.start(name, *more).communicate(timeout=120)
        assert out, err
        return essence(json.loads(out))

    def forget(self) -> None:
        """Begin with an empty cache and store."""
        shutil.rmtree(self.folder / ".judgekit", ignore_errors=True)

    def damage(self) -> list[str]:
        """What is wrong with the cache and the store."""
        found = []
        for file in sorted((self.folder / ".judgekit").rglob("*.db")):
            with closing(sqlite3.connect(file)) as connection:
                found += [row for (row,) in connection.execute("PRAGMA integrity_check")]
        done = self.judgekit("cache", "verify")
        _, err = done.communicate(timeout=60)
        return [one for one in found if one != "ok"] + ([err] if done.returncode else [])


class Forks:
    """Runs commands one after the other in forks of one process, each to be killed."""

    def __init__(self) -> None:
        environment = {**os.environ, "OPENAI_API_KEY": "k"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _FORKING], env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self._expect("ready")

    def start(self, *arguments: str) -> int:
        """Start a command in this folder; the id of its process."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([str(Path.cwd()), arguments]) + "\n")
        self._process.stdin.flush()
        return int(self._line())

    def wait(self) -> None:
        """Wait for the end of the command."""
        self._expect("ended")

    def close(self) -> None:
        """End the process."""
        self._process.communicate(timeout=60)

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def _expect(self, word: str) -> None:
        assert (line := self._line()) == word, line


def essence(found: Any) -> Any:
    """The parts of a result that must not depend on how often it was interrupted."""
    if isinstance(found, dict):
        return {k: essence(v) for k, v in found.items() if not _VOLATILE.fullmatch(k)}
    return [essence(each) for each in found] if isinstance(found, list) else found


def judged(request: ServedRequest) -> str:
    """A verdict that depends on the request alone."""
    prompt = str(request.body["messages"])
    draw = int(sha256(prompt.encode()).hexdigest(), 16)
    reason = {"evidence": [], "rationale": "It is judged by its hash, and by nothing else."}
    if "evidence_first" in prompt:
        scores = {"score_first": 1 + draw % 10, "score_second": 1 + draw // 10 % 10}
        choice = ("first", "second", "tie")[draw % 3]
        pair = {"evidence_first": [], "evidence_second": [], "rationale": reason["rationale"]}
        return json.dumps({**pair, **scores, "preference": choice})
    return json.dumps({**reason, "score": 1 + draw % 5})


def lay_out(folder: Path, url: str, *, n_cases: int) -> None:
    """Write cases, outputs of two variants, labels, a rubric and a suite."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"c{number}" for number in range(n_cases)]
    rows: dict[str, list[dict[str, object]]] = {
        "cases": [{"id": name, "input": f"Question {name}?"} for name in names],
        "a": [{"case_id": name, "text": f"One answer to {name}."} for name in names],
        "b": [{"case_id": name, "text": f"Another answer to {name}."} for name in names],
        "labels": [
            {"case_id": name, "criterion": criterion, "annotator": "ada", "raw": 1 + place % 5}
            for place, name in enumerate(names)
            for criterion in _CRITERIA
        ],
    }
    for name, lines in rows.items():
        text = "\n".join(map(json.dumps, lines))
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    scale = {"min": 1, "max": 5}
    criteria = [{"name": c, "question": f"Is it {c}?", "scale": scale} for c in _CRITERIA]
    rubric = {"name": "chaos", "criteria": criteria}
    suite = {
        "name": "chaos", "dataset": "cases.jsonl", "rubric": "rubric.yaml",
        "judge": {"model": "openai/chaos", "api_base": url, "max_concurrency": IN_FLIGHT},
        "variants": [{"id": name, "outputs": f"{name}.jsonl"} for name in ("a", "b")],
    }  # fmt: skip
    (folder / "rubric.yaml").write_text(json.dumps(rubric), encoding="utf-8")
    (folder / "judgekit.yaml").write_text(json.dumps(suite), encoding="utf-8")


def serving(
    folder: Path,
    script: Callable[[ServedRequest], str | ServedReply] | None = None,
    *,
    n_cases: int,
    latency_s: float = 0.01,
) -> tuple[ChaosServer, Callable[[], Bench]]:
    """A server to be entered, and what lays a bench out once it has a port."""
    server = ChaosServer(script, reply=judged, latency_s=latency_s, keep_requests=False)

    def bench() -> Bench:
        lay_out(folder, server.url, n_cases=n_cases)
        return Bench(folder, server)

    return server, bench
