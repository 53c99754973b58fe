"""Finds what in a rubric misleads judges: wording, scales, weights, thresholds and names.

Templates are checked in `template_lint`.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from judgekit.prompts.messages import criterion_schema
from judgekit.prompts.parsing import LABEL_KEYS, MAXIMUM_KEYS, SCORE_KEYS, UNREAD_KEYS, fold_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from judgekit.records import Criterion, Rubric, Scale


@dataclass(frozen=True, slots=True)
class Flaw:
    """One thing in a rubric or template that a person should mend."""

    rule: str
    """The rule it breaks, a short name: `vague-word`, `unfenced`."""

    severity: Literal["error", "warning"]
    """An error makes verdicts wrong or unreadable; a warning makes them worse or dearer."""

    message: str
    """What is wrong."""

    remedy: str
    """How to mend it."""

    place: str | None = None
    """The criterion or block it is about; None for the whole."""

    where: tuple[str | int, ...] = ()
    """In a rubric: keys and list positions from the root of its file."""

    path: Path | None = None
    """In a template: the file, which may be one that is included."""

    line: int | None = None
    """In a template: the line, from 1."""


_MOST_POINTS = 10
_LONGEST_NAME = 40
_ALIKE = 0.6
_BINARY = 2
_AWKWARD = re.compile(r"[\"'`{}\[\]\\<>]|[^\S ]|[\x00-\x1f]")
_READ_AS_FIELDS = SCORE_KEYS | LABEL_KEYS | MAXIMUM_KEYS | UNREAD_KEYS

_TURNS = {
    "leading": "the question suggests its answer",
    "negated": "the question is negated, so that its yes and no are confused",
    "inverted": "a yes to the question is bad news, but the best score stands for yes",
}


def rubric_flaws(rubric: Rubric) -> Iterator[Flaw]:
    """What in a rubric may mislead a judge or make its pass mark idle."""
    for number, criterion in enumerate(rubric.criteria):
        flaws = itertools.chain(
            _name_flaws(criterion),
            _wording_flaws(criterion),
            _scale_flaws(criterion),
            _counting_flaws(criterion, rubric),
        )
        for flaw in flaws:
            yield _placed(flaw, criterion.name, number)
    yield from _threshold_flaws(rubric)
    yield from _pair_flaws(rubric)


def _placed(flaw: Flaw, name: str, number: int) -> Flaw:
    return Flaw(
        rule=flaw.rule,
        severity=flaw.severity,
        message=flaw.message,
        remedy=flaw.remedy,
        place=f"criterion {name!r}",
        where=("criteria", number, *flaw.where),
    )


def _name_flaws(criterion: Criterion) -> Iterator[Flaw]:
    name, where = criterion.name, ("name",)
    folded = fold_name(name)
    remedy = "name it after what is judged, for example `accuracy`"
    if folded in _reply_fields(criterion):
        message = "the name is that of a field of the reply, so that a reply cannot be told apart"
        yield Flaw("name-collides", "error", message, remedy, where=where)
    elif folded in _READ_AS_FIELDS:
        message = "judges use this name for a field of their replies, which may be misread"
        yield Flaw("name-collides", "warning", message, remedy, where=where)
    awkward = "has white space at its ends" if name != name.strip() else None
    if _AWKWARD.search(name):
        awkward = "has quotation marks, brackets or line ends"
    elif len(name) > _LONGEST_NAME:
        awkward = f"has {len(name)} characters"
    if awkward:
        message = f"the name {awkward}; a judge has to echo it exactly"
        yield Flaw("name-hard-to-echo", "warning", message, "take one to three words", where=where)


def _reply_fields(criterion: Criterion) -> set[str]:
    properties = criterion_schema(criterion)["properties"]
    return {"criteria", *properties} if isinstance(properties, dict) else {"criteria"}


def _wording_flaws(criterion: Criterion) -> Iterator[Flaw]:
    defined = {(level.name or "").lower() for level in criterion.scale.levels}
    guided = [word for word in vague_words(criterion.scoring_guide or "") if word not in defined]
    for field, words in (
        ("question", vague_words(criterion.question)),
        ("scoring_guide", guided),
    ):
        if words:
            named = ", ".join(f"“{word}”" for word in words)
            yield Flaw(
                "vague-word",
                "warning",
                f"the {field.replace('_', ' ')} says {named}, which every judge reads differently",
                "say what would be seen in the output, so that it can be false",
                where=(field,),
            )
    if joint := joined_checks(criterion.question):
        yield Flaw(
            "two-questions",
            "warning",
            f"the question asks two things at once: “{joint}”",
            "make each a criterion of its own, or say in the scoring guide how both count",
            where=("question",),
        )
    turn = asks_negatively(criterion.question)
    if turn and not (turn == "inverted" and _all_described(criterion.scale)):
        yield Flaw(
            f"{turn}-question",
            "warning",
            _TURNS[turn],
            "ask so that yes, the best score, is what is wanted",
            where=("question",),
        )


def _scale_flaws(criterion: Criterion) -> Iterator[Flaw]:
    scale = criterion.scale
    points = scale.points
    if points is None or len(points) > _MOST_POINTS:
        n = "every number between its ends" if points is None else f"{len(points)} points"
        yield Flaw(
            "scale-too-fine",
            "warning",
            f"the scale has {n}; judges do not tell so many apart and crowd at round ones",
            "take at most ten described points, for example `scale: one_to_five`",
            where=("scale",),
        )
    if criterion.scoring_guide or _all_described(scale):
        return
    if scale.levels:
        bare = [f"{level.value:g}" for level in scale.levels if not level.description]
        yield Flaw(
            "levels-undescribed",
            "warning",
            f"nothing says what an output at {', '.join(bare) or 'the scores between'} looks like",
            "describe every level, or say in a scoring guide what separates them",
            where=("scale",),
        )
    else:
        yield Flaw(
            "no-scoring-guide",
            "warning",
            "there is neither a scoring guide nor a described level",
            "say in `scoring_guide` what to look for and what each score stands for",
        )


def _all_described(scale: Scale) -> bool:
    described = {level.value for level in scale.levels if level.description}
    return scale.points is not None and described.issuperset(scale.points)


def _counting_flaws(criterion: Criterion, rubric: Rubric) -> Iterator[Flaw]:
    if criterion.weight == 0 and not criterion.required:
        yield Flaw(
            "zero-weight",
            "warning",
            "the weight is 0 and it is not required: it is paid for and decides nothing",
            "give it a weight, make it required, or drop it",
            where=("weight",),
        )
    if criterion.pass_value == 0:
        yield Flaw(
            "pass-always-reached",
            "error" if criterion.required else "warning",
            "pass_value is 0, which the worst score reaches",
            "name the value on [0, 1] that is still good enough",
            where=("pass_value",),
        )
    if criterion.required and criterion.pass_value is None and not _is_binary(criterion.scale):
        scale, mark = criterion.scale, rubric.pass_threshold
        raw = scale.min + mark * (scale.max - scale.min)
        yield Flaw(
            "required-without-pass-value",
            "warning",
            f"it is required without a pass mark of its own, so the rubric's {mark:g} decides: "
            f"a score below {raw:g} fails the output",
            "set `pass_value` to the value on [0, 1] from which it passes",
            where=("required",),
        )


def _is_binary(scale: Scale) -> bool:
    return scale.points is not None and len(scale.points) <= _BINARY


def _threshold_flaws(rubric: Rubric) -> Iterator[Flaw]:
    where = ("pass_threshold",)
    if rubric.pass_threshold == 0:
        message = "pass_threshold is 0, which every output reaches"
        remedy = "name the overall value from which an output passes, for example 0.7"
        yield Flaw("threshold-always-reached", "error", message, remedy, where=where)
    fine = [c.name for c in rubric.criteria if c.weight and not _is_binary(c.scale)]
    if rubric.pass_threshold == 1 and fine:
        yield Flaw(
            "threshold-hardly-reached",
            "warning",
            f"pass_threshold is 1, so that only the best score on {', '.join(fine)} passes",
            "lower it, or make the criteria yes-or-no",
            where=where,
        )


def _pair_flaws(rubric: Rubric) -> Iterator[Flaw]:
    numbered = enumerate(rubric.criteria)
    for (_, one), (number, other) in itertools.combinations(numbered, 2):
        if fold_name(one.name) == fold_name(other.name):
            message = f"the name differs from {one.name!r} only in case or spacing"
            remedy = "rename one; a judge's reply cannot be told apart"
            flaw = Flaw("name-collides", "error", message, remedy, where=("name",))
            yield _placed(flaw, other.name, number)
        if word_overlap(one.question, other.question) >= _ALIKE:
            message = f"the question says nearly the same as that of {one.name!r}"
            remedy = "merge the two, or say what each leaves to the other; as is, it counts twice"
            flaw = Flaw("duplicate-criteria", "warning", message, remedy, where=("question",))
            yield _placed(flaw, other.name, number)


_VAGUE = re.compile(
    r"\b(?:(?:in|un)?(?:appropriate|adequate)(?:ly)?|(?:un)?(?:reasonabl[ey]|suitabl[ey])"
    r"|(?:im)?proper(?:ly)?|(?:un)?(?:acceptabl[ey]|satisfactor(?:y|ily))|sensibl[ey]|good|great"
    r"|nice(?:ly)?|decent(?:ly)?|(?:in)?sufficient(?:ly)?|effective(?:ly)?|meaningful(?:ly)?"
    r"|user-friendly|well[- ]written|well[- ]structured|(?:high|top)[- ]quality|as needed)\b",
    re.IGNORECASE,
)

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|`[^`]*`")

_QUALITIES = (
    r"accurate|correct|true|right|factual|complete|thorough|concise|brief|short|clear|readable"
    r"|coherent|consistent|helpful|useful|relevant|polite|friendly|courteous|respectful|professional"
    r"|safe|harmless|honest|fluent|grammatical|specific|detailed|original|creative|engaging"
    r"|persuasive|unbiased|neutral|fair|grounded|faithful|supported|valid|efficient|fast|secure"
    r"|accuracy|correctness|completeness|conciseness|brevity|clarity|readability|coherence"
    r"|consistency|helpfulness|relevance|politeness|tone|style|grammar|spelling|fluency|safety"
    r"|honesty|originality|creativity"
)

_CHECKS = (
    r"cite|cites|mention|mentions|follow|follows|explain|explains|include|includes|avoid|avoids"
    r"|address|addresses|contain|contains|provide|provides|respond|responds|offer|offers|refuse"
    r"|refuses|refer|refers|agree|agrees|stay|stays|give|gives|keep|keeps|use|uses|is|are|does|do"
    r"|did|was|were|has|have|can|could|will|would|should"
)

_AND = r",?\s+(?:and|as well as|plus)(?:\s+(?:also|then|\w+ly))?\s+"

_JOINED = (
    re.compile(rf"\b(?:{_QUALITIES})(?:ly)?{_AND}(?:{_QUALITIES})(?:ly)?\b", re.IGNORECASE),
    re.compile(rf"\w+{_AND}(?:{_CHECKS})\b", re.IGNORECASE),
    re.compile(r"\?.*\?", re.DOTALL),
)

_ASKS = r"(?:is|are|was|were|does|do|did|has|have|can|could|will|would|should)"

_LEADING = re.compile(
    rf"^\W*{_ASKS}n['\u2019]t\b|\b(?:surely|obviously|of course|don['\u2019]t you|would you agree"
    r"|do you agree|isn['\u2019]t it)\b",
    re.IGNORECASE,
)

_NEGATED = re.compile(rf"^\W*{_ASKS}\b[^,;?]*?(?:\bnot\b|\bnever\b|n['\u2019]t\b)", re.IGNORECASE)

_BAD_QUALITY = re.compile(
    rf"^\W*{_ASKS}\b.*\b(?:hallucinat\w+|fabricat\w+|violates?|omits?|ignores?|leaks?"
    r"|contradicts?|invents?|errors?|mistakes?|toxic\w*|offensive|biased|harmful|misleading"
    r"|irrelevant|wrong|incorrect|false)\b",
    re.IGNORECASE | re.DOTALL,
)

_TURNED = re.compile(
    r"\b(?:free|without|avoids?|no|not|never|rather|instead|nothing)\b", re.IGNORECASE
)

_WORD = re.compile(r"[^\W\d_]+")
_ENDING = re.compile(r"(?:ing|ed|ly|es|s)$")

_EMPTY = frozenset(
    {
        "a", "an", "the", "of", "to", "in", "on", "at", "by",
        "for", "with", "from", "as", "or", "and", "is", "are", "was",
        "were", "be", "been", "do", "does", "did", "has", "have", "it",
        "its", "this", "that", "which", "what", "who", "how", "every", "each",
        "all", "any", "there", "than", "into", "only", "own", "output", "answer",
        "response", "reply", "text", "result",
    }
)  # fmt: skip

_LEAST_WORDS = 2
_SHORTEST_STEM = 3


def vague_words(text: str) -> list[str]:
    """The words of a text that nothing can contradict ("appropriate", "high quality")."""
    found = (match.group().lower() for match in _VAGUE.finditer(_QUOTED.sub("", text)))
    return list(dict.fromkeys(found))


def joined_checks(question: str) -> str | None:
    """The place where a question asks two things at once."""
    # A guess from the words around "and": two qualities, or a second verb that is asked for.
    for pattern in _JOINED:
        if match := pattern.search(question):
            return " ".join(match.group().split())
    return None


def asks_negatively(question: str) -> str | None:
    """How a question is turned so that its yes and no are confused."""
    if _LEADING.search(question):
        return "leading"
    if _NEGATED.search(question):
        return "negated"
    if _BAD_QUALITY.search(question) and not _TURNED.search(question):
        return "inverted"
    return None


def word_overlap(one: str, other: str) -> float:
    """How far two questions use the same words."""
    first, second = _stems(one), _stems(other)
    if min(len(first), len(second)) < _LEAST_WORDS:
        return 0.0
    return len(first & second) / len(first | second)


def _stems(text: str) -> set[str]:
    words = {word.lower() for word in _WORD.findall(text)} - _EMPTY
    return {_stem(word) for word in words}


def _stem(word: str) -> str:
    stem = _ENDING.sub("", word)
    return stem if len(stem) >= _SHORTEST_STEM else word


def lint_rubric(rubric: Rubric) -> list[Flaw]:
    """What in a rubric may mislead a judge, or makes its pass mark idle."""
    return list(rubric_flaws(rubric))
