"""Opens the judges of a suite, and finds their calibration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, repeat
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.datasets import DEFAULT_CACHE_FOLDER, Suite, find_calibrations, naming_place
from judgekit.judge import (
    AnswerKey,
    Judge,
    JudgePanel,
    PendingGrading,
    implied_rubric,
    judge_by_assertions,
    open_judge,
)
from judgekit.records import (
    HEURISTIC,
    HUMAN_JUDGE,
    UNCALIBRATED,
    AssertionResult,
    CalibratedJudge,
    CalibratedPanel,
    Calibration,
    CalibrationInUse,
    Case,
    Criterion,
    HumanItem,
    ItemKey,
    JsonObject,
    JudgeFailure,
    Judgment,
    Output,
    Rubric,
    RunPanel,
)
from judgekit.scoring import calibration_in_use, is_sure_of, panel_configuration

if TYPE_CHECKING:
    from judgekit.models import Budget, Connection, PriceTable, Refresh
    from judgekit.models.cache import CacheLocation, ReplyCache

    JudgeAnswer = Judgment | JudgeFailure


class SuiteJudges(JudgePanel):
    """The judges of a suite: models, assertions and a reviewer."""

    def __init__(
        self, judges: Sequence[Judge], panel: RunPanel, assertions: Sequence[JsonObject] = ()
    ) -> None:
        super().__init__(judges, panel)
        self.assertions = assertions
        self.case_templates: dict[str, str] = {}
        """The templates that only rubrics of cases name, by name; known once all were checked."""

    @property
    def connections(self) -> list[Connection]:
        return [judge.connection for judge in self.judges]

    @property
    def implied_rubric(self) -> Rubric | None:
        """The rubric that assertions make up, where they are the judge."""
        # Without assertions of the suite, those of each case decide it, as without a judge.
        is_judge = HEURISTIC in self.panel.judges and self.assertions
        return implied_rubric(self.assertions) if is_judge else None

    @property
    def asks_nobody(self) -> bool:
        """Whether assertions alone judge: no model and no reviewer."""
        return not self.judges and HUMAN_JUDGE not in self.panel.judges

    def check(self, rubric: Rubric, *, is_of_case: bool = False) -> None:
        """Refuse a rubric that one of the models cannot be asked about."""
        for judge in self.judges:
            part = self.panel.rubric_of(judge.id, rubric)
            judge.grader.check(part)
            used = judging_of_judge(judge, part).templates.values() if is_of_case else ()
            self.case_templates |= {template.partition("@")[0]: template for template in used}

    def by_rule(
        self,
        case: Case,
        output: Output,
        rubric: Rubric,
        *,
        judge_answers: Sequence[JudgeAnswer],
        checks: Sequence[AssertionResult],
    ) -> tuple[JudgeAnswer, ...]:
        """The judgments of the assertions, where they are a judge, that are not known yet."""
        if HEURISTIC not in self.panel.judges:
            return ()
        found = judge_by_assertions(
            rubric,
            self.assertions,
            checks[: len(self.assertions)],
            case_id=case.id,
            variant=output.variant,
        )
        if not judge_answers:
            return found
        answered = {one.criterion for one in judge_answers if one.judge == HEURISTIC}
        return tuple(one for one in found if one.criterion not in answered)

    def begin(
        self, answers: Sequence[tuple[Case, Output, Rubric]]
    ) -> Iterator[tuple[PendingGrading, ...]]:
        """Grade outputs from the cache as far as that goes; one grading per model and output."""
        # A cascade asks a later judge only if the ones before it were unsure: one by one.
        if not self.judges or self.panel.combine == "cascade":
            yield from repeat((), len(answers))
            return
        # One query per judge for all outputs: a query per output takes twice the time.
        for rubric, group in groupby(answers, key=itemgetter(2)):
            pairs = [(case, output) for case, output, _ in group]
            begun = (
                judge.begin(pairs, self.panel.rubric_of(judge.id, rubric)) for judge in self.judges
            )
            yield from zip(*begun, strict=True)

    def is_content(
        self, case: Case, output: Output, rubric: Rubric, judge_answers: Sequence[JudgeAnswer]
    ) -> bool:
        """Whether it is sure that nobody will be asked anything more about an answer."""
        if self.asks_nobody:
            return True
        # A reviewer answers later, and a cascade decides after each answer whether another judge is
        # needed.
        if HUMAN_JUDGE in self.panel.judges or self.panel.combine == "cascade":
            return False
        return not self.unanswered(case, output, rubric, judge_answers)

    def human_questions(
        self,
        run_id: str,
        key: ItemKey,
        rubric: Rubric,
        judge_answers: Sequence[JudgeAnswer],
        *,
        at: datetime,
    ) -> list[HumanItem]:
        """The criteria of an answer that a reviewer is to judge."""
        if HUMAN_JUDGE not in self.panel.judges:
            return []
        # A resumed run must not queue a question that a reviewer has answered.
        judged = {one.criterion for one in judge_answers if _is_human(one)}
        return [
            HumanItem(
                run_id=run_id, key=key, criterion=criterion.name, judge=HUMAN_JUDGE, asked_at=at
            )
            for criterion in self.panel.rubric_of(HUMAN_JUDGE, rubric).criteria
            if criterion.name not in judged and self._needs_human(criterion, judge_answers)
        ]

    def unanswered(
        self, case: Case, output: Output, rubric: Rubric, judge_answers: Sequence[JudgeAnswer]
    ) -> list[tuple[str, AnswerKey]]:
        """Which questions no model has answered yet, by judge."""
        answered = {(one.judge, (one.criterion, one.repeat, one.turn)) for one in judge_answers}
        missing = [
            (judge.id, key)
            for judge in self.judges
            for key in judge.grader.wanted(case, output, self.panel.rubric_of(judge.id, rubric))
            if (judge.id, key) not in answered
        ]
        if self.panel.combine != "cascade":
            return missing
        # Of a cascade only the first judge is sure to be asked; judges with a name are no part.
        named = self.panel.named.values()
        first = next((judge for judge, _ in missing if judge not in named), None)
        return [one for one in missing if one[0] == first or one[0] in named]

    async def aclose(self) -> None:
        """Close the models' connections of the running event loop, and what they opened."""
        # Connections belong to the event loop and are closed in it; caches and files afterwards.
        await super().aclose()
        self.close()

    def _needs_human(self, criterion: Criterion, judge_answers: Sequence[JudgeAnswer]) -> bool:
        is_alone = criterion.judge in self.panel.named
        if is_alone or self.panel.combine != "cascade" or not self.judges:
            return True
        name = criterion.name
        own = [one for one in judge_answers if one.criterion == name and not _is_human(one)]
        for judge in reversed(self.panel.judges):
            last = [one for one in own if one.judge == judge]
            if last:
                return not is_sure_of(name, last, self.panel)
        return True


def open_suite_judges(
    suite: Suite,
    *,
    cache: ReplyCache | None,
    execution: ExecutionOptions,
    prices: PriceTable,
    budget: Budget | None,
) -> SuiteJudges:
    ids: list[str] = []
    weights: dict[str, float] = {}
    named: dict[str, str] = {}
    models = []
    for place, settings in enumerate(suite.judge):
        if settings.kind == "llm":
            one = (place,) if len(suite.judge) > 1 else ()
            with naming_place(suite, "judge", *one, "template" if settings.template else "model"):
                judge = open_judge(
                    settings,
                    suite,
                    cache=cache,
                    template_folders=execution.template_folders,
                    frozen=execution.frozen,
                    refresh=execution.refresh,
                    prices=prices,
                    budget=budget,
                )
            models.append(judge)
            name = judge.id
        else:
            name = HUMAN_JUDGE if settings.kind == "human" else HEURISTIC
        ids.append(name)
        weights[name] = settings.weight
        if settings.name is not None:
            named[settings.name] = name
    rule = suite.panel
    panel = RunPanel(
        judges=tuple(ids),
        combine="mean" if rule is None else rule.combine,
        weights=weights if rule is not None and rule.combine == "weighted" else {},
        escalate_below=None if rule is None else rule.escalate_below,
        named=named,
    )
    return SuiteJudges(models, panel, suite.assertions)


def _is_human(one: JudgeAnswer) -> bool:
    return isinstance(one, Judgment) and one.source == "human"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionOptions:
    """How a run asks; does not belong to what it is."""

    # Folder or address of the reply cache, a cache, or None for none
    cache: CacheLocation | ReplyCache | None = Path(DEFAULT_CACHE_FOLDER)
    template_folders: tuple[Path, ...] = ()
    frozen: bool = False
    # Whether cached replies are fetched again; `unreadable`: only those that cannot be parsed
    refresh: Refresh = False
    max_cost_usd: float | None = None
    # Whether programs that the suite names may be run beside its variants
    allow_scripts: bool = False
    # The share of the automated verdicts that a reviewer is asked about too
    review: float = 0.0


def refresh_mode(*, refresh: bool, retry_errors: bool, frozen: bool) -> Refresh:
    return refresh or ("unreadable" if retry_errors and not frozen else False)


def judging_of_judge(judge: Judge, rubric: Rubric | None = None) -> CalibratedPanel:
    return judge.grader.configuration if rubric is None else judge.grader.configuration_for(rubric)


def judging_of_suite(
    suite_judges: SuiteJudges, rubric: Rubric | None = None
) -> CalibratedPanel | None:
    panel = suite_judges.panel
    by_judge = {
        judge.id: judging_of_judge(judge, rubric and panel.rubric_of(judge.id, rubric))
        for judge in suite_judges.judges
    }
    known = {name: one.judges[0] for name, one in by_judge.items()}
    judges = [known.get(name) or CalibratedJudge(judge=name) for name in panel.judges]
    own = {name: one for each in by_judge.values() for name, one in each.templates.items()}
    found = panel_configuration(judges, panel)
    return found and found.model_copy(update={"templates": suite_judges.case_templates | own})


_ORDER = ("calibrated", "partial", "stale", "uncalibrated")


def check_calibration(calibration: Calibration, rubric: Rubric, judge: Judge) -> CalibrationInUse:
    """Whether a calibration holds for a rubric and a judge as they are now.

    Args:
        calibration: The maps, from `load_calibration` or `CalibrationReport.maps`.
        rubric: How outputs are judged.
        judge: Who judges.

    Returns:
        The state, in words that name what was changed; `apply_calibration` takes it.

    Example:
        >>> import judgekit as jk
        >>> def graded(judge: jk.Judge, case: jk.Case, output: jk.Output, rubric: jk.Rubric):
        ...     use = jk.check_calibration(jk.load_calibration("maps.json"), rubric, judge)
        ...     return jk.apply_calibration(judge.grade_sync(case, output, rubric), rubric, use)
    """
    return calibration_in_use(calibration, rubric, judging_of_judge(judge, rubric))


def resolve_calibration(
    path: Path | str | None, rubric: Rubric | None, asked: CalibratedPanel | None
) -> CalibrationInUse:
    """Whether judgments will be calibrated, and by which maps."""
    if path is None:
        return UNCALIBRATED
    found = find_calibrations(path)
    if rubric is None or asked is None:
        words = "uncalibrated: no judge uses a rubric, so no map applies"
        return CalibrationInUse(state="uncalibrated", words=words)
    uses = [calibration_in_use(one, rubric, asked, path=str(file)) for file, one in found]
    # A folder may hold maps of many judges: the best match applies, and of several stale ones the
    # nearest.
    return min(uses, key=lambda use: (_ORDER.index(use.state), use.words.count(";")))
