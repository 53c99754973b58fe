"""Generates the shipped JSON Schema of a suite file: `python -m tests.datasets.suite_schema`."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from judgekit.datasets import ContextSettings, Gate, HttpTarget, Suite, SuiteGroup, VariantSettings
from judgekit.datasets.suite import CompareSettings, PanelSettings, PriceSettings, RunSettings
from judgekit.records import Case, Criterion, Rubric
from judgekit.resources import shipped_file

if TYPE_CHECKING:
    from judgekit.records import JsonObject, Record

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def suite_schema() -> JsonObject:
    """The JSON Schema of a suite file, for editors."""
    schema: dict[str, Any] = {"$schema": _DIALECT, **Suite.model_json_schema()}
    records = (
        PanelSettings, HttpTarget, VariantSettings, Gate, RunSettings,
        CompareSettings, ContextSettings, SuiteGroup, PriceSettings, Case, Criterion, Rubric,
    )  # fmt: skip
    definitions = schema["$defs"]
    for record in records:
        _describe(definitions[record.__name__], record)
    _describe(schema, Suite)
    _allow_short_forms(schema)
    return schema


def _allow_short_forms(schema: dict[str, Any]) -> None:
    """Add the short forms that a file may have, though the record has the long form."""
    one: dict[str, Any] = {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/SuiteJudge"}]}
    many: dict[str, Any] = {"type": "array", "items": one}
    scorers = schema["properties"]["scorers"]
    scorers["items"] = {"anyOf": [{"type": "string"}, scorers["items"]]}
    judge = schema["properties"]["judge"]
    del judge["items"], judge["type"]
    judge["anyOf"] = [*one["anyOf"], many]
    variant = schema["$defs"]["VariantSettings"]["properties"]["http"]
    variant["anyOf"].insert(0, {"type": "string"})
    size = {"type": "string", "pattern": "^[0-9]+[kK]?$"}
    sizes = schema["$defs"]["ContextSettings"]["properties"]["sizes"]
    sizes["items"] = {"anyOf": [size, sizes["items"]]}
    schema["properties"]["context"]["anyOf"].insert(0, {k: sizes[k] for k in ("items", "type")})
    added = schema["$defs"]["VariantSettings"]["properties"]["added_context_tokens"]
    added["anyOf"].insert(0, size)
    needs = schema["$defs"]["Criterion"]["properties"]["needs"]
    needs["anyOf"] = [needs["items"], {"type": "array", "items": needs["items"]}]
    del needs["items"], needs["type"]


def _describe(schema: dict[str, Any], record: type[Record]) -> None:
    """Take the descriptions of the fields from the strings under them."""
    body = ast.parse(textwrap.dedent(inspect.getsource(record))).body[0].body  # type: ignore[attr-defined]  # a class
    for field, text in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            name, words = ast.unparse(field.target), ast.literal_eval(text.value)
            if name in record.model_fields:
                schema["properties"][name]["description"] = inspect.cleandoc(words)


if __name__ == "__main__":
    text = json.dumps(suite_schema(), indent=2, ensure_ascii=False)
    shipped_file("prompts", "suite.schema.json").write_text(f"{text}\n", encoding="utf-8")
