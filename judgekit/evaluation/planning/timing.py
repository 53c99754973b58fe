"""How long a run would take: each model by its own limits, and all of them together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from judgekit.evaluation.planning.figures import ModelPlan
from judgekit.evaluation.running.runner import DEFAULT_IN_FLIGHT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.evaluation.planning.counting import Counting, Length
    from judgekit.evaluation.planning.figures import AnswersPlan, Bound
    from judgekit.evaluation.preparing.opening import OpenSuite

ASSUMED_LATENCY_S = 3.0
"""How long a call takes where no owned reply says so, in seconds."""

ASSUMED_LOCAL_LATENCY_S = 20.0
"""The same for a model on this machine."""

_MINUTE_S = 60


def model_plan(
    counting: Counting,
    *,
    role: Literal["answers", "judge", "checks"],
    name: str,
    lengths: Mapping[str, Length],
    scale: float,
    rpm: int | None = None,
    tpm: int | None = None,
) -> ModelPlan:
    """What was counted of one model, priced and timed."""
    reply = lengths.get(name) if role == "answers" else None
    likely = counting.likely(lengths, reply=reply, scale=scale)
    way = counting.connection
    latency_s = counting.latency_s or _assumed_latency_s(way.name)
    paces: dict[Bound, float] = {"concurrency": _rounds(likely.calls, way.max_concurrency)}
    paces["concurrency"] *= latency_s
    if rpm is not None:
        paces["rpm"] = likely.calls / rpm * _MINUTE_S
    if tpm is not None:
        paces["tpm"] = (likely.input_tokens + likely.output_tokens) / tpm * _MINUTE_S
    bound = max(paces, key=lambda pace: paces[pace])
    return ModelPlan(
        role=role,
        name=name,
        model=way.name,
        n_questions=round(counting.n_questions * scale),
        n_owned=round(counting.n_owned * scale),
        likely=likely,
        most=counting.most(lengths, reply=reply, scale=scale),
        saved_usd=counting.saved_usd * scale,
        counted_by=counting.counted_by,
        latency_s=latency_s,
        n_latencies=counting.n_latencies,
        max_concurrency=way.max_concurrency,
        seconds=paces[bound],
        bound=bound,
    )


def workers(opened: OpenSuite, in_flight: int | None) -> int:
    """How many answers a run has in work at a time."""
    settings = opened.suite.settings
    if settings.in_sequence:
        return 1
    wanted = in_flight or settings.max_concurrency
    return wanted or max(DEFAULT_IN_FLIGHT, opened.jury.max_concurrency)


def seconds_of_all(
    answers: Sequence[AnswersPlan],
    models: Sequence[ModelPlan],
    *,
    n_judged: int,
    in_flight: int,
) -> float:
    """How long all of it takes: as the slowest model, or as the answers in work allow."""
    targets = [(m.likely.calls, m.latency_s) for m in models if m.role == "answers"]
    targets += [(a.n_answers - a.n_known, a.latency_s or 0.0) for a in answers]
    judges = [m.latency_s for m in models if m.role == "judge" and m.likely.calls]
    stages = [(n, s) for n, s in [*targets, (n_judged, max(judges, default=0.0))] if n]
    in_turn = sum(n * seconds for n, seconds in stages) / in_flight
    longest = max((seconds for _, seconds in stages), default=0.0)
    return max(in_turn, longest, *(m.seconds for m in models), 0.0)


def _rounds(calls: int, at_once: int) -> float:
    """How often a call is waited for; a last round that is not full counts whole."""
    return max(calls / at_once, float(calls > 0))


def _assumed_latency_s(model: str) -> float:
    return ASSUMED_LOCAL_LATENCY_S if model.startswith("local/") else ASSUMED_LATENCY_S
