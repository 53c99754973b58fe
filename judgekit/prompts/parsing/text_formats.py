"""Reads the replies of published judges: a final choice, a line or sentence with a score, brackets.

`TEXT_FORMATS` and `PAIR_FORMATS` register the formats; template headers and the lint of templates
take them from there.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from functools import cache
from itertools import chain, filterfalse
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from judgekit.errors import RefusalError, ReplyFormatError
from judgekit.prompts.parsing.extract import VERDICT_BRACKETS, without_fences
from judgekit.prompts.parsing.fields import CriterionReply, expected_criteria
from judgekit.prompts.parsing.nodes import (
    ascii_digits,
    not_wanted,
    quote_value,
    scale_before,
    scale_behind,
)
from judgekit.prompts.parsing.ownership import (
    DENIES,
    SUPPOSES,
    is_amid_prose,
    is_disowned,
    is_in_brackets,
    other_number,
    read_aftermath,
    refuses_beside,
    unquoted,
    withdraws,
)
from judgekit.prompts.parsing.phrases import is_judge_refusal, phrases
from judgekit.prompts.parsing.quotation import judged_texts
from judgekit.prompts.parsing.resolve import (
    AMID_PROSE,
    WITHDRAWN,
    declined_beside,
    echo_error,
    is_cut_off,
    raise_if_too_many,
    raise_unless_readable,
    require_text,
    unreadable,
)
from judgekit.prompts.parsing.scanner import scan_reply
from judgekit.prompts.parsing.strict import parse_criterion_replies

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from judgekit.prompts.parsing.fields import ExpectedCriteria, ExpectedCriterion, ReplyFormat
    from judgekit.prompts.parsing.ownership import Aftermath
    from judgekit.prompts.parsing.quotation import JudgedTexts
    from judgekit.records import Criterion

_STATED_NUMBER = r"[+-]?[0-9]{1,9}(?:\.[0-9]{1,9})?"
_SCORE_LABEL = (
    r"\b(?:score|rating|grade)\b[*_`\"']{0,4}(?:[ \t]{0,3}\([^()\n]{1,20}\))?[*_`\"']{0,4}"
    r"[ \t]{0,5}[:=\uff1a]"
)
# A value ends before the next label, or "Score: 4. Final score: 3" would hide the 3.
_SCORE_LINE = re.compile(
    rf"{_SCORE_LABEL}[ \t]{{0,5}}(?P<value>(?:(?!{_SCORE_LABEL})[^\n]){{1,120}})", re.IGNORECASE
)
# A label that begins with one of these names another score than the verdict.
_OTHER_SCORE = re.compile(rf"\b(?:{phrases('other_scores')})[*_` ]{{1,4}}\Z", re.IGNORECASE)
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
    r"[\w%/+]|[ \t]%|[.,]\d|[ \t]*(?:-|\u2013|—|to\b|or\b|and\b)[ \t]*[+-]?\d", re.IGNORECASE
)

# How Prometheus ends its feedback.
_RESULT_TAG = re.compile(
    r"\[RESULT\][ \t:\uff1a]{0,5}(?:score[ \t:\uff1a]{1,5})?(?P<value>[^\n\[]{1,60})", re.IGNORECASE
)

_FEEDBACK = re.compile(
    r"\A\s*(?:###\s*)?(?:Feedback|Explanation|Reasoning|Rationale)\s*:\s*", re.IGNORECASE
)
_DECORATION = " \t\n*_`.:,;!\u2013—-"
_LINE_ENDED = re.compile(r"[ \t*_`.]*+(?:\n|\Z)")

# Whether a choice closes a line, or the reply.
ANSWER_END = " \t\n.!*_`)}$\"'"


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
    reply, prose, judged = prose_of(text, names, finish_reason, judged_text)
    found = TEXT_FORMATS[reply_format.kind].find(prose, reply_format, criterion.name)
    raise_if_too_many(found, reply)
    has = cache(judged.has)
    hits = [hit for hit in found if not _is_quoted(hit, has)]
    if is_cut := is_cut_off(finish_reason):
        hits = [hit for hit in hits if _LINE_ENDED.match(prose, hit.end())]
    if not hits:
        ask = f"{wanted.ask} in the form asked for"
        raise_without_verdict(prose, ask, reply, is_echo=bool(found), is_truncated=is_cut)
    hit, raw = _decided_score(hits, prose, reply_format, wanted, reply)
    if reply_format.kind == "stated" and is_disowned(prose, hit.start(), hit.start("value")):
        fail("in_prose", wanted.ask, AMID_PROSE, reply)
    place = VerdictPlace(prose, hits[0].start(), *_stated_span(hit), reply_format.kind)
    after = check_prose_around(place, wanted.ask, reply, judged, is_cut=is_cut)
    other = other_number((*after.explanation, *after.strange), names, [raw])
    if other is not None and reply_format.kind not in _SENTENCE_KINDS:
        why = f"the prose after its verdict named another number: {other}"
        fail("ambiguous", f"{wanted.ask}, and only one", why, reply)
    before = _FEEDBACK.sub("", prose[: hit.start()]).strip(" \t\n*#_-")
    return CriterionReply(raw=raw, rationale=before or None)


def prose_of(
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


def raise_without_verdict(
    prose: str, ask: str, reply: str, *, is_echo: bool, is_truncated: bool
) -> NoReturn:
    """Refuse a reply that states no verdict in its format."""
    if is_judge_refusal(prose):
        raise RefusalError(f"the judge declined: {prose.strip()[:200]}", reply=reply)
    if is_truncated:
        raise_unless_readable("truncated", reply)
    why = "the reply gave no verdict in the form that was asked for"
    if is_echo:
        raise echo_error(f"{ask}; {why}.", reply)
    fail("no_verdict", ask, why, reply)


def fail(reason: str, ask: str, why: str, reply: str) -> NoReturn:
    raise unreadable(ask, why, reason=reason, reply=reply)


def _fail_with(reason: str, stated: str, wanted: ExpectedCriterion, reply: str) -> NoReturn:
    problem = not_wanted(reason, quote_value(stated), wanted)
    raise ReplyFormatError(
        problem.message, reason=reason, reply=reply, instruction=problem.instruction
    )


# These formats are read from sentences; the others have a mark of their own, which a sentence
# that continues after it quotes.
_NO_NAMES = expected_criteria([])
_SENTENCE_KINDS = frozenset({"choice", "stated", "two_scores"})


class VerdictPlace(NamedTuple):
    """Where the prose of a reply states its verdict."""

    prose: str
    # The first of all places that state one.
    first: int
    start: int
    end: int
    kind: str


def check_prose_around(
    place: VerdictPlace, ask: str, reply: str, judged: JudgedTexts, *, is_cut: bool
) -> Aftermath:
    """Refuse a verdict that the prose around it takes for an example, or beside a refusal."""
    prose, first, start, end, kind = place
    if kind in _SENTENCE_KINDS:
        # A letter may have brackets of its own, as in `(B)`.
        while prose[start - 1 : start] in {"(", "["} and prose[end : end + 1] in {")", "]"}:
            start, end = start - 1, end + 1
        is_amid = is_in_brackets(prose, start, end) or (
            kind == "choice" and is_disowned(prose, start, words=DENIES)
        )
    else:
        is_amid = is_amid_prose(prose, start, end, is_named=kind == "score_line", is_cut=is_cut)
    if is_amid and not is_judge_refusal(prose):
        fail("in_prose", ask, AMID_PROSE, reply)
    after = read_aftermath([unquoted(prose[end:], judged)], _NO_NAMES, is_cut=is_cut)
    if is_amid or refuses_beside(unquoted(prose[:first], judged), after):
        raise declined_beside(reply)
    if withdraws(after):
        fail("in_prose", ask, WITHDRAWN, reply)
    return after


def _stated_span(hit: re.Match[str]) -> tuple[int, int]:
    """Where a score is stated, without the rest of its line."""
    value = _LEADING.match(ascii_digits(hit.group("value")))
    end = hit.start("value") + (value.end() if value else 0)
    return hit.start(), scale_behind(hit.string, end)[1] if value else hit.end()


def _score_lines(prose: str, name: str) -> list[re.Match[str]]:
    # A line that begins with the criterion's name, then a number.
    named = re.compile(
        rf"^[ \t]{{0,8}}(?:[-*•][ \t]{{1,4}}|[0-9]{{1,2}}[.)][ \t]{{1,4}})?[*_`]{{0,4}}"
        rf"{re.escape(name)}[*_`]{{0,4}}[ \t]{{0,5}}[:=\uff1a][ \t*_`]{{0,6}}"
        rf"(?P<value>{_STATED_NUMBER}[^\n]{{0,60}})",
        re.IGNORECASE | re.MULTILINE,
    )
    hits = [*_SCORE_LINE.finditer(prose), *named.finditer(prose)]
    hits = [
        hit
        for hit in hits
        if not _OTHER_SCORE.search(prose[max(0, hit.start() - 20) : hit.start()])
    ]
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


def _bracketed(prose: str) -> list[re.Match[str]]:
    return [hit for hit in VERDICT_BRACKETS.finditer(prose) if hit["value"][:1].isdigit()]


TEXT_FORMATS: Mapping[str, TextFormat] = {
    "choice": TextFormat(lambda prose, form, _: find_choices(prose, tuple(form.choices))),
    "score_line": TextFormat(lambda prose, _, name: _score_lines(prose, name), ("Score:|Rating:",)),
    "result": TextFormat(lambda prose, *_: list(_RESULT_TAG.finditer(prose)), ("[RESULT]",)),
    "brackets": TextFormat(lambda prose, *_: _bracketed(prose), ("[[",)),
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
        _fail_with("not_a_number", found[-1].group(), wanted, reply)
    # Judges write `Score:` lines for parts before the last one, which is the verdict.
    if reply_format.kind != "score_line" and len({raw for _, raw in plain}) > 1:
        fail("ambiguous", f"{wanted.ask}, and only one", "the reply gave several verdicts", reply)
    hit, raw = plain[-1]
    if not wanted.scale.holds(raw):
        _fail_with("out_of_range", hit.group("value"), wanted, reply)
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
    stated, (start, end) = leading.group(1), hit.span("value")
    whole, _ = scale_behind(hit.string, end if in_words else start + leading.end())
    whole = whole or scale_before(hit.string, start)
    if len(parts) == 1 and whole is not None:
        stated, parts = f"{stated}/{whole}", [stated, whole]
    if len(parts) > 1 and float(parts[1]) != wanted.scale.max:
        _fail_with("scale_mismatch", stated, wanted, reply)
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
    is_final = not prose[found[-1].end() :].strip(ANSWER_END)
    if len(set(words)) > 1 and not is_final:
        choices = ", ".join(reply_format.choices)
        raise ReplyFormatError(
            f"the reply gave several of {choices}, and none of them at its end",
            reason="ambiguous",
            reply=reply,
            instruction=f"Answer with one of {choices} at the end.",
        )
    raw = scores[words[-1]]
    if not wanted.scale.holds(raw):
        why = f"the choice {quote_value(words[-1])} is none"
        fail("out_of_range", wanted.ask, why, reply)
    return found[-1], raw


_LEAD = (
    r"\b(?:answer|verdict|grade|choice|decision|judge?ment|option|rating|score|result|conclusion)\b"
    r"[*_`]{0,3}(?:[ \t]{0,3}(?:is|:|=)[*_`]{0,3})[ \t]{0,5}[*_`\"'(\[$]{0,4}(?:\\boxed\{)?"
)


# What makes a choice part of something else: `N/A`, `B+`, `B?`, `A > B`, "no idea", "a tie".
_JOINED = (
    r"[*_`\"')\]}$]{0,4}(?:[ \t]{0,3}(?:[/=+?]|[<>](?![/a-z]))|-(?!-)|(?<=\b\w)\.\w)"
    r"|(?:(?<=\b[Nn]o)|(?<=\bA))[ \t]+(?!(?:and|as|because|but|due|for|has|is|it|since|that|the"
    r"|there|this|wins)\b)[a-z]"
    r"|[ \t]+(?:(?:is|are|was)[ \t]+(?:the[ \t]+)?(?:less|not|weaker|worse|wrong)|loses|in part)\b"
)
_LIMITS = re.compile(rf"\b(?:{phrases('limits')})\b", re.IGNORECASE)


def find_choices(prose: str, choices: Sequence[str]) -> list[re.Match[str]]:
    """Places where a choice is made, in order: a line that is one, or `Answer: B`."""
    # Where there is none of these, the first word counts when a colon or a comma follows it (`Yes,
    # because …`), and then the last word of the reply.
    longest_first = [re.escape(choice) for choice in sorted(choices, key=len, reverse=True)]
    options = "|".join(c if len(c) == 1 else f"(?i:{c})" for c in longest_first)
    option = rf"(?P<value>{options})(?![\w'\u2019])"
    mark = r"[ \t]{0,5}[*_`\"'(\[$]{0,4}(?:\\boxed\{)?"
    end = r"[*_`\"')\].!}$]{0,5}[ \t]{0,5}"
    alone = re.compile(rf"^{mark}{option}{end}$", re.MULTILINE)
    stated = re.compile(rf"(?i:{_LEAD}){option}")
    # Another choice joined to it; behind a comma or bracket that choice may begin an explanation.
    joined = re.compile(
        rf"{_JOINED}|[ \t)}}$]{{0,3}}(?:(?:or|and|to)\b|&){mark}(?:{options})(?!\w)"
        rf"|[ \t}}$]{{0,3}}[,;(]{mark}(?:{options})(?:[*_`\"')\].,;]|\s*$)"
        rf"|[,;.]?[ ]but{mark}(?:{options})[ ](?:is[ ](?:the[ ])?(?:better|best|right)|wins)\b",
        re.MULTILINE,
    )
    hits = [*alone.finditer(prose), *stated.finditer(prose)]
    if hits := [hit for hit in hits if not joined.match(prose, hit.end("value"))]:
        return sorted(hits, key=lambda hit: hit.start("value"))
    begun = rf"^\s{{0,50}}{mark}{option}[*_`\"')\]]{{0,4}}[ \t]{{0,3}}[:,.;\u2013—-]"
    opening = re.match(begun, prose)
    if opening and not joined.match(prose, opening.end("value")):
        # Lines that begin with different choices describe each of them.
        lines = {fold_choice(line["value"]) for line in re.finditer(begun, prose, re.MULTILINE)}
        return [opening] if len(lines) == 1 else []
    closing = re.search(rf"(?<![\w'\u2019]){option}{end}\s{{0,50}}\Z", prose[-400:])
    # The last word counts only when no other choice precedes it, and nothing denies or limits it.
    words = list(re.finditer(rf"(?<![\w'\u2019]){option}", prose))
    if closing is None or len({fold_choice(hit["value"]) for hit in words}) > 1:
        return []
    clause = re.split(r"[.!?,;:\n]", prose[: words[-1].start("value")])[-1]
    return [] if SUPPOSES.search(clause) or _LIMITS.search(clause) else words[-1:]


def fold_choice(word: str) -> str:
    """A choice in the form choices are compared in."""
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
    rf"\b(?:score|rating|grade)\b[*_`\"']{{0,4}}[ ]{{0,3}}[:=\uff1a][*_`\"' ]{{0,6}}{_VALUE}",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    rf"\b(?:score[sd]?|scoring|rat(?:e[sd]?|ing)|grade[sd]?)\b[^.!?\n]{{0,80}}?{_VALUE}",
    re.IGNORECASE,
)
_STATED_OUT_OF = re.compile(
    rf"(?<![\w.-])(?P<value>{_ONE}[ -]?(?:out[ ]of|/)[ ]?{_ONE})(?![\w%/]|[.,][0-9])", re.IGNORECASE
)
_STARS = re.compile(rf"(?<![\w.-])(?P<value>{_ONE})[ -]?stars?\b", re.IGNORECASE)
_TAIL_LENGTH = 200
_LAST_SCORE = re.compile(rf"{_VALUE}[ \t*_`.\"')\]]{{0,8}}\Z", re.IGNORECASE)
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b", re.IGNORECASE)


# Either end of "4 or 5" and "4,5"; of "4 of 5", which may be a share, neither number is the score.
_DASH, _JOIN = r"(?:[,:]|[ ]?(?:[\u2013\u2014→-]|->)[ ]?)", r"[ ](?:of|or|to|and)[ ]"
_RANGE_BEFORE = re.compile(rf"(?:[0-9]{_DASH}|\b{_ONE}{_JOIN})\Z", re.IGNORECASE)
_RANGE_AFTER = re.compile(
    rf"{_DASH}[0-9]|{_JOIN}{_ONE}\b|([ -]stars?)?[ ](is|would be)[ ]too\b", re.IGNORECASE
)


def _is_in_range(hit: re.Match[str]) -> bool:
    start, end = hit.span("value")
    before = _RANGE_BEFORE.search(hit.string[max(0, start - 20) : start])
    return (before or _RANGE_AFTER.match(hit.string, end)) is not None


def _stated_scores(prose: str) -> list[re.Match[str]]:
    # A line `Score: n` or a mark of another format overrides the sentences before it, and a
    # sentence overrides a bare number that ends the reply. What follows a number counts: a match
    # that ended 2-1 and 3.5 % are no scores.
    folded = prose.casefold()
    has_verb = any(stem in folded for stem in ("scor", "rat", "grad"))
    labelled = [*_LABELLED.finditer(prose)] if has_verb else []
    if "[" in prose:
        labelled += [*_RESULT_TAG.finditer(prose), *_bracketed(prose)]
    end = max((hit.end() for hit in labelled), default=0)
    patterns = [
        *([_STARS] if "star" in folded else ()),
        *([_STATED_OUT_OF] if "/" in prose or "out of" in folded else ()),
        *([_SENTENCE] if has_verb else ()),
        *([_BARE] if labelled else ()),
    ]
    hits = filterfalse(_is_in_range, chain.from_iterable(p.finditer(prose, end) for p in patterns))
    found = {hit.start("value"): hit for hit in hits}
    if labelled:
        # What a sentence says afterwards is another score, unless it is only denied or reported.
        later = [hit for hit in found.values() if not is_disowned(prose, hit.start())]
        return sorted([*labelled, *later], key=lambda hit: hit.start("value"))
    last = _LAST_SCORE.search(prose[-_TAIL_LENGTH:])
    if not found and last and not _is_in_range(last):
        return [last]
    return [found[start] for start in sorted(found)]
