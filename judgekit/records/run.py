"""The records of a run: its settings, its panel, what was observed.

The result of each case.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from pydantic import AwareDatetime, Field

from judgekit.records.assertion import AssertionResult, EmbeddingUsage, Score, Weight
from judgekit.records.calibration import CalibrationInUse
from judgekit.records.case import Case
from judgekit.records.judgment import JudgeFailure, Judgment
from judgekit.records.output import Output, Variant
from judgekit.records.record import Count, JsonObject, Name, Record
from judgekit.records.rubric import Rubric

if TYPE_CHECKING:
    from collections.abc import Sequence


class ItemKey(NamedTuple):
    """What tells one answer of a run from every other."""

    case_id: str
    """The case."""

    variant: str
    """The variant."""

    repeat: int = 0
    """Which time the variant answered the case, from 0."""


class HumanItem(Record):
    """One criterion of one output that waits for a person's judgment (S0.13)."""

    run_id: Name
    """The run."""

    key: ItemKey
    """The answer that is to be judged."""

    criterion: Name
    """Name of the criterion."""

    judge: Name = "human"
    """The judge of the panel whose place the person takes."""

    repeat: Count = 0
    """Which time the judge is asked, from 0."""

    asked_at: AwareDatetime
    """When it was put in the queue (UTC)."""

    answered_at: AwareDatetime | None = None
    """When a person judged it (UTC); None while it waits."""


RunStatus = Literal["running", "complete", "incomplete", "interrupted", "stopped", "waiting"]
"""`running`, also after a kill; `complete`: everything was asked and answered; `incomplete`: some
target or judge failed; `interrupted` by the user; `stopped` at a limit of money, time or failures;
`waiting` for a person's judgments."""

PanelCombination = Literal["mean", "median", "majority", "weighted", "cascade"]
"""How several judges come to one value for a criterion."""


class RunPanel(Record):
    """Several judges and how they come to one value."""

    combine: PanelCombination = "mean"
    """The rule; with `cascade` the last judge of `judges` that was asked decides."""

    judges: tuple[Name, ...] = ()
    """Identities of the judges (`Judgment.judge`), in the order they are asked."""

    weights: dict[str, Weight] = Field(default_factory=dict)
    """Weight of each judge by its identity, for `weighted`; a judge that is not named has 1."""

    escalate_below: Annotated[float, Field(ge=0, le=1)] | None = None
    """For `cascade`: below this confidence the next judge is asked; a failure escalates too."""


class RunInfo(Record):
    """What a run set out to do and how it ended; the observations are kept beside it."""

    id: Name
    """Name of the run; sorts by its start."""

    suite: Name
    """Name of the suite."""

    suite_version: str = "1"
    """The version its owner gives it."""

    started_at: AwareDatetime
    """When it was first begun (UTC)."""

    finished_at: AwareDatetime | None = None
    """When it last ended (UTC); None while it runs or after a kill."""

    status: RunStatus = "running"
    """How it ended."""

    reason: str | None = None
    """Why it is not complete, in words."""

    config: JsonObject = Field(default_factory=dict)
    """The suite as it was run, with the options given; never a key or a password."""

    config_fingerprint: str = ""
    """Fingerprint of `config`; the same suite run again has the same."""

    folder: str | None = None
    """The folder the suite's paths are relative to."""

    dataset: str | None = None
    """Name of the dataset."""

    dataset_version: str | None = None
    """The version its owner gives it."""

    n_cases: Count | None = None
    """How many cases were chosen."""

    rubric: Rubric | None = None
    """The suite's rubric as it was then."""

    variants: tuple[Variant, ...] = ()
    """The versions under test, in the suite's order."""

    panel: RunPanel = RunPanel()
    """The judges."""

    triggered_by: str | None = None
    """Who or what started it."""

    notes: str | None = None
    """Whatever its owner wants to remember."""

    tags: tuple[str, ...] = ()
    """Groups of runs."""

    @cached_property
    def calibration(self) -> CalibrationInUse | None:
        """The maps its judgments are calibrated by; None where it was begun without."""
        # Kept in the configuration, because maps may change or vanish after the run.
        found = self.config.get("calibrated")
        return CalibrationInUse.model_validate(found) if isinstance(found, dict) else None

    @property
    def repeats(self) -> int:
        """How often each variant answers each case; with 1, several answers are tries of one."""
        # Runs of older versions have no settings.
        settings = self.config.get("settings")
        repeats = settings.get("repeats", 1) if isinstance(settings, dict) else 1
        return repeats if isinstance(repeats, int) else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Something that was observed and is to be kept: a part of an answer, or that it is whole."""

    key: ItemKey
    """Which answer it belongs to."""

    place: int
    """Place of the case in the dataset, from 0."""

    at: datetime
    """When it was observed (UTC)."""

    case: Case | None = None
    """The case; given with the first observation of an answer."""

    output: Output | None = None
    """What the variant produced."""

    said: Sequence[Judgment | JudgeFailure] = ()
    """What judges said, or failed to say."""

    checks: Sequence[AssertionResult] = ()
    """What assertions found."""

    scores: Sequence[Score] = ()
    """What scorers measured."""

    is_done: bool = False
    """Whether everything that was to be asked of this answer has been."""


class CaseResult(Record):
    """Everything observed for one answer of a variant to a case."""

    run_id: Name
    """The run."""

    place: Count
    """Place of the case in the dataset, from 0."""

    case: Case
    """The case, as it was then."""

    variant: Name
    """The variant."""

    repeat: Count = 0
    """Which time the variant answered the case, from 0."""

    output: Output
    """What it produced; never altered."""

    judgments: tuple[Judgment, ...] = ()
    """What judges said; for one criterion, judge and repeat the last."""

    failures: tuple[JudgeFailure, ...] = ()
    """What judges failed to say, where no later judgment took its place."""

    checks: tuple[AssertionResult, ...] = ()
    """What assertions found, in the suite's order."""

    scores: tuple[Score, ...] = ()
    """What scorers measured."""

    is_done: bool = False
    """Whether everything that was to be asked has been."""

    ran_at: AwareDatetime | None = None
    """When the output was produced or read (UTC)."""

    @property
    def asked(self) -> list[EmbeddingUsage]:
        """What its checks and scorers asked of models of embeddings."""
        checked = [check.asked for check in self.checks]
        scored = [score.asked for score in self.scores]
        return [asked for asked in (*checked, *scored) if asked is not None]

    @property
    def key(self) -> ItemKey:
        """What tells this answer from every other of the run."""
        return ItemKey(self.case.id, self.variant, self.repeat)

    def to_json(self) -> JsonObject:
        """The result as plain JSON types; a case's input that is null is there.

        Returns:
            A dict of JSON types, without the optional fields that are None.
        """
        # `to_json` leaves out what is None; a case whose input is null must keep it.
        return {**super().to_json(), "case": self.case.to_json()}
