"""`judgekit approve`: approves a variant on stored evidence that it is better than another."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgekit import evaluation, report
from judgekit.cli import console
from judgekit.cli.exit_codes import Exit
from judgekit.cli.help import command
from judgekit.cli.options import (
    OutputOptions,
    StoreOptions,
    config_option,
    flag,
    option,
    refuse_others,
)
from judgekit.cli.outputs import show_document
from judgekit.cli.setup import configured_suite
from judgekit.errors import ApprovalRefusedError, SettingsError

if TYPE_CHECKING:
    from judgekit.datasets import Suite


class _ApproveOptions(StoreOptions, OutputOptions):
    baseline: str | None = option("Variant it must be better than.", metavar="OTHER")
    because: str | None = option("Reason, stored with the approval.", metavar="WHY")
    by: str | None = option("Name of the approver (default: your user name).", metavar="WHO")
    alpha: float = option("Significance level of the evidence.", 0.05, gt=0, lt=1)
    scores: bool = flag("Use only the scores of stored runs as evidence.")
    is_list: bool = flag("List approvals, current and stale.", spelling="--list")
    config: Path | None = config_option("Suite file (default judgekit.yaml, if there is one).")


@command("approve", _ApproveOptions)
@click.argument("variant", required=False)
def approve_command(options: _ApproveOptions, *, variant: str | None) -> None:
    """Approve VARIANT if the stored evidence shows that it is better than another variant.

    The evidence is the last blind comparison of the two (judgekit compare), else the scores of both
    in the last stored runs of one suite. The approval records who, why, when, on what evidence and
    which version. If the prompt changes, the approval becomes stale.

    VARIANT and OTHER are named as they were compared: a variant of a suite, a template or a file.

    Exit code 0 if it is approved, 1 if the other variant is better, 4 if the evidence is
    inconclusive.

    Examples:
        judgekit approve v2 --baseline v1 --because "clearer refunds"
        judgekit approve --list
        judgekit approve v2 --baseline v1 --scores --because "as good, half the price"
    """
    # The suite has the current version of each variant, against which approvals become stale.
    suite = configured_suite(options.config)
    if options.is_list:
        refuse_others({"is_list", "config"}, "does not apply to --list", "omit it")
        _list(suite, variant, options)
        return
    baseline, because = options.baseline, options.because
    # Required only here: --list takes none of them, so click cannot require them.
    if variant is None or baseline is None or because is None:
        raise SettingsError(
            "an approval needs VARIANT, --baseline OTHER and --because WHY",
            hint='judgekit approve v2 --baseline v1 --because "fewer wrong answers"',
        )
    with options.open_store() as stored:
        try:
            # Variants of several suites may have one name.
            about = {"variant": variant, "suite": None if suite is None else suite.name}
            evidence = options.fill(evaluation.find_approval_evidence, store=stored, **about)
            # Evidence about an older version of a prompt approves nothing.
            evaluation.check_version_current(evidence, variant, baseline, suite)
            found = evaluation.approve_version(
                stored, evidence, variant, baseline, by=options.by or user_name(), because=because
            )
        except ApprovalRefusedError as refused:
            console.note(f"not approved: {report.message_lines(str(refused))}")
            if options.as_json:
                outcome = {"variant": variant, "baseline": baseline, "standing": "refused"}
                console.print_json({**outcome, "reason": refused.message})
            # As a gate: "worse" and "not enough evidence" need different actions in CI.
            sys.exit(Exit.QUALITY if refused.is_worse else Exit.INCONCLUSIVE)
    decision, ids = evidence.decision, ", ".join(evidence.ids)
    what = "blind comparison" if evidence.kind == "blind" else "scores of"
    p = "" if decision.p is None else f", p {decision.p:.2g}"
    words = (
        f"approved: {report.printable(variant)} is better than {report.printable(baseline)}: "
        f"{decision.reason}{p} ({what} {ids}); its gate: {report.printable(found.gate or 'none')}"
    )
    document = report.Document(
        "Approval",
        report.Conclusion(words, "better"),
        (),
        lambda: report.approval_json(found, "approved"),
    )
    show_document(document, options)
    if not options.as_json:
        console.note(f"stored as {found.id}, approved by {report.printable(found.by)}")


def user_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError) as error:  # a container's user may have no name
        raise SettingsError("the approver has no user name here", hint="give --by NAME") from error


def _list(suite: Suite | None, variant: str | None, options: _ApproveOptions) -> None:
    with options.open_store() as stored:
        approved = stored.approvals(variant)
    found = [(one, evaluation.approval_status(one.version, one.variant, suite)) for one in approved]
    if not found and not options.as_json:
        console.note("nothing is approved")
        return
    document = report.listing_document(
        "Approvals",
        report.format_count(len(found), "approval"),
        report.approvals_table(found),
        data=lambda: [report.approval_json(*one) for one in found],
    )
    show_document(document, options)
