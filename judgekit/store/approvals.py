"""Who approved which version of what, why, and on what evidence; nothing of it is altered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import insert, select

from judgekit.records.compared import Approval
from judgekit.store.comparison_tables import approvals
from judgekit.store.texts import lookup_text, name_text, read_record, record_text, time_text

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


def add_approval(connection: Connection, approval: Approval) -> None:
    """Keep an approval."""
    row = {
        "id": name_text("approval id", approval.id),
        "at": time_text(approval.at),
        "variant": lookup_text(approval.variant),
        "version": approval.version.fingerprint,
        "json": record_text(approval),
    }
    connection.execute(insert(approvals), row)


def read_approvals(connection: Connection, variant: str | None = None) -> list[Approval]:
    """Approvals, newest first."""
    query = select(approvals.c.json).order_by(approvals.c.at.desc(), approvals.c.no.desc())
    if variant is not None:
        query = query.where(approvals.c.variant == lookup_text(variant))
    return [read_record(Approval, text) for text in connection.scalars(query)]
