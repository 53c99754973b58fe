"""Maps promptfoo's assertions to judgekit's by name, rubrics to criteria; refuses code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from judgekit.datasets.faults import kind_of, suggestion
from judgekit.datasets.foreign.attachments import AttachmentError
from judgekit.datasets.foreign.promptfoo_checks import Checks, warn_of_scores
from judgekit.datasets.foreign.promptfoo_names import (
    CODE,
    DEFAULT_SIMILARITY,
    GRADED,
    PLAIN,
    SIMILAR,
    instead_of,
)
from judgekit.datasets.foreign.promptfoo_trajectory import (
    ON_TRAJECTORY,
    UnreadableError,
    trajectory_spec,
)
from judgekit.datasets.foreign.promptfoo_values import SQL_DIALECTS, alternatives, meant_value
from judgekit.datasets.thresholds import threshold_fault

if TYPE_CHECKING:
    from pydantic import JsonValue

    from judgekit.datasets.foreign.attachments import Shelf
    from judgekit.datasets.foreign.reading import Reading
    from judgekit.datasets.json_text import KeyPath
    from judgekit.records.record import JsonObject

_SETTINGS = frozenset({"type", "value", "threshold", "weight", "metric"})
_METEOR = frozenset({"alpha", "beta", "gamma"})
_NOT = "not-"
_CALLS = frozenset(name for name in PLAIN if name.startswith("is-valid-"))
_SQL = frozenset({"is-sql", "contains-sql"})
_ONE_REFERENCE = frozenset({"bleu", "rouge-n"})
_CODE_FILE = re.compile(r"^file://.*\.(?:js|mjs|cjs|ts|py|rb)(?::\w+)?$")
_VARIABLE = re.compile(r"\{\{-?\s*([\w.]+)\s*-?\}\}")
_FILE = "file://"
_UNIT = {"min": 0, "max": 1}
_TOLD = 20
"""How many settings of one assertion that are not used are named."""


class AssertionReader:
    """Reads the assertions of a configuration's tests."""

    def __init__(self, reading: Reading, shelf: Shelf, templates: JsonObject) -> None:
        self._reading = reading
        self._shelf = shelf
        self._templates = templates

    def read(
        self, items: list[tuple[KeyPath, JsonValue]], variables: JsonObject, *, is_scored: bool
    ) -> Checks:
        """The assertions of a test."""
        checks = Checks()
        for at, item in items:
            self._take(item, at, variables, checks, is_scored=is_scored)
        return checks

    def _take(
        self,
        item: JsonValue,
        at: KeyPath,
        variables: JsonObject,
        checks: Checks,
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
        plain = name.removeprefix(_NOT)
        if self._is_code(plain, found, at):
            return
        value = self._value(found.get("value"), (*at, "value"), variables)
        if plain in GRADED:
            self._grade(name, found, value, at, checks, is_scored=is_scored)
        elif plain.partition(":")[0] == SIMILAR:
            self._compare(name, found, value, at, checks)
        elif plain in PLAIN:
            self._check(name, found, value, at, checks)
        elif plain in ON_TRAJECTORY:
            self._trace(name, found, value, at, checks)
        else:
            message = f"the assertion {name[:60]!r} has no counterpart here"
            remedy = instead_of(plain) or suggestion(plain[:60], (*PLAIN, *GRADED))
            self._reading.add((*at, "type"), message, remedy)

    def _resolved(self, item: JsonValue, at: KeyPath) -> JsonObject | None:
        """The assertion itself, or the template it refers to."""
        if not isinstance(item, dict):
            self._reading.add(at, f"an assertion is a mapping of fields, not {kind_of(item)}")
            return None
        reference = item.get("$ref")
        name = str(reference).removeprefix("#/assertionTemplates/")
        template = item if reference is None else self._templates.get(name)
        if isinstance(template, dict) and (reference is None or "$ref" not in template):
            if not isinstance(template.get("type"), str):
                self._reading.add(at, "an assertion needs a `type`", "for example `contains`")
            return template
        message = f"no assertion template is called {name[:60]!r}"
        self._reading.add((*at, "$ref"), message, suggestion(name[:60], self._templates))
        return None

    def _is_code(self, plain: str, found: JsonObject, at: KeyPath) -> bool:
        value = found.get("value")
        is_file = isinstance(value, str) and _CODE_FILE.match(value) is not None
        if plain in CODE or is_file:
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
            return match.group() if found is None or isinstance(found, dict | list) else str(found)

        filled = _VARIABLE.sub(fill, text)
        if "{{" in filled or "{%" in filled:
            message = "holds a template expression, which is not worked out"
            self._reading.warn(at, message, "write the value out; only {{name}} is filled in")
        return filled

    def _check(
        self, name: str, found: JsonObject, value: JsonValue, at: KeyPath, checks: Checks
    ) -> None:
        plain = name.removeprefix(_NOT)
        value = meant_value(plain, value)
        if plain in _CALLS and value is None:
            message = f"`{name}` needs a `value`: the schemas of the tools"
            self._reading.add(at, message, "those of a provider's configuration are not read")
            return
        spec: JsonObject = {"type": name}
        if plain in _SQL and isinstance(value, dict):
            self._dialect(value, (*at, "value"), spec)
            value = None
        if value is not None:
            spec["value"] = value
        known = {"threshold", "weight"} | (_METEOR if plain == "meteor" else set())
        spec |= {key: found[key] for key in sorted(known) if found.get(key) is not None}
        self._describe(spec, found, at)
        if plain == "meteor":
            message = "`meteor` matches words and stems here, no synonyms: scores may be lower"
            self._reading.warn((*at, "type"), message, "set its `threshold` by scores from here")
        if name == "equals" and isinstance(value, str):
            checks.reference = checks.reference or value
        if plain in _ONE_REFERENCE and isinstance(value, list):
            message = f"`{plain}` is asked of each reference on its own; one must be reached"
            self._reading.warn((*at, "value"), message)
            spec = alternatives(plain, spec)
        checks.add(spec, at)

    def _dialect(self, value: JsonObject, at: KeyPath, spec: JsonObject) -> None:
        """Take the dialect of an assertion on SQL; its lists of rights are not read."""
        for name, given in value.items():
            if name == "databaseType" and str(given).lower() in SQL_DIALECTS:
                spec["dialect"] = SQL_DIALECTS[str(given).lower()]
            elif name == "databaseType":
                remedy = suggestion(str(given)[:40].lower(), SQL_DIALECTS)
                self._reading.add((*at, name), f"{given!r} is no dialect that is read", remedy)
            else:
                message = f"`{name}` is not read here"
                self._reading.add((*at, name), message, "check for the names with `regex`")

    def _trace(
        self, name: str, found: JsonObject, value: JsonValue, at: KeyPath, checks: Checks
    ) -> None:
        try:
            spec = trajectory_spec(name, value)
        except UnreadableError as error:
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
        self, name: str, found: JsonObject, value: JsonValue, at: KeyPath, checks: Checks
    ) -> None:
        """Several texts are alternatives: the output must be like one of them."""
        threshold = found.get("threshold", DEFAULT_SIMILARITY)
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
            spec: JsonObject = {"type": f"{_NOT if is_negated else ''}{SIMILAR}"}
            spec |= {"value": value, "threshold": threshold}
            if found.get("weight") is not None:
                spec["weight"] = found["weight"]
            self._describe(spec, found, at)
            if isinstance(value, list):
                spec = alternatives(SIMILAR, spec)
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
        checks: Checks,
        *,
        is_scored: bool,
    ) -> None:
        if name.startswith(_NOT):
            message = f"`{name}` cannot be asked as a criterion"
            self._reading.add((*at, "type"), message, "ask for what the output should be")
            return
        text = "\n".join(f"- {item}" for item in value) if isinstance(value, list) else value
        if not (isinstance(text, str) and text.strip()) and "{value}" in GRADED[name]:
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
            "question": GRADED[name].replace("{value}", str(text)),
            "scale": "binary" if threshold is None else {**_UNIT},
            "required": not is_scored,
        }
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
        checks: Checks,
        *,
        is_scored: bool,
    ) -> None:
        """A set without a threshold is its members; one with a threshold is a group of checks."""
        inner = Checks()
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
            warn_of_scores(inner, at, self._reading)
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
