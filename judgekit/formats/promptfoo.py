"""Reads promptfoo's configurations as cases, and its results as outputs and judgments.

Assertions are read by `promptfoo_assertions`.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field, JsonValue

from judgekit.errors import DatasetError
from judgekit.fingerprint import fingerprint
from judgekit.formats.attachments import (
    AttachmentError,
    AttachmentReader,
    FolderAttachments,
    safe_file_name,
)
from judgekit.formats.documents import read_document
from judgekit.formats.foreign_file import CamelRecord, ForeignFile, ForeignResults
from judgekit.formats.problems import json_kind, threshold_fault
from judgekit.formats.promptfoo_assertions import AssertionReader, row_as_test
from judgekit.formats.promptfoo_vocabulary import (
    CODE_ASSERTIONS,
    MODEL_FREE_ASSERTIONS,
    MODEL_GRADED_ASSERTIONS,
    TRAJECTORY_ASSERTIONS,
    PromptfooChecks,
    require_mean_score,
)
from judgekit.formats.rows import DOCUMENT_SUFFIXES, iter_rows, suffix_of
from judgekit.records import Count, Dataset, Finite, JsonObject, Judgment, Output, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.formats.documents import ParsedDocument
    from judgekit.formats.text import KeyPath

MAX_CASES = 100_000
"""How many cases the variables of a configuration may come to."""

_FILE = "file://"

# promptfoo runs these files to make tests; a file of data must not run code here.
_CODE_SUFFIXES = frozenset({".js", ".mjs", ".cjs", ".ts", ".py", ".rb"})
_KEPT = ("options", "providers", "provider", "prompts", "threshold")


@dataclass(frozen=True, slots=True)
class _Test:
    """A test, with the place in the configuration it comes from."""

    number: str
    at: KeyPath
    fields: JsonObject


def read_promptfoo(document: ParsedDocument) -> ForeignFile:
    """The tests of a configuration as cases: `test-1`, …, expanded ones `test-1.1`, …."""
    # A case's input is its variables. Assertions keep their names; those that ask a model become
    # criteria of a rubric of the case. Code is refused, never run.
    reader = _Config(document)
    reader.read()
    return reader.reading


class _Config:
    """One configuration while it is read."""

    def __init__(self, document: ParsedDocument) -> None:
        self.reading = ForeignFile(document)
        value = document.value
        # A file may be the bare list of its tests.
        self._fields: JsonObject = value if isinstance(value, dict) else {"tests": value}
        self._is_list = not isinstance(value, dict)
        self._is_full = False
        self._folder = document.path.parent
        self._shelf = AttachmentReader(FolderAttachments(self._folder))
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
            # Reported once; more cases would repeat the same error for every test.
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
                    message = f"a test is a mapping or a file, not {json_kind(item)}"
                    self.reading.add(place, message)
        else:
            message = f"`tests` is a list or a file, not {json_kind(tests)}"
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
            known = frozenset(
                {
                    *MODEL_FREE_ASSERTIONS,
                    *MODEL_GRADED_ASSERTIONS,
                    *CODE_ASSERTIONS,
                    *TRAJECTORY_ASSERTIONS,
                }
            )
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
        # `file.py:function` names a function of the file.
        if Path(given.split(":")[0]).suffix.lower() in _CODE_SUFFIXES:
            message = f"{name[:80]!r} is code, which is never run from a file of data"
            self.reading.add(at, message, "write the tests out as YAML, JSONL or CSV")
            return None
        try:
            path = self._folder / safe_file_name(given)
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
        # Counted before they are made: a few lists of variables multiply to millions of cases.
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
            self.reading.add((*at, "assert"), f"`assert` must be a list, not {json_kind(given)}")
            return []
        return [((*at, "assert", index), item) for index, item in enumerate(given)]

    def _variables(self, given: JsonValue, at: KeyPath) -> JsonObject:
        if given is None:
            return {}
        if not isinstance(given, dict):
            message = f"`vars` must be a mapping here, not {json_kind(given)}"
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
            message = f"`threshold` must be a number from 0 to 1, not {json_kind(threshold)}"
            self.reading.add((*at, "threshold"), message, case_id=name)
            return
        checks = self._assertions.read(asserted, variables, is_scored=threshold is not None)
        if threshold is not None:
            require_mean_score(checks, threshold, at, self.reading)
        if not checks.assertions and not checks.criteria:
            message = "the test asserts nothing, so it cannot fail"
            self.reading.warn(at, message, "add `assert`, or grade it with a rubric", case_id=name)
        metadata = whole.get("metadata")
        kept: JsonObject = {**metadata} if isinstance(metadata, dict) else {}
        kept |= {key: whole[key] for key in _KEPT if whole.get(key) is not None}
        rubric: JsonObject | None = None
        if checks.criteria:
            # Without a threshold every criterion is required, so that the mean decides nothing.
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


def _evaluation(checks: PromptfooChecks) -> JsonObject | None:
    """One similarity decides, with the other assertions as guards, unless a judge is asked too."""
    # Only then does the strategy say the same as the assertion.
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


_GRADED = ("rubric", "model-graded", "factuality", "g-eval", "relevance", "faithfulness")


class PromptfooUsage(CamelRecord):
    """Tokens of an answer."""

    prompt: Count = 0
    """Tokens sent."""

    completion: Count = 0
    """Tokens received."""

    cached: Count = 0
    """Tokens that were in promptfoo's own cache."""


class PromptfooResponse(CamelRecord):
    """An answer."""

    output: JsonValue = None
    """What was produced."""

    token_usage: PromptfooUsage | None = None
    """What it took."""

    error: str | None = None
    """Why there is none."""


class PromptfooComponent(CamelRecord):
    """What one assertion found."""

    passed: bool = Field(alias="pass")
    """Whether it holds."""

    score: Finite
    """How far."""

    reason: str | None = None
    """Why."""

    assertion: JsonObject | None = None
    """The assertion."""


class PromptfooGrading(CamelRecord):
    """What all assertions found."""

    component_results: tuple[PromptfooComponent, ...] | None = None
    """One for each."""


class PromptfooResult(CamelRecord):
    """One answer with what was found."""

    provider: JsonValue = None
    """Who answered: a name, or an object with `id` and `label`."""

    prompt_idx: Count = 0
    """Which prompt was used."""

    test_idx: Count | None = None
    """Which test it answers."""

    vars: JsonObject = Field(default_factory=dict)
    """The test's variables."""

    response: PromptfooResponse | None = None
    """The answer."""

    success: bool | None = None
    """Whether it passed."""

    score: Finite | None = None
    """Its score."""

    latency_ms: Finite | None = None
    """How long it took."""

    cost: Finite | None = None
    """What it cost in US dollars."""

    error: str | None = None
    """Why there is no answer, or why it failed."""

    description: str | None = None
    """The test's title."""

    grading_result: PromptfooGrading | None = None
    """What the assertions found."""


def check_promptfoo_results(document: ParsedDocument) -> ForeignFile:
    """What is wrong with a file of results."""
    reading = ForeignFile(document)
    for _ in _results(document, reading):
        pass
    return reading


def read_promptfoo_results(document: ParsedDocument) -> ForeignResults:
    """The outputs of a file of results, with their cases and what was said of them."""
    # A case is called `test-N` by its test, or after its variables where the file does not say. A
    # variant is a provider, with its prompt's number where there are several. `success` and `score`
    # are in the output's metadata.
    reading = ForeignFile(document)
    outputs: list[Output] = []
    judgments: list[Judgment] = []
    n_seen: dict[tuple[str, str], int] = {}
    found = list(_results(document, reading))
    has_prompts = len({result.prompt_idx for _, result in found}) > 1
    for at, result in found:
        case_id, variant = _case_id(result), _variant(result, has_prompts=has_prompts)
        if case_id not in reading.places:
            name = result.description
            reading.add_case({"id": case_id, "input": {**result.vars}, "name": name}, at)
        repeat = n_seen.get((case_id, variant), 0)
        n_seen[case_id, variant] = repeat + 1
        outputs.append(_output(result, case_id, variant, repeat))
        judgments += _judgments(result, case_id, variant, repeat)
    reading.refuse_errors()
    dataset = Dataset(name=document.path.stem or "results", cases=tuple(reading.cases))
    return ForeignResults(dataset, tuple(outputs), tuple(judgments), {})


def promptfoo_result_rows(document: ParsedDocument) -> Iterator[tuple[int, JsonObject]]:
    """The outputs of a file of results, as the rows of an outputs file."""
    places = [at for at, _ in _results(document, ForeignFile(document))]
    # The places are needed beside the outputs, for lines in messages.
    found = read_promptfoo_results(document)
    inputs = {case.id: case.input for case in found.dataset.cases}
    for at, output in zip(places, found.outputs, strict=True):
        fields = {"input": inputs[output.case_id or ""], **output.to_json()}
        yield document.line_of(*at), fields


def _results(
    document: ParsedDocument, reading: ForeignFile
) -> Iterator[tuple[KeyPath, PromptfooResult]]:
    value = document.value
    inner = value.get("results") if isinstance(value, dict) else None
    at: KeyPath = ("results",)
    if isinstance(inner, dict):
        inner, at = inner.get("results"), ("results", "results")
    for place, item in reading.objects(inner, at):
        n_before = len(reading.problems)
        result = reading.record(PromptfooResult, item, place)
        # Results carry much that nobody needs here; only what is unsound is told.
        reading.problems[n_before:] = [
            problem for problem in reading.problems[n_before:] if problem.severity == "error"
        ]
        if result is not None:
            yield place, result


def _case_id(result: PromptfooResult) -> str:
    if result.test_idx is not None:
        return f"test-{result.test_idx + 1}"
    return f"test-{fingerprint(result.vars)[:12]}"


def _variant(result: PromptfooResult, *, has_prompts: bool) -> str:
    provider = result.provider
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    name = provider if isinstance(provider, str) and provider.strip() else "unnamed"
    return f"{name} prompt-{result.prompt_idx + 1}" if has_prompts else name


def _output(result: PromptfooResult, case_id: str, variant: str, repeat: int) -> Output:
    response = result.response or PromptfooResponse()
    made = response.output
    text = made if isinstance(made, str) else None
    error = response.error or (result.error if made is None else None)
    if made is None and error is None:
        error = "there is no output"
    metadata = {"success": result.success, "score": result.score, "repeat": repeat}
    return Output(
        text=text,
        data=None if text is not None else made,
        error=error,
        case_id=case_id,
        variant=variant,
        usage=_usage(result, response.token_usage),
        duration_ms=result.latency_ms,
        metadata={name: value for name, value in metadata.items() if value is not None},
    )


def _usage(result: PromptfooResult, tokens: PromptfooUsage | None) -> Usage | None:
    if tokens is None:
        return None if result.cost is None else Usage(cost_usd=result.cost)
    return Usage(input_tokens=tokens.prompt, output_tokens=tokens.completion, cost_usd=result.cost)


def _judgments(
    result: PromptfooResult, case_id: str, variant: str, repeat: int
) -> Iterator[Judgment]:
    grading = result.grading_result
    names: set[str] = set()
    for part in (grading.component_results or ()) if grading is not None else ():
        # An assertion in code may score off [0, 1], and nothing says on which scale.
        if not 0 <= part.score <= 1:
            continue
        assertion = part.assertion or {}
        kind = str(assertion.get("type") or "assertion")
        name = _unused(str(assertion.get("metric") or kind), names)
        is_graded = any(word in kind for word in _GRADED)
        yield Judgment(
            criterion=name,
            raw=part.score,
            value=part.score,
            rationale=(part.reason or "").strip() or "promptfoo gave no reason",
            source="llm" if is_graded else "heuristic",
            judge="promptfoo",
            case_id=case_id,
            variant=variant,
            repeat=repeat,
        )


def _unused(name: str, names: set[str]) -> str:
    number, found = 1, name.strip() or "assertion"
    while found in names:
        number += 1
        found = f"{name}-{number}"
    names.add(found)
    return found
