"""The records of a run: its settings, its panel, the observations and the result of each case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import AwareDatetime, Field, model_validator

from judgekit.fingerprint import omit_at_default
from judgekit.records.assertion import AssertionResult, EmbeddingUsage, Score
from judgekit.records.calibration import CalibrationInUse
from judgekit.records.case import Case
from judgekit.records.choices import PanelCombination
from judgekit.records.judgment import JudgeFailure, Judgment
from judgekit.records.output import Output, Variant
from judgekit.records.record import Count, Fraction, JsonObject, Name, Record, Weight
from judgekit.records.rubric import Criterion, Rubric


class ItemKey(NamedTuple):
    """Identifies one answer of a run."""

    case_id: str
    variant: str
    repeat: int = 0


class HumanItem(Record):
    """One criterion of one output in the queue for human judgment (S0.13)."""

    run_id: Name
    key: ItemKey
    criterion: Name
    judge: Name = "human"
    repeat: Count = 0
    asked_at: AwareDatetime
    answered_at: AwareDatetime | None = None


class Gate(Record):
    """What a run must reach."""

    tier: Literal["production", "development", "experimental"] | None = None
    """The least overall value: production 0.8, development 0.7, experimental 0.6."""

    threshold: Fraction | None = None
    """The least overall value as a number, in place of a `tier`."""

    max_drop: Fraction | None = None
    """How far the pass rate may fall below the baseline's, in points: 0.10 is ten percentage
    points."""

    baseline: Name = "previous"
    """The earlier run to compare with: previous, best, accepted, or the id of a run."""

    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Significance level of the drop: a greater one fails only where chance does not explain it."""

    rule: Literal["interval", "point"] = "interval"
    """How `tier`, `threshold`, `min_required` and `max_drop` decide. `interval`: by the confidence
    interval, undecided where it contains the limit; `point`: by the measured value alone, however
    few the cases."""

    min_required: Fraction | None = None
    """The least mean value of each required criterion: a good average may hide that one of them
    fails often."""

    min_coverage: Fraction | None = None
    """The least share of a variant's answers that must have a verdict; with fewer, the gate is
    inconclusive."""

    require_calibration: bool = False
    """Whether a run is not begun without a `calibration` that holds for its judge and rubric."""

    _without_defaults = omit_at_default("threshold", "rule", "min_required", "min_coverage")

    @model_validator(mode="after")
    def _has_one_limit(self) -> Self:
        if self.tier is not None and self.threshold is not None:
            raise ValueError("`tier` and `threshold` both set the least overall value: omit one")
        return self


class GateDecision(Record):
    """What a gate decided about a run, or that somebody accepted the run as a baseline."""

    run_id: Name
    at: AwareDatetime
    outcome: Literal["passed", "failed", "inconclusive", "accepted"]
    reason: str = ""
    """The result in words; of an accepted run, why it was accepted."""

    by: str | None = None
    """Who accepted it."""


RunStatus = Literal["running", "complete", "incomplete", "interrupted", "stopped", "waiting"]
"""`running`, also after a kill; `complete`: everything was asked and answered; `incomplete`: some
target or judge failed; `interrupted` by the user; `stopped` before every answer was there: at a
limit of cost, time or failures, or as a model cannot be called; `waiting` for human judgments."""

FINISHED_STATUSES: frozenset[RunStatus] = frozenset({"complete", "incomplete", "waiting"})
"""Of a run that got as far as it could; the others were ended early."""


class RunPanel(Record):
    """Several judges and how their scores are combined."""

    combine: PanelCombination = "mean"
    """The rule; with `cascade` the last judge of `judges` that was asked decides."""

    judges: tuple[Name, ...] = ()
    """Identities of the judges (`Judgment.judge`), in the order they are asked."""

    weights: dict[str, Weight] = Field(default_factory=dict)
    """Weight of each judge by its identity, for `weighted`; a judge that is not named has 1."""

    escalate_below: Annotated[float, Field(ge=0, le=1)] | None = None
    """For `cascade`: below this confidence the next judge is called; a failure escalates too."""

    named: dict[Name, Name] = Field(default_factory=dict)
    """Identities of the judges that have a name, by it (`Criterion.judge`); each grades only the
    criteria that name it, and all other judges only the criteria that name none."""

    _without_defaults = omit_at_default("named")

    def grades(self, judge: str, criterion: Criterion) -> bool:
        """Whether a judge of the panel is asked about a criterion."""
        if criterion.judge in self.named:
            return self.named[criterion.judge] == judge
        return judge not in self.named.values()

    def rubric_of(self, judge: str, rubric: Rubric) -> Rubric:
        """The rubric with the criteria that a judge of the panel is asked about; maybe none."""
        criteria = tuple(c for c in rubric.criteria if self.grades(judge, c)) if self.named else ()
        if not self.named or len(criteria) == len(rubric.criteria):
            return rubric
        return rubric.model_copy(update={"criteria": criteria})


class RunInfo(Record):
    """The settings of a run and how it ended; the observations are stored separately."""

    id: Name
    suite: Name
    suite_version: str = "1"
    started_at: AwareDatetime
    finished_at: AwareDatetime | None = None
    """When it last ended (UTC); None while it runs or after a kill."""

    status: RunStatus = "running"
    reason: str | None = None
    config: JsonObject = Field(default_factory=dict)
    """The suite as it was run, with the options given; never a key or a password."""

    config_fingerprint: str = ""
    """Fingerprint of `config`; the same suite run again has the same."""

    folder: str | None = None
    dataset: str | None = None
    dataset_version: str | None = None
    n_cases: Count | None = None
    rubric: Rubric | None = None
    variants: tuple[Variant, ...] = ()
    panel: RunPanel = RunPanel()
    triggered_by: str | None = None
    revision: str | None = None
    """The git commit that was checked out in the suite's folder."""

    notes: str | None = None
    tags: tuple[str, ...] = ()

    @cached_property
    def calibration(self) -> CalibrationInUse | None:
        """The maps its judgments are calibrated with; None where it was started without."""
        # Kept in the configuration, because maps may change or vanish after the run.
        maps = self.config.get("calibrated")
        return CalibrationInUse.model_validate(maps) if isinstance(maps, dict) else None

    @property
    def repeats(self) -> int:
        """How often each variant answers each case; with 1, several answers are tries of one."""
        # Runs of older versions have no settings.
        repeats = config_part(self, "settings").get("repeats", 1)
        return repeats if isinstance(repeats, int) else 1


WATCH_TAG = "watch"
"""The tag of runs that are windows of a growing file."""

OUTPUTS_TAG = "outputs"
"""The tag of runs of outputs that a program handed over, such as those of one agent run."""


def has_own_cases(run: RunInfo) -> bool:
    """Whether a run is of cases that came with its outputs, so that each such run has others."""
    return WATCH_TAG in run.tags or OUTPUTS_TAG in run.tags


def is_whole_run(run: RunInfo) -> bool:
    """Whether a run finished and was to have every case of its suite, whatever variants it has."""
    chosen = run.config.get("chosen")
    is_part = isinstance(chosen, dict) and chosen.keys() - {"variants"}
    return run.status in FINISHED_STATUSES and not is_part


def config_part(run: RunInfo, name: str) -> JsonObject:
    """An object in a run's `config`; empty where the run has none."""
    part = run.config.get(name)
    return part if isinstance(part, dict) else {}


def config_rows(run: RunInfo, name: str) -> list[JsonObject]:
    """The objects of a list in a run's `config`; none where the run has no such list."""
    rows = run.config.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Something to store about an answer: its output, judgments, checks, or that it is complete."""

    key: ItemKey
    place: int
    at: datetime
    case: Case | None = None
    output: Output | None = None
    said: Sequence[Judgment | JudgeFailure] = ()
    checks: Sequence[AssertionResult] = ()
    scores: Sequence[Score] = ()
    is_done: bool = False
    """Whether the answer is complete: every judge has been asked."""


class CaseResult(Record):
    """Everything observed for one answer of a variant to a case."""

    run_id: Name
    place: Count
    """Index of the case in the dataset, from 0."""

    case: Case
    variant: Name
    repeat: Count = 0
    output: Output
    judgments: tuple[Judgment, ...] = ()
    """The judgments; the last one for each criterion, judge and repeat."""

    failures: tuple[JudgeFailure, ...] = ()
    """Failures of judges that no later judgment replaced."""

    checks: tuple[AssertionResult, ...] = ()
    """Results of the assertions, in the suite's order."""

    scores: tuple[Score, ...] = ()
    is_done: bool = False
    ran_at: AwareDatetime | None = None
    """When the output was produced or read (UTC)."""

    @property
    def asked(self) -> list[EmbeddingUsage]:
        """Embedding calls of its checks and scorers."""
        usages = [*(check.asked for check in self.checks), *(score.asked for score in self.scores)]
        return [usage for usage in usages if usage is not None]

    @property
    def key(self) -> ItemKey:
        """Identifies this answer in the run."""
        return ItemKey(self.case.id, self.variant, self.repeat)

    def to_json(self) -> JsonObject:
        """The result as plain JSON types; a case's input of null is written."""
        return {**super().to_json(), "case": self.case.to_json()}
