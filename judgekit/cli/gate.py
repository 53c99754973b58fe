"""`judgekit gate`: decides whether a stored run is good enough, and accepts runs as baselines."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import click

from judgekit import evaluation, records, report, store as stores
from judgekit.cli.approve import user_name
from judgekit.cli.exit_codes import Exit
from judgekit.cli.help import command
from judgekit.cli.options import (
    OutputOptions,
    StoreOptions,
    baseline_option,
    max_drop_option,
    option,
    refuse_others,
)
from judgekit.cli.outputs import show_document, show_line
from judgekit.errors import SettingsError
from judgekit.records import GateRule, Tier

_ACCEPT = "accept"


class _GateOptions(StoreOptions, OutputOptions):
    baseline: str | None = baseline_option()
    max_drop: float | None = max_drop_option()
    tier: Tier | None = option(
        "Lowest overall value: production 0.8, development 0.7, experimental 0.6."
    )
    alpha: float | None = option(
        "Significance level of a drop in pass rate (default 0.05).", gt=0, lt=1
    )
    gate_rule: GateRule | None = option(
        "interval (default): the confidence interval decides; point: the measured value alone."
    )
    min_required: float | None = option(
        "Least mean value of each required criterion.", ge=0, le=1, metavar="VALUE"
    )
    min_coverage: float | None = option(
        "Least share of answers that must have a verdict; with fewer the gate is inconclusive.",
        ge=0,
        le=1,
        metavar="SHARE",
    )
    because: str | None = option("With accept: the reason.", metavar="WHY")
    by: str | None = option("With accept: who accepts it (default: your user name).", metavar="WHO")


@command("gate", _GateOptions)
@click.argument("run", required=False)
@click.argument("accepted", required=False, metavar="")
def gate_command(options: _GateOptions, *, run: str | None, accepted: str | None) -> None:
    """Decide whether RUN (default: the last one) passes its gate; no judge is called.

    The gate is that of the run's suite, with the options given here. The pass rate is compared with
    that of an earlier run measured the same way (judge, criteria, assertions, cases), and with the
    best one. A run that covers only some of the cases, was interrupted or failed its gate is never
    a baseline.

    judgekit gate accept RUN --because WHY makes RUN a baseline although it failed its gate or is
    not comparable with the runs before.

    Exit code 0 if the gate passes, 1 if it fails, 4 if it is inconclusive or the runs are not
    comparable.

    Examples:
        judgekit gate
        judgekit gate --baseline best --max-drop 0.05
        judgekit gate accept latest --because "the new cases are harder"
    """
    with options.open_store() as store:
        if run == _ACCEPT:
            _accept(store, accepted or "latest", options)
            return
        if accepted is not None or options.because or options.by:
            surplus = "--because or --by" if accepted is None else repr(accepted)
            raise SettingsError(
                f"unexpected argument {surplus}", hint="judgekit gate [RUN], or gate accept RUN"
            )
        sys.exit(_decide(store, store.run(run or "latest"), options))


def _decide(store: stores.RunStore, info: records.RunInfo, options: _GateOptions) -> int:
    names = ("baseline", "max_drop", "tier", "alpha", "min_required", "min_coverage")
    changes = {name: value for name in names if (value := getattr(options, name)) is not None}
    if options.gate_rule is not None:
        changes["rule"] = options.gate_rule
    if options.tier is not None:  # in place of the suite's threshold
        changes["threshold"] = None
    gate = evaluation.gate_of_run(info).model_copy(update=changes)
    evaluation.check_baseline(gate, store)
    summary = evaluation.Run(info, store).summary()
    result = evaluation.check_gate(summary, store, gate)
    if result is None:
        raise SettingsError(
            f"{info.id} has no gate: its suite sets none",
            hint="give --max-drop POINTS or --tier TIER, or set `gate:` in the suite",
        )
    show_document(report.gate_document(summary, result), options)
    return {"passed": 0, "failed": Exit.QUALITY, "inconclusive": Exit.INCONCLUSIVE}[result.held]


def _accept(store: stores.RunStore, name: str, options: _GateOptions) -> None:
    if options.because is None or not options.because.strip():
        raise SettingsError(
            "accepting a run needs a reason",
            hint='judgekit gate accept RUN --because "the new cases are harder"',
        )
    why = "is for deciding, and accepting a run decides nothing"
    refuse_others({"because", "by"}, why, "omit it")
    info = store.run(name)
    if info.status not in records.FINISHED_STATUSES:
        raise SettingsError(
            f"{info.id} is no baseline: it did not finish ({info.status})",
            hint=f"resume it: judgekit run --resume {info.id}",
        )
    summary = evaluation.Run(info, store).summary()
    if not any(variant.n_passed + variant.n_failed for variant in summary.variants):
        raise SettingsError(
            f"{info.id} is no baseline: no answer has a verdict",
            hint=f"repeat what failed: judgekit run --resume {info.id} --retry-errors",
        )
    by = options.by or user_name()
    decision = records.GateDecision(
        run_id=info.id,
        at=datetime.now(UTC),
        outcome="accepted",
        reason=options.because.strip(),
        by=by.strip(),
    )
    store.record_gate(decision)
    words = f"{info.id} is accepted as a baseline by {report.printable(by)}"
    show_line(words, decision.model_dump(mode="json"), options, is_note=True)
