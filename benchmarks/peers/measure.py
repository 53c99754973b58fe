"""What a tool takes: runs of its runner in new processes, against servers that count."""

from __future__ import annotations

import json
import math
import os
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.material import answers, one_criterion
from benchmarks.peers.job import Item, Job, Question
from benchmarks.peers.replies import answer, level
from benchmarks.peers.tools import ROOT, Tool
from benchmarks.timing import QUIET, child_cpu_s
from judgekit.models.pricing import count_tokens
from judgekit.testing import ChaosServer

if TYPE_CHECKING:
    from collections.abc import Sequence

LATENCY_S, FAULTY_LATENCY_S = 0.1, 0.02
SHARE_LIMITED = 0.05
IN_FLIGHT = 64
TIMEOUT_S = 300
N_WARM_UP = 8

QUESTIONS = {
    "correctness": "Does the answer give the customer the right rules for a return, and all?",
    "tone": "Is the tone of the answer friendly and to the point?",
    "usefulness": "Can the customer act on the answer without asking again?",
}
"""By criterion; the first is asked where there is one."""

ENVIRONMENT = {
    **QUIET,
    "PYTHONPATH": str(ROOT),
    "OPENAI_API_KEY": "none",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "RAGAS_DO_NOT_TRACK": "true",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "NO_COLOR": "1",
}
"""Nothing leaves this machine, and nothing but judging is timed."""


class ToolError(Exception):
    """A tool did not do the job; what it took is no figure then."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a runner reported, and how many requests the server got."""

    scores: dict[str, list[float | None]]
    wall_s: float
    cpu_s: float
    process_cpu_s: float
    peak_mib: float
    n_requests: int


def items(n: int, *, first: int = 0) -> list[Item]:
    """Outputs to judge, numbered from `first`; no two are alike."""
    return [
        Item(
            id=case.id or "",
            question=str(case.input),
            reference=str(case.reference),
            answer=output.text or "",
        )
        for case, output in answers(n, first=first)
    ]


def cold(tool: Tool, n: int) -> Report:
    """Judge what was never asked; judgekit with its cache, the others without theirs."""
    with tempfile.TemporaryDirectory() as folder, _server(tool, latency_s=LATENCY_S) as server:
        cache = Path(folder) if tool.runner == "judgekit" else None
        return _checked(tool, _run(tool, server, n, cache=cache), n, n_requests=n + N_WARM_UP)


def warm(tool: Tool, n: int) -> Report:
    """Judge again, in another process, what the tool's cache holds."""
    # The same server, since its address is a part of what is asked.
    with tempfile.TemporaryDirectory() as folder, _server(tool) as server:
        for n_requests in (n + N_WARM_UP, None):
            report = _run(tool, server, n, cache=Path(folder))
            _checked(tool, report, n, n_requests=n_requests)
    return report


def first(tool: Tool) -> Report:
    """Start, and judge one item."""
    with _server(tool) as server:
        return _checked(tool, _run(tool, server, 1, n_warm_up=0), 1, n_requests=1)


def start_cpu_s(command: Sequence[str]) -> float:
    """CPU seconds of a process, the least of two; the first may compile modules."""
    with tempfile.TemporaryDirectory() as folder:
        settings = [f"{name}={value}" for name, value in {**ENVIRONMENT, "HOME": folder}.items()]
        return min(child_cpu_s(["env", *settings, *command], Path(folder)) for _ in range(2))


def faults(tool: Tool, n: int) -> tuple[int, int, float]:
    """How many items are right and how many lost where requests get 429, and the seconds."""
    with _server(tool, latency_s=FAULTY_LATENCY_S, share_limited=SHARE_LIMITED) as server:
        report = _run(tool, server, n, n_warm_up=0)
    scores = {item["id"]: (report.scores.get(item["id"]) or [None])[0] for item in items(n)}
    n_right = sum(_is_right(tool, name, score) for name, score in scores.items())
    return n_right, sum(score is None for score in scores.values()), report.wall_s


def tokens(tool: Tool, n: int) -> tuple[float, float, float]:
    """Of an item with three criteria, as received: calls, tokens of messages and of schemas."""
    with _server(tool, keep_requests=True) as server:
        report = _run(tool, server, n, n_warm_up=0, n_criteria=len(QUESTIONS))
        _checked(tool, report, n, n_requests=None)
        bodies = [request.body for request in server.requests]
    prompt = schema = 0
    for body in bodies:
        for message in body["messages"]:
            content = message.get("content") or ""
            parts = [content] if isinstance(content, str) else [one["text"] for one in content]
            prompt += sum(_n_tokens(part) for part in parts)
        wanted = [body.get(name) for name in ("response_format", "tools", "functions")]
        # As httpx and judgekit send it, without spaces.
        schema += sum(_n_tokens(json.dumps(one, separators=(",", ":"))) for one in wanted if one)
    return len(bodies) / n, prompt / n, schema / n


def _n_tokens(text: str) -> int:
    counted = count_tokens(text, "gpt-4")
    if not counted.source.startswith("tiktoken:"):
        raise ToolError(f"tokens cannot be counted: {counted.source} is all that is at hand")
    return counted.n


def _server(
    tool: Tool, *, latency_s: float = 0.0, share_limited: float = 0.0, keep_requests: bool = False
) -> ChaosServer:
    """A server in a process of its own, so that its CPU time is not the tool's."""
    script = partial(answer, tool=tool.runner, share_limited=share_limited)
    return ChaosServer(script, own_process=True, latency_s=latency_s, keep_requests=keep_requests)


def _run(
    tool: Tool,
    server: ChaosServer,
    n: int,
    *,
    cache: Path | None = None,
    n_warm_up: int = N_WARM_UP,
    n_criteria: int = 1,
) -> Report:
    """One run of a tool's runner in a folder, and with a home, of its own."""
    levels = sorted(one_criterion().criteria[0].scale.levels, key=lambda one: one.value)
    described = [one.description or "" for one in levels]
    criteria = [Question(name=c, question=QUESTIONS[c], levels=described) for c in QUESTIONS]
    n_before = server.n_requests
    with tempfile.TemporaryDirectory() as temporary:
        job = Job(
            url=server.url,
            items=items(n),
            warm_up=items(n_warm_up, first=n),
            criteria=criteria[:n_criteria],
            in_flight=IN_FLIGHT,
            cache=str(cache / "cache") if cache else None,
            option=tool.option,
        )
        took = _reported(tool, job, cache or Path(temporary))
    return Report(**took, n_requests=server.n_requests - n_before)


def _reported(tool: Tool, job: Job, folder: Path) -> dict[str, Any]:
    job_file, report_file = folder / "job.json", folder / "report.json"
    job_file.write_text(json.dumps(asdict(job)), encoding="utf-8")
    report_file.unlink(missing_ok=True)
    cache = str(folder / "cache")
    own = {"HOME": str(folder), "INSPECT_CACHE_DIR": cache, "PROMPTFOO_CACHE_PATH": cache}
    command = [*tool.judge_command, str(job_file), str(report_file), str(tool.folder)]
    environment = {**os.environ, **ENVIRONMENT, **own}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolError(str(error)) from error
    if not report_file.exists():
        lines = (done.stderr.strip() or done.stdout.strip() or "nothing was printed").splitlines()
        raise ToolError(f"the runner ended with {done.returncode}: {lines[-1]}")
    took: dict[str, Any] = json.loads(report_file.read_text(encoding="utf-8"))
    return took


def _checked(tool: Tool, report: Report, n: int, *, n_requests: int | None) -> Report:
    """The report, where every score is the one that the server gave."""
    for name, scores in report.scores.items():
        if not scores or not all(_is_right(tool, name, score) for score in scores):
            raise ToolError(f"{name} has the scores {scores}, not {_right(tool, name)}")
    if len(report.scores) != n:
        raise ToolError(f"scores of {len(report.scores)} items were reported, not of {n}")
    if n_requests not in {None, report.n_requests}:
        raise ToolError(f"{report.n_requests} requests were sent, not {n_requests}")
    return report


def _right(tool: Tool, name: str) -> float:
    return tool.scores[level(int(name.removeprefix("case-"))) - 4]


def _is_right(tool: Tool, name: str, score: float | None) -> bool:
    return score is not None and math.isclose(score, _right(tool, name), abs_tol=1e-9)
