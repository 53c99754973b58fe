"""Reads which of two outputs a reply in a published judge's format prefers.

`PAIR_FORMATS` registers the formats; template headers and the lint of templates take them from
there. `text_formats` reads the replies about one output.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from judgekit.errors import ReplyFormatError
from judgekit.prompts.parsing.extract import VERDICT_BRACKETS
from judgekit.prompts.parsing.fields import (
    FEWEST_REASON_WORDS,
    PairReplyFormat,
    PreferenceReply,
    count_words,
    expected_criteria,
)
from judgekit.prompts.parsing.nodes import ascii_digits
from judgekit.prompts.parsing.resolve import is_cut_off, raise_if_too_many
from judgekit.prompts.parsing.text_formats import (
    ANSWER_END,
    VerdictPlace,
    check_prose_around,
    fail,
    find_choices,
    fold_choice,
    prose_of,
    raise_without_verdict,
)
from judgekit.records import PreferenceSlot


def parse_formatted_preference(
    text: str | None,
    reply_format: PairReplyFormat,
    *,
    finish_reason: str | None = "stop",
    judged_text: Sequence[str] = (),
) -> PreferenceReply:
    """What a reply in a published judge's format prefers."""
    form = PAIR_FORMATS[reply_format.kind]
    reply, prose, judged = prose_of(text, expected_criteria([]), finish_reason, judged_text)
    prose = prose.strip()
    found = sorted(form.find(prose, reply_format), key=lambda hit: hit.start)
    raise_if_too_many(found, reply)
    has = cache(judged.has)
    hits = [hit for hit in found if not _is_quoted_choice(hit, has, judged_text)]
    is_cut = is_cut_off(finish_reason)
    if is_cut and not form.closes_itself:
        hits = [hit for hit in hits if _CHOICE_LINE_ENDED.match(prose, hit.end) is not None]
    ask = form.ask(tuple(reply_format.choices))
    if not hits:
        raise_without_verdict(prose, ask, reply, is_echo=bool(found), is_truncated=is_cut)
    hit = hits[-1]
    # Judges weigh "A" against "B" before they decide: of letters, the one that ends the reply.
    is_final = reply_format.kind == "choice" and not prose[hit.end :].strip(ANSWER_END)
    if not is_final and len({(each.choice, each.raws) for each in hits}) > 1:
        fail("ambiguous", f"{ask}, once", "the reply gave several verdicts that differ", reply)
    place = VerdictPlace(prose, hits[0].start, hit.start, hit.end, reply_format.kind)
    check_prose_around(place, ask, reply, judged, is_cut=is_cut)
    if hit.raws is not None and not all(_LOWEST <= raw <= _HIGHEST for raw in hit.raws):
        raise ReplyFormatError(
            f"the reply gave scores that are not from 1 to 10: {hit.raws[0]:g} and {hit.raws[1]:g}",
            reason="out_of_range",
            reply=reply,
            instruction="Give each a score from 1 to 10.",
        )
    raw_first, raw_second = hit.raws or (None, None)
    # A reply of a few words beside its verdict has no rationale.
    rest = f"{prose[: hit.start]} {prose[hit.end :]}"
    return PreferenceReply(
        choice=hit.choice,
        rationale=prose if count_words(rest) >= FEWEST_REASON_WORDS else None,
        raw_first=raw_first,
        raw_second=raw_second,
    )


# FairEval and the Vicuna judges score two assistants: on a line `8 9`, or one by one by name.
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

# Words that make "Output (a) is better" a condition, a question or somebody's claim.
_RESERVATION = re.compile(
    r"\b(?:if|whether|unless|not|neither|nor|why|claim\w*|others say)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.!?,;:\n]")
_CHOICE_DECORATION = " \t\n*_`.:,;()[]\"'"
_CHOICE_LINE_ENDED = re.compile(r"[ \t*_`.\"')]*+\n")
# Judges asked for 1 to 10 give 0 to an answer that is missing.
_LOWEST, _HIGHEST = 0.0, 10.0


@dataclass(frozen=True, slots=True)
class _ChoiceHit:
    choice: PreferenceSlot
    # The words that state it; empty for a bare letter or pair, which any text may contain.
    text: str
    start: int
    end: int
    raws: tuple[float, float] | None = None


def _bracketed_choices(prose: str, reply_format: PairReplyFormat) -> list[_ChoiceHit]:
    slots = {fold_choice(word): slot for word, slot in reply_format.choices.items()}
    return [
        _ChoiceHit(slots[word], match.group(), *match.span())
        for match in VERDICT_BRACKETS.finditer(prose)
        if (word := fold_choice(match["value"].replace(" ", ""))) in slots
    ]


def _lettered_choices(prose: str, reply_format: PairReplyFormat) -> list[_ChoiceHit]:
    slots = {fold_choice(word): slot for word, slot in reply_format.choices.items()}
    found = []
    line, bare, end = "", "", -1
    for match in find_choices(prose, tuple(reply_format.choices)):
        place = match.start("value")
        if place > end:
            start, end = prose.rfind("\n", 0, place) + 1, prose.find("\n", place)
            end = len(prose) if end < 0 else end
            line = prose[start:end]
            bare = line.strip(_CHOICE_DECORATION)
        text = "" if bare == match["value"] else line
        slot = slots[fold_choice(match["value"])]
        found.append(_ChoiceHit(slot, text, place, match.end("value")))
    return found


def _stated_choices(prose: str, reply_format: PairReplyFormat) -> list[_ChoiceHit]:
    """`Output (a) is better`, unless its clause says otherwise; or that name alone."""
    words = "|".join(re.escape(word) for word in reply_format.choices)
    name = rf"Output[ \t]{{0,2}}\((?P<word>{words})\)"
    alone = re.fullmatch(rf"[*_`\"' \t]{{0,6}}{name}[*_`\"'.! \t]{{0,6}}", prose)
    if alone:
        return [_ChoiceHit(reply_format.choices[alone["word"]], "", *alone.span())]
    found = []
    clauses = [0, *(mark.end() for mark in _CLAUSE.finditer(prose))]
    # Each clause is searched once, however many verdicts it has: a reply may repeat one for ever.
    looked, is_reserved = 0, False
    for match in re.finditer(rf"{name}[*_`]{{0,4}} is (?:the )?better\b(?![*_`]*\?)", prose):
        clause = clauses[bisect_right(clauses, match.start()) - 1]
        if clause > looked:
            looked, is_reserved = clause, False
        is_reserved = is_reserved or _RESERVATION.search(prose, looked, match.start()) is not None
        looked = match.start()
        if not is_reserved:
            slot = reply_format.choices[match["word"]]
            found.append(_ChoiceHit(slot, match.group(), *match.span()))
    return found


def _two_scores(prose: str, _format: PairReplyFormat) -> list[_ChoiceHit]:
    """A line of two scores at the beginning or the end; else a score for each assistant."""
    plain = ascii_digits(prose)
    pairs = [
        (match[1], match[2], "", *match.span())
        for match in _PAIR_LINE.finditer(prose)
        if match.start() == 0 or match.end() == len(prose)
    ]
    pairs += [(match[1], match[2], match[0], *match.span()) for match in _TUPLE.finditer(plain)]
    for one, other in pairwise(_NAMED.finditer(plain)):
        if (one["who"], other["who"]) == ("1", "2"):
            start, end = one.start(), other.end()
            pairs.append((one[2], other[2], plain[start:end], start, end))
    hits = []
    for one_score, other_score, text, start, end in pairs:
        first, second = float(one_score), float(other_score)
        choice: PreferenceSlot = "first" if first > second else "second"
        choice = "tie" if first == second else choice
        hits.append(_ChoiceHit(choice, text, start, end, (first, second)))
    return hits


def _is_quoted_choice(hit: _ChoiceHit, has: Callable[[str], bool], texts: Sequence[str]) -> bool:
    """Whether the judged texts contain a verdict too."""
    if hit.text:
        return has(hit.text)
    # A bare letter is in every text; a bare pair of scores counts as quoted where it is a line.
    return hit.raws is not None and any(
        (float(match.group(1)), float(match.group(2))) == hit.raws
        for text in texts
        for match in _PAIR_LINE.finditer(text)
    )


class PairFormat(NamedTuple):
    """A format other than JSON for two outputs: how its choice is found and asked for."""

    # Everything in a reply's prose that may be the verdict.
    find: Callable[[str, PairReplyFormat], list[_ChoiceHit]]
    # What to answer, given the words of the choices, as the beginning of a message.
    ask: Callable[[tuple[str, ...]], str]
    # Whether a template declares words for the choices.
    has_choices: bool = True
    # Whether a verdict is complete without the end of its line.
    closes_itself: bool = False


PAIR_FORMATS: Mapping[str, PairFormat] = {
    "choice": PairFormat(_lettered_choices, lambda words: f"Answer with one of {', '.join(words)}"),
    "brackets": PairFormat(
        _bracketed_choices,
        lambda words: f"Give your verdict as one of {', '.join(f'[[{word}]]' for word in words)}",
        closes_itself=True,
    ),
    "stated": PairFormat(
        _stated_choices,
        lambda words: " or ".join(f'Say "Output ({word}) is better"' for word in words),
    ),
    "two_scores": PairFormat(
        _two_scores, lambda _: "Give one score from 1 to 10 to each of the two", has_choices=False
    ),
}
