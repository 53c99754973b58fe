from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from judgekit.bias_audit import GradeProbe, ProbeRunner
from judgekit.bias_audit.probe import PairProbe
from judgekit.models import BiasedModel
from judgekit.records import Verdict
from judgekit.testing import ScriptedModel
from tests.factories import make_case, make_judge, make_output, make_rubric, reply
from tests.judge.comparing import prefers

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.bias_audit.probe import ProbeQuestion

RUBRIC = make_rubric("accuracy", "clarity")
CASE = make_case(id="c")


def grade(text: str = "Yes.", **fields: Any) -> GradeProbe:
    return GradeProbe(**{"case": CASE, "output": make_output(text), "rubric": RUBRIC} | fields)


def pair(a: str = "Yes.", b: str = "No.", **fields: Any) -> PairProbe:
    sides = {"a": make_output(a), "b": make_output(b)}
    return PairProbe(**{"case": CASE, "rubric": RUBRIC, **sides} | fields)


def test_an_asking_asks_its_own_repeats_and_none_of_the_earlier_ones() -> None:
    model = ScriptedModel(reply(4))
    with make_judge(model, repeats=2) as judge:
        verdict = asyncio.run(ProbeRunner(judge).graded(grade(repeat=1)))
    assert [one.subject.repeat for one in model.requests] == [2, 2, 3, 3]
    assert verdict.value == 0.75
    assert {one.repeat for one in verdict.judgments} == {2, 3}


def test_the_questions_of_a_plan_are_those_that_are_asked() -> None:
    for wanted in (grade(), grade(repeat=1), pair(), pair(orders=("ab",))):
        model = ScriptedModel(lambda r: reply(4) if r.subject.order is None else prefers("tie"))
        with make_judge(model) as judge:
            bench = ProbeRunner(judge)
            planned = bench.requests(wanted)
            asyncio.run(
                bench.graded(wanted) if isinstance(wanted, GradeProbe) else bench.compared(wanted)
            )
        assert {one.key for one in model.requests} == {one.key for one in planned}


def test_another_template_asks_in_other_words_with_the_same_parameters(tmp_path: Path) -> None:
    model = ScriptedModel(reply(4))
    (tmp_path / "mine.j2").write_text(
        "{% block shared %}{{ output | fenced('output') }}{% endblock %}"
        "{% block question %}Mine? {{ criterion.question }}{% endblock %}"
    )
    with make_judge(model, temperature=0.3) as judge:
        asyncio.run(ProbeRunner(judge, (tmp_path,)).graded(grade(template="mine")))
    assert all("Mine?" in one.messages[0]["content"] for one in model.requests)
    assert model.requests[0].parameters == {"temperature": 0.3}


def test_two_outputs_are_compared_on_the_whole_in_both_orders() -> None:
    model = ScriptedModel(prefers("first"))
    with make_judge(model) as judge:
        said = asyncio.run(ProbeRunner(judge).compared(pair()))
    assert [(one.criterion, one.order) for one in said] == [(None, "ab"), (None, "ba")]


def test_a_template_that_asks_nothing_about_the_whole_is_asked_by_criterion() -> None:
    model = ScriptedModel("A")
    with make_judge(model, template="pairwise/letter") as judge:
        said = asyncio.run(ProbeRunner(judge).compared(pair()))
    assert {one.criterion for one in said} == {"accuracy", "clarity"}


def test_the_same_text_twice_is_asked_about_all_the_same() -> None:
    model = ScriptedModel(prefers("tie"))
    with make_judge(model) as judge:
        said = asyncio.run(ProbeRunner(judge).compared(pair("Yes.", "Yes.", orders=("ab",))))
    assert len(model.requests) == len(said) == 1


def test_a_failed_question_is_a_failure_of_its_own() -> None:
    with make_judge(ScriptedModel("no JSON"), max_reasks=0) as judge:
        bench = ProbeRunner(judge)
        verdict = asyncio.run(bench.graded(grade()))
        said = asyncio.run(bench.compared(pair()))
    assert [one.kind for one in verdict.failures] == ["unreadable", "unreadable"]
    assert [getattr(one, "kind", None) for one in said] == ["unreadable", "unreadable"]


def test_questions_with_the_same_key_are_the_same_question() -> None:
    assert grade().key == grade().key
    others: list[ProbeQuestion] = [
        grade("No."), grade(template="x"), grade(repeat=1), pair(), pair(orders=("ab",)),
        grade(rubric=make_rubric("clarity", "accuracy")), pair("No.", "Yes."),
    ]  # fmt: skip
    assert len({one.key for one in (grade(), *others)}) == len(others) + 1


def test_a_verdict_is_what_the_judge_itself_would_give() -> None:
    with make_judge(BiasedModel(0.5), mode="joint") as judge:
        own = judge.grade_sync(CASE, make_output("Yes."), RUBRIC)
        found = asyncio.run(ProbeRunner(judge).graded(grade()))
    assert isinstance(found, Verdict)
    assert (found.value, found.passed) == (own.value, own.passed)
