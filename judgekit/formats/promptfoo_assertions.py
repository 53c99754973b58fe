"""Turns promptfoo's assertions, values and tables into judgekit's assertions and criteria."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.errors import DatasetError
from judgekit.formats.attachments import AttachmentError, AttachmentReader
from judgekit.formats.documents import parse_document
from judgekit.formats.foreign_file import NEEDS_SCRIPTS, ForeignFile, map_texts
from judgekit.formats.problems import json_kind, suggest_name
from judgekit.formats.promptfoo_files import FILE, code_call, code_path
from judgekit.formats.promptfoo_syntax import UntranslatedError, as_draft, as_steps, python_pattern
from judgekit.formats.promptfoo_vocabulary import (
    CODE_ASSERTIONS,
    COMPARING_ASSERTIONS,
    KNOWN_ASSERTIONS,
    MODEL_FREE_ASSERTIONS,
    MODEL_GRADED_ASSERTIONS,
    NO_CODE,
    NO_COUNTERPART,
    OWN_TYPES,
    PROMPTFOO_SIMILAR,
    PROMPTFOO_SIMILARITY,
    SQL_DIALECTS,
    TRAJECTORY_ASSERTIONS,
    WRITE_IT,
    PromptfooChecks,
    UnsupportedAssertionError,
    is_threshold,
    replacement_hint,
    share_weight,
    trajectory_spec,
    unused_name,
)
from judgekit.formats.text import as_mapping, javascript_text, objects_in, one_or_several

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic import JsonValue

    from judgekit.formats.text import KeyPath
    from judgekit.records import JsonObject

_SETTINGS = frozenset({"type", "value", "threshold", "weight", "metric", "transform", "config"})
_METEOR = ("alpha", "beta", "gamma")
_NOT = "not-"
_CALLS = frozenset(name for name in MODEL_FREE_ASSERTIONS if name.startswith("is-valid-"))
_NEVER_EMPTY = frozenset({
    "contains", "contains-all", "contains-any", "icontains", "icontains-all", "icontains-any",
    "regex", "starts-with",
})  # fmt: skip
_SQL = frozenset({"is-sql", "contains-sql"})
_ONE_REFERENCE = "rouge-n"
# Parameters with which an assertion gives the scores of promptfoo.
_OWN_SETTINGS: Mapping[str, JsonObject] = {
    "rouge-n": {"signs": True},
    "contains-all": {"partial": False},
    "icontains-all": {"partial": False},
    "contains-json": {"formats": True},
    "is-json": {"formats": True},
}
_VARIABLE = re.compile(r"\{\{-?\s*([\w.]+)\s*-?\}\}")
_UNIT = {"min": 0, "max": 1}

# How many unused settings of one assertion are listed; a file may have millions.
_LISTED = 20


@dataclass(frozen=True, slots=True)
class _Assertion:
    """One assertion of a test, its template looked up and its value filled in."""

    name: str
    fields: JsonObject
    at: KeyPath
    value: JsonValue = None

    @property
    def plain(self) -> str:
        return self.name.removeprefix(_NOT)

    def settings(self, *names: str) -> JsonObject:
        return {name: self.fields[name] for name in names if self.fields.get(name) is not None}

    @property
    def value_at(self) -> KeyPath:
        """Where the value stands; without one, where the assertion does."""
        return (*self.at, "value") if "value" in self.fields else self.at


@dataclass(frozen=True, slots=True)
class AssertionReader:
    """Reads the assertions of a configuration's tests."""

    _reading: ForeignFile
    _files: AttachmentReader
    _templates: JsonObject
    _judge_name: Callable[[JsonValue, KeyPath], str | None]  # of a grader
    own_judge: JsonValue = None  # the name of the judge that the test has

    def read(
        self, items: list[tuple[KeyPath, JsonValue]], variables: JsonObject, *, is_scored: bool
    ) -> PromptfooChecks:
        checks = PromptfooChecks()
        for at, item in items:
            fields = self._resolved(item, at)
            name = None if fields is None else fields.get("type")
            if fields is None or not isinstance(name, str):
                continue
            assertion = _Assertion(name, fields, at)
            if name == "assert-set":
                self._take_set(assertion, variables, checks, is_scored=is_scored)
            elif (marker := self._omission(assertion)) is not None:
                checks.add(marker, at)
            else:
                try:
                    value = self._value(fields.get("value"), (*at, "value"), variables)
                except AttachmentError as error:
                    self._mark(assertion, assertion.value_at, str(error), error.remedy, checks)
                    continue
                except UntranslatedError as error:
                    remedy = "write the value out; only {{name}} is filled in"
                    self._mark(assertion, assertion.value_at, str(error), remedy, checks)
                    continue
                n_before, n_similar = len(checks.assertions), len(checks.similarities)
                self._take(replace(assertion, value=value), checks, is_scored=is_scored)
                steps = as_steps(str(fields.get("transform") or "output"))
                for spec in checks.assertions[n_before:] if steps else ():
                    _transform(spec, [*(steps or ())])
                    # A strategy would measure the whole output.
                    del checks.similarities[n_similar:]
        return checks

    def _take(self, item: _Assertion, checks: PromptfooChecks, *, is_scored: bool) -> None:
        plain = item.plain
        if plain in MODEL_GRADED_ASSERTIONS:
            self._grade(item, checks, is_scored=is_scored)
        elif plain.partition(":")[0] == PROMPTFOO_SIMILAR:
            self._compare(item, checks)
        elif plain in COMPARING_ASSERTIONS:
            self._choose(item, checks)
        elif plain in MODEL_FREE_ASSERTIONS:
            self._check(item, checks)
        elif plain in TRAJECTORY_ASSERTIONS:
            try:
                spec = trajectory_spec(item.name, item.value)
            except UnsupportedAssertionError as error:
                self._mark(item, item.value_at, NO_COUNTERPART, str(error), checks)
                return
            self._describe(spec, item)
            checks.add(spec, item.at)
        else:  # promptfoo fails such a test and runs the others
            near = suggest_name(plain[:60], (*MODEL_FREE_ASSERTIONS, *MODEL_GRADED_ASSERTIONS))
            self._mark(item, (*item.at, "type"), "no assertion is called so", near, checks)

    def _mark(
        self,
        item: _Assertion,
        at: KeyPath,
        reason: str,
        remedy: str | None,
        checks: PromptfooChecks,
    ) -> None:
        checks.add(self._reading.not_imported(item.name, at, reason, remedy), at)

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

    def _omission(self, item: _Assertion) -> JsonObject | None:
        """What marks a case whose assertion is left out: it is code, or has no counterpart."""
        value, plain = item.fields.get("value"), item.plain
        # A value that names a code file is run by promptfoo, whatever the assertion is.
        is_file = isinstance(value, str) and value.startswith(FILE) and code_path(value) is not None
        if plain in CODE_ASSERTIONS or is_file:
            return self._code(item)
        steps = as_steps(str(item.fields.get("transform") or "output"))
        at: KeyPath = (*item.at, "transform")
        if steps is None:
            return self._reading.not_imported("transform", at, NO_CODE, WRITE_IT)
        if steps and plain in MODEL_GRADED_ASSERTIONS.keys() | COMPARING_ASSERTIONS:
            reason, remedy = "a judge sees the whole output", "transform the test's output"
            return self._reading.not_imported("transform", at, reason, remedy)
        is_known = plain in KNOWN_ASSERTIONS or plain.partition(":")[0] == PROMPTFOO_SIMILAR
        if is_known or (hint := replacement_hint(plain)) is None:
            return None
        at = (*item.at, "type")
        reason = "it has no counterpart here"
        return self._reading.not_imported(item.name, at, reason, hint)

    def _code(self, item: _Assertion) -> JsonObject:
        """The mark of an assertion that is code, with what is called where scripts are allowed."""
        value, language = item.fields.get("value"), item.plain
        call = code_call(value, language=language, function="get_assert")
        is_own = call is not None and language == call["language"]
        if not is_own or "transform" in item.fields:
            return self._reading.not_imported(item.name, item.value_at, NO_CODE, WRITE_IT)
        negation = _NOT if item.name.startswith(_NOT) else ""
        spec: JsonObject = {"type": negation + OWN_TYPES[item.plain], "call": call}
        spec |= item.settings("threshold", "config")
        self._describe(spec, item)
        at, reason = item.value_at, f"it {NEEDS_SCRIPTS}"
        return self._reading.not_imported(item.name, at, reason, WRITE_IT, script=spec)

    def _value(self, value: JsonValue, at: KeyPath, variables: JsonObject) -> JsonValue:
        def read(text: str, _: KeyPath) -> JsonValue:
            content: JsonValue = text
            if text.startswith(FILE):
                content = self._files.take(text.removeprefix(FILE)).get("text")
            if not isinstance(content, str):
                raise AttachmentError(f"the file {text!r} is no text")
            return _filled(content, variables)

        return map_texts(value, at, read)

    def _check(self, item: _Assertion, checks: PromptfooChecks) -> None:
        plain, value = item.plain, converted_value(item.plain, item.value)
        if (fault := _value_fault(plain, value)) is not None:
            self._mark(item, item.value_at, *fault, checks)
            return
        negation = _NOT if item.name.startswith(_NOT) else ""
        spec: JsonObject = {"type": negation + OWN_TYPES.get(plain, plain)}
        # In promptfoo `value` is an object with the dialect; here the dialect is a parameter.
        if plain in _SQL and isinstance(value, dict):
            self._sql(item, value, spec, checks)
            value = None
        if value is not None:
            spec |= {"value": value, **_OWN_SETTINGS.get(plain, {})}
        spec |= item.settings(*(_METEOR if plain == "meteor" else ()), "threshold")
        if plain == "levenshtein" and isinstance(stated := spec.get("threshold"), float):
            spec["threshold"] = int(stated)
        self._describe(spec, item)
        # promptfoo's METEOR also matches synonyms, which need data that are not installed here.
        if plain == "meteor":
            message = "`meteor` matches words and stems here, no synonyms: scores may be lower"
            remedy = "set its `threshold` by scores from here"
            self._reading.warn((*item.at, "type"), message, remedy)
        # A judge that grades the same case is shown the expected answer as its reference.
        if item.name == "equals" and isinstance(value, str):
            checks.reference = checks.reference or value
        if plain == _ONE_REFERENCE and isinstance(value, list):
            message = f"`{plain}` compares with each reference separately; one must be reached"
            self._reading.warn((*item.at, "value"), message)
            spec = alternative_values(plain, spec)
        checks.add(spec, item.at)

    def _sql(
        self, item: _Assertion, value: JsonObject, spec: JsonObject, checks: PromptfooChecks
    ) -> None:
        at: KeyPath = (*item.at, "value")
        if others := sorted(value.keys() - {"databaseType"}):
            # The names a query may use are a second check, which is lost.
            reason = f"`{others[0][:40]}` is not read here"
            self._mark(item, at, reason, "use `regex`", checks)
        name = str(value.get("databaseType", "")).lower()
        if name in SQL_DIALECTS:
            spec["dialect"] = SQL_DIALECTS[name]
        elif name:
            reason = f"{value['databaseType']!r} is no dialect that is read"
            remedy = suggest_name(name[:40], SQL_DIALECTS)
            self._mark(item, (*at, "databaseType"), reason, remedy, checks)

    def _choose(self, item: _Assertion, checks: PromptfooChecks) -> None:
        value = item.value
        if item.name == "select-best" and isinstance(value, str) and value.strip():
            spec: JsonObject = {"type": item.name, "value": value}
            own = self._judge_name(item.fields.get("provider"), (*item.at, "provider"))
            if (judge := own or self.own_judge) is not None:
                spec["judge"] = judge
        elif item.name == "max-score" and isinstance(value, dict | None):
            spec = {"type": item.name, **(value or {})}
        else:
            reason = f"its `value` is {json_kind(value)}"
            reason = "it is negated" if item.name.startswith(_NOT) else reason
            self._mark(item, item.value_at, reason, "write what the best output is", checks)
            return
        self._describe(spec, item, frozenset({"provider"}))
        checks.choices.append((item.at, spec))

    def _describe(
        self, spec: JsonObject, item: _Assertion, more: frozenset[str] = frozenset()
    ) -> None:
        """Add weight and metric to a spec, and list settings that are not imported."""
        spec |= item.settings("weight")
        if isinstance(metric := item.fields.get("metric"), str):
            spec["description"] = metric
        self._leave_out_settings(item, more)

    def _compare(self, item: _Assertion, checks: PromptfooChecks) -> None:
        """Several texts are alternatives: the output must be like one of them."""
        value, at = item.value, item.at
        threshold = item.fields.get("threshold", PROMPTFOO_SIMILARITY)
        texts = one_or_several(value)
        if not is_threshold(threshold, at, self._reading):
            return
        if not texts or not all(isinstance(text, str) and text for text in texts):
            reason = "it needs a `value`: a text that the output should be like"
            self._mark(item, at, reason, "write the `value`", checks)
        else:
            is_negated = item.name.startswith(_NOT)
            spec: JsonObject = {"type": f"{_NOT if is_negated else ''}{PROMPTFOO_SIMILAR}"}
            spec |= {"value": value, "threshold": threshold}
            self._describe(spec, item)
            if isinstance(value, list):
                spec = alternative_values(PROMPTFOO_SIMILAR, spec)
            # A text that the output must not be like is no good answer to show to a judge.
            elif not is_negated:
                checks.similarities.append(threshold)
                checks.reference = checks.reference or str(value)
            checks.add(spec, at)

    def _grade(self, item: _Assertion, checks: PromptfooChecks, *, is_scored: bool) -> None:
        name, at = item.name, item.at
        # A criterion is met or not; none is met by failing another.
        if name.startswith(_NOT):
            reason = "it cannot be a criterion"
            self._mark(item, (*at, "type"), reason, "ask for what the output should be", checks)
            return
        # Several values are several demands on one output.
        value = item.value
        text = "\n".join(f"- {one}" for one in value) if isinstance(value, list) else value
        question = MODEL_GRADED_ASSERTIONS[name]
        if "{value}" in question and not (isinstance(text, str) and text.strip()):
            reason = "it needs a `value`, which is what is asked"
            self._mark(item, at, reason, "write the `value`", checks)
            return
        if "factuality" in name and isinstance(text, str):
            checks.reference = checks.reference or text
        threshold = item.fields.get("threshold")
        if threshold is not None and not is_threshold(threshold, at, self._reading):
            return
        taken_names = {one.get("name") for one in checks.criteria if isinstance(one, dict)}
        criterion: JsonObject = {
            "name": unused_name(str(item.fields.get("metric") or name), taken_names),
            "question": question.replace("{value}", str(text)),
            "scale": "binary" if threshold is None else {**_UNIT},
            "required": not is_scored,
        }
        # In a scored test the mean decides, so a criterion has no pass mark of its own.
        if threshold is not None or not is_scored:
            criterion["pass_value"] = 1.0 if threshold is None else threshold
        criterion |= item.settings("weight")
        own = self._judge_name(item.fields.get("provider"), (*item.at, "provider"))
        if (judge := own or self.own_judge) is not None:
            criterion["judge"] = judge
        self._leave_out_settings(item, frozenset({"provider"}))
        checks.criteria.append(criterion)

    def _take_set(
        self, item: _Assertion, variables: JsonObject, checks: PromptfooChecks, *, is_scored: bool
    ) -> None:
        """A set is a group of checks, or its members where they decide alone as in the set."""
        threshold = item.fields.get("threshold")
        members = self._reading.objects(item.fields.get("assert"), (*item.at, "assert"))
        listed: list[tuple[KeyPath, JsonValue]] = [*members]
        inner = self.read(listed, variables, is_scored=is_scored or threshold is not None)
        checks.reference = checks.reference or inner.reference
        checks.choices += inner.choices
        is_weightless = all(spec.get("weight") == 0 for spec in inner.assertions)
        if inner.criteria and threshold is not None:
            reason = "with a `threshold` it may hold only checks that need no model"
            remedy = "leave the threshold out, or split the set"
            self._mark(item, item.at, reason, remedy, checks)
        elif threshold is None and (inner.criteria or not is_scored or is_weightless):
            # Without a threshold all members must pass, as they must without the set.
            if is_scored:
                share_weight(inner.criteria, item.fields.get("weight"))
            if isinstance(metric := item.fields.get("metric"), str):
                for member in inner.assertions:
                    member.setdefault("description", metric)
            self._leave_out_settings(item, frozenset({"assert"}))
            checks.assertions += inner.assertions
            checks.places += inner.places
            checks.criteria += inner.criteria
            checks.similarities += inner.similarities
        elif inner.assertions:
            # Under the threshold of its test, too, a set counts as one check of its own weight.
            spec: JsonObject = {"type": "all", "assertions": [*inner.assertions], "scored": True}
            spec |= item.settings("threshold")
            self._describe(spec, item, frozenset({"assert"}))
            checks.add(spec, item.at)

    def _leave_out_settings(self, item: _Assertion, more: frozenset[str] = frozenset()) -> None:
        known = _SETTINGS | more | {*(_METEOR if item.plain == "meteor" else ())}
        others = [name for name in item.fields if name not in known]
        for name in others[:_LISTED]:
            message = f"`{name[:60]}` of the assertion is not imported: {NO_COUNTERPART}"
            self._reading.leave_out((*item.at, name), message)
        if len(others) > _LISTED:
            message = f"and {len(others) - _LISTED:,} more are not imported"
            self._reading.leave_out((*item.at, others[_LISTED]), message)


def _value_fault(plain: str, value: JsonValue) -> tuple[str, str] | None:
    """Why an assertion cannot be carried out with a value, and what to do."""
    if plain in _CALLS and value is None:
        remedy = "copy the `tools` of the provider's configuration"
        return "it needs a `value`, the schemas of the tools", remedy
    if plain in _NEVER_EMPTY and value is not None and not all(one_or_several(value) or [""]):
        return "its `value` is empty, so it says nothing about an output", "write the `value`"
    try:
        re.compile(value if plain == "regex" and isinstance(value, str) else "")
    except (re.error, OverflowError, RecursionError) as error:
        return f"Python's `re` does not read its pattern: {error}", "write the pattern for it"
    return None


def _filled(text: str, variables: JsonObject) -> str:
    """A text with the values of variables in the place of their names."""
    # Nunjucks expressions can loop and call filters; evaluating them would be running code.
    if any(sign in _VARIABLE.sub("", text) for sign in ("{{", "{%")):
        raise UntranslatedError("its value holds a template expression")

    def fill(match: re.Match[str]) -> str:
        found: JsonValue = variables
        for part in match[1].split("."):
            found = as_mapping(found).get(part)
        if found is None or isinstance(found, dict):
            raise UntranslatedError(
                f"its value shows `{match[1][:60]}`, for which there is no text"
            )
        return javascript_text(found)

    return _VARIABLE.sub(fill, text)


def _transform(spec: JsonObject, steps: list[JsonValue]) -> None:
    """Let an assertion, or each member of a group, look at a part of the output."""
    for member in objects_in(spec.get("assertions")):
        _transform(member, steps)
    if not isinstance(spec.get("assertions"), list):
        spec["transform"] = steps


_LIST_VALUED = frozenset({
    "contains-all", "contains-any", "icontains-all", "icontains-any", "is-xml", "contains-xml",
    "tool-call-f1",
})  # fmt: skip

_TEXTS = frozenset({
    "contains", "icontains", "equals", "starts-with", "regex", "levenshtein", "rouge-n", "bleu",
    "gleu", "meteor", "finish-reason",
})  # fmt: skip

# The assertion that takes several texts at once, of which the best counts.
_SEVERAL = frozenset({"bleu", "gleu", "meteor"})
_SCHEMAS = frozenset({"is-json", "contains-json"})

_ELEMENTS = "requiredElements"


def converted_value(name: str, value: JsonValue) -> JsonValue:
    """The value of an assertion of promptfoo in the form it has here."""
    # A number stands for its digits, `a, "b, c"` for a list of texts, the text of a JSON Schema in
    # JSON or YAML for the schema (an empty one for none), and `{requiredElements: […]}` for the
    # list.
    if name in _SCHEMAS:
        schema = _schema(value) if isinstance(value, str) and value else value
        return None if schema == "" else as_draft(schema)
    if name in _LIST_VALUED:
        return _texts(value)
    if name in _SEVERAL and isinstance(value, list):
        return [_text(item) for item in value]
    if name == "regex" and isinstance(value, str):
        return python_pattern(value)
    return _text(value) if name in _TEXTS else value


def _texts(value: JsonValue) -> JsonValue:
    if isinstance(value, dict) and value.keys() == {_ELEMENTS}:
        value = value[_ELEMENTS]
    if isinstance(value, list):
        return [_text(item) for item in value]
    if not isinstance(text := _text(value), str):
        return value
    cells = [
        _QUOTE.sub(lambda s: s[1] or '"', one) or two.strip() for one, two in _CELL.findall(text)
    ]
    return [cell for cell in cells if cell]


# A part of a text between commas, which stand for themselves within quotation marks.
_CELL = re.compile(r'\s*+(?:"([^"\\]*(?:(?:\\.|"")[^"\\]*)*)"\s*+(?=,|\Z)|([^,]+))', re.DOTALL)
_QUOTE = re.compile(r'\\(["\\])|""')


def _text(value: JsonValue) -> JsonValue:
    if isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, int | float) else value


def _schema(text: str) -> JsonValue:
    schema: JsonValue
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError):
        try:
            schema = parse_document(text, Path("schema.yaml")).value
        except DatasetError:
            return text
    return schema if isinstance(schema, dict | bool) else text


def alternative_values(name: str, spec: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """An assertion with several references, as a group of which one must pass."""
    group = {key: item for key, item in spec.items() if key in {"weight", "description"}}
    own = {key: item for key, item in spec.items() if key not in {*group, "type", "value"}}
    members: list[JsonValue] = [
        {"type": name, "value": _text(each), **own} for each in one_or_several(spec["value"])
    ]
    is_negated = str(spec["type"]).startswith("not-")
    return {"type": "not-any" if is_negated else "any", "assertions": members, **group}
