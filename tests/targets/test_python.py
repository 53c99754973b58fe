from __future__ import annotations

import asyncio
import itertools
import sys
import threading
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from judgekit.errors import BudgetExceededError, SettingsError, UnknownNameError
from judgekit.targets.python import PythonTarget
from tests.factories import make_case

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.records import Output

_numbers = itertools.count()


def opened(folder: Path, body: str, *, name: str = "answer", timeout_s: float = 20) -> PythonTarget:
    module = f"agent_{next(_numbers)}"  # a module is imported once in a process
    (folder / f"{module}.py").write_text(dedent(body), encoding="utf-8")
    return PythonTarget("v1", f"{module}:{name}", folder=folder, timeout_s=timeout_s)


async def answered(folder: Path, body: str, *, timeout_s: float = 20) -> Output:
    target = opened(folder, body, timeout_s=timeout_s)
    try:
        return await target.answer(make_case(), repeat=1)
    finally:
        await target.aclose()


@pytest.mark.parametrize(
    "body",
    [
        "def answer(case): return case.input",
        "async def answer(case): return case.input",
        "def answer(case): return {'text': case.input}",
        "import judgekit\ndef answer(case): return judgekit.Output(text=case.input)",
        "class Agent:\n    async def __call__(self, case): return case.input\nanswer = Agent()",
    ],
    ids=["sync", "async", "dict", "Output", "object"],
)
async def test_a_function_may_be_of_any_kind(tmp_path: Path, body: str) -> None:
    target = opened(tmp_path, body)
    output = await target.answer(make_case(input="Hm?"))
    await target.aclose()
    assert (output.text, output.case_id, output.variant) == ("Hm?", "refund", "v1")
    assert output.duration_ms is not None


async def test_a_function_that_takes_repeat_gets_it(tmp_path: Path) -> None:
    output = await answered(tmp_path, "def answer(case, repeat): return {'data': repeat}")
    assert output.data == 1


async def test_a_function_without_a_signature_is_called_with_the_case(tmp_path: Path) -> None:
    output = await answered(tmp_path, "answer = type")
    assert "returned a ModelMetaclass" in (output.error or "")


async def test_a_function_that_is_not_async_does_not_hold_up_the_loop(tmp_path: Path) -> None:
    body = """
        import threading
        both = threading.Barrier(2)
        def answer(case):
            both.wait(5)
            return "met"
    """
    target = opened(tmp_path, body)
    outputs = await asyncio.gather(*(target.answer(make_case()) for _ in range(2)))
    assert [output.text for output in outputs] == ["met", "met"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("def answer(case):\n    raise KeyError('city')", "KeyError: 'city' ("),
        ("async def answer(case):\n    raise ValueError", "ValueError ("),
        ("import json\ndef answer(case):\n    return json.loads('{')", "JSONDecodeError"),
        ("import sys\ndef answer(case):\n    sys.exit(4)", "SystemExit: 4"),
        ("import sys\nasync def answer(case):\n    sys.exit(4)", "SystemExit: 4"),
        ("def answer(case):\n    raise TimeoutError('theirs')", "TimeoutError: theirs"),
        ("def answer(case):\n    next(iter(()))", "RuntimeError: the function raised StopIter"),
        ("def answer(case):\n    raise KeyboardInterrupt", "the function raised KeyboardInter"),
    ],
    ids=["sync", "async", "library", "exit", "async exit", "timeout", "StopIteration", "Ctrl-C"],
)
async def test_an_exception_is_told_with_its_place(tmp_path: Path, body: str, told: str) -> None:
    output = await answered(tmp_path, body)
    assert output.error_kind == "exception"
    assert told in (output.error or "")
    assert f"{tmp_path}" in (output.error or "")
    assert (output.error or "").endswith(f".py:{body.count(chr(10)) + 1})")


@pytest.mark.parametrize(
    "body",
    [
        "import time\ndef answer(case): time.sleep(3)",
        "import asyncio\nasync def answer(case): await asyncio.sleep(30)",
    ],
    ids=["sync", "async"],
)
async def test_a_function_that_hangs_is_given_up(tmp_path: Path, body: str) -> None:
    output = await answered(tmp_path, body, timeout_s=0.1)
    assert output.error_kind == "timeout"
    assert "longer than 0.1 s" in (output.error or "")


def test_a_hanging_function_does_not_hold_up_the_end_of_the_loop(tmp_path: Path) -> None:
    target = opened(tmp_path, "import time\ndef answer(case): time.sleep(0.5)", timeout_s=0.05)
    assert asyncio.run(target.answer(make_case())).error_kind == "timeout"


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        ("None", "returned a NoneType"),
        ("[1]", "returned a list"),
        ("{'data': object()}", "not JSON"),
        ("{'data': float('nan')}", "not JSON"),
        ("{'answer_text': 'x'}", "no output"),
    ],
)
async def test_what_is_no_output_is_unreadable(tmp_path: Path, returned: str, told: str) -> None:
    output = await answered(tmp_path, f"def answer(case): return {returned}")
    assert output.error_kind == "unreadable"
    assert told in (output.error or "")


async def test_cancelling_reaches_the_caller(tmp_path: Path) -> None:
    target = opened(tmp_path, "import asyncio\nasync def answer(case): await asyncio.sleep(60)")
    task = asyncio.create_task(target.answer(make_case()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_function_that_cancels_itself_is_an_error_of_the_case(tmp_path: Path) -> None:
    body = "import asyncio\nasync def answer(case): raise asyncio.CancelledError"
    assert (await answered(tmp_path, body)).error_kind == "cancelled"


async def test_a_spent_budget_is_passed_on(tmp_path: Path) -> None:
    body = "import judgekit\ndef answer(case): raise judgekit.BudgetExceededError('spent')"
    with pytest.raises(BudgetExceededError, match="spent"):
        await answered(tmp_path, body)


async def test_the_folder_is_on_the_path_only_while_importing(tmp_path: Path) -> None:
    (tmp_path / "their_tools.py").write_text("WORD = 'hi'", encoding="utf-8")
    output = await answered(
        tmp_path, "import their_tools\ndef answer(case): return their_tools.WORD"
    )
    assert output.text == "hi"
    assert str(tmp_path) not in sys.path


async def test_modules_of_the_same_name_in_two_folders_are_two(tmp_path: Path) -> None:
    said = []
    for word in ("first", "second"):
        folder = tmp_path / word
        folder.mkdir()
        (folder / "same_name.py").write_text(f"def answer(case): return '{word}'", encoding="utf-8")
        target = PythonTarget("v1", "same_name:answer", folder=folder, timeout_s=5)
        said.append((await target.answer(make_case())).text)
    assert said == ["first", "second"]


def test_a_module_that_cannot_be_imported_is_told_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be imported: ModuleNotFoundError"):
        PythonTarget("v1", "no_such_module:f", folder=tmp_path, timeout_s=5)
    with pytest.raises(SettingsError, match=r"ZeroDivisionError: division by zero \(.*py:1\)"):
        opened(tmp_path, "1 / 0")


def test_a_name_that_is_not_there_is_told_with_near_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean answer"):
        opened(tmp_path, "def answer(case): return ''", name="anser")


def test_a_name_that_is_no_function_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="is a int, not a function"):
        opened(tmp_path, "answer = 3")


async def test_an_async_function_that_blocks_its_loop_is_given_up_and_told(tmp_path: Path) -> None:
    body = """
    import threading
    over = threading.Event()
    async def answer(case):
        if case.id != "starts the loop":
            over.wait(30)
    """
    target = opened(tmp_path, body, timeout_s=0.05)
    # On a busy machine a thread may start later than the limit, and blocks nothing by then.
    await target.answer(make_case(id="starts the loop"))
    first = await target.answer(make_case())
    second = await target.answer(make_case())
    for module in [m for name, m in sys.modules.items() if name.startswith("agent_")]:
        getattr(module, "over", threading.Event()).set()
    await target.aclose()
    assert [output.error_kind for output in (first, second)] == ["timeout", "timeout"]
    assert "longer than 0.05 s: it blocks its event loop" in (first.error or "")
