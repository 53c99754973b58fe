"""`judgekit show`: lists stored runs and comparisons, or shows one of them or one of its cases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from judgekit import (  # loaded when used: a listing needs little of them
    evaluation,
    records,
    report,
    store as stores,
)
from judgekit.cli import console
from judgekit.cli.help import command
from judgekit.cli.options import (
    CacheFolderOptions,
    OutputOptions,
    ReplyOptions,
    StoreOptions,
    check_no_rule,
    flag,
    option,
    refuse_others,
    typed_options,
)
from judgekit.cli.outputs import (
    OutputFiles,
    check_replies,
    output_option,
    show_document,
    sort_outputs,
)
from judgekit.errors import SettingsError, UnknownNameError
from judgekit.records import ReconciliationRule
from judgekit.report import message, numbers

if TYPE_CHECKING:
    from judgekit.records import ComparisonInfo, RunInfo

# About a screen.
_MOST_SHOWN = 20
_CHANGE_LENGTH = 120


class _ShowOptions(StoreOptions, CacheFolderOptions, ReplyOptions, OutputOptions):
    variant: str | None = option("Only this variant; without RUN: runs with it.")
    tag: str | None = option("Only cases with this tag.", spelling="--filter-tag", metavar="TAG")
    failed: bool = flag("Only answers that failed or have no verdict.")
    verbose: bool = flag(
        "Show all segments, and long texts in full.", spelling="-v/--verbose/--full"
    )
    history: bool = flag("With CASE: also replaced results.")
    # Off by default: pass rates are derived, so every judgment of every listed run is read.
    figures: bool = flag("Without RUN: include pass rates (slower).")
    # Programs that read JSON want everything, and would not notice a cut list.
    limit: int | None = option("At most N (default 20; JSON: all).", spelling="-n/--limit", ge=1)
    case_id: str | None = option(
        "Without RUN: this case in every run.", spelling="--case", metavar="ID"
    )
    agent: str | None = option(
        "Without RUN: all that is known of the cases of this agent.", metavar="NAME"
    )
    skill: str | None = option("Without RUN: the same of this skill.", metavar="NAME")
    prompt_version: str | None = option(
        "Without RUN: the same of this prompt version, of a case or a variant.", metavar="NAME"
    )
    suite: str | None = option("Without RUN: the same of this suite.", metavar="NAME")
    criterion: str | None = option("Without RUN: judgments of this criterion.", metavar="NAME")
    rubric: str | None = option("Without RUN: runs judged by this rubric.", metavar="NAME")
    agent_run: str | None = option("Without RUN: outputs of this agent run.", metavar="ID")
    comparisons: bool = flag("Without RUN: list the comparisons.")
    configs: bool = flag(
        "Without RUN: list the configurations of each suite and what changed; with RUN and OTHER "
        "(a second run): how theirs differ."
    )
    rule: ReconciliationRule | None = option(
        "For a comparison: apply this rule instead of its own; makes no call."
    )
    output: tuple[Path, ...] = output_option("Write what is shown to FILE: .json, .md or .html.")

    @property
    def files(self) -> OutputFiles:
        return sort_outputs(self.output, what="what is shown")

    @property
    def n_shown(self) -> int | None:
        """The most entries to print; None for all."""
        return self.limit or (None if self.as_json else _MOST_SHOWN)

    @property
    def listing(self) -> ListingKind:
        """What to list without RUN: the most specific thing that the options describe."""
        is_of_cases = bool(self.agent or self.skill or self.prompt_version or self.suite)
        if self.criterion is not None:
            return "judgments"
        if self.agent_run is not None or (self.case_id is not None and not is_of_cases):
            return "answers"
        return "cases" if is_of_cases or self.tag is not None else "runs"


ListingKind = Literal["runs", "cases", "answers", "judgments"]

# Each listing has queries for these options only; another option would be ignored silently.
_GOES_WITH: dict[ListingKind, frozenset[str]] = {
    "judgments": frozenset({"criterion", "rubric", "case_id", "variant"}),
    "answers": frozenset({"agent_run", "case_id", "variant", "tag", "failed"}),
    "cases": frozenset({"agent", "skill", "prompt_version", "suite", "tag", "rubric", "case_id"}),
    "runs": frozenset({"variant", "rubric", "figures"}),
}

_ALWAYS = {"limit", "cache_dir", "with_replies", "rule", "history"}
_WITH_RUN = _ALWAYS | {"variant", "tag", "failed"}


@command("show", _ShowOptions)
@click.argument("run", required=False)
@click.argument("case", required=False)
def show_command(options: _ShowOptions, *, run: str | None, case: str | None) -> None:
    """List runs; show the results of RUN, or everything about one CASE of it.

    RUN is the id of a run, the beginning of an id, latest or latest:SUITE; its findings, and the
    comparisons and approvals that refer to it, are named. With --variant, --filter-tag or --failed,
    the matching answers are listed.

    Without RUN, runs are listed, newest first, or found by variant, rubric or criterion. --agent,
    --skill, --prompt-version, --suite and --filter-tag show all that is known: cases, runs, trends,
    open findings, comparisons and approvals. --case lists the answers and findings of a case.

    RUN can also be the id of a comparison (cmp-…). With CASE, the judgments of that case are shown;
    with --rule, the result by another rule. A comparison of scores is computed again from its runs.

    Examples:
        judgekit show
        judgekit show latest --failed
        judgekit show latest CASE --full
        judgekit show --skill refunds -o refunds.html
    """
    check_replies(options, options.files)
    if options.history and case is None:
        raise SettingsError("--history is for a CASE", hint="judgekit show RUN CASE --history")
    is_part = case or options.variant or options.tag or options.failed
    if options.with_replies and (run is None or is_part):
        raise SettingsError(
            "--with-replies is for the page of a whole run or comparison",
            hint="judgekit show RUN --with-replies -o FILE.html",
        )
    with options.open_store() as store:
        # Ids of comparisons have a prefix of their own, so that one command shows both.
        if options.comparisons or (run and run.startswith(records.COMPARISON_ID_PREFIX)):
            refuse_others({*_ALWAYS, "comparisons"}, "does not apply to comparisons", "omit it")
            _show_comparisons(store, run, case, options)
            return
        if options.configs:
            hint = "omit it, or omit --configs"
            refuse_others({*_ALWAYS, "configs", "suite"}, "does not apply to --configs", hint)
            _show_configs(store, run, case, options)
            return
        # Runs have no pairs to reconcile; ignoring the option would look as if it had no effect.
        check_no_rule(options.rule)
        if run is None:
            _show_listing(store, options)
            return
        # With a run they would have to be filters, which --variant and --filter-tag are.
        hint = "omit RUN; a case of RUN is the second argument: judgekit show RUN CASE"
        refuse_others(_WITH_RUN, "is for the listing without RUN", hint)
        wanted = evaluation.OutcomeFilter(
            variants=() if options.variant is None else (options.variant,),
            case_id=case,
            tag=options.tag,
            failed=options.failed,
        )
        info = store.run(run)
        if wanted.case_id is not None:
            _show_case(store, info, wanted, options)
        elif not wanted.is_all:
            _show_answers(store, info, wanted, options)
        else:
            from judgekit.cli.setup import page_replies  # noqa: PLC0415 - Jinja, not for listings

            has_page = options.files.has_page
            with page_replies(options.cache_dir, is_wanted=options.with_replies) as replies:
                document = report.stored_run_document(
                    store, evaluation.Run(info, store), replies, has_page=has_page
                )
            show_document(document, options, options.files)


def _show_answers(
    store: stores.RunStore, run: RunInfo, wanted: evaluation.OutcomeFilter, options: _ShowOptions
) -> None:
    # One more shows that there are others; to count them, all answers would be read.
    n_shown = options.n_shown
    most = None if n_shown is None else n_shown + 1
    found = list(islice(evaluation.select_outcomes(store, run, wanted), most))
    answers = found[:n_shown]
    if not (answers or options.as_json or options.output):
        console.note(f"run {run.id} has no such answer")
        return
    document = report.listing_document(
        f"Run {run.id}",
        numbers.format_count(len(answers), "answer"),
        report.Entries(tuple(map(report.answer_entry, answers))),
        data=lambda: {
            "run": run.to_json(),
            "answers": [report.answer_json(one) for one in answers],
        },
    )
    show_document(document, options, options.files)
    if len(found) > len(answers) and not options.as_json:
        console.note(_first_shown(len(answers)))


def _first_shown(n: int) -> str:
    return f"the first {n:,} are shown; more with -n"


def _show_case(
    store: stores.RunStore, run: RunInfo, wanted: evaluation.OutcomeFilter, options: _ShowOptions
) -> None:
    # All repeats and variants of one case: few enough to hold, and the case is printed first.
    answers = list(islice(evaluation.select_outcomes(store, run, wanted), options.limit))
    none = f"run {run.id} has no such answer to case {message.printable(str(wanted.case_id))}"
    if not (answers or options.as_json or options.output):
        console.note(none)
        return
    histories = [
        store.history(run.id, one.result.key) if options.history else None for one in answers
    ]

    def data() -> object:
        shown = [report.answer_json(one, of) for one, of in zip(answers, histories, strict=True)]
        return {"run": run.to_json(), "answers": shown}

    if not answers:  # there is no case to show
        show_document(
            report.Document(f"Run {run.id}", report.Conclusion(none), (), data),
            options,
            options.files,
        )
        return
    # Without this line a waiting case would look like one that was never judged.
    n_waiting = sum(item.key.case_id == wanted.case_id for item in store.queue(run.id))
    waiting = numbers.format_count(n_waiting, "question")
    notes = [f"{waiting} for human labelling: judgekit label {run.id}"] if n_waiting else []
    case = answers[0].result.case
    earlier = [of or () for of in histories]
    document = report.case_document(case, answers, earlier=earlier, notes=notes, data=data)
    show_document(document, options, options.files)


def _show_configs(
    store: stores.RunStore, run: str | None, other: str | None, options: _ShowOptions
) -> None:
    rows: list[dict[str, str]] = []
    if run is None:
        latest: dict[str, RunInfo] = {}
        runs = reversed(store.runs(suite=options.suite))
        for key, same in evaluation.config_versions(runs):
            suite, last = same[0].suite, same[-1]
            changes = evaluation.config_changes(latest.get(suite, last), last)
            latest[suite] = last
            changed = ", ".join(at for at, _, _ in changes) or numbers.DASH
            row = {"config": key[:12], "suite": suite, "runs": f"{len(same):,}"}
            rows.append({**row, "last run": last.id, "changed": changed})
        title, words = "Stored configurations", "configuration"
    elif other is None:
        hint = f"judgekit show {run} OTHER --configs; omit RUN to list configurations"
        raise SettingsError("--configs compares RUN with a second run", hint=hint)
    else:
        a, b = store.run(run), store.run(other)
        changes = evaluation.config_changes(a, b)
        # Those of a suite's own file are among the changes already, one by one.
        is_named = any(at.startswith("cases") for at, _, _ in changes)
        if not is_named and (cases := evaluation.case_changes(store, a.id, b.id)):
            changes.append((cases, a.n_cases, b.n_cases))
        for at, then, now in changes:
            rows.append({"setting": at, "then": json.dumps(then), "now": json.dumps(now)})
        title, words = f"Configurations of {run} and {other}", "difference"
    short = [{k: message.printable(v, _CHANGE_LENGTH) for k, v in row.items()} for row in rows]
    count, table = numbers.format_count(len(rows), words), report.listing_table(short)
    document = report.listing_document(title, count, table, data=lambda: rows)
    show_document(document, options, options.files)


def _show_comparisons(
    store: stores.RunStore, name: str | None, case: str | None, options: _ShowOptions
) -> None:
    if name is None:
        check_no_rule(options.rule)
        n = options.n_shown
        blind = store.comparisons(limit=n)
        stored = evaluation.newest_comparisons([*blind, *store.score_comparisons(limit=n)])[:n]
        if not (stored or options.as_json or options.output):
            console.note("no comparison is stored yet: judgekit compare A B")
            return
        document = report.listing_document(
            "Stored comparisons",
            numbers.format_count(len(stored), "comparison"),
            report.comparisons_table(stored),
            data=lambda: [report.comparison_json(info) for info in stored],
        )
        show_document(document, options, options.files)
        return
    info = store.any_comparison(name)
    if not isinstance(info, records.ScoreComparisonInfo):
        info = evaluation.with_rule(info, options.rule)
        if case is not None:
            _show_comparison_case(store, info, case, options)
            return
    elif case is not None or options.rule is not None:
        what = "--rule is" if case is None else "a CASE is"
        raise SettingsError(
            f"{info.id} compares stored scores: {what} for blind comparisons",
            hint=f"show a case of its runs: judgekit show {info.a.run_id} CASE",
        )
    from judgekit.cli.setup import page_replies  # noqa: PLC0415 - Jinja, not for listings

    has_page = options.files.has_page
    with page_replies(options.cache_dir, is_wanted=options.with_replies) as replies:
        document = report.stored_comparison_document(store, info, replies, has_page=has_page)
    show_document(document, options, options.files)


def _show_comparison_case(
    store: stores.RunStore, info: ComparisonInfo, case: str, options: _ShowOptions
) -> None:
    analyses = store.analyses(info.id)
    pairs = [one for one in evaluation.stored_pairs(store, info) if one[0].case.id == case]
    if not pairs:
        # Only here: the list of all cases is read for the suggestion alone.
        known = [pair.case.id for pair in store.compared(info.id)]
        raise UnknownNameError(f"case of {info.id}", case, known)

    def data() -> object:
        rows = [
            {
                "pair": pair.to_json(),
                "comparison": comparison.to_json(),
                "analysis": analyses[pair.place].to_json() if pair.place in analyses else None,
            }
            for pair, comparison in pairs
        ]
        return {"comparison": info.to_json(), "pairs": rows}

    show_document(report.pairs_document(info, pairs, analyses, data=data), options, options.files)


def _show_listing(store: stores.RunStore, options: _ShowOptions) -> None:
    kind = options.listing
    # Alone an option can only belong to a run; beside another one the list is the problem.
    is_alone = not _GOES_WITH[kind] & typed_options().keys()
    needs = "needs a RUN" if is_alone else f"does not apply to a list of {kind}"
    hint = "judgekit show --help lists which options go together"
    refuse_others(_ALWAYS | _GOES_WITH[kind], needs, hint)
    lists = {"runs": _runs, "cases": _cases, "answers": _answers, "judgments": _judgments}
    n, document = lists[kind](store, options)
    # An empty listing is shown only as JSON.
    if options.as_json or document.blocks or options.output:
        show_document(document, options, options.files)
    if n == 0 and not options.as_json:
        console.note("no match in this store")
    # There may be exactly as many; counting the rest would read all of them.
    elif options.n_shown is not None and n >= options.n_shown:
        console.note(_first_shown(options.n_shown))


def _runs(store: stores.RunStore, options: _ShowOptions) -> tuple[int, report.Document]:
    limit = options.n_shown
    if options.variant is None and options.rubric is None:
        runs = store.runs(limit=limit)
    else:
        # Each relation is a query of its own; both together are their intersection.
        found = None if options.rubric is None else store.runs_of_rubric(options.rubric)
        if options.variant is not None:
            having = store.runs_of_variant(options.variant)
            ids = {run.id for run in (having if found is None else found)}
            found = [run for run in having if run.id in ids]
        runs = list(islice(found or (), limit))
    # Stored figures are of this release: the rules may have improved since the run.
    summaries = [evaluation.Run(run, store).summary() for run in runs] if options.figures else None

    def data() -> object:
        if summaries is None:
            return {"runs": [run.to_json() for run in runs]}
        return {
            "runs": [
                report.run_json(one, evaluation.Run(one.run, store).gate(one)) for one in summaries
            ]
        }

    count = numbers.format_count(len(runs), "run")
    return len(runs), report.listing_document(
        "Stored runs", count, report.runs_table(runs, summaries), data=data
    )


def _cases(store: stores.RunStore, options: _ShowOptions) -> tuple[int, report.Document]:
    names = {name: getattr(options, name) for name in _GOES_WITH["cases"]}
    known = evaluation.overview(store, stores.CaseFilter(**names))
    words = {"case_id": "case", "prompt_version": "prompt version"}
    title = ", ".join(
        f"{words.get(name, name)} {message.printable(names[name])}"
        for name in sorted(names)
        if names[name] is not None
    )
    document = report.overview_document(f"What is known of {title}", known, limit=options.n_shown)
    return len(known.cases) or len(known.variant_runs), document


def _answers(store: stores.RunStore, options: _ShowOptions) -> tuple[int, report.Document]:
    answers = list(islice(_matching_answers(store, options), options.n_shown))
    case_id = options.case_id
    found = [] if case_id is None else evaluation.findings_of_case(store, case_id)
    found = [one for one in found if options.variant in {None, one.variant}]
    return len(answers), report.listing_document(
        "Stored answers",
        numbers.format_count(len(answers), "answer"),
        report.answers_table(answers),
        report.findings_table(found, title="findings of this case"),
        data=lambda: {
            "answers": [report.answer_json(answer) for _, answer in answers],
            **({} if case_id is None else {"findings": [one.to_json() for one in found]}),
        },
    )


def _matching_answers(
    store: stores.RunStore, options: _ShowOptions
) -> Iterator[tuple[RunInfo, evaluation.Outcome]]:
    if options.agent_run is None:
        found = store.results_of_case(options.case_id or "")
    else:
        found = store.results_of_agent_run(options.agent_run)
    # Answers of a case come from many runs, which are few compared with the answers.
    runs: dict[str, RunInfo] = {}
    for result in found:
        # A verdict depends on the run's rubric and gate, so each run is read once.
        if result.run_id not in runs:
            runs[result.run_id] = store.run(result.run_id)
        if (
            options.case_id in {None, result.case.id}
            and options.variant in {None, result.variant}
            and (options.tag is None or options.tag in result.case.tags)
        ):
            answer = evaluation.conclude_result(result, runs[result.run_id])
            if not options.failed or evaluation.needs_attention(answer):
                yield runs[result.run_id], answer


def _judgments(store: stores.RunStore, options: _ShowOptions) -> tuple[int, report.Document]:
    criterion = options.criterion or ""
    matching = (
        one
        for one in store.judgments_of_criterion(criterion, rubric=options.rubric)
        if options.case_id in {None, one.key.case_id} and options.variant in {None, one.key.variant}
    )
    judgments = list(islice(matching, options.n_shown))
    # Criteria of one name in several rubrics are different questions; their texts come first.
    rubrics = store.rubrics_of_criterion(criterion)
    questions = (
        f"{rubric.name} ({rubric.fingerprint[:12]}): {rubric.criterion(criterion).question}"
        for rubric in rubrics
    )

    def data() -> object:
        rows = [
            {"run": one.run_id, "key": one.key._asdict(), **one.judgment.to_json()}
            for one in judgments
        ]
        return {"rubrics": [rubric.to_json() for rubric in rubrics], "judgments": rows}

    return len(judgments), report.listing_document(
        "Stored judgments",
        numbers.format_count(len(judgments), "judgment"),
        report.Notes(tuple(questions)),
        report.judgments_table(judgments),
        data=data,
    )
