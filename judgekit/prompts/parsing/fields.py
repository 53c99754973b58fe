"""What a reply may state, and what to look for in it: formats, expected criteria, known keys."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from judgekit.errors import InputError
from judgekit.records import Criterion, PreferenceSlot, Scale


# `kind` is `json`, or a format registered in `text_formats`; a name and not a closed list, so that
# a new format is registered there and nowhere else.
class ReplyFormat(NamedTuple):
    """The format in which a template asks for its verdict."""

    kind: str = "json"
    choices: Mapping[str, float] = MappingProxyType({})
    asks_rationale: bool = True


class PairReplyFormat(NamedTuple):
    """The format in which a template asks which of two outputs is better."""

    kind: str = "json"
    choices: Mapping[str, PreferenceSlot] = MappingProxyType({})
    asks_rationale: bool = True


class CriterionReply(NamedTuple):
    """What a judge's reply states about one criterion."""

    raw: float | None
    """The score; None where the judge states that it cannot assess the output."""

    rationale: str | None = None
    evidence: tuple[str, ...] = ()
    confidence: float | None = None


class PreferenceReply(NamedTuple):
    """What a judge's reply states about two outputs, on one criterion or overall."""

    choice: PreferenceSlot | None
    """The better side; None where the judge states that the two cannot be compared."""

    rationale: str | None = None
    evidence_first: tuple[str, ...] = ()
    evidence_second: tuple[str, ...] = ()
    confidence: float | None = None
    raw_first: float | None = None
    raw_second: float | None = None

    @property
    def scores_disagree(self) -> bool:
        if self.raw_first is None or self.raw_second is None or self.choice is None:
            return False
        order = (self.raw_first > self.raw_second) - (self.raw_first < self.raw_second)
        return order != {"first": 1, "second": -1, "tie": 0}[self.choice]


# The ends of the scale on which each of two outputs may be scored beside the preference.
LOWEST_SIDE_SCORE, HIGHEST_SIDE_SCORE = 1, 10

# Messages to the judge list the points of a scale up to this many.
_MOST_POINTS = 11

# A preference is read as a score on this scale: the higher, the better for the first output.
SLOTS_BY_SCORE: tuple[PreferenceSlot, PreferenceSlot, PreferenceSlot] = ("second", "tie", "first")
_CHOICE_SCALE = Scale(min=0, max=2, integer=True)


@dataclass(frozen=True, slots=True)
class ExpectedCriterion:
    """A criterion for which the reply must give a score or, comparing two outputs, a choice."""

    name: str
    scale: Scale
    is_choice: bool = False

    @property
    def is_binary(self) -> bool:
        """Whether the scale runs from 0 to 1."""
        return (self.scale.min, self.scale.max) == (0, 1)

    @property
    def ask(self) -> str:
        """What to answer, as the beginning of a message to the judge."""
        # A repeated question quotes these messages, so their words are part of its cache key.
        if self.is_choice:
            return 'Answer with one JSON object; "preference" is "first", "second" or "tie"'
        return f"Give {self.wanted}"

    @property
    def wanted(self) -> str:
        """What was asked for, for a message to the user."""
        if self.is_choice:
            return '"first", "second" or "tie"'
        points = self.scale.points
        if points is not None and len(points) <= _MOST_POINTS:
            return f"one of {', '.join(f'{p:g}' for p in points)} for {self.name!r}"
        return f"a number between {self.scale.min:g} and {self.scale.max:g} for {self.name!r}"


@dataclass(frozen=True, slots=True)
class ExpectedCriteria:
    """The expected criteria, found by the names a judge writes."""

    criteria: tuple[ExpectedCriterion, ...]
    folded: Mapping[str, int]
    exact: Mapping[str, int]

    @property
    def single(self) -> bool:
        """Whether there is only one, so that the reply need not name it."""
        return len(self.criteria) == 1

    @property
    def are_choices(self) -> bool:
        """Whether the reply compares two outputs."""
        return bool(self.criteria) and self.criteria[0].is_choice

    def find(self, name: str) -> int | None:
        """The index of the criterion a name means."""
        found = self.exact.get(name)
        return self.folded.get(fold_name(name)) if found is None else found


def expected_criteria(criteria: Sequence[Criterion | Mapping[str, object]]) -> ExpectedCriteria:
    """The criteria for which a reply must give scores."""
    return _by_name([_expected_criterion(criterion) for criterion in criteria])


def expected_choices(questions: Sequence[str]) -> ExpectedCriteria:
    """The questions on which a reply must prefer one of two outputs."""
    return _by_name([ExpectedCriterion(name, _CHOICE_SCALE, is_choice=True) for name in questions])


def _by_name(wanted: Sequence[ExpectedCriterion]) -> ExpectedCriteria:
    exact = {criterion.name: index for index, criterion in enumerate(wanted)}
    folds = [fold_name(criterion.name) for criterion in wanted]
    # Two criteria whose names fold to the same text are found by their exact names only.
    folded = {fold: index for index, fold in enumerate(folds) if folds.count(fold) == 1}
    return ExpectedCriteria(tuple(wanted), folded, exact)


def _expected_criterion(criterion: Criterion | Mapping[str, object]) -> ExpectedCriterion:
    if isinstance(criterion, Criterion):
        return ExpectedCriterion(criterion.name, criterion.scale)
    if not isinstance(criterion, Mapping):
        hint = "give a list of criteria, such as `rubric.criteria`"
        raise InputError(f"a {type(criterion).__name__} is no criterion", hint=hint)
    name, scale = criterion.get("name"), criterion.get("scale", criterion)
    if not isinstance(name, str):
        raise ValueError(f"a criterion needs a name: {dict(criterion)!r}")  # noqa: TRY004 - a value of the mapping
    if isinstance(scale, Mapping):
        scale = {key: value for key, value in scale.items() if key in Scale.model_fields}
    is_named = isinstance(scale, Scale | str | list | tuple)
    if not is_named and not (isinstance(scale, dict) and scale.keys() & {"levels", "max"}):
        raise ValueError(f"criterion {name!r} needs min and max, levels, or a named scale")
    named = {"name": "scale", "question": "scale", "scale": scale}
    return ExpectedCriterion(name, Criterion.model_validate(named).scale)


SCORE_KEYS = frozenset({"score", "rating", "value", "grade", "points"})
"""Keys that hold a score inside an object that belongs to one criterion."""

LINE_SCORE_KEYS = frozenset(
    {"score", "rating", "grade", "final score", "final rating", "final grade", "my score"}
    | {"my rating", "overall score", "overall rating", "total score", "the score", "the rating"}
)
"""What a line may start with to give the score of the only criterion."""

MAXIMUM_KEYS = frozenset(
    {"max", "maximum", "max score", "maximum score", "max points", "maximum points", "max rating"}
    | {"max value", "max grade", "maximum rating", "out of", "scale", "scale max", "score max"}
    | {"best possible", "possible", "possible points", "total points", "points possible", "of"}
)
"""Keys that state the end of the scale a score is on."""

MINIMUM_KEYS = frozenset({"min", "minimum", "min score", "minimum score", "scale min"})
"""Keys that state the beginning of the scale a score is on."""

LABEL_KEYS = frozenset(
    {"name", "criterion", "criteria", "criterion name", "metric", "dimension", "aspect"}
)
"""Keys whose text names the criterion an object belongs to."""

# Tuples, because the order is one of preference: the first key that an object has counts.
RATIONALE_KEYS = (
    "rationale", "reasoning", "reason", "explanation", "justification", "feedback", "comment",
    "analysis", "comments", "reasons", "thoughts",
)  # fmt: skip
EVIDENCE_KEYS = ("evidence", "quotes", "quote")
ANSWER_FIELDS = frozenset({"evidence", "rationale", "assessable", "score", "confidence"})
PREFERENCE_KEYS = frozenset({"preference", "winner", "choice", "verdict"})
"""Keys that hold the choice inside an object that belongs to one question."""

UNREAD_KEYS = frozenset(RATIONALE_KEYS) | frozenset(EVIDENCE_KEYS) | {
    "thinking", "thought", "think", "notes", "note", "citations", "citation", "claims", "summary",
    "reasoning content", "chain of thought",
}  # fmt: skip
"""Keys whose values are text: nothing below them is a verdict, whatever it looks like."""

# Keys and parts of keys that judges and tool-call APIs wrap a verdict in.
_WRAPPERS = frozenset({
    "answer", "answers", "args", "arguments", "body", "content", "criteria", "criterion", "data",
    "final", "function", "functions", "input", "inputs", "items", "json", "message", "metrics",
    "dimensions", "output", "outputs", "parameters", "params", "payload", "properties", "response",
    "reply", "return", "returns", "review", "rubric", "structured", "value", "values", "marks",
    "score", "scores", "rating", "ratings", "grade", "grades", "points", "result", "results",
    "report", "feedbacks", "object",
})  # fmt: skip
_WRAPPER_PARTS = ("scor", "grad", "rating", "evaluat", "judg", "assess", "verdict", "result")
_WRAPPER_WORDS = frozenset({"submit", "report", "record", "tool", "final", "function", "rubric"})

# Scores below these keys are examples, limits or claims of the judged text, never the verdict.
_NOT_OURS = frozenset({
    "draft", "drafts", "example", "examples", "sample", "samples", "previous", "prior", "earlier",
    "expected", "reference", "references", "schema", "template", "format", "max", "min", "maximum",
    "minimum", "weight", "weights", "candidate", "first", "old", "initial", "average", "averages",
    "mean", "hypothetical", "before", "human", "baseline", "claimed", "quoted", "original",
    "alternative", "alternatives", "possible", "user", "self", "wrong", "bad", "injected",
    "attack", "fake", "target", "targets", "ideal", "threshold", "thresholds",
})  # fmt: skip
_SCORE_WORDS = frozenset({"score", "scores", "rating", "grade", "points", "mark", "marks"})

# With one of these in it, a key such as `score_type` or `max_score` states no second score.
_OTHER_WORDS = frozenset({
    "max", "maximum", "min", "minimum", "weight", "weighted", "confidence", "threshold", "pass",
    "passing", "scale", "range", "type", "name", "possible", "normalized", "reason", "rationale",
    "explanation", "justification", "description", "label", "guide", "date", "levels", "level",
    "total",
})  # fmt: skip
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")
NO_RATIONALE = re.compile(
    r"(?!.*?(?:[^\W\d_]{2}|[^\x00-\x7f\W\d_])).*"
    r"|[\W_]*(?:na|none|null|nil|nan|tbd|no comment|no rationale)[\W_]*",
    re.DOTALL | re.IGNORECASE,
)
"""A text without a word that gives a reason, such as `.`, `-`, `N/A` and `4`."""
_GAPS = re.compile(r"[\s_\-\u2010\u2011]+")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

FEWEST_REASON_WORDS = 5
"""Fewer words beside a verdict give a score (`Score: 4 out of 5`), and no reason."""


def count_words(text: str) -> int:
    """The words of a text; numbers and punctuation are none."""
    n_words = sum(any(char.isalpha() for char in word) for word in text.split())
    # Chinese, Japanese and Thai have no spaces; a word of theirs has about two characters.
    return n_words if text.isascii() else max(n_words, len(_UNSPACED.findall(text)) // 2)


@lru_cache(maxsize=2048)
def fold_name(name: str) -> str:
    """A name in the form names are compared in: NFKC, case folded, hyphen, underscore as space."""
    return _GAPS.sub(" ", unicodedata.normalize("NFKC", name).casefold()).strip()


@lru_cache(maxsize=2048)
def fold_key(key: str) -> str:
    """A key in the form keys are compared in; `finalScore` is split into two words."""
    return fold_name(_HUMPS.sub(" ", key))


@lru_cache(maxsize=2048)
def is_wrapper(key: str) -> bool:
    """Whether a verdict may stand below this key."""
    folded = fold_key(key)
    words = frozenset(folded.split(" "))
    if words & _NOT_OURS:
        return False
    if folded in _WRAPPERS or words & _WRAPPER_WORDS:
        return True
    return any(part in folded for part in _WRAPPER_PARTS)


@lru_cache(maxsize=2048)
def is_second_score(key: str) -> bool:
    """Whether a key looks like a score without being one of `SCORE_KEYS` (`final_score`)."""
    folded = fold_key(key)
    words = frozenset(folded.split(" "))
    return folded not in SCORE_KEYS and bool(words & _SCORE_WORDS) and not words & _OTHER_WORDS


@lru_cache(maxsize=2048)
def is_of_another(words: str) -> bool:
    """Whether the words before a score make it another one than the verdict (`maximum`)."""
    return bool(frozenset(fold_key(words).split(" ")) & (_OTHER_WORDS | _NOT_OURS))
