"""Approves a version of a variant on stored evidence that it is better than its baseline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from judgekit.datasets import Suite, expand_variants, load_suite_rubric, suite_template_folders
from judgekit.errors import (
    ApprovalRefusedError,
    InputError,
    JudgekitError,
    NotComparableError,
    NotEnoughDataError,
)
from judgekit.evaluation.comparability import rubric_changes
from judgekit.evaluation.gate import check_gate, decide_gate
from judgekit.evaluation.run_config import REJUDGMENT_KEY, has_variant, variant_version_in
from judgekit.evaluation.schedule import file_mark, version_mark
from judgekit.evaluation.stored_comparison import (
    compare_stored_scores,
    new_score_comparison,
    summarize_comparison,
)
from judgekit.evaluation.summary import summarize_run
from judgekit.fingerprint import random_token
from judgekit.records import Approval, VariantVersion, config_part, has_own_cases, is_whole_run
from judgekit.targets import TargetPrompt

if TYPE_CHECKING:
    from judgekit.evaluation.comparison_result import BetterSide, ComparisonDecision
    from judgekit.records import (
        ComparedSide,
        ComparisonInfo,
        GateDecision,
        Rubric,
        ScoreComparisonInfo,
    )
    from judgekit.store import RunStore

# What of a comparison's choice leaves cases out; the others are seeds.
_SOME_CASES = ("tags", "limit", "sample")
# `stale`: the version has changed since; `unknown`: its files are not here to be examined.
ApprovalStatus = Literal["approved", "stale", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalEvidence:
    """What is kept of two versions, seen from the one that is to be approved.

    Attributes:
        ids: Of the blind comparison, or of the runs whose scores were compared.
        other: The version of the baseline; None where the evidence does not have it.
        scores: The comparison of those scores, stored with the approval; None for a blind one.
    """

    kind: Literal["blind", "scores"]
    ids: tuple[str, ...]
    rubric: Rubric
    version: VariantVersion | None
    other: VariantVersion | None
    decision: ComparisonDecision
    side: BetterSide  # of the version in the decision
    suite: str | None
    scores: ScoreComparisonInfo | None = None


def find_approval_evidence(
    store: RunStore,
    variant: str,
    baseline: str,
    *,
    alpha: float = 0.05,
    scores: bool = False,
    suite: str | None = None,
) -> ApprovalEvidence:
    """The last evidence that is kept of two versions; earlier ones do not count any more."""
    names = variant, baseline
    blind = None if scores else _blind_evidence(store, names, alpha, suite)
    found = blind or _score_evidence(store, names, alpha, suite)
    # Blind comparisons come first: scores of two runs are also moved by the order of judging.
    if found is not None:
        return found
    raise ApprovalRefusedError(
        f"no comparison of {variant} with {baseline} is kept",
        hint=f"make one: judgekit compare {variant} {baseline}",
    )


def approve_version(
    store: RunStore,
    evidence: ApprovalEvidence,
    variant: str,
    baseline: str,
    *,
    by: str,
    because: str,
) -> Approval:
    """Approve a version, and keep who did and why."""
    _refuse_unproven(evidence, variant, baseline)
    gate = _gate_decision(store, evidence, variant)
    if gate is not None and gate.outcome == "failed":
        raise ApprovalRefusedError(
            f"{variant} fails the gate of its suite in {gate.run_id}{_why(gate)}",
            hint=f"fix it and run it again, or accept the run: judgekit gate accept {gate.run_id} "
            "--because WHY",
            is_worse=True,
        )
    # An approval without a name and a reason is of no use to an audit.
    for what, text in (("who approves", by), ("why", because)):
        if not text.strip():
            raise InputError(f"an approval says {what}")
    ids = evidence.ids
    if evidence.scores is not None:
        store.add_score_comparison(evidence.scores)
        ids = (evidence.scores.id, *ids)
    decision, now = evidence.decision, datetime.now(UTC)
    approval = Approval(
        id=f"apr-{now:%Y%m%dT%H%M%SZ}-{random_token()}",
        at=now,
        variant=variant,
        baseline=baseline,
        version=evidence.version or VariantVersion(fingerprint=""),
        by=by.strip(),
        because=because.strip(),
        suite=evidence.suite,
        kind=evidence.kind,
        evidence=ids,
        rubric=evidence.rubric.name,
        rubric_fingerprint=evidence.rubric.fingerprint,
        alpha=decision.alpha,
        p=decision.p or 0.0,
        shown=decision.reason,
        gate=None if gate is None else f"{gate.outcome}{_why(gate)}",
    )
    store.approve(approval)
    return approval


def _why(gate: GateDecision) -> str:
    # Runs made from Python have a decision without words.
    return f": {gate.reason}" if gate.reason else ""


def _gate_decision(
    store: RunStore, evidence: ApprovalEvidence, variant: str
) -> GateDecision | None:
    """What the gate of the suite decided about the last run of a version that had all its cases."""
    version = evidence.version
    for run in sorted(store.runs_of_variant(variant), key=has_own_cases):
        own = variant_version_in(run, variant)
        if own is None or version is None or own.fingerprint != version.fingerprint:
            continue
        # Another judge than that of the suite says nothing of its gate.
        if not is_whole_run(run) or config_part(run, REJUDGMENT_KEY):
            continue
        if evidence.suite not in {None, run.suite}:
            continue
        known = store.gate_decisions(run.suite).get(run.id)
        if known is not None:
            return known
        summary = summarize_run(store.results(run.id), run)
        return decide_gate(check_gate(summary, store), run, datetime.now(UTC))
    return None


def check_version_current(
    evidence: ApprovalEvidence, variant: str, baseline: str, suite: Suite | None
) -> None:
    """Refuse evidence about older versions, or by another rubric than that of its suite."""
    if evidence.version is None:
        return
    # Of a baseline that was edited, the present version may be the better one.
    for name, version in ((variant, evidence.version), (baseline, evidence.other)):
        if version is not None and approval_status(version, name, suite) == "stale":
            raise ApprovalRefusedError(
                f"{name} has changed since it was compared ({', '.join(evidence.ids)})",
                hint="compare it as it is now",
            )
    is_of_suite = suite is not None and suite.name == evidence.suite
    rubric = load_suite_rubric(suite) if suite is not None and is_of_suite else None
    if rubric and (changes := "; ".join(rubric_changes(evidence.rubric, rubric))):
        raise ApprovalRefusedError(
            f"{', '.join(evidence.ids)} was judged by another rubric than the suite "
            f"{evidence.suite} has now: {changes}",
            hint="compare both by the rubric of the suite",
        )


def approval_status(mark: VariantVersion, variant: str, suite: Suite | None) -> ApprovalStatus:
    try:
        now = _mark_now(mark, variant, suite)
    except JudgekitError:  # what it named is missing or invalid now
        return "stale" if suite is not None else "unknown"
    if now is None:
        return "unknown"
    return "approved" if now else "stale"


def _mark_now(mark: VariantVersion, variant: str, suite: Suite | None) -> bool | None:
    own = () if suite is None else expand_variants(suite)
    for settings in own:
        if suite is not None and settings.id == variant:
            now = version_mark(settings, suite, suite_template_folders(suite))
            return now.fingerprint == mark.fingerprint
    if mark.prompt is not None and Path(mark.prompt).is_file():
        return TargetPrompt(mark.prompt).fingerprint == mark.prompt_fingerprint
    if mark.outputs is not None and Path(mark.outputs).is_file():
        return file_mark(Path(mark.outputs)).fingerprint == mark.fingerprint
    return None


def _refuse_unproven(evidence: ApprovalEvidence, variant: str, baseline: str) -> None:
    ids, decision = ", ".join(evidence.ids), evidence.decision
    p = "" if decision.p is None else f", p {decision.p:.3g}"
    if decision.winner not in {None, evidence.side}:
        raise ApprovalRefusedError(
            f"{variant} is worse than {baseline}: {decision.reason}{p} ({ids})", is_worse=True
        )
    if decision.winner is None:
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


def _blind_evidence(
    store: RunStore, names: tuple[str, str], alpha: float, suite: str | None
) -> ApprovalEvidence | None:
    variant, baseline = names
    for info in store.comparisons(variant=variant):
        sides = _sides(info, variant, baseline)
        if sides is None or (suite is not None and info.suite not in {None, suite}):
            continue
        if info.status in {"running", "interrupted", "stopped"}:
            raise ApprovalRefusedError(
                f"the last comparison of {variant} with {baseline} is not complete: {info.id} "
                f"({info.status})",
                hint=f"resume it: judgekit compare … --resume {info.id}",
            )
        found = summarize_comparison(store, info, alpha=alpha)
        decision, whole = found.decision, found.whole
        own: BetterSide = "a" if sides[0] is info.a else "b"
        # As what is undecided: an output that is an error is compared with none, yet lost.
        n_lost = sum(getattr(pair, own).error is not None for pair in store.compared(info.id))
        n_won = whole.n_pairs * (whole.bounds[0] if own == "a" else 1 - whole.bounds[1])
        if decision.winner == own and 2 * n_won <= whole.n_pairs + n_lost:
            reason = f"{decision.reason}, but {n_lost} more of its outputs are errors"
            decision = replace(decision, winner=None, reason=reason)
        some = [f"{name} {value}" for name, value in info.chosen.items() if name in _SOME_CASES]
        if some:
            reason = f"{decision.reason}, of only some of the cases ({', '.join(some)})"
            decision = replace(decision, reason=reason)
        return ApprovalEvidence(
            kind="blind",
            ids=(info.id,),
            rubric=info.rubric,
            version=sides[0].version,
            other=sides[1].version,
            decision=decision,
            side=own,
            suite=info.suite,
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


def _score_evidence(
    store: RunStore, names: tuple[str, str], alpha: float, suite: str | None
) -> ApprovalEvidence | None:
    """The scores of the last judged runs of both, of one suite and by one rubric."""
    variant, baseline = names
    judged, others = (
        [run for run in store.runs_of_variant(name) if run.status == "complete" and run.rubric]
        for name in names
    )
    judged = [run for run in judged if suite in {None, run.suite}]
    # As for a baseline and a trend: some of the cases are no evidence about a suite.
    # A run of cases of its own, as a window of `watch`, is one only where there is no other.
    own, others = (
        sorted(filter(is_whole_run, runs), key=has_own_cases) for runs in (judged, others)
    )
    if judged and not own:
        raise ApprovalRefusedError(
            f"{judged[0].id} is no evidence: it ran only some of the cases",
            hint=f"run all of them: judgekit run --variant {variant} --variant {baseline}",
        )
    # The last runs are the evidence; an older pair that is comparable must not hide that they are
    # not.
    run = next(iter(own), None)
    if run is None or run.rubric is None:
        return None
    # A run of both is measured the same way by itself.
    both = [run] if has_variant(run, baseline) else []
    other = next((one for one in (*both, *others) if one.suite == run.suite), None)
    if other is None:
        return None
    info = new_score_comparison(
        (other, baseline), (run, variant), alpha=alpha, now=datetime.now(UTC)
    )
    try:
        found = compare_stored_scores(store, info, (baseline, variant)).result
    except NotComparableError as error:
        raise ApprovalRefusedError(error.message, hint=error.hint) from error
    except NotEnoughDataError:
        return None
    return ApprovalEvidence(
        kind="scores",
        ids=tuple(dict.fromkeys((run.id, other.id))),
        rubric=run.rubric,
        version=variant_version_in(run, variant),
        other=variant_version_in(other, baseline),
        decision=found.decision,
        side="b",
        suite=run.suite,
        scores=info,
    )
