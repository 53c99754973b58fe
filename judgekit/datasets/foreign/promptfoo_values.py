"""Turns the values of promptfoo's assertions into what the assertions here take."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.datasets.documents import read_yaml_text
from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

_LISTS = frozenset({
    "contains-all", "contains-any", "icontains-all", "icontains-any", "is-xml", "contains-xml",
    "tool-call-f1",
})  # fmt: skip
_TEXTS = frozenset({
    "contains", "icontains", "equals", "starts-with", "regex", "levenshtein", "rouge-n", "bleu",
    "meteor", "finish-reason",
})  # fmt: skip
_SEVERAL = "meteor"
"""The assertion that takes several texts at once, of which the best counts."""
_SCHEMAS = frozenset({"is-json", "contains-json"})
SQL_DIALECTS: Mapping[str, str] = {
    "athena": "athena",
    "bigquery": "bigquery",
    "hive": "hive",
    "mariadb": "mysql",
    "mysql": "mysql",
    "postgresql": "postgres",
    "redshift": "redshift",
    "snowflake": "snowflake",
    "sqlite": "sqlite",
    "transactsql": "tsql",
    "trino": "trino",
}
"""The databases an assertion on SQL may name, with the dialects they are here."""

_ELEMENTS = "requiredElements"


def meant_value(name: str, value: JsonValue) -> JsonValue:
    """The value an assertion has in promptfoo, in the form it has here."""
    # A number stands for its digits, `a, "b, c"` for a list of texts, the text of a JSON Schema in
    # JSON or YAML for the schema, and `{requiredElements: […]}` for the list.
    if name in _SCHEMAS:
        return _schema(value) if isinstance(value, str) else value
    if name in _LISTS:
        return _texts(value)
    if name == _SEVERAL and isinstance(value, list):
        return [_text(item) for item in value]
    return _text(value) if name in _TEXTS else value


def _texts(value: JsonValue) -> JsonValue:
    if isinstance(value, dict) and value.keys() == {_ELEMENTS}:
        value = value[_ELEMENTS]
    if isinstance(value, list):
        return [_text(item) for item in value]
    text = _text(value)
    if not isinstance(text, str):
        return value
    cells = [cell for row in csv.reader([text], skipinitialspace=True) for cell in row]
    return [cell.strip() for cell in cells if cell.strip()]


def _text(value: JsonValue) -> JsonValue:
    """A plain value as the text it is compared as."""
    if isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, int | float) else value


def _schema(text: str) -> JsonValue:
    held: JsonValue
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        try:
            held = read_yaml_text(text, Path())
        except DatasetError:
            return text
    return held if isinstance(held, dict | bool) else text


def alternatives(name: str, spec: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """An assertion with several references, as a group of which one must pass."""
    kept = {key: item for key, item in spec.items() if key in {"weight", "description"}}
    own = {key: item for key, item in spec.items() if key not in {*kept, "type", "value"}}
    values = spec["value"]
    members: list[JsonValue] = [
        {"type": name, "value": _text(each), **own}
        for each in (values if isinstance(values, list) else [values])
    ]
    is_negated = str(spec["type"]).startswith("not-")
    return {"type": "not-any" if is_negated else "any", "assertions": members, **kept}
