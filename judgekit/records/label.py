"""What a person is asked to judge."""

from __future__ import annotations

from pydantic import AwareDatetime

from judgekit.records.record import Count, Name, Record
from judgekit.records.run import ItemKey


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
