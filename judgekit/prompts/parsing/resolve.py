"""Decides which scores or preferences a JSON reply states, or why none of them can be trusted.

Both are read in one way: a preference is a score on the scale second, tie, first.
Replies in the formats of published judges are read in `text_formats`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from judgekit.errors import RefusalError, ReplyFormatError
from judgekit.prompts.parsing.extract import (
    MOST_STATED,
    declines,
    find_candidates,
    stated_refusal,
    stray_candidates,
    text_candidates,
)
from judgekit.prompts.parsing.fields import (
    EVIDENCE_KEYS,
    HIGHEST_SIDE_SCORE,
    LABEL_KEYS,
    LOWEST_SIDE_SCORE,
    MAXIMUM_KEYS,
    MINIMUM_KEYS,
    PREFERENCE_KEYS,
    RATIONALE_KEYS,
    SCORE_KEYS,
    SLOTS_BY_SCORE,
    CriterionReply,
    PreferenceReply,
    expected_choices,
    expected_criteria,
    fold_key,
    is_second_score,
)
from judgekit.prompts.parsing.nodes import (
    Arr,
    JsonFaultError,
    Leaf,
    Obj,
    UnresolvedError,
    parse_tolerant_json,
    plain_number,
    quote_value,
    read_score,
)
from judgekit.prompts.parsing.quotation import judged_texts
from judgekit.prompts.parsing.refusal import is_judge_refusal
from judgekit.prompts.parsing.scanner import scan_reply

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized

    from judgekit.prompts.parsing.extract import ScoreCandidate
    from judgekit.prompts.parsing.fields import ExpectedCriteria
    from judgekit.prompts.parsing.nodes import KeyValue, Node
    from judgekit.prompts.parsing.quotation import JudgedTexts
    from judgekit.prompts.parsing.scanner import Scan
    from judgekit.records import Criterion

    Found = Mapping[str, tuple[ScoreCandidate, float | None]]

# Providers spell the reasons why a reply was withheld, or cut off, in these ways.
_FILTERED = frozenset(
    {"content_filter", "content-filter", "contentfilter", "safety", "refusal", "blocked"}
    | {"prohibited_content", "guardrail_intervened", "content_filtered"}
)
_CUT_OFF = frozenset({"length", "max_tokens", "max_output_tokens", "model_length", "incomplete"})
_INVISIBLE = re.compile("[\\s\x00\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]+")
_PAGE = re.compile(r"\s{0,99}<(?:!doctype html|html)\b", re.IGNORECASE)

# Keys with a value outside of any structure.
_LOOSE_SCORE = re.compile(
    r"[\"“'](?P<key>[^\"“”'\n:]{1,80})[\"”']\s{0,20}[:\uff1a]\s{0,20}"
    r"(?:[\"“']?(?P<value>[+-]?[0-9]{1,20}(?:\.[0-9]{1,20})?))?"
)
_LOOSE_CHOICE = re.compile(
    r"(?P<key>[^\W\d_][\w -]{0,79})[\"'”\u2019*_`]{0,4}\s{0,9}[:=\uff1a]\s{0,9}"
    r"[\"'“\u2018*_`\[(]{0,4}(?P<value>first|second|tie)\b",
    re.IGNORECASE,
)
_QUOTES = "\"'“"

# What is wrong with the choices, behind what to answer.
_CHOICE_MESSAGES = {
    "ambiguous": ", once for each question; the reply gave several that differ.",
    "missing_criteria": ", for every question; the reply left one out.",
    "not_a_choice": "; the reply said something else.",
}
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
    scores: dict[str, float] = {}
    for name, (_, raw) in _parse_tolerantly(text, names, finish_reason, judged_text).items():
        if raw is None:
            message = f"Give a score for {name!r}; the reply said it cannot be assessed."
            raise ReplyFormatError(message, reason="cannot_assess", reply=text)
        scores[name] = raw
    return scores


def resolve_criteria(
    text: str | None,
    criteria: Sequence[Criterion],
    finish_reason: str | None,
    judged_text: str | Sequence[str] | None,
) -> dict[str, CriterionReply]:
    """What a judge's reply in any layout states on each criterion."""
    names = expected_criteria(criteria)
    found = _parse_tolerantly(text, names, finish_reason, judged_text)
    return {name: _criterion_reply(mark, raw, names) for name, (mark, raw) in found.items()}


def resolve_preferences(
    text: str | None,
    questions: Sequence[str],
    finish_reason: str | None,
    judged_text: Sequence[str],
) -> dict[str, PreferenceReply]:
    """What a judge's reply in any layout prefers, for each question."""
    names = expected_choices(questions)
    found = _parse_tolerantly(text, names, finish_reason, judged_text)
    return {
        name: _preference_reply(mark, _criterion_reply(mark, raw, names))
        for name, (mark, raw) in found.items()
    }


def require_text(text: str | None, finish_reason: str | None) -> str:
    """The reply, when there is one to read."""
    if (finish_reason or "").casefold() in _FILTERED:
        excerpt = f": {text.strip()[:200]}" if text and text.strip() else ""
        raise RefusalError(f"a content filter withheld the reply{excerpt}", reply=text)
    if text is not None and _PAGE.match(text):
        # A proxy or a login page answered in place of the model.
        message = "Give one JSON object; the reply was a page of HTML."
        raise ReplyFormatError(message, reason="api_error", reply=text)
    if text is None or not _INVISIBLE.sub("", text[:2000] if text[:2000].strip() else text):
        reason = "truncated" if is_cut_off(finish_reason) else "empty"
        raise ReplyFormatError("Give an answer; the reply was empty.", reason=reason, reply=text)
    return text


def is_cut_off(finish_reason: str | None) -> bool:
    """Whether a reply was cut off."""
    return (finish_reason or "").casefold() in _CUT_OFF


def raise_unless_readable(fault: str | None, text: str) -> None:
    """Refuse a reply with a structure that cannot be parsed to its end."""
    if fault is not None:
        raise ReplyFormatError(_FAULTS[fault], reason=fault, reply=text)


def raise_if_too_many(found: Sized, text: str) -> None:
    """Refuse a reply that states more scores or choices than a verdict can have."""
    # What follows takes time for each pair of them.
    if len(found) > MOST_STATED:
        raise_unless_readable("too_long", text)


def _unwrap_json_string(text: str) -> str:
    """A reply that is one JSON string with a structure in it, without its quotes."""
    # Such a reply was encoded as JSON twice; what it quotes would be escaped text otherwise.
    bare = text.strip()
    if bare[0] not in _QUOTES or "{" not in bare:
        return text
    try:
        node = parse_tolerant_json(bare)
    except JsonFaultError:
        return text
    is_string = isinstance(node, Leaf) and node.kind == "string" and node.end == len(bare)
    return node.text if isinstance(node, Leaf) and is_string else text


def _is_quotation(
    marks: Sequence[ScoreCandidate], names: ExpectedCriteria, judged: JudgedTexts
) -> bool:
    """Whether the judged text contains the scores of a document in the same structure."""
    trusted = [mark for mark in marks if mark.leaf is not None]
    if not trusted:
        return False
    source = trusted[0].source
    start, end = min(m.start for m in trusted), max(m.end for m in trusted)
    # Several scores in the same words are no accident; one alone (`"score": 5`) may be, so it
    # counts as quoted only with the object around it, or with its quotation marks.
    if len({mark.criterion for mark in trusted}) > 1:
        return judged.has(source[start:end])
    inside = min(mark.inside for mark in trusted)
    return judged.has(source[inside:end]) or (
        not names.single and judged.has_quoted(source[start:end])
    )


def _parse_tolerantly(
    text: str | None,
    names: ExpectedCriteria,
    finish_reason: str | None,
    judged_text: str | Sequence[str] | None,
) -> Found:
    reply, judged = require_text(text, finish_reason), judged_texts(judged_text)
    scan = scan_reply(_unwrap_json_string(reply), names, judged)
    raise_unless_readable(scan.fault, reply)
    documents, lines = _candidates(scan, names)
    raise_if_too_many(lines, reply)
    own = [marks for marks in documents if not _is_quotation(marks, names, judged)]
    own_lines = [mark for mark in lines if not _is_quoted_line(mark, judged)]
    # The rest of the line at which a reply was cut off may have been another number.
    if is_cut_off(finish_reason):
        own_lines = [mark for mark in own_lines if mark.closed]
    n_echoes = len(documents) - len(own) + len(lines) - len(own_lines)
    if any(mark.trusted for marks in own for mark in marks):
        strays = [] if names.are_choices else stray_candidates(scan.prose, names)
        raise_if_too_many(strays, reply)
        own.append([mark for mark in strays if not _is_quoted_line(mark, judged)])
    elif not own_lines:
        _raise_without_verdict(scan, names, reply, finish_reason, n_echoes)
    try:
        found = resolve_scores(own, own_lines, names)
    except UnresolvedError as error:
        # What a cut-off reply lacks was not left out: more tokens help, not another answer.
        cut = is_cut_off(finish_reason) and error.reason == "missing_criteria"
        reason, message = "truncated" if cut else error.reason, error.message
        if names.are_choices:
            message = names.criteria[0].ask + _CHOICE_MESSAGES[error.reason]
        raise ReplyFormatError(message, reason=reason, reply=reply) from error
    if scan.documents:
        _check_loose_keys(scan.prose, found, names, judged, reply)
    return found


def _candidates(
    scan: Scan, names: ExpectedCriteria
) -> tuple[list[list[ScoreCandidate]], list[ScoreCandidate]]:
    """What may be the verdict: in each document, and in the lines beside them."""
    if not names.are_choices:
        documents = [find_candidates(node, scan.text, names) for node in scan.documents]
        return documents, text_candidates(scan.prose, names)
    # "First" and "second" are words of any prose, so a choice counts only in a structure.
    nodes = [_choices_as_scores(node, names) for node in scan.documents]
    return [find_candidates(node, scan.text, names) for node in nodes], []


def _is_quoted_line(mark: ScoreCandidate, judged: JudgedTexts) -> bool:
    if mark.leaf is None:
        return False
    is_line = mark.leaf.kind == "line" and mark.leaf.start >= mark.start and mark.source != ""
    value = mark.source[mark.start : mark.leaf.start] + mark.leaf.text
    # The shorter one first: the search for what is not there takes longest.
    return (is_line and judged.has(value)) or judged.has(mark.source[mark.start : mark.end])


def _check_loose_keys(
    prose: str, found: Found, names: ExpectedCriteria, judged: JudgedTexts, reply: str
) -> None:
    """Refuse a verdict that is contradicted by keys outside of any structure."""
    # They are the rest of an object that a quotation in it broke in two.
    pattern, keys = _LOOSE_SCORE, SCORE_KEYS
    if names.are_choices:
        pattern, keys = _LOOSE_CHOICE, PREFERENCE_KEYS
    for match in pattern.finditer(prose):
        index, value = names.find(key := match["key"].strip()), match["value"]
        verdict_key = key.rpartition(" ")[2] if names.are_choices else key
        if index is None and fold_key(verdict_key) not in keys:
            continue
        if index is None and names.are_choices and names.single:
            index = 0
        raw = None if index is None else found[names.criteria[index].name][1]
        if names.are_choices:
            value = SLOTS_BY_SCORE.index(value.casefold())
        same = raw is not None and value is not None and float(value) == raw
        if not same and not judged.has(match.group()):
            message = "Give one JSON object and nothing else."
            if names.are_choices:
                ask, slot = names.criteria[0].ask, match["value"].casefold()
                message = f"{ask}, and nothing else; the reply also said {slot!r} beside it."
            raise ReplyFormatError(message, reason="ambiguous", reply=reply)


def _raise_without_verdict(
    scan: Scan, names: ExpectedCriteria, reply: str, finish_reason: str | None, n_echoes: int
) -> NoReturn:
    stated = next((text for node in scan.documents if (text := stated_refusal(node))), None)
    if stated is not None or (not scan.documents and is_judge_refusal(scan.prose)):
        excerpt = (stated or scan.prose).strip()[:200]
        raise RefusalError(f"the judge declined: {excerpt}", reply=reply)
    if is_cut_off(finish_reason):
        raise_unless_readable("truncated", reply)
    wanted = ", ".join(repr(criterion.name) for criterion in names.criteria[:5])
    ask = f"Give one JSON object with a score for {wanted}; the reply held no score."
    own = "Give your own verdict as one JSON object; the reply only quoted one from the output."
    if names.are_choices:
        ask = f"{names.criteria[0].ask}; the reply held no choice."
        own = f"{names.criteria[0].ask}; the reply only quoted one from an output."
    if n_echoes:
        raise ReplyFormatError(own, reason="echo", reply=reply)
    reason = "missing_criteria" if scan.documents else "no_verdict"
    raise ReplyFormatError(ask, reason=reason, reply=reply)


def resolve_scores(
    documents: Sequence[Sequence[ScoreCandidate]],
    lines: Sequence[ScoreCandidate],
    names: ExpectedCriteria,
) -> dict[str, tuple[ScoreCandidate, float | None]]:
    """The one verdict that all scores found agree on, each with its candidate."""
    with_scores = [marks for marks in documents if any(mark.trusted for mark in marks)]
    verdict = [mark for marks in with_scores for mark in marks if mark.trusted]
    beside = [mark for marks in documents for mark in marks if not mark.trusted]
    if verdict:
        # Several documents are one verdict when one has all, or when each has one criterion.
        sizes = [len({mark.criterion for mark in marks if mark.trusted}) for marks in with_scores]
        if len(sizes) > 1 and max(sizes) < len(names.criteria) and max(sizes) > 1:
            raise UnresolvedError(
                "ambiguous", "Give one JSON object for all criteria, not several."
            )
        beside += lines
    else:
        verdict = list(lines)
    found: dict[str, tuple[ScoreCandidate, float | None]] = {}
    missing = [w.name for i, w in enumerate(names.criteria) if not _of_criterion(verdict, i)]
    if missing:
        message = f"Give a score for {', '.join(map(repr, missing[:5]))} too; the reply had none."
        raise UnresolvedError("missing_criteria", message)
    for index, criterion in enumerate(names.criteria):
        mark, raw = _agreed_score(_of_criterion(verdict, index), names)
        _check_beside(_of_criterion(beside, index), raw, names)
        found[criterion.name] = mark, raw
    return found


def _of_criterion(marks: Iterable[ScoreCandidate], index: int) -> list[ScoreCandidate]:
    return [mark for mark in marks if mark.criterion == index]


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
        _raise_two(marks, names)
    raw, mark = next(iter(scores.items()))
    return mark, raw


def _check_beside(
    marks: Sequence[ScoreCandidate], raw: float | None, names: ExpectedCriteria
) -> None:
    """Refuse a verdict that a score beside it contradicts; what is not a score cannot."""
    for mark in marks:
        try:
            other = _candidate_score(mark, names)
        except UnresolvedError:
            continue
        if other != raw:
            _raise_two(marks, names)


def _candidate_score(mark: ScoreCandidate, names: ExpectedCriteria) -> float | None:
    wanted = names.criteria[mark.criterion]
    if mark.fault == "ambiguous":
        message = f"Give one score for {wanted.name!r} and no other beside it."
        raise UnresolvedError("ambiguous", message)
    if mark.fault is not None:
        text = "" if mark.leaf is None else mark.leaf.text
        message = f"{wanted.ask}; the reply said {quote_value(text)}."
        raise UnresolvedError(mark.fault, message)
    # Without a value the judge declined to assess the criterion.
    return None if mark.leaf is None else read_score(mark.leaf, wanted)


def _raise_two(marks: Sequence[ScoreCandidate], names: ExpectedCriteria) -> None:
    name = names.criteria[marks[0].criterion].name
    texts = sorted({mark.leaf.text for mark in marks if mark.leaf is not None})
    values = f": {' and '.join(quote_value(text) for text in texts[:2])}" if len(texts) > 1 else ""
    message = f"Give one score for {name!r}; the reply gave two{values}."
    raise UnresolvedError("ambiguous", message)


_EVIDENCE_KEYS = frozenset({*EVIDENCE_KEYS, "evidence first", "evidence second"})
"""Keys of lists that belong to one criterion."""


def _criterion_reply(
    mark: ScoreCandidate, raw: float | None, names: ExpectedCriteria
) -> CriterionReply:
    """A score with the fields beside it."""
    # An object around all criteria has the rationale of none of them.
    owners = [owner for owner in mark.owners if names.single or not _is_shared(owner, names)]
    rationale = _first_value(owners, RATIONALE_KEYS)
    evidence = _first_value(owners, EVIDENCE_KEYS)
    stated = _first_value(owners, ("confidence",))
    confidence = plain_number(stated) if isinstance(stated, Leaf) else None
    return CriterionReply(
        raw=raw,
        rationale=_rationale_text(rationale) or mark.note or None,
        evidence=() if evidence is None else tuple(_evidence_quotes(evidence)),
        confidence=confidence if confidence is not None and 0 <= confidence <= 1 else None,
    )


def _is_shared(owner: Obj, names: ExpectedCriteria) -> bool:
    """Whether an object contains whole criteria, so that its other keys belong to none of them."""
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


# The scores of the two outputs beside a choice get keys that no reader of scores knows.
_SIDE_KEYS = {
    "evidence first": "evidence_first", "evidence second": "evidence_second",
    "score first": "raw first", "score second": "raw second",
}  # fmt: skip
_IGNORED_KEY = "not the choice"


def _choices_as_scores(node: Node, names: ExpectedCriteria) -> Node:
    """A document in which every choice has the key of a score, and nothing else has one."""
    if isinstance(node, Arr):
        return replace(node, items=tuple(_choices_as_scores(item, names) for item in node.items))
    if not isinstance(node, Obj):
        return node
    is_declined = declines(node)
    pairs = [_choice_as_score(pair, names, is_declined=is_declined) for pair in node.pairs]
    return replace(node, pairs=tuple(pairs))


def _choice_as_score(pair: KeyValue, names: ExpectedCriteria, *, is_declined: bool) -> KeyValue:
    key, value = fold_key(pair.key), pair.value
    is_question = names.find(pair.key) is not None
    if isinstance(value, Leaf) and (key in PREFERENCE_KEYS or is_question):
        # Beside `assessable: false` strict modes still demand a choice, which means nothing.
        leaf = replace(value, kind="null") if is_declined else value
        return replace(pair, key=pair.key if is_question else "score", value=leaf)
    if key in _SIDE_KEYS:
        return replace(pair, key=_SIDE_KEYS[key])
    if is_question or key in LABEL_KEYS or key in EVIDENCE_KEYS:
        return replace(pair, value=_choices_as_scores(value, names))
    if key in PREFERENCE_KEYS:  # an object around the choice, or a list of them
        return replace(pair, key="result", value=_choices_as_scores(value, names))
    if isinstance(value, Leaf) and (
        key in SCORE_KEYS | MAXIMUM_KEYS | MINIMUM_KEYS or is_second_score(pair.key)
    ):
        return replace(pair, key=_IGNORED_KEY)
    return replace(pair, value=_choices_as_scores(value, names))


def _preference_reply(candidate: ScoreCandidate, reply: CriterionReply) -> PreferenceReply:
    owner = candidate.owners[0] if candidate.owners else Obj((), 0, 0)
    # The first of two equal keys counts, as everywhere in a reply.
    beside = {pair.key: pair.value for pair in reversed(owner.pairs)}
    raws = [beside.get(key) for key in ("raw first", "raw second")]
    numbers = [plain_number(node) if isinstance(node, Leaf) else None for node in raws]
    sides = [
        number if number is not None and LOWEST_SIDE_SCORE <= number <= HIGHEST_SIDE_SCORE else None
        for number in numbers
    ]
    return PreferenceReply(
        choice=None if reply.raw is None else SLOTS_BY_SCORE[int(reply.raw)],
        rationale=reply.rationale,
        evidence_first=_quotes(beside.get("evidence_first")),
        evidence_second=_quotes(beside.get("evidence_second")),
        confidence=reply.confidence,
        raw_first=sides[0],
        raw_second=sides[1],
    )


def _quotes(node: Node | None) -> tuple[str, ...]:
    items = node.items if isinstance(node, Arr) else () if node is None else (node,)
    texts = [
        item.text.strip() for item in items if isinstance(item, Leaf) and item.kind == "string"
    ]
    return tuple(filter(None, texts))
