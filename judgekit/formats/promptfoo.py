"""Reads promptfoo's configurations as cases (see `promptfoo_assertions`), results as outputs."""

from __future__ import annotations

import itertools
import math
from collections import Counter
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
from judgekit.formats.documents import ParsedDocument, read_document
from judgekit.formats.foreign_file import CamelRecord, ForeignFile
from judgekit.formats.problems import json_kind
from judgekit.formats.promptfoo_assertions import NO_CODE, WRITE_IT, AssertionReader, row_as_test
from judgekit.formats.promptfoo_vocabulary import (
    CODE_SETTINGS,
    READ_FIELDS,
    READ_OPTIONS,
    READ_TEST_FIELDS,
    UNREAD_FIELDS,
    is_threshold,
    require_mean_score,
)
from judgekit.formats.rows import DOCUMENT_SUFFIXES, iter_rows, suffix_of
from judgekit.records import Count, Finite, JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from judgekit.formats.text import KeyPath

MAX_CASES = 100_000
_FILE = "file://"
_MOVE_IT = "move the file into the configuration's folder"

# promptfoo runs these files to make tests; a file of data must not run code here.
_CODE_SUFFIXES = frozenset({".js", ".mjs", ".cjs", ".ts", ".py", ".rb"})
# Settings of a test for which a case has no field; they go into its metadata.
_METADATA_FIELDS = ("options", "providers", "provider", "prompts", "threshold")

# A test: its number, its place in the configuration, and its fields.
_Test = tuple[str, "KeyPath", "JsonObject"]
# A setting that is not imported: its place, and the assertion that marks the case.
_Lost = tuple["KeyPath", "JsonObject"]


def read_promptfoo(document: ParsedDocument) -> ForeignFile:
    """The tests of a configuration as cases: `test-1`, …, expanded ones `test-1.1`, …."""
    # A case's input is its variables. Assertions keep their names; those that ask a model become
    # criteria of a rubric of the case.
    return _Config(document).read()


class _Config:
    """One configuration while it is read."""

    def __init__(self, document: ParsedDocument) -> None:
        self.reading = ForeignFile(document)
        value = document.value
        # A file may be the bare list of its tests.
        self._fields: JsonObject = value if isinstance(value, dict) else {"tests": value}
        self._is_list = not isinstance(value, dict)
        self._folder = document.path.parent
        self._files = AttachmentReader(FolderAttachments(self._folder))
        templates = self._fields.get("assertionTemplates")
        self._assertions = AssertionReader(
            self.reading, self._files, templates if isinstance(templates, dict) else {}
        )

    def read(self) -> ForeignFile:
        description = self._fields.get("description")
        if isinstance(description, str):
            self.reading.header = {"description": description}
        for name, value in self._fields.items():
            if value and name not in READ_FIELDS:
                reason, remedy = UNREAD_FIELDS.get(name, ("it has no counterpart here", None))
                self.reading.leave_out((name,), f"`{name[:60]}` is not imported: {reason}", remedy)
        default = self._fields.get("defaultTest")
        if isinstance(default, str):
            # Every case needs it: unlike one file of tests it cannot be left out.
            read = self._in_file(default, ("defaultTest",), self.reading.add)
            default = read[0] if len(read) == 1 else None
        listed = self._listed(self._fields.get("tests"), () if self._is_list else ("tests",))
        tests = ((f"test-{number}", *test) for number, test in enumerate(listed, 1))
        for test in itertools.chain(tests, self._scenarios()):
            # Reported once; more cases would repeat the same error for every test.
            if not self._take(test, default if isinstance(default, dict) else {}):
                break
        return self.reading

    def _listed(self, tests: JsonValue, at: KeyPath) -> Iterator[tuple[KeyPath, JsonObject]]:
        """The tests written here, and those in files that are named here."""
        if tests is None:
            return
        if isinstance(tests, str):
            yield from ((at, test) for test in self._in_file(tests, at, self.reading.leave_out))
        elif isinstance(tests, list):
            for index, item in enumerate(tests):
                place = (*at, index)
                if isinstance(item, dict):
                    yield place, item
                elif isinstance(item, str):
                    read = self._in_file(item, place, self.reading.leave_out)
                    yield from ((place, test) for test in read)
                else:
                    message = f"a test is a mapping or a file, not {json_kind(item)}"
                    self.reading.add(place, message)
        else:
            message = f"`tests` is a list or a file, not {json_kind(tests)}"
            self.reading.add(at, message)

    def _in_file(self, name: str, at: KeyPath, report: Callable[..., None]) -> list[JsonObject]:
        """The tests of a file, or of the files that a pattern matches."""
        pattern = name.removeprefix(_FILE)
        if "*" not in pattern:
            path = self._path(name, at, report)
            return [] if path is None else self._tests_of(path, at, report)
        if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
            report(at, f"{name[:80]!r} is outside the configuration's folder", _MOVE_IT)
            return []
        found = itertools.islice(filter(Path.is_file, self._folder.glob(pattern)), MAX_CASES)
        names = sorted(path.relative_to(self._folder).as_posix() for path in found)
        if not names:
            report(at, f"no file matches {name[:80]!r}", "correct the pattern")
        return [test for one in names for test in self._in_file(one, at, report)]

    def _tests_of(self, path: Path, at: KeyPath, report: Callable[..., None]) -> list[JsonObject]:
        try:
            if suffix_of(path) in DOCUMENT_SUFFIXES:
                value = read_document(path).value
                items = value if isinstance(value, list) else [value]
                tests = [item for item in items if isinstance(item, dict)]
                if len(tests) < len(items):
                    n = len(items) - len(tests)
                    report(at, f"{path.name}: {n} of {len(items)} tests are no mappings")
                return tests
            rows = iter_rows(path)
            return [row_as_test(row.fields) if row.is_table else row.fields for row in rows]
        except DatasetError as error:
            report(at, f"the tests cannot be read: {error.message}", error.hint)
            return []

    def _path(self, name: str, at: KeyPath, report: Callable[..., None]) -> Path | None:
        file_name = name.removeprefix(_FILE)
        if "://" in file_name or "*" in file_name:
            message = f"{name[:80]!r} is not a file here"
            report(at, message, "name one file in the configuration's folder")
            return None
        # `file.py:function` names a function of the file.
        if Path(file_name.split(":")[0]).suffix.lower() in _CODE_SUFFIXES:
            message = f"{name[:80]!r} is code, which is never run from a file of data"
            report(at, message, "write the tests out as YAML, JSONL or CSV")
            return None
        try:
            return FolderAttachments(self._folder).locate(safe_file_name(file_name))
        except AttachmentError as error:
            report(at, str(error), error.remedy)
            return None

    def _scenarios(self) -> Iterator[_Test]:
        scenarios = self._fields.get("scenarios")
        if scenarios is None:
            return
        for number, (at, scenario) in enumerate(self.reading.objects(scenarios, ("scenarios",)), 1):
            configs = list(self.reading.objects(scenario.get("config"), (*at, "config")))
            tests = list(self._listed(scenario.get("tests", [{}]), (*at, "tests")))
            pairs = itertools.product(configs, tests)
            for place, ((_, config), (where, test)) in enumerate(pairs, 1):
                yield f"scenario-{number}.{place}", where, _merged(config, test)

    def _take(self, test: _Test, default: JsonObject) -> bool:
        """Add the cases of a test; False where there would be too many."""
        number, at, own = test
        whole = _merged(default, own)
        asserted = self._asserted(own, at)
        lost = self._lost(((own, at), (default, ("defaultTest",))))
        options = own.get("options")
        if not (isinstance(options, dict) and options.get("disableDefaultAsserts") is True):
            asserted = [*self._asserted(default, ("defaultTest",)), *asserted]
        listed, variables = whole.get("vars"), JsonObject()
        if isinstance(listed, dict):
            variables = {n: self._variable(v, (*at, "vars", n)) for n, v in listed.items()}
        elif listed is not None:
            message = f"`vars` must be a mapping here, not {json_kind(listed)}"
            self.reading.add((*at, "vars"), message, "write the variables out")
        # Each combination of the values of such variables makes a case.
        lists = {name: v for name, v in variables.items() if isinstance(v, list) and v}
        if isinstance(options, dict) and options.get("disableVarExpansion") is True:
            lists = {}
        # Counted before they are made: a few lists of variables multiply to millions of cases.
        n_cases = math.prod(map(len, lists.values()))
        if n_cases + len(self.reading.cases) > MAX_CASES:
            self.reading.add(at, f"the variables make more than {MAX_CASES} cases")
            return False
        for place, values in enumerate(itertools.product(*lists.values()), start=1):
            name = number if n_cases == 1 else f"{number}.{place}"
            each = {**variables, **dict(zip(lists, values, strict=True))}
            self._add(name, whole, each, asserted, lost, at)
        return True

    def _lost(self, tests: tuple[tuple[JsonObject, KeyPath], ...]) -> list[_Lost]:
        """List the settings of a test that are not read; the specs of those that run code."""
        lost: dict[str, _Lost] = {}
        for fields, at in tests:
            options = fields.get("options")
            settings = [(*at, n) for n, v in fields.items() if v and n not in READ_TEST_FIELDS]
            if isinstance(options, dict):
                settings += [(*at, "options", n) for n in options if n not in READ_OPTIONS]
            for place in settings:
                name = str(place[-1])
                if name not in CODE_SETTINGS:
                    message = f"`{name[:60]}` is not imported: it has no counterpart here"
                    self.reading.leave_out(place, message)
                elif name not in lost:
                    lost[name] = place, self.reading.not_imported(name, place, NO_CODE, WRITE_IT)
        return list(lost.values())

    def _asserted(self, fields: JsonObject, at: KeyPath) -> list[tuple[KeyPath, JsonValue]]:
        listed = fields.get("assert")
        if listed is None:
            return []
        if not isinstance(listed, list):
            self.reading.add((*at, "assert"), f"`assert` must be a list, not {json_kind(listed)}")
            return []
        return [((*at, "assert", index), item) for index, item in enumerate(listed)]

    def _variable(self, value: JsonValue, at: KeyPath) -> JsonValue:
        if not isinstance(value, str) or not value.startswith(_FILE):
            return value
        if self._path(value, at, self.reading.add) is None:
            return value
        try:
            return self._files.take(value.removeprefix(_FILE)).get("text", value)
        except AttachmentError as error:
            self.reading.add(at, str(error), error.remedy)
            return value

    def _add(
        self,
        name: str,
        whole: JsonObject,
        variables: JsonObject,
        asserted: list[tuple[KeyPath, JsonValue]],
        lost: list[_Lost],
        at: KeyPath,
    ) -> None:
        threshold = whole.get("threshold")
        if threshold is not None and not is_threshold(threshold, at, self.reading, case_id=name):
            return
        checks = self._assertions.read(asserted, variables, is_scored=threshold is not None)
        if threshold is not None:
            require_mean_score(checks, threshold, at, self.reading)
        for place, marker in lost:
            checks.add(marker, place)
        if not checks.assertions and not checks.criteria:
            message = "the test asserts nothing, so it cannot fail"
            self.reading.warn(at, message, "add `assert`, or grade it with a rubric", case_id=name)
        metadata = whole.get("metadata")
        more: JsonObject = {**metadata} if isinstance(metadata, dict) else {}
        more |= {key: whole[key] for key in _METADATA_FIELDS if whole.get(key) is not None}
        rubric: JsonObject | None = None
        if checks.criteria:
            # Without a threshold every criterion is required, so that the mean decides nothing.
            pass_threshold = 0.0 if threshold is None else threshold
            rubric = {"name": name, "criteria": checks.criteria, "pass_threshold": pass_threshold}
        # One similarity decides, with the other assertions as guards, unless a judge grades too:
        # only then does the strategy mean the same as the assertion.
        is_similar = len(checks.similarities) == 1 and not checks.criteria
        strategy: JsonObject = {"strategy": "semantic_sim", "threshold": sum(checks.similarities)}
        tags = more.get("tags")
        fields: JsonObject = {
            "id": name,
            "name": whole.get("description"),
            "input": variables,
            "reference": checks.reference,
            "assertions": [*checks.assertions],
            "rubric": rubric,
            "evaluation": strategy if is_similar else None,
            "tags": tags if isinstance(tags, list) else None,
            "metadata": more,
        }
        if self.reading.add_case(fields, at) is not None:
            self.reading.spec_places[name] = checks.places


def _merged(first: JsonObject, second: JsonObject) -> JsonObject:
    """A test over the default test: variables, metadata and options are merged by name."""
    merged: JsonObject = {**first, **second}
    for name in ("vars", "metadata", "options"):
        one, other = first.get(name), second.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            merged[name] = {**one, **other}
    one, other = first.get("assert"), second.get("assert")
    if isinstance(one, list) and isinstance(other, list):
        merged["assert"] = [*one, *other]
    return merged


class _PromptfooUsage(CamelRecord):
    prompt: Count = 0
    completion: Count = 0
    cached: Count = 0


class _PromptfooResponse(CamelRecord):
    output: JsonValue = None
    token_usage: _PromptfooUsage | None = None
    error: str | None = None


class _PromptfooResult(CamelRecord):
    provider: JsonValue = None  # a name, or an object with `id` and `label`
    prompt_idx: Count = 0
    test_idx: Count | None = None
    vars: JsonObject = Field(default_factory=dict)
    response: _PromptfooResponse | None = None
    success: bool | None = None
    score: Finite | None = None
    latency_ms: Finite | None = None
    cost: Finite | None = None  # in US dollars
    error: str | None = None  # why there is no answer, or why it failed


def check_promptfoo_results(document: ParsedDocument) -> ForeignFile:
    return _results(document)[0]


def promptfoo_result_rows(document: ParsedDocument) -> Iterator[tuple[int, JsonObject]]:
    """The outputs of a file of results, as the rows of an outputs file."""
    # A case is called `test-N` by its test, or after its variables where the file has no number. A
    # variant is a provider, with its prompt's number where there are several. `success` and `score`
    # are in the output's metadata.
    reading, found = _results(document)
    reading.refuse_errors()
    has_prompts = len({result.prompt_idx for _, result in found}) > 1
    inputs: dict[str, JsonObject] = {}
    repeats: Counter[tuple[str, str]] = Counter()
    for at, result in found:
        case_id = f"test-{fingerprint(result.vars)[:12]}"
        if result.test_idx is not None:
            case_id = f"test-{result.test_idx + 1}"
        provider = result.provider
        if isinstance(provider, dict):
            provider = provider.get("label") or provider.get("id")
        variant = provider if isinstance(provider, str) and provider.strip() else "unnamed"
        variant += f" prompt-{result.prompt_idx + 1}" if has_prompts else ""
        named: JsonObject = {"case_id": case_id, "variant": variant}
        named["input"] = inputs.setdefault(case_id, result.vars)
        yield document.line_of(*at), named | _row(result, repeats[case_id, variant])
        repeats[case_id, variant] += 1


def _row(result: _PromptfooResult, repeat: int) -> JsonObject:
    response = result.response or _PromptfooResponse()
    made, tokens = response.output, response.token_usage
    error = response.error or (result.error if made is None else None)
    if made is None and error is None:
        error = "there is no output"
    usage: JsonObject = {"cost_usd": result.cost}
    if tokens is not None:
        usage |= {"input_tokens": tokens.prompt, "output_tokens": tokens.completion}
    metadata: JsonObject = {"success": result.success, "score": result.score, "repeat": repeat}
    fields: JsonObject = {
        "text" if isinstance(made, str) else "data": made,
        "error": error,
        "usage": usage if tokens is not None or result.cost is not None else None,
        "duration_ms": result.latency_ms,
        "metadata": {name: value for name, value in metadata.items() if value is not None},
    }
    return {name: value for name, value in fields.items() if value is not None}


def _results(
    document: ParsedDocument,
) -> tuple[ForeignFile, list[tuple[KeyPath, _PromptfooResult]]]:
    reading, value = ForeignFile(document), document.value
    inner = value.get("results") if isinstance(value, dict) else None
    at: KeyPath = ("results",)
    if isinstance(inner, dict):
        inner, at = inner.get("results"), ("results", "results")
    read = [
        (place, reading.record(_PromptfooResult, item, place))
        for place, item in reading.objects(inner, at)
    ]
    # Results have many fields that are not needed here; only errors are reported.
    reading.problems = [one for one in reading.problems if one.severity == "error"]
    return reading, [(place, result) for place, result in read if result is not None]
