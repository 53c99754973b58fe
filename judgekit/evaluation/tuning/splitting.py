"""Splits labelled cases: what is chosen by, what is held out, and folds; seeded, by strata."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from math import ceil, floor, fsum
from typing import TYPE_CHECKING

from judgekit.errors import NotEnoughDataError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from judgekit.evaluation.tuning.material import Labelled

LEAST = 10
"""Cases each side of the split needs: fewer let no difference be told."""

_FOLDS = 5
_STRATA = 4
_DRAWS = 2**64
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Split:
    """Which cases are chosen by, and which are held out."""

    folds: tuple[frozenset[Hashable], ...]
    """The training side, in parts: an output is never shown as an example to its own part."""

    held_out: frozenset[Hashable]
    """Cases that nothing is chosen by."""

    @property
    def training(self) -> frozenset[Hashable]:
        """Cases that candidates are chosen by."""
        return frozenset(one for fold in self.folds for one in fold)


def split(labels: Labelled, *, holdout: float, seed: int) -> Split:
    """Split cases, or groups of them, in two, with as many of each level on either side."""
    # Within strata of people's mean score, the order is drawn; then every so many-th is held out.
    ordered = _ordered(labels, seed)
    start = draw(seed, "split")
    is_held = [
        floor((place + 1) * holdout + start) > floor(place * holdout + start)
        for place in range(len(ordered))
    ]
    held = [one for one, out in zip(ordered, is_held, strict=True) if out]
    training = [one for one, out in zip(ordered, is_held, strict=True) if not out]
    if min(len(held), len(training)) < LEAST:
        _too_few(len(ordered), len(training), len(held), holdout)
    n = min(_FOLDS, len(training))
    return Split(tuple(frozenset(training[k::n]) for k in range(n)), frozenset(held))


def draw(seed: int, *what: object) -> float:
    """A number that is drawn for something: the same for the same seed, whatever comes before it."""
    digest = hashlib.sha256(repr((seed, *what)).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) / _DRAWS


def _ordered(labels: Labelled, seed: int) -> Sequence[Hashable]:
    values: defaultdict[Hashable, list[float]] = defaultdict(list)
    for part in labels.criteria:
        for item in part.items:
            values[item.cluster].append(part.value(part.label(item)))
    return sorted(values, key=lambda one: (_stratum(values[one]), draw(seed, "order", one)))


def _stratum(values: Iterable[float]) -> int:
    known = sorted(values)
    return round(fsum(known) / len(known) * _STRATA)


def _too_few(n: int, n_training: int, n_held: int, holdout: float) -> None:
    needed = ceil(round(LEAST / min(holdout, 1 - holdout), _DIGITS))
    low, high = -(-100 * LEAST // n), 100 * (n - LEAST) // n
    other = f", or hold out a share from {low / 100:g} to {high / 100:g}" if low <= high else ""
    raise NotEnoughDataError(
        f"{n} labelled cases are split into {n_training} to choose by and {n_held} held out, and "
        f"either side needs {LEAST}",
        hint=f"label {needed - n:,} more cases{other} (--holdout is {holdout:g})",
    )
