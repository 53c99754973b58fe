"""The names in a store file, read for shell completion: quickly, and in silence.

A shell waits for these at each press of TAB. SQLAlchemy takes longer to import than that may last,
and nothing may be created, locked or migrated for it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

_MOST = 200
_PATIENCE_S = 0.05

_QUERIES = {
    "run": "SELECT id, suite || ', ' || substr(started_at, 1, 16) FROM runs"
    " ORDER BY started_at DESC",
    "comparison": "SELECT id, coalesce(suite || ', ', '') || judge FROM comparisons"
    " ORDER BY started_at DESC",
    "suite": "SELECT suite, count(*) || ' stored' FROM runs GROUP BY suite ORDER BY max(no) DESC",
    "variant": "SELECT variant, 'variant' FROM variants GROUP BY variant ORDER BY max(run_no) DESC",
    "rubric": "SELECT name, 'in the store' FROM rubrics GROUP BY name ORDER BY name",
    "judge": "SELECT judge, 'used before' FROM comparisons GROUP BY judge ORDER BY max(no) DESC",
    "case": "SELECT DISTINCT case_id, 'case' FROM answers ORDER BY case_id",
}  # fmt: skip
_OF_RUN = (
    "SELECT DISTINCT answers.case_id, coalesce(json_extract(cases.json, '$.name'), 'case')"
    " FROM answers JOIN cases ON cases.key = answers.case_key WHERE run_no = ("
    "SELECT no FROM runs WHERE {which} ORDER BY started_at DESC LIMIT 1) ORDER BY 1"
)


def stored_names(store: str, kind: str, *, run: str | None = None) -> list[tuple[str, str]]:
    """Names of one kind with a word about each, newest first; nothing where they cannot be read."""
    # With a `run`, as `show` takes it, the cases are those of that run.
    query, values = _QUERIES[kind], tuple[str, ...]()
    if kind == "case" and run is not None:
        word, _, suite = run.partition(":")
        which = "suite = ?" if suite else "? = 'latest'" if word == "latest" else "id GLOB ? || '*'"
        query, values = _OF_RUN.format(which=which), (suite or run,)
    # The URL of a database server is none: connecting would take too long.
    if "://" in store or not Path(store).is_file():
        return []
    try:
        address = f"{Path(store).absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=_PATIENCE_S)) as connection:
            rows = connection.execute(f"{query} LIMIT {_MOST}", values).fetchall()
    except sqlite3.Error:
        return []
    return [(str(name), str(about)) for name, about in rows]
