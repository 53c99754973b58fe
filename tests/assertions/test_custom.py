from __future__ import annotations

import asyncio
import io
import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from judgekit.assertions import (
    ScriptFailedError,
    ScriptSettings,
    evaluate_assertions,
    find_script,
    score_output,
    script_entries,
    script_runner,
)
from judgekit.assertions.scripts import CodeCall, read_script_answer, run_code, run_script
from judgekit.records import Output
from judgekit.registry import Registry
from tests.factories import make_case

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
HELLO = Output(text="hello", data={"n": 1})


def put(folder: Path, name: str, source: str) -> str:
    (folder / name).write_text(source, encoding="utf-8")
    return name


def settings(folder: Path, **fields: Any) -> ScriptSettings:
    known: dict[str, Any] = {"folder": folder, "is_allowed": True, "timeout_s": 20}
    return ScriptSettings(**known | fields)


def ask(folder: Path, source: str, name: str = "check.py", **fields: Any) -> Any:
    running = run_script(put(folder, name, source), HELLO, settings=settings(folder, **fields))
    return asyncio.run(running)


def fail(folder: Path, source: str, name: str = "check.py", **fields: Any) -> ScriptFailedError:
    with pytest.raises(ScriptFailedError, match="check") as caught:
        ask(folder, source, name, **fields)
    return caught.value


def processes_of(folder: Path) -> list[str]:
    """What still runs that was begun in a folder, on Linux."""
    found = []
    for pid in Path("/proc").glob("[0-9]*"):
        try:
            if (pid / "cwd").resolve() == folder.resolve():
                found.append((pid / "cmdline").read_text())
        except OSError:
            continue
    return found


@pytest.mark.parametrize(
    ("body", "value", "passed"),
    [
        ("def evaluate(output, case): return output['text'] == 'hello'", None, True),
        ("def evaluate(output): return {'score': 0.25, 'feedback': 'short'}", 0.25, None),
        ("async def evaluate(output, case, params): return {'pass': False, 'value': 1}", 1, False),
        ("def evaluate(*given): return len(given) == 3", None, True),
        ("evaluate = lambda output, *, x=1: 0.5", 0.5, None),
    ],
)
def test_a_python_script_may_define_a_function(
    tmp_path: Path, body: str, value: float | None, *, passed: bool | None
) -> None:
    said = ask(tmp_path, f"print('noise')\n{body}\n")
    assert (said.value, said.passed) == (value, passed)


def test_a_python_script_may_read_stdin_and_print_json(tmp_path: Path) -> None:
    source = (
        "import json, sys\nasked = json.load(sys.stdin)\n"
        "print(json.dumps({'passed': True, 'actual': asked, 'colour': 'red', 'reason': 'R'}))\n"
    )
    name = put(tmp_path, "check.py", source)
    case = make_case(reference="4")
    running = run_script(name, HELLO, settings=settings(tmp_path), case=case, params={"limit": 3})
    said = asyncio.run(running)
    assert said.actual == {
        "output": HELLO.to_json(), "case": case.to_json(), "params": {"limit": 3}
    }  # fmt: skip
    assert said.message == "R"


@needs_node
@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("check.js", "console.log('noise'); module.exports = (output) => output.text.length / 10;"),
        (
            "check.cjs",
            "exports.evaluate = async (o) => { console.log('x'); return {score: 0.5}; };",
        ),
        ("check.mjs", "export default (output, c) => ({score: c === null ? 0.5 : 0});"),
        (
            "check.js",
            "console.log(JSON.parse(require('fs').readFileSync(0)).output.text.length / 10);",
        ),
        ("check.js", "process.stdout.write('0.5'); process.exit(0);"),
    ],
)
def test_a_javascript_file_may_export_a_function_or_print(
    tmp_path: Path, name: str, source: str
) -> None:
    assert ask(tmp_path, source, name).value == 0.5


@needs_node
def test_a_module_package_is_imported(tmp_path: Path) -> None:
    put(tmp_path, "package.json", '{"type": "module"}')
    assert ask(tmp_path, "export function evaluate() { return true; }", "check.js").passed is True


@needs_node
def test_an_answer_larger_than_a_pipe_is_whole_however_it_is_written(tmp_path: Path) -> None:
    answer = "JSON.stringify({passed: true, actual: 'x'.repeat(3e6)})"
    for call in ("fs.writeSync(1, a)", "fs.writeFileSync(1, a)", "process.stdout.write(a)"):
        said = ask(tmp_path, f"const fs = require('fs'), a = {answer}; {call};", "check.js")
        assert len(said.actual) == 3_000_000


def test_scripts_run_only_where_they_are_allowed(tmp_path: Path) -> None:
    error = fail(tmp_path, "open('ran', 'w')", is_allowed=False)
    assert "--allow-scripts" in error.message
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "name", ["../check.py", "link.py", "/etc/check.py", "folder/../../check.py"]
)
def test_a_script_may_not_lie_outside_of_the_suites_folder(tmp_path: Path, name: str) -> None:
    suite = tmp_path / "suite"
    suite.mkdir()
    put(tmp_path, "check.py", "print(True)")
    (suite / "link.py").symlink_to(tmp_path / "check.py")
    with pytest.raises(ScriptFailedError, match="lies outside of"):
        find_script(name, settings(suite))


@pytest.mark.parametrize("name", ["check.py", "a\0b.py", "."])
def test_a_script_that_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(ScriptFailedError, match=r"no script|no path"):
        find_script(name, settings(tmp_path))


def test_another_language_is_an_error(tmp_path: Path) -> None:
    assert "is in an unknown language" in fail(tmp_path, "echo 1", "check.sh").message


def test_without_node_a_javascript_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    error = fail(tmp_path, "1", "check.js", node="no-such-node")
    assert "needs Node.js, and no program 'no-such-node' was found" in error.message


HOSTILE = [
    ("check.py", "while True: pass", "was stopped"),
    (
        "check.py",
        "import os\nif os.fork(): os._exit(0)\nos.setsid()\nwhile True: pass",
        "cannot be read",
    ),
    ("check.py", "import sys\nwhile True: sys.stdout.write('x' * 1000000)", "wrote more than"),
    ("check.py", "def evaluate(o):\n  while True: print('x' * 100000)", "wrote more than"),
    ("check.js", "while (true) console.log('x'.repeat(100000));", "wrote more than"),
    (
        "check.js",
        "setTimeout(() => { while (true) console.log('x'.repeat(1e5)); }, 1)",
        "wrote more than",
    ),
    (
        "check.js",
        "module.exports = () => { while (true) console.log('x'.repeat(1e5)); }",
        "wrote more than",
    ),
    (
        "check.js",
        "const b = 'x'.repeat(1e5); for (;;) require('fs').writeSync(1, b);",
        "wrote more than",
    ),
    (
        "check.js",
        "const b = 'x'.repeat(1e5); for (;;) require('fs').writeSync(2, b);",
        "wrote more than",
    ),
    (
        "check.mjs",
        "import fs from 'fs'; const f = () => fs.write(1, 'x'.repeat(1e5), f); f();",
        "wrote more than",
    ),
    (
        "check.py",
        "def evaluate(o):\n  x = []\n  while True: x.append(bytearray(10**8))",
        "MiB of memory",
    ),
    ("check.py", "import os, time\nos.kill(os.getppid(), 9)\ntime.sleep(60)", "killed by SIG"),
    ("check.py", "import os\nos.kill(os.getpid(), 11)", "killed by SIG"),
    ("check.py", "import sys\nsys.exit(0)", "cannot be read"),
    ("check.py", "import sys\nsys.exit('no luck')", "exit code"),
    ("check.py", "def evaluate(o): raise KeyError('colour')", "exit code"),
    ("check.py", "print('<garbage>')", "cannot be read"),
    ("check.py", "def evaluate(o): return float('nan')", "exit code"),
    ("check.py", "this is not Python", "exit code"),
    ("check.js", "while (true) {}", "was stopped"),
    ("check.js", "module.exports = () => new Promise(() => {});", "cannot be read"),
    ("check.js", "const x = []; for (;;) x.push(new Array(1e6).fill(1.5));", "MiB of memory"),
    ("check.js", "const x = []; for (;;) x.push(Buffer.alloc(1e8, 1));", "MiB of memory"),
    (
        "check.js",
        "process.kill(process.ppid, 'SIGKILL'); setTimeout(() => {}, 60000);",
        "killed by SIG",
    ),
    ("check.js", "module.exports = () => { throw new TypeError('colour'); };", "exit code"),
    ("check.js", "process.exit(3)", "exit code"),
    ("check.js", "throw null", "exit code"),
    ("check.js", "Promise.reject(null)", "exit code"),
    ("check.js", "module.exports = () => () => 1;", "cannot be read"),
]


@pytest.mark.parametrize(("name", "source", "why"), HOSTILE)
def test_a_hostile_script_is_a_named_error_and_leaves_no_process(
    tmp_path: Path, name: str, source: str, why: str
) -> None:
    if name.endswith("js") and shutil.which("node") is None:
        pytest.skip("Node.js is not installed")
    timeout_s = 0.3 if why == "was stopped" else 20
    error = fail(tmp_path, source, name, timeout_s=timeout_s, memory_bytes=128 << 20)
    assert why in error.message
    deadline = time.monotonic() + 60
    while (left := processes_of(tmp_path)) and time.monotonic() < deadline:
        os.sched_yield()
    assert left == []


def test_an_error_says_what_the_script_last_said(tmp_path: Path) -> None:
    assert (
        "KeyError: 'colour'" in fail(tmp_path, "def evaluate(o): raise KeyError('colour')").message
    )
    if shutil.which("node") is not None:
        told = fail(tmp_path, "Promise.reject(null)", "check.js").message
        assert "UnhandledPromiseRejection" in told
    assert fail(tmp_path, "import sys; sys.exit('no luck')").message.endswith("code 1: no luck")
    assert (
        "it needed more than 64 MiB"
        in fail(tmp_path, "bytearray(10**9)", memory_bytes=64 << 20).message
    )


def test_a_script_sees_neither_keys_nor_the_interpreters_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    source = "import os\ndef evaluate(o): return {'passed': True, 'actual': dict(os.environ)}"
    seen = ask(tmp_path, source, environment={"POLICY": "2025"}).actual
    assert "OPENAI_API_KEY" not in seen
    assert seen["POLICY"] == "2025"


def test_a_script_works_in_the_suites_folder_and_may_import_what_lies_beside_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "checks").mkdir()
    put(tmp_path, "checks/words.py", "LIMIT = 5")
    put(tmp_path, "checks/check.py", "from words import LIMIT\nimport os\ndef evaluate(o):\n"
        "  return {'passed': len(o['text']) <= LIMIT, 'actual': os.getcwd()}")  # fmt: skip
    said = asyncio.run(run_script("checks/check.py", HELLO, settings=settings(tmp_path)))
    assert (said.passed, said.actual) == (True, str(tmp_path.resolve()))


async def test_scripts_run_beside_each_other_in_an_event_loop(tmp_path: Path) -> None:
    name = put(tmp_path, "check.py", "def evaluate(o): return True")
    asked = [run_script(name, HELLO, settings=settings(tmp_path)) for _ in range(3)]
    assert [said.passed for said in await asyncio.gather(*asked)] == [True] * 3
    registry = Registry("assertion", [script_entries(settings(tmp_path))[0]])
    spec = {"type": "custom.script", "script": name}
    assert evaluate_assertions(HELLO, [spec], registry=registry)[0].passed


def carried_out(folder: Path, source: str, **spec: Any) -> Any:
    check, *_ = script_entries(settings(folder))
    spec = {"type": "custom.script", "script": put(folder, "check.py", source)} | spec
    registry = Registry("assertion", [check])
    (found,) = evaluate_assertions(HELLO, [spec], registry=registry, case=make_case())
    return found


def test_a_spec_runs_a_script_as_an_assertion(tmp_path: Path) -> None:
    found = carried_out(tmp_path, "def evaluate(o, c, p): return {'passed': c['id'] == p['id']}",
                        params={"id": "refund"})  # fmt: skip
    assert (found.passed, found.message) == (True, "check.py says it holds")
    found = carried_out(
        tmp_path, "def evaluate(o): return {'value': 0.6, 'message': 'm'}", threshold=0.7
    )
    assert (found.passed, found.value, found.message) == (False, 0.6, "m")
    found = carried_out(
        tmp_path, "def evaluate(o): return {'value': 0, 'passed': True}", threshold=0.7
    )
    assert found.passed is True
    assert carried_out(tmp_path, "def evaluate(o): return 0.1 + 0.7", threshold=0.8).passed is True


def test_a_script_that_fails_neither_passes_nor_fails(tmp_path: Path) -> None:
    found = carried_out(tmp_path, "def evaluate(o): return 1 / 0")
    assert (found.passed, found.value) == (None, None)
    assert "ZeroDivisionError" in found.error
    found = carried_out(tmp_path, "def evaluate(o): return 0.5")
    assert "no threshold from which it passes; set `threshold`" in found.error


@pytest.mark.parametrize(("source", "value"), [("0.25", 0.25), ("True", 1), ("False", 0)])
def test_a_spec_runs_a_script_as_a_scorer(tmp_path: Path, source: str, value: float) -> None:
    _, scorer, _ = script_entries(settings(tmp_path))
    name = put(tmp_path, "check.py", f"def evaluate(o): return {source}")
    spec = {"type": "custom.script", "script": name}
    (found,) = score_output(HELLO, [spec], registry=Registry("scorer", [scorer])).scores
    assert (found.value, found.method) == (value, "check.py")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"", "it wrote nothing"),
        (b"{", "not JSON"),
        (b"[1]", "an object, a truth value or a number"),
        (b"{}", "has `passed`, `value`, or both"),
        (b'{"value": 2}', "value: Input should be less than or equal to 1"),
        (b'{"passed": "perhaps"}', "passed: Input should be a valid boolean"),
        (b"\xff", "not JSON"),
    ],
)
def test_an_answer_that_is_none_is_an_error_that_says_why(answer: bytes, why: str) -> None:
    with pytest.raises(ScriptFailedError, match="cannot be read") as caught:
        read_script_answer(answer, "check.py")
    assert why in caught.value.message


def test_null_in_an_answer_is_a_field_that_is_missing() -> None:
    found = read_script_answer(b'{"pass": true, "score": null, "reason": null}', "a.js")
    assert (found.passed, found.value, found.message) == (True, None, "")


def test_of_two_names_for_the_same_thing_the_first_counts() -> None:
    said = read_script_answer(b'{"passed": true, "pass": false, "details": {"a": 1}}', "check.py")
    assert said.passed is True


@pytest.mark.parametrize(
    ("source", "is_defined"),
    [
        ("def evaluate(): ...", True),
        ("async def evaluate(): ...", True),
        ("evaluate = print", True),
        ("from checks import grade as evaluate", True),
        ("import evaluate\nx.y = 1\nother = 2\nfrom a import b", False),
        ("class A:\n  def evaluate(self): ...", False),
    ],
)
def test_the_runner_sees_whether_a_function_is_defined(source: str, *, is_defined: bool) -> None:
    assert script_runner.defines_evaluate(source) is is_defined


def test_the_runner_hands_in_what_the_function_takes(tmp_path: Path) -> None:
    request: dict[str, object] = {"output": 1, "case": 2, "params": 3}
    for body, expected in [
        ("def evaluate(o, c): return [o, c]", [1, 2]),
        ("async def evaluate(*a): return list(a)", [1, 2, 3]),
    ]:
        path = tmp_path / put(tmp_path, "a.py", body)
        assert json.loads(script_runner.call_evaluate(str(path), request)) == expected


def test_the_runner_runs_a_plain_script_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", [])
    script_runner.run_script_file(str(tmp_path / put(tmp_path, "a.py", "print(__name__)")))
    assert capsys.readouterr().out == "__main__\n"


def test_the_runner_answers_on_stdout_and_prints_to_stderr(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", [])
    request: dict[str, object] = {"output": {}, "case": None, "params": {}}
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(request)))
    source = "import os\ndef evaluate(o):\n  os.write(1, b'noise')\n  return True"
    stdout = os.dup(1)
    try:
        script_runner.run_script_file(str(tmp_path / put(tmp_path, "a.py", source)))
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)
    seen = capfd.readouterr()
    assert (seen.out, seen.err) == ("true", "noise")


def test_code_in_a_text_is_not_run_without_permission(tmp_path: Path) -> None:
    call = CodeCall(language="python", code="1 + 1")
    with pytest.raises(ScriptFailedError, match="scripts are not allowed"):
        run_code(call, {}, ScriptSettings(folder=tmp_path))
    assert run_code(call, {}, ScriptSettings(folder=tmp_path, is_allowed=True)) == 2
