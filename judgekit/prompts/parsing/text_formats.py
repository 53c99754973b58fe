"""Reads the replies of published judges: a final choice, a score line or sentence.

`[RESULT] n`.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from judgekit.errors import RefusalError, ReplyFormatError
from judgekit.prompts.parsing.criteria import parse_criterion_replies
from judgekit.prompts.parsing.extract import without_fences
from judgekit.prompts.parsing.fields import expected_criteria
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
from judgekit.prompts.parsing.strict import CriterionReply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from judgekit.prompts.parsing.fields import ExpectedCriterion, ReplyFormat
    from judgekit.records import Criterion

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
    rf"[*_`\"'\[( \t]{{0,6}}({_STATED_NUMBER}(?:[ \t]{{0,3}}(?:/|out of)[ \t]{{0,3}}{_STATED_NUMBER})?)"  # noqa: E501
)

_GOES_ON = re.compile(
    r"[\w%/]|[.,]\d|[ \t]*(?:-|\u2013|—|to\b|or\b|and\b)[ \t]*[+-]?\d", re.IGNORECASE
)

_RESULT_TAG = re.compile(
    r"\[RESULT\][ \t:]{0,5}(?:score[ \t:]{1,5})?(?P<value>[^\n\[]{1,60})", re.IGNORECASE
)

_VERDICT_BRACKETS = re.compile(r"\[\[[ \t]{0,5}(?P<value>[^\[\]\n]{1,20}?)[ \t]{0,5}\]\]")

_FEEDBACK = re.compile(
    r"\A\s*(?:###\s*)?(?:Feedback|Explanation|Reasoning|Rationale)\s*:\s*", re.IGNORECASE
)

_DECORATION = " \t\n*_`.:,;!\u2013—-"
_LINE_ENDED = re.compile(r"[ \t*_`.]*+(?:\n|\Z)")


def parse_formatted_reply(
    text: str | None,
    criterion: Criterion,
    *,
    reply_format: ReplyFormat,
    finish_reason: str | None = "stop",
    judged_text: str | Sequence[str] | None = None,
) -> CriterionReply:
    """What a reply in a published judge's form says."""
    if reply_format.kind == "json":
        readings = parse_criterion_replies(
            text, [criterion], finish_reason=finish_reason, judged_text=judged_text
        )
        return readings[criterion.name]
    reply, judged = require_text(text, finish_reason), judged_texts(judged_text)
    wanted = expected_criteria([criterion])
    scan = scan_reply(reply, wanted, judged, with_json=False)
    raise_unless_readable(scan.fault, reply)
    prose = without_fences(scan.prose)
    hits = TEXT_FORMATS[reply_format.kind].find(prose, reply_format, criterion.name)
    raise_if_too_many(hits, reply)
    has = None if judged is None else cache(judged.has)
    found = [hit for hit in hits if not _is_quoted_hit(hit, has)]
    if is_cut_off(finish_reason):
        found = [hit for hit in found if _LINE_ENDED.match(prose, hit.end())]
    if not found:
        _raise_without_verdict(prose, wanted.criteria[0], reply, finish_reason)
    hit, raw = _decided_score(found, prose, reply_format, wanted.criteria[0], reply)
    before = _FEEDBACK.sub("", prose[: hit.start()]).strip(" \t\n*#_-")
    return CriterionReply(raw=raw, rationale=before or None)


def _choice_hits(prose: str, reply_format: ReplyFormat, _name: str) -> list[re.Match[str]]:
    return find_choices(prose, tuple(reply_format.choices))


def _stated_hits(prose: str, _format: ReplyFormat, _name: str) -> list[re.Match[str]]:
    return stated_scores(prose)


def _result_hits(prose: str, _format: ReplyFormat, _name: str) -> list[re.Match[str]]:
    return list(_RESULT_TAG.finditer(prose))


def _bracket_hits(prose: str, _format: ReplyFormat, _name: str) -> list[re.Match[str]]:
    return [hit for hit in _VERDICT_BRACKETS.finditer(prose) if hit.group("value")[:1].isdigit()]


def _line_hits(prose: str, _format: ReplyFormat, name: str) -> list[re.Match[str]]:
    hits = [*_SCORE_LINE.finditer(prose), *_named(name).finditer(prose)]
    if any(_LEADING.match(ascii_digits(hit.group("value"))) for hit in hits):
        # Where a line is labelled, "in 39 out of 50 states" is prose.
        return sorted(hits, key=lambda hit: hit.start("value"))
    spans = [(hit.start(), hit.end()) for hit in hits]
    for pattern in (_SCORE_OUT_OF, _BARE):
        hits += [h for h in pattern.finditer(prose) if not _within(h.start("value"), spans)]
    return sorted(hits, key=lambda hit: hit.start("value"))


class TextFormat(NamedTuple):
    """A reply format other than JSON: where its score may stand, and how a template asks for it."""

    find: Callable[[str, ReplyFormat, str], list[re.Match[str]]]
    """Everything in a reply's prose that may be the verdict, in the order of the text."""

    wanted_words: tuple[str, ...] = ()
    """What a template must say, alternatives joined by `|`; nothing where it declares choices."""


# The one list of these formats: template headers and the lint of templates take them from here.
TEXT_FORMATS: Mapping[str, TextFormat] = {
    "choice": TextFormat(_choice_hits),
    "score_line": TextFormat(_line_hits, ("Score:|Rating:",)),
    "result": TextFormat(_result_hits, ("[RESULT]",)),
    "brackets": TextFormat(_bracket_hits, ("[[",)),
    "stated": TextFormat(_stated_hits, ("score|stars",)),
}


def _named(name: str) -> re.Pattern[str]:
    """A line that begins with the criterion's name and goes on with a number."""
    return re.compile(
        rf"^[ \t]{{0,8}}(?:[-*•][ \t]{{1,4}}|[0-9]{{1,2}}[.)][ \t]{{1,4}})?[*_`]{{0,4}}"
        rf"{re.escape(name)}[*_`]{{0,4}}[ \t]{{0,5}}[:=][ \t*_`]{{0,6}}"
        rf"(?P<value>{_STATED_NUMBER}[^\n]{{0,60}})",
        re.IGNORECASE | re.MULTILINE,
    )


def _within(place: int, spans: list[tuple[int, int]]) -> bool:
    at = bisect_right(spans, (place, sys.maxsize)) - 1
    return at >= 0 and place < spans[at][1]


def _is_quoted_hit(hit: re.Match[str], has: Callable[[str], bool] | None) -> bool:
    """A hit with words or brackets around its value that the judged text contains."""
    # A bare value with a stop or comma ("No, …") is common in texts and no quotation.
    if has is None or hit.group().strip(_DECORATION) == hit.group("value"):
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
    in_words = reply_format.kind == "stated"
    scored = [(hit, _hit_score(hit, wanted, reply, in_words=in_words)) for hit in found]
    plain = [(hit, raw) for hit, raw in scored if raw is not None]
    if in_words:
        # "He scored 15 goals" is no score where another number is one.
        plain = [(hit, raw) for hit, raw in plain if wanted.scale.holds(raw)] or plain
    if not plain:
        _fail(
            "not_a_number", f"{wanted.ask}; the reply said {quote_value(found[-1].group())}.", reply
        )
    if reply_format.kind != "score_line" and len({raw for _, raw in plain}) > 1:
        _fail("ambiguous", f"{wanted.ask}, and only one; the reply gave several.", reply)
    hit, raw = plain[-1]
    if not wanted.scale.holds(raw):
        _fail(
            "out_of_range",
            f"{wanted.ask}; the reply said {quote_value(hit.group('value'))}.",
            reply,
        )
    return hit, raw


def _hit_score(
    hit: re.Match[str], wanted: ExpectedCriterion, reply: str, *, in_words: bool
) -> float | None:
    """The number a hit states; None for a range, or a line that goes on as another number."""
    value = ascii_digits(hit.group("value"))
    if in_words:
        value = in_digits(value)
    leading = _LEADING.match(value)
    if leading is None or _GOES_ON.match(value, leading.end()):
        return None
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
    scores = {fold_choice(word): raw for word, raw in reply_format.choices.items()}
    words = [fold_choice(hit.group("value")) for hit in found]
    is_final = not prose[found[-1].end() :].strip(" \t\n.!*_`)\"'")
    if len(set(words)) > 1 and not is_final:
        _fail(
            "ambiguous", f"Answer with one of {', '.join(reply_format.choices)} at the end.", reply
        )
    raw = scores[words[-1]]
    if not wanted.scale.holds(raw):
        _fail("out_of_range", f"{wanted.ask}; the choice {quote_value(words[-1])} is none.", reply)
    return found[-1], raw


def _raise_without_verdict(
    prose: str, wanted: ExpectedCriterion, reply: str, finish_reason: str | None
) -> NoReturn:
    if is_judge_refusal(prose):
        raise RefusalError(f"the judge declined: {prose.strip()[:200]}", reply=reply)
    if is_cut_off(finish_reason):
        raise_unless_readable("truncated", reply)
    _fail("no_verdict", f"{wanted.ask} in the form asked for; the reply held none.", reply)


def _fail(reason: str, message: str, reply: str) -> NoReturn:
    raise ReplyFormatError(message, reason=reason, reply=reply)


_LEAD = (
    r"\b(?:answer|verdict|grade|choice|decision|judge?ment|option|rating|score|result|conclusion)\b"
    r"[*_`]{0,3}(?:[ \t]{0,3}(?:is|:|=)[*_`]{0,3})[ \t]{0,5}[*_`\"'(\[]{0,4}"
)


def find_choices(prose: str, choices: Sequence[str]) -> list[re.Match[str]]:
    """Places where a choice is made, in order: a line that is one, or `Answer: B`."""
    # Where there is none of these, the first word counts when a colon or a comma follows it (`Yes,
    # because …`), and then the last word of the reply.
    options = "|".join(_option(choice) for choice in sorted(choices, key=len, reverse=True))
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
    return _last(prose, rf"(?<![\w'\u2019]){option}", closing)


def fold_choice(word: str) -> str:
    """A choice as choices are compared."""
    return word if len(word) == 1 else word.casefold()


def _option(choice: str) -> str:
    return re.escape(choice) if len(choice) == 1 else f"(?i:{re.escape(choice)})"


def _last(prose: str, option: str, closing: re.Match[str] | None) -> list[re.Match[str]]:
    """The last word of a reply, when no other choice precedes it."""
    words = list(re.finditer(option, prose))
    if closing is None or len({fold_choice(hit["value"]) for hit in words}) != 1:
        return []
    return words[-1:]


_NUMBER_WORDS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
)

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
_LAST_SCORE = re.compile(rf"{_VALUE}[ \t*_`.\"')\]]{{0,8}}\Z", re.IGNORECASE)
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b", re.IGNORECASE)


def stated_scores(prose: str) -> list[re.Match[str]]:
    """Where a score is stated, in the order of the text."""
    # A line `Score: n` outdoes a sentence, and a sentence a bare number that ends the reply. What
    # follows a number counts: a match that ended 2-1 and 3.5 % are no scores.
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


_TAIL_LENGTH = 200


def in_digits(text: str) -> str:
    """A text with the numbers from zero to ten in digits."""
    return _NUMBER_WORD.sub(lambda hit: str(_NUMBER_WORDS.index(hit.group().lower())), text)
