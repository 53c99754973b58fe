"""Opens the judges of a suite, finds their calibration, and sums up what their replies cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, repeat
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from judgekit.assertions import JUDGED_CHOICE, full_name
from judgekit.datasets import DEFAULT_CACHE_FOLDER, Gate, Suite, find_calibrations, naming_place
from judgekit.errors import SettingsError
from judgekit.judge import (
    HEURISTIC,
    AnswerKey,
    Judge,
    JudgePanel,
    PendingGrading,
    implied_rubric,
    is_sure_of,
    judge_by_assertions,
    open_judge,
    panel_configuration,
    portable_judge_name,
)
from judgekit.records import (
    UNCALIBRATED,
    AssertionResult,
    CalibratedJudge,
    CalibratedPanel,
    Calibration,
    CalibrationInUse,
    Case,
    Criterion,
    CriterionNeed,
    HumanItem,
    ItemKey,
    JsonObject,
    JudgeFailure,
    Judgment,
    Output,
    PairAnswer,
    Preference,
    PreferenceFailure,
    Rubric,
    RunInfo,
    RunPanel,
    config_part,
    config_rows,
)
from judgekit.scoring import calibration_in_use

if TYPE_CHECKING:
    from judgekit.models import Budget, Connection, PriceTable, Refresh
    from judgekit.models.cache import CacheLocation, ReplyCache

AnswerT = TypeVar("AnswerT", bound="Judgment | JudgeFailure | PairAnswer")


@dataclass(frozen=True, slots=True)
class JudgeUsage:
    """What was asked and what it cost.

    Attributes:
        n_replies: Replies that were used, cached ones included.
        saved_usd: What the cached replies cost when they were fetched, as far as known.
        cost_unknown: Whether some of what was paid now has no known price.
        input_tokens: Tokens sent for replies paid now.
    """

    n_replies: int = 0
    n_cached: int = 0
    cost_usd: float = 0.0
    saved_usd: float = 0.0
    cost_unknown: bool = False
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: JudgeUsage) -> JudgeUsage:
        return JudgeUsage(
            n_replies=self.n_replies + other.n_replies,
            n_cached=self.n_cached + other.n_cached,
            cost_usd=self.cost_usd + other.cost_usd,
            saved_usd=self.saved_usd + other.saved_usd,
            cost_unknown=self.cost_unknown or other.cost_unknown,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


def one_per_reply(answers: Iterable[AnswerT]) -> list[AnswerT]:
    """One judgment, preference or failure for each reply of a judge."""
    # In joint mode the answers to all criteria share one reply: its calls count once.
    return list({_reply_id(one, place): one for place, one in enumerate(answers)}.values())


def judge_usage(answers: Sequence[Judgment | JudgeFailure | PairAnswer]) -> JudgeUsage:
    """What answers took; questions that share a reply (joint mode) share its cost already."""
    replies = one_per_reply(answers)
    paid = [item for item in answers if not item.cached and item.n_calls]
    return JudgeUsage(
        n_replies=sum(item.n_calls for item in replies),
        n_cached=sum(item.n_calls for item in replies if item.cached),
        cost_usd=sum(item.cost_usd or 0.0 for item in paid),
        saved_usd=sum(item.price_usd or 0.0 for item in answers if item.cached),
        cost_unknown=any(item.cost_usd is None for item in paid),
        input_tokens=sum(item.usage.input_tokens for item in paid if item.usage),
        output_tokens=sum(item.usage.output_tokens for item in paid if item.usage),
    )


class JudgeTally:
    """Who answered, what failed, and what that cost."""

    def __init__(self) -> None:
        # Dicts, since the order of first appearance is reported.
        self.judges: dict[str, None] = {}
        self.models: dict[str, None] = {}
        self.failures: Counter[str] = Counter()
        self.messages: dict[str, str] = {}
        self.flags: Counter[str] = Counter()
        self.spent = JudgeUsage()

    def take(
        self, answers: Sequence[Judgment | JudgeFailure | Preference | PreferenceFailure]
    ) -> None:
        self.spent += judge_usage(answers)
        for one in answers:
            self.judges[one.judge] = None
            if isinstance(one, JudgeFailure | PreferenceFailure):
                self.failures[one.kind] += 1
                self.messages.setdefault(one.kind, one.message)
                continue
            self.flags.update(one.flags)
            if one.model:
                self.models[one.model] = None


def _reply_id(one: Judgment | JudgeFailure | PairAnswer, place: int) -> tuple[object, ...]:
    """What identifies the reply of an answer; without a key each answer has its own."""
    if one.reply_key is None:
        return (place,)
    # One cached reply can serve two outputs with the same text, so the key alone is not enough.
    about = one.order if isinstance(one, PairAnswer) else one.variant
    return one.reply_key, one.case_id, about, one.repeat


if TYPE_CHECKING:
    JudgeAnswer = Judgment | JudgeFailure

HUMAN_JUDGE = "human"
# The criterion by which a judge compares the outputs of all variants to a case.
BEST_CRITERION = "best"
# Whom questions wait for that only review automated verdicts; the verdicts stand meanwhile.
REVIEWER = "review"
# The key of a run's `config` that says which share of the answers is reviewed.
REVIEW_KEY = "review"


class SuiteJudges(JudgePanel):
    """The judges of a suite: models, assertions and a reviewer."""

    def __init__(
        self, judges: Sequence[Judge], panel: RunPanel, assertions: Sequence[JsonObject] = ()
    ) -> None:
        super().__init__(judges, panel)
        self.assertions = assertions

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

    def check(self, rubric: Rubric) -> None:
        """Refuse a rubric that one of the models cannot be asked about."""
        for judge in self.judges:
            judge.grader.check(self.panel.rubric_of(judge.id, rubric))

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


def choice_rubric(spec: JsonObject) -> Rubric | None:
    """What outputs are compared by for an assertion; None for one that asks no judge."""
    question, judge = spec.get("value"), spec.get("judge")
    is_judged = full_name(str(spec.get("type"))) == JUDGED_CHOICE
    # A spec that is invalid is reported as such.
    if not (is_judged and isinstance(question, str) and question and isinstance(judge, str | None)):
        return None
    asked = {"name": BEST_CRITERION, "question": question, "judge": judge, "scale": "binary"}
    return Rubric(name=JUDGED_CHOICE, criteria=(Criterion.model_validate(asked),))


class CriterionChecks:
    """Checks that every criterion has a judge, every named judge a criterion, and needs a case."""

    def __init__(self, names: Collection[str], *, n_judges: int) -> None:
        self._names, self._n_judges = names, n_judges
        self._used: set[str] = set()
        # Cases that are judged by a criterion, and those of them that have what it needs
        self._n_needing: Counter[tuple[str, CriterionNeed]] = Counter()
        self._n_having: Counter[tuple[str, CriterionNeed]] = Counter()

    def take(self, case: Case, rubric: Rubric) -> None:
        for criterion in rubric.criteria:
            self._check_judge(criterion)
            for need in criterion.needs:
                if need != "trace":  # outputs have it, which may not exist yet
                    self._n_needing[criterion.name, need] += 1
                    self._n_having[criterion.name, need] += getattr(case, need) is not None

    def check_names(self) -> None:
        """Refuse a judge that no criterion names, once all cases were examined."""
        for name in sorted(self._names):
            if name not in self._used:
                raise SettingsError(
                    f"the suite's judge {name!r} has nothing to grade: no criterion names it",
                    hint=f"add `judge: {name}` to a criterion of the rubric; or remove the judge's "
                    "`name`, so that it grades all criteria that name no judge",
                )

    @property
    def unmet_needs(self) -> tuple[str, ...]:
        """What criteria need of a case and no case has, in words."""
        return tuple(
            f"criterion {criterion!r} needs `{need}`, and no case has it: it will not be judged "
            "(cannot_assess)"
            for criterion, need in self._n_needing
            if not self._n_having[criterion, need]
        )

    def _check_judge(self, criterion: Criterion) -> None:
        name = criterion.judge
        if name is not None:
            self._used.add(name)
        if name is not None and self._n_judges and name not in self._names:
            known = ", ".join(self._names)
            known = f"its judges are named {known}" if known else "no judge has a name"
            raise SettingsError(
                f"criterion {criterion.name!r} is to be graded by the judge {name!r}, and {known}",
                hint=f"define it in the suite, beside the other judges: `judge: [{{model: …}}, "
                f"{{name: {name}, model: …}}]`; or remove `judge` from the criterion",
            )
        if name is None and self._names and len(self._names) == self._n_judges:
            raise SettingsError(
                f"criterion {criterion.name!r} names no judge, and every judge has a name: such a "
                "judge grades only the criteria that name it",
                hint="name a further judge for it (--judge MODEL, or one without a `name` in the "
                "suite), or add `judge: NAME` to the criterion",
            )


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
        name = HUMAN_JUDGE if settings.kind == "human" else HEURISTIC
        name = models[-1].id if settings.kind == "llm" else name
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


# The key of a run's `config` under which it says how its judges were called.
JUDGING_KEY = "asked"


def judging_of_judge(judge: Judge) -> CalibratedPanel:
    return judge.grader.configuration


def judging_of_suite(suite_judges: SuiteJudges) -> CalibratedPanel | None:
    known = {judge.id: judge.grader.configuration.judges[0] for judge in suite_judges.judges}
    judges = [known.get(name) or CalibratedJudge(judge=name) for name in suite_judges.panel.judges]
    return panel_configuration(judges, suite_judges.panel)


def judging_of_names(judges: Iterable[str]) -> CalibratedPanel | None:
    """What the names of judges tell of how they were asked: model and template."""
    named = [name for name in judges if name]
    if len(named) == 1:
        return CalibratedPanel(judges=(CalibratedJudge(judge=portable_judge_name(named[0])),))
    return None


def judging_of_run(run: RunInfo) -> CalibratedPanel | None:
    if recorded := config_part(run, JUDGING_KEY):
        return CalibratedPanel.model_validate(recorded)
    return panel_configuration(
        [CalibratedJudge(judge=portable_judge_name(name)) for name in run.panel.judges], run.panel
    )


def recorded_judges(run: RunInfo) -> list[str]:
    """The files of recorded replies that judged a run, as its suite names them."""
    from judgekit.models import RECORDED_PREFIX  # noqa: PLC0415 - only for comparing runs

    models = [str(row.get("model")) for row in config_rows(run, "judge")]
    return [model for model in models if model.startswith(RECORDED_PREFIX)]


def without_human_judges(asked: CalibratedPanel | None) -> CalibratedPanel | None:
    """The same without reviewers: only models are calibrated."""
    if asked is None:
        return None
    judges = tuple(judge for judge in asked.judges if judge.judge != HUMAN_JUDGE)
    return asked.model_copy(update={"judges": judges}) if judges else None


# The key of a run's `config` under which its calibration is, maps and all.
CALIBRATION_KEY = "calibrated"
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
    return calibration_in_use(calibration, rubric, judging_of_judge(judge))


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


def meets_calibration_gate(gate: Gate | None, run: RunInfo) -> bool:
    if gate is None or not gate.require_calibration:
        return True
    return not has_model_judges(run) or calibration_of_run(run).state == "calibrated"


def has_model_judges(run: RunInfo) -> bool:
    return bool(set(run.panel.judges) - {HUMAN_JUDGE, HEURISTIC})


def without_calibration(run: RunInfo) -> RunInfo:
    if run.calibration is None or not run.calibration.applied:
        return run
    config = {key: value for key, value in run.config.items() if key != CALIBRATION_KEY}
    return run.model_copy(update={"config": config})


def on_common_scale(a: RunInfo, b: RunInfo) -> tuple[RunInfo, RunInfo]:
    """Two runs by values that can be compared."""
    if _applied_maps(a) == _applied_maps(b):
        return (a, b)
    return (without_calibration(a), without_calibration(b))


def calibration_changes(then: RunInfo, now: RunInfo) -> tuple[str, ...]:
    """In words, that the values of two runs are not calibrated alike; empty where they are."""
    if _applied_maps(then) == _applied_maps(now):
        return ()
    return ("the calibration of the judge's values changed",)


def _applied_maps(run: RunInfo) -> tuple[str, ...] | None:
    use = run.calibration
    if use is None or use.calibration is None or not use.applied:
        return None
    return use.calibration.fingerprint, *use.applied


def calibration_of_run(run: RunInfo) -> CalibrationInUse:
    return run.calibration or UNCALIBRATED
