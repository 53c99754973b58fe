"""Decides which scores or preferences a JSON reply states, or why none of them can be trusted.

Both are read in one way: a preference is a score on the scale second, tie, first.
Replies in the formats of published judges are read in `text_formats`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn, cast

from judgekit.errors import RefusalError, ReplyFormatError
from judgekit.prompts.parsing.extract import (
    MOST_STATED,
    ScoreCandidate,
    find_candidates,
    is_answer,
    stated_refusal,
    stray_candidates,
    text_candidates,
    without_fences,
)
from judgekit.prompts.parsing.fields import (
    PREFERENCE_KEYS,
    SCORE_KEYS,
    SLOTS_BY_SCORE,
    CriterionReply,
    ExpectedCriteria,
    PreferenceReply,
    count_words,
    expected_choices,
    expected_criteria,
    fold_key,
)
from judgekit.prompts.parsing.nodes import (
    JsonFaultError,
    Leaf,
    UnresolvedError,
    not_wanted,
    parse_tolerant_json,
    plain_number,
    quote_value,
    read_score,
)
from judgekit.prompts.parsing.ownership import (
    Aftermath,
    is_amid_prose,
    is_block,
    other_number,
    read_aftermath,
    refuses_beside,
    unquoted,
    withdraws,
    without_lead_in,
)
from judgekit.prompts.parsing.phrases import is_judge_refusal
from judgekit.prompts.parsing.quotation import JudgedTexts, judged_texts
from judgekit.prompts.parsing.reply_fields import (
    choices_as_scores,
    criterion_reply,
    preference_reply,
)
from judgekit.prompts.parsing.scanner import Scan, scan_reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence, Sized

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
_OWN_VERDICT = "Give your own verdict as one JSON object"
AMID_PROSE = "the reply gave its verdict only in a sentence or in brackets, as an example is given"
WITHDRAWN = "the prose after the verdict takes it back"
_NOTHING_ELSE = "Give one JSON object and nothing else"
_FAULTS = {
    "truncated": ("Give one complete JSON object", "the reply ended before its verdict was closed"),
    "garbled": ("Give one valid JSON object", "the reply's JSON could not be read"),
    "too_deep": ("Give one flat JSON object", "the reply was nested too deeply"),
    "too_long": ("Give one short JSON object and nothing else", "the reply was too long to read"),
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
            why = "the reply said it cannot be assessed"
            raise unreadable(f"Give a score for {name!r}", why, reason="cannot_assess", reply=text)
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
    return {name: criterion_reply(mark, raw, names) for name, (mark, raw) in found.items()}


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
        name: preference_reply(mark, criterion_reply(mark, raw, names))
        for name, (mark, raw) in found.items()
    }


def require_text(text: str | None, finish_reason: str | None) -> str:
    """The reply, when there is one to read."""
    if (finish_reason or "").casefold() in _FILTERED:
        excerpt = f": {text.strip()[:200]}" if text and text.strip() else ""
        raise RefusalError(f"a content filter withheld the reply{excerpt}", reply=text)
    if text is not None and _PAGE.match(text):
        # A proxy or a login page answered in place of the model.
        why = "the reply was a page of HTML"
        raise unreadable("Give one JSON object", why, reason="api_error", reply=text)
    if text is None or not _INVISIBLE.sub("", text[:2000] if text[:2000].strip() else text):
        reason = "truncated" if is_cut_off(finish_reason) else "empty"
        raise unreadable("Give an answer", "the reply was empty", reason=reason, reply=text)
    return text


def unreadable(ask: str, why: str, *, reason: str, reply: str | None) -> ReplyFormatError:
    """The error of a reply: why it cannot be read, and for the judge also what to answer."""
    return ReplyFormatError(why, reason=reason, reply=reply, instruction=f"{ask}; {why}.")


def echo_error(instruction: str, reply: str) -> ReplyFormatError:
    """The error of a reply whose only verdict is also in a text that others wrote."""
    why = (
        "the reply only quoted a verdict from the output or its case; if the judge meant it, use a "
        "template whose verdict is JSON with a rationale, such as criterion"
    )
    return ReplyFormatError(why, reason="echo", reply=reply, instruction=instruction)


def is_cut_off(finish_reason: str | None) -> bool:
    return (finish_reason or "").casefold() in _CUT_OFF


def raise_unless_readable(fault: str | None, text: str) -> None:
    """Refuse a reply with a structure that cannot be parsed to its end."""
    if fault is not None:
        raise unreadable(*_FAULTS[fault], reason=fault, reply=text)


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


def _is_quotation(marks: Sequence[ScoreCandidate], reply: _Reply) -> bool:
    """Whether the judged text contains the scores of a document."""
    names, judged = reply.names, reply.judged
    trusted = [mark for mark in marks if mark.leaf is not None]
    if not trusted:
        return False
    stated = [text for m in trusted if (text := criterion_reply(m, None, names).rationale)]
    # A quotation may end in an ellipsis, and have its keys in another order.
    reasons = [text for each in stated if count_words(text := each.rstrip(" .\u2026")) > 1]
    if (
        reasons
        and all(map(judged.has, reasons))
        and all(_is_stated(m, judged.has) for m in trusted)
    ):
        return True
    # With a rationale of its own, an answer is no quotation if it gives the same score.
    if reasons and all(is_answer(m.owners[0]) for m in trusted):
        return False
    source = trusted[0].source
    start, end = min(m.start for m in trusted), max(m.end for m in trusted)
    # Several scores in the same words are no accident; one alone (`"score": 5`) may be, so it
    # counts as quoted only with the object around it, or with its quotation marks.
    if len({mark.criterion for mark in trusted}) > 1:
        return judged.has(source[start:end]) or all(
            _is_stated(mark, judged.has_quoted, mark.start) for mark in trusted
        )
    inside = min(mark.inside for mark in trusted)
    return any(_is_stated(mark, judged.has, inside) for mark in trusted) or (
        not names.single and judged.has_quoted(source[start:end])
    )


def _is_stated(mark: ScoreCandidate, has: Callable[[str], bool], start: int | None = None) -> bool:
    """Whether a text has what stands from a place, or its key, to a score; also as 5 or as 5.0."""
    leaf, pairs = cast("Leaf", mark.leaf), mark.owners[0].pairs if mark.owners else ()
    if start is None:
        start = next((pair.start for pair in pairs if pair.value is leaf), mark.start)
    number, before = plain_number(leaf), mark.source[start : leaf.start]
    spelled = [] if number is None else [f"{before}{number:g}", f"{before}{number:.1f}"]
    return any(map(has, [mark.source[start : mark.end], *spelled]))


@dataclass(frozen=True, slots=True)
class _Reply:
    """A reply taken apart, and what it is read for."""

    text: str
    scan: Scan
    names: ExpectedCriteria
    judged: JudgedTexts
    is_cut: bool


@dataclass(frozen=True, slots=True)
class _OwnMarks:
    """What may be the verdict of a reply, or contradict it; nothing of it is quoted."""

    documents: list[list[ScoreCandidate]]
    # The places of the documents that stand on their own, so that they may be the verdict.
    places: list[int]
    lines: list[ScoreCandidate]
    # The prose between all documents, without what is quoted.
    pieces: list[str]
    n_echoes: int
    n_amid: int


def _parse_tolerantly(
    text: str | None,
    names: ExpectedCriteria,
    finish_reason: str | None,
    judged_text: str | Sequence[str] | None,
) -> Found:
    whole, judged = require_text(text, finish_reason), judged_texts(judged_text)
    scan = scan_reply(_unwrap_json_string(whole), names, judged)
    raise_unless_readable(scan.fault, whole)
    reply = _Reply(whole, scan, names, judged, is_cut_off(finish_reason))
    own = _own_marks(reply)
    if own.places:
        strays = [] if names.are_choices else stray_candidates(scan.prose, names)
        raise_if_too_many(strays, whole)
        own.documents.append([mark for mark in strays if not _is_quoted_line(mark, judged)])
    elif not own.lines:
        _raise_without_verdict(reply, own)
    try:
        found = resolve_scores(own.documents, own.lines, names)
    except UnresolvedError as error:
        # What a cut-off reply lacks was not left out: more tokens help, not another answer.
        cut = reply.is_cut and error.reason == "missing_criteria"
        reason, instruction = "truncated" if cut else error.reason, error.instruction
        if names.are_choices:
            instruction = names.criteria[0].ask + _CHOICE_MESSAGES[error.reason]
        raise ReplyFormatError(
            error.message, reason=reason, reply=whole, instruction=instruction
        ) from error
    if scan.documents:
        _check_loose_keys(reply, found)
    _check_prose_beside(reply, own, found)
    return found


def _own_marks(reply: _Reply) -> _OwnMarks:
    """Everything that may be the verdict, without what is quoted from the judged text."""
    scan, names, judged = reply.scan, reply.names, reply.judged
    documents, lines = _candidates(scan, names)
    raise_if_too_many(lines, reply.text)
    pieces = [unquoted(piece, judged) for piece in scan.pieces]
    own: list[list[ScoreCandidate]] = []
    places: list[int] = []
    n_amid = 0
    for place, marks in enumerate(documents):
        if _is_quotation(marks, reply):
            continue
        is_trusted = any(mark.trusted for mark in marks)
        if is_block(scan.pieces[place], pieces[place + 1]):
            own.append([*marks])
            places += [place] * is_trusted
        else:
            # A verdict that the prose around it takes for an example can only contradict another.
            own.append([replace(mark, trusted=False) for mark in marks])
            n_amid += is_trusted
    unquoted_lines = [mark for mark in lines if not _is_quoted_line(mark, judged)]
    n_echoes = len(documents) - len(own) + len(lines) - len(unquoted_lines)
    prose = without_fences(scan.prose)
    amid = {id(mark) for mark in unquoted_lines if _is_amid_prose(mark, prose, is_cut=reply.is_cut)}
    own.append([replace(mark, trusted=False) for mark in unquoted_lines if id(mark) in amid])
    # The rest of the line at which a reply was cut off may have been another number.
    own_lines = [m for m in unquoted_lines if id(m) not in amid and (m.closed or not reply.is_cut)]
    return _OwnMarks(own, places, own_lines, pieces, n_echoes, n_amid + len(amid))


def _is_amid_prose(mark: ScoreCandidate, prose: str, *, is_cut: bool) -> bool:
    """Whether a score in prose is in brackets, or in a sentence that continues after it."""
    if mark.leaf is None or mark.source != prose:
        return False
    # A row ends with its line; its sentence may continue right behind the number.
    is_row = mark.leaf.kind == "line" and prose[mark.start] != "["
    end = mark.leaf.start if is_row else mark.end
    return is_amid_prose(prose, mark.start, end, is_named=is_row, is_cut=is_cut)


def _check_prose_beside(reply: _Reply, own: _OwnMarks, found: Found) -> None:
    """Refuse a verdict that the prose beside it may take back."""
    scan, names = reply.scan, reply.names
    is_structure = bool(own.places)
    if is_structure:
        before = own.pieces[own.places[0]]
        pieces = [
            without_lead_in(piece) if place in own.places else piece
            for place, piece in enumerate(own.pieces)
            if place > own.places[0]
        ]
    else:
        prose = without_fences(scan.prose)
        spans = [(m.start, m.leaf.end) for m in own.lines if m.leaf and m.source == prose]
        is_structure = bool(spans) and all(prose[start] == "<" for start, _ in spans)
        start, end = (spans[0][0], max(end for _, end in spans)) if spans else (0, len(prose))
        before, *pieces = (unquoted(part, reply.judged) for part in (prose[:start], prose[end:]))
    after = read_aftermath(pieces, names, is_cut=reply.is_cut)
    if refuses_beside(before, after):
        raise declined_beside(reply.text)
    if is_structure and after.strange:
        why = f"the reply continued after its verdict: {quote_value(after.strange[0])}"
        raise unreadable(_NOTHING_ELSE, why, reason="in_prose", reply=reply.text)
    notes = Aftermath(strange=tuple(mark.note.lstrip("(") for mark in own.lines))
    if withdraws(after) or withdraws(notes):
        raise unreadable(_NOTHING_ELSE, WITHDRAWN, reason="in_prose", reply=reply.text)
    # A line with a score may be explained in free words, in which another score is a correction.
    lines = (*after.explanation, *(after.labelled if is_structure else after.strange))
    raws = [raw for _, raw in found.values()]
    other = None if names.are_choices else other_number(lines, names, raws)
    if other is not None:
        why = f"the prose after its verdict named another number: {other}"
        raise unreadable(_NOTHING_ELSE, why, reason="ambiguous", reply=reply.text)


def declined_beside(reply: str) -> RefusalError:
    """The error of a reply that has a verdict and declines to judge."""
    return RefusalError(f"the judge declined beside a verdict: {reply.strip()[:200]}", reply=reply)


def _candidates(
    scan: Scan, names: ExpectedCriteria
) -> tuple[list[list[ScoreCandidate]], list[ScoreCandidate]]:
    """What may be the verdict: in each document, and in the lines beside them."""
    if not names.are_choices:
        documents = [find_candidates(node, scan.text, names) for node in scan.documents]
        return documents, text_candidates(scan.prose, names)
    # "First" and "second" are words of any prose, so a choice counts only in a structure.
    nodes = [choices_as_scores(node, names) for node in scan.documents]
    return [find_candidates(node, scan.text, names) for node in nodes], []


def _is_quoted_line(mark: ScoreCandidate, judged: JudgedTexts) -> bool:
    if mark.leaf is None:
        return False
    is_line = mark.leaf.kind == "line" and mark.leaf.start >= mark.start and mark.source != ""
    value = mark.source[mark.start : mark.leaf.start] + mark.leaf.text
    # The shorter one first: the search for what is not there takes longest.
    return (is_line and judged.has(value)) or judged.has(mark.source[mark.start : mark.end])


def _check_loose_keys(reply: _Reply, found: Found) -> None:
    """Refuse a verdict that is contradicted by keys outside of any structure."""
    # They are the rest of an object that a quotation in it broke in two.
    names, pattern, keys = reply.names, _LOOSE_SCORE, SCORE_KEYS
    if names.are_choices:
        pattern, keys = _LOOSE_CHOICE, PREFERENCE_KEYS
    for match in pattern.finditer(reply.scan.prose):
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
        if not same and not reply.judged.has(match.group()):
            stated = quote_value(match.group())
            instruction = "Give one JSON object and nothing else."
            if names.are_choices:
                ask, slot = names.criteria[0].ask, match["value"].casefold()
                instruction = f"{ask}, and nothing else; the reply also said {slot!r} beside it."
            raise ReplyFormatError(
                f"the reply also said {stated} beside its verdict",
                reason="ambiguous",
                reply=reply.text,
                instruction=instruction,
            )


def _raise_without_verdict(reply: _Reply, own: _OwnMarks) -> NoReturn:
    scan, names = reply.scan, reply.names
    stated = next((text for node in scan.documents if (text := stated_refusal(node))), None)
    if stated is not None or ((own.n_amid or not scan.documents) and is_judge_refusal(scan.prose)):
        excerpt = (stated or scan.prose).strip()[:200]
        raise RefusalError(f"the judge declined: {excerpt}", reply=reply.text)
    if reply.is_cut:
        raise_unless_readable("truncated", reply.text)
    wanted = ", ".join(repr(criterion.name) for criterion in names.criteria[:5])
    ask, ask_own = f"Give one JSON object with a score for {wanted}", _OWN_VERDICT
    what, source = "score", "the output"
    if names.are_choices:
        ask = ask_own = names.criteria[0].ask
        what, source = "choice", "an output"
    if own.n_amid:
        raise unreadable(ask_own, AMID_PROSE, reason="in_prose", reply=reply.text)
    if own.n_echoes:
        raise echo_error(f"{ask_own}; the reply only quoted a verdict from {source}.", reply.text)
    reason = "missing_criteria" if scan.documents else "no_verdict"
    raise unreadable(ask, f"the reply held no {what}", reason=reason, reply=reply.text)


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
                "ambiguous",
                "the reply gave several JSON objects with parts of the verdict",
                "Give one JSON object for all criteria, not several.",
            )
        beside += lines
    else:
        verdict = list(lines)
    found: dict[str, tuple[ScoreCandidate, float | None]] = {}
    missing = [w.name for i, w in enumerate(names.criteria) if not _of_criterion(verdict, i)]
    if missing:
        what, names_of = (
            "choice" if names.are_choices else "score",
            ", ".join(map(repr, missing[:5])),
        )
        raise UnresolvedError(
            "missing_criteria",
            f"the reply had no {what} for {names_of}",
            f"Give a score for {names_of} too; the reply had none.",
        )
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
        why = f"the reply gave another score beside the one for {wanted.name!r}"
        if mark.leaf is None:
            why = f"the reply said that {wanted.name!r} cannot be assessed, and gave it a score"
        instruction = f"Give one score for {wanted.name!r} and no other beside it."
        raise UnresolvedError("ambiguous", why, instruction)
    if mark.fault is not None:
        text = "" if mark.leaf is None else mark.leaf.text
        raise not_wanted(mark.fault, quote_value(text), wanted)
    # Without a value the judge declined to assess the criterion.
    return None if mark.leaf is None else read_score(mark.leaf, wanted)


def _raise_two(marks: Sequence[ScoreCandidate], names: ExpectedCriteria) -> None:
    name = names.criteria[marks[0].criterion].name
    texts = sorted({mark.leaf.text for mark in marks if mark.leaf is not None})
    values = f": {' and '.join(quote_value(text) for text in texts[:2])}" if len(texts) > 1 else ""
    what = "answers" if names.are_choices else "scores"
    raise UnresolvedError(
        "ambiguous",
        f"the reply gave two {what} for {name!r}{values}",
        f"Give one score for {name!r}; the reply gave two{values}.",
    )
