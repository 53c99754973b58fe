"""Scores an output by several scorers and says what they come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import fsum, isfinite
from typing import TYPE_CHECKING, cast

from judgekit.checks.arguments import SpecFault, fault, read_arguments, refuse_faults
from judgekit.checks.artifacts import as_output
from judgekit.checks.builtin import scorer_registry
from judgekit.checks.seam import Declared, declared
from judgekit.checks.shares import shares
from judgekit.errors import InputError, JudgekitError
from judgekit.records.check import Score, ScoreBreakdown

if TYPE_CHECKING:
    from judgekit.records.case import Case
    from judgekit.records.output import Output
    from judgekit.registry import Registry

ScorerSpec = str | Mapping[str, object] | Callable[..., Score]
"""A scorer's name, a mapping with its `type` and parameters, or a declared function."""


def score_output(
    output: Output | Mapping[str, object],
    scorers: Sequence[ScorerSpec],
    *,
    case: Case | None = None,
    weights: Mapping[str, float] | None = None,
    registry: Registry | None = None,
) -> ScoreBreakdown:
    """Score an output.

    Args:
        output: The output; it is not altered. A workflow's artifact, `{runId, snapshot, events}`,
            may stand in its place, or be its `data`.
        scorers: Names, specs (`{"type": "latency", "max_ms": 5000}`), or declared functions.
        case: The case that was answered, for scorers that look at it.
        weights: The weight of each scorer by its name, 0 or more; a scorer that is not named has
            1.
        registry: The scorers there are; None takes the built-in and installed ones.

    Returns:
        Each score in the order asked for, and their weighted mean. What could not be measured
        has an `error`, no value, and no part in the mean, which is None where nothing is left.

    Raises:
        InputError: A spec or a weight is unsound; lists every fault, and nothing was measured.

    Example:
        >>> from judgekit.records.output import Output
        >>> breakdown = score_output(Output(text="a", duration_ms=15_000), ["latency"])
        >>> breakdown.overall
        0.75
    """
    known = scorer_registry() if registry is None else registry
    faults: list[SpecFault] = []
    read = [_read(spec, n, known, faults) for n, spec in enumerate(scorers)]
    refuse_faults(faults, of="scorers")
    found = [pair for pair in read if pair is not None]
    names = [said.name for said, _ in found]
    shares = _weights(names, weights or {})
    subject = as_output(output)
    scores = tuple(_measure(said, arguments, subject, case) for said, arguments in found)
    return ScoreBreakdown(overall=_mean(scores, shares), scores=scores)


def check_scorers(scorers: Sequence[ScorerSpec], *, registry: Registry | None = None) -> None:
    """Refuse scorers that are unsound, before anything is run."""
    known = scorer_registry() if registry is None else registry
    faults: list[SpecFault] = []
    for place, spec in enumerate(scorers):
        _read(spec, place, known, faults)
    refuse_faults(faults, of="scorers")


def _read(
    spec: ScorerSpec, place: int, registry: Registry, faults: list[SpecFault]
) -> tuple[Declared, dict[str, object]] | None:
    where = ("scorers", place)
    if callable(spec):
        return declared(spec), {}
    settings = {"type": spec} if isinstance(spec, str) else dict(spec)
    name = settings.pop("type", None)
    settings.pop("description", None)
    if not isinstance(name, str):
        faults.append(fault((*where, "type"), "needs a `type`, the scorer's name"))
        return None
    try:
        said = declared(cast("Callable[..., object]", registry.load(name)))
    except InputError as error:
        faults.append(fault((*where, "type"), error.message, hint=error.hint))
        return None
    arguments, found = read_arguments(said, settings, where=where)
    faults += found
    return said, arguments


def _measure(
    said: Declared, arguments: dict[str, object], output: Output, case: Case | None
) -> Score:
    """Call one scorer; the one place where every exception is caught, as it may be anyone's."""
    if said.wants_case:
        arguments = {**arguments, "case": case}
    try:
        found = said.function(output, **arguments)
    except JudgekitError as error:
        return Score(name=said.name, value=None, error=str(error))
    except Exception as error:  # noqa: BLE001 - a stranger's scorer may raise anything
        why = f"it raised {type(error).__name__}: {error}"
        return Score(name=said.name, value=None, error=why)
    if not isinstance(found, Score):
        why = f"it returned {type(found).__name__}, not a Score"
        return Score(name=said.name, value=None, error=why)
    return found


def _weights(names: Sequence[str], weights: Mapping[str, float]) -> list[float]:
    unknown = sorted(weights.keys() - set(names))
    if unknown:
        raise InputError(
            f"weights name {', '.join(unknown)}, which is no scorer here",
            hint=f"the scorers are {', '.join(names)}",
        )
    for name, weight in weights.items():
        if not isfinite(weight) or weight < 0:
            raise InputError(f"the weight of {name} is {weight}, it must be 0 or more")
    return [float(weights.get(name, 1.0)) for name in names]


def _mean(scores: Sequence[Score], weights: Sequence[float]) -> float | None:
    known = [(w, s.value) for s, w in zip(scores, weights, strict=True) if s.value is not None]
    parts = shares([weight for weight, _ in known])
    if not any(parts):
        return None
    mean = fsum(part * value for part, (_, value) in zip(parts, known, strict=True))
    return min(max(mean, 0.0), 1.0)
