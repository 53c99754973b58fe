"""What `judgekit show` lists without a run: runs, or what is related to a case, an agent, …."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal

from judgekit.cli import console as streams
from judgekit.errors import SettingsError
from judgekit.evaluation.figures.concluding import conclude_result
from judgekit.evaluation.figures.picking import is_wanting
from judgekit.evaluation.run import Run
from judgekit.report import listing_terminal, view
from judgekit.report.run_terminal import run_json
from judgekit.report.show_terminal import answer_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.evaluation.figures.concluding import Concluded
    from judgekit.records.run import CaseResult, RunInfo
    from judgekit.store.relations import JudgmentOf
    from judgekit.store.runs import RunStore

Listing = Literal["runs", "cases", "answers", "judgments"]

_GOES_WITH: dict[Listing, frozenset[str]] = {
    "judgments": frozenset({"criterion", "rubric", "case", "variant"}),
    "answers": frozenset({"agent_run", "case", "variant", "tag", "failed"}),
    "cases": frozenset({"agent", "skill", "prompt_version", "tag", "rubric", "case"}),
    "runs": frozenset({"variant", "rubric"}),
}
_OPTIONS = {"tag": "filter-tag", "prompt_version": "prompt-version", "agent_run": "agent-run"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
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
    def listing(self) -> Listing:
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


def show_related(
    store: RunStore, related: Related, *, figures: bool, limit: int | None, as_json: bool
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
        streams.note("nothing of that is kept here")
    elif n == limit:
        streams.note(f"the first {n:,} are shown; more with -n")


def _list_runs(
    store: RunStore, related: Related, *, figures: bool, limit: int | None, as_json: bool
) -> int:
    runs = _runs(store, related, limit)
    summaries = [Run(run, store).summary() for run in runs] if figures else None
    if as_json:
        found: list[object] = [run.to_json() for run in runs]
        if summaries is not None:
            found = [run_json(one, Run(one.run, store).gate(one)) for one in summaries]
        streams.print_json({"runs": found})
    elif runs:
        listing_terminal.print_runs(streams.stdout(), runs, summaries)
    return len(runs)


def _runs(store: RunStore, related: Related, limit: int | None) -> list[RunInfo]:
    if related.variant is None and related.rubric is None:
        return store.runs(limit=limit)
    found = None if related.rubric is None else store.runs_of_rubric(related.rubric)
    if related.variant is not None:
        having = store.runs_of_variant(related.variant)
        ids = {run.id for run in having} if found is None else {run.id for run in found}
        found = [run for run in having if run.id in ids]
    return list(islice(found or (), limit))


def _list_cases(store: RunStore, related: Related, *, limit: int | None, as_json: bool) -> int:
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
    if as_json:
        shown = [{**case.to_json(), "runs": [run.id for run in of]} for case, of in cases]
        more = {} if version is None else {"runs_with_variant": [run.to_json() for run in runs]}
        streams.print_json({"cases": shown, **more})
        return len(cases)
    if cases:
        listing_terminal.print_cases(streams.stdout(), cases)
    if runs:
        words = f"runs with a variant of prompt version {view.printable(version or '')}"
        streams.stdout().print(words, style="dim", markup=False)
        listing_terminal.print_runs(streams.stdout(), runs[:limit])
    return len(cases) or len(runs)


def _runs_with_version(store: RunStore, version: str) -> list[RunInfo]:
    return [run for run in store.runs() if version in {v.prompt_version for v in run.variants}]


def _list_answers(store: RunStore, related: Related, *, limit: int | None, as_json: bool) -> int:
    answers = list(islice(_answers(store, related), limit))
    if as_json:
        streams.print_json({"answers": [answer_json(answer) for _, answer in answers]})
    elif answers:
        listing_terminal.print_answers(streams.stdout(), answers)
    return len(answers)


def _answers(store: RunStore, related: Related) -> Iterator[tuple[RunInfo, Concluded]]:
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
            if not related.failed or is_wanting(answer):
                yield runs[result.run_id], answer


def _fits(result: CaseResult, related: Related) -> bool:
    return (
        related.case in {None, result.case.id}
        and related.variant in {None, result.variant}
        and (related.tag is None or related.tag in result.case.tags)
    )


def _list_judgments(store: RunStore, related: Related, *, limit: int | None, as_json: bool) -> int:
    judgments = list(islice(_judgments(store, related), limit))
    rubrics = store.rubrics_of_criterion(related.criterion or "")
    if as_json:
        streams.print_json(
            {
                "rubrics": [rubric.to_json() for rubric in rubrics],
                "judgments": [
                    {"run": one.run_id, "key": one.key._asdict(), **one.judgment.to_json()}
                    for one in judgments
                ],
            }
        )
        return len(judgments)
    for rubric in rubrics:
        asked = rubric.criterion(related.criterion or "").question
        words = f"{rubric.name} ({rubric.fingerprint[:12]}): {view.printable(asked)}"
        streams.stdout().print(words, style="dim", markup=False)
    if judgments:
        listing_terminal.print_judgments(streams.stdout(), judgments)
    return len(judgments)


def _judgments(store: RunStore, related: Related) -> Iterator[JudgmentOf]:
    for one in store.judgments_of_criterion(related.criterion or "", rubric=related.rubric):
        if related.case in {None, one.key.case_id} and related.variant in {None, one.key.variant}:
            yield one


def _check(related: Related, listing: Listing, *, figures: bool) -> None:
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
