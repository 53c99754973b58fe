"""Custom assertions and scorers: a suite's Python and JavaScript files, run with limits.

Python files are run by `script_runner`, in a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import shutil
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pydantic import JsonValue, ValidationError, model_validator

from judgekit.assertions.parsers import read_json
from judgekit.assertions.registry import UndecidedError, assertion, scorer
from judgekit.assertions.selection import first_fault
from judgekit.records import AssertionResult, Case, Fraction, JsonObject, Name, Record, Score
from judgekit.registry import RegistryEntry
from judgekit.subprocess import ProcessFailedError, ProcessLimits, run_process, scrub_environment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from judgekit.records import Output

# The assertion and the scorer that run a script.
SCRIPT_NAME = "custom.script"
_PYTHON = frozenset({".py"})
_JAVASCRIPT = frozenset({".js", ".cjs", ".mjs"})
_HERE = Path(__file__).parent

# The script's parent is this shell and not judgekit, in case the script signals its parent.
_GUARDED = ("/bin/sh", "-c", '"$@"; exit $?', "sh")
_NODE_OWN_BYTES = 512 << 20
_SIGNAL_BASE = 128
_SIGNALS = {each.value: each.name for each in signal.Signals}
_NO_BUFFER = "Array buffer allocation failed"
_ERROR_LINE = re.compile(r"\[?[\w.]*(?:Error|Exception|Interrupt|Rejection)\b")

# The last line that Node writes below an error.
_SIGNATURE = "Node.js v"
_SHOWN = 200


class ScriptFailedError(UndecidedError):
    """A script gave no answer; the check is an error, never a fail.

    Its message includes what to do about it, because a result shows it on one line.
    """


@dataclass(frozen=True, slots=True)
class ScriptSettings:
    """Whether, where and within which limits scripts run; a case file cannot change them."""

    # The suite's folder: scripts must be in it, and it is their working folder.
    folder: Path
    is_allowed: bool = False
    timeout_s: float = 30
    # For JavaScript the memory of its heap.
    memory_bytes: int = 512 << 20
    # How much it may write to stdout, and as much to stderr.
    output_bytes: int = 10 << 20
    environment: Mapping[str, str] = field(default_factory=dict)
    node: str = "node"


async def run_script(
    script: str,
    output: Output,
    *,
    settings: ScriptSettings,
    case: Case | None = None,
    params: JsonObject | None = None,
) -> ScriptAnswer:
    # It gets `{"output": …, "case": …, "params": …}`: as arguments of the function
    # `evaluate(output, case, params)` that it defines (`module.exports` in JavaScript; it may take
    # fewer), or as JSON on stdin where it defines none. It answers with `{"passed": …, "value": …,
    # "message": …}`, with a truth value, or with a number on [0, 1]; as the value it returns, or as
    # JSON on stdout.
    path = find_script(script, settings)
    if path.suffix.lower() in _PYTHON:
        runner, own = [sys.executable, "-I", "-B", str(_HERE / "script_runner.py")], 0
    else:
        heap = max(1, settings.memory_bytes >> 20)
        runner = [settings.node, f"--max-old-space-size={heap}", str(_HERE / "script_runner.cjs")]
        own = _NODE_OWN_BYTES  # threads and compiler need memory beside the heap
    limits = ProcessLimits(
        timeout_s=settings.timeout_s,
        memory_bytes=settings.memory_bytes + own,
        output_bytes=settings.output_bytes,
        stderr_bytes=settings.output_bytes,  # which is where a function's prints go
        cpu_s=math.ceil(settings.timeout_s) + 1,
    )
    request = {
        "output": output.to_json(),
        "case": None if case is None else case.to_json(),
        "params": params or {},
    }
    command = [*_GUARDED, *runner, str(path), str(settings.output_bytes)]
    try:
        stdout = await run_process(
            command,
            json.dumps(request).encode("ascii"),
            limits=limits,
            environment=scrub_environment(settings.environment),
            folder=settings.folder.resolve(),
        )
    except ProcessFailedError as error:
        raise _failure(script, error, settings) from error
    return read_script_answer(stdout, script)


def script_entries(settings: ScriptSettings) -> tuple[RegistryEntry, RegistryEntry]:
    """The assertion and the scorer `custom.script`, for the registries of a run."""
    # A spec names the script and its parameters: `{"type": "custom.script", "script":
    # "checks/tone.py", "params": {…}, "threshold": 0.7}`.

    def answer_of(
        script: str, output: Output, case: Case | None, params: JsonObject | None
    ) -> ScriptAnswer:
        running = run_script(script, output, settings=settings, case=case, params=params)
        # In a thread of its own, because the caller may run in an event loop.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, running).result()

    @assertion(SCRIPT_NAME)
    def script_holds(
        output: Output,
        *,
        script: Name,
        params: JsonObject | None = None,
        threshold: Fraction | None = None,
        case: Case | None = None,
    ) -> AssertionResult:
        """Pass when the script answers that the output passes."""
        answer = answer_of(script, output, case, params)
        passed = answer.passed
        if passed is None and threshold is not None and answer.value is not None:
            passed = answer.value >= threshold
        if passed is None:
            raise ScriptFailedError(
                f"{script!r} gave the value {answer.value}, and no threshold from which it passes; "
                "set `threshold`, or let it answer with `passed` too"
            )
        message = answer.message or f"{script} says it {'holds' if passed else 'does not hold'}"
        return AssertionResult(
            passed=passed, actual=answer.actual, value=answer.value, message=message
        )

    @scorer(SCRIPT_NAME)
    def script_score(
        output: Output, *, script: Name, params: JsonObject | None = None, case: Case | None = None
    ) -> Score:
        """The value of the script's answer."""
        answer = answer_of(script, output, case, params)
        value = float(bool(answer.passed)) if answer.value is None else answer.value
        return Score(
            name=SCRIPT_NAME, value=value, raw=answer.value, method=script, message=answer.message
        )

    return RegistryEntry(SCRIPT_NAME, script_holds), RegistryEntry(SCRIPT_NAME, script_score)


def find_script(script: str, settings: ScriptSettings) -> Path:
    """The file of a script that may run."""
    if not settings.is_allowed:
        raise ScriptFailedError(
            f"the script {script!r} was not run, because scripts are not allowed; read it, then "
            "run again with --allow-scripts (allow_scripts=True)"
        )
    folder = settings.folder.resolve()
    try:
        path = (folder / script).resolve()
        is_file = path.is_file()
    except (OSError, ValueError, RuntimeError) as error:
        raise ScriptFailedError(f"{script!r} is no path: {error}") from error
    if not path.is_relative_to(folder):
        raise ScriptFailedError(
            f"the script {script!r} lies outside of {folder}; put it into the suite's folder"
        )
    if not is_file:
        raise ScriptFailedError(f"there is no script {script!r} in {folder}")
    suffix = path.suffix.lower()
    if suffix not in _PYTHON | _JAVASCRIPT:
        raise ScriptFailedError(
            f"{path.name} is in an unknown language; scripts are .py, .js, .cjs or .mjs files"
        )
    environment = scrub_environment(settings.environment)
    if suffix in _JAVASCRIPT and shutil.which(settings.node, path=environment.get("PATH")) is None:
        raise ScriptFailedError(
            f"{path.name} needs Node.js, and no program {settings.node!r} was found; install "
            "Node.js, or write the script in Python"
        )
    return path


def named_scripts(specs: Iterable[object]) -> Iterator[str]:
    """The scripts that assertions and scorers name, also within groups."""
    for spec in specs:
        if not isinstance(spec, dict):
            continue
        if str(spec.get("type")).removeprefix("not-") == SCRIPT_NAME and "script" in spec:
            yield str(spec["script"])
        for name in ("assert", "assertions"):
            members = spec.get(name)
            if isinstance(members, list | tuple):
                yield from named_scripts(members)


def read_script_answer(stdout: bytes, script: str) -> ScriptAnswer:
    text = stdout.decode("utf-8", errors="replace").strip()
    try:
        return ScriptAnswer.model_validate(read_json(text))
    except ValidationError as error:
        why = first_fault(error)
    except (ValueError, RecursionError) as error:
        why = "it wrote nothing" if not text else f"not JSON ({error})"
    raise ScriptFailedError(
        f"the answer of {script!r} cannot be read: {why}: {text[:_SHOWN]!r}; answer "
        '{"passed": true or false, "value": 0 to 1, "message": "why"}'
    )


def _failure(script: str, error: ProcessFailedError, settings: ScriptSettings) -> ScriptFailedError:
    message = error.message
    # The shell around the script reports a signal as an exit code above 128.
    name = _SIGNALS.get((error.exit_code or 0) - _SIGNAL_BASE)
    if error.kind == "memory" or _NO_BUFFER in error.stderr:
        most = settings.memory_bytes / 2**20
        message = f"it needed more than {most:.4g} MiB of memory"
    elif error.kind == "exit" and name is not None:
        message = f"it was killed by {name}"
    # The last line that names an error explains the failure best, or else the last line.
    lines = [line.strip() for line in error.stderr.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(_SIGNATURE)]
    named = [line for line in lines if _ERROR_LINE.match(line)] or lines
    if named and error.kind != "too_large":
        message = f"{message}: {named[-1][:_SHOWN]}"
    if error.kind == "timeout":
        message += "; give it more time with timeout_s"
    return ScriptFailedError(f"the script {script!r} failed: {message}")


_ALIASES = {"pass": "passed", "score": "value", "reason": "message", "feedback": "message"}


class ScriptAnswer(Record):
    """The answer of an evaluation script; `passed`, `value` or both are set."""

    passed: bool | None = None
    value: Fraction | None = None
    message: str = ""
    actual: JsonValue = None

    @model_validator(mode="before")
    @classmethod
    def _reads_short_forms(cls, answer: object) -> object:
        # A bool is a number to Python, so it is tested first.
        if isinstance(answer, bool):
            return {"passed": answer}
        if isinstance(answer, int | float):
            return {"value": answer}
        if not isinstance(answer, dict):
            raise ValueError("an answer is an object, a truth value or a number")  # noqa: TRY004
        known: dict[str, object] = {}
        for name, value in answer.items():
            field = _ALIASES.get(name, name)
            if field in cls.model_fields:
                known.setdefault(field, value)
        return known

    @model_validator(mode="after")
    def _has_a_verdict(self) -> Self:
        if self.passed is None and self.value is None:
            raise ValueError("an answer has `passed`, `value`, or both")
        return self
