"""A finding: why an output failed, followed from run to run until it is resolved."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime

from judgekit.records.record import Count, JsonObject, Name, Record

FindingType = Literal[
    "wrong-output", "hallucination", "format-error", "timeout", "refusal", "crash", "regression"
]
"""What went wrong; `regression` is about a whole run, whose pass rate fell critically."""

FindingSeverity = Literal["critical", "major", "minor"]
"""`critical`: a required criterion failed, there was no output, or a pass rate fell by more than a
tenth; `minor`: the output passed although a criterion failed; `major`: all others."""

FindingStatus = Literal["open", "recurring", "resolved"]
"""`recurring`: open again after it was resolved."""


class Occurrence(Record):
    """A failure in one run, from which findings are derived."""

    variant: Name
    case_id: str | None = None
    """None for a finding about the whole run."""

    type: FindingType
    severity: FindingSeverity
    criteria: tuple[str, ...] = ()
    """The criteria that failed."""

    description: str
    quotes: tuple[str, ...] = ()
    """What the judges quoted from the output for those criteria, where it was found there."""

    step: str | None = None
    """The first failing step of the trace, a candidate for the root cause."""

    n_failed: Count = 1
    n_answers: Count = 1
    """Answers to the case, repeats included."""


class FindingNote(Record):
    """What a user added to a finding; each field that is set replaces that of earlier notes."""

    finding: Name
    at: AwareDatetime
    by: str
    root_cause: str | None = None
    resolution: str | None = None
    """What was changed; it resolves the finding until the case fails again."""

    note: str | None = None
    type: FindingType | None = None
    severity: FindingSeverity | None = None


class Finding(Record):
    """A failure of one variant on one case over all runs of a suite."""

    id: Name
    suite: Name
    variant: Name
    case_id: str | None = None
    type: FindingType
    severity: FindingSeverity
    status: FindingStatus
    criteria: tuple[str, ...] = ()
    description: str
    quotes: tuple[str, ...] = ()
    step: str | None = None
    first_run: Name
    last_run: Name
    """The last run in which it occurred."""

    first_seen_at: AwareDatetime
    last_seen_at: AwareDatetime
    n_runs: Count
    """Runs in which it occurred."""

    runs: tuple[Name, ...] = ()
    """Their ids, oldest first."""

    n_resolved: Count = 0
    """How often it was resolved, by a run that passed or by hand."""

    resolved_by: str | None = None
    """The run or the user that resolved it."""

    resolved_at: AwareDatetime | None = None
    passes_since: str | None = None
    """A later run in which the case passed, and what was measured differently there, so that it
    resolves nothing."""

    root_cause: str | None = None
    resolution: str | None = None
    note: str | None = None

    def to_json(self) -> JsonObject:
        """The finding as plain JSON types; `case_id` is null where it is about a whole run."""
        return {**super().to_json(), "case_id": self.case_id}


class Alarm(Record):
    """What is sent, as JSON.

    Attributes:
        episode: The same text for all runs of an episode.
        text: One sentence; the field that Slack, Mattermost and Teams show.
    """

    kind: Literal["critical-finding", "escalation", "watch"]
    episode: str
    suite: str
    run: str
    text: str
    finding: Finding | None = None
    trend: JsonObject | None = None
