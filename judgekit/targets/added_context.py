"""Adds other text to the context of cases, to run a system under test at several sizes (S2.6).

Only the system under test gets the longer context. Judges, checks and the store have the case as
it is, so that scores differ by the size alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import chain, count
from typing import TYPE_CHECKING, cast

from judgekit.datasets import ContextSettings, Suite, open_cases
from judgekit.errors import DatasetError, SettingsError
from judgekit.formats import as_path, read_text
from judgekit.models import count_tokens
from judgekit.targets.prompt import PromptTarget

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from judgekit.models.request import ModelRequest
    from judgekit.records import Case, Output
    from judgekit.targets.target import Target

_BETWEEN = "\n\n"
# Of a large dataset the first contexts are enough, and all of them may not fit into memory.
_MOST_CHARACTERS = 16_000_000
# A shorter reference ("4", "no") is in every other text by chance.
_LEAST_REFERENCE = 4
_LINES_OF_RECORD = 6


@dataclass(slots=True)
class _Passage:
    text: str
    n_tokens: int = -1

    def size(self) -> int:
        """Its tokens, counted when they are first needed."""
        if self.n_tokens < 0:
            self.n_tokens = _n_tokens(self.text + _BETWEEN)
        return self.n_tokens


class ContextFiller:
    """The text that is added to the contexts of a suite's cases, the same in every run.

    It comes from the suite's files; without them from the contexts of other cases, as a retrieval
    that finds too much would give them, and then from invented records, no two of which are alike.
    """

    # Inputs of other cases are left out: they are tasks, and a model might carry them out.

    def __init__(self, suite: Suite, largest: int) -> None:
        self._settings = suite.context or ContextSettings(sizes=(largest,))
        self._suite = suite
        self._records = _Records()
        files = self._settings.filler
        self._of_files = None if files is None else _file_passages(suite, files, largest)

    def check(self, case: Case) -> None:
        """Refuse a case whose context nothing can be added to."""
        _parts(case)

    def add(self, case: Case, n_tokens: int) -> Case:
        """The case with at most so many tokens more in its context; never fewer by a line."""
        own, passages = _parts(case), self._passages(case)
        place = self._settings.place
        if place == "middle":
            before = _fill(passages, n_tokens // 2)
            context = [*before, *own, *_fill(passages, n_tokens - n_tokens // 2)]
        else:
            added = _fill(passages, n_tokens)
            context = [*own, *added] if place == "start" else [*added, *own]
        is_list = isinstance(case.context, list)
        return case.model_copy(
            update={"context": context if is_list else _BETWEEN.join(context) or None}
        )

    def _passages(self, case: Case) -> Iterator[_Passage]:
        if self._of_files is not None:
            return chain(self._of_files, self._records)
        return chain(self._of_others(case), self._records)

    def _of_others(self, case: Case) -> Iterator[_Passage]:
        pool, own, reference = self._pool, {*_parts(case)}, _reference(case)
        # By the case alone: a sample or a limit must not change what it gets.
        start = int.from_bytes(sha256(case.id.encode("utf-8", "replace")).digest()[:8])
        for k in range(len(pool)):
            passage = pool[(start + k) % len(pool)]
            # Neither what is there already nor what gives the answer away.
            if passage.text not in own and not (reference and reference.search(passage.text)):
                yield passage

    @cached_property
    def _pool(self) -> list[_Passage]:
        found: dict[str, None] = {}
        n_characters = 0
        for case in open_cases(self._suite):
            try:
                texts = _parts(case)
            except DatasetError:
                continue  # reported where it is run
            found |= dict.fromkeys(text for text in texts if text.strip())
            n_characters += sum(map(len, texts))
            if n_characters > _MOST_CHARACTERS:
                break
        return [_Passage(text) for text in found]


class LongerContextTarget:
    """A system under test that gets every case with a longer context."""

    def __init__(self, target: Target, filler: ContextFiller, n_tokens: int) -> None:
        self.id = target.id
        self._target = target
        self._filler = filler
        self._n_tokens = n_tokens
        if isinstance(target, PromptTarget) and not target.shows_context:
            raise SettingsError(
                f"variant {target.id!r} would be the same at every size: its prompt does not "
                "show the context of a case",
                hint="add {{ context }} to the prompt, or omit the sizes of the context",
            )

    def check(self, case: Case) -> None:
        """Refuse a case whose context nothing can be added to, before any is run."""
        self._filler.check(case)

    async def answer(self, case: Case, *, repeat: int = 0) -> Output:
        return await self._target.answer(self._filler.add(case, self._n_tokens), repeat=repeat)

    def request(self, case: Case, *, repeat: int = 0) -> ModelRequest:
        """What a prompt is sent as, for a plan."""
        target = cast("PromptTarget", self._target)
        return target.request(self._filler.add(case, self._n_tokens), repeat=repeat)

    async def aclose(self) -> None:
        await self._target.aclose()


def _parts(case: Case) -> Sequence[str]:
    context = case.context
    if context is None or isinstance(context, str):
        return [context] if context else []
    if isinstance(context, list) and all(isinstance(part, str) for part in context):
        return cast("list[str]", context)
    raise DatasetError(
        "nothing can be added to its context, which is neither a text nor a list of texts",
        case_id=case.id,
        hint="write the context as a text or a list of texts, or omit the sizes of the context",
    )


def _reference(case: Case) -> re.Pattern[str] | None:
    """Finds the reference of a case in another text."""
    known = case.reference.strip() if isinstance(case.reference, str) else ""
    if len(known) < _LEAST_REFERENCE:
        return None
    return re.compile(rf"(?<!\w){re.escape(known)}(?!\w)", re.IGNORECASE)


def _fill(passages: Iterator[_Passage], n_tokens: int) -> list[str]:
    """Passages of so many tokens together, the last one cut at a word."""
    parts: list[str] = []
    while n_tokens > 0:
        passage = next(passages)
        if passage.size() > n_tokens:
            cut = _cut(passage, n_tokens)
            return [*parts, cut] if cut else parts
        parts.append(passage.text)
        n_tokens -= passage.size()
    return parts


def _cut(passage: _Passage, n_tokens: int) -> str:
    words = passage.text.split(" ")
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        if _n_tokens(" ".join(words[:middle]) + _BETWEEN) <= n_tokens:
            low = middle
        else:
            high = middle - 1
    return " ".join(words[:low]).rstrip()


def _n_tokens(text: str) -> int:
    # Not by the encoding of a variant's own model: all of them are to get the same text.
    return count_tokens(text, "").n


def _file_passages(suite: Suite, pattern: str, largest: int) -> list[_Passage]:
    """The paragraphs of the suite's own text."""
    place = as_path(pattern)
    folder = as_path(place.anchor) if place.is_absolute() else suite.folder
    relative = str(place.relative_to(place.anchor)) if place.is_absolute() else pattern
    paths: Iterable[Path] = sorted(path for path in folder.glob(relative) if path.is_file())
    texts = [read_text(path) for path in paths]
    if not texts:
        raise SettingsError(
            f"the `filler` of the context, {pattern}, is no file in {folder}",
            hint="name a text file, or a pattern such as texts/*.txt",
        )
    found = [
        _Passage(paragraph.strip())
        for text in texts
        for paragraph in re.split(r"\n\s*\n", text)
        if paragraph.strip()
    ]
    n_tokens = sum(passage.size() for passage in found)
    # Repeated text is easier to read over than new text, so that it would flatter long contexts.
    if n_tokens < largest:
        raise SettingsError(
            f"the `filler` of the context, {pattern}, has {n_tokens:,} tokens, and {largest:,} "
            "are to be added",
            hint="name more files, or omit `filler`",
        )
    return found


_PLACES = (
    "Elmsund", "Karvik", "Ostrava Quay", "Bellmoor", "Tarn Hollow", "Saint Orrin", "Wexlow",
    "Port Maren", "Hadley Ford", "Nyborg Mill", "Quarne", "Lower Thessing", "Ravnsholt",
)  # fmt: skip
_CLERKS = (
    "Oda Wren", "Tomas Hale", "Ines Varga", "Jonah Pike", "Mirja Sand", "Abel Torrance",
    "Lotte Bramm", "Piet Olsen", "Sara Quill", "Ewan Marsh", "Nadia Frost",
)  # fmt: skip
_GOODS = (
    "lamp oil", "dried pears", "roof slate", "linen thread", "barley", "copper wire", "seed corn",
    "glass panes", "cedar planks", "wool", "salted cod", "paper", "chalk", "rope", "pitch", "tin",
    "beeswax",
)  # fmt: skip
_FORMS = (
    "Entry {no}: {n} crates of {goods} came in at {place} and were signed for by {who}.",
    "Entry {no}: {who} counted {n} bales of {goods} in the store at {place}.",
    "Entry {no}: the boat for {place} left with {n} barrels of {goods}; {who} kept the list.",
    "Entry {no}: {who} of {place} returned {n} sacks of {goods}, which were dry.",
    "Entry {no}: at {place} {n} bundles of {goods} were weighed again, with {who} as witness.",
    "Entry {no}: nothing was sent to {place} but {n} boxes of {goods}, at the wish of {who}.",
    "Entry {no}: {n} casks of {goods} from {place} were put aside for {who}.",
)
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


@dataclass(slots=True)
class _Records:
    """Pages of an invented ledger, without end; each is made once."""

    _made: list[_Passage] = field(default_factory=list)

    def __iter__(self) -> Iterator[_Passage]:
        for k in count():
            if k == len(self._made):
                self._made.append(_Passage(_page(k)))
            yield self._made[k]


def _page(number: int) -> str:
    """One page of the ledger; its entries follow from their numbers alone."""
    day = f"{number % 28 + 1} {_MONTHS[number // 28 % 12]}"
    first = number * _LINES_OF_RECORD
    entries = " ".join(_entry(no) for no in range(first + 1, first + 1 + _LINES_OF_RECORD))
    return f"Ledger of the harbour office, page {number + 1}, {day}. {entries}"


def _entry(no: int) -> str:
    # A hash rather than a random generator, whose draws may change with the version of Python.
    number = int.from_bytes(sha256(b"ledger entry %d" % no).digest())
    parts: list[int] = []
    for n_choices in map(len, (_FORMS, _PLACES, _CLERKS, _GOODS)):
        number, choice = divmod(number, n_choices)
        parts.append(choice)
    form, place, who, goods = parts
    return _FORMS[form].format(
        no=no, n=number % 480 + 12, place=_PLACES[place], who=_CLERKS[who], goods=_GOODS[goods]
    )
