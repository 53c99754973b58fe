"""`judgekit findings`: the failures of a suite's runs, followed until they are resolved."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from judgekit import evaluation, exports, records, report
from judgekit.cli import console
from judgekit.cli.approve import user_name
from judgekit.cli.help import HelpGroup, command
from judgekit.cli.options import OutputOptions, StoreOptions, flag, option, refuse_others, takes
from judgekit.cli.outputs import output_option, show_document, show_line, sort_outputs
from judgekit.cli.trend import suite_name
from judgekit.errors import SettingsError
from judgekit.records import FindingSeverity, FindingType
from judgekit.report import numbers


class _FindingsOptions(StoreOptions, OutputOptions):
    suite: str | None = option(
        "Name or file of the suite (default: that of this folder, else of the last run).",
        metavar="SUITE",
    )


class _ListOptions(_FindingsOptions):
    open: bool = flag("Open and recurring findings (default).")
    resolved: bool = flag("Resolved findings.")
    all: bool = flag("All findings.")
    variant: str | None = option("Only of this variant.", metavar="V")
    severity: FindingSeverity | None = option("Only of this severity.")
    type: FindingType | None = option("Only of this type.")
    case_id: str | None = option("Only about this case.", spelling="--case", metavar="ID")
    criterion: str | None = option("Only where this criterion failed.", metavar="C")
    run: str | None = option(
        "What this run opened, continued or resolved, whatever its status is now.", metavar="RUN"
    )
    output: tuple[Path, ...] = output_option("Write the list to FILE: .json, .md or .html.")


@click.group(cls=HelpGroup, invoke_without_command=True)
@takes(_ListOptions)
def findings_command(options: _ListOptions) -> None:
    """List what failed in the runs of a suite, as findings that are followed.

    A finding is a failure of one variant on one case. Later runs continue it, or resolve it when
    the case passes; a run with another judge, template or rubric resolves nothing, and a run of
    some cases only those. A pass rate more than 10 % below that of the comparable run before is a
    critical finding about the whole run. Root causes, resolutions and notes are added by hand.

    Examples:
        judgekit findings
        judgekit findings --all --json
        judgekit findings show f-1d8f453e48
        judgekit findings resolve f-1d8f453e48 --because "fixed in prompt v3"
        judgekit findings export lessons.jsonl
    """
    if (name := click.get_current_context().invoked_subcommand) is not None:
        why = f"stands before {name}, where it applies to the list of findings only"
        refuse_others((), why, f"put it at the end: judgekit findings {name} …", ())
        return
    files = sort_outputs(options.output, what="findings")
    with options.open_store() as store:
        # A run says which suite is meant.
        run = None if options.run is None else store.run(options.run)
        suite = run.suite if run and not options.suite else suite_name(options.suite, store)
        if run is not None and run.suite != suite:
            raise SettingsError(f"{run.id} is a run of {run.suite}, not of {suite}")
        followed = evaluation.SuiteFindings(store, suite)
    every = [*followed.findings.values()]
    known = every if run is None else followed.of_run(run.id)
    shown = [one for one in known if _is_wanted(one, options)]
    show_document(report.findings_document(suite, every, shown), options, files)


def _is_wanted(one: records.Finding, options: _ListOptions) -> bool:
    chosen = options.open or options.resolved
    is_resolved = one.status == "resolved"
    has_status = options.resolved if is_resolved else options.open or not chosen
    # Findings of an earlier run may be resolved by now, and are wanted all the same.
    return (
        (options.all or has_status or (options.run is not None and not chosen))
        and options.variant in {None, one.variant}
        and options.severity in {None, one.severity}
        and options.type in {None, one.type}
        and options.case_id in {None, one.case_id}
        and (options.criterion is None or options.criterion in one.criteria)
    )


class _ShowOptions(_FindingsOptions):
    output: tuple[Path, ...] = output_option("Write the finding to FILE: .json, .md or .html.")


@command("show", _ShowOptions, findings_command)
@click.argument("finding")
def show_finding_command(options: _ShowOptions, *, finding: str) -> None:
    """Show all of a finding: what failed, quotes of it, since when, and what was added by hand.

    Examples:
        judgekit findings show f-1d8f453e48
    """
    files = sort_outputs(options.output, what="a finding")
    with options.open_store() as store:
        found = evaluation.SuiteFindings(store, suite_name(options.suite, store)).find(finding)
    show_document(report.finding_document(found), options, files)


class _ByOptions(_FindingsOptions):
    by: str | None = option("Who adds it (default: your user name).", metavar="WHO")
    note: str | None = option("A note.", metavar="TEXT")
    root_cause: str | None = option("Why it failed.", metavar="TEXT")


class _AnnotateOptions(_ByOptions):
    type: FindingType | None = option("The type, where the rules are wrong.")
    severity: FindingSeverity | None = option("The severity, where the rules are wrong.")


@command("annotate", _AnnotateOptions, findings_command)
@click.argument("finding")
def annotate_finding_command(options: _AnnotateOptions, *, finding: str) -> None:
    """Add a root cause or a note to a finding, or correct its type or severity.

    Examples:
        judgekit findings annotate f-1d8f453e48 --root-cause "the tool timed out"
    """
    fields = {
        name: getattr(options, name)
        for name in ("root_cause", "note", "type", "severity")
        if getattr(options, name) is not None
    }
    if not fields:
        raise SettingsError(
            "there is nothing to add", hint="give --root-cause, --note, --type or --severity"
        )
    _add(options, (finding,), fields)


class _ResolveOptions(_ByOptions):
    because: str | None = option("What was changed.", metavar="TEXT")


@command("resolve", _ResolveOptions, findings_command)
@click.argument("findings", nargs=-1, required=True)
def resolve_finding_command(options: _ResolveOptions, *, findings: tuple[str, ...]) -> None:
    """Resolve findings by hand; one that occurs again is recurring.

    Examples:
        judgekit findings resolve f-1d8f453e48 --because "the prompt is clearer"
    """
    if options.because is None or not options.because.strip():
        raise SettingsError(
            "resolving a finding needs what was changed",
            hint='judgekit findings resolve FINDING --because "the prompt names the period"',
        )
    fields = {"resolution": options.because.strip()}
    fields |= {} if options.note is None else {"note": options.note}
    fields |= {} if options.root_cause is None else {"root_cause": options.root_cause}
    _add(options, findings, fields)


def _add(options: _ByOptions, names: tuple[str, ...], fields: dict[str, str]) -> None:
    by = (options.by or user_name()).strip()
    with options.open_store() as store:
        suite = suite_name(options.suite, store)
        known = evaluation.SuiteFindings(store, suite)
        # All names are looked up before the first note is stored.
        ids = [known.find(name).id for name in names]
        for id_ in ids:
            row = {"finding": id_, "at": datetime.now(UTC), "by": by, **fields}
            store.add_finding_note(suite, records.FindingNote.model_validate(row))
        after = evaluation.SuiteFindings(store, suite)
        documents = [report.finding_document(after.findings[id_]) for id_ in ids]
        if options.as_json and len(documents) > 1:  # two values in a row are no JSON
            console.print_json([report.document_data(document) for document in documents])
            return
        for document in documents:
            show_document(document, options)


@command("export", _FindingsOptions, findings_command)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def export_findings_command(options: _FindingsOptions, *, file: Path) -> None:
    """Write the lessons of resolved and recurring findings to FILE (.jsonl).

    Each line is a memory item: what failed, why, what was changed, and the evidence.

    Examples:
        judgekit findings export lessons.jsonl
    """
    with options.open_store() as store:
        suite = suite_name(options.suite, store)
        n = exports.write_lessons(file, evaluation.SuiteFindings(store, suite).findings.values())
    words = f"wrote {numbers.format_count(n, 'lesson')} to {file}"
    data = {"suite": suite, "n_lessons": n, "file": str(file)}
    show_line(words, data, options, is_note=True)
