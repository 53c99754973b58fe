"""Reads which of two outputs a published judge prefers: a letter, `[[A]]`, a sentence, scores."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NoReturn

from judgekit.errors import RefusalError, ReplyFormatError
from judgekit.prompts.replies.choices import find_choices, fold_choice
from judgekit.prompts.replies.echoes import judged_texts
from judgekit.prompts.replies.numbers import ascii_digits
from judgekit.prompts.replies.preferences import PreferenceReply
from judgekit.prompts.replies.reading import (
    checked_text,
    is_cut,
    raise_if_too_many,
    raise_unless_readable,
)
from judgekit.prompts.replies.refusals import is_refusal
from judgekit.prompts.replies.scales import wanted_names
from judgekit.prompts.replies.scanning import scan_reply
from judgekit.prompts.replies.text_marks import without_fences

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from judgekit.prompts.replies.formats import PairReplyFormat
    from judgekit.records.comparison import Slot

_NUMBER = r"[0-9]{1,3}(?:\.[0-9]{1,3})?"
_SIDE = rf"({_NUMBER})(?:[ \t]{{0,3}}/[ \t]{{0,3}}10)?(?![\w%/]|[.,]\d|[ \t]*[-\u2013][ \t]*\d)"
_PAIR_LINE = re.compile(
    rf"^[ \t*_`]{{0,8}}({_NUMBER})(?:[ \t]*,[ \t]*|[ \t]+)({_NUMBER})[ \t*_`]{{0,8}}$", re.MULTILINE
)
_NAMED = re.compile(
    rf"\bassistant[ \t]{{0,3}}(?P<who>[12])[*_`]{{0,4}}[ \t]{{0,3}}:[ \t*_`]{{0,8}}{_SIDE}",
    re.IGNORECASE,
)
_TUPLE = re.compile(
    rf"\b(?:output|tuple|scores?)\b[^.\n()]{{0,60}}?\([ \t]{{0,3}}({_NUMBER})[ \t]{{0,3}},"
    rf"[ \t]{{0,3}}({_NUMBER})[ \t]{{0,3}}\)",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"\[\[[ \t]{0,5}(?P<value>[^\[\]\n]{1,20}?)[ \t]{0,5}\]\]")
_DOUBT = re.compile(
    r"\b(?:if|whether|unless|not|neither|nor|why|claim\w*)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.!?,;:\n]")
_DECORATION = " \t\n*_`.:,;()[]\"'"
_LINE_ENDED = re.compile(r"[ \t*_`.\"')]*+\n")
_FEWEST_WORDS = 5
_LOWEST, _HIGHEST = 0.0, 10.0
"""Judges told to give 1 to 10 give 0 to an answer that is not there."""


@dataclass(frozen=True, slots=True)
class _Hit:
    """A choice found in a reply."""

    choice: Slot
    text: str
    """What states it, to be looked for in the judged texts; empty where nothing but it stands."""

    start: int
    end: int
    raws: tuple[float, float] | None = None


def read_pair_form(
    text: str | None,
    reply_format: PairReplyFormat,
    *,
    finish_reason: str | None = "stop",
    judged_text: Sequence[str] = (),
) -> PreferenceReply:
    """What a reply in a published judge's form prefers."""
    reply, judged = checked_text(text, finish_reason), judged_texts(judged_text)
    scan = scan_reply(reply, wanted_names([]), judged, with_json=False)
    raise_unless_readable(scan.fault, reply)
    prose = without_fences(scan.prose).strip()
    stated = _hits(prose, reply_format)
    raise_if_too_many(stated, reply)
    has = None if judged is None else cache(judged.has)
    hits = [hit for hit in stated if not _is_echo(hit, has, judged_text)]
    if is_cut(finish_reason):
        hits = [hit for hit in hits if _is_closed(hit, prose, reply_format)]
    if not hits:
        _raise_without_choice(prose, reply, reply_format, is_truncated=is_cut(finish_reason))
    hit = _decided(hits, prose, reply_format, reply)
    if hit.raws is not None and not all(_LOWEST <= raw <= _HIGHEST for raw in hit.raws):
        _fail("out_of_range", "Give each a score from 1 to 10", reply)
    raw_first, raw_second = hit.raws or (None, None)
    return PreferenceReply(
        choice=hit.choice,
        rationale=_rationale(prose, hit),
        raw_first=raw_first,
        raw_second=raw_second,
    )


def _hits(prose: str, reply_format: PairReplyFormat) -> list[_Hit]:
    """Everything that may be the verdict, in the order it stands in."""
    match reply_format.kind:
        case "brackets":
            found = _brackets(prose, reply_format)
        case "stated":
            found = _stated(prose, reply_format)
        case "two_scores":
            found = _two_scores(prose)
        case _:
            found = _choices(prose, reply_format)
    return sorted(found, key=lambda hit: hit.start)


def _brackets(prose: str, reply_format: PairReplyFormat) -> list[_Hit]:
    slots = {fold_choice(word): slot for word, slot in reply_format.choices.items()}
    return [
        _Hit(slots[word], match.group(), match.start(), match.end())
        for match in _BRACKETS.finditer(prose)
        if (word := fold_choice(match["value"])) in slots
    ]


def _choices(prose: str, reply_format: PairReplyFormat) -> list[_Hit]:
    slots = {fold_choice(word): slot for word, slot in reply_format.choices.items()}
    found = []
    line, bare, end = "", "", -1
    for match in find_choices(prose, tuple(reply_format.choices)):
        if match.start("value") > end:
            line, end = _line_around(prose, match.start("value"))
            bare = line.strip(_DECORATION)
        text = "" if bare == match["value"] else line
        slot = slots[fold_choice(match["value"])]
        found.append(_Hit(slot, text, match.start("value"), match.end("value")))
    return found


def _line_around(prose: str, place: int) -> tuple[str, int]:
    """The line a place stands in, and where it ends."""
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
    choice: Slot = "tie" if raws[0] == raws[1] else "first" if raws[0] > raws[1] else "second"
    return _Hit(choice, text, start, end, raws)


def _is_echo(hit: _Hit, has: Callable[[str], bool] | None, texts: Sequence[str]) -> bool:
    """Whether a verdict stands in the judged texts too; a bare letter or pair only as a line."""
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
    return _LINE_ENDED.match(prose, hit.end) is not None


def _decided(hits: Sequence[_Hit], prose: str, reply_format: PairReplyFormat, reply: str) -> _Hit:
    """The one verdict all hits agree on; of letters, the one that stands last and alone."""
    last = hits[-1]
    if len({(hit.choice, hit.raws) for hit in hits}) == 1:
        return last
    is_final = not prose[last.end :].strip(" \t\n.!*_`)\"'")
    if reply_format.kind != "choice" or not is_final:
        _fail("ambiguous", f"{_ask(reply_format)}, once; the reply gave several that differ", reply)
    return last


def _rationale(prose: str, hit: _Hit) -> str | None:
    """The reply, where it says more than its verdict."""
    rest = f"{prose[: hit.start]} {prose[hit.end :]}"
    n_words = sum(any(c.isalpha() for c in word) for word in rest.split())
    return prose if n_words >= _FEWEST_WORDS else None


def _ask(reply_format: PairReplyFormat) -> str:
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
    if is_refusal(prose):
        raise RefusalError(f"the judge declined: {prose[:200]}", reply=reply)
    if is_truncated:
        raise_unless_readable("truncated", reply)
    _fail("no_verdict", f"{_ask(reply_format)}; the reply held no such verdict of its own", reply)


def _fail(reason: str, message: str, reply: str) -> NoReturn:
    raise ReplyFormatError(f"{message}.", reason=reason, reply=reply)
