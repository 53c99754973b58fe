"""Custom assertions and scorers: a suite's Python and JavaScript files, run with limits.

Python files are run by `script_runner`, in a process of its own. Functions and code of other
tools' files are called with arguments: by `script_runner` too, and by `call_runner.cjs`.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import shlex
import shutil
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, TypeVar

from pydantic import JsonValue, ValidationError, model_validator

from judgekit.assertions.parsers import read_json
from judgekit.assertions.registry import UndecidedError, assertion, make_result, scorer
from judgekit.assertions.selection import first_fault
from judgekit.errors import DatasetError
from judgekit.formats import code_caller
from judgekit.records import (
    AssertionResult,
    Case,
    Finite,
    Fraction,
    JsonObject,
    Name,
    Record,
    Score,
    meets_threshold,
)
from judgekit.registry import RegistryEntry
from judgekit.subprocess import ProcessFailedError, ProcessLimits, run_process, scrub_environment

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence

    from judgekit.records import Output

_T = TypeVar("_T")

# The assertion and the scorer that run a script.
SCRIPT_NAME = "custom.script"
# The assertion that calls code of a promptfoo configuration.
CODE_NAME = "custom.code"
CODE_PREFIX = "code:"
"""What a prompt or a model that is a function of a file begins with."""

_PROGRAM: Literal["exec"] = "exec"
"""The language of a command line, and what it begins with in a name."""

_PYTHON = frozenset({".py"})
_JAVASCRIPT = frozenset({".js", ".cjs", ".mjs", ".ts", ".cts", ".mts"})
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
    request: JsonObject = {
        "output": output.to_json(),
        "case": None if case is None else case.to_json(),
        "params": params or {},
    }
    return read_script_answer(await _run(path, script, request, settings), script)


async def _run(path: Path, script: str, request: JsonObject, settings: ScriptSettings) -> bytes:
    if path.suffix.lower() in _PYTHON:
        runner, own = [sys.executable, "-I", "-B", str(_HERE / "script_runner.py")], 0
    else:
        heap = max(1, settings.memory_bytes >> 20)
        runner = [settings.node, f"--max-old-space-size={heap}", str(_HERE / "script_runner.cjs")]
        own = _NODE_OWN_BYTES  # threads and compiler need memory beside the heap
    command = [*_GUARDED, *runner, str(path), str(settings.output_bytes)]
    try:
        return await _limited(command, json.dumps(request).encode("ascii"), settings, own)
    except ProcessFailedError as error:
        raise _failure(script, error, settings) from error


async def _limited(
    command: Sequence[str], stdin: bytes, settings: ScriptSettings, own_bytes: int = 0
) -> bytes:
    """What a command writes within the limits of a script and what its runner needs itself."""
    limits = ProcessLimits(
        timeout_s=settings.timeout_s,
        memory_bytes=settings.memory_bytes + own_bytes,
        output_bytes=settings.output_bytes,
        stderr_bytes=settings.output_bytes,  # which is where a function's prints go
        cpu_s=math.ceil(settings.timeout_s) + 1,
    )
    return await run_process(
        command,
        stdin,
        limits=limits,
        environment=scrub_environment(settings.environment),
        folder=settings.folder.resolve(),
    )


class CodeCall(Record):
    """A function of a file, code in a text, or a command line, that another tool's file names."""

    language: Literal["python", "javascript", "exec"]
    file: Name | None = None
    function: str | None = None
    code: str | None = None

    @property
    def title(self) -> str:
        """What messages call it."""
        if self.language == _PROGRAM:
            return f"{_PROGRAM}:{self.code}"
        return self.file or f"{self.language} code"

    @classmethod
    def named(cls, name: str, *, function: str | None = None) -> Self:
        """The function of a name such as `code:provider.py:call_api`; a default one for Python.

        `code:exec:python chain.py` is a command line.
        """
        path, _, own = name.removeprefix(CODE_PREFIX).partition(":")
        if path == _PROGRAM:
            return cls(language=_PROGRAM, code=own)
        is_python = Path(path).suffix.lower() in _PYTHON
        language: Literal["python", "javascript"] = "python" if is_python else "javascript"
        return cls(language=language, file=path, function=own or (function if is_python else None))


def run_code(
    call: CodeCall,
    arguments: Mapping[str, JsonValue],
    settings: ScriptSettings,
    *,
    provider: JsonObject | None = None,
) -> JsonValue:
    """What a function returns for arguments, which code knows by their names."""
    if call.language == _PROGRAM:
        return _run_program(call, arguments, settings)
    if call.file is not None:
        find_script(call.file, settings)
    elif not settings.is_allowed:
        raise ScriptFailedError(_not_allowed(call.title))
    params: JsonObject = {"names": [*arguments], "arguments": [*arguments.values()]}
    params |= call.to_json() | ({} if provider is None else {"provider": provider})
    runner = _HERE / ("script_runner.py" if call.language == "python" else "call_runner.cjs")
    running = _run(runner, call.title, {"output": None, "case": None, "params": params}, settings)
    answer = _in_thread(running)
    try:
        found: JsonValue = json.loads(answer)
    except ValueError as error:
        raise ScriptFailedError(f"{call.title} returned no JSON: {error}") from error
    return found


@contextmanager
def tests_by_code(*, is_allowed: bool) -> Iterator[None]:
    """Where scripts are allowed, let code make tests while a file is read."""
    # A command reads a file several times, but its code runs once.
    made: dict[str, JsonValue | DatasetError] = {}

    def caller(call: JsonObject, arguments: JsonObject, folder: Path) -> JsonValue:
        key = json.dumps([str(folder.resolve()), call, arguments])
        if key not in made:
            settings = ScriptSettings(folder, is_allowed=True)
            try:
                made[key] = run_code(CodeCall.model_validate(call), arguments, settings)
            except ScriptFailedError as error:
                made[key] = DatasetError(str(error))
        if isinstance(found := made[key], DatasetError):
            raise found
        return found

    before = code_caller.set(caller if is_allowed else None)
    try:
        yield
    finally:
        code_caller.reset(before)


def _in_thread(running: Coroutine[object, object, _T]) -> _T:
    """The result of a coroutine in a loop of its own, as the caller may run in one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, running).result()


def _run_program(
    call: CodeCall, arguments: Mapping[str, JsonValue], settings: ScriptSettings
) -> str:
    """What a program writes that gets the arguments on its command line, objects as JSON."""
    if not settings.is_allowed:
        raise ScriptFailedError(_not_allowed(call.title))
    texts = [one if isinstance(one, str) else json.dumps(one) for one in arguments.values()]
    try:
        command = [*_GUARDED, *shlex.split(call.code or ""), *texts]
        return _in_thread(_limited(command, b"", settings)).decode("utf-8").strip()
    except ProcessFailedError as error:
        raise _failure(call.title, error, settings) from error
    except ValueError as error:
        raise ScriptFailedError(f"{call.title}: {error}") from error


def script_entries(settings: ScriptSettings) -> tuple[RegistryEntry, RegistryEntry, RegistryEntry]:
    """The assertion and the scorer `custom.script`, and the assertion `custom.code`, of a run."""
    # A spec names the script and its parameters: `{"type": "custom.script", "script":
    # "checks/tone.py", "params": {…}, "threshold": 0.7}`.

    def answer_of(
        script: str, output: Output, case: Case | None, params: JsonObject | None
    ) -> ScriptAnswer:
        return _in_thread(run_script(script, output, settings=settings, case=case, params=params))

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
            passed = meets_threshold(answer.value, threshold)
        if passed is None:
            raise ScriptFailedError(
                f"{script!r} gave the value {answer.value}, and no threshold from which it passes; "
                "set `threshold`, or let it answer with `passed` too"
            )
        message = answer.message or f"{script} says it {'holds' if passed else 'does not hold'}"
        return make_result(passed, answer.actual, message, answer.value)

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

    holds, score = (RegistryEntry(SCRIPT_NAME, each) for each in (script_holds, script_score))
    return holds, score, _code_entry(settings)


def _code_entry(settings: ScriptSettings) -> RegistryEntry:
    @assertion(CODE_NAME)
    def code_holds(
        output: Output,
        *,
        call: CodeCall,
        config: JsonObject | None = None,
        threshold: Finite | None = None,
        case: Case | None = None,
    ) -> AssertionResult:
        """Pass when the code of a promptfoo configuration returns that the output passes."""
        value = output.text if output.data is None else output.data
        context = code_context(case) | {"config": config or {}}
        found = run_code(call, {"output": value, "context": context}, settings)
        return _code_result(found, call, threshold)

    return RegistryEntry(CODE_NAME, code_holds)


def code_context(case: Case | None) -> JsonObject:
    """What promptfoo's functions get beside an output, as far as a case has it."""
    own = None if case is None else case.input
    metadata = {} if case is None else dict(case.metadata)
    own = own if isinstance(own, dict) else metadata.get("variables")
    variables: JsonObject = own if isinstance(own, dict) else {}
    test: JsonObject = {"vars": variables, "metadata": metadata}
    return {"vars": variables, "test": test, "metadata": metadata, "prompt": None}


def _code_result(found: JsonValue, call: CodeCall, threshold: float | None) -> AssertionResult:
    """The result of code: a truth value, a number, or an object with `pass`, `score`, `reason`."""
    score, passed, reason = found, found, ""
    if isinstance(found, dict):
        score, passed = found.get("score"), found.get("pass", found.get("pass_"))
        reason = str(found.get("reason") or "")
    if isinstance(score, bool) or not isinstance(score, int | float):
        score = None
    if score is not None and not isinstance(found, dict):
        passed = score > 0 if threshold is None else score >= threshold
    # promptfoo takes the `pass` of an object as it is where JavaScript returns it.
    elif score is not None and threshold is not None and call.language == "python":
        passed = bool(passed) and score >= threshold
    if not isinstance(passed, bool):
        raise ScriptFailedError(
            f"{call.title} returned {json.dumps(found)[:_SHOWN]}; it returns a truth value, a "
            "number, or an object with `pass`, `score` and `reason`"
        )
    # A number beyond [0, 1] decides, but is no share of anything.
    value = score if score is not None and 0 <= score <= 1 else None
    reason = reason or f"{call.title} returned {json.dumps(found)[:_SHOWN]}"
    return AssertionResult(passed=passed, actual=score, value=value, message=reason)


def find_script(script: str, settings: ScriptSettings) -> Path:
    """The file of a script that may run."""
    if not settings.is_allowed:
        raise ScriptFailedError(_not_allowed(script))
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
            f"{path.name} is in an unknown language; scripts are .py, .js, .cjs, .mjs or .ts files"
        )
    environment = scrub_environment(settings.environment)
    if suffix in _JAVASCRIPT and shutil.which(settings.node, path=environment.get("PATH")) is None:
        raise ScriptFailedError(
            f"{path.name} needs Node.js, and no program {settings.node!r} was found; install "
            "Node.js, or write the script in Python"
        )
    return path


def _not_allowed(script: str) -> str:
    return (
        f"the script {script!r} was not run, because scripts are not allowed; read it, then "
        "run again with --allow-scripts (allow_scripts=True)"
    )


def named_scripts(specs: Iterable[object]) -> Iterator[str]:
    """The scripts that assertions and scorers name, also within groups."""
    for spec in specs:
        if not isinstance(spec, dict):
            continue
        if str(spec.get("type")).removeprefix("not-") == SCRIPT_NAME and "script" in spec:
            yield str(spec["script"])
        call = spec.get("call")
        if isinstance(call, dict) and call.get("file") is not None:
            yield str(call["file"])
        for name in ("assert", "assertions"):
            members = spec.get(name)
            if isinstance(members, list | tuple):
                yield from named_scripts(members)


def with_scripts(case: Case) -> Case:
    """The case with the code of its file, which marks stand for where scripts are not allowed."""
    specs = _with_scripts(case.assertions)
    return case if specs == [*case.assertions] else case.model_copy(update={"assertions": specs})


def _with_scripts(specs: Iterable[JsonValue]) -> list[JsonValue]:
    found: list[JsonValue] = []
    for spec in specs:
        if not isinstance(spec, dict):
            found.append(spec)
        elif isinstance(script := spec.get("script"), dict):
            # A mark of a transform is only removed: the steps of the case carry it out.
            found += [script] if script else []
        else:
            members = {
                name: _with_scripts(value)
                for name in ("assert", "assertions")
                if isinstance(value := spec.get(name), list)
            }
            found.append({**spec, **members})
    return found


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
            if field in cls.model_fields and value is not None:  # JavaScript may write null
                known.setdefault(field, value)
        return known

    @model_validator(mode="after")
    def _has_a_verdict(self) -> Self:
        if self.passed is None and self.value is None:
            raise ValueError("an answer has `passed`, `value`, or both")
        return self
