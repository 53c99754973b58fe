"""Reads the scores or preferences of a JSON reply: by `strict` if possible, else by `resolve`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.prompts.parsing.quotation import is_json_like
from judgekit.prompts.parsing.strict import parse_strict_preferences, parse_strict_reply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.prompts.parsing.strict import CriterionReply, PreferenceReply
    from judgekit.records import Criterion

# `resolve` is imported when a reply needs it: its patterns take longer to compile than a thousand
# strict replies to parse, and a run of cached replies seldom needs them.


def parse_criterion_replies(
    text: str | None,
    criteria: Sequence[Criterion],
    *,
    finish_reason: str | None = "stop",
    judged_text: str | Sequence[str] | None = None,
) -> dict[str, CriterionReply]:
    """What a judge's reply states on each criterion: score, rationale, evidence, confidence."""
    # The strict parser cannot tell a quoted verdict from the judge's own, so it is left out if the
    # judged text could contain one.
    if text is not None and finish_reason in {"stop", None} and not is_json_like(judged_text):
        strict = parse_strict_reply(text, criteria)
        if strict is not None:
            return strict
    from judgekit.prompts.parsing.resolve import resolve_criteria  # noqa: PLC0415

    return resolve_criteria(text, criteria, finish_reason, judged_text)


def parse_preferences(
    text: str | None,
    questions: Sequence[str],
    *,
    finish_reason: str | None = "stop",
    judged_text: Sequence[str] = (),
) -> dict[str, PreferenceReply]:
    """What a judge's JSON reply prefers, for each question."""
    if text is not None and finish_reason in {"stop", None} and not is_json_like(judged_text):
        strict = parse_strict_preferences(text, questions)
        if strict is not None:
            return strict
    from judgekit.prompts.parsing.resolve import resolve_preferences  # noqa: PLC0415

    return resolve_preferences(text, questions, finish_reason, judged_text)
