"""What a person typed or wrote in a file, as a score, a confidence and a judgment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.errors import StoreError
from judgekit.prompts.schemas import scale_words
from judgekit.records.judgment import Judgment
from judgekit.records.rubric import Rubric

if TYPE_CHECKING:
    from judgekit.records.label import HumanItem
    from judgekit.records.rubric import Criterion, Scale
    from judgekit.records.run import CaseResult, RunInfo

_YES_OR_NO = {"y": 1.0, "yes": 1.0, "n": 0.0, "no": 0.0}


def criterion_of(item: HumanItem, result: CaseResult, run: RunInfo) -> Criterion:
    """The criterion a question is about."""
    rubric = result.case.rubric if isinstance(result.case.rubric, Rubric) else run.rubric
    try:
        if rubric is not None:
            return rubric.criterion(item.criterion)
    except KeyError:
        pass
    raise StoreError(
        f"the run {run.id} has no criterion {item.criterion!r} that a person could judge"
    )


def persons_judgment(
    item: HumanItem,
    criterion: Criterion,
    raw: float,
    rationale: str,
    *,
    annotator: str,
    confidence: float | None = None,
) -> Judgment:
    """What a person says of a question, as a judgment like any other."""
    return Judgment(
        criterion=criterion.name,
        raw=raw,
        value=criterion.scale.value_of(raw),
        rationale=rationale,
        confidence=confidence,
        stated_confidence=confidence,
        source="human",
        judge=annotator,
        case_id=item.key.case_id,
        variant=item.key.variant,
        repeat=item.repeat,
        cost_usd=0.0,
        price_usd=0.0,
        n_calls=0,
    )


def parse_score(text: str, scale: Scale) -> float:
    """The raw score a person typed."""
    word = text.strip().casefold()
    named = {level.name.casefold(): level.value for level in scale.levels if level.name}
    if scale.points == (0.0, 1.0):
        named = _YES_OR_NO | named
    try:
        raw = named[word] if word in named else float(word)
    except ValueError:
        raw = float("nan")
    if not scale.holds(raw):
        also = ", or y or n" if scale.points == (0.0, 1.0) else ""
        raise ValueError(f"a score is {scale_words(scale)}{also}")
    return raw


def parse_confidence(text: str) -> float | None:
    """How sure a person is, as typed."""
    word = text.strip()
    if not word:
        return None
    try:
        number = float(word.removesuffix("%")) / (100 if word.endswith("%") else 1)
    except ValueError:
        number = float("nan")
    if not 0 <= number <= 1:
        raise ValueError("a confidence is a number from 0 to 1, or nothing")
    return number
