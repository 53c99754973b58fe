"""Reads the replies of published judges: a final choice, a line or sentence with a score, brackets.

`TEXT_FORMATS` and `PAIR_FORMATS` register the formats; template headers and the lint of templates
take them from there.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from judgekit.errors import RefusalError, ReplyFormatError
from judgekit.prompts.parsing.extract import without_fences
from judgekit.prompts.parsing.fields import CriterionReply, PreferenceReply, expected_criteria
from judgekit.prompts.parsing.nodes import ascii_digits, quote_value
from judgekit.prompts.parsing.quotation import judged_texts
from judgekit.prompts.parsing.refusal import is_judge_refusal
from judgekit.prompts.parsing.resolve import (
    is_cut_off,
    raise_if_too_many,
    raise_unless_readable,
    require_text,
)
from judgekit.prompts.parsing.scanner import scan_reply
from judgekit.prompts.parsing.strict import parse_criterion_replies

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from judgekit.prompts.parsing.fields import (
        ExpectedCriteria,
        ExpectedCriterion,
        PairReplyFormat,
        ReplyFormat,
    )
    from judgekit.prompts.parsing.quotation import JudgedTexts
    from judgekit.records import Criterion, PreferenceSlot

_STATED_NUMBER = r"[+-]?[0-9]{1,9}(?:\.[0-9]{1,9})?"
_SCORE_LINE = re.compile(
    r"\b(?:score|rating|grade)\b[*_`\"']{0,4}(?:[ \t]{0,3}\([^()\n]{1,20}\))?[*_`\"']{0,4}"
    r"[ \t]{0,5}[:=][ \t]{0,5}(?P<value>[^\n]{1,120})",
    re.IGNORECASE,
)
_SCORE_OUT_OF = re.compile(
    rf"(?<![\w.,/-])(?P<value>{_STATED_NUMBER}[ \t]{{0,3}}(?:/"
    rf"|out of)[ \t]{{0,3}}{_STATED_NUMBER})(?![\w/]|[.,]\d)",
    re.IGNORECASE,
)
_BARE = re.compile(rf"^[ \t*_`]{{0,8}}(?P<value>{_STATED_NUMBER})[ \t*_`.]{{0,8}}$", re.MULTILINE)
_LEADING = re.compile(
    rf"[*_`\"'\[( \t]{{0,6}}"
    rf"({_STATED_NUMBER}(?:[ \t]{{0,3}}(?:/|out of)[ \t]{{0,3}}{_STATED_NUMBER})?)"
)
_GOES_ON = re.compile(
    r"[\w%/]|[.,]\d|[ \t]*(?:-|\u2013|—|to\b|or\b|and\b)[ \t]*[+-]?\d", re.IGNORECASE
)

# How Prometheus ends its feedback.
_RESULT_TAG = re.compile(
    r"\[RESULT\][ \t:]{0,5}(?:score[ \t:]{1,5})?(?P<value>[^\n\[]{1,60})", re.IGNORECASE
)

# The brackets of MT-Bench's judges: `[[7]]`, `[[A]]`.
_VERDICT_BRACKETS = re.compile(r"\[\[[ \t]{0,5}(?P<value>[^\[\]\n]{1,20}?)[ \t]{0,5}\]\]")
_FEEDBACK = re.compile(
    r"\A\s*(?:###\s*)?(?:Feedback|Explanation|Reasoning|Rationale)\s*:\s*", re.IGNORECASE
)
_DECORATION = " \t\n*_`.:,;!\u2013—-"
_LINE_ENDED = re.compile(r"[ \t*_`.]*+(?:\n|\Z)")


# Whether a choice closes a line, or the reply.
_ANSWER_END = " \t\n.!*_`)\"'"


def parse_formatted_reply(
    text: str | None,
    criterion: Criterion,
    *,
    reply_format: ReplyFormat,
    finish_reason: str | None = "stop",
    judged_text: str | Sequence[str] | None = None,
) -> CriterionReply:
    """What a reply in a published judge's format states."""
    if reply_format.kind == "json":
        readings = parse_criterion_replies(
            text, [criterion], finish_reason=finish_reason, judged_text=judged_text
        )
        return readings[criterion.name]
    names = expected_criteria([criterion])
    wanted = names.criteria[0]
    reply, prose, judged = _prose_of(text, names, finish_reason, judged_text)
    hits = TEXT_FORMATS[reply_format.kind].find(prose, reply_format, criterion.name)
    raise_if_too_many(hits, reply)
    has = cache(judged.has)
    hits = [hit for hit in hits if not _is_quoted(hit, has)]
    if is_cut_off(finish_reason):
        hits = [hit for hit in hits if _LINE_ENDED.match(prose, hit.end())]
    if not hits:
        message = f"{wanted.ask} in the form asked for; the reply held none."
        _raise_without_verdict(prose, message, reply, is_truncated=is_cut_off(finish_reason))
    hit, raw = _decided_score(hits, prose, reply_format, wanted, reply)
    before = _FEEDBACK.sub("", prose[: hit.start()]).strip(" \t\n*#_-")
    return CriterionReply(raw=raw, rationale=before or None)


def parse_formatted_preference(
    text: str | None,
    reply_format: PairReplyFormat,
    *,
    finish_reason: str | None = "stop",
    judged_text: Sequence[str] = (),
) -> PreferenceReply:
    """What a reply in a published judge's format prefers."""
    form = PAIR_FORMATS[reply_format.kind]
    reply, prose, judged = _prose_of(text, expected_criteria([]), finish_reason, judged_text)
    prose = prose.strip()
    hits = sorted(form.find(prose, reply_format), key=lambda hit: hit.start)
    raise_if_too_many(hits, reply)
    has = cache(judged.has)
    hits = [hit for hit in hits if not _is_quoted_choice(hit, has, judged_text)]
    if is_cut_off(finish_reason) and not form.closes_itself:
        hits = [hit for hit in hits if _CHOICE_LINE_ENDED.match(prose, hit.end) is not None]
    ask = form.ask(tuple(reply_format.choices))
    if not hits:
        message = f"{ask}; the reply held no such verdict of its own."
        _raise_without_verdict(prose, message, reply, is_truncated=is_cut_off(finish_reason))
    hit = hits[-1]
    # Judges weigh "A" against "B" before they decide: of letters, the one that ends the reply.
    is_final = reply_format.kind == "choice" and not prose[hit.end :].strip(_ANSWER_END)
    if not is_final and len({(each.choice, each.raws) for each in hits}) > 1:
        _fail("ambiguous", f"{ask}, once; the reply gave several that differ.", reply)
    if hit.raws is not None and not all(_LOWEST <= raw <= _HIGHEST for raw in hit.raws):
        _fail("out_of_range", "Give each a score from 1 to 10.", reply)
    raw_first, raw_second = hit.raws or (None, None)
    # A reply of a few words beside its verdict has no rationale.
    rest = f"{prose[: hit.start]} {prose[hit.end :]}"
    n_words = sum(any(c.isalpha() for c in word) for word in rest.split())
    return PreferenceReply(
        choice=hit.choice,
        rationale=prose if n_words >= _FEWEST_WORDS else None,
        raw_first=raw_first,
        raw_second=raw_second,
    )


def _prose_of(
    text: str | None,
    names: ExpectedCriteria,
    finish_reason: str | None,
    judged_text: str | Sequence[str] | None,
) -> tuple[str, str, JudgedTexts]:
    """The reply, its prose without reasoning and fences, and the judged texts."""
    reply, judged = require_text(text, finish_reason), judged_texts(judged_text)
    scan = scan_reply(reply, names, judged, with_json=False)
    raise_unless_readable(scan.fault, reply)
    return reply, without_fences(scan.prose), judged


def _raise_without_verdict(prose: str, message: str, reply: str, *, is_truncated: bool) -> NoReturn:
    if is_judge_refusal(prose):
        raise RefusalError(f"the judge declined: {prose.strip()[:200]}", reply=reply)
    if is_truncated:
        raise_unless_readable("truncated", reply)
    _fail("no_verdict", message, reply)


def _fail(reason: str, message: str, reply: str) -> NoReturn:
    raise ReplyFormatError(message, reason=reason, reply=reply)


def _score_lines(prose: str, name: str) -> list[re.Match[str]]:
    # A line that begins with the criterion's name, then a number.
    named = re.compile(
        rf"^[ \t]{{0,8}}(?:[-*•][ \t]{{1,4}}|[0-9]{{1,2}}[.)][ \t]{{1,4}})?[*_`]{{0,4}}"
        rf"{re.escape(name)}[*_`]{{0,4}}[ \t]{{0,5}}[:=][ \t*_`]{{0,6}}"
        rf"(?P<value>{_STATED_NUMBER}[^\n]{{0,60}})",
        re.IGNORECASE | re.MULTILINE,
    )
    hits = [*_SCORE_LINE.finditer(prose), *named.finditer(prose)]
    if any(_LEADING.match(ascii_digits(hit.group("value"))) for hit in hits):
        # Where a line is labelled, "in 39 out of 50 states" is prose.
        return sorted(hits, key=lambda hit: hit.start("value"))
    spans = [hit.span() for hit in hits]
    for pattern in (_SCORE_OUT_OF, _BARE):
        for hit in pattern.finditer(prose):
            before = bisect_right(spans, (hit.start("value"), sys.maxsize)) - 1
            if before < 0 or hit.start("value") >= spans[before][1]:
                hits.append(hit)
    return sorted(hits, key=lambda hit: hit.start("value"))


class TextFormat(NamedTuple):
    """A format other than JSON for one output: how its score is found and asked for."""

    # Everything in a reply's prose that may be the verdict, in the order of the text.
    find: Callable[[str, ReplyFormat, str], list[re.Match[str]]]
    # What a template must contain, alternatives joined by `|`; empty where it declares choices.
    wanted_words: tuple[str, ...] = ()


TEXT_FORMATS: Mapping[str, TextFormat] = {
    "choice": TextFormat(lambda prose, form, _: _find_choices(prose, tuple(form.choices))),
    "score_line": TextFormat(lambda prose, _, name: _score_lines(prose, name), ("Score:|Rating:",)),
    "result": TextFormat(lambda prose, *_: list(_RESULT_TAG.finditer(prose)), ("[RESULT]",)),
    "brackets": TextFormat(
        lambda prose, *_: [
            h for h in _VERDICT_BRACKETS.finditer(prose) if h["value"][:1].isdigit()
        ],
        ("[[",),
    ),
    "stated": TextFormat(lambda prose, *_: _stated_scores(prose), ("score|stars",)),
}


def _is_quoted(hit: re.Match[str], has: Callable[[str], bool]) -> bool:
    """Whether the judged text contains a hit, with the words or brackets around its value."""
    # A bare value with a stop or comma ("No, …") is common in texts and no quotation.
    if hit.group().strip(_DECORATION) == hit.group("value"):
        return False
    value = _LEADING.match(ascii_digits(hit.group("value")))
    end = hit.end() if value is None else hit.start("value") + value.end()
    if hit.start("value") == hit.start():
        return has(hit.group())  # "4 stars": the number alone is common in texts
    return has(hit.string[hit.start() : end]) or has(hit.group())


def _decided_score(
    found: list[re.Match[str]],
    prose: str,
    reply_format: ReplyFormat,
    wanted: ExpectedCriterion,
    reply: str,
) -> tuple[re.Match[str], float]:
    """The hit that decides, with its score: the last line, or what all hits agree on."""
    if reply_format.kind == "choice":
        return _chosen_score(found, prose, reply_format, wanted, reply)
    # The format `stated` reads sentences, which spell small numbers out.
    in_words = reply_format.kind == "stated"
    scored = [(hit, _hit_score(hit, wanted, reply, in_words=in_words)) for hit in found]
    plain = [(hit, raw) for hit, raw in scored if raw is not None]
    if in_words:
        # "He scored 15 goals" is no score where another number is one.
        plain = [(hit, raw) for hit, raw in plain if wanted.scale.holds(raw)] or plain
    if not plain:
        stated = quote_value(found[-1].group())
        _fail("not_a_number", f"{wanted.ask}; the reply said {stated}.", reply)
    # Judges write `Score:` lines for parts before the last one, which is the verdict.
    if reply_format.kind != "score_line" and len({raw for _, raw in plain}) > 1:
        _fail("ambiguous", f"{wanted.ask}, and only one; the reply gave several.", reply)
    hit, raw = plain[-1]
    if not wanted.scale.holds(raw):
        stated = quote_value(hit.group("value"))
        _fail("out_of_range", f"{wanted.ask}; the reply said {stated}.", reply)
    return hit, raw


def _hit_score(
    hit: re.Match[str], wanted: ExpectedCriterion, reply: str, *, in_words: bool
) -> float | None:
    """The number a hit states; None for a range, or where another number follows."""
    value = ascii_digits(hit.group("value"))
    if in_words:
        value = _NUMBER_WORD.sub(lambda hit: str(_NUMBER_WORDS.index(hit[0].lower())), value)
    leading = _LEADING.match(value)
    if leading is None or _GOES_ON.match(value, leading.end()):
        return None
    # A score out of another maximum is refused, never rescaled.
    parts = re.split(r"/|out of", leading.group(1), flags=re.IGNORECASE)
    if len(parts) > 1 and float(parts[1]) != wanted.scale.max:
        message = f"{wanted.ask}; the reply said {quote_value(leading.group(1))}."
        _fail("scale_mismatch", message, reply)
    return float(parts[0])


def _chosen_score(
    found: list[re.Match[str]],
    prose: str,
    reply_format: ReplyFormat,
    wanted: ExpectedCriterion,
    reply: str,
) -> tuple[re.Match[str], float]:
    """The last choice that is alone, or the only one there is."""
    scores = {_fold_choice(word): raw for word, raw in reply_format.choices.items()}
    words = [_fold_choice(hit.group("value")) for hit in found]
    is_final = not prose[found[-1].end() :].strip(_ANSWER_END)
    if len(set(words)) > 1 and not is_final:
        _fail(
            "ambiguous", f"Answer with one of {', '.join(reply_format.choices)} at the end.", reply
        )
    raw = scores[words[-1]]
    if not wanted.scale.holds(raw):
        _fail("out_of_range", f"{wanted.ask}; the choice {quote_value(words[-1])} is none.", reply)
    return found[-1], raw


_LEAD = (
    r"\b(?:answer|verdict|grade|choice|decision|judge?ment|option|rating|score|result|conclusion)\b"
    r"[*_`]{0,3}(?:[ \t]{0,3}(?:is|:|=)[*_`]{0,3})[ \t]{0,5}[*_`\"'(\[]{0,4}"
)


def _find_choices(prose: str, choices: Sequence[str]) -> list[re.Match[str]]:
    """Places where a choice is made, in order: a line that is one, or `Answer: B`."""
    # Where there is none of these, the first word counts when a colon or a comma follows it (`Yes,
    # because …`), and then the last word of the reply.
    longest_first = [re.escape(choice) for choice in sorted(choices, key=len, reverse=True)]
    options = "|".join(c if len(c) == 1 else f"(?i:{c})" for c in longest_first)
    option = rf"(?P<value>{options})(?![\w'\u2019])"
    mark = r"[ \t]{0,5}[*_`\"'(\[]{0,4}"
    end = r"[*_`\"')\].!]{0,5}[ \t]{0,5}"
    alone = re.compile(rf"^{mark}{option}{end}$", re.MULTILINE)
    stated = re.compile(rf"(?i:{_LEAD}){option}")
    hits = [*alone.finditer(prose), *stated.finditer(prose)]
    if hits:
        return sorted(hits, key=lambda hit: hit.start("value"))
    opening = re.match(
        rf"\s{{0,50}}{mark}{option}[*_`\"')\]]{{0,4}}[ \t]{{0,3}}[:,.;\u2013—-]", prose
    )
    closing = re.search(rf"(?<![\w'\u2019]){option}{end}\s{{0,50}}\Z", prose[-400:])
    if opening:
        return [opening]
    # The last word counts only when no other choice precedes it.
    words = list(re.finditer(rf"(?<![\w'\u2019]){option}", prose))
    is_only = closing is not None and len({_fold_choice(hit["value"]) for hit in words}) == 1
    return words[-1:] if is_only else []


def _fold_choice(word: str) -> str:
    # AlpacaEval labels the outputs `m` and `M`; words may be written in capitals.
    return word if len(word) == 1 else word.casefold()


_NUMBER_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
)  # fmt: skip
_ONE = rf"(?:[0-9]{{1,3}}(?:\.[0-9]{{1,4}})?|{'|'.join(_NUMBER_WORDS)})"
_VALUE = (
    rf"(?<![\w.$£€-])(?P<value>{_ONE}(?:[ -]?(?:out[ ]of|/)[ ]?{_ONE})?)"
    r"(?![\w/]|[ ]?%|[.,][0-9]|[ ]?[-\u2013][ ]?[0-9]|[ ]of\b)"
)
_LABELLED = re.compile(
    rf"\b(?:score|rating|grade)\b[*_`\"']{{0,4}}[ ]{{0,3}}[:=][*_`\"' ]{{0,6}}{_VALUE}",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    rf"\b(?:score[sd]?|scoring|rat(?:e[sd]?|ing)|grade[sd]?)\b[^.!?\n]{{0,80}}?{_VALUE}",
    re.IGNORECASE,
)
_STATED_OUT_OF = re.compile(
    rf"(?<![\w.-])(?P<value>{_ONE}[ -]?(?:out[ ]of|/)[ ]?{_ONE})(?![\w%/]|[.,][0-9])",
    re.IGNORECASE,
)
_STARS = re.compile(rf"(?<![\w.-])(?P<value>{_ONE})[ -]?stars?\b", re.IGNORECASE)
_TAIL_LENGTH = 200
_LAST_SCORE = re.compile(rf"{_VALUE}[ \t*_`.\"')\]]{{0,8}}\Z", re.IGNORECASE)
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b", re.IGNORECASE)


def _stated_scores(prose: str) -> list[re.Match[str]]:
    # A line `Score: n` overrides a sentence, and a sentence overrides a bare number that ends the
    # reply. What follows a number counts: a match that ended 2-1 and 3.5 % are no scores.
    folded = prose.casefold()
    has_verb = any(stem in folded for stem in ("scor", "rat", "grad"))
    if has_verb and (labelled := list(_LABELLED.finditer(prose))):
        return labelled
    found: dict[int, re.Match[str]] = {}
    if "star" in folded:
        found |= {hit.start("value"): hit for hit in _STARS.finditer(prose)}
    if "/" in prose or "out of" in folded:
        found |= {hit.start("value"): hit for hit in _STATED_OUT_OF.finditer(prose)}
    if has_verb:
        found |= {hit.start("value"): hit for hit in _SENTENCE.finditer(prose)}
    if not found and (last := _LAST_SCORE.search(prose[-_TAIL_LENGTH:])):
        return [last]
    return [found[start] for start in sorted(found)]


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
    r"\b(?:if|whether|unless|not|neither|nor|why|claim\w*)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.!?,;:\n]")
_CHOICE_DECORATION = " \t\n*_`.:,;()[]\"'"
_CHOICE_LINE_ENDED = re.compile(r"[ \t*_`.\"')]*+\n")
_FEWEST_WORDS = 5
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
    slots = {_fold_choice(word): slot for word, slot in reply_format.choices.items()}
    return [
        _ChoiceHit(slots[word], match.group(), *match.span())
        for match in _VERDICT_BRACKETS.finditer(prose)
        if (word := _fold_choice(match["value"])) in slots
    ]


def _lettered_choices(prose: str, reply_format: PairReplyFormat) -> list[_ChoiceHit]:
    slots = {_fold_choice(word): slot for word, slot in reply_format.choices.items()}
    found = []
    line, bare, end = "", "", -1
    for match in _find_choices(prose, tuple(reply_format.choices)):
        place = match.start("value")
        if place > end:
            start, end = prose.rfind("\n", 0, place) + 1, prose.find("\n", place)
            end = len(prose) if end < 0 else end
            line = prose[start:end]
            bare = line.strip(_CHOICE_DECORATION)
        text = "" if bare == match["value"] else line
        slot = slots[_fold_choice(match["value"])]
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
    for match in re.finditer(rf"{name}[*_`]{{0,4}} is (?:the )?better\b", prose):
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
        _two_scores,
        lambda _: "Give one score from 1 to 10 to each of the two",
        has_choices=False,
    ),
}
