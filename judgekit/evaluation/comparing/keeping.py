"""Keeps a comparison while it is made: what it sets out to do, and every answer as it comes."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import aclosing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, cast

from judgekit.errors import SettingsError
from judgekit.fingerprint import fingerprint
from judgekit.judge.pair_panel import PairPanel
from judgekit.records.compared import ComparedPair, ComparedSide, ComparisonInfo
from judgekit.records.comparison import Preference, PreferenceFailure

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from pydantic import JsonValue

    from judgekit.evaluation.comparing.pairing import Paired, Pairing, Side, Survey
    from judgekit.judge.judge import Judge
    from judgekit.records.comparison import Comparison
    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Rubric
    from judgekit.store.comparisons import StoredComparisons

    Said = Preference | PreferenceFailure

PREFIX = "cmp-"
"""What the id of every comparison begins with."""

_WORDS = {
    "a": "the first side's outputs or cases",
    "b": "the second side's outputs or cases",
    "rubric": "the rubric",
    "judge": "the judge or how it is asked and reconciled",
    "chosen": "what is chosen of the pairs",
    "stopping": "when it stops",
}
"""What each part is called that has to stay what it is."""

_SHORT = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What was agreed on before the first look."""

    alpha: float = 0.05
    """The error a decision may have."""

    until_decided: bool = False
    """Whether it stops as soon as a difference is shown."""

    max_cases: int | None = None
    """How many cases may be looked at then."""

    suite: str | None = None
    """Name of the suite, where the sides are of one."""


def new_comparison(
    pairing: Pairing,
    survey: Survey,
    judge: Judge | PairPanel,
    rubric: Rubric,
    *,
    terms: Terms,
    now: datetime,
) -> ComparisonInfo:
    """What a comparison sets out to do."""
    asking = _asking(PairPanel.of(judge))
    stopping: JsonObject = {
        "alpha": terms.alpha,
        "until_decided": terms.until_decided,
        "max_cases": terms.max_cases,
    }
    left_out = asdict(survey.left_out)
    parts = {
        "a": survey.digests[0],
        "b": survey.digests[1],
        "rubric": rubric.fingerprint,
        "judge": fingerprint([asking, list(pairing.names)]),
        "chosen": fingerprint(pairing.chosen),
        "stopping": fingerprint(stopping),
    }
    fields = {
        **asking,
        **stopping,
        "id": f"{PREFIX}{now:%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}",
        "a": _about(pairing.a),
        "b": _about(pairing.b),
        "suite": terms.suite,
        "rubric": rubric,
        "names": pairing.names,
        "chosen": pairing.chosen,
        "n_pairs": survey.n_pairs,
        "left_out": {k: list(v) if isinstance(v, tuple) else v for k, v in left_out.items()},
        "parts": {name: value[:_SHORT] for name, value in parts.items()},
        "started_at": now,
    }
    return ComparisonInfo.model_validate(fields)


def same_comparison(begun: ComparisonInfo, fresh: ComparisonInfo) -> ComparisonInfo:
    """The comparison that was begun, if it still is what would be done now."""
    changed = [w for name, w in _WORDS.items() if begun.parts.get(name) != fresh.parts.get(name)]
    if not changed:
        return begun
    raise SettingsError(
        f"the comparison {begun.id} cannot go on, for something has changed since: "
        + "; ".join(changed),
        hint="begin a new one (without --resume): replies that are owned are not asked again",
    )


class KeptComparison:
    """A comparison in a store while it is made."""

    def __init__(
        self, store: StoredComparisons, info: ComparisonInfo, judge: Judge | PairPanel
    ) -> None:
        self._store, self._info = store, info
        self._panel = PairPanel.of(judge)
        self._known: dict[int, tuple[Preference, ...]] = {}
        self._waiting: list[ComparedPair] = []

    def flush(self) -> None:
        """Keep what was said and is not kept yet."""
        if self._waiting:
            pairs, self._waiting = self._waiting, []
            self._store.add_pairs(self._info.id, pairs)

    def look_back(self) -> float:
        """Read what earlier sittings were told; failures are asked again."""
        paid = 0.0
        for pair in self._store.compared(self._info.id):
            self._known[pair.place] = pair.preferences
            said: list[Said] = [*pair.preferences, *pair.failures]
            paid += sum(each.cost_usd or 0.0 for each in said)
        return paid

    async def compare(self, place: int, pair: Paired) -> Comparison:
        """Ask about a pair what is not known; it is on disk when it is told."""
        # Pairs that come together are kept in one transaction. What was said of a pair that is
        # called off is kept by `flush`.
        info, comparer = self._info, self._panel.comparers[0]
        said: list[Said] = list(self._known.pop(place, ()))
        n_known, is_done = len(said), False
        try:
            answers = self._panel.observe(
                pair.case, pair.a, pair.b, info.rubric, names=info.names, said=tuple(said)
            )
            async with aclosing(answers) as told:
                async for found in told:
                    said += found
            is_done = True
        finally:
            self._waiting.append(_pair(place, pair, said[n_known:], is_done=is_done))
        await asyncio.sleep(0)
        self.flush()
        seen = comparer.seen(pair.a, pair.b, info.names)
        ordered = in_order(said, info)
        return comparer.conclude(pair.case, pair.a, pair.b, seen, info.rubric, ordered)


def _pair(place: int, pair: Paired, said: Iterable[Said], *, is_done: bool) -> ComparedPair:
    answers = list(said)
    return ComparedPair(
        place=place,
        case=pair.case,
        repeat=pair.repeat,
        a=pair.a,
        b=pair.b,
        preferences=tuple(each for each in answers if isinstance(each, Preference)),
        failures=tuple(each for each in answers if isinstance(each, PreferenceFailure)),
        is_done=is_done,
    )


def _about(side: Side) -> ComparedSide:
    return side.about or ComparedSide(label=side.label)


def in_order(said: Iterable[Said], info: ComparisonInfo) -> list[Said]:
    """Answers in the order of their questions, whenever they came."""
    places = {criterion.name: place for place, criterion in enumerate(info.rubric.criteria)}
    judges = {member.judge: place for place, member in enumerate(info.panel)}

    def place(one: Said) -> tuple[int, str, int, int]:
        judge = judges.get(one.judge, len(judges))
        return judge, one.order, one.repeat, places.get(cast("str", one.criterion), len(places))

    return sorted(said, key=place)


def _asking(panel: PairPanel) -> JsonObject:
    """Who is asked, and how."""
    first = panel.comparers[0]
    found: JsonObject = {
        "judge": panel.id,
        "parameters": dict(first.parameters),
        "repeats": first.repeats,
        "rule": first.rule,
        "scrub": first.scrubs,
        "draw_labels": first.draws_labels,
        "label_seed": first.seed,
    }
    if len(panel.comparers) == 1:
        return found
    members = [
        {"judge": c.id, "parameters": dict(c.parameters), "repeats": c.repeats}
        for c in panel.comparers
    ]
    return {**found, "parameters": {}, "repeats": 1, "panel": cast("list[JsonValue]", members)}
