"""Decides which scores a reply states, or why it states none that can be trusted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn

from judgekit.errors import RefusalError, ReplyFormatError
from judgekit.prompts.replies.echoes import is_json_like, judged_texts
from judgekit.prompts.replies.layouts import find_marks, names_refusal
from judgekit.prompts.replies.names import SCORE_KEYS, fold_key
from judgekit.prompts.replies.quick import quick_reply
from judgekit.prompts.replies.refusals import is_refusal
from judgekit.prompts.replies.scales import wanted_names
from judgekit.prompts.replies.scanning import scan_reply
from judgekit.prompts.replies.settling import UnsettledError, settle
from judgekit.prompts.replies.text_marks import MOST_STATED, stray_marks, text_marks
from judgekit.prompts.replies.tolerant_json import JsonFaultError, parse_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Sized

    from judgekit.prompts.replies.answers import CriterionReply
    from judgekit.prompts.replies.echoes import Judged
    from judgekit.prompts.replies.layouts import Mark
    from judgekit.prompts.replies.scales import WantedNames
    from judgekit.prompts.replies.scanning import Scan
    from judgekit.records.rubric import Criterion

FILTERED = frozenset(
    {"content_filter", "content-filter", "contentfilter", "safety", "refusal", "blocked"}
    | {"prohibited_content", "guardrail_intervened", "content_filtered"}
)
"""Finish reasons that say the provider or the model held the reply back."""

CUT = frozenset({"length", "max_tokens", "max_output_tokens", "model_length", "incomplete"})
"""Finish reasons that say the reply was cut off."""

_INVISIBLE = re.compile("[\\s\x00\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]+")
_PAGE = re.compile(r"\s{0,99}<(?:!doctype html|html)\b", re.IGNORECASE)
_LOOSE_KEY = re.compile(
    r"[\"“']([^\"“”'\n:]{1,80})[\"”']\s{0,20}[:\uff1a]\s{0,20}(?:[\"“']?([+-]?[0-9]{1,20}(?:\.[0-9]{1,20})?))?"
)
_QUOTES = "\"'“"
_FAULTS = {
    "truncated": "Give one complete JSON object; the reply ended before its verdict was closed.",
    "garbled": "Give one valid JSON object; the reply's JSON could not be read.",
    "too_deep": "Give one flat JSON object; the reply was nested too deeply.",
    "too_long": "Give one short JSON object and nothing else; the reply was too long to read.",
}


def parse_reply(
    text: str | None,
    criteria: Sequence[Criterion | Mapping[str, object]],
    finish_reason: str | None = "stop",
    judged_text: str | Sequence[str] | None = None,
) -> dict[str, float]:
    """The scores a judge's reply states."""
    names = wanted_names(criteria)
    replies = _read(text, names, finish_reason, judged_text)
    scores: dict[str, float] = {}
    for name, reply in replies.items():
        if reply.raw is None:
            message = f"Give a score for {name!r}; the reply said it cannot be assessed."
            raise ReplyFormatError(message, reason="cannot_assess", reply=text)
        scores[name] = reply.raw
    return scores


def read_reply(
    text: str | None,
    criteria: Sequence[Criterion],
    *,
    finish_reason: str | None = "stop",
    judged_text: str | Sequence[str] | None = None,
) -> dict[str, CriterionReply]:
    """What a judge's reply says about each criterion: score, rationale, evidence, confidence."""
    if text is not None and finish_reason in {"stop", None} and not is_json_like(judged_text):
        quick = quick_reply(text, criteria)
        if quick is not None:
            return quick
    return _read(text, wanted_names(criteria), finish_reason, judged_text)


def checked_text(text: str | None, finish_reason: str | None) -> str:
    """The reply, when there is one to read."""
    if (finish_reason or "").casefold() in FILTERED:
        said = f": {text.strip()[:200]}" if text and text.strip() else ""
        raise RefusalError(f"the reply was held back by a content filter{said}", reply=text)
    if text is not None and _PAGE.match(text):
        message = "Give one JSON object; the reply was a page of HTML."
        raise ReplyFormatError(message, reason="api_error", reply=text)
    if text is None or not _INVISIBLE.sub("", text[:2000] if text[:2000].strip() else text):
        reason = "truncated" if is_cut(finish_reason) else "empty"
        raise ReplyFormatError("Give an answer; the reply was empty.", reason=reason, reply=text)
    return text


def is_cut(finish_reason: str | None) -> bool:
    """Whether a reply was cut off."""
    return (finish_reason or "").casefold() in CUT


def raise_unless_readable(fault: str | None, text: str) -> None:
    """Refuse a reply that has a structure nobody can read to its end."""
    if fault is not None:
        raise ReplyFormatError(_FAULTS[fault], reason=fault, reply=text)


def raise_if_too_many(found: Sized, text: str) -> None:
    """Refuse a reply that states more scores or choices than a verdict can have."""
    if len(found) > MOST_STATED:
        raise_unless_readable("too_long", text)


def decoded(text: str) -> str:
    """A reply that is one JSON string with a structure in it, without its quotes."""
    bare = text.strip()
    if bare[0] not in _QUOTES or "{" not in bare:
        return text
    try:
        node = parse_json(bare)
    except JsonFaultError:
        return text
    whole = node.end == len(bare) and getattr(node, "kind", "") == "string"
    return str(getattr(node, "text", text)) if whole else text


def is_echo(marks: Sequence[Mark], names: WantedNames, judged: Judged | None) -> bool:
    """Whether the scores of a document stand in the judged text in the same structure."""
    trusted = [mark for mark in marks if mark.leaf is not None]
    if judged is None or not trusted:
        return False
    source = trusted[0].source
    start, end = min(m.start for m in trusted), max(m.end for m in trusted)
    if len({mark.criterion for mark in trusted}) > 1:
        return judged.has(source[start:end])
    inside = min(mark.inside for mark in trusted)
    return judged.has(source[inside:end]) or (
        not names.single and judged.has_quoted(source[start:end])
    )


def _read(
    text: str | None,
    names: WantedNames,
    finish_reason: str | None,
    judged_text: str | Sequence[str] | None,
) -> dict[str, CriterionReply]:
    reply = checked_text(text, finish_reason)
    judged = judged_texts(judged_text)
    scan = scan_reply(decoded(reply), names, judged)
    raise_unless_readable(scan.fault, reply)
    documents = [find_marks(node, scan.text, names) for node in scan.documents]
    lines = text_marks(scan.prose, names)
    raise_if_too_many(lines, reply)
    kept = [marks for marks in documents if not is_echo(marks, names, judged)]
    kept_lines = [mark for mark in lines if not _is_line_echo(mark, judged)]
    if is_cut(finish_reason):
        kept_lines = [mark for mark in kept_lines if mark.closed]
    n_echoes = len(documents) - len(kept) + len(lines) - len(kept_lines)
    if any(mark.trusted for marks in kept for mark in marks):
        strays = stray_marks(scan.prose, names)
        raise_if_too_many(strays, reply)
        kept.append([mark for mark in strays if not _is_line_echo(mark, judged)])
    elif not kept_lines:
        _raise_without_verdict(scan, names, reply, finish_reason, n_echoes)
    try:
        found = settle(kept, kept_lines, names)
        _check_loose_keys(scan, found, names, judged)
    except UnsettledError as error:
        cut = is_cut(finish_reason) and error.reason == "missing_criteria"
        reason = "truncated" if cut else error.reason
        raise ReplyFormatError(error.message, reason=reason, reply=reply) from error
    return found


def _is_line_echo(mark: Mark, judged: Judged | None) -> bool:
    if judged is None or mark.leaf is None:
        return False
    if mark.leaf.kind == "line" and mark.leaf.start >= mark.start and mark.source:
        return judged.has(mark.source[mark.start : mark.leaf.start] + mark.leaf.text) or (
            judged.has(mark.source[mark.start : mark.end])
        )
    return judged.has(mark.source[mark.start : mark.end])


def _check_loose_keys(
    scan: Scan, found: dict[str, CriterionReply], names: WantedNames, judged: Judged | None
) -> None:
    """Keys of a verdict outside of any structure: the rest of one that was broken by a quotation."""
    if not scan.documents:
        return
    for match in _LOOSE_KEY.finditer(scan.prose):
        key, number = match.groups()
        index = names.find(key)
        if index is None and fold_key(key) not in SCORE_KEYS:
            continue
        raw = None if index is None else found[names.criteria[index].name].raw
        same = number is not None and raw is not None and float(number) == raw
        if not same and not (judged and judged.has(match.group())):
            raise UnsettledError("ambiguous", "Give one JSON object and nothing else.")


def _raise_without_verdict(
    scan: Scan, names: WantedNames, reply: str, finish_reason: str | None, n_echoes: int
) -> NoReturn:
    said = next((t for node in scan.documents if (t := names_refusal(node))), None)
    if said is not None or (not scan.documents and is_refusal(scan.prose)):
        raise RefusalError(f"the judge declined: {(said or scan.prose).strip()[:200]}", reply=reply)
    asked = ", ".join(repr(wanted.name) for wanted in names.criteria[:5])
    if is_cut(finish_reason):
        raise_unless_readable("truncated", reply)
    if n_echoes:
        raise ReplyFormatError(
            "Give your own verdict as one JSON object; the reply only quoted one from the output.",
            reason="echo",
            reply=reply,
        )
    reason = "missing_criteria" if scan.documents else "no_verdict"
    raise ReplyFormatError(
        f"Give one JSON object with a score for {asked}; the reply held no score.",
        reason=reason,
        reply=reply,
    )
