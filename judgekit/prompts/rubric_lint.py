"""Finds what in a rubric misleads judges: wording, scales, weights, thresholds and names.

Templates are checked in `template_lint`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from judgekit.prompts.messages import criterion_schema
from judgekit.prompts.parsing import LABEL_KEYS, MAXIMUM_KEYS, SCORE_KEYS, UNREAD_KEYS, fold_name
from judgekit.records import Criterion, Rubric, Scale


@dataclass(frozen=True, slots=True)
class Flaw:
    """One thing to correct in a rubric or a template."""

    # A short name of the rule it breaks: `vague-word`, `unfenced`.
    rule: str
    # An error makes verdicts wrong or unreadable; a warning makes them worse or dearer.
    severity: Literal["error", "warning"]
    message: str
    remedy: str
    # The criterion or block; None for the whole file.
    place: str | None = None
    # In a rubric: keys and list positions from the root of its file.
    where: tuple[str | int, ...] = ()
    # In a template: the file, which may be one that is included.
    path: Path | None = None
    line: int | None = None


# More points than ten add noise: judges use a few of them.
_MOST_POINTS = 10
_LONGEST_NAME = 40

# The share of common words from which two questions are reported as one.
_ALIKE = 0.6
_BINARY = 2
_AWKWARD = re.compile(r"[\"'`{}\[\]\\<>]|[^\S ]|[\x00-\x1f]")
_READ_AS_FIELDS = SCORE_KEYS | LABEL_KEYS | MAXIMUM_KEYS | UNREAD_KEYS
_TURNS = {
    "leading": "the question suggests its answer",
    "negated": "the question is negated, so that its yes and no are confused",
    "inverted": "a yes to the question is bad news, but the best score stands for yes",
}


def lint_rubric(rubric: Rubric) -> list[Flaw]:
    """What in a rubric may mislead a judge, or makes its pass mark useless."""
    found: list[Flaw] = []
    for number, criterion in enumerate(rubric.criteria):
        flaws = itertools.chain(
            _name_flaws(criterion),
            _wording_flaws(criterion),
            _scale_flaws(criterion),
            _counting_flaws(criterion, rubric),
            _need_flaws(criterion),
        )
        found += [_placed(flaw, criterion.name, number) for flaw in flaws]
    return [*found, *_rubric_flaws(rubric), *_pair_flaws(rubric)]


def _placed(flaw: Flaw, name: str, number: int) -> Flaw:
    return replace(flaw, place=f"criterion {name!r}", where=("criteria", number, *flaw.where))


def _name_flaws(criterion: Criterion) -> Iterator[Flaw]:
    name, where = criterion.name, ("name",)
    folded = fold_name(name)
    remedy = "name it after what is judged, for example `accuracy`"
    properties = criterion_schema(criterion)["properties"]
    fields = {"criteria", *(properties if isinstance(properties, dict) else ())}
    if folded in fields:
        message = "the name is that of a field of the reply, so that replies are ambiguous"
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


def _wording_flaws(criterion: Criterion) -> Iterator[Flaw]:
    defined = {(level.name or "").lower() for level in criterion.scale.levels}
    guided = [word for word in _vague_words(criterion.scoring_guide or "") if word not in defined]
    for field, words in {
        "question": _vague_words(criterion.question),
        "scoring_guide": guided,
    }.items():
        if words:
            named = ", ".join(f"“{word}”" for word in words)
            message = (
                f"the {field.replace('_', ' ')} says {named}, which every judge reads differently"
            )
            remedy = "say what would be seen in the output, so that it can be false"
            yield Flaw("vague-word", "warning", message, remedy, where=(field,))
    # A guess from the words around "and": two qualities, or a second verb that is asked for.
    if joint := next(filter(None, (each.search(criterion.question) for each in _JOINED)), None):
        message = f"the question asks two things at once: “{' '.join(joint.group().split())}”"
        remedy = "make each a criterion of its own, or say in the scoring guide how both count"
        yield Flaw("two-questions", "warning", message, remedy, where=("question",))
    turn = _asks_negatively(criterion.question)
    if turn and not (turn == "inverted" and _all_described(criterion.scale)):
        message = _TURNS[turn]
        remedy = "ask so that yes, the best score, is what is wanted"
        yield Flaw(f"{turn}-question", "warning", message, remedy, where=("question",))


# A sentence that judges the trace only under a condition does not need one.
_TRACE = re.compile(r"\b(tool[- ]calls?|trace|trajectory)\b", re.IGNORECASE)
_CONDITIONAL = re.compile(r"\b(if|where|when|whether|or|unless)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+")


def _need_flaws(criterion: Criterion) -> Iterator[Flaw]:
    if "trace" in criterion.needs or criterion.template is not None:
        return
    for field in ("question", "scoring_guide"):
        for sentence in _SENTENCE_END.split(getattr(criterion, field) or ""):
            named = _TRACE.search(sentence)
            if named and not _CONDITIONAL.search(sentence):
                message = (
                    f"the {field.replace('_', ' ')} asks about the “{named.group()}”, which most "
                    "templates do not show"
                )
                remedy = "add `needs: trace`, so that the judge sees the steps"
                yield Flaw("trace-not-shown", "warning", message, remedy, where=(field,))
                return


def _scale_flaws(criterion: Criterion) -> Iterator[Flaw]:
    scale = criterion.scale
    points = scale.points
    if points is None or len(points) > _MOST_POINTS:
        n = "every number between its ends" if points is None else f"{len(points)} points"
        message = f"the scale has {n}; judges cannot distinguish so many and prefer round ones"
        remedy = "take at most ten described points, for example `scale: one_to_five`"
        yield Flaw("scale-too-fine", "warning", message, remedy, where=("scale",))
    if criterion.scoring_guide or _all_described(scale):
        return
    if scale.levels:
        bare = [f"{level.value:g}" for level in scale.levels if not level.description]
        message = (
            f"nothing says what an output at {', '.join(bare) or 'the scores between'} looks like"
        )
        remedy = "describe every level, or say in a scoring guide what separates them"
        yield Flaw("levels-undescribed", "warning", message, remedy, where=("scale",))
    else:
        message = "there is neither a scoring guide nor a described level"
        remedy = "say in `scoring_guide` what to look for and what each score stands for"
        yield Flaw("no-scoring-guide", "warning", message, remedy)


def _all_described(scale: Scale) -> bool:
    described = {level.value for level in scale.levels if level.description}
    return scale.points is not None and described.issuperset(scale.points)


def _counting_flaws(criterion: Criterion, rubric: Rubric) -> Iterator[Flaw]:
    if criterion.weight == 0 and not criterion.required:
        message = "the weight is 0 and it is not required: it is paid for and decides nothing"
        remedy = "give it a weight, make it required, or drop it"
        yield Flaw("zero-weight", "warning", message, remedy, where=("weight",))
    if criterion.pass_value == 0:
        message = "pass_value is 0, which the worst score reaches"
        remedy = "name the value on [0, 1] that is still good enough"
        yield Flaw(
            "pass-always-reached",
            "error" if criterion.required else "warning",
            message,
            remedy,
            where=("pass_value",),
        )
    if criterion.required and criterion.pass_value is None and not _is_binary(criterion.scale):
        scale, mark = criterion.scale, rubric.pass_threshold
        raw = scale.min + mark * (scale.max - scale.min)
        message = (
            f"it is required without a pass mark of its own, so the rubric's {mark:g} decides: "
            f"a score below {raw:g} fails the output"
        )
        remedy = "set `pass_value` to the value on [0, 1] from which it passes"
        yield Flaw("required-without-pass-value", "warning", message, remedy, where=("required",))


def _is_binary(scale: Scale) -> bool:
    return scale.points is not None and len(scale.points) <= _BINARY


def _rubric_flaws(rubric: Rubric) -> Iterator[Flaw]:
    if not rubric.active:
        message = "the rubric is inactive, so nothing is judged by it"
        remedy = "set `active: true` to use it again"
        yield Flaw("inactive", "warning", message, remedy, where=("active",))
    where = ("pass_threshold",)
    if rubric.pass_threshold == 0:
        message = "pass_threshold is 0, which every output reaches"
        remedy = "name the overall value from which an output passes, for example 0.7"
        yield Flaw("threshold-always-reached", "error", message, remedy, where=where)
    fine = [c.name for c in rubric.criteria if c.weight and not _is_binary(c.scale)]
    if rubric.pass_threshold == 1 and fine:
        message = f"pass_threshold is 1, so that only the best score on {', '.join(fine)} passes"
        remedy = "lower it, or make the criteria yes-or-no"
        yield Flaw("threshold-hardly-reached", "warning", message, remedy, where=where)


def _pair_flaws(rubric: Rubric) -> Iterator[Flaw]:
    numbered = enumerate(rubric.criteria)
    for (_, one), (number, other) in itertools.combinations(numbered, 2):
        if fold_name(one.name) == fold_name(other.name):
            message = f"the name differs from {one.name!r} only in case or spacing"
            remedy = "rename one; a judge's reply could mean either"
            flaw = Flaw("name-collides", "error", message, remedy, where=("name",))
            yield _placed(flaw, other.name, number)
        if _word_overlap(one.question, other.question) >= _ALIKE:
            message = f"the question says nearly the same as that of {one.name!r}"
            remedy = "merge the two, or say what each leaves to the other; as is, it counts twice"
            flaw = Flaw("duplicate-criteria", "warning", message, remedy, where=("question",))
            yield _placed(flaw, other.name, number)


# Words that nothing in an output can contradict.
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
    r"(?:cite|mention|follow|explain|include|avoid|contain|provide|respond|offer|refuse|refer|agree"
    r"|stay|give|keep|use)s?|address(?:es)?|is|are|does|do|did|was|were|has|have|can|could|will"
    r"|would|should"
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
_EMPTY = frozenset({
    "a", "an", "the", "of", "to", "in", "on", "at", "by", "for", "with", "from", "as", "or", "and",
    "is", "are", "was", "were", "be", "been", "do", "does", "did", "has", "have", "it", "its",
    "this", "that", "which", "what", "who", "how", "every", "each", "all", "any", "there", "than",
    "into", "only", "own", "output", "answer", "response", "reply", "text", "result",
})  # fmt: skip
_LEAST_WORDS = 2
_SHORTEST_STEM = 3


def _vague_words(text: str) -> list[str]:
    # A quoted word is named, not used.
    found = (match.group().lower() for match in _VAGUE.finditer(_QUOTED.sub("", text)))
    return list(dict.fromkeys(found))


def _asks_negatively(question: str) -> str | None:
    if _LEADING.search(question):
        return "leading"
    if _NEGATED.search(question):
        return "negated"
    if _BAD_QUALITY.search(question) and not _TURNED.search(question):
        return "inverted"
    return None


def _word_overlap(one: str, other: str) -> float:
    """The share of words that two questions have in common (Jaccard)."""
    first, second = _stems(one), _stems(other)
    if min(len(first), len(second)) < _LEAST_WORDS:
        return 0.0
    return len(first & second) / len(first | second)


def _stems(text: str) -> set[str]:
    words = {word.lower() for word in _WORD.findall(text)} - _EMPTY
    stems = {word: _ENDING.sub("", word) for word in words}
    return {stem if len(stem) >= _SHORTEST_STEM else word for word, stem in stems.items()}
