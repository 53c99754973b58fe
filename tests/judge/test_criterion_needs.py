"""A criterion that says what it needs, which template asks it, and which judge grades it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import load_rubric
from judgekit.errors import SettingsError, TemplateError
from judgekit.models.cache import MemoryCache
from judgekit.records import Case, Criterion, Output, Rubric, TraceEvent
from judgekit.testing import ScriptedModel
from tests.factories import (
    joint_reply,
    make_case,
    make_criterion,
    make_judge,
    make_output,
    make_rubric,
    reply,
)

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.models.request import ModelRequest
    from judgekit.records import Verdict

STEP = "order_lookup A-77"
TRACED = make_output(trace=(TraceEvent(type="tool_call", name="shop", content=STEP),))
TOOLS = make_criterion("tools", needs="trace")
RUBRIC = make_rubric("accuracy", TOOLS)


def graded(
    output: Output, rubric: Rubric = RUBRIC, case: Case | None = None, **settings: Any
) -> tuple[Verdict, list[ModelRequest]]:
    """The verdict, and what the judge was asked."""
    model = ScriptedModel(settings.pop("script", reply(4)))
    judge = make_judge(model, **settings)
    return judge.grade_sync(case or make_case(), output, rubric), model.requests


def shows_steps(request: ModelRequest) -> bool:
    return STEP in request.messages[-1]["content"]


def failed(verdict: Verdict) -> list[tuple[str, str]]:
    return [(failure.criterion, failure.kind) for failure in verdict.failures]


def test_only_the_criterion_that_needs_the_trace_is_shown_it() -> None:
    verdict, requests = graded(TRACED)
    assert {r.subject.criterion: shows_steps(r) for r in requests} == {
        "accuracy": False,
        "tools": True,
    }
    assert [judgment.criterion for judgment in verdict.judgments] == ["accuracy", "tools"]
    assert verdict.passed is True


def test_an_output_without_a_trace_cannot_be_assessed_by_that_criterion_alone() -> None:
    verdict, requests = graded(make_output())
    assert [request.subject.criterion for request in requests] == ["accuracy"]
    (failure,) = verdict.failures
    assert (failure.criterion, failure.kind) == ("tools", "cannot_assess")
    assert failure.message == (
        "criterion 'tools' needs a trace, and the output has none; it was not asked"
    )
    assert (failure.n_calls, failure.cost_usd) == (0, 0.0)
    # The missing criterion is bounded, never 0: (0.75 + 0) / 2 and (0.75 + 1) / 2.
    assert (verdict.value, verdict.value_low, verdict.value_high) == (None, 0.375, 0.875)


def test_a_template_that_needs_the_trace_does_not_end_a_grading() -> None:
    verdict, requests = graded(make_output(), template="pointwise/trajectory")
    assert requests == []
    assert failed(verdict) == [("accuracy", "cannot_assess"), ("tools", "cannot_assess")]


@pytest.mark.parametrize(
    ("need", "given"), [("reference", {"reference": "30 days"}), ("context", {"context": "30"})]
)
def test_what_a_case_lacks_fails_its_criterion(need: str, given: dict[str, str]) -> None:
    rubric = make_rubric("accuracy", make_criterion("faithful", needs=[need]))
    without, asked = graded(make_output(), rubric)
    assert (failed(without), len(asked)) == ([("faithful", "cannot_assess")], 1)
    with_it, asked = graded(make_output(), rubric, make_case(**given))
    assert (with_it.failures, len(asked)) == ((), 2)


def test_every_repeat_of_a_criterion_that_cannot_be_assessed_is_counted() -> None:
    verdict, requests = graded(make_output(), repeats=3)
    assert [f.repeat for f in verdict.failures] == [0, 1, 2]
    assert len(requests) == 3


def test_a_joint_call_asks_all_but_the_criteria_that_need_the_trace() -> None:
    rubric = make_rubric("accuracy", TOOLS, "style")
    script = {"tools": reply(5), "*": joint_reply(accuracy=4, style=2)}
    verdict, requests = graded(
        TRACED, rubric, mode="joint", script=lambda r: script[r.subject.criterion or "*"]
    )
    assert {j.criterion: j.raw for j in verdict.judgments} == {
        "accuracy": 4, "style": 2, "tools": 5,
    }  # fmt: skip
    assert [(r.subject.criterion, shows_steps(r)) for r in requests] == [
        (None, False),
        ("tools", True),
    ]


def test_a_need_that_the_template_hides_is_an_error_before_the_first_call() -> None:
    rubric = make_rubric(make_criterion(needs="reference"))
    with pytest.raises(
        TemplateError, match=r"needs the reference, and template .*no_reference doe"
    ):
        graded(make_output(), rubric, template="pointwise/no_reference")


def test_a_criterion_may_name_its_own_template() -> None:
    rubric = make_rubric("accuracy", make_criterion("style", template="pointwise/stars"))
    _, (plain, stars) = graded(
        make_output(), rubric, script={"accuracy": reply(4), "style": "3 stars"}
    )
    assert plain.reply_schema is not None
    assert stars.reply_schema is None


def test_a_template_of_the_suites_own_is_found_in_its_folder(tmp_path: Path) -> None:
    own = "{# judgekit\nasks: criterion\n#}\n{% block shared %}{{ output | fenced }}{% endblock %}"
    own += "{% block question %}Mine: {{ criterion.question }}{% endblock %}"
    (tmp_path / "mine.j2").write_text(own, encoding="utf-8")
    rubric = make_rubric(make_criterion(template="mine"))
    _, (request,) = graded(make_output(), rubric, template_folders=[tmp_path])
    assert "Mine: How good is its accuracy?" in request.messages[-1]["content"]


def test_a_criterion_of_another_judge_is_not_graded_by_this_one() -> None:
    with pytest.raises(SettingsError, match="'accuracy' is to be graded by the judge 'strong'"):
        graded(make_output(), make_rubric(make_criterion(judge="strong")))


def test_rubrics_that_set_nothing_are_asked_and_stored_as_before() -> None:
    # Computed with the release before these fields; caches and calibrations depend on it.
    rubric = Rubric(name="r", criteria=[Criterion(name="a", question="q", scale="binary")])
    known = "8fa742887d31a18fb1dec650cdbcce2fe819f0059ce98bbf2cae44e6086c65ae"
    assert rubric.fingerprint == known
    assert not {"needs", "template", "judge"} & rubric.criteria[0].to_json().keys()
    assert "require_evidence" not in rubric.to_json()


@pytest.mark.parametrize(
    "fields", [{"needs": "trace"}, {"template": "pointwise/stars"}, {"judge": "strong"}]
)
def test_how_a_criterion_is_asked_is_part_of_its_fingerprint(fields: dict[str, Any]) -> None:
    plain, other = make_criterion(), make_criterion(**fields)
    assert plain.fingerprint != other.fingerprint
    assert make_rubric(plain).fingerprint != make_rubric(other).fingerprint
    assert Criterion.model_validate(other.to_json()) == other


def test_the_order_of_needs_carries_no_meaning() -> None:
    one = make_criterion(needs=["trace", "context"])
    assert one.fingerprint == make_criterion(needs=["context", "trace", "trace"]).fingerprint


def test_the_shipped_agent_rubric_shows_the_tool_calls() -> None:
    rubric = load_rubric("agent_quality")
    _, requests = graded(TRACED, rubric, script=reply(1))
    assert [r.subject.criterion for r in requests if shows_steps(r)] == ["tool_efficiency"]


async def test_a_cached_grading_with_needs_asks_nothing_again() -> None:
    model, cache = ScriptedModel(reply(4)), MemoryCache()
    judge = make_judge(model, cache=cache)
    first = await judge.grade(make_case(), make_output(), RUBRIC)
    second = await judge.grade(make_case(), make_output(), RUBRIC)
    assert (len(model.requests), failed(first)) == (1, failed(second))


def quoting(*quotes: str) -> str:
    return reply(4, evidence=[*quotes])


def test_a_score_without_a_quotation_that_is_found_is_no_judgment() -> None:
    strict = make_rubric("accuracy", require_evidence=True)
    for quotes in ((), ("Never said.",)):
        verdict, requests = graded(make_output(), strict, script=quoting(*quotes))
        (failure,) = verdict.failures
        assert (failure.kind, failure.reason, len(requests)) == (
            "evidence_missing", "evidence_missing", 3,
        )  # fmt: skip
        assert "Quote at least one passage for 'accuracy'" in requests[1].messages[-1]["content"]


def test_one_quotation_that_is_found_is_enough() -> None:
    strict = make_rubric("accuracy", require_evidence=True)
    verdict, requests = graded(
        make_output(), strict, script=[quoting(), quoting("Never said.", "within 30 days")]
    )
    assert (len(verdict.judgments), verdict.failures, len(requests)) == (1, (), 2)
    assert verdict.judgments[0].n_calls == 2


def test_a_judge_that_cannot_assess_needs_no_evidence() -> None:
    verdict, _ = graded(make_output(), make_rubric(require_evidence=True), script=reply(None))
    assert failed(verdict) == [("accuracy", "cannot_assess")]


def test_required_evidence_needs_a_template_that_asks_for_it() -> None:
    with pytest.raises(TemplateError, match="requires evidence, and template pointwise/stars ask"):
        graded(make_output(), make_rubric(require_evidence=True), template="pointwise/stars")


BODY = """
{% block shared %}{{ output | fenced('output') }}{% endblock %}
{% block question %}{{ criterion.question }}{% endblock %}
"""


def test_a_template_without_the_field_evidence_asks_for_none(tmp_path: Path) -> None:
    own = tmp_path / "own.j2"
    own.write_text("{# judgekit\nfields: rationale score\n#}" + BODY, encoding="utf-8")
    with pytest.raises(TemplateError, match="requires evidence, and template own asks for no"):
        graded(make_output(), make_rubric(require_evidence=True), template=str(own))
    scored = '{"rationale": "It says so.", "score": 5}'
    assert graded(make_output(), make_rubric(), script=scored, template=str(own))[0].passed


def test_a_choice_that_the_scale_does_not_have_is_refused_before_a_call(tmp_path: Path) -> None:
    own, model = tmp_path / "own.j2", ScriptedModel("maybe")
    header = "{# judgekit\nreply: choice\nchoices: yes=1 maybe=0.5 no=0\nrationale: none\n#}"
    own.write_text(header + BODY, encoding="utf-8")
    judge = make_judge(model, template=str(own))
    rubric = make_rubric(make_criterion("right", scale="binary"))
    with pytest.raises(TemplateError, match=r"gives the scores 1, 0.5, 0, .* 'right' scores"):
        judge.grade_sync(make_case(), make_output(), rubric)
    assert model.requests == []
    halves = make_rubric(make_criterion("right", scale={"min": 0, "max": 1}))
    assert judge.grade_sync(make_case(), make_output(), halves).value == 0.5


def test_a_comparison_leaves_out_what_cannot_be_compared() -> None:
    model = ScriptedModel('{"rationale": "It is clearer than that.", "preference": "first"}')
    judge = make_judge(model)
    found = judge.compare_sync(make_case(), TRACED, make_output("No."), RUBRIC)
    assert {r.subject.criterion for r in model.requests} == {"accuracy", None}
    assert [criterion.name for criterion in found.criteria] == ["accuracy"]
    only_tools = make_rubric(TOOLS)
    assert judge.compare_sync(make_case(), TRACED, make_output("No."), only_tools).winner is None


def test_an_unknown_template_of_a_criterion_is_reported_with_its_place() -> None:
    rubric = make_rubric(make_criterion(template="pointwise/startrek"))
    with pytest.raises(TemplateError, match=r"criterion 'accuracy': .*pointwise/startrek"):
        graded(make_output(), rubric)
