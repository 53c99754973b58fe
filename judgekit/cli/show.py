"""`judgekit show`: lists stored runs and comparisons.

Shows the figures of one or everything about a case.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Literal

import click

from judgekit.cli import console
from judgekit.cli.help import HelpCommand
from judgekit.cli.options import check_no_rule, json_option, rule_option, store_option
from judgekit.cli.outputs import show_document
from judgekit.errors import SettingsError, UnknownNameError
from judgekit.evaluation import (
    COMPARISON_ID_PREFIX,
    OutcomeFilter,
    Run,
    conclude_result,
    needs_attention,
    select_outcomes,
    stored_pairs,
    summarize_comparison,
    with_rule,
)
from judgekit.report import (
    Entries,
    Notes,
    answer_entry,
    answer_json,
    answers_table,
    case_document,
    cases_table,
    comparison_data,
    comparison_document,
    comparison_setup,
    comparisons_table,
    judgments_table,
    listing_document,
    message,
    numbers,
    pairs_document,
    run_document,
    run_json,
    runs_table,
)
from judgekit.store import RunStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.evaluation import Outcome
    from judgekit.records import CaseResult, ComparisonInfo, ReconciliationRule, RunInfo
    from judgekit.report import Document
    from judgekit.store import StoredJudgment, SupersededObservation

_MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class _How:
    """How much is shown, and in which form."""

    as_json: bool
    full: bool
    history: bool
    limit: int | None


@click.command("show", cls=HelpCommand)
@click.argument("run", required=False)
@click.argument("case", required=False)
@click.option("--variant", help="Only this variant; without RUN: runs with it.")
@click.option("--filter-tag", metavar="TAG", help="Only cases with this tag; may be repeated.")
@click.option("--failed", is_flag=True, help="Only answers that failed or have no verdict.")
@click.option("--full", is_flag=True, help="Do not shorten long texts.")
@click.option("--history", is_flag=True, help="With CASE: also replaced results.")
@click.option("--figures", is_flag=True, help="Without RUN: include pass rates (slower).")
@click.option("-n", "--limit", type=click.IntRange(1), help="At most N (default 20; JSON: all).")
@click.option("--case", "case_id", metavar="ID", help="Without RUN: this case in every run.")
@click.option("--agent", metavar="NAME", help="Without RUN: runs with cases of this agent.")
@click.option("--skill", metavar="NAME", help="Without RUN: runs with cases of this skill.")
@click.option(
    "--prompt-version", metavar="NAME", help="Without RUN: runs with this prompt version."
)
@click.option("--criterion", metavar="NAME", help="Without RUN: judgments of this criterion.")
@click.option("--rubric", metavar="NAME", help="Without RUN: runs judged by this rubric.")
@click.option("--agent-run", metavar="ID", help="Without RUN: outputs of this agent run.")
@click.option("--comparisons", is_flag=True, help="Without RUN: list the blind comparisons.")
@rule_option("For a comparison: apply this rule instead of its own; makes no call.")
@store_option
@json_option
def show_command(
    *,
    run: str | None,
    case: str | None,
    variant: str | None,
    filter_tag: str | None,
    failed: bool,
    full: bool,
    history: bool,
    figures: bool,
    limit: int | None,
    case_id: str | None,
    agent: str | None,
    skill: str | None,
    prompt_version: str | None,
    criterion: str | None,
    rubric: str | None,
    agent_run: str | None,
    comparisons: bool,
    rule: ReconciliationRule | None,
    store: str,
    as_json: bool,
) -> None:
    """List runs; show the results of RUN, or everything about one CASE of it.

    RUN is the id of a run, the beginning of an id, latest or latest:SUITE. Without RUN, runs are
    listed, newest first; the options find runs by case, agent, skill, prompt version, criterion,
    rubric or agent run. With RUN, --variant, --filter-tag and --failed list the matching answers.

    RUN can also be the id of a comparison (cmp-…): with CASE, the judgments of that case; with
    --rule, the result by another rule.

    Examples:
        judgekit show
        judgekit show latest --failed
        judgekit show latest CASE --full
    """
    related = ListingQuery(
        case=case_id,
        variant=variant,
        tag=filter_tag,
        agent=agent,
        skill=skill,
        prompt_version=prompt_version,
        criterion=criterion,
        rubric=rubric,
        agent_run=agent_run,
        failed=failed,
    )
    how = _How(as_json, full, history, limit)
    with closing(RunStore(store, create=False)) as kept:
        if comparisons or (run or "").startswith(COMPARISON_ID_PREFIX):
            show_comparisons(kept, run, case, rule=rule, limit=limit, as_json=as_json)
            return
        check_no_rule(rule)
        if run is None:
            show_listing(kept, related, figures=figures, limit=limit or _most(how), as_json=as_json)
            return
        _check_goes_with_run(related, figures=figures)
        wanted = OutcomeFilter(
            variants=() if variant is None else (variant,),
            case_id=case,
            tag=filter_tag,
            failed=failed,
        )
        _show_run(kept, kept.run(run), wanted, how)


def _show_run(store: RunStore, run: RunInfo, wanted: OutcomeFilter, how: _How) -> None:
    if wanted.case_id is not None:
        _show_case(store, run, wanted, how)
    elif not wanted.is_all:
        _show_answers(store, run, wanted, how)
    else:
        stored = Run(run, store)
        summary = stored.summary()
        show_document(run_document(summary, stored.gate(summary)), {"as_json": how.as_json})


def _show_answers(store: RunStore, run: RunInfo, wanted: OutcomeFilter, how: _How) -> None:
    """The answers that match, a few lines each."""
    matching = select_outcomes(store, run, wanted)
    answers = list(islice(matching, how.limit or _most(how)))
    if not answers and not how.as_json:
        console.note(f"run {run.id} has no such answer")
        return
    document = listing_document(
        f"run {run.id}",
        numbers.format_count(len(answers), "answer"),
        Entries(tuple(map(answer_entry, answers))),
        data=lambda: {"run": run.to_json(), "answers": [answer_json(one) for one in answers]},
    )
    show_document(document, {"as_json": how.as_json})
    n_more = 0 if how.as_json else sum(1 for _ in matching)
    if n_more:
        more = numbers.format_count(n_more, "more answer")
        console.note(f"and {more}: -n {len(answers) + n_more}")


def _show_case(store: RunStore, run: RunInfo, wanted: OutcomeFilter, how: _How) -> None:
    answers = list(islice(select_outcomes(store, run, wanted), how.limit))
    if not answers and not how.as_json:
        console.note(
            f"run {run.id} has no such answer to case {message.printable(str(wanted.case_id))}"
        )
        return
    histories = [_earlier(store, run, one, how) for one in answers]

    def data() -> object:
        shown = [answer_json(one, of) for one, of in zip(answers, histories, strict=True)]
        return {"run": run.to_json(), "answers": shown}

    if how.as_json:  # also where no answer matches, so that there is no case to show
        console.print_json(data())
        return
    n_waiting = sum(item.key.case_id == wanted.case_id for item in store.queue(run.id))
    waiting = numbers.format_count(n_waiting, "question")
    notes = [f"{waiting} for human labelling: judgekit label {run.id}"] if n_waiting else []
    case = answers[0].result.case
    earlier = [of or () for of in histories]
    document = case_document(case, answers, earlier=earlier, notes=notes, data=data)
    show_document(document, {"verbose": how.full})


def _earlier(
    store: RunStore, run: RunInfo, one: Outcome, how: _How
) -> list[SupersededObservation] | None:
    return store.history(run.id, one.result.key) if how.history else None


def _most(how: _How) -> int | None:
    return None if how.as_json else _MOST_SHOWN


def _check_goes_with_run(related: ListingQuery, *, figures: bool) -> None:
    given = [name for name in related.without_run() if getattr(related, name) is not None]
    if figures:
        given.append("figures")
    if given:
        option = given[0].replace("_", "-")
        raise SettingsError(
            f"--{option} is for the listing without RUN",
            hint="leave out RUN; a case of it is the second argument: judgekit show RUN CASE",
        )


_MOST_COMPARISONS = 20


def show_comparisons(
    store: RunStore,
    name: str | None,
    case: str | None,
    *,
    rule: ReconciliationRule | None = None,
    limit: int | None,
    as_json: bool,
) -> None:
    """Show the comparisons that are kept, one of them, or what was said of one of its cases."""
    if name is None:
        check_no_rule(rule)
        _list_comparisons(store, limit=limit, as_json=as_json)
        return
    info = with_rule(store.comparison(name), rule)
    if case is None:
        _show_comparison(store, info, as_json=as_json)
    else:
        _show_comparison_case(store, info, case, as_json=as_json)


def _list_comparisons(store: RunStore, *, limit: int | None, as_json: bool) -> None:
    stored = store.comparisons(limit=limit or (None if as_json else _MOST_COMPARISONS))
    if not stored and not as_json:
        console.note("no comparison is stored yet: judgekit compare A B")
        return
    document = listing_document(
        "Stored comparisons",
        numbers.format_count(len(stored), "comparison"),
        comparisons_table(stored),
        data=lambda: [info.to_json() for info in stored],
    )
    show_document(document, {"as_json": as_json})


def _show_comparison(store: RunStore, info: ComparisonInfo, *, as_json: bool) -> None:
    summary = summarize_comparison(store, info)
    document = comparison_document(summary)
    document = replace(
        document,
        blocks=(*document.blocks, comparison_setup(info)),
        data=lambda: {"comparison": info.to_json(), "summary": comparison_data(summary)},
    )
    show_document(document, {"as_json": as_json, "verbose": True})


def _show_comparison_case(
    store: RunStore, info: ComparisonInfo, case: str, *, as_json: bool
) -> None:
    analyses = store.analyses(info.id)
    pairs = [one for one in stored_pairs(store, info) if one[0].case.id == case]
    if not pairs:
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

    show_document(pairs_document(info, pairs, analyses, data=data), {"as_json": as_json})


ListingKind = Literal["runs", "cases", "answers", "judgments"]

_GOES_WITH: dict[ListingKind, frozenset[str]] = {
    "judgments": frozenset({"criterion", "rubric", "case", "variant"}),
    "answers": frozenset({"agent_run", "case", "variant", "tag", "failed"}),
    "cases": frozenset({"agent", "skill", "prompt_version", "tag", "rubric", "case"}),
    "runs": frozenset({"variant", "rubric"}),
}

_OPTIONS = {"tag": "filter-tag", "prompt_version": "prompt-version", "agent_run": "agent-run"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingQuery:
    """What is looked for; all of it must hold."""

    case: str | None = None
    """Id of a case."""

    variant: str | None = None
    """Id of a variant."""

    tag: str | None = None
    """Tag of a case."""

    agent: str | None = None
    """Agent of a case."""

    skill: str | None = None
    """Skill of a case."""

    prompt_version: str | None = None
    """Version of the prompt, of a case or of a variant."""

    criterion: str | None = None
    """Name of a criterion."""

    rubric: str | None = None
    """Name or fingerprint of a rubric."""

    agent_run: str | None = None
    """The agent's own run, of an output."""

    failed: bool = False
    """Only answers that did not pass."""

    @property
    def listing(self) -> ListingKind:
        """What has to be listed."""
        if self.criterion is not None:
            return "judgments"
        if self.agent_run is not None or (self.case is not None and not self._of_cases()):
            return "answers"
        return "cases" if self._of_cases() or self.tag is not None else "runs"

    def without_run(self) -> tuple[str, ...]:
        """The wishes that have no meaning beside a run."""
        return ("case", "agent", "skill", "prompt_version", "criterion", "rubric", "agent_run")

    def _of_cases(self) -> bool:
        return any(wish is not None for wish in (self.agent, self.skill, self.prompt_version))


def show_listing(
    store: RunStore, related: ListingQuery, *, figures: bool, limit: int | None, as_json: bool
) -> None:
    """List runs, or what is related to something."""
    listing = related.listing
    _check(related, listing, figures=figures)
    if listing == "runs":
        n = _list_runs(store, related, figures=figures, limit=limit, as_json=as_json)
    elif listing == "cases":
        n = _list_cases(store, related, limit=limit, as_json=as_json)
    elif listing == "answers":
        n = _list_answers(store, related, limit=limit, as_json=as_json)
    else:
        n = _list_judgments(store, related, limit=limit, as_json=as_json)
    if n == 0 and not as_json:
        console.note("nothing of that is kept here")
    elif n == limit:
        console.note(f"the first {n:,} are shown; more with -n")


def _list_runs(
    store: RunStore, related: ListingQuery, *, figures: bool, limit: int | None, as_json: bool
) -> int:
    runs = _runs(store, related, limit)
    summaries = [Run(run, store).summary() for run in runs] if figures else None

    def data() -> object:
        if summaries is None:
            return {"runs": [run.to_json() for run in runs]}
        return {"runs": [run_json(one, Run(one.run, store).gate(one)) for one in summaries]}

    count = numbers.format_count(len(runs), "run")
    table = runs_table(runs, summaries)
    _show_listing(listing_document("Stored runs", count, table, data=data), as_json=as_json)
    return len(runs)


def _show_listing(document: Document, *, as_json: bool) -> None:
    """Show a listing; an empty one only as JSON, as the caller notes it on stderr."""
    if as_json or document.blocks:
        show_document(document, {"as_json": as_json})


def _runs(store: RunStore, related: ListingQuery, limit: int | None) -> list[RunInfo]:
    if related.variant is None and related.rubric is None:
        return store.runs(limit=limit)
    found = None if related.rubric is None else store.runs_of_rubric(related.rubric)
    if related.variant is not None:
        having = store.runs_of_variant(related.variant)
        ids = {run.id for run in having} if found is None else {run.id for run in found}
        found = [run for run in having if run.id in ids]
    return list(islice(found or (), limit))


def _list_cases(store: RunStore, related: ListingQuery, *, limit: int | None, as_json: bool) -> int:
    found = store.cases_of(
        case_id=related.case,
        agent=related.agent,
        skill=related.skill,
        prompt_version=related.prompt_version,
        tag=related.tag,
        rubric=related.rubric,
    )
    cases = [(case, store.runs_of_case(case.id)) for case in islice(found, limit)]
    version = related.prompt_version
    runs = [] if version is None else _runs_with_version(store, version)

    def data() -> object:
        rows = [{**case.to_json(), "runs": [run.id for run in of]} for case, of in cases]
        more = {} if version is None else {"runs_with_variant": [run.to_json() for run in runs]}
        return {"cases": rows, **more}

    title = f"runs with a variant of prompt version {message.printable(version or '')}"
    count = numbers.format_count(len(cases), "case")
    tables = (cases_table(cases), runs_table(runs[:limit], title=title))
    _show_listing(listing_document("Stored cases", count, *tables, data=data), as_json=as_json)
    return len(cases) or len(runs)


def _runs_with_version(store: RunStore, version: str) -> list[RunInfo]:
    return [run for run in store.runs() if version in {v.prompt_version for v in run.variants}]


def _list_answers(
    store: RunStore, related: ListingQuery, *, limit: int | None, as_json: bool
) -> int:
    answers = list(islice(_answers(store, related), limit))
    document = listing_document(
        "Stored answers",
        numbers.format_count(len(answers), "answer"),
        answers_table(answers),
        data=lambda: {"answers": [answer_json(answer) for _, answer in answers]},
    )
    _show_listing(document, as_json=as_json)
    return len(answers)


def _answers(store: RunStore, related: ListingQuery) -> Iterator[tuple[RunInfo, Outcome]]:
    found = (
        store.results_of_case(related.case or "")
        if related.agent_run is None
        else store.results_of_agent_run(related.agent_run)
    )
    runs: dict[str, RunInfo] = {}
    for result in found:
        if result.run_id not in runs:
            runs[result.run_id] = store.run(result.run_id)
        if _fits(result, related):
            answer = conclude_result(result, runs[result.run_id])
            if not related.failed or needs_attention(answer):
                yield runs[result.run_id], answer


def _fits(result: CaseResult, related: ListingQuery) -> bool:
    return (
        related.case in {None, result.case.id}
        and related.variant in {None, result.variant}
        and (related.tag is None or related.tag in result.case.tags)
    )


def _list_judgments(
    store: RunStore, related: ListingQuery, *, limit: int | None, as_json: bool
) -> int:
    judgments = list(islice(_judgments(store, related), limit))
    rubrics = store.rubrics_of_criterion(related.criterion or "")
    questions = (
        f"{rubric.name} ({rubric.fingerprint[:12]}): "
        f"{rubric.criterion(related.criterion or '').question}"
        for rubric in rubrics
    )

    def data() -> object:
        rows = [
            {"run": one.run_id, "key": one.key._asdict(), **one.judgment.to_json()}
            for one in judgments
        ]
        return {"rubrics": [rubric.to_json() for rubric in rubrics], "judgments": rows}

    document = listing_document(
        "Stored judgments",
        numbers.format_count(len(judgments), "judgment"),
        Notes(tuple(questions)),
        judgments_table(judgments),
        data=data,
    )
    _show_listing(document, as_json=as_json)
    return len(judgments)


def _judgments(store: RunStore, related: ListingQuery) -> Iterator[StoredJudgment]:
    for one in store.judgments_of_criterion(related.criterion or "", rubric=related.rubric):
        if related.case in {None, one.key.case_id} and related.variant in {None, one.key.variant}:
            yield one


def _check(related: ListingQuery, listing: ListingKind, *, figures: bool) -> None:
    given = [name for name, wish in asdict(related).items() if wish not in {None, False}]
    strange = [name for name in given if name not in _GOES_WITH[listing]]
    if figures and listing != "runs":
        strange.append("figures")
    if strange:
        option = _OPTIONS.get(strange[0], strange[0])
        needs = (
            "needs a RUN"
            if not given or given == strange
            else f"does not go with a list of {listing}"
        )
        raise SettingsError(f"--{option} {needs}", hint="judgekit show --help says what finds what")
