"""What the settings of a skill's `eval/tests.json` do when its tests are run."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import SettingsError
from judgekit.store import RunStore
from tests.evaluation.suites import Bench, Told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    LaySkill = Callable[..., Bench]

N = 12


@pytest.fixture
def lay_skill(tmp_path: Path) -> Iterator[LaySkill]:
    """Makes a skill with twelve tests whose right answer is `right`, and a suite that runs it."""
    with closing(RunStore(tmp_path / "runs.db")) as store:
        yield lambda **fields: Bench(lay_files(tmp_path, fields), store)


def lay_files(folder: Path, fields: dict[str, Any]) -> Path:
    cases = [
        {"id": f"t{k}", "name": f"Test {k}", "input": {"prompt": "?"},
         "expected": {"output": "right"}, "evaluation": {"strategy": "exact_match"}}
        for k in range(N)
    ]  # fmt: skip
    whole = {"version": "2.0", "profile": "deterministic", "settings": {}, "testCases": cases}
    (folder / "eval").mkdir()
    (folder / "eval" / "tests.json").write_text(json.dumps({**whole, **fields}), encoding="utf-8")
    (folder / "agent.py").write_text("def answer(case): ...", encoding="utf-8")
    suite = {"name": "s", "dataset": "eval/tests.json",
             "variants": [{"id": "v1", "python": "agent:answer"}]}  # fmt: skip
    path = folder / "judgekit.json"
    path.write_text(json.dumps(suite), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ({"parallelExecution": False}, 1),
        ({"parallelExecution": False, "maxConcurrentTests": 4}, 1),
        ({"maxConcurrentTests": 4}, 4),
        ({"parallelExecution": True, "maxConcurrentTests": 3}, 3),
        ({"parallelExecution": True}, N),
        ({}, N),
    ],
)
async def test_so_many_tests_are_in_work_at_once(
    lay_skill: LaySkill, settings: dict[str, Any], most: int
) -> None:
    target, skill = Told(), lay_skill(settings=settings)
    run = await skill.sit(target)
    assert (run.status, len(target.asked)) == ("complete", N)
    assert target.most_in_flight == most


@pytest.mark.parametrize("in_sequence", [True, False])
async def test_tests_of_a_suite_in_sequence_wait_for_one_another(
    lay_skill: LaySkill,
    in_sequence: bool,  # noqa: FBT001 - a parameter of the format
) -> None:
    order = ["t9", "t2", "t5"]
    group = {"name": "login", "testIds": order, "runInSequence": in_sequence}
    target, skill = Told(), lay_skill(suites=[group])
    await skill.sit(target)
    asked = [case for case, _ in target.asked if case in order]
    assert asked == (order if in_sequence else ["t2", "t5", "t9"])
    # Only the tests of the group wait: two of them are not begun with the others.
    assert target.most_in_flight == (N - 2 if in_sequence else N)


async def test_missing_dependencies_are_named_before_anything_is_called(
    lay_skill: LaySkill, tmp_path: Path
) -> None:
    (tmp_path / "node_modules" / "left-pad").mkdir(parents=True)
    names = ["pydantic>=2", "git", "left-pad@1.3", "no-such-program", "no_such_package==1"]
    target, skill = Told(), lay_skill(setup={"dependencies": names})
    with pytest.raises(SettingsError, match="needs no-such-program, no_such_package==1:"):
        await skill.sit(target)
    assert (target.asked, skill.store.runs()) == ([], [])
