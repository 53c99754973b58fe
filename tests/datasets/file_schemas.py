"""Generates the shipped JSON Schemas of judgekit's files: `python -m tests.datasets.file_schemas`.

They come from the records that the loaders validate with, and from the aliases and short forms
that loaders accept beside them.
"""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from judgekit.cli.schema import SCHEMAS
from judgekit.datasets import Suite
from judgekit.datasets.labels import LABEL_ALIASES
from judgekit.datasets.outputs import CASE_COLUMNS, OUTPUT_ALIASES
from judgekit.formats import CASE_ALIASES
from judgekit.records import Case, Label, Output, Record, Rubric
from judgekit.resources import shipped_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from judgekit.records import JsonObject

    _Schema = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TEXT: JsonObject = {"type": "string"}
_WHOLE: JsonObject = {"type": "integer"}
_CASE_TEXTS = ("id", "name", "prompt_version")


def file_schema(name: str) -> JsonObject:
    """The JSON Schema of one kind of file, or of a row where the file has rows."""
    return {
        "suite": suite_schema, "rubric": _rubric, "case": _case, "output": _output, "label": _label,
    }[name]()  # fmt: skip


def suite_schema() -> JsonObject:
    """The JSON Schema of a suite file."""
    schema = _described(Suite)
    definitions = schema["$defs"]
    one: _Schema = {"anyOf": [_TEXT, {"$ref": "#/$defs/SuiteJudge"}]}
    many: _Schema = {"type": "array", "items": one}
    scorers = schema["properties"]["scorers"]
    scorers["items"] = {"anyOf": [_TEXT, scorers["items"]]}
    judge = schema["properties"]["judge"]
    del judge["items"], judge["type"]
    judge["anyOf"] = [*one["anyOf"], many]
    variant = definitions["VariantSettings"]["properties"]["http"]
    variant["anyOf"].insert(0, _TEXT)
    size = {"type": "string", "pattern": "^[0-9]+[kK]?$"}
    sizes = definitions["ContextSettings"]["properties"]["sizes"]
    sizes["items"] = {"anyOf": [size, sizes["items"]]}
    schema["properties"]["context"]["anyOf"].insert(0, {k: sizes[k] for k in ("items", "type")})
    added = definitions["VariantSettings"]["properties"]["added_context_tokens"]
    added["anyOf"].insert(0, size)
    _add_aliases(definitions["Case"], CASE_ALIASES, _CASE_TEXTS)
    return schema


def _rubric() -> JsonObject:
    return _described(Rubric)


def _case() -> JsonObject:
    schema = _described(Case)
    _add_aliases(schema, CASE_ALIASES, _CASE_TEXTS)
    return schema


def _output() -> JsonObject:
    schema = _described(Output)
    schema["required"] = ["case_id"]
    # An output made in Python may have none; a row needs it.
    schema["properties"]["case_id"]["anyOf"] = [{"type": "string", "pattern": "\\S"}]
    del schema["properties"]["case_id"]["default"]
    # Traces have several shapes, and usage the names of several providers.
    for name in ("trace", "usage"):
        schema["properties"][name] = {"description": _words(Output)[name]}
    # A text under another name may be a structured result; unknown columns become metadata.
    for name in CASE_COLUMNS:
        schema["properties"][name] = {"description": _words(Case)[name]}
    _add_aliases(schema, OUTPUT_ALIASES, ("case_id", "variant", "run_id"))
    for name, field in OUTPUT_ALIASES.items():
        if field == "text":
            schema["properties"][name] = {"description": "Another name of `text`, or of `data`."}
    schema["additionalProperties"] = True
    content = [n for n, field in OUTPUT_ALIASES.items() if field == "text"]
    schema.setdefault("allOf", []).append(
        {"anyOf": [{"required": [n]} for n in ("text", "data", "error", "trace", *content)]}
    )
    return schema


def _label() -> JsonObject:
    schema = _described(Label)
    schema["properties"]["raw"]["anyOf"].append({"type": "boolean"})
    # Blank cells of a form are missing values.
    for name in ("raw", "winner", "rationale", "variant", "criterion", "annotator"):
        for form in schema["properties"][name]["anyOf"]:
            form.pop("minLength", None)
            form.pop("pattern", None)
    _add_aliases(schema, LABEL_ALIASES, ("case_id", "variant", "criterion", "annotator"))
    schema.setdefault("allOf", []).append({"not": _both("raw", "winner")})
    return schema


def _both(*names: str) -> _Schema:
    """Both fields with a value."""
    return {"required": [*names], "properties": {name: {"not": {"type": "null"}} for name in names}}


def _described(record: type[Record]) -> _Schema:
    """The schema of a record, with the descriptions of all fields and the short forms."""
    schema: _Schema = {"$schema": _DIALECT, **record.model_json_schema()}
    records = {one.__name__: one for one in _records(Record)}
    definitions = schema.get("$defs", {})
    for name, part in {**definitions, record.__name__: schema}.items():
        for field, words in _words(records[name]).items() if name in records else ():
            part["properties"][field]["description"] = words
    parts = {**definitions, record.__name__: schema}
    if "Criterion" in parts:
        _allow_short_criteria(parts["Criterion"], parts["Scale"])
    return schema


def _allow_short_criteria(criterion: _Schema, scale: _Schema) -> None:
    """A shipped scale by its name, levels alone, one need alone."""
    names = json.loads(shipped_file("prompts", "rubrics", "scales.json").read_text("utf-8"))
    spellings = "|".join(map(_any_spelling, sorted(names)))
    words = criterion["properties"]["scale"].pop("description")
    levels = {"type": "array", "items": {"$ref": "#/$defs/Level"}, "minItems": 2}
    criterion["properties"]["scale"] = {
        "anyOf": [
            {"enum": sorted(names)},
            # The loader reads `One to Five` as `one_to_five`, too; editors propose the list.
            {"type": "string", "pattern": rf"^\s*({spellings})\s*$"},
            levels,
            {"$ref": "#/$defs/Scale"},
        ],
        "description": words,
    }
    del scale["required"]
    scale["anyOf"] = [{"required": ["min", "max"]}, {"required": ["levels"]}]
    needs = criterion["properties"]["needs"]
    needs["anyOf"] = [needs["items"], {"type": "array", "items": needs["items"]}]
    del needs["items"], needs["type"]


def _any_spelling(name: str) -> str:
    return "".join(
        f"[{letter}{letter.upper()}]" if letter.isalpha() else "[-_ ]" if letter == "_" else letter
        for letter in name
    )


def _add_aliases(schema: _Schema, aliases: Mapping[str, str], texts: Collection[str]) -> None:
    """The other names of fields, and whole numbers where a text is meant, as in ids."""
    properties = schema["properties"]
    for name in texts:
        field = properties[name]
        words = {"description": field.pop("description")}
        field.pop("title", None)
        has_default = {"default": field.pop("default")} if "default" in field else {}
        forms = field.get("anyOf", [dict(field)])
        properties[name] = {"anyOf": [*forms, _WHOLE], **has_default, **words}
    for name, field in aliases.items():
        if name not in properties:
            properties[name] = {**properties[field], "description": f"Another name of `{field}`."}
    required = schema.pop("required", [])
    schema["allOf"] = [
        {"anyOf": [{"required": [one]} for one in (field, *_names(aliases, field))]}
        for field in required
    ]


def _names(aliases: Mapping[str, str], field: str) -> list[str]:
    return [name for name, meant in aliases.items() if meant == field]


def _records(base: type[Record]) -> Iterator[type[Record]]:
    for record in base.__subclasses__():
        if record.__module__.startswith("judgekit."):
            yield record
            yield from _records(record)


def _words(record: type[Record]) -> dict[str, str]:
    """The descriptions of the fields: the strings under them."""
    body = ast.parse(textwrap.dedent(inspect.getsource(record))).body[0].body  # type: ignore[attr-defined]  # a class
    # In `if TYPE_CHECKING` stands what a constructor takes beyond the field's type.
    body = [own for one in body for own in (one.orelse if isinstance(one, ast.If) else [one])]
    return {
        ast.unparse(field.target): inspect.cleandoc(ast.literal_eval(text.value))
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(text, ast.Expr)
        and ast.unparse(field.target) in record.model_fields
    }


if __name__ == "__main__":
    for kind in SCHEMAS:
        text = json.dumps(file_schema(kind), indent=2, ensure_ascii=False)
        shipped_file("prompts", f"{kind}.schema.json").write_text(f"{text}\n", encoding="utf-8")
