"""The rows that runs and comparisons share: configs, rubrics and cases, stored once by content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.errors import StoreError
from judgekit.fingerprint import canonical_json, text_fingerprint
from judgekit.records import Rubric, content_key, lookup_text, name_text, record_text
from judgekit.store.rows import RowValues, insert_new, record_row
from judgekit.store.schema import case_tags, cases, configs, criteria, rubrics, variants

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy.engine import Connection

    from judgekit.records import Case, JsonObject, Variant


def insert_config(connection: Connection, config: JsonObject) -> str:
    """Store a suite as it is run."""
    try:
        text = canonical_json(config)
    except (TypeError, ValueError) as error:
        raise StoreError(f"the run's config cannot be stored as JSON: {error}") from error
    # Stored once by its content: a suite that runs every night does not change every night.
    key = text_fingerprint(text)
    insert_new(connection, configs, [{"key": key, "json": text}])
    return key


def insert_rubric(connection: Connection, rubric: Rubric, at: str) -> str:
    text = record_text(rubric)
    key, mark = content_key(text), rubric.fingerprint
    version = lookup_text(str(rubric.version))
    row = record_row(
        rubrics, rubric, json=text, key=key, fingerprint=mark, version=version, first_seen_at=at
    )
    insert_new(connection, rubrics, [row])
    parts: list[RowValues] = [
        {
            "rubric_key": key,
            "place": place,
            "name": lookup_text(criterion.name),
            "fingerprint": criterion.fingerprint,
            "weight": criterion.weight,
            "is_required": criterion.required,
        }
        for place, criterion in enumerate(rubric.criteria)
    ]
    insert_new(connection, criteria, parts)
    return key


def insert_cases(connection: Connection, found: Mapping[str, tuple[Case, str, str]]) -> None:
    # In one order everywhere: two runs that store the same cases never wait for each other
    # in a circle.
    ordered = sorted(found.items())
    rows = [_case_row(connection, key, *case) for key, case in ordered]
    insert_new(connection, cases, rows)
    # Tags have rows of their own, so that "all cases with this tag" is an index lookup.
    tags: list[RowValues] = [
        {"case_key": key, "tag": tag}
        for key, (case, _, _) in ordered
        for tag in sorted({lookup_text(tag) for tag in case.tags})
    ]
    insert_new(connection, case_tags, tags)


def _case_row(connection: Connection, key: str, case: Case, text: str, at: str) -> RowValues:
    own = case.rubric
    rubric_key = insert_rubric(connection, own, at) if isinstance(own, Rubric) else None
    name = None if own is None or isinstance(own, Rubric) else lookup_text(str(own))
    about: RowValues = {"key": key, "case_id": lookup_text(case.id), "first_seen_at": at}
    return record_row(cases, case, json=text, **about, rubric_key=rubric_key, rubric_name=name)


def insert_variants(
    connection: Connection, run_no: int, found: Iterable[tuple[int, Variant]]
) -> None:
    """Store variants of a run with their positions."""
    rows = [
        record_row(variants, one, run_no=run_no, no=no, variant=name_text("variant id", one.id))
        for no, one in found
    ]
    insert_new(connection, variants, rows)
