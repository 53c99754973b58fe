"""What a probe is: a question, the trials that answer it, and how answers become effects."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import fsum
from typing import TYPE_CHECKING

from judgekit.evaluation.auditing.asking import Ask, GradeAsk
from judgekit.records.comparison import Preference
from judgekit.records.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from judgekit.evaluation.auditing.asking import PairSaid
    from judgekit.evaluation.auditing.figures import Effect
    from judgekit.evaluation.auditing.material import Material
    from judgekit.records.case import Case
    from judgekit.records.comparison import Order
    from judgekit.records.output import Output

_POINTS = {"first": 1.0, "tie": 0.5, "second": 0.0}


@dataclass(frozen=True, slots=True)
class Trial:
    """The questions about one output or pair that belong together, by name."""

    case_id: str
    """The case."""

    arms: Mapping[str, Ask]
    """What is asked; the same question in several trials is asked once."""

    about: str = ""
    """What tells it from other trials of the case: an attack, a template."""


@dataclass(frozen=True, slots=True)
class Trials:
    """What a probe would ask, or why it cannot be made."""

    trials: tuple[Trial, ...] = ()
    """What it would ask."""

    skipped: str | None = None
    """Why it is skipped."""

    n_left_out: int = 0
    """Outputs it cannot be tried on."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A trial with the answers that came."""

    trial: Trial
    """What was asked."""

    answers: Mapping[str, Verdict | PairSaid]
    """What was said, by arm; without those that were not asked any more."""

    def verdict(self, arm: str) -> Verdict | None:
        """The verdict of an arm that was graded; None where it was not asked."""
        found = self.answers.get(arm)
        return found if isinstance(found, Verdict) else None

    def value(self, arm: str) -> float | None:
        """The value of an arm that was graded; None where it has none."""
        found = self.verdict(arm)
        return None if found is None else found.value

    def criterion_values(self, arm: str) -> dict[str, float]:
        """The values of an arm's criteria, those that are known."""
        found = self.verdict(arm)
        known = () if found is None else found.criteria
        return {one.name: one.value for one in known if one.value is not None}

    def passed(self, arm: str) -> bool | None:
        """Whether an arm passes; None where that is not known."""
        found = self.verdict(arm)
        return None if found is None else found.passed

    def first(self, arm: str, order: Order) -> float | None:
        """How far the output shown first was preferred in an order; None after a failure."""
        # On the whole where that was asked, else over all criteria.
        said = self.answers.get(arm, ())
        every = [] if isinstance(said, Verdict) else [one for one in said if one.order == order]
        found = [one for one in every if one.criterion is None] or every
        points = [_POINTS[one.choice] for one in found if isinstance(one, Preference)]
        return fsum(points) / len(points) if points and len(points) == len(found) else None

    def preferred(self, arm: str) -> float | None:
        """How far output a was preferred over both orders, from 0 to 1; None after a failure."""
        sides = self.first(arm, "ab"), self.first(arm, "ba")
        return None if sides[0] is None or sides[1] is None else (sides[0] + 1 - sides[1]) / 2


@dataclass(frozen=True, slots=True)
class Findings:
    """What a probe makes of the answers."""

    effects: tuple[Effect, ...]
    """What it measured."""

    counts: Mapping[str, float | int | str] = field(default_factory=dict)
    """Further figures."""

    parts: tuple[Effect, ...] = ()
    """The same for each kind of what was tried; their intervals hold for all of them at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One question about a judge, and how it is answered."""

    name: str
    """What it is called on the command line."""

    question: str
    """What it asks about the judge, in plain words."""

    needs: str
    """What it cannot be made without."""

    cost: str
    """What it asks, in questions an output; many are shared with other probes."""

    plan: Callable[[Material], Trials]
    """What it would ask of this material."""

    find: Callable[[Sequence[Heard], Material], Findings]
    """What the answers come to."""

    changes_texts: bool = True
    """Whether it shows the judge texts that nobody has recorded."""


def plain_ask(case: Case, output: Output, material: Material, *, asking: int = 0) -> GradeAsk:
    """The question every probe compares with: the output as it is."""
    return GradeAsk(case=case, output=output, rubric=material.rubric, asking=asking)


def excess_change(
    heard: Sequence[Heard], changed: str
) -> tuple[list[float | None], list[float | None]]:
    """How far an arm is from `plain`, beside how far the same question is when asked `again`."""
    rows: list[tuple[float | None, float | None]] = []
    for one in heard:
        plain, again = one.criterion_values("plain"), one.criterion_values("again")
        other = one.criterion_values(changed)
        names = [name for name in plain if name in again and name in other]
        if not names:
            rows.append((None, None))
            continue
        gaps = [[abs(plain[name] - side[name]) for name in names] for side in (again, other)]
        rows.append((fsum(gaps[0]) / len(names), fsum(gaps[1]) / len(names)))
    return [row[0] for row in rows], [row[1] for row in rows]


def verdict_changes(heard: Sequence[Heard], changed: str) -> list[float | None]:
    """Whether the verdict of an arm is another than that of `plain`."""
    sides = [(one.passed("plain"), one.passed(changed)) for one in heard]
    return [None if x is None or y is None else float(x != y) for x, y in sides]
