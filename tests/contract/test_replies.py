"""What is read of a judge's reply, and by what name it is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk

if TYPE_CHECKING:
    from tests.contract.pinning import Pins

CRITERIA = [
    jk.Criterion(name="accuracy", question="Is it right?", scale={"min": 1, "max": 5}),
    jk.Criterion(name="tone", question="Is it polite?", scale={"min": 0, "max": 10}),
]
LEVELS = [
    jk.Criterion(
        name="grade",
        question="How good is it?",
        scale={"levels": [{"value": 1, "name": "good"}, {"value": 0, "name": "bad"}]},
    )
]
BOTH = '{"accuracy": {"rationale": "a", "score": 4}, "tone": {"rationale": "b", "score": 9}}'
JUDGED = 'The answer is 42. {"accuracy": {"score": 5}, "tone": {"score": 10}}'

REPLIES: dict[str, tuple[str | None, dict[str, Any]]] = {
    "both criteria": (BOTH, {}),
    "plain numbers": ('{"accuracy": 4, "tone": 9}', {}),
    "list of criteria": (
        '{"criteria": [{"criterion": "accuracy", "score": 2}, {"criterion": "tone", "score": 0}]}',
        {},
    ),
    "fenced": (f"Here it is:\n```json\n{BOTH}\n```\nThat is all.", {}),
    "thought before": (f'<think>maybe {{"accuracy": 1}}</think>{BOTH}', {}),
    "digits as text": ('{"accuracy": "4", "tone": "9.5"}', {}),
    "comma too many": ('{"accuracy": 4, "tone": 9,}', {}),
    "single criterion": ('{"rationale": "So.", "score": 3}', {"criteria": CRITERIA[:1]}),
    "score line": ("It is mostly right.\nScore: 4", {"criteria": CRITERIA[:1]}),
    "out of": ("Rating: 4/5", {"criteria": CRITERIA[:1]}),
    "result mark": ("Feedback: fine. [RESULT] 4", {"criteria": CRITERIA[:1]}),
    "level by name": ('{"score": "good"}', {"criteria": LEVELS}),
    "level by value": ('{"score": 0}', {"criteria": LEVELS}),
    "mapping for a criterion": (
        '{"score": 2}',
        {"criteria": [{"name": "x", "question": "?", "scale": {"min": 1, "max": 5}}]},
    ),
    "empty": ("", {}),
    "nothing": (None, {}),
    "no verdict": ("I like it.", {}),
    "off the scale": ('{"accuracy": 7, "tone": 9}', {}),
    "one missing": ('{"accuracy": 4}', {}),
    "two verdicts": (f"{BOTH}\n{BOTH.replace('4', '2')}", {}),
    "the same verdict twice": (f"{BOTH}\n{BOTH}", {}),
    "cut off": (BOTH[:60], {"finish_reason": "length"}),
    "whole but cut off": (BOTH, {"finish_reason": "length"}),
    "filtered": ("", {"finish_reason": "content_filter"}),
    "refused": ("I'm sorry, but I can't help with evaluating this content.", {}),
    "repeats the output": (JUDGED, {"judged_text": JUDGED}),
    "quotes the output, then judges": (f"{JUDGED}\n\n{BOTH}", {"judged_text": JUDGED}),
    "not a number": ('{"accuracy": true, "tone": 9}', {}),
    "infinite": ('{"accuracy": 1e999, "tone": 9}', {}),
    "between levels": ('{"score": 0.5}', {"criteria": LEVELS}),
    "cannot be assessed": (
        '{"rationale": "No reference.", "assessable": false, "score": null}',
        {"criteria": CRITERIA[:1]},
    ),
}


def read(text: str | None, more: dict[str, Any]) -> object:
    """The scores, or the error and its reason."""
    known: dict[str, Any] = {"criteria": CRITERIA} | more
    try:
        return jk.parse_reply(text, **known)
    except (jk.ReplyFormatError, jk.RefusalError) as error:
        return [type(error).__name__, getattr(error, "reason", None)]


@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_is_read_or_refused_as_pinned(name: str, pins: Pins) -> None:
    pins.check("replies", name, read(*REPLIES[name]))
