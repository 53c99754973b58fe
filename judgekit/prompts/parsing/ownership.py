"""Decides by where a verdict stands whether it is the judge's own, or an example or a quotation.

A verdict counts if it is the whole reply, or a block of its own: nothing before it in its
sentence but a lead-in, no brackets around it, and nothing after it that could take it back.
What is contained in the judged text is recognised in `quotation`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

from judgekit.prompts.parsing.fields import LINE_SCORE_KEYS, PREFERENCE_KEYS, fold_key
from judgekit.prompts.parsing.nodes import ascii_digits
from judgekit.prompts.parsing.phrases import (
    DECORATION,
    SENTENCE_END,
    STOPS,
    is_courtesy,
    is_judge_refusal,
    opens_with_refusal,
    phrases,
    split_label,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from judgekit.prompts.parsing.fields import ExpectedCriteria
    from judgekit.prompts.parsing.quotation import JudgedTexts

# Tags and the special tokens of chat templates; text in other angle brackets is prose.
_MARKUP = re.compile(
    r"</?[A-Za-z_][\w:.-]{0,40}(?: [^<>\n]{0,80})?/?>|<\|[^|<>\n]{1,40}\|>|\[/?INST\]"
)
_FENCES = re.compile(r"(?:`{3,}|~{3,})(?:[A-Za-z][\w+-]{0,20}(?=\s|\Z))?")

# What the last line before a verdict may end with: a lead-in, an assignment, a whole sentence.
_LEADS_IN = re.compile(r"(?:[:\uff1a=→.!?\u3002\uff01\uff1f]|[-=]>)[*_`\"'\s]*\Z")

SUPPOSES = re.compile(phrases("suppositions"), re.IGNORECASE)


# The words that introduce an example, or what others say.
@cache
def _example() -> re.Pattern[str]:
    return re.compile(phrases("examples"), re.IGNORECASE)


_HEADING = re.compile(r"\s{0,3}(?:#{1,6}\s|\*\*|__)")

_NUMBER = re.compile(
    r"(?<![\w.,/$€£-])([0-9]{1,9}(?:\.[0-9]{1,9})?)(?![\w%]|[.,:][0-9]|[ ]?[-\u2013][ ]?[0-9])"
)
_BULLET = re.compile(r"\s*[0-9]{1,3}[.)]\s")
_STATED = re.compile(r"(?P<key>[^:\uff1a\n]{1,60})[:\uff1a=]\s*(?P<value>\S[^\n]{0,60})")
_RESTATED = re.compile(
    r"[*_`\"' ]*(?:[0-9.]{1,9}(?:\s*(?:/|out of)\s*[0-9.]{1,9})?|\w{1,20})[*_`\"'.! ]*"
)

# A refusal is short; in a long analysis "I cannot give it more" is about the output.
_LONGEST_REFUSAL = 80

# How many characters before and after a score may decide whether it stands in a sentence or in
# brackets; with all of them, a reply of many lines with scores would take quadratic time.
_NEARBY = 600

DENIES = re.compile(rf"(?:{phrases('denials')})\Z", re.IGNORECASE)
_DISOWNS = re.compile(rf"(?:{phrases('denials')}|{phrases('disowned')})\Z", re.IGNORECASE)
_OF_DEGREE = re.compile(rf"\b(?:{phrases('degrees')})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Aftermath:
    """The prose after a verdict."""

    labelled: tuple[str, ...] = ()
    """Lines that name themselves an explanation of it, without that name."""

    explanation: tuple[str, ...] = ()
    """Lines below such a name."""

    strange: tuple[str, ...] = ()
    """Lines that are neither an explanation nor a courtesy."""

    @property
    def lines(self) -> tuple[str, ...]:
        """All but courtesies."""
        return (*self.labelled, *self.explanation, *self.strange)


def is_block(before: str, after: str) -> bool:
    """Whether what stands between two stretches of prose is a block of its own."""
    lead, rest = _last_line(before), _first_line(after)
    if _is_supposed(before):
        return False
    if _opens_bracket(lead) or rest.startswith((")", "]", "\uff09")):
        return False
    if lead.strip(DECORATION) and not _LEADS_IN.search(lead):
        return False
    if lead.strip(DECORATION) and lead.rstrip()[-1:] in "\"'“„\u2018«「":
        return False
    bare = rest.strip(DECORATION)
    if bare[:1] and bare[0] in STOPS:
        bare = bare.lstrip(STOPS).strip(DECORATION)
    return not any(map(str.isalnum, bare)) or bare[0].isupper() or not bare[0].isascii()


def _is_supposed(before: str) -> bool:
    """Whether the words before a verdict make it conditional or an example, or negate it."""
    text = _OPENING_FENCE.sub("", before).rstrip(DECORATION)
    if text[-1:] not in {":", "\uff1a"}:
        return False
    sentence = re.split(r"[.!?\u3002\uff01\uff1f\n]", text)[-1]
    lead_in = sentence.strip(DECORATION + ":\uff1a").replace("\u2019", "'")
    return (SUPPOSES.search(sentence) or _example().match(lead_in)) is not None


def read_aftermath(
    pieces: Iterable[str], names: ExpectedCriteria, *, is_cut: bool = False
) -> Aftermath:
    """What the prose after a verdict consists of."""
    lines: dict[str, list[str]] = {"labelled": [], "explanation": [], "strange": []}
    # Below a heading everything explains; behind `Explanation:` only the rest of its paragraph.
    is_section = is_paragraph = False
    texts = list(pieces)
    if is_cut and texts:
        texts[-1] = _without_unfinished(texts[-1])
    for line in "\n".join(texts).splitlines():
        bare = _plain(line)
        if not any(map(str.isalnum, bare)):
            is_paragraph = is_paragraph and bool(line.strip())
            continue
        label = split_label(bare)
        if label is not None and not label.contradicts:
            is_section, is_paragraph = is_section or not label.text, True
            lines["labelled"].append(label.text)
        elif label is None and (is_section or is_paragraph):
            lines["explanation"].append(bare)
        elif not (_restates(bare, names) or is_courtesy(bare)):
            lines["strange"].append(bare)
    return Aftermath(**{kind: tuple(found) for kind, found in lines.items()})


def other_number(
    lines: Iterable[str], names: ExpectedCriteria, raws: Sequence[float | None]
) -> str | None:
    """A number in lines of prose that could be a score, and is none of those that were read."""
    for line in lines:
        plain = _BULLET.sub("", ascii_digits(line), count=1)
        for match in _NUMBER.finditer(plain):
            number = float(match[1])
            on_scale = any(criterion.scale.holds(number) for criterion in names.criteria)
            if on_scale and number not in raws:
                return match[1]
    return None


def refuses_beside(before: str, after: Aftermath) -> bool:
    """Whether the judge declines in the prose beside a verdict."""
    texts = list(after.lines)
    if len(before.split()) <= _LONGEST_REFUSAL:
        texts += before.splitlines()
    if not is_judge_refusal(" ".join(texts)):
        return False
    return any(opens_with_refusal(s) and not _OF_DEGREE.search(s) for s in _sentences(texts))


# Free words below `Score: 4` explain it, so that no structure separates a reason from a withdrawal.
# Only how a sentence begins counts: reasons report what the output took back.
_WITHDRAWS = re.compile(
    r"(?:(?:actually|no|wait|sorry|oops|hmm+|well|but|though|however)[, .!\u2026-]{1,4}){0,3}"
    rf"(?:{phrases('withdrawals')})",
    re.IGNORECASE,
)


def withdraws(after: Aftermath) -> bool:
    """Whether the prose after a verdict takes it back, in no other words than these few."""
    return any(_WITHDRAWS.match(each.replace("\u2019", "'")) for each in _sentences(after.lines))


def unquoted(text: str, judged: JudgedTexts) -> str:
    """A text without the lines that are quoted from the judged texts."""
    return "\n".join(_own_lines(text, judged)) if judged.plain else text


def is_amid_prose(text: str, start: int, end: int, *, is_named: bool, is_cut: bool = False) -> bool:
    """Whether the text around a score takes it for an example: `is_named` if it has a name."""
    before, after = text[max(0, start - _NEARBY) : start], text[end : end + _NEARBY]
    return (
        is_in_brackets(text, start, end)
        or _is_supposed(before)
        or is_disowned(text, start, words=DENIES)
        or _is_in_sentence(before, after, is_named=is_named, is_cut=is_cut)
    )


def is_disowned(text: str, *places: int, words: re.Pattern[str] = _DISOWNS) -> bool:
    """Whether the words before a place of a score deny it, or report that somebody wants it."""
    begun = (re.split(r"[.!?\n]", text[max(0, place - 200) : place])[-1] for place in places)
    return any(words.search(each.replace("*", "").replace("_", "")) for each in begun)


def is_in_brackets(text: str, start: int, end: int) -> bool:
    """Whether a place of a text is between brackets, within its paragraph."""
    before, after = text[max(0, start - _NEARBY) : start], text[end : end + _NEARBY]
    # A bracket that is never closed is a slip, and one of another paragraph is not its own.
    closing = after.partition("\n\n")[0].lstrip("*_`\"' ")
    return _opens_bracket(before.rpartition("\n\n")[2]) and _opens_bracket(
        closing[::-1].translate(_MIRRORED)
    )


def _is_in_sentence(before: str, after: str, *, is_named: bool, is_cut: bool) -> bool:
    lead, rest = _last_line(before), _first_line(after)
    begun = lead.strip(DECORATION)
    if begun and _LEADS_IN.search(lead):
        return False
    bare = rest.lstrip(DECORATION + ")]")
    # `Final score: 4` and `Summary rating: 4, because …` begin with the name of the score.
    words = begun.casefold().split()
    if is_named and (
        _NAMING.issuperset(words) or (len(words) < _FEWEST_BEGUN and not bare[:1].islower())
    ):
        return False
    # What was cut off may have continued in any way.
    if is_cut and not any(stop in rest for stop in STOPS):
        return False
    return bool(bare) and (bare[0] in ",;:?" or bare[0].islower())


_OPENING_FENCE = re.compile(rf"{_FENCES.pattern}\s*\Z")
_CLOSING_FENCE = re.compile(r"\A\s*(?:`{3,}|~{3,})(?![A-Za-z])")
_BLANKS = " \t\r\ufeff\u200b\x00"
_NAMING = frozenset({"final", "overall", "total", "my", "the"})
_FEWEST_BEGUN = 3
_SHORTEST_QUOTATION, _SHORTEST_QUOTED_LINE = 8, 20
_MIRRORED = str.maketrans("()[]\uff08\uff09", ")(][\uff09\uff08")


def without_lead_in(piece: str) -> str:
    """Prose without its last line, where that introduces what follows."""
    rest, _, line = _FENCES.sub("\n", piece).rstrip().rpartition("\n")
    is_heading = _HEADING.match(line) is not None or line.rstrip(DECORATION)[-1:] in {":", "\uff1a"}
    return rest if is_heading else piece


def _last_line(text: str) -> str:
    # The fence around a block is no line of its own: `(such as ```json` opens a bracket.
    text = _OPENING_FENCE.sub("", _MARKUP.sub("\n", text))
    return _FENCES.sub("\n", text).rpartition("\n")[2].strip(_BLANKS)


def _first_line(text: str) -> str:
    text = _CLOSING_FENCE.sub("", _MARKUP.sub("\n", text))
    return _FENCES.sub("\n", text).partition("\n")[0].strip(_BLANKS + "*_`")


def _opens_bracket(text: str) -> bool:
    return sum(map(text.count, "([\uff08")) > sum(map(text.count, ")]\uff09"))


def _plain(line: str) -> str:
    text = _FENCES.sub(" ", _MARKUP.sub(" ", line)).strip(DECORATION)
    # A note may stand in brackets; it is no less a note.
    if (text[:1], text[-1:]) in {("(", ")"), ("[", "]")}:
        text = text[1:-1].strip(DECORATION)
    return text


def _without_unfinished(text: str) -> str:
    """A text that was cut off, without its last sentence, which states nothing."""
    ends = [match.end() for match in SENTENCE_END.finditer(text)]
    return text[: ends[-1]] if ends else ""


def _restates(bare: str, names: ExpectedCriteria) -> bool:
    """Whether a line is one more field with a verdict; another value contradicts elsewhere."""
    match = _STATED.fullmatch(bare)
    if match is None or _RESTATED.fullmatch(match["value"]) is None:
        return False
    key = fold_key(match["key"].strip(DECORATION))
    if key == "confidence" or names.find(key) is not None:
        return True
    if names.are_choices:
        return key.rpartition(" ")[2] in PREFERENCE_KEYS
    return key in LINE_SCORE_KEYS or key.rpartition(" ")[2] in {"score", "rating", "grade"}


def _sentences(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from (part.strip(DECORATION) for part in SENTENCE_END.split(text))


def _own_lines(text: str, judged: JudgedTexts) -> Iterator[str]:
    has_line = cache(judged.has)  # a reply may repeat one line a thousand times
    lines = text.splitlines()
    for has, run in groupby(lines, lambda line: not line.strip() or has_line(line)):
        quoted = list(run)
        whole = "\n".join(quoted).strip()
        # Single words are in many texts: what is quoted has some length.
        if not has or not whole:
            yield from quoted
        elif len(whole) < _SHORTEST_QUOTATION or not judged.has(whole):
            yield from (line for line in quoted if len(line) < _SHORTEST_QUOTED_LINE)
