"""Decides which scores a reply states, or why it states none that can be trusted.

The entry points are `parse_reply` and `parse_tolerantly`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn

from judgekit.errors import RefusalError, ReplyFormatError
from judgekit.prompts.parsing.extract import (
    MOST_STATED,
    find_candidates,
    stated_refusal,
    stray_candidates,
    text_candidates,
)
from judgekit.prompts.parsing.fields import (
    EVIDENCE_KEYS,
    RATIONALE_KEYS,
    SCORE_KEYS,
    expected_criteria,
    fold_key,
)
from judgekit.prompts.parsing.nodes import (
    Arr,
    JsonFaultError,
    Leaf,
    NoScoreError,
    Obj,
    parse_tolerant_json,
    plain_number,
    quote_value,
    read_score,
)
from judgekit.prompts.parsing.quotation import judged_texts
from judgekit.prompts.parsing.refusal import is_judge_refusal
from judgekit.prompts.parsing.scanner import scan_reply
from judgekit.prompts.parsing.strict import CriterionReply

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized

    from judgekit.prompts.parsing.extract import ScoreCandidate
    from judgekit.prompts.parsing.fields import ExpectedCriteria
    from judgekit.prompts.parsing.nodes import Node
    from judgekit.prompts.parsing.quotation import JudgedTexts
    from judgekit.prompts.parsing.scanner import Scan
    from judgekit.records import Criterion

FILTERED_REASONS = frozenset(
    {"content_filter", "content-filter", "contentfilter", "safety", "refusal", "blocked"}
    | {"prohibited_content", "guardrail_intervened", "content_filtered"}
)
"""Finish reasons that say the provider or the model held the reply back."""

TRUNCATED_REASONS = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "incomplete"}
)
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
    names = expected_criteria(criteria)
    replies = parse_tolerantly(text, names, finish_reason, judged_text)
    scores: dict[str, float] = {}
    for name, reply in replies.items():
        if reply.raw is None:
            message = f"Give a score for {name!r}; the reply said it cannot be assessed."
            raise ReplyFormatError(message, reason="cannot_assess", reply=text)
        scores[name] = reply.raw
    return scores


def require_text(text: str | None, finish_reason: str | None) -> str:
    """The reply, when there is one to read."""
    if (finish_reason or "").casefold() in FILTERED_REASONS:
        said = f": {text.strip()[:200]}" if text and text.strip() else ""
        raise RefusalError(f"the reply was held back by a content filter{said}", reply=text)
    if text is not None and _PAGE.match(text):
        message = "Give one JSON object; the reply was a page of HTML."
        raise ReplyFormatError(message, reason="api_error", reply=text)
    if text is None or not _INVISIBLE.sub("", text[:2000] if text[:2000].strip() else text):
        reason = "truncated" if is_cut_off(finish_reason) else "empty"
        raise ReplyFormatError("Give an answer; the reply was empty.", reason=reason, reply=text)
    return text


def is_cut_off(finish_reason: str | None) -> bool:
    """Whether a reply was cut off."""
    return (finish_reason or "").casefold() in TRUNCATED_REASONS


def raise_unless_readable(fault: str | None, text: str) -> None:
    """Refuse a reply with a structure that cannot be parsed to its end."""
    if fault is not None:
        raise ReplyFormatError(_FAULTS[fault], reason=fault, reply=text)


def raise_if_too_many(found: Sized, text: str) -> None:
    """Refuse a reply that states more scores or choices than a verdict can have."""
    if len(found) > MOST_STATED:
        raise_unless_readable("too_long", text)


def unwrap_json_string(text: str) -> str:
    """A reply that is one JSON string with a structure in it, without its quotes."""
    bare = text.strip()
    if bare[0] not in _QUOTES or "{" not in bare:
        return text
    try:
        node = parse_tolerant_json(bare)
    except JsonFaultError:
        return text
    whole = node.end == len(bare) and getattr(node, "kind", "") == "string"
    return str(getattr(node, "text", text)) if whole else text


def is_quotation(
    marks: Sequence[ScoreCandidate], names: ExpectedCriteria, judged: JudgedTexts | None
) -> bool:
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


def parse_tolerantly(
    text: str | None,
    names: ExpectedCriteria,
    finish_reason: str | None,
    judged_text: str | Sequence[str] | None,
) -> dict[str, CriterionReply]:
    """What a reply in any layout says about each criterion."""
    reply = require_text(text, finish_reason)
    judged = judged_texts(judged_text)
    scan = scan_reply(unwrap_json_string(reply), names, judged)
    raise_unless_readable(scan.fault, reply)
    documents = [find_candidates(node, scan.text, names) for node in scan.documents]
    lines = text_candidates(scan.prose, names)
    raise_if_too_many(lines, reply)
    kept = [marks for marks in documents if not is_quotation(marks, names, judged)]
    kept_lines = [mark for mark in lines if not _is_quoted_line(mark, judged)]
    if is_cut_off(finish_reason):
        kept_lines = [mark for mark in kept_lines if mark.closed]
    n_echoes = len(documents) - len(kept) + len(lines) - len(kept_lines)
    if any(mark.trusted for marks in kept for mark in marks):
        strays = stray_candidates(scan.prose, names)
        raise_if_too_many(strays, reply)
        kept.append([mark for mark in strays if not _is_quoted_line(mark, judged)])
    elif not kept_lines:
        _raise_without_verdict(scan, names, reply, finish_reason, n_echoes)
    try:
        found = resolve_scores(kept, kept_lines, names)
        _check_loose_keys(scan, found, names, judged)
    except UnresolvedError as error:
        cut = is_cut_off(finish_reason) and error.reason == "missing_criteria"
        reason = "truncated" if cut else error.reason
        raise ReplyFormatError(error.message, reason=reason, reply=reply) from error
    return found


def _is_quoted_line(mark: ScoreCandidate, judged: JudgedTexts | None) -> bool:
    if judged is None or mark.leaf is None:
        return False
    if mark.leaf.kind == "line" and mark.leaf.start >= mark.start and mark.source:
        return judged.has(mark.source[mark.start : mark.leaf.start] + mark.leaf.text) or (
            judged.has(mark.source[mark.start : mark.end])
        )
    return judged.has(mark.source[mark.start : mark.end])


def _check_loose_keys(
    scan: Scan,
    found: dict[str, CriterionReply],
    names: ExpectedCriteria,
    judged: JudgedTexts | None,
) -> None:
    """Keys of a verdict outside of any structure.

    The rest of one that was broken by a quotation.
    """
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
            raise UnresolvedError("ambiguous", "Give one JSON object and nothing else.")


def _raise_without_verdict(
    scan: Scan, names: ExpectedCriteria, reply: str, finish_reason: str | None, n_echoes: int
) -> NoReturn:
    said = next((t for node in scan.documents if (t := stated_refusal(node))), None)
    if said is not None or (not scan.documents and is_judge_refusal(scan.prose)):
        raise RefusalError(f"the judge declined: {(said or scan.prose).strip()[:200]}", reply=reply)
    asked = ", ".join(repr(wanted.name) for wanted in names.criteria[:5])
    if is_cut_off(finish_reason):
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


class UnresolvedError(Exception):
    """The scores found make no single verdict."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


def resolve_scores(
    documents: Sequence[Sequence[ScoreCandidate]],
    lines: Sequence[ScoreCandidate],
    names: ExpectedCriteria,
) -> dict[str, CriterionReply]:
    """The one verdict that all scores found agree on."""
    with_scores = [marks for marks in documents if any(mark.trusted for mark in marks)]
    verdict = [mark for marks in with_scores for mark in marks if mark.trusted]
    beside = [mark for marks in documents for mark in marks if not mark.trusted]
    if verdict:
        _check_joined(with_scores, names)
        beside += lines
    else:
        verdict = list(lines)
    by_name: dict[str, CriterionReply] = {}
    missing = [w.name for i, w in enumerate(names.criteria) if not _of_criterion(verdict, i)]
    if missing:
        wanted = ", ".join(map(repr, missing[:5]))
        raise UnresolvedError(
            "missing_criteria", f"Give a score for {wanted} too; the reply had none."
        )
    for index, criterion in enumerate(names.criteria):
        mark, raw = _agreed_score(_of_criterion(verdict, index), names)
        _check_beside(_of_criterion(beside, index), raw, names)
        by_name[criterion.name] = criterion_reply(mark, raw, names)
    return by_name


def _of_criterion(marks: Iterable[ScoreCandidate], index: int) -> list[ScoreCandidate]:
    return [mark for mark in marks if mark.criterion == index]


def _check_joined(documents: Sequence[Sequence[ScoreCandidate]], names: ExpectedCriteria) -> None:
    """Several documents are one verdict when one has all, or when each has one criterion."""
    sizes = [len({mark.criterion for mark in marks if mark.trusted}) for marks in documents]
    if len(sizes) > 1 and max(sizes) < len(names.criteria) and max(sizes) > 1:
        raise UnresolvedError("ambiguous", "Give one JSON object for all criteria, not several.")


def _agreed_score(
    marks: Sequence[ScoreCandidate], names: ExpectedCriteria
) -> tuple[ScoreCandidate, float | None]:
    """The score all marks of a criterion state; the first one with something beside it."""
    problems: list[UnresolvedError] = []
    scores: dict[float | None, ScoreCandidate] = {}
    for mark in marks:
        try:
            raw = _candidate_score(mark, names)
        except UnresolvedError as problem:
            problems.append(problem)
        else:
            scores.setdefault(raw, mark)
    if problems and not scores:
        raise problems[0]
    if problems or len(scores) > 1:
        _raise_two(names.criteria[marks[0].criterion].name, marks)
    raw, mark = next(iter(scores.items()))
    return mark, raw


def _check_beside(
    marks: Sequence[ScoreCandidate], raw: float | None, names: ExpectedCriteria
) -> None:
    """Whether a score beside a verdict contradicts it; what is no score cannot."""
    for mark in marks:
        try:
            other = _candidate_score(mark, names)
        except UnresolvedError:
            continue
        if other != raw:
            _raise_two(names.criteria[mark.criterion].name, marks)


def _candidate_score(mark: ScoreCandidate, names: ExpectedCriteria) -> float | None:
    wanted = names.criteria[mark.criterion]
    text = "" if mark.leaf is None else mark.leaf.text
    if mark.doubt == "ambiguous":
        message = f"Give one score for {wanted.name!r} and no other beside it."
        raise UnresolvedError("ambiguous", message)
    if mark.doubt is not None:
        raise UnresolvedError(mark.doubt, f"{wanted.ask}; the reply said {quote_value(text)}.")
    if mark.leaf is None:
        return None
    try:
        return read_score(mark.leaf, wanted)
    except NoScoreError as error:
        raise UnresolvedError(error.reason, error.message) from error


def _raise_two(name: str, marks: Sequence[ScoreCandidate]) -> None:
    said = sorted({mark.leaf.text for mark in marks if mark.leaf is not None})
    values = f": {' and '.join(quote_value(text) for text in said[:2])}" if len(said) > 1 else ""
    raise UnresolvedError("ambiguous", f"Give one score for {name!r}; the reply gave two{values}.")


_EVIDENCE_KEYS = frozenset({*EVIDENCE_KEYS, "evidence first", "evidence second"})
"""Keys of lists that belong to one criterion."""


def criterion_reply(
    mark: ScoreCandidate, raw: float | None, names: ExpectedCriteria
) -> CriterionReply:
    """A score with the fields beside it."""
    owners = [owner for owner in mark.owners if names.single or not _is_shared(owner, names)]
    rationale = _first_value(owners, RATIONALE_KEYS)
    evidence = _first_value(owners, EVIDENCE_KEYS)
    confidence = _first_value(owners, ("confidence",))
    return CriterionReply(
        raw=raw,
        rationale=_rationale_text(rationale) or mark.note or None,
        evidence=() if evidence is None else tuple(_evidence_quotes(evidence)),
        confidence=_confidence(confidence),
    )


def _is_shared(owner: Obj, names: ExpectedCriteria) -> bool:
    """Whether an object holds whole criteria, so that its other keys belong to none of them."""
    return any(
        names.find(pair.key) is not None or isinstance(pair.value, Obj | Arr)
        for pair in owner.pairs
        if fold_key(pair.key) not in _EVIDENCE_KEYS
    )


def _first_value(owners: Sequence[Obj], keys: Sequence[str]) -> Node | None:
    for owner in owners:
        found = {fold_key(pair.key): pair.value for pair in reversed(owner.pairs)}
        for key in keys:
            if key in found:
                return found[key]
    return None


def _evidence_quotes(node: Node) -> Iterator[str]:
    if isinstance(node, Arr):
        for item in node.items:
            yield from _evidence_quotes(item)
    elif isinstance(node, Obj):
        for pair in node.pairs:
            if fold_key(pair.key) in {"quote", "text"}:
                yield from _evidence_quotes(pair.value)
    elif text := _rationale_text(node):
        yield text


def _rationale_text(node: Node | None) -> str | None:
    if not isinstance(node, Leaf) or node.kind in {"null", "bool", "number"}:
        return None
    return node.text.strip() or None


def _confidence(node: Node | None) -> float | None:
    number = plain_number(node) if isinstance(node, Leaf) else None
    return number if number is not None and 0 <= number <= 1 else None
