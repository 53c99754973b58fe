"""Which calibration is found for a judge and a rubric, and what a gate makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import judgekit as jk
from judgekit.errors import SettingsError
from judgekit.evaluation import (
    CALIBRATION_KEY,
    calibration_of_run,
    meets_calibration_gate,
    resolve_calibration,
)
from judgekit.evaluation.run_config import on_common_scale, without_calibration
from judgekit.records import UNCALIBRATED, CalibratedPanel, Gate, RunPanel
from judgekit.report import save_calibration
from judgekit.scoring import calibration_in_use
from judgekit.testing import ScriptedModel
from tests.calibrations import ASKED, JUDGE, make_calibration
from tests.evaluation.suites import lay_suite
from tests.factories import make_case, make_judge, make_output, make_rubric, reply
from tests.store.observing import make_run

if TYPE_CHECKING:
    from pathlib import Path

RUBRIC = make_rubric("accuracy", "tone")
REQUIRED = Gate(require_calibration=True)
HELD = calibration_in_use(make_calibration(RUBRIC), RUBRIC, ASKED)
CONFIG = {CALIBRATION_KEY: HELD.to_json()}


def test_without_a_path_nothing_is_calibrated() -> None:
    assert resolve_calibration(None, RUBRIC, ASKED) is UNCALIBRATED


def test_of_a_folder_the_maps_are_taken_that_hold(tmp_path: Path) -> None:
    other = CalibratedPanel(judges=(JUDGE.model_copy(update={"repeats": 3}),))
    save_calibration(tmp_path / "a.json", make_calibration(RUBRIC, asked=other))
    save_calibration(tmp_path / "b.json", make_calibration(RUBRIC))
    assert resolve_calibration(tmp_path, RUBRIC, ASKED).path == str(tmp_path / "b.json")
    assert resolve_calibration(tmp_path, RUBRIC, other).path == str(tmp_path / "a.json")


def test_of_several_that_do_not_hold_the_nearest_is_told(tmp_path: Path) -> None:
    far = JUDGE.model_copy(update={"repeats": 3, "judge": "openai/n other@2"})
    near = JUDGE.model_copy(update={"repeats": 3})
    save_calibration(
        tmp_path / "a.json", make_calibration(RUBRIC, asked=CalibratedPanel(judges=(far,)))
    )
    save_calibration(
        tmp_path / "b.json", make_calibration(RUBRIC, asked=CalibratedPanel(judges=(near,)))
    )
    assert resolve_calibration(tmp_path, RUBRIC, ASKED).words == "stale: repeats were 3, are 1"


def test_where_nobody_judges_by_a_rubric_no_map_applies(tmp_path: Path) -> None:
    save_calibration(tmp_path / "m.json", make_calibration(RUBRIC))
    for rubric, asked in ((None, ASKED), (RUBRIC, None)):
        use = resolve_calibration(tmp_path, rubric, asked)
        assert (use.state, use.applied) == ("uncalibrated", ())


def test_a_run_without_its_maps_is_what_the_judge_alone_says() -> None:
    run = make_run(config=CONFIG)
    assert calibration_of_run(run) == HELD
    own = without_calibration(run)
    assert calibration_of_run(own) is UNCALIBRATED
    assert without_calibration(own) is own


def test_runs_by_other_maps_are_compared_by_the_judges_own_values() -> None:
    mapped, raw = make_run(config=CONFIG), make_run()
    assert on_common_scale(mapped, mapped) == (mapped, mapped)
    assert on_common_scale(raw, raw) == (raw, raw)
    assert on_common_scale(raw, mapped) == (raw, without_calibration(mapped))
    other = calibration_in_use(make_calibration(RUBRIC, label_set="g"), RUBRIC, ASKED)
    again = make_run(config={CALIBRATION_KEY: other.to_json()})
    assert on_common_scale(mapped, again) == (
        without_calibration(mapped),
        without_calibration(again),
    )


@pytest.mark.parametrize(
    ("gate", "config", "judges", "met"),
    [
        (None, {}, ("m t@1",), True),
        (Gate(tier="production"), {}, ("m t@1",), True),
        (REQUIRED, {}, ("m t@1",), False),
        (REQUIRED, {}, ("m t@1", "human"), False),
        (REQUIRED, {}, ("human", "heuristic"), True),
        (REQUIRED, CONFIG, ("m t@1",), True),
    ],
)
def test_a_gate_asks_for_a_calibration_where_a_model_judges(
    gate: Gate | None, config: dict[str, object], judges: tuple[str, ...], *, met: bool
) -> None:
    assert (
        meets_calibration_gate(gate, make_run(config=config, panel=RunPanel(judges=judges))) is met
    )


def test_from_python_a_verdict_is_calibrated_by_maps_that_hold() -> None:
    judge = make_judge(ScriptedModel(reply(5), name="openai/m"))
    rubric = make_rubric("accuracy")
    asked = CalibratedPanel(judges=(JUDGE.model_copy(update={"judge": judge.id}),))
    use = jk.check_calibration(make_calibration(rubric, asked=asked), rubric, judge)
    assert use.state == "calibrated"
    verdict = judge.grade_sync(make_case(), make_output(), rubric)
    found = jk.apply_calibration(verdict, rubric, use)
    assert (verdict.value, found.value, found.decided_by) == (1, 0.5, "calibrated")


async def test_a_suite_that_requires_a_calibration_is_not_run_without(tmp_path: Path) -> None:
    (tmp_path / "replies.jsonl").write_text("", encoding="utf-8")
    path = lay_suite(
        tmp_path, judge="recorded:replies.jsonl", rubric="rubric.yaml",
        gate={"require_calibration": True},
    )  # fmt: skip
    with pytest.raises(SettingsError, match="requires a calibration: uncalibrated"):
        await jk.evaluate(path, store=tmp_path / "runs.db", cache=None)
