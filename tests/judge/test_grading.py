from __future__ import annotations

from judgekit.models.cache import MemoryCache
from judgekit.testing import ScriptedModel
from tests.factories import make_case, make_judge, make_output, make_rubric, priced, reply

RUBRIC = make_rubric("accuracy", "style")


async def test_what_is_owned_is_concluded_without_asking() -> None:
    model, cache = ScriptedModel(priced(reply(4))), MemoryCache()
    judge = make_judge(model, cache=cache)
    asked = await judge.grade(make_case(), make_output(), RUBRIC)
    (grading,) = judge.begin([(make_case(), make_output())], RUBRIC)
    verdict = grading.verdict
    assert verdict is not None
    assert verdict.value == asked.value
    assert all(judgment.cached for judgment in verdict.judgments)
    assert (len(model.requests), cache.counts().n_hits) == (2, 2)


async def test_only_what_is_open_is_asked() -> None:
    model = ScriptedModel(reply(4))
    judge = make_judge(model, cache=MemoryCache())
    await judge.grade(make_case(), make_output(), make_rubric("style"))
    (grading,) = judge.begin([(make_case(), make_output())], RUBRIC)
    assert grading.verdict is None
    verdict = await grading.finish()
    assert [judgment.cached for judgment in verdict.judgments] == [False, True]
    assert [r.subject.criterion for r in model.requests] == ["style", "accuracy"]


async def test_several_outputs_are_begun_in_their_order() -> None:
    judge = make_judge(ScriptedModel(reply(4)), cache=MemoryCache())
    answers = [(make_case(id=f"case-{n}"), make_output(f"answer {n}")) for n in range(3)]
    await judge.grade(*answers[1], RUBRIC)
    gradings = list(judge.begin(answers, RUBRIC))
    assert [(grading.case, grading.output) for grading in gradings] == answers
    assert [grading.verdict is None for grading in gradings] == [True, False, True]


async def test_a_kept_reply_that_cannot_be_read_leaves_its_question_open() -> None:
    model, cache = ScriptedModel(["no idea", reply(2)]), MemoryCache()
    judge = make_judge(model, cache=cache)
    await judge.grade(make_case(), make_output(), make_rubric())
    (grading,) = make_judge(model, cache=cache, max_reasks=0).begin(
        [(make_case(), make_output())], make_rubric()
    )
    assert grading.verdict is None
    assert [failure.kind for failure in (await grading.finish()).failures] == ["unreadable"]


def test_an_output_that_is_an_error_leaves_nothing_to_ask() -> None:
    failed = (make_case(), make_output(None, error="timed out", variant="v1"))
    (grading,) = make_judge("x/y").begin([failed], RUBRIC)
    verdict = grading.verdict
    assert grading.questions == []
    assert verdict is not None
    assert (verdict.error, verdict.passed, verdict.variant) == ("timed out", None, "v1")


def test_refreshing_owns_nothing() -> None:
    model, cache = ScriptedModel(reply(4)), MemoryCache()
    with make_judge(model, cache=cache) as judge:
        judge.grade_sync(make_case(), make_output(), RUBRIC)
    with make_judge(model, cache=cache, refresh=True) as judge:
        (grading,) = judge.begin([(make_case(), make_output())], RUBRIC)
    assert grading.verdict is None
