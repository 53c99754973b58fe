"""`judgekit show`: the runs that are kept, one run's figures, everything about one case."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import click

from judgekit.cli import console as streams
from judgekit.cli.comparing.pair_options import check_no_rule, rule_option
from judgekit.cli.options import json_option, store_option
from judgekit.cli.stored.show_comparisons import show_comparisons
from judgekit.cli.stored.show_related import Related, show_related
from judgekit.errors import SettingsError
from judgekit.evaluation.comparing.keeping import PREFIX
from judgekit.evaluation.figures.picking import Picked, picked
from judgekit.evaluation.run import Run
from judgekit.report import view
from judgekit.report.run_terminal import answer_lines, print_run, run_json
from judgekit.report.show_terminal import answer_json, print_answer, print_case
from judgekit.store.runs import RunStore

if TYPE_CHECKING:
    from judgekit.evaluation.figures.concluding import Concluded
    from judgekit.records.comparison import Rule
    from judgekit.records.run import RunInfo
    from judgekit.store.forgetting import Earlier

_MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class _How:
    """How much is shown, and in which form."""

    as_json: bool
    full: bool
    history: bool
    limit: int | None


@click.command()
@click.argument("run", required=False)
@click.argument("case", required=False)
@click.option("--variant", help="Only this variant; without RUN: runs that have it.")
@click.option("--filter-tag", metavar="TAG", help="Only cases with this tag.")
@click.option("--failed", is_flag=True, help="Only answers that did not pass or have no verdict.")
@click.option("--full", is_flag=True, help="Long texts whole.")
@click.option("--history", is_flag=True, help="With CASE: also what was replaced since.")
@click.option("--figures", is_flag=True, help="Without RUN: pass rates too; reads every answer.")
@click.option("-n", "--limit", type=click.IntRange(1), help="At most N (default 20; JSON: all).")
@click.option("--case", "case_id", metavar="ID", help="Without RUN: a case in every run.")
@click.option("--agent", metavar="NAME", help="Without RUN: cases of this agent, their runs.")
@click.option("--skill", metavar="NAME", help="Without RUN: cases of this skill, their runs.")
@click.option("--prompt-version", metavar="NAME", help="Without RUN: cases of this version.")
@click.option("--criterion", metavar="NAME", help="Without RUN: what judges said of it.")
@click.option("--rubric", metavar="NAME", help="Without RUN: only judged by this rubric.")
@click.option("--agent-run", metavar="ID", help="Without RUN: the outputs of an agent's run.")
@click.option("--comparisons", is_flag=True, help="Without RUN: the blind comparisons.")
@rule_option("Of a comparison: conclude it by this rule instead of its own; nobody is asked.")
@store_option
@json_option
def show(
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
    rule: Rule | None,
    store: str,
    as_json: bool,
) -> None:
    """Show the runs that are kept; of RUN its figures; of RUN and CASE everything."""
    # RUN is a run's id, the beginning of one, `latest` or `latest:SUITE`. Without it runs are
    # listed, newest first, or what the options ask for: they find what is related to a case, an
    # agent, a skill, a prompt version, a criterion, a rubric or an agent's own run. With it,
    # --variant, --filter-tag and --failed list the answers meant.
    # RUN may also be a comparison's id (cmp-…): with CASE, what the judge said of that case; with
    # --rule, what another rule makes of the same answers.
    related = Related(
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
        if comparisons or (run or "").startswith(PREFIX):
            show_comparisons(kept, run, case, rule=rule, limit=limit, as_json=as_json)
            return
        check_no_rule(rule)
        if run is None:
            show_related(kept, related, figures=figures, limit=limit or _most(how), as_json=as_json)
            return
        _check_goes_with_run(related, figures=figures)
        wanted = Picked(
            variants=() if variant is None else (variant,),
            case_id=case,
            tag=filter_tag,
            failed=failed,
        )
        _show_run(kept, kept.run(run), wanted, how)


def _show_run(store: RunStore, run: RunInfo, wanted: Picked, how: _How) -> None:
    if wanted.case_id is not None:
        _show_case(store, run, wanted, how)
    elif not wanted.is_all:
        _show_answers(store, run, wanted, how)
    else:
        held = Run(run, store)
        summary = held.summary()
        gate = held.gate(summary)
        if how.as_json:
            streams.print_json(run_json(summary, gate))
        else:
            print_run(streams.stdout(), summary, gate)


def _show_answers(store: RunStore, run: RunInfo, wanted: Picked, how: _How) -> None:
    """The answers that are meant, a few lines each."""
    answers = picked(store, run, wanted)
    shown = islice(answers, how.limit or _most(how))
    if how.as_json:
        found = [answer_json(answer) for answer in shown]
        streams.print_json({"run": run.to_json(), "answers": found})
        return
    console, n = streams.stdout(), 0
    for n, answer in enumerate(shown, start=1):  # noqa: B007 - counted
        console.print(answer_lines(answer))
    if n == 0:
        streams.note(f"run {run.id} has no such answer")
    n_more = sum(1 for _ in answers)
    if n_more:
        streams.note(f"and {view.count(n_more, 'more answer')}: -n {n + n_more}")


def _show_case(store: RunStore, run: RunInfo, wanted: Picked, how: _How) -> None:
    answers = list(islice(picked(store, run, wanted), how.limit))
    if how.as_json:
        found = [answer_json(one, _earlier(store, run, one, how)) for one in answers]
        streams.print_json({"run": run.to_json(), "answers": found})
        return
    if not answers:
        streams.note(
            f"run {run.id} has no such answer to case {view.printable(str(wanted.case_id))}"
        )
        return
    console = streams.stdout()
    print_case(console, answers[0].result.case, full=how.full)
    for one in answers:
        print_answer(console, one, full=how.full, earlier=_earlier(store, run, one, how) or ())
    n_waiting = sum(item.key.case_id == wanted.case_id for item in store.queue(run.id))
    if n_waiting:
        n = view.count(n_waiting, "question waits", "questions wait")
        console.print(f"\n{n} for a person: judgekit label {run.id}", style="dim", markup=False)


def _earlier(store: RunStore, run: RunInfo, one: Concluded, how: _How) -> list[Earlier] | None:
    return store.history(run.id, one.result.key) if how.history else None


def _most(how: _How) -> int | None:
    return None if how.as_json else _MOST_SHOWN


def _check_goes_with_run(related: Related, *, figures: bool) -> None:
    given = [name for name in related.without_run() if getattr(related, name) is not None]
    if figures:
        given.append("figures")
    if given:
        option = given[0].replace("_", "-")
        raise SettingsError(
            f"--{option} is for the listing without RUN",
            hint="leave out RUN; a case of it is the second argument: judgekit show RUN CASE",
        )
