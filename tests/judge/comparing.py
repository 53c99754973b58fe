"""Judges of two outputs for tests, and the replies they give."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from judgekit.models import fenced_outputs
from judgekit.testing import ScriptedModel

if TYPE_CHECKING:
    from judgekit.models.request import ModelReply, ModelRequest


def preference(choice: str | None = "first", **fields: Any) -> dict[str, Any]:
    """What a judge says of two outputs on one question, in the order it is asked for."""
    known = {
        "evidence_first": [],
        "evidence_second": [],
        "rationale": "One of them quotes the policy.",
        "score_first": 7,
        "score_second": 7,
        "preference": choice,
        "confidence": 0.8,
        "assessable": choice is not None,
    }
    return known | fields


def prefers(choice: str | None = "first", **fields: Any) -> str:
    """A judge's reply to one question about two outputs."""
    return json.dumps(preference(choice, **fields))


def fair_judge(worth: dict[str, float]) -> ScriptedModel:
    """Prefers the text that is worth more, wherever it stands; equal worth is a tie."""

    def say(request: ModelRequest) -> str:
        first, second = (worth[text] for text in fenced_outputs(request))
        return prefers("tie" if first == second else "first" if first > second else "second")

    return ScriptedModel(say, name="fair")


def by_order(**replies: str | ModelReply | Exception) -> ScriptedModel:
    """Says what it is told for each order: `ab=…, ba=…`."""
    return ScriptedModel(lambda request: replies[str(request.subject.order)], name="ordered")
