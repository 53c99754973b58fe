"""Functions of a file as the model of a variant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.assertions import ScriptSettings
from judgekit.records import Usage
from judgekit.targets.prompt import CodeTarget, TargetPrompt
from tests.factories import make_case

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.records import Output


async def answered(folder: Path, returned: str) -> Output:
    source = f"def call_api(prompt, options, context):\n    return {returned}\n"
    (folder / "provider.py").write_text(source, encoding="utf-8")
    scripts = ScriptSettings(folder, is_allowed=True)
    target = CodeTarget("v1", TargetPrompt("{{ input }}"), "code:provider.py", {}, scripts)
    return await target.answer(make_case())


@pytest.mark.parametrize(
    ("tokens", "cost", "usage"),
    [
        ({"prompt": 3, "completion": 4.0}, 0, Usage(input_tokens=3, output_tokens=4, cost_usd=0)),
        ({"prompt": 5.5, "completion": 2}, -1, Usage(output_tokens=2)),
        ({"prompt": True}, "0.1", None),
        (7, None, None),
    ],
)  # fmt: skip
async def test_what_is_no_count_says_nothing_of_the_answer(
    tmp_path: Path, tokens: object, cost: object, usage: Usage | None
) -> None:
    output = await answered(tmp_path, repr({"output": "a", "tokenUsage": tokens, "cost": cost}))
    assert (output.text, output.usage, output.error) == ("a", usage, None)


async def test_half_a_character_in_an_answer_ends_no_run(tmp_path: Path) -> None:
    assert (await answered(tmp_path, r"{'output': 'a\ud800'}")).text == "a\ufffd"
