"""Reads a configuration of promptfoo: its tests, scenarios and tables of tests as cases."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.datasets.documents import read_document
from judgekit.datasets.faults import kind_of
from judgekit.datasets.foreign.attachments import (
    AttachmentError,
    FolderAttachments,
    Shelf,
    safe_name,
)
from judgekit.datasets.foreign.promptfoo_assertions import AssertionReader
from judgekit.datasets.foreign.promptfoo_checks import Checks, hold_to_mean
from judgekit.datasets.foreign.promptfoo_names import CODE, GRADED, PLAIN
from judgekit.datasets.foreign.promptfoo_tables import row_as_test
from judgekit.datasets.foreign.promptfoo_trajectory import ON_TRAJECTORY
from judgekit.datasets.foreign.reading import Reading
from judgekit.datasets.rows import DOCUMENT_SUFFIXES, iter_rows, suffix_of
from judgekit.datasets.thresholds import threshold_fault
from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from judgekit.datasets.documents import Document
    from judgekit.datasets.json_text import KeyPath
    from judgekit.records.record import JsonObject

MAX_CASES = 100_000
"""How many cases the variables of a configuration may come to."""

_FILE = "file://"
_CODE_SUFFIXES = frozenset({".js", ".mjs", ".cjs", ".ts", ".py", ".rb"})
_KEPT = ("options", "providers", "provider", "prompts", "threshold")


@dataclass(frozen=True, slots=True)
class _Test:
    """A test, with the place in the configuration it comes from."""

    number: str
    at: KeyPath
    fields: JsonObject


def read_promptfoo(document: Document) -> Reading:
    """The tests of a configuration as cases: `test-1`, …, expanded ones `test-1.1`, …."""
    # A case's input is its variables. Assertions keep their names; those that ask a model become
    # criteria of a rubric of the case. Code is refused, never run.
    reader = _Config(document)
    reader.read()
    return reader.reading


class _Config:
    """One configuration while it is read."""

    def __init__(self, document: Document) -> None:
        self.reading = Reading(document)
        value = document.value
        self._fields: JsonObject = value if isinstance(value, dict) else {"tests": value}
        self._is_list = not isinstance(value, dict)
        self._is_full = False
        self._folder = document.path.parent
        self._shelf = Shelf(FolderAttachments(self._folder))
        templates = self._fields.get("assertionTemplates")
        self._assertions = AssertionReader(
            self.reading, self._shelf, templates if isinstance(templates, dict) else {}
        )

    def read(self) -> None:
        described = self._fields.get("description")
        if isinstance(described, str):
            self.reading.header = {"description": described}
        default = self._fields.get("defaultTest")
        if isinstance(default, str):
            message = "`defaultTest` in a file of its own is not read"
            self.reading.add(("defaultTest",), message, "write it here")
        given = default if isinstance(default, dict) else {}
        for test in itertools.chain(self._tests(), self._scenarios()):
            self._take(test, given)
            if self._is_full:
                return

    def _tests(self) -> Iterator[_Test]:
        tests = self._fields.get("tests")
        at: KeyPath = () if self._is_list else ("tests",)
        number = itertools.count(1)
        for place, fields in self._listed(tests, at):
            yield _Test(f"test-{next(number)}", place, fields)

    def _listed(self, tests: JsonValue, at: KeyPath) -> Iterator[tuple[KeyPath, JsonObject]]:
        """Tests that stand here, and those in files named here."""
        if tests is None:
            return
        if isinstance(tests, str):
            yield from ((at, test) for test in self._in_file(tests, at))
        elif isinstance(tests, list):
            for index, item in enumerate(tests):
                place = (*at, index)
                if isinstance(item, dict):
                    yield place, item
                elif isinstance(item, str):
                    yield from ((place, test) for test in self._in_file(item, place))
                else:
                    message = f"a test is a mapping or a file, not {kind_of(item)}"
                    self.reading.add(place, message)
        else:
            message = f"`tests` is a list or a file, not {kind_of(tests)}"
            self.reading.add(at, message)

    def _in_file(self, name: str, at: KeyPath) -> list[JsonObject]:
        path = self._path(name, at)
        if path is None:
            return []
        try:
            if suffix_of(path) in DOCUMENT_SUFFIXES:
                value = read_document(path).value
                items = value if isinstance(value, list) else [value]
                return [item for item in items if isinstance(item, dict)]
            known = frozenset({*PLAIN, *GRADED, *CODE, *ON_TRAJECTORY})
            rows = iter_rows(path)
            return [row_as_test(r.fields, known) if r.is_table else r.fields for r in rows]
        except DatasetError as error:
            self.reading.add(at, f"the tests cannot be read: {error.message}", error.hint)
            return []

    def _path(self, name: str, at: KeyPath) -> Path | None:
        """A file named here, in the configuration's folder."""
        given = name.removeprefix(_FILE)
        if "://" in given or "*" in given:
            message = f"{name[:80]!r} is not a file here"
            self.reading.add(at, message, "name one file in the configuration's folder")
            return None
        if Path(given.split(":")[0]).suffix.lower() in _CODE_SUFFIXES:
            message = f"{name[:80]!r} is code, which is never run from a file of data"
            self.reading.add(at, message, "write the tests out as YAML, JSONL or CSV")
            return None
        try:
            path = self._folder / safe_name(given)
            is_inside = path.resolve().is_relative_to(self._folder.resolve())
        except (AttachmentError, OSError, ValueError, RuntimeError) as error:
            self.reading.add(at, str(error))
            return None
        if not is_inside:
            self.reading.add(at, f"the path {given!r} leads out of its folder")
            return None
        return path

    def _scenarios(self) -> Iterator[_Test]:
        given = self._fields.get("scenarios")
        if given is None:
            return
        for number, (at, scenario) in enumerate(self.reading.objects(given, ("scenarios",)), 1):
            configs = list(self.reading.objects(scenario.get("config"), (*at, "config")))
            tests = list(self._listed(scenario.get("tests", [{}]), (*at, "tests")))
            pairs = itertools.product(configs, tests)
            for place, ((_, config), (where, test)) in enumerate(pairs, 1):
                yield _Test(f"scenario-{number}.{place}", where, _merged(config, test))

    def _take(self, test: _Test, default: JsonObject) -> None:
        whole = _merged(default, test.fields)
        asserted = [
            *self._asserted(default, ("defaultTest",)),
            *self._asserted(test.fields, test.at),
        ]
        options = test.fields.get("options")
        if isinstance(options, dict) and options.get("disableDefaultAsserts") is True:
            asserted = self._asserted(test.fields, test.at)
        variables = self._variables(whole.get("vars"), (*test.at, "vars"))
        lists = _expanded_lists(variables, options)
        n_cases = math.prod(map(len, lists.values()))
        if n_cases + len(self.reading.cases) > MAX_CASES:
            self.reading.add(test.at, f"the variables come to more than {MAX_CASES} cases")
            self._is_full = True
            return
        for place, values in enumerate(itertools.product(*lists.values()), start=1):
            name = test.number if n_cases == 1 else f"{test.number}.{place}"
            each = {**variables, **dict(zip(lists, values, strict=True))}
            self._add(name, whole, each, asserted, test.at)

    def _asserted(self, fields: JsonObject, at: KeyPath) -> list[tuple[KeyPath, JsonValue]]:
        given = fields.get("assert")
        if given is None:
            return []
        if not isinstance(given, list):
            self.reading.add((*at, "assert"), f"`assert` must be a list, not {kind_of(given)}")
            return []
        return [((*at, "assert", index), item) for index, item in enumerate(given)]

    def _variables(self, given: JsonValue, at: KeyPath) -> JsonObject:
        if given is None:
            return {}
        if not isinstance(given, dict):
            message = f"`vars` must be a mapping here, not {kind_of(given)}"
            self.reading.add(at, message, "write the variables out")
            return {}
        return {name: self._variable(value, (*at, name)) for name, value in given.items()}

    def _variable(self, value: JsonValue, at: KeyPath) -> JsonValue:
        if not isinstance(value, str) or not value.startswith(_FILE):
            return value
        if self._path(value, at) is None:
            return value
        try:
            return self._shelf.take(value.removeprefix(_FILE)).get("text", value)
        except AttachmentError as error:
            self.reading.add(at, str(error), error.remedy)
            return value

    def _add(
        self,
        name: str,
        whole: JsonObject,
        variables: JsonObject,
        asserted: list[tuple[KeyPath, JsonValue]],
        at: KeyPath,
    ) -> None:
        threshold = whole.get("threshold")
        if fault := threshold_fault(("threshold",), threshold, ()):
            self.reading.add((*at, "threshold"), fault.message, fault.remedy, case_id=name)
            return
        if threshold is not None and not _is_number(threshold):
            message = f"`threshold` must be a number from 0 to 1, not {kind_of(threshold)}"
            self.reading.add((*at, "threshold"), message, case_id=name)
            return
        checks = self._assertions.read(asserted, variables, is_scored=threshold is not None)
        if threshold is not None:
            hold_to_mean(checks, threshold, at, self.reading)
        if not checks.assertions and not checks.criteria:
            message = "the test asserts nothing, so it cannot fail"
            self.reading.warn(at, message, "add `assert`, or grade it with a rubric", case_id=name)
        metadata = whole.get("metadata")
        kept: JsonObject = {**metadata} if isinstance(metadata, dict) else {}
        kept |= {key: whole[key] for key in _KEPT if whole.get(key) is not None}
        rubric: JsonObject | None = None
        if checks.criteria:
            pass_threshold = 0.0 if threshold is None else threshold
            rubric = {"name": name, "criteria": checks.criteria, "pass_threshold": pass_threshold}
        tags = kept.get("tags")
        fields: JsonObject = {
            "id": name,
            "name": whole.get("description"),
            "input": variables,
            "reference": checks.reference,
            "assertions": [*checks.assertions],
            "rubric": rubric,
            "evaluation": _evaluation(checks),
            "tags": tags if isinstance(tags, list) else None,
            "metadata": kept,
        }
        if self.reading.add_case(fields, at) is not None:
            self.reading.spec_places[name] = checks.places


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _evaluation(checks: Checks) -> JsonObject | None:
    """One similarity decides, with the other assertions as guards, unless a judge is asked too."""
    if len(checks.similarities) != 1 or checks.criteria:
        return None
    return {"strategy": "semantic_sim", "threshold": checks.similarities[0]}


def _merged(first: JsonObject, second: JsonObject) -> JsonObject:
    """A test over what holds for all: variables, metadata and options by name, assertions apart."""
    merged: JsonObject = {**first, **second}
    for name in ("vars", "metadata", "options"):
        one, other = first.get(name), second.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            merged[name] = {**one, **other}
    one, other = first.get("assert"), second.get("assert")
    if isinstance(one, list) and isinstance(other, list):
        merged["assert"] = [*one, *other]
    return merged


def _expanded_lists(variables: JsonObject, options: JsonValue) -> dict[str, list[JsonValue]]:
    """The variables with several values, of whose combinations each makes a case."""
    if isinstance(options, dict) and options.get("disableVarExpansion") is True:
        return {}
    return {name: v for name, v in variables.items() if isinstance(v, list) and v}
