"""Finds the scores in the prose of a reply: lines, tables, tags, brackets, a bare number."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from judgekit.prompts.replies.documents import Leaf, Obj, Pair
from judgekit.prompts.replies.layouts import Mark, find_marks
from judgekit.prompts.replies.lines import read_outline
from judgekit.prompts.replies.names import (
    LINE_SCORE_KEYS,
    MAXIMUM_KEYS,
    SCORE_KEYS,
    fold_key,
    is_of_another,
)
from judgekit.prompts.replies.numbers import ascii_digits, leading_number, plain_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from judgekit.prompts.replies.scales import WantedNames

_FENCES = re.compile(r"(?:`{3,}|~{3,}|'{3}|\"{3})(?:[A-Za-z][\w+-]{0,20}(?=\s|\Z))?")
_TAG = re.compile(
    r"<([A-Za-z_][\w.-]{0,60})(?:\s[^<>]{0,100})?>\s{0,20}([^<>]{1,60}?)\s{0,20}</\1>"
)
_BRACKETS = re.compile(r"\[\[\s{0,5}([^\[\]\n]{1,20}?)\s{0,5}\]\]")
_RESULT = re.compile(r"\[RESULT\][ \t]{0,5}[:\uff1a]?[ \t]{0,5}([^\n]{1,200})", re.IGNORECASE)
_RULE = re.compile(r"[\s|:\-\u2013—]+")
_DECORATION = " \t*_`"
_SWITCHES = frozenset({"true", "false", "yes", "no"})
_SINGLE_KEYS = ("score", "rating", "grade")
_LONGEST_BARE = 60
MOST_STATED = 1_000
"""A reply whose prose states more scores or choices than this is no verdict."""

_FEWEST_CELLS = 2


def text_marks(prose: str, names: WantedNames) -> list[Mark]:
    """All scores in the prose of a reply."""
    text = without_fences(prose)
    marks = [*_line_marks(text, names), *_table_marks(text, names), *_tag_marks(text, names)]
    if names.single:
        marks += islice(_bracket_marks(text), MOST_STATED + 1)
        if not marks:
            marks += _bare_marks(text)
    return marks


def stray_marks(prose: str, names: WantedNames) -> list[Mark]:
    """Scores named anywhere in the prose beside a JSON verdict; they can only contradict it."""
    marks: list[Mark] = []
    for match in _stray(names).finditer(prose):
        before, name, value = match.groups()
        found = leading_number(value)
        if found is None or (before and is_of_another(before)):
            continue
        index = names.find(name)
        leaf = Leaf("line", found[0], match.start(3), match.end(3))
        place = match.start(2)
        marks.append(
            Mark(
                0 if index is None else index,
                leaf,
                prose,
                place,
                place,
                match.end(),
                trusted=False,
                kind="line",
            )
        )
    return marks


def _stray(names: WantedNames) -> re.Pattern[str]:
    keys = [wanted.name for wanted in names.criteria]
    return _stray_pattern((*keys, *_SINGLE_KEYS) if names.single else tuple(keys))


@lru_cache(maxsize=64)
def _stray_pattern(keys: tuple[str, ...]) -> re.Pattern[str]:
    alternatives = "|".join(re.escape(key) for key in sorted(keys, key=len, reverse=True))
    return re.compile(
        rf"(?<![\w\"'“\u2018`.-])((?:[a-z]{{1,20}} ){{0,2}})\b({alternatives})"
        r"[*_` ]{0,4}[:=\uff1a][ \t]{0,4}([^\n]{1,80})",
        re.IGNORECASE,
    )


def without_fences(prose: str) -> str:
    """Prose with line breaks in place of fences."""
    return _FENCES.sub("\n", prose)


def _line_marks(text: str, names: WantedNames) -> Iterator[Mark]:
    outline = read_outline(text)
    pairs = tuple(_named_score(pair, names) for pair in outline.pairs)
    # The lines of a reply are no structure: each is quoted, or not, from its own key on.
    for mark in find_marks(Obj(pairs, outline.end, outline.end), text, names):
        if mark.leaf is None or mark.leaf.kind != "line":
            continue
        closed = text[mark.leaf.end : mark.leaf.end + 1] in {"\n", "\r"}
        cleared = _cleared(mark, mark.leaf, names)
        if cleared is not None:
            leaf, note, doubt = cleared
            yield replace(
                mark, leaf=leaf, note=note, doubt=doubt or mark.doubt, kind="line", closed=closed
            )


def _named_score(pair: Pair, names: WantedNames) -> Pair:
    """`Final score: 4` is the score of the only criterion; `Value: 4` among prose is not."""
    key = fold_key(pair.key)
    if not names.single or names.find(pair.key) is not None:
        return pair
    if key in LINE_SCORE_KEYS:
        return Pair("score", pair.value, pair.start)
    return Pair(f"{pair.key} said", pair.value, pair.start) if key in SCORE_KEYS else pair


def _cleared(mark: Mark, leaf: Leaf, names: WantedNames) -> tuple[Leaf, str, str | None] | None:
    """A line's number, what stands behind it, and a doubt; None when the line is prose."""
    word = leaf.text.strip(" .,;*_`\"'")
    if names.criteria[mark.criterion].is_binary and word.casefold() in _SWITCHES:
        return Leaf(leaf.kind, word, leaf.start, leaf.end), "", None
    found = leading_number(leaf.text)
    if found is not None:
        return Leaf(leaf.kind, found[0], leaf.start, leaf.end), found[1], None
    if ascii_digits(leaf.text.lstrip("*_`\"'~[(+-")[:1]).isdigit():
        return leaf, "", "not_a_number"
    return None


def _table_marks(text: str, names: WantedNames) -> Iterator[Mark]:
    """Rows of a table whose heading has one column of scores; the first column names criteria."""
    column: int | None = None
    maximum: int | None = None
    start = 0
    for line in text.splitlines(keepends=True):
        at, start = start, start + len(line)
        if not line.lstrip().startswith("|"):
            column = None
            continue
        cells = [cell.strip(_DECORATION) for cell in line.strip().strip("|").split("|")]
        if len(cells) < _FEWEST_CELLS:
            column = None
        elif column is None:
            scores = [i for i, cell in enumerate(cells) if fold_key(cell) in SCORE_KEYS]
            column = scores[0] if len(scores) == 1 and scores[0] > 0 else -1
            ends = [i for i, cell in enumerate(cells) if fold_key(cell) in MAXIMUM_KEYS]
            maximum = ends[0] if ends else None
        elif 0 < column < len(cells) and not _RULE.fullmatch(line):
            index, value = names.find(cells[0]), cells[column]
            if index is not None:
                leaf = Leaf("line", value, at, at + len(line))
                closed = line.endswith(("\n", "\r"))
                source = f"{cells[0]}|{value}"
                doubt = _other_maximum(cells, maximum, names.criteria[index].scale.max)
                yield Mark(
                    index, leaf, source, 0, 0, len(source), doubt=doubt, kind="line", closed=closed
                )


def _other_maximum(cells: Sequence[str], column: int | None, own: float) -> str | None:
    """Whether a row states a maximum that is not the criterion's own."""
    if column is None or column >= len(cells):
        return None
    number = plain_number(Leaf("line", cells[column], 0, 0))
    return "scale_mismatch" if number is not None and number != own else None


def _tag_marks(text: str, names: WantedNames) -> Iterator[Mark]:
    for match in _TAG.finditer(text):
        name, value = match.groups()
        index = names.find(name)
        if index is None and names.single and fold_key(name) in SCORE_KEYS:
            index = 0
        if index is not None:
            leaf = Leaf("string", value, match.start(2), match.end(2))
            yield Mark(index, leaf, text, match.start(), match.start(), match.end(), kind="line")


def _bracket_marks(text: str) -> Iterator[Mark]:
    for match in _BRACKETS.finditer(text):
        leaf = Leaf("string", match.group(1), match.start(1), match.end(1))
        if leaf.text[:1].isdigit() or leaf.text[:1] in "+-.":
            yield Mark(0, leaf, text, match.start(), match.start(), match.end(), kind="line")
    for match in _RESULT.finditer(text):
        found = leading_number(match.group(1).strip())
        if found is not None:
            leaf = Leaf("line", found[0], match.start(1), match.end(1))
            source = f"[RESULT]{found[0]}"
            closed = text[match.end() : match.end() + 1] == "\n"
            yield Mark(0, leaf, source, 0, 0, len(source), kind="line", closed=closed)


def _bare_marks(text: str) -> Iterator[Mark]:
    """The whole reply is a number."""
    bare = text.strip()
    found = leading_number(bare) if len(bare) <= _LONGEST_BARE and "[" not in bare else None
    if found is not None and not found[1]:
        leaf = Leaf("line", found[0], 0, len(bare))
        source = found[0] if "/" in found[0] else ""
        yield Mark(0, leaf, source, 0, 0, len(source), kind="line", closed=False)
