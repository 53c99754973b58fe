from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import SettingsError, StoreError
from judgekit.judge import JudgePanel, select_criteria
from judgekit.models.cache import MemoryCache
from judgekit.models.request import ModelReply, ModelRequest
from judgekit.records import JudgeFailure, Judgment, RunPanel
from judgekit.scoring import conclude, panel_configuration, with_repeat_confidence
from judgekit.testing import ScriptedModel
from tests.factories import answer, make_case, make_judge, make_output, make_rubric, reply

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from judgekit.judge import Judge
    from judgekit.records import Case, Output, Rubric, Verdict

CASE, OUTPUT, RUBRIC = make_case(), make_output(), make_rubric("accuracy", "style")
CASCADE = RunPanel(combine="cascade", escalate_below=0.7)
ACCURATE = {"accuracy": reply(5, confidence=0.9), "style": reply(2, confidence=0.5)}


def judge(name: str, script: Any = None, **settings: Any) -> tuple[Judge, ScriptedModel]:
    model = ScriptedModel(script or reply(4), name=name)
    return make_judge(model, max_reasks=0, **settings), model


def asked(model: ScriptedModel) -> list[tuple[str | None, int]]:
    return [(r.subject.criterion, r.subject.repeat) for r in model.requests]


async def told(stream: AsyncIterator[Any]) -> list[Any]:
    return [found async for answers in stream for found in answers]


async def panel_verdict(panel: JudgePanel, case: Case, output: Output, rubric: Rubric) -> Verdict:
    """The verdict of a panel's answers, judge by judge, whenever they came."""
    found = await told(panel.observe(case, output, rubric))
    ids = [judge.id for judge in panel.judges]
    found.sort(key=lambda one: (ids.index(one.judge), one.repeat, one.criterion))
    return conclude(
        rubric,
        [j for name in ids for j in with_repeat_confidence(of(found, Judgment, name))],
        [f for name in ids for f in of(found, JudgeFailure, name)],
        panel=panel.panel,
        case_id=case.id,
        variant=output.variant,
        error=output.error,
        asked=panel_configuration(
            [one for judge in panel.judges for one in judge.grader.configuration.judges],
            panel.panel,
        ),
    )


def of(found: list[Any], kind: type[Any], judge: str) -> list[Any]:
    return [one for one in found if isinstance(one, kind) and one.judge == judge]


class Held:
    """Answers when it is let, and notes what was called off."""

    name = "held"

    def __init__(self) -> None:
        self.may_answer = {name: asyncio.Event() for name in ("accuracy", "style")}
        self.n_called_off = 0

    async def complete(self, request: ModelRequest) -> ModelReply:
        try:
            await self.may_answer[str(request.subject.criterion)].wait()
        except asyncio.CancelledError:
            self.n_called_off += 1
            raise
        return ModelReply(text=reply(4))


async def test_a_judge_tells_each_answer_as_it_comes() -> None:
    model = Held()
    async with aclosing(make_judge(model).observe(CASE, OUTPUT, RUBRIC)) as answers:
        for name in ("style", "accuracy"):
            model.may_answer[name].set()
            (found,) = await anext(answers)
            assert found.criterion == name
        assert await anext(answers, None) is None


async def test_who_stops_listening_calls_off_what_is_in_flight() -> None:
    model = Held()
    model.may_answer["style"].set()
    async with aclosing(make_judge(model).observe(CASE, OUTPUT, RUBRIC)) as answers:
        await anext(answers)
    assert model.n_called_off == 1


async def test_an_error_that_no_case_survives_ends_the_stream() -> None:
    def torn(request: ModelRequest) -> Any:
        return StoreError("full") if request.subject.criterion == "style" else reply(4)

    with pytest.raises(StoreError, match="full"):
        await told(judge("a", torn)[0].observe(CASE, OUTPUT, RUBRIC))


async def test_what_is_known_is_not_asked_again() -> None:
    one, model = judge("a", repeats=2)
    known = {("accuracy", 0), ("style", 0), ("style", 1)}
    found = await told(one.observe(CASE, OUTPUT, RUBRIC, known=known))
    assert asked(model) == [("accuracy", 1)]
    assert [(f.criterion, f.repeat) for f in found] == [("accuracy", 1)]


async def test_a_joint_question_is_left_out_only_when_all_of_it_is_known() -> None:
    scores = json.dumps({"accuracy": answer(4), "style": answer(4)})
    one, model = judge("a", scores, mode="joint")
    every = {("accuracy", 0), ("style", 0)}
    assert await told(one.observe(CASE, OUTPUT, RUBRIC, known=every)) == []
    assert len(await told(one.observe(CASE, OUTPUT, RUBRIC, known={("style", 0)}))) == 2
    assert len(model.requests) == 1


async def test_streamed_or_not_a_judge_says_the_same() -> None:
    one, _ = judge("a")
    verdict = await one.grade(CASE, OUTPUT, RUBRIC)
    found = await told(one.observe(CASE, OUTPUT, RUBRIC))
    assert sorted(found, key=lambda f: f.criterion) == list(verdict.judgments)


async def test_a_panel_of_one_says_what_the_judge_says() -> None:
    one, _ = judge("a", repeats=2)
    assert await panel_verdict(JudgePanel([one]), CASE, OUTPUT, RUBRIC) == await one.grade(
        CASE, OUTPUT, RUBRIC
    )


async def test_all_judges_of_a_panel_are_asked_and_combined() -> None:
    judges = [judge(name, reply(score))[0] for name, score in (("a", 5), ("b", 4), ("c", 1))]
    panel = JudgePanel(judges, RunPanel(combine="median"))
    verdict = await panel_verdict(panel, CASE, OUTPUT, RUBRIC)
    assert verdict.value == 0.75
    assert [j.judge for j in verdict.judgments] == [one.id for one in judges for _ in range(2)]


async def test_a_judge_that_fails_leaves_the_others_votes_standing() -> None:
    panel = JudgePanel([judge("a", reply(5))[0], judge("b", "no verdict")[0]])
    verdict = await panel_verdict(panel, CASE, OUTPUT, RUBRIC)
    assert (verdict.value, verdict.value_low, verdict.value_high) == (1.0, 0.5, 1.0)
    assert [c.n_failed for c in verdict.criteria] == [1, 1]
    assert verdict.passed is None


async def test_a_cascade_asks_the_next_judge_only_what_the_last_was_not_sure_of() -> None:
    (cheap, first), (strong, second) = judge("a", ACCURATE), judge("b", reply(4))
    verdict = await panel_verdict(JudgePanel([cheap, strong], CASCADE), CASE, OUTPUT, RUBRIC)
    assert asked(first) == [("accuracy", 0), ("style", 0)]
    assert asked(second) == [("style", 0)]
    assert [c.value for c in verdict.criteria] == [1.0, 0.75]


@pytest.mark.parametrize("doubtful", [reply(5, confidence=None), "no verdict", reply(None)])
async def test_a_failure_or_an_unsaid_confidence_escalates(doubtful: str) -> None:
    (cheap, _), (strong, model) = judge("a", ACCURATE | {"style": doubtful}), judge("b")
    await panel_verdict(JudgePanel([cheap, strong], CASCADE), CASE, OUTPUT, RUBRIC)
    assert asked(model) == [("style", 0)]


async def test_what_goes_into_a_batch_is_no_reason_to_ask_the_next_judge() -> None:
    cache = MemoryCache()
    cache.missed = {}
    (cheap, _), (strong, model) = judge("a", frozen=True, cache=cache), judge("b")
    verdict = await panel_verdict(JudgePanel([cheap, strong], CASCADE), CASE, OUTPUT, RUBRIC)
    assert asked(model) == []
    assert [one.kind for one in verdict.failures] == ["frozen_miss"] * 2


async def test_where_no_judge_is_sure_the_last_one_decides() -> None:
    doubtful = [judge(name, reply(score, confidence=0.1)) for name, score in (("a", 5), ("b", 3))]
    verdict = await panel_verdict(
        JudgePanel([one for one, _ in doubtful], CASCADE), CASE, OUTPUT, RUBRIC
    )
    assert [len(model.requests) for _, model in doubtful] == [2, 2]
    assert verdict.value == 0.5


async def test_repeats_that_disagree_escalate_though_the_judge_is_sure_of_each() -> None:
    def wavering(request: ModelRequest) -> str:
        return reply(5 if request.subject.repeat else 1, confidence=1.0)

    (cheap, _), (strong, model) = judge("a", wavering, repeats=2), judge("b")
    verdict = await panel_verdict(JudgePanel([cheap, strong], CASCADE), CASE, OUTPUT, RUBRIC)
    assert len(model.requests) == 2
    assert verdict.value == 0.75


async def test_escalated_questions_are_those_of_the_whole_rubric() -> None:
    cache, model = MemoryCache(), ScriptedModel(reply(4), name="b")
    strong = make_judge(model, cache=cache)
    await strong.grade(CASE, OUTPUT, RUBRIC)
    panel = JudgePanel([judge("a", ACCURATE)[0], strong], CASCADE)
    verdict = await panel_verdict(panel, CASE, OUTPUT, RUBRIC)
    assert len(model.requests) == 2
    assert [j.cached for j in verdict.judgments if j.judge == strong.id] == [True]


async def test_a_joint_judge_is_asked_the_unsure_criteria_alone() -> None:
    joint, model = judge("b", json.dumps({"style": answer(4)}), mode="joint")
    panel = JudgePanel([judge("a", ACCURATE)[0], joint], CASCADE)
    await panel_verdict(panel, CASE, OUTPUT, RUBRIC)
    assert "accuracy" not in str(model.requests[0].messages)


@pytest.mark.parametrize("panel", [RunPanel(), CASCADE])
async def test_an_interrupted_panel_goes_on_where_it_stopped(panel: RunPanel) -> None:
    def judges() -> tuple[list[Any], list[ScriptedModel]]:
        pairs = judge("a", ACCURATE), judge("b", reply(4))
        return [one for one, _ in pairs], [model for _, model in pairs]

    whole = await told(JudgePanel(judges()[0], panel).observe(CASE, OUTPUT, RUBRIC))
    for n_said in range(len(whole) + 1):
        made, models = judges()
        said = whole[:n_said]
        rest = await told(JudgePanel(made, panel).observe(CASE, OUTPUT, RUBRIC, judge_answers=said))
        assert sum(len(model.requests) for model in models) == len(whole) - n_said
        assert {(f.judge, f.criterion) for f in [*said, *rest]} == {
            (f.judge, f.criterion) for f in whole
        }


async def test_the_panels_own_order_decides_who_is_asked_first() -> None:
    (cheap, _), (strong, model) = judge("a", reply(4)), judge("b", reply(5))
    panel = CASCADE.model_copy(update={"judges": (strong.id, cheap.id)})
    verdict = await panel_verdict(JudgePanel([cheap, strong], panel), CASE, OUTPUT, RUBRIC)
    assert len(model.requests) == 2
    assert {j.judge for j in verdict.judgments} == {strong.id}


@pytest.mark.parametrize("panel", [RunPanel(), CASCADE])
async def test_an_output_with_an_error_is_not_judged(panel: RunPanel) -> None:
    one, model = judge("a")
    verdict = await panel_verdict(
        JudgePanel([one], panel), CASE, make_output(None, error="late"), RUBRIC
    )
    assert (verdict.error, verdict.passed, model.requests) == ("late", None, [])


@pytest.mark.parametrize("panel", [RunPanel(), CASCADE])
async def test_who_stops_listening_to_a_panel_calls_off_every_judge(panel: RunPanel) -> None:
    held, (quick, _) = Held(), judge("a", "no verdict")
    judges = JudgePanel([quick, make_judge(held)], panel)
    async with aclosing(judges.observe(CASE, OUTPUT, RUBRIC)) as answers:
        for _ in range(2):
            await anext(answers)
        if panel is CASCADE:
            held.may_answer["style"].set()
            await anext(answers)
    assert held.n_called_off == (1 if panel is CASCADE else 2)


async def test_an_error_that_no_case_survives_ends_the_panel() -> None:
    held = Held()
    panel = JudgePanel([make_judge(held), judge("a", StoreError("full"))[0]])
    with pytest.raises(StoreError, match="full"):
        await panel_verdict(panel, CASE, OUTPUT, RUBRIC)
    assert held.n_called_off == 2


@pytest.mark.parametrize(
    ("names", "panel", "problem"),
    [
        (["a", "a"], RunPanel(), "their votes cannot be distinguished"),
        (["a"], RunPanel(judges=("other",)), "does not name the judge a"),
        (["a"], RunPanel(combine="cascade"), "a cascade needs escalate_below"),
    ],
)
def test_a_panel_that_cannot_work_is_refused(names: Any, panel: RunPanel, problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        JudgePanel([judge(name)[0] for name in names], panel)


def test_a_rubric_narrowed_has_a_fingerprint_of_its_own() -> None:
    before = RUBRIC.fingerprint
    assert select_criteria(RUBRIC, {"style", "accuracy"}) is RUBRIC
    assert [c.name for c in select_criteria(RUBRIC, {"style"}).criteria] == ["style"]
    assert select_criteria(RUBRIC, {"style"}).fingerprint != before == RUBRIC.fingerprint


async def test_closing_a_panel_closes_its_judges(tmp_path: Any) -> None:
    panel = JudgePanel([judge("a", cache=tmp_path)[0], judge("b")[0]])
    await panel_verdict(panel, CASE, OUTPUT, RUBRIC)
    await panel.aclose()
    panel.close()


async def test_what_is_kept_concludes_as_the_panel_did() -> None:
    panel = JudgePanel([judge("a", ACCURATE)[0], judge("b", reply(1))[0]], CASCADE)
    verdict = await panel_verdict(panel, CASE, OUTPUT, RUBRIC)
    found = await told(panel.observe(CASE, OUTPUT, RUBRIC))
    kept = [f for f in found if isinstance(f, Judgment)]
    failed = [f for f in found if isinstance(f, JudgeFailure)]
    again = conclude(RUBRIC, kept, failed, panel=panel.panel, case_id=CASE.id)
    assert (again.value, again.criteria) == (verdict.value, verdict.criteria)
