"""The rows that runs and comparisons share: configs, rubrics and cases, stored once by content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.errors import StoreError
from judgekit.fingerprint import canonical_json, text_fingerprint
from judgekit.records import Rubric, content_key, lookup_text, name_text, record_text
from judgekit.store.rows import RowValues, insert_new
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
    """Store a rubric and its criteria."""
    text = record_text(rubric)
    key = content_key(text)
    row: RowValues = {
        "key": key,
        "fingerprint": rubric.fingerprint,
        "name": lookup_text(rubric.name),
        "version": lookup_text(str(rubric.version)),
        "first_seen_at": at,
        "json": text,
    }
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
    """Store cases."""
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
    is_whole = isinstance(own, Rubric)
    return {
        "key": key,
        "case_id": lookup_text(case.id),
        "agent": _optional_lookup(case.agent),
        "skill": _optional_lookup(case.skill),
        "prompt_version": _optional_lookup(case.prompt_version),
        "rubric_key": insert_rubric(connection, own, at) if isinstance(own, Rubric) else None,
        "rubric_name": None if own is None or is_whole else lookup_text(str(own)),
        "first_seen_at": at,
        "json": text,
    }


def insert_variants(
    connection: Connection, run_no: int, found: Iterable[tuple[int, Variant]]
) -> None:
    """Store variants of a run with their positions."""
    rows: list[RowValues] = [
        {
            "run_no": run_no,
            "no": no,
            "variant": name_text("variant id", variant.id),
            "json": record_text(variant),
        }
        for no, variant in found
    ]
    insert_new(connection, variants, rows)


def _optional_lookup(text: str | None) -> str | None:
    return None if text is None else lookup_text(text)
