"""Reads which of two outputs a reply prefers, as JSON or in the form of a published judge."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NoReturn

from judgekit.errors import RefusalError, ReplyFormatError
from judgekit.prompts.parsing.extract import (
    declines,
    find_candidates,
    stated_refusal,
    without_fences,
)
from judgekit.prompts.parsing.fields import (
    EVIDENCE_KEYS,
    LABEL_KEYS,
    MAXIMUM_KEYS,
    MINIMUM_KEYS,
    SCORE_KEYS,
    expected_criteria,
    fold_key,
    is_second_score,
)
from judgekit.prompts.parsing.nodes import Arr, KeyValue, Leaf, Obj, ascii_digits, plain_number
from judgekit.prompts.parsing.quotation import is_json_like, judged_texts
from judgekit.prompts.parsing.refusal import is_judge_refusal
from judgekit.prompts.parsing.resolve import (
    UnresolvedError,
    is_cut_off,
    is_quotation,
    raise_if_too_many,
    raise_unless_readable,
    require_text,
    resolve_scores,
    unwrap_json_string,
)
from judgekit.prompts.parsing.scanner import scan_reply
from judgekit.prompts.parsing.strict import (
    HIGHEST_SIDE_SCORE,
    SLOTS_BY_SCORE,
    PreferenceReply,
    parse_strict_preferences,
)
from judgekit.prompts.parsing.text_formats import find_choices, fold_choice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from judgekit.prompts.parsing.extract import ScoreCandidate
    from judgekit.prompts.parsing.fields import ExpectedCriteria, PairReplyFormat
    from judgekit.prompts.parsing.nodes import Node
    from judgekit.prompts.parsing.quotation import JudgedTexts
    from judgekit.prompts.parsing.scanner import Scan
    from judgekit.prompts.parsing.strict import CriterionReply
    from judgekit.records import PreferenceSlot

PREFERENCE_KEYS = frozenset({"preference", "winner", "choice", "verdict"})
"""Keys that hold the choice inside an object that belongs to one question."""

_SCORES: dict[str, str] = {slot: str(score) for score, slot in enumerate(SLOTS_BY_SCORE)}

_SIDE_KEYS = {
    "evidence first": "evidence_first", "evidence second": "evidence_second",
    "score first": "raw first", "score second": "raw second",
}  # fmt: skip

_IGNORED_KEY = "noted"
"""The key of what is no choice and must not be taken for one."""

_LOOSE = re.compile(
    r"(?P<key>[^\W\d_][\w -]{0,79})[\"'”\u2019*_`]{0,4}\s{0,9}[:=\uff1a]\s{0,9}"
    r"[\"'“\u2018*_`\[(]{0,4}(?P<slot>first|second|tie)\b",
    re.IGNORECASE,
)

_ANSWER_FORM = 'Answer with one JSON object; "preference" is "first", "second" or "tie"'


def parse_preferences(
    text: str | None,
    questions: Sequence[str],
    *,
    finish_reason: str | None = "stop",
    judged_text: Sequence[str] = (),
) -> dict[str, PreferenceReply]:
    """What a judge's JSON reply prefers, for each question."""
    if text is not None and finish_reason in {"stop", None} and not is_json_like(judged_text):
        quick = parse_strict_preferences(text, questions)
        if quick is not None:
            return quick
    names = expected_criteria(
        [{"name": name, "min": 0, "max": 2, "integer": True} for name in questions]
    )
    reply, judged = require_text(text, finish_reason), judged_texts(judged_text)
    scan = scan_reply(unwrap_json_string(reply), names, judged)
    raise_unless_readable(scan.fault, reply)
    nodes = [_as_scores(node, names) for node in scan.documents]
    documents = [find_candidates(node, scan.text, names) for node in nodes]
    kept = [marks for marks in documents if not is_quotation(marks, names, judged)]
    if not any(mark.trusted for marks in kept for mark in marks):
        n_echoes = len(documents) - len(kept)
        _raise_without_preference(scan, reply, finish_reason, n_echoes=n_echoes)
    try:
        found = resolve_scores(kept, (), names)
    except UnresolvedError as error:
        cut = is_cut_off(finish_reason) and error.reason == "missing_criteria"
        raise _unresolved(error, reply, is_truncated=cut) from error
    _check_prose(scan, found, names, judged, reply)
    return {
        name: _preference_reply(found[name], _owner(kept, index))
        for index, name in enumerate(questions)
    }


def _as_scores(node: Node, names: ExpectedCriteria) -> Node:
    """A document in which choices are scores, and nothing else is one."""
    if isinstance(node, Arr):
        return replace(node, items=tuple(_as_scores(item, names) for item in node.items))
    if not isinstance(node, Obj):
        return node
    is_declined = declines(node)
    pairs = [_as_score(pair, names, is_declined=is_declined) for pair in node.pairs]
    return replace(node, pairs=tuple(pairs))


def _as_score(pair: KeyValue, names: ExpectedCriteria, *, is_declined: bool) -> KeyValue:
    key, value = fold_key(pair.key), pair.value
    if isinstance(value, Leaf) and (key in PREFERENCE_KEYS or names.find(pair.key) is not None):
        named = pair.key if names.find(pair.key) is not None else "score"
        leaf = replace(value, kind="null") if is_declined else _choice(value)
        return replace(pair, key=named, value=leaf)
    if key in _SIDE_KEYS:
        return replace(pair, key=_SIDE_KEYS[key])
    if names.find(pair.key) is not None or key in LABEL_KEYS or key in EVIDENCE_KEYS:
        return replace(pair, value=_as_scores(value, names))
    if key in PREFERENCE_KEYS:  # an object around the choice, or a list of them
        return replace(pair, key="result", value=_as_scores(value, names))
    if isinstance(value, Leaf) and (
        key in SCORE_KEYS | MAXIMUM_KEYS | MINIMUM_KEYS or is_second_score(pair.key)
    ):
        return replace(pair, key=_IGNORED_KEY)
    return replace(pair, value=_as_scores(value, names))


def _choice(leaf: Leaf) -> Leaf:
    """A choice as its score; a value that is none as something no score can be."""
    score = _SCORES.get(leaf.text.strip().casefold()) if leaf.kind in {"string", "bare"} else None
    if score is None:
        return replace(leaf, kind="bare", text=f"said {leaf.text}")
    return replace(leaf, kind="number", text=score)


def _unresolved(error: UnresolvedError, reply: str, *, is_truncated: bool) -> ReplyFormatError:
    messages = {
        "ambiguous": f"{_ANSWER_FORM}, once for each question; the reply gave several that differ.",
        "missing_criteria": f"{_ANSWER_FORM}, for every question; the reply left one out.",
    }
    message = messages.get(error.reason, f"{_ANSWER_FORM}; the reply said something else.")
    reason = "not_a_choice" if error.reason == "not_a_number" else error.reason
    return ReplyFormatError(message, reason="truncated" if is_truncated else reason, reply=reply)


def _check_prose(
    scan: Scan,
    found: Mapping[str, CriterionReply],
    names: ExpectedCriteria,
    judged: JudgedTexts | None,
    reply: str,
) -> None:
    """Text beside the JSON must not contradict it."""
    for match in _LOOSE.finditer(scan.prose):
        key, slot = match["key"].strip(), match["slot"].casefold()
        last = key.split(" ")[-1]
        index = names.find(key)
        if index is None and fold_key(last) not in PREFERENCE_KEYS:
            continue
        said = found[names.criteria[index or 0].name].raw
        same = said == float(_SCORES[slot]) and (index is not None or names.single)
        if not same and not (judged and judged.has(match.group())):
            message = f"{_ANSWER_FORM}, and nothing else; the reply also said {slot!r} beside it."
            raise ReplyFormatError(message, reason="ambiguous", reply=reply)


def _owner(documents: Sequence[Sequence[ScoreCandidate]], index: int) -> Obj | None:
    """The object that contains the choice for a question."""
    marks = (mark for marks in documents for mark in marks if mark.criterion == index)
    owners = next((mark.owners for mark in marks if mark.trusted and mark.owners), ())
    return owners[0] if owners else None


def _preference_reply(found: CriterionReply, owner: Obj | None) -> PreferenceReply:
    beside = {} if owner is None else {pair.key: pair.value for pair in reversed(owner.pairs)}
    return PreferenceReply(
        choice=None if found.raw is None else SLOTS_BY_SCORE[int(found.raw)],
        rationale=found.rationale,
        evidence_first=tuple(_quotes(beside.get("evidence_first"))),
        evidence_second=tuple(_quotes(beside.get("evidence_second"))),
        confidence=found.confidence,
        raw_first=_side_score(beside.get("raw first")),
        raw_second=_side_score(beside.get("raw second")),
    )


def _quotes(node: Node | None) -> list[str]:
    items = node.items if isinstance(node, Arr) else () if node is None else (node,)
    texts = [
        item.text.strip() for item in items if isinstance(item, Leaf) and item.kind == "string"
    ]
    return [text for text in texts if text]


def _side_score(node: Node | None) -> float | None:
    number = plain_number(node) if isinstance(node, Leaf) else None
    return number if number is not None and 1 <= number <= HIGHEST_SIDE_SCORE else None


def _raise_without_preference(
    scan: Scan, reply: str, finish_reason: str | None, *, n_echoes: int
) -> NoReturn:
    said = next((text for node in scan.documents if (text := stated_refusal(node))), None)
    if said is not None or (not scan.documents and is_judge_refusal(scan.prose)):
        raise RefusalError(f"the judge declined: {(said or scan.prose).strip()[:200]}", reply=reply)
    if is_cut_off(finish_reason):
        raise_unless_readable("truncated", reply)
    if n_echoes:
        message = f"{_ANSWER_FORM}; the reply only quoted one from an output."
        raise ReplyFormatError(message, reason="echo", reply=reply)
    reason = "missing_criteria" if scan.documents else "no_verdict"
    raise ReplyFormatError(f"{_ANSWER_FORM}; the reply held no choice.", reason=reason, reply=reply)


_SIDE_NUMBER = r"[0-9]{1,3}(?:\.[0-9]{1,3})?"

_SIDE = (
    rf"({_SIDE_NUMBER})(?:[ \t]{{0,3}}/[ \t]{{0,3}}10)?(?![\w%/]|[.,]\d|[ \t]*[-\u2013][ \t]*\d)"
)

_PAIR_LINE = re.compile(
    rf"^[ \t*_`]{{0,8}}({_SIDE_NUMBER})(?:[ \t]*,[ \t]*|[ \t]+)({_SIDE_NUMBER})[ \t*_`]{{0,8}}$",
    re.MULTILINE,
)

_NAMED = re.compile(
    rf"\bassistant[ \t]{{0,3}}(?P<who>[12])[*_`]{{0,4}}[ \t]{{0,3}}:[ \t*_`]{{0,8}}{_SIDE}",
    re.IGNORECASE,
)

_TUPLE = re.compile(
    rf"\b(?:output|tuple|scores?)\b[^.\n()]{{0,60}}?\([ \t]{{0,3}}({_SIDE_NUMBER})[ \t]{{0,3}},"
    rf"[ \t]{{0,3}}({_SIDE_NUMBER})[ \t]{{0,3}}\)",
    re.IGNORECASE,
)

_CHOICE_BRACKETS = re.compile(r"\[\[[ \t]{0,5}(?P<value>[^\[\]\n]{1,20}?)[ \t]{0,5}\]\]")

_DOUBT = re.compile(
    r"\b(?:if|whether|unless|not|neither|nor|why|claim\w*)\b|n['\u2019]t\b",
    re.IGNORECASE,
)

_CLAUSE = re.compile(r"[.!?,;:\n]")
_CHOICE_DECORATION = " \t\n*_`.:,;()[]\"'"
_CHOICE_LINE_ENDED = re.compile(r"[ \t*_`.\"')]*+\n")
_FEWEST_WORDS = 5
_LOWEST, _HIGHEST = 0.0, 10.0
"""Judges asked for 1 to 10 give 0 to an answer that is missing."""


@dataclass(frozen=True, slots=True)
class _Hit:
    """A choice found in a reply."""

    choice: PreferenceSlot
    text: str
    """What states it, to be looked for in the judged texts; empty where it is alone on its line."""

    start: int
    end: int
    raws: tuple[float, float] | None = None


def parse_formatted_preference(
    text: str | None,
    reply_format: PairReplyFormat,
    *,
    finish_reason: str | None = "stop",
    judged_text: Sequence[str] = (),
) -> PreferenceReply:
    """What a reply in a published judge's form prefers."""
    reply, judged = require_text(text, finish_reason), judged_texts(judged_text)
    scan = scan_reply(reply, expected_criteria([]), judged, with_json=False)
    raise_unless_readable(scan.fault, reply)
    prose = without_fences(scan.prose).strip()
    stated = _preference_hits(prose, reply_format)
    raise_if_too_many(stated, reply)
    has = None if judged is None else cache(judged.has)
    hits = [hit for hit in stated if not _is_quoted_hit(hit, has, judged_text)]
    if is_cut_off(finish_reason):
        hits = [hit for hit in hits if _is_closed(hit, prose, reply_format)]
    if not hits:
        _raise_without_choice(prose, reply, reply_format, is_truncated=is_cut_off(finish_reason))
    hit = _decided_choice(hits, prose, reply_format, reply)
    if hit.raws is not None and not all(_LOWEST <= raw <= _HIGHEST for raw in hit.raws):
        _fail_preference("out_of_range", "Give each a score from 1 to 10", reply)
    raw_first, raw_second = hit.raws or (None, None)
    return PreferenceReply(
        choice=hit.choice,
        rationale=_preference_rationale(prose, hit),
        raw_first=raw_first,
        raw_second=raw_second,
    )


def _preference_hits(prose: str, reply_format: PairReplyFormat) -> list[_Hit]:
    """Everything that may be the verdict, in the order of the text."""
    match reply_format.kind:
        case "brackets":
            found = _bracketed_choices(prose, reply_format)
        case "stated":
            found = _stated(prose, reply_format)
        case "two_scores":
            found = _two_scores(prose)
        case _:
            found = _lettered_choices(prose, reply_format)
    return sorted(found, key=lambda hit: hit.start)


def _bracketed_choices(prose: str, reply_format: PairReplyFormat) -> list[_Hit]:
    slots = {fold_choice(word): slot for word, slot in reply_format.choices.items()}
    return [
        _Hit(slots[word], match.group(), match.start(), match.end())
        for match in _CHOICE_BRACKETS.finditer(prose)
        if (word := fold_choice(match["value"])) in slots
    ]


def _lettered_choices(prose: str, reply_format: PairReplyFormat) -> list[_Hit]:
    slots = {fold_choice(word): slot for word, slot in reply_format.choices.items()}
    found = []
    line, bare, end = "", "", -1
    for match in find_choices(prose, tuple(reply_format.choices)):
        if match.start("value") > end:
            line, end = _line_around(prose, match.start("value"))
            bare = line.strip(_CHOICE_DECORATION)
        text = "" if bare == match["value"] else line
        slot = slots[fold_choice(match["value"])]
        found.append(_Hit(slot, text, match.start("value"), match.end("value")))
    return found


def _line_around(prose: str, place: int) -> tuple[str, int]:
    """The line that contains a place, and where it ends."""
    start, end = prose.rfind("\n", 0, place) + 1, prose.find("\n", place)
    end = len(prose) if end < 0 else end
    return prose[start:end], end


def _stated(prose: str, reply_format: PairReplyFormat) -> list[_Hit]:
    """`Output (a) is better`, where nothing in its clause takes it back; or that name alone."""
    words = "|".join(re.escape(word) for word in reply_format.choices)
    name = rf"Output[ \t]{{0,2}}\((?P<word>{words})\)"
    alone = re.fullmatch(rf"[*_`\"' \t]{{0,6}}{name}[*_`\"'.! \t]{{0,6}}", prose)
    if alone:
        return [_Hit(reply_format.choices[alone["word"]], "", alone.start(), alone.end())]
    found = []
    clauses = [0, *(mark.end() for mark in _CLAUSE.finditer(prose))]
    looked, in_doubt = 0, False
    for match in re.finditer(rf"{name}[*_`]{{0,4}} is (?:the )?better\b", prose):
        clause = clauses[bisect_right(clauses, match.start()) - 1]
        if clause > looked:
            looked, in_doubt = clause, False
        in_doubt = in_doubt or _DOUBT.search(prose, looked, match.start()) is not None
        looked = match.start()
        if not in_doubt:
            slot = reply_format.choices[match["word"]]
            found.append(_Hit(slot, match.group(), match.start(), match.end()))
    return found


def _two_scores(prose: str) -> list[_Hit]:
    """A line of two scores at the beginning or the end; else a score for each assistant."""
    pairs = [
        _scored(match.group(1), match.group(2), "", match.start(), match.end())
        for match in _PAIR_LINE.finditer(prose)
        if match.start() == 0 or match.end() == len(prose)
    ]
    plain = ascii_digits(prose)
    pairs += [
        _scored(match.group(1), match.group(2), match.group(), match.start(), match.end())
        for match in _TUPLE.finditer(plain)
    ]
    named = list(_NAMED.finditer(plain))
    for first, second in pairwise(named):
        if (first["who"], second["who"]) == ("1", "2"):
            text = plain[first.start() : second.end()]
            pairs.append(_scored(first[2], second[2], text, first.start(), second.end()))
    return pairs


def _scored(first: str, second: str, text: str, start: int, end: int) -> _Hit:
    raws = float(first), float(second)
    choice: PreferenceSlot = (
        "tie" if raws[0] == raws[1] else "first" if raws[0] > raws[1] else "second"
    )
    return _Hit(choice, text, start, end, raws)


def _is_quoted_hit(hit: _Hit, has: Callable[[str], bool] | None, texts: Sequence[str]) -> bool:
    """Whether the judged texts contain a verdict too; a bare letter or pair only as a line."""
    if has is None:
        return False
    if hit.text:
        return has(hit.text)
    if hit.raws is None:
        return False
    return any(
        (float(match.group(1)), float(match.group(2))) == hit.raws
        for text in texts
        for match in _PAIR_LINE.finditer(text)
    )


def _is_closed(hit: _Hit, prose: str, reply_format: PairReplyFormat) -> bool:
    """Whether what was cut off can no longer change the verdict."""
    if reply_format.kind == "brackets":
        return True
    return _CHOICE_LINE_ENDED.match(prose, hit.end) is not None


def _decided_choice(
    hits: Sequence[_Hit], prose: str, reply_format: PairReplyFormat, reply: str
) -> _Hit:
    """The one verdict all hits agree on; of letters, the last one that is alone."""
    last = hits[-1]
    if len({(hit.choice, hit.raws) for hit in hits}) == 1:
        return last
    is_final = not prose[last.end :].strip(" \t\n.!*_`)\"'")
    if reply_format.kind != "choice" or not is_final:
        _fail_preference(
            "ambiguous",
            f"{_answer_form(reply_format)}, once; the reply gave several that differ",
            reply,
        )
    return last


def _preference_rationale(prose: str, hit: _Hit) -> str | None:
    """The reply, where it says more than its verdict."""
    rest = f"{prose[: hit.start]} {prose[hit.end :]}"
    n_words = sum(any(c.isalpha() for c in word) for word in rest.split())
    return prose if n_words >= _FEWEST_WORDS else None


def _answer_form(reply_format: PairReplyFormat) -> str:
    words = list(reply_format.choices)
    match reply_format.kind:
        case "brackets":
            return f"Give your verdict as one of {', '.join(f'[[{word}]]' for word in words)}"
        case "stated":
            return " or ".join(f'Say "Output ({word}) is better"' for word in words)
        case "two_scores":
            return "Give one score from 1 to 10 to each of the two"
    return f"Answer with one of {', '.join(words)}"


def _raise_without_choice(
    prose: str, reply: str, reply_format: PairReplyFormat, *, is_truncated: bool
) -> NoReturn:
    if is_judge_refusal(prose):
        raise RefusalError(f"the judge declined: {prose[:200]}", reply=reply)
    if is_truncated:
        raise_unless_readable("truncated", reply)
    _fail_preference(
        "no_verdict",
        f"{_answer_form(reply_format)}; the reply held no such verdict of its own",
        reply,
    )


def _fail_preference(reason: str, message: str, reply: str) -> NoReturn:
    raise ReplyFormatError(f"{message}.", reason=reason, reply=reply)
