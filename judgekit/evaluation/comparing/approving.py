"""Decides whether a version may be approved: only on stored evidence that it is better (S0.11)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from judgekit.datasets.variants import expand_variants
from judgekit.errors import (
    ApprovalRefusedError,
    InputError,
    JudgekitError,
    NotEnoughDataError,
)
from judgekit.evaluation.comparing.scores import Scored, compare_scored
from judgekit.evaluation.comparing.stored import summarize_comparison
from judgekit.evaluation.preparing.calibrated import by_one_measure
from judgekit.evaluation.preparing.versions import file_mark, version_mark
from judgekit.evaluation.running.identity import version_in
from judgekit.judge.opening import own_templates
from judgekit.records.compared import Approval, VersionMark
from judgekit.targets.prompt import TargetPrompt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgekit.datasets.suite import Suite
    from judgekit.evaluation.comparing.figures import Decision
    from judgekit.records.compared import ComparedSide, ComparisonInfo
    from judgekit.records.rubric import Rubric
    from judgekit.records.run import RunInfo
    from judgekit.store.runs import RunStore

Standing = Literal["approved", "stale", "unknown"]
"""`stale`: the version has changed since; `unknown`: its files are not here to be looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is kept of two versions, seen from the one that is to be approved."""

    kind: Literal["blind", "scores"]
    """A blind comparison, or the scores of stored runs."""

    ids: tuple[str, ...]
    """The comparison, or the runs."""

    rubric: Rubric
    """What it was judged by."""

    version: VersionMark | None
    """The version that was looked at."""

    decision: Decision
    """What it comes to, at the error that is allowed."""

    is_better: bool
    """Whether the version is shown to be better."""

    is_worse: bool
    """Whether the baseline is shown to be better."""

    suite: str | None
    """The suite, where there is one."""

    at: datetime
    """When it was begun."""


def find_evidence(
    store: RunStore,
    variant: str,
    baseline: str,
    *,
    alpha: float = 0.05,
    scores: bool = False,
    suite: str | None = None,
) -> Evidence:
    """The last evidence that is kept of two versions; earlier ones do not count any more."""
    names = variant, baseline
    blind = None if scores else _blind(store, names, alpha, suite)
    found = blind or _scored(store, names, alpha, suite)
    if found is not None:
        return found
    raise ApprovalRefusedError(
        f"no comparison of {variant} with {baseline} is kept",
        hint=f"make one: judgekit compare {variant} {baseline}",
    )


def approve(
    store: RunStore, evidence: Evidence, variant: str, baseline: str, *, by: str, because: str
) -> Approval:
    """Approve a version, and keep who did and why."""
    _check(evidence, variant, baseline)
    for what, text in (("who approves", by), ("why", because)):
        if not text.strip():
            raise InputError(f"an approval says {what}")
    decision, now = evidence.decision, datetime.now(UTC)
    approval = Approval(
        id=f"apr-{now:%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}",
        at=now,
        variant=variant,
        baseline=baseline,
        version=evidence.version or VersionMark(fingerprint=""),
        by=by.strip(),
        because=because.strip(),
        suite=evidence.suite,
        kind=evidence.kind,
        evidence=evidence.ids,
        rubric=evidence.rubric.name,
        rubric_fingerprint=evidence.rubric.fingerprint,
        alpha=decision.alpha,
        p=decision.p or 0.0,
        shown=decision.reason,
    )
    store.approve(approval)
    return approval


def check_current(evidence: Evidence, variant: str, suite: Suite | None) -> None:
    """Refuse a version that has changed since it was compared."""
    if evidence.version is None:
        return
    if standing_of(evidence.version, variant, suite) == "stale":
        raise ApprovalRefusedError(
            f"{variant} has changed since it was compared ({', '.join(evidence.ids)})",
            hint="compare it as it is now",
        )


def standing_of(mark: VersionMark, variant: str, suite: Suite | None) -> Standing:
    """Whether a version is still what it was."""
    try:
        now = _mark_now(mark, variant, suite)
    except JudgekitError:  # what it named is no longer there, or unsound
        return "stale" if suite is not None else "unknown"
    if now is None:
        return "unknown"
    return "approved" if now else "stale"


def _mark_now(mark: VersionMark, variant: str, suite: Suite | None) -> bool | None:
    own = () if suite is None else expand_variants(suite)
    for settings in own:
        if suite is not None and settings.id == variant:
            now = version_mark(settings, suite, own_templates(suite))
            return now.fingerprint == mark.fingerprint
    if mark.prompt is not None and Path(mark.prompt).is_file():
        return TargetPrompt(mark.prompt).fingerprint == mark.prompt_fingerprint
    if mark.outputs is not None and Path(mark.outputs).is_file():
        return file_mark(Path(mark.outputs)).fingerprint == mark.fingerprint
    return None


def _check(evidence: Evidence, variant: str, baseline: str) -> None:
    ids, decision = ", ".join(evidence.ids), evidence.decision
    p = "" if decision.p is None else f", p {decision.p:.3g}"
    if evidence.is_worse:
        raise ApprovalRefusedError(
            f"{baseline} is better than {variant}: {decision.reason}{p} ({ids})", is_worse=True
        )
    if not evidence.is_better:
        n = decision.n_to_decide
        raise ApprovalRefusedError(
            f"it is not shown that {variant} is better than {baseline}: {decision.reason}{p} "
            f"({ids})",
            hint=None if n is None else f"about {n:,} cases would decide it",
        )
    if evidence.version is None:
        raise ApprovalRefusedError(
            f"{ids} does not say which version of {variant} was compared",
            hint="compare it again, so that a change can be noticed",
        )


def _blind(
    store: RunStore, names: tuple[str, str], alpha: float, suite: str | None
) -> Evidence | None:
    variant, baseline = names
    for info in store.comparisons(variant=variant):
        sides = _sides(info, variant, baseline)
        if sides is None or (suite is not None and info.suite not in {None, suite}):
            continue
        if info.status in {"running", "interrupted", "stopped"}:
            raise ApprovalRefusedError(
                f"the last comparison of {variant} with {baseline} is not whole: {info.id} "
                f"({info.status})",
                hint=f"go on with it: judgekit compare … --resume {info.id}",
            )
        decision = summarize_comparison(store, info, alpha=alpha).decision
        own = "a" if sides[0] is info.a else "b"
        return Evidence(
            kind="blind",
            ids=(info.id,),
            rubric=info.rubric,
            version=sides[0].version,
            decision=decision,
            is_better=decision.winner == own,
            is_worse=decision.winner not in {None, own},
            suite=info.suite,
            at=info.started_at,
        )
    return None


def _sides(
    info: ComparisonInfo, variant: str, baseline: str
) -> tuple[ComparedSide, ComparedSide] | None:
    """Both sides, the version first; None where it compared others."""
    for own, other in ((info.a, info.b), (info.b, info.a)):
        if variant in {own.label, own.variant} and baseline in {other.label, other.variant}:
            return own, other
    return None


def _scored(
    store: RunStore, names: tuple[str, str], alpha: float, suite: str | None
) -> Evidence | None:
    """The scores of the last judged runs of both, of one suite and by one rubric."""
    variant, baseline = names
    own = [run for run in _judged(store.runs_of_variant(variant)) if suite in {None, run.suite}]
    others = _judged(store.runs_of_variant(baseline))
    for run in own:
        other = next((one for one in others if _is_comparable(run, one)), None)
        if other is None or run.rubric is None:
            continue
        then, now = by_one_measure(other, run)
        sides = (
            Scored(store.results(other.id, variant=baseline), then),
            Scored(store.results(run.id, variant=variant), now),
        )
        try:
            found = compare_scored(*sides, (baseline, variant), alpha=alpha)
        except NotEnoughDataError:
            continue
        return Evidence(
            kind="scores",
            ids=tuple(dict.fromkeys((run.id, other.id))),
            rubric=run.rubric,
            version=version_in(run, variant),
            decision=found.decision,
            is_better=found.decision.winner == "b",
            is_worse=found.decision.winner == "a",
            suite=run.suite,
            at=run.started_at,
        )
    return None


def _judged(runs: Sequence[RunInfo]) -> list[RunInfo]:
    return [run for run in runs if run.rubric is not None and run.status == "complete"]


def _is_comparable(run: RunInfo, other: RunInfo) -> bool:
    rubrics = [one.rubric.fingerprint for one in (run, other) if one.rubric is not None]
    return run.suite == other.suite and rubrics[0] == rubrics[-1]
