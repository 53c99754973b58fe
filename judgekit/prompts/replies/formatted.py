"""Reads published judges' replies: a final choice, a score line or sentence, `[RESULT] n`."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from functools import cache
from typing import TYPE_CHECKING, NoReturn

from judgekit.errors import RefusalError, ReplyFormatError
from judgekit.prompts.replies.answers import CriterionReply
from judgekit.prompts.replies.choices import find_choices, fold_choice
from judgekit.prompts.replies.echoes import judged_texts
from judgekit.prompts.replies.numbers import ascii_digits, shown
from judgekit.prompts.replies.reading import (
    checked_text,
    is_cut,
    raise_if_too_many,
    raise_unless_readable,
    read_reply,
)
from judgekit.prompts.replies.refusals import is_refusal
from judgekit.prompts.replies.scales import wanted_names
from judgekit.prompts.replies.scanning import scan_reply
from judgekit.prompts.replies.stated_scores import in_digits, stated_scores
from judgekit.prompts.replies.text_marks import without_fences

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from judgekit.prompts.replies.formats import ReplyFormat
    from judgekit.prompts.replies.scales import Wanted
    from judgekit.records.rubric import Criterion

_NUMBER = r"[+-]?[0-9]{1,9}(?:\.[0-9]{1,9})?"
_LINE = re.compile(
    r"\b(?:score|rating|grade)\b[*_`\"']{0,4}(?:[ \t]{0,3}\([^()\n]{1,20}\))?[*_`\"']{0,4}"
    r"[ \t]{0,5}[:=][ \t]{0,5}(?P<value>[^\n]{1,120})",
    re.IGNORECASE,
)
_OUT_OF = re.compile(
    rf"(?<![\w.,/-])(?P<value>{_NUMBER}[ \t]{{0,3}}(?:/"
    rf"|out of)[ \t]{{0,3}}{_NUMBER})(?![\w/]|[.,]\d)",
    re.IGNORECASE,
)
_BARE = re.compile(rf"^[ \t*_`]{{0,8}}(?P<value>{_NUMBER})[ \t*_`.]{{0,8}}$", re.MULTILINE)
_LEADING = re.compile(
    rf"[*_`\"'\[( \t]{{0,6}}({_NUMBER}(?:[ \t]{{0,3}}(?:/|out of)[ \t]{{0,3}}{_NUMBER})?)"
)
_GOES_ON = re.compile(
    r"[\w%/]|[.,]\d|[ \t]*(?:-|\u2013|—|to\b|or\b|and\b)[ \t]*[+-]?\d", re.IGNORECASE
)
_RESULT = re.compile(
    r"\[RESULT\][ \t:]{0,5}(?:score[ \t:]{1,5})?(?P<value>[^\n\[]{1,60})", re.IGNORECASE
)
_BRACKETS = re.compile(r"\[\[[ \t]{0,5}(?P<value>[^\[\]\n]{1,20}?)[ \t]{0,5}\]\]")
_FEEDBACK = re.compile(
    r"\A\s*(?:###\s*)?(?:Feedback|Explanation|Reasoning|Rationale)\s*:\s*", re.IGNORECASE
)

_AROUND = " \t\n*_`.:,;!\u2013—-"
_LINE_ENDED = re.compile(r"[ \t*_`.]*+(?:\n|\Z)")


def read_formatted(
    text: str | None,
    criterion: Criterion,
    *,
    reply_format: ReplyFormat,
    finish_reason: str | None = "stop",
    judged_text: str | Sequence[str] | None = None,
) -> CriterionReply:
    """What a reply in a published judge's form says."""
    if reply_format.kind == "json":
        readings = read_reply(
            text, [criterion], finish_reason=finish_reason, judged_text=judged_text
        )
        return readings[criterion.name]
    reply, judged = checked_text(text, finish_reason), judged_texts(judged_text)
    wanted = wanted_names([criterion])
    scan = scan_reply(reply, wanted, judged, with_json=False)
    raise_unless_readable(scan.fault, reply)
    prose = without_fences(scan.prose)
    hits = _hits(prose, reply_format, criterion.name)
    raise_if_too_many(hits, reply)
    has = None if judged is None else cache(judged.has)
    found = [hit for hit in hits if not _is_echo(hit, has)]
    if is_cut(finish_reason):
        found = [hit for hit in found if _LINE_ENDED.match(prose, hit.end())]
    if not found:
        _raise_without_verdict(prose, wanted.criteria[0], reply, finish_reason)
    hit, raw = _decided(found, prose, reply_format, wanted.criteria[0], reply)
    before = _FEEDBACK.sub("", prose[: hit.start()]).strip(" \t\n*#_-")
    return CriterionReply(raw=raw, rationale=before or None)


def _hits(prose: str, reply_format: ReplyFormat, name: str) -> list[re.Match[str]]:
    """Everything that may be the verdict, in the order it stands in."""
    if reply_format.kind == "stated":
        return stated_scores(prose)
    if reply_format.kind == "choice":
        return find_choices(prose, tuple(reply_format.choices))
    if reply_format.kind == "result":
        return list(_RESULT.finditer(prose))
    if reply_format.kind == "brackets":
        return [hit for hit in _BRACKETS.finditer(prose) if hit.group("value")[:1].isdigit()]
    hits = [*_LINE.finditer(prose), *_named(name).finditer(prose)]
    if any(_LEADING.match(ascii_digits(hit.group("value"))) for hit in hits):
        # Where a line is labelled, "in 39 out of 50 states" is prose.
        return sorted(hits, key=lambda hit: hit.start("value"))
    spans = [(hit.start(), hit.end()) for hit in hits]
    for pattern in (_OUT_OF, _BARE):
        hits += [h for h in pattern.finditer(prose) if not _within(h.start("value"), spans)]
    return sorted(hits, key=lambda hit: hit.start("value"))


def _named(name: str) -> re.Pattern[str]:
    """A line that begins with the criterion's name and goes on with a number."""
    return re.compile(
        rf"^[ \t]{{0,8}}(?:[-*•][ \t]{{1,4}}|[0-9]{{1,2}}[.)][ \t]{{1,4}})?[*_`]{{0,4}}"
        rf"{re.escape(name)}[*_`]{{0,4}}[ \t]{{0,5}}[:=][ \t*_`]{{0,6}}"
        rf"(?P<value>{_NUMBER}[^\n]{{0,60}})",
        re.IGNORECASE | re.MULTILINE,
    )


def _within(place: int, spans: list[tuple[int, int]]) -> bool:
    at = bisect_right(spans, (place, sys.maxsize)) - 1
    return at >= 0 and place < spans[at][1]


def _is_echo(hit: re.Match[str], has: Callable[[str], bool] | None) -> bool:
    """A hit with words or brackets around its value that stands in the judged text."""
    # A bare value with a stop or comma ("No, …") stands in many a text and is no quotation.
    if has is None or hit.group().strip(_AROUND) == hit.group("value"):
        return False
    value = _LEADING.match(ascii_digits(hit.group("value")))
    end = hit.end() if value is None else hit.start("value") + value.end()
    if hit.start("value") == hit.start():
        return has(hit.group())  # "4 stars": the number alone stands in many a text
    return has(hit.string[hit.start() : end]) or has(hit.group())


def _decided(
    found: list[re.Match[str]], prose: str, reply_format: ReplyFormat, wanted: Wanted, reply: str
) -> tuple[re.Match[str], float]:
    """The hit that decides, with its score: the last line, or what all hits agree on."""
    if reply_format.kind == "choice":
        return _chosen(found, prose, reply_format, wanted, reply)
    in_words = reply_format.kind == "stated"
    scored = [(hit, _number(hit, wanted, reply, in_words=in_words)) for hit in found]
    plain = [(hit, raw) for hit, raw in scored if raw is not None]
    if in_words:
        # "He scored 15 goals" is no score where another number is one.
        plain = [(hit, raw) for hit, raw in plain if wanted.scale.holds(raw)] or plain
    if not plain:
        _fail("not_a_number", f"{wanted.ask}; the reply said {shown(found[-1].group())}.", reply)
    if reply_format.kind != "score_line" and len({raw for _, raw in plain}) > 1:
        _fail("ambiguous", f"{wanted.ask}, and only one; the reply gave several.", reply)
    hit, raw = plain[-1]
    if not wanted.scale.holds(raw):
        _fail("out_of_range", f"{wanted.ask}; the reply said {shown(hit.group('value'))}.", reply)
    return hit, raw


def _number(hit: re.Match[str], wanted: Wanted, reply: str, *, in_words: bool) -> float | None:
    """The number a hit states; None for a range, or a line that goes on as another number."""
    value = ascii_digits(hit.group("value"))
    if in_words:
        value = in_digits(value)
    leading = _LEADING.match(value)
    if leading is None or _GOES_ON.match(value, leading.end()):
        return None
    parts = re.split(r"/|out of", leading.group(1), flags=re.IGNORECASE)
    if len(parts) > 1 and float(parts[1]) != wanted.scale.max:
        message = f"{wanted.ask}; the reply said {shown(leading.group(1))}."
        _fail("scale_mismatch", message, reply)
    return float(parts[0])


def _chosen(
    found: list[re.Match[str]], prose: str, reply_format: ReplyFormat, wanted: Wanted, reply: str
) -> tuple[re.Match[str], float]:
    """The choice that stands last and alone, or the only one there is."""
    scores = {fold_choice(word): raw for word, raw in reply_format.choices.items()}
    words = [fold_choice(hit.group("value")) for hit in found]
    is_final = not prose[found[-1].end() :].strip(" \t\n.!*_`)\"'")
    if len(set(words)) > 1 and not is_final:
        _fail(
            "ambiguous", f"Answer with one of {', '.join(reply_format.choices)} at the end.", reply
        )
    raw = scores[words[-1]]
    if not wanted.scale.holds(raw):
        _fail("out_of_range", f"{wanted.ask}; the choice {shown(words[-1])} is none.", reply)
    return found[-1], raw


def _raise_without_verdict(
    prose: str, wanted: Wanted, reply: str, finish_reason: str | None
) -> NoReturn:
    if is_refusal(prose):
        raise RefusalError(f"the judge declined: {prose.strip()[:200]}", reply=reply)
    if is_cut(finish_reason):
        raise_unless_readable("truncated", reply)
    _fail("no_verdict", f"{wanted.ask} in the form asked for; the reply held none.", reply)


def _fail(reason: str, message: str, reply: str) -> NoReturn:
    raise ReplyFormatError(message, reason=reason, reply=reply)
