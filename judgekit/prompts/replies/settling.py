"""Decides whether the scores found in a reply make one verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.prompts.replies.numbers import NoScoreError, read_score, shown
from judgekit.prompts.replies.siblings import criterion_reply

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judgekit.prompts.replies.answers import CriterionReply
    from judgekit.prompts.replies.layouts import Mark
    from judgekit.prompts.replies.scales import WantedNames


class UnsettledError(Exception):
    """The scores found make no single verdict."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


def settle(
    documents: Sequence[Sequence[Mark]], lines: Sequence[Mark], names: WantedNames
) -> dict[str, CriterionReply]:
    """The one verdict that all scores found agree on."""
    with_scores = [marks for marks in documents if any(mark.trusted for mark in marks)]
    verdict = [mark for marks in with_scores for mark in marks if mark.trusted]
    beside = [mark for marks in documents for mark in marks if not mark.trusted]
    if verdict:
        _check_joined(with_scores, names)
        beside += lines
    else:
        verdict = list(lines)
    by_name: dict[str, CriterionReply] = {}
    missing = [w.name for i, w in enumerate(names.criteria) if not _of(verdict, i)]
    if missing:
        wanted = ", ".join(map(repr, missing[:5]))
        raise UnsettledError(
            "missing_criteria", f"Give a score for {wanted} too; the reply had none."
        )
    for index, criterion in enumerate(names.criteria):
        mark, raw = _agreed(_of(verdict, index), names)
        _check_beside(_of(beside, index), raw, names)
        by_name[criterion.name] = criterion_reply(mark, raw, names)
    return by_name


def _of(marks: Iterable[Mark], index: int) -> list[Mark]:
    return [mark for mark in marks if mark.criterion == index]


def _check_joined(documents: Sequence[Sequence[Mark]], names: WantedNames) -> None:
    """Several documents are one verdict when one has all, or when each has one criterion."""
    sizes = [len({mark.criterion for mark in marks if mark.trusted}) for marks in documents]
    if len(sizes) > 1 and max(sizes) < len(names.criteria) and max(sizes) > 1:
        raise UnsettledError("ambiguous", "Give one JSON object for all criteria, not several.")


def _agreed(marks: Sequence[Mark], names: WantedNames) -> tuple[Mark, float | None]:
    """The score all marks of a criterion state; the first one with something beside it."""
    problems: list[UnsettledError] = []
    scores: dict[float | None, Mark] = {}
    for mark in marks:
        try:
            raw = _score(mark, names)
        except UnsettledError as problem:
            problems.append(problem)
        else:
            scores.setdefault(raw, mark)
    if problems and not scores:
        raise problems[0]
    if problems or len(scores) > 1:
        _raise_two(names.criteria[marks[0].criterion].name, marks)
    raw, mark = next(iter(scores.items()))
    return mark, raw


def _check_beside(marks: Sequence[Mark], raw: float | None, names: WantedNames) -> None:
    """Whether what stands beside a verdict contradicts it; what is no score cannot."""
    for mark in marks:
        try:
            other = _score(mark, names)
        except UnsettledError:
            continue
        if other != raw:
            _raise_two(names.criteria[mark.criterion].name, marks)


def _score(mark: Mark, names: WantedNames) -> float | None:
    wanted = names.criteria[mark.criterion]
    text = "" if mark.leaf is None else mark.leaf.text
    if mark.doubt == "ambiguous":
        message = f"Give one score for {wanted.name!r} and no other beside it."
        raise UnsettledError("ambiguous", message)
    if mark.doubt is not None:
        raise UnsettledError(mark.doubt, f"{wanted.ask}; the reply said {shown(text)}.")
    if mark.leaf is None:
        return None
    try:
        return read_score(mark.leaf, wanted)
    except NoScoreError as error:
        raise UnsettledError(error.reason, error.message) from error


def _raise_two(name: str, marks: Sequence[Mark]) -> None:
    said = sorted({mark.leaf.text for mark in marks if mark.leaf is not None})
    values = f": {' and '.join(shown(text) for text in said[:2])}" if len(said) > 1 else ""
    raise UnsettledError("ambiguous", f"Give one score for {name!r}; the reply gave two{values}.")
