"""What the server answers each tool: 4 or 5 of 5, by the number of the item in the prompt."""

from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING, Any

from benchmarks.material import reply_text
from judgekit.testing import ServedReply
from judgekit.testing.server_replies import http_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from judgekit.testing import ServedRequest

_NUMBER = re.compile(r"[Cc]ustomer (\d+)")
_RATIONALE = (
    "The period, the cost and the way of the refund agree with the reference, and the offer to "
    "exchange does no harm. It adds conditions that the reference does not know."
)


def level(number: int) -> int:
    """The level that an item is given, from 1 to 5."""
    return 4 + number % 2


def answer(request: ServedRequest, *, tool: str, share_limited: float) -> ServedReply:
    """A good reply in the form that a tool asks for, or a 429 with `Retry-After: 1`."""
    if random.Random(request.number).random() < share_limited:
        return http_error(429, "Rate limit reached", code="rate_limit_exceeded", Retry_After="1")
    found = _NUMBER.search(json.dumps(request.body["messages"]))
    if found is None:
        raise ValueError(f"{tool} sent a prompt without the item: {request.body['messages']}")
    text = FORMS[tool](level(int(found[1])), request.body)
    if not request.body.get("logprobs"):
        return ServedReply(text)
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": _logprobs(text)}
    return ServedReply(text, fields={"choices": [choice]})


def _logprobs(text: str) -> dict[str, object]:
    """Words and numbers, each as good as certain: a weighted score is the score."""
    tokens = [
        {"token": one, "logprob": -0.001, "bytes": None} for one in re.findall(r"\w+|\W+", text)
    ]
    return {"content": [{**one, "top_logprobs": [one]} for one in tokens], "refusal": None}


def _properties(body: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = body["response_format"]["json_schema"]["schema"]["properties"]
    return schema


def _judgekit(level: int, body: dict[str, Any]) -> str:
    criteria: Sequence[str] = ()
    if "criteria" in (properties := _properties(body)):
        criteria = list(properties["criteria"]["properties"])
    return reply_text(level, level, criteria)


def _autorubric(level: int, body: dict[str, Any]) -> str:
    verdict = {"selected_option": level, "explanation": _RATIONALE}
    lists = [name for name in _properties(body) if name not in {"explanation", "selected_option"}]
    if not lists:
        return json.dumps(verdict)
    ids = dict.fromkeys(re.findall(r"\bc\d+\b", json.dumps(body["messages"])))
    entries = [{"criterion_id": one, "criterion_status": None, **verdict} for one in ids]
    return json.dumps({lists[0]: entries})


FORMS: dict[str, Callable[[int, dict[str, Any]], str]] = {
    "aiohttp": lambda level, _: json.dumps({"rationale": _RATIONALE, "score": level}),
    "judgekit": _judgekit,
    "autoevals": lambda level, _: json.dumps({"reasons": _RATIONALE, "choice": "EDCBA"[level - 1]}),
    "ragas": lambda level, _: json.dumps({"feedback": _RATIONALE, "score": level}),
    "autorubric": _autorubric,
    "inspect": lambda level, _: f"{_RATIONALE}\n\nGRADE: {'C' if level == 5 else 'P'}",
    "promptfoo": lambda level, _: json.dumps(
        {"reason": _RATIONALE, "pass": True, "score": (level - 1) / 4}
    ),
    "deepeval": lambda level, _: json.dumps({"reason": _RATIONALE, "score": 2 * level}),
}
"""By tool, the text of a reply that gives a level."""
