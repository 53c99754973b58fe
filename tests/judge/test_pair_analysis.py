from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from judgekit.judge import Analyst
from judgekit.prompts import AnalysisTemplate
from judgekit.records import AnalysisFailure, ComparisonAnalysis
from judgekit.testing import ScriptedModel
from tests.factories import make_case, make_judge, make_output, make_rubric
from tests.judge.comparing import by_order, prefers

if TYPE_CHECKING:
    from judgekit.models.request import Model, ModelReply

SAID = {
    "strengths": [{"quote": "“within 30 days”", "text": "Names the period."}],
    "weaknesses": [{"quote": "nowhere", "text": "Is short."}],
    "suggestions": [
        {"area": "length", "before": "Yes.", "reasoning": "Short.", "after": "Yes, gladly."}
    ],
}
CASE, RUBRIC = make_case(), make_rubric()
OUTPUTS = (
    make_output("Yes.", variant="short"),
    make_output("Yes, within 30 days.", variant="long"),
)


async def analysed(
    model: Model, **fields: Any
) -> tuple[ComparisonAnalysis | AnalysisFailure | None, ScriptedModel]:
    """The analysis of the pair in which the second output wins."""
    judged = await make_judge(by_order(ab=prefers("second"), ba=prefers("first"))).compare(
        CASE, *OUTPUTS, RUBRIC
    )
    judge = make_judge(model, **fields)
    said = await Analyst(judge.comparer, AnalysisTemplate()).analyse(CASE, OUTPUTS, RUBRIC, judged)
    assert isinstance(model, ScriptedModel)
    return said, model


async def test_quotes_are_looked_for_in_the_output_they_are_of() -> None:
    found, model = await analysed(ScriptedModel(json.dumps(SAID)))
    assert isinstance(found, ComparisonAnalysis)
    assert found.winner == "b"
    assert (found.strengths[0].found, found.weaknesses[0].found) == (True, False)
    assert found.suggestions[0].found
    (request,) = model.requests
    assert request.subject.criterion == "analysis"
    assert request.subject.order is None
    content = request.messages[-1]["content"]
    assert content.index("Yes, within 30 days.") < content.index("\nYes.\n")
    assert "with the other output shown first: One of them quotes the policy." in content


async def test_an_unreadable_reply_is_asked_again_and_is_then_a_failure() -> None:
    found, model = await analysed(ScriptedModel("No idea."), max_reasks=1)
    assert isinstance(found, AnalysisFailure)
    assert found.kind == "unreadable"
    assert len(model.requests) == 2


async def test_a_tie_is_not_analysed() -> None:
    model = ScriptedModel(json.dumps(SAID))
    judge = make_judge(model)
    tied = await make_judge(ScriptedModel(prefers("tie"))).compare(CASE, *OUTPUTS, RUBRIC)
    analyst = Analyst(judge.comparer, AnalysisTemplate())
    assert await analyst.analyse(CASE, OUTPUTS, RUBRIC, tied) is None
    assert model.requests == []


async def test_logprobs_are_not_asked_for() -> None:
    def say(_: object) -> ModelReply | str:
        return json.dumps(SAID)

    _, model = await analysed(ScriptedModel(say), logprobs=True)
    assert "logprobs" not in model.requests[0].parameters
