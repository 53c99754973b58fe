from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import SettingsError
from judgekit.records import CaseEvaluation
from judgekit.subprocess import ProcessLimits, scrub_environment
from judgekit.targets.external import CommandTarget
from tests.factories import make_case

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.records import Output

ECHO = """\
import json, sys
case = json.load(sys.stdin)
json.dump({"text": f"{case['input']} {case['repeat']}", "usage": {"prompt_tokens": 3}}, sys.stdout)
"""


def opened(folder: Path, program: str, **settings: Any) -> CommandTarget:
    (folder / "agent.py").write_text(program, encoding="utf-8")
    known: dict[str, Any] = {
        "folder": folder,
        "environment": scrub_environment(),
        "limits": ProcessLimits(),
    }
    return CommandTarget("v1", [sys.executable, "agent.py"], **known | settings)


async def answered(folder: Path, program: str, **settings: Any) -> Output:
    return await opened(folder, program, **settings).answer(make_case())


async def test_the_case_goes_in_and_the_output_comes_out(tmp_path: Path) -> None:
    target = opened(tmp_path, ECHO)
    output = await target.answer(make_case(input="héllo\n"), repeat=2)
    await target.aclose()
    assert (output.text, output.case_id, output.variant) == ("héllo\n 2", "refund", "v1")
    assert output.usage is not None
    assert output.usage.input_tokens == 3
    assert output.duration_ms is not None
    assert output.duration_ms > 0


async def test_the_program_sees_the_whole_case(tmp_path: Path) -> None:
    program = "import json, sys; print(json.dumps({'data': json.load(sys.stdin)}))"
    case = make_case(metadata={"city": "Rom"}, context="Policy")
    output = await opened(tmp_path, program).answer(case)
    assert output.data == {**case.to_json(), "repeat": 0, "variant": {"id": "v1"}}


async def test_its_own_duration_and_error_are_kept(tmp_path: Path) -> None:
    said = {"error": "no such order", "duration_ms": 7.0}
    output = await answered(tmp_path, f"print({json.dumps(json.dumps(said))})")
    assert (output.error, output.error_kind) == ("no such order", "exception")
    assert output.duration_ms == 7.0


@pytest.mark.parametrize(
    ("program", "kind", "told"),
    [
        ("import time; time.sleep(60)", "timeout", r"stopped after 0.5 s"),
        ("import sys; sys.exit('no luck')", "exit", "exit code 1; the end of stderr: no luck"),
        ("import os; os.abort()", "signal", "killed by SIGABRT"),
        ("print('Traceback: ' + 'x' * 999)", "unreadable", "it begins: 'Traceback: xxx"),
        ("pass", "unreadable", "it begins: nothing"),
        ("print([1])", "unreadable", "stdout holds no JSON object"),
        ("print('{\"text\": NaN}')", "unreadable", "NaN is not JSON"),
        ("print('{\"answers\": 1}')", "unreadable", "what it returned is no output"),
        ("import sys; sys.stdout.buffer.write(b'\\xff')", "unreadable", "not UTF-8"),
        ("while True: print('y' * 1000)", "too_large", "more than 1 MiB"),
    ],
    ids=["hang", "exit", "signal", "garbage", "nothing", "list", "NaN", "fields", "bytes", "flood"],
)
async def test_a_failure_is_an_output_with_its_kind(
    tmp_path: Path, program: str, kind: str, told: str
) -> None:
    limits = ProcessLimits(timeout_s=0.5 if kind == "timeout" else 20, output_bytes=1 << 20)
    output = await answered(tmp_path, program, limits=limits)
    assert output.error_kind == kind
    assert told in (output.error or "")
    assert "None" not in (output.error or "")
    assert len(output.error or "") < 1100


async def test_a_long_error_is_shortened_and_keys_are_taken_out(tmp_path: Path) -> None:
    program = "import os, sys; sys.exit(os.environ['PASS'] + 'x' * 5000)"
    environment = scrub_environment({"PASS": "hush-hush"})
    output = await answered(tmp_path, program, environment=environment, secrets=["hush-hush"])
    assert "hush" not in (output.error or "")
    with_key = "import os, sys; sys.exit('bad key ' + os.environ['PASS'])"
    output = await answered(tmp_path, with_key, environment=environment, secrets=["hush-hush"])
    assert (output.error or "").endswith("bad key [redacted]")


async def test_a_case_may_say_how_long_it_takes(tmp_path: Path) -> None:
    evaluation = CaseEvaluation(strategy="exact_match", timeout_s=0.2)
    target = opened(tmp_path, "import time; time.sleep(60)")
    output = await target.answer(make_case(evaluation=evaluation))
    assert "stopped after 0.2 s" in (output.error or "")


async def test_a_program_that_vanishes_is_an_error_of_the_case(tmp_path: Path) -> None:
    script = tmp_path / "agent.sh"
    script.write_text("#!/bin/sh\n", encoding="utf-8")
    script.chmod(0o700)
    target = CommandTarget(
        "v1", ["./agent.sh"], folder=tmp_path, environment={}, limits=ProcessLimits()
    )
    script.unlink()
    output = await target.answer(make_case())
    assert output.error_kind == "exit"
    assert "no program './agent.sh'" in (output.error or "")


def test_a_program_that_is_not_there_is_told_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="variant 'v1': no program 'nonesuch'"):
        CommandTarget("v1", ["nonesuch"], folder=tmp_path, environment={}, limits=ProcessLimits())
