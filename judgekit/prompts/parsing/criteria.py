"""Reads the judgments in a reply: by the fast path of `strict`, else by `resolve`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.prompts.parsing.fields import expected_criteria
from judgekit.prompts.parsing.quotation import is_json_like
from judgekit.prompts.parsing.strict import parse_strict_reply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.prompts.parsing.strict import CriterionReply
    from judgekit.records import Criterion


def parse_criterion_replies(
    text: str | None,
    criteria: Sequence[Criterion],
    *,
    finish_reason: str | None = "stop",
    judged_text: str | Sequence[str] | None = None,
) -> dict[str, CriterionReply]:
    """What a judge's reply says about each criterion: score, rationale, evidence, confidence."""
    if text is not None and finish_reason in {"stop", None} and not is_json_like(judged_text):
        quick = parse_strict_reply(text, criteria)
        if quick is not None:
            return quick
    # The patterns of the tolerant parser take longer to compile than a thousand strict replies to
    # parse, and a run of cached replies seldom needs them.
    from judgekit.prompts.parsing.resolve import parse_tolerantly  # noqa: PLC0415

    return parse_tolerantly(text, expected_criteria(criteria), finish_reason, judged_text)
