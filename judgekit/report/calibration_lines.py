"""The lines of a calibration: what was joined, what confidence is worth, where both part."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from judgekit.report import view
from judgekit.report.calibration_blocks import ALL, ANSWERS, WHOLE, Lines, percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgekit.evaluation.calibrating.choosing import Disagreement
    from judgekit.evaluation.calibrating.leniency import Steadiness
    from judgekit.evaluation.calibrating.report import CalibrationReport, CriterionCalibration
    from judgekit.evaluation.calibrating.trusting import Review

_WHY = 160
_WORST, _FEW = 3, 4


def about(report: CalibrationReport) -> Lines:
    """Who judged, and how labels and judgments came together."""
    joined = report.joined
    rows = [("judge", view.printable(judge)) for judge in report.judges]
    rows += [("from", _origin(report))] if report.origin else []
    labels = [f"{joined.n_joined:,} of {joined.n_labels:,} joined"]
    labels += [f"{joined.n_missing:,} without a score"] if joined.n_missing else []
    labels += [f"{joined.n_left_out:,} of other annotators"] if joined.n_left_out else []
    if joined.n_not_judged:
        labels.append(f"{joined.n_not_judged:,} of outputs nobody judged")
    rows.append(("labels", ", ".join(labels)))
    if joined.not_judged:
        rows.append(("", _named("not judged", joined.not_judged, joined.n_not_judged)))
    kind = "pair" if report.kind == "pairwise" else "output"
    judged = f"{view.count(joined.n_judged, kind)}, {joined.n_not_labelled:,} without a label"
    rows.append(("judged", judged))
    if joined.n_judge_failures:
        words = [f"{view.FAILURE_WORDS.get(k, k)} ({n:,})" for k, n in joined.failures.items()]
        n = view.count(joined.n_judge_failures, "answer")
        rows.append(
            ("failed", f"{n} not usable, left out and not counted as 0: {', '.join(words)}")
        )
    if joined.n_errors:
        rows.append(
            ("errors", f"{view.count(joined.n_errors, kind)} without an output; not judged")
        )
    rows += [("assumed", note) for note in report.notes]
    return Lines("", tuple(rows))


def _origin(report: CalibrationReport) -> str:
    return ", ".join(f"{name} {view.printable(str(v))}" for name, v in report.origin.items())


def _named(what: str, some: Sequence[str], n: int) -> str:
    names = ", ".join(view.printable(name, 40) for name in some)
    return f"{what}: {names}{', …' if n > len(some) else ''}"


def trust(parts: Sequence[CriterionCalibration]) -> Lines:
    """What confidence is worth, what needs no review, what more labels would bring."""
    rows: list[tuple[str, str]] = []
    silent = {part.why_no_trust for part in parts if part.trust is None}
    shared = silent.pop() if len(silent) == 1 and len(parts) > 1 else None
    for part in parts:
        told = trust_lines(part)
        rows += [(part.name, text) for text in told if text != shared]
    if shared:
        names = [part.name for part in parts if part.trust is None]
        who = "everything" if len(names) == len(parts) else ", ".join(names)
        rows.append((who, shared))
    return Lines("Confidence, review and further labels", tuple(_once(rows)))


def trust_lines(part: CriterionCalibration) -> list[str]:
    """What the judge's confidence is worth, what needs no review, what more labels would bring."""
    lines = []
    found = part.trust
    if found is None:
        lines.append(part.why_no_trust or "")
    else:
        before, gap = found.before, found.before.ece
        after = "" if found.after is None else f", {found.after.ece.value:.2f} recalibrated"
        lines.append(
            f"{percent(found.mean_confidence)} sure on average, right {view.rate(found.accuracy)}"
        )
        lines.append(
            f"calibration error {gap.value:.2f}{after}; a perfect confidence would show "
            f"{gap.expected:.2f} by chance (p {gap.p_value:.2g})"
        )
        lines.append(f"tells right from wrong: AUROC {view.number(before.auroc)} (0.5 is chance)")
        lines.append(_review(found.review))
    if part.steadiness is not None:
        lines.append(_asked_again(part.steadiness))
    mapped = part.recalibration
    if mapped is not None:
        lines.append(
            f"off by {mapped.mae_before:.2f} on average; {mapped.mae_after:.2f} after a map "
            f"({mapped.kind}, cross-fitted)"
        )
    if part.budget.n_more:
        points = f"{part.budget.half_width * 100:g} points"
        alone = f", {part.budget.n_needed_alone:,} without the judge"
        lines.append(
            f"a rate within {points} takes {view.count(part.budget.n_more, 'more label')} "
            f"({part.budget.n_needed:,} in all{alone})"
        )
    return lines


def _asked_again(found: Steadiness) -> str:
    same = f"{view.rate(found.all_equal)} of {view.count(found.n_items, 'output')}"
    spread = (
        "" if isnan(found.within_sd) else f"; its answers to one spread by {found.within_sd:.2f}"
    )
    return f"asked again, it gives the same score on {same}{spread}"


def _review(found: Review) -> str:
    limit = f"{found.max_error * 100:g} %"
    if isnan(found.threshold):
        return f"review everything: {found.reason}"
    return (
        f"auto-accept {found.coverage * 100:.0f} % at {limit} error or less: from a confidence of "
        f"{found.threshold:.2f} on {found.error * 100:.1f} % are wrong, at most "
        f"{found.error_high * 100:.1f} % with {(1 - found.delta) * 100:g} % certainty"
    )


def _once(rows: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The name of a part before its first line only."""
    found: list[tuple[str, str]] = []
    last = ""
    for name, text in rows:
        found.append(("" if name == last else name, text))
        last = name
    return found


def stand_in(parts: Sequence[CriterionCalibration]) -> Lines:
    """Whether the judge may stand in for a person, part by part."""
    rows = tuple(
        (part.name, f"{ANSWERS[part.stand_in.answer]}: {part.stand_in.reason}") for part in parts
    )
    return Lines("May it stand in for a person?", rows if len(rows) > 1 else ())


def worst(
    parts: Sequence[CriterionCalibration],
    *,
    full: bool,
    choices: Mapping[float, str] | None = None,
) -> Lines:
    """Where judge and people part most, with the reasons of both."""
    rows: list[tuple[str, str]] = []
    own = [part for part in parts if part.name not in (ALL, WHOLE)] or parts
    most = _WORST if len(own) < _FEW else 1
    for part in own:
        for each in part.disagreements if full else part.disagreements[:most]:
            rows += _told(each, part.name, choices or part.categories, full=full)
    return Lines("Where they part most", tuple(rows))


def _told(
    each: Disagreement, name: str, names: Mapping[float, str], *, full: bool
) -> list[tuple[str, str]]:
    where = view.printable(each.case_id, 40)
    where += f" {view.printable(each.variant, 40)}" if each.variant else ""
    judge, people = (_score(score, names) for score in (each.judge, each.human))
    head = f"{name}: judge {judge}, people {people}"
    rows = [(where, head)]
    limit = None if full else _WHY
    if each.rationale:
        rows.append(("", f"judge: {view.printable(each.rationale, limit)}"))
    for who, reason in list(each.reasons.items())[: None if full else 1]:
        rows.append(("", f"{view.printable(who, 30)}: {view.printable(reason, limit)}"))
    return rows


def _score(score: float, names: Mapping[float, str]) -> str:
    return view.printable(names.get(score) or f"{score:.3g}", 40)


def labels_next(report: CalibrationReport) -> Lines:
    """The items that a label would help most with."""
    rows = []
    for each in report.suggestions:
        where = f"{each.case_id} {each.variant or ''}".strip()
        about = f"{each.criterion}: " if each.criterion else ""
        rows.append((view.printable(where, 40), view.printable(f"{about}{each.why}")))
    title = "Labels that would help most (chosen, so no random subset)"
    return Lines(title, tuple(rows))
