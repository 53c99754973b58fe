"""Reads promptfoo's assertions, their values and its tables of tests as assertions.

Criteria of judgekit.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.errors import DatasetError
from judgekit.formats.attachments import AttachmentError
from judgekit.formats.documents import read_yaml_text
from judgekit.formats.problems import json_kind, suggest_name, threshold_fault
from judgekit.formats.promptfoo_vocabulary import (
    CODE_ASSERTIONS,
    MODEL_FREE_ASSERTIONS,
    MODEL_GRADED_ASSERTIONS,
    PROMPTFOO_SIMILAR,
    PROMPTFOO_SIMILARITY,
    TRAJECTORY_ASSERTIONS,
    PromptfooChecks,
    UnsupportedAssertionError,
    replacement_hint,
    trajectory_spec,
    warn_about_scores,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from judgekit.formats.attachments import AttachmentReader
    from judgekit.formats.foreign_file import ForeignFile
    from judgekit.formats.text import KeyPath
    from judgekit.records import JsonObject

_SETTINGS = frozenset({"type", "value", "threshold", "weight", "metric"})
_METEOR = frozenset({"alpha", "beta", "gamma"})
_NOT = "not-"
_CALLS = frozenset(name for name in MODEL_FREE_ASSERTIONS if name.startswith("is-valid-"))
_SQL = frozenset({"is-sql", "contains-sql"})
_ONE_REFERENCE = frozenset({"bleu", "rouge-n"})
_CODE_FILE = re.compile(r"^file://.*\.(?:js|mjs|cjs|ts|py|rb)(?::\w+)?$")
_VARIABLE = re.compile(r"\{\{-?\s*([\w.]+)\s*-?\}\}")
_FILE = "file://"
_UNIT = {"min": 0, "max": 1}

# How many settings of one assertion that are not used are named.
_TOLD = 20


class AssertionReader:
    """Reads the assertions of a configuration's tests."""

    def __init__(
        self, reading: ForeignFile, shelf: AttachmentReader, templates: JsonObject
    ) -> None:
        self._reading = reading
        self._shelf = shelf
        self._templates = templates

    def read(
        self, items: list[tuple[KeyPath, JsonValue]], variables: JsonObject, *, is_scored: bool
    ) -> PromptfooChecks:
        """The assertions of a test."""
        checks = PromptfooChecks()
        for at, item in items:
            self._take(item, at, variables, checks, is_scored=is_scored)
        return checks

    def _take(
        self,
        item: JsonValue,
        at: KeyPath,
        variables: JsonObject,
        checks: PromptfooChecks,
        *,
        is_scored: bool,
    ) -> None:
        found = self._resolved(item, at)
        name = None if found is None else found.get("type")
        if found is None or not isinstance(name, str):
            return
        if name == "assert-set":
            self._take_set(found, at, variables, checks, is_scored=is_scored)
            return
        # A negated assertion is looked up by its plain name.
        plain = name.removeprefix(_NOT)
        if self._is_code(plain, found, at):
            return
        value = self._value(found.get("value"), (*at, "value"), variables)
        if plain in MODEL_GRADED_ASSERTIONS:
            self._grade(name, found, value, at, checks, is_scored=is_scored)
        elif plain.partition(":")[0] == PROMPTFOO_SIMILAR:
            self._compare(name, found, value, at, checks)
        elif plain in MODEL_FREE_ASSERTIONS:
            self._check(name, found, value, at, checks)
        elif plain in TRAJECTORY_ASSERTIONS:
            self._trace(name, found, value, at, checks)
        else:
            message = f"the assertion {name[:60]!r} has no counterpart here"
            remedy = replacement_hint(plain) or suggest_name(
                plain[:60], (*MODEL_FREE_ASSERTIONS, *MODEL_GRADED_ASSERTIONS)
            )
            self._reading.add((*at, "type"), message, remedy)

    def _resolved(self, item: JsonValue, at: KeyPath) -> JsonObject | None:
        """The assertion itself, or the template it refers to."""
        if not isinstance(item, dict):
            self._reading.add(at, f"an assertion is a mapping of fields, not {json_kind(item)}")
            return None
        reference = item.get("$ref")
        name = str(reference).removeprefix("#/assertionTemplates/")
        template = item if reference is None else self._templates.get(name)
        # A template that refers to another could refer to itself.
        if isinstance(template, dict) and (reference is None or "$ref" not in template):
            if not isinstance(template.get("type"), str):
                self._reading.add(at, "an assertion needs a `type`", "for example `contains`")
            return template
        message = f"no assertion template is called {name[:60]!r}"
        self._reading.add((*at, "$ref"), message, suggest_name(name[:60], self._templates))
        return None

    def _is_code(self, plain: str, found: JsonObject, at: KeyPath) -> bool:
        value = found.get("value")
        # A value that names a code file is run by promptfoo, whatever the assertion is.
        is_file = isinstance(value, str) and _CODE_FILE.match(value) is not None
        if plain in CODE_ASSERTIONS or is_file:
            message = f"the assertion `{plain}` holds code, which is never run from a file of data"
            remedy = (
                "write what it checks as `contains`, `regex`, `is-json` or an `llm-rubric`, or "
                "name a script of your own with `--allow-scripts`"
            )
            self._reading.add((*at, "value") if "value" in found else at, message, remedy)
            return True
        if "transform" in found:
            message = "`transform` is code, which is never run from a file of data"
            self._reading.add((*at, "transform"), message, "check the output as it is")
            return True
        return False

    def _value(self, value: JsonValue, at: KeyPath, variables: JsonObject) -> JsonValue:
        if isinstance(value, list):
            return [self._value(item, (*at, n), variables) for n, item in enumerate(value)]
        if isinstance(value, dict):
            return {name: self._value(v, (*at, name), variables) for name, v in value.items()}
        if not isinstance(value, str):
            return value
        if value.startswith(_FILE):
            value = self._file(value, at)
        return self._filled(value, at, variables)

    def _file(self, value: str, at: KeyPath) -> str:
        try:
            text = self._shelf.take(value.removeprefix(_FILE)).get("text")
        except AttachmentError as error:
            self._reading.add(at, str(error), error.remedy)
            return value
        if not isinstance(text, str):
            self._reading.add(at, f"the file {value!r} is no text")
            return value
        return text

    def _filled(self, text: str, at: KeyPath, variables: JsonObject) -> str:
        def fill(match: re.Match[str]) -> str:
            found: JsonValue = variables
            for part in match.group(1).split("."):
                found = found.get(part) if isinstance(found, dict) else None
            # A placeholder without a value stays, so that the warning below shows it.
            return match.group() if found is None or isinstance(found, dict | list) else str(found)

        filled = _VARIABLE.sub(fill, text)
        # Nunjucks expressions can loop and call filters; working them out would be running code.
        if "{{" in filled or "{%" in filled:
            message = "holds a template expression, which is not worked out"
            self._reading.warn(at, message, "write the value out; only {{name}} is filled in")
        return filled

    def _check(
        self, name: str, found: JsonObject, value: JsonValue, at: KeyPath, checks: PromptfooChecks
    ) -> None:
        plain = name.removeprefix(_NOT)
        value = converted_value(plain, value)
        if plain in _CALLS and value is None:
            message = f"`{name}` needs a `value`: the schemas of the tools"
            self._reading.add(at, message, "those of a provider's configuration are not read")
            return
        spec: JsonObject = {"type": name}
        # There `value` is an object with the dialect; here the dialect is a parameter.
        if plain in _SQL and isinstance(value, dict):
            self._dialect(value, (*at, "value"), spec)
            value = None
        if value is not None:
            spec["value"] = value
        known = {"threshold", "weight"} | (_METEOR if plain == "meteor" else set())
        spec |= {key: found[key] for key in sorted(known) if found.get(key) is not None}
        self._describe(spec, found, at)
        # promptfoo's METEOR also matches synonyms, which need data that are not installed here.
        if plain == "meteor":
            message = "`meteor` matches words and stems here, no synonyms: scores may be lower"
            self._reading.warn((*at, "type"), message, "set its `threshold` by scores from here")
        # A judge that grades the same case is shown the expected answer as its reference.
        if name == "equals" and isinstance(value, str):
            checks.reference = checks.reference or value
        if plain in _ONE_REFERENCE and isinstance(value, list):
            message = f"`{plain}` is asked of each reference on its own; one must be reached"
            self._reading.warn((*at, "value"), message)
            spec = alternative_values(plain, spec)
        checks.add(spec, at)

    def _dialect(self, value: JsonObject, at: KeyPath, spec: JsonObject) -> None:
        """Take the dialect of an assertion on SQL; its lists of rights are not read."""
        for name, given in value.items():
            if name == "databaseType" and str(given).lower() in SQL_DIALECTS:
                spec["dialect"] = SQL_DIALECTS[str(given).lower()]
            elif name == "databaseType":
                remedy = suggest_name(str(given)[:40].lower(), SQL_DIALECTS)
                self._reading.add((*at, name), f"{given!r} is no dialect that is read", remedy)
            else:
                message = f"`{name}` is not read here"
                self._reading.add((*at, name), message, "check for the names with `regex`")

    def _trace(
        self, name: str, found: JsonObject, value: JsonValue, at: KeyPath, checks: PromptfooChecks
    ) -> None:
        try:
            spec = trajectory_spec(name, value)
        except UnsupportedAssertionError as error:
            message = f"this `{name}` cannot be asked here"
            self._reading.add((*at, "value") if "value" in found else at, message, str(error))
            return
        if found.get("weight") is not None:
            spec["weight"] = found["weight"]
        self._describe(spec, found, at)
        checks.add(spec, at)

    def _describe(self, spec: JsonObject, found: JsonObject, at: KeyPath) -> None:
        """Keep the name of its metric, and tell of the settings that are not used."""
        if isinstance(found.get("metric"), str):
            spec["description"] = found["metric"]
        self._warn_of_settings(found, at)

    def _compare(
        self, name: str, found: JsonObject, value: JsonValue, at: KeyPath, checks: PromptfooChecks
    ) -> None:
        """Several texts are alternatives: the output must be like one of them."""
        threshold = found.get("threshold", PROMPTFOO_SIMILARITY)
        texts = value if isinstance(value, list) else [value]
        if fault := threshold_fault(("threshold",), threshold, ()):
            self._reading.add((*at, "threshold"), fault.message, fault.remedy)
        elif not isinstance(threshold, int | float) or threshold < 0:
            self._reading.add((*at, "threshold"), "`threshold` must be a number from 0 to 1")
        elif not texts or not all(isinstance(text, str) and text for text in texts):
            message = f"`{name}` needs a `value`: a text that the output should be like"
            self._reading.add(at, message)
        else:
            is_negated = name.startswith(_NOT)
            spec: JsonObject = {"type": f"{_NOT if is_negated else ''}{PROMPTFOO_SIMILAR}"}
            spec |= {"value": value, "threshold": threshold}
            if found.get("weight") is not None:
                spec["weight"] = found["weight"]
            self._describe(spec, found, at)
            if isinstance(value, list):
                spec = alternative_values(PROMPTFOO_SIMILAR, spec)
            # What an output should not be like is no good answer to show to a judge.
            elif not is_negated:
                checks.similarities.append(threshold)
                checks.reference = checks.reference or str(value)
            checks.add(spec, at)

    def _grade(
        self,
        name: str,
        found: JsonObject,
        value: JsonValue,
        at: KeyPath,
        checks: PromptfooChecks,
        *,
        is_scored: bool,
    ) -> None:
        # A criterion is met or not; none is met by failing another.
        if name.startswith(_NOT):
            message = f"`{name}` cannot be asked as a criterion"
            self._reading.add((*at, "type"), message, "ask for what the output should be")
            return
        # Several values are several demands on one output.
        text = "\n".join(f"- {item}" for item in value) if isinstance(value, list) else value
        if (
            not (isinstance(text, str) and text.strip())
            and "{value}" in MODEL_GRADED_ASSERTIONS[name]
        ):
            message = f"`{name}` needs a `value`, which is what is asked"
            self._reading.add(at, message)
            return
        if "factuality" in name and isinstance(text, str):
            checks.reference = checks.reference or text
        threshold = found.get("threshold")
        if fault := threshold_fault(("threshold",), threshold, ()):
            self._reading.add((*at, "threshold"), fault.message, fault.remedy)
            return
        criterion: JsonObject = {
            "name": _unused(str(found.get("metric") or name), checks.criteria),
            "question": MODEL_GRADED_ASSERTIONS[name].replace("{value}", str(text)),
            "scale": "binary" if threshold is None else {**_UNIT},
            "required": not is_scored,
        }
        # In a scored test the mean decides, so a criterion has no pass mark of its own.
        if threshold is not None or not is_scored:
            criterion["pass_value"] = 1.0 if threshold is None else threshold
        if found.get("weight") is not None:
            criterion["weight"] = found["weight"]
        self._warn_of_settings(found, at)
        checks.criteria.append(criterion)

    def _take_set(
        self,
        found: JsonObject,
        at: KeyPath,
        variables: JsonObject,
        checks: PromptfooChecks,
        *,
        is_scored: bool,
    ) -> None:
        """A set without a threshold is its members; one with a threshold is a group of checks."""
        inner = PromptfooChecks()
        # Without a threshold all members must pass, which they must without the set, too.
        is_group = found.get("threshold") is not None
        for place, item in self._reading.objects(found.get("assert"), (*at, "assert")):
            self._take(item, place, variables, inner, is_scored=is_scored or is_group)
        if not is_group:
            checks.assertions += inner.assertions
            checks.places += inner.places
            checks.criteria += inner.criteria
            checks.similarities += inner.similarities
        elif inner.criteria:
            message = "a set with a `threshold` may hold only checks that are right or wrong"
            self._reading.add(at, message, "leave the threshold out, or part the set")
        elif inner.assertions:
            spec: JsonObject = {"type": "all", "assertions": [*inner.assertions]}
            known = ("threshold", "weight")
            spec |= {key: found[key] for key in known if found.get(key) is not None}
            warn_about_scores(inner, at, self._reading)
            checks.add(spec, at)
        checks.reference = checks.reference or inner.reference

    def _warn_of_settings(self, found: JsonObject, at: KeyPath) -> None:
        is_meteor = str(found.get("type")).removeprefix(_NOT) == "meteor"
        known = _SETTINGS | (_METEOR if is_meteor else frozenset())
        others = [name for name in found if name not in known]
        for name in others[:_TOLD]:
            message = f"`{name}` of the assertion is not used here"
            remedy = "judges are set in the suite" if name == "provider" else None
            self._reading.warn((*at, name), message, remedy)
        if len(others) > _TOLD:
            message = f"and {len(others) - _TOLD:,} more are not used here"
            self._reading.warn((*at, others[_TOLD]), message)


def _unused(name: str, criteria: list[JsonValue]) -> str:
    taken = {item.get("name") for item in criteria if isinstance(item, dict)}
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    return found


_LIST_VALUED = frozenset({
    "contains-all", "contains-any", "icontains-all", "icontains-any", "is-xml", "contains-xml",
    "tool-call-f1",
})  # fmt: skip

_TEXTS = frozenset({
    "contains", "icontains", "equals", "starts-with", "regex", "levenshtein", "rouge-n", "bleu",
    "meteor", "finish-reason",
})  # fmt: skip

# The assertion that takes several texts at once, of which the best counts.
_SEVERAL = "meteor"
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


def converted_value(name: str, value: JsonValue) -> JsonValue:
    """The value an assertion has in promptfoo, in the form it has here."""
    # A number stands for its digits, `a, "b, c"` for a list of texts, the text of a JSON Schema in
    # JSON or YAML for the schema, and `{requiredElements: […]}` for the list.
    if name in _SCHEMAS:
        return _schema(value) if isinstance(value, str) else value
    if name in _LIST_VALUED:
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


def alternative_values(name: str, spec: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
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


_EXPECTED = re.compile(r"__expected\d*")
_METADATA = "__metadata:"
_LIST = "[]"
_COMMA = re.compile(r"(?<!\\),")

_ASSERTION = re.compile(
    r"(?P<type>(?:not-)?[a-z][a-z-]*)(?:\((?P<threshold>\d+(?:\.\d+)?)\))?(?::(?P<value>.*))?",
    re.DOTALL,
)

_CODE = {"fn": "javascript", "eval": "javascript", "javascript": "javascript", "python": "python"}
_SHORT = {"grade": "llm-rubric"}
_LIST_CELLS = frozenset({"contains-all", "contains-any", "icontains-all", "icontains-any"})
_NUMBERS = frozenset({"latency", "cost", "levenshtein"})


def row_as_test(row: Mapping[str, JsonValue], known: frozenset[str]) -> JsonObject:
    """A row of a table as a test."""
    variables: JsonObject = {}
    metadata: JsonObject = {}
    asserted: list[JsonValue] = []
    found: JsonObject = {}
    for name, cell in row.items():
        if not name.startswith("__"):
            variables[name] = cell
        elif cell is None or not str(cell).strip():
            continue
        elif _EXPECTED.fullmatch(name):
            asserted.append(assertion_of_text(str(cell), known))
        elif name == "__description":
            found["description"] = cell
        elif name == "__threshold":
            found["threshold"] = _number(str(cell))
        else:
            metadata |= _metadata(name, cell)
    return {**found, "vars": variables, "assert": asserted, "metadata": metadata}


def assertion_of_text(text: str, known: frozenset[str]) -> JsonObject:
    """An assertion as it stands in a cell: `contains: yes`, `similar(0.8): Hello`.

    Or a bare text.
    """
    match = _ASSERTION.fullmatch(text.strip())
    name = "" if match is None else match["type"]
    name = _CODE.get(name, _SHORT.get(name, name))
    plain = name.removeprefix("not-")
    if match is None or (plain not in known and plain not in _CODE.values()):
        return {"type": "equals", "value": text}
    found: JsonObject = {"type": name}
    value = (match["value"] or "").strip()
    if match["threshold"] is not None:
        found["threshold"] = float(match["threshold"])
    if plain in _LIST_CELLS:
        found["value"] = [part.strip() for part in value.split(",")]
    elif plain in _NUMBERS and match["threshold"] is None:
        found["threshold"] = _number(value)
    elif value:
        found["value"] = value
    return found


def _metadata(column: str, cell: JsonValue) -> JsonObject:
    """What a column of metadata or of settings says; `__metadata:tags[]` is a list."""
    name = column.removeprefix(_METADATA)
    if name == column or not name.endswith(_LIST):
        return {name: cell}
    parts = [part.strip().replace(r"\,", ",") for part in _COMMA.split(str(cell))]
    return {name.removesuffix(_LIST): [*parts]}


def _number(text: str) -> JsonValue:
    try:
        number = float(text)
    except ValueError:
        return text
    return number if abs(number) < float("inf") else text
