"""Judges and people who say what a test wants of the same cases."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from judgekit.records import JudgeFailure, Preference, PreferenceFailure
from judgekit.scoring import conclude, conclude_comparison
from tests.evaluation.pairs import said
from tests.factories import make_failure, make_judgment, make_rubric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.records import Comparison, Judgment, Rubric, Verdict

RUBRIC = make_rubric()
"""One criterion, `accuracy`, from 1 to 5; passes from 0.7, which is a 4."""

TWO = make_rubric("accuracy", "tone")
"""Two criteria from 1 to 5."""


def judgment(
    raw: float | None, criterion: str = "accuracy", **fields: Any
) -> Judgment | JudgeFailure:
    """What a judge says of one criterion from 1 to 5; a failure without a score."""
    if raw is None:
        return make_failure(criterion, **{k: v for k, v in fields.items() if k != "confidence"})
    return make_judgment(criterion, (raw - 1) / 4, **{"raw": raw} | fields)


def verdict(
    case_id: str, scores: Mapping[str, float | None], rubric: Rubric = RUBRIC, **fields: Any
) -> Verdict:
    """What a rubric concludes from a score for each criterion."""
    variant = fields.pop("variant", None)
    made = [judgment(raw, name, judge="fake", **fields) for name, raw in scores.items()]
    return conclude(
        rubric,
        [one for one in made if not isinstance(one, JudgeFailure)],
        [one for one in made if isinstance(one, JudgeFailure)],
        case_id=case_id,
        variant=variant,
    )


def verdicts(scores: Mapping[str, float | None], **fields: Any) -> list[Verdict]:
    """Verdicts of one criterion, by case."""
    return [verdict(case_id, {"accuracy": raw}, **fields) for case_id, raw in scores.items()]


def labels(
    scores: Mapping[str, object], annotator: str = "Ada", **fields: Any
) -> list[dict[str, Any]]:
    """Labels of one annotator, by case."""
    return [
        {"case_id": case_id, "annotator": annotator, "raw": raw, **fields}
        for case_id, raw in scores.items()
    ]


def winners(found: Mapping[str, str], annotator: str = "Ada") -> list[dict[str, Any]]:
    """Labels of pairs, by case."""
    return [
        {"case_id": case_id, "annotator": annotator, "winner": winner}
        for case_id, winner in found.items()
    ]


def comparisons(found: Mapping[str, str], **fields: Any) -> list[Comparison]:
    """Comparisons of which a test chooses the outcome (see `tests.evaluation.pairs.CHOICES`)."""
    made = []
    for case_id, outcome in found.items():
        told = said(outcome, case_id, **fields)
        made.append(
            conclude_comparison(
                RUBRIC,
                [one for one in told if isinstance(one, Preference)],
                [one for one in told if isinstance(one, PreferenceFailure)],
                case_id=case_id,
                variants=("v1", "v2"),
            )
        )
    return made


class Crowd:
    """Cases of known quality, people who see it with some noise, and a judge who does too.

    Args:
        n: Cases.
        seed: What everything is drawn with.
        annotators: How many people; each labels every case.
        variants: Names of variants; each answers every case.
    """

    def __init__(
        self,
        n: int = 60,
        *,
        seed: int = 1,
        annotators: int = 3,
        variants: Sequence[str | None] = (None,),
        noise: float = 0.6,
    ) -> None:
        self._rng = random.Random(seed)
        self.places = [(f"c{k:03d}", variant) for k in range(n) for variant in variants]
        self.quality = {place: self._rng.uniform(0.6, 5.4) for place in self.places}
        self.names = [f"p{k}" for k in range(annotators)]
        self.noise = noise

    def seen(self, place: tuple[str, str | None], noise: float) -> int:
        """A score from 1 to 5 for a case."""
        return min(5, max(1, round(self.quality[place] + self._rng.gauss(0, noise))))

    def verdicts(self, noise: float | None = None, **fields: Any) -> list[Verdict]:
        """What the judge says."""
        return [
            verdict(
                place[0],
                {"accuracy": self.seen(place, self.noise if noise is None else noise)},
                variant=place[1],
                **fields,
            )
            for place in self.places
        ]

    def labels(self, n: int | None = None) -> list[dict[str, Any]]:
        """What people say of the first n outputs."""
        found = []
        for case_id, variant in self.places[:n]:
            about = {"case_id": case_id} | ({} if variant is None else {"variant": variant})
            for name in self.names:
                raw = self.seen((case_id, variant), self.noise)
                found.append(about | {"annotator": name, "raw": raw})
        return found
