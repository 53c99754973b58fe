"""Reads promptfoo's configurations as cases (see `promptfoo_assertions`), results as outputs."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import Field, JsonValue

from judgekit.errors import DatasetError
from judgekit.fingerprint import fingerprint
from judgekit.formats.attachments import AttachmentError, AttachmentReader, FolderAttachments
from judgekit.formats.documents import ParsedDocument, read_document
from judgekit.formats.foreign_file import NEEDS_SCRIPTS, CamelRecord, ForeignFile
from judgekit.formats.problems import json_kind
from judgekit.formats.promptfoo_assertions import AssertionReader
from judgekit.formats.promptfoo_files import (
    FILE,
    MAX_CASES,
    ConfigFiles,
    code_call,
    code_path,
    is_text_list,
    merged_test,
    resolved_variables,
    row_as_test,
    value_lists,
)
from judgekit.formats.promptfoo_syntax import as_steps
from judgekit.formats.promptfoo_variants import PromptfooRun, VariantReader
from judgekit.formats.promptfoo_vocabulary import (
    CHOOSING_FIELDS,
    CODE_SETTINGS,
    NO_CODE,
    READ_FIELDS,
    READ_OPTIONS,
    READ_TEST_FIELDS,
    TRANSFORMS,
    UNREAD_FIELDS,
    WRITE_IT,
    choice_specs,
    is_threshold,
    weigh_assertions,
)
from judgekit.formats.rows import DOCUMENT_SUFFIXES, iter_rows, suffix_of
from judgekit.formats.text import (
    as_items,
    as_mapping,
    javascript_text,
    one_or_several,
    without_nulls,
)
from judgekit.records import Count, Finite, JsonObject, images_in, part_with_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from judgekit.formats.text import KeyPath

# Settings of a test for which a case has no field; they go into its metadata.
_METADATA_FIELDS = ("options", "provider", "threshold")

_IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".gif"})

# A test: its number, its place in the configuration, and its fields.
_Test = tuple[str, "KeyPath", "JsonObject"]
# The fields of a test and of the default test, each with its place.
_Levels = tuple[tuple["JsonObject", "KeyPath"], ...]
# A setting that is not imported: its place, and the assertion that marks the case.
_Lost = tuple["KeyPath", "JsonObject"]


def read_promptfoo(document: ParsedDocument) -> ForeignFile:
    """The tests of a configuration as cases: `test-1`, …, expanded ones `test-1.1`, …."""
    # A case's input is its variables. Assertions keep their names; those that ask a model become
    # criteria of a rubric of the case.
    return _Config(document).read()


class _Config:
    def __init__(self, document: ParsedDocument) -> None:
        self.reading = ForeignFile(document)
        value = document.value
        # A file may be the bare list of its tests.
        self._fields: JsonObject = value if isinstance(value, dict) else {"tests": value}
        self._is_list = not isinstance(value, dict)
        folder = document.path.parent
        self._files = ConfigFiles(folder)
        self._contents = AttachmentReader(FolderAttachments(folder))
        self._images: dict[str, JsonObject] = {}  # by the texts of their variables
        # The tests by the ids of their cases; what they choose by stands in the configuration.
        self._tests: dict[str, tuple[JsonObject, KeyPath]] = {}
        # What variables name and is missing; whether some test needs nothing of it.
        self._missing: list[tuple[KeyPath, str, str | None]] = []
        self._has_whole_test = False
        self._test_fields = (
            READ_TEST_FIELDS if self._is_list else READ_TEST_FIELDS | CHOOSING_FIELDS
        )
        self._variants = VariantReader(self.reading, self._files)
        self._assertions = AssertionReader(
            self.reading,
            self._contents,
            as_mapping(self._fields.get("assertionTemplates")),
            self._variants.judge_name,
        )

    def read(self) -> ForeignFile:
        if isinstance(description := self._fields.get("description"), str):
            self.reading.header = {"description": description}
        default = self._fields.get("defaultTest")
        if isinstance(default, str):
            # Every case needs it: unlike one file of tests it cannot be left out.
            read = self._in_file(default, ("defaultTest",), self.reading.add)
            default = read[0] if len(read) == 1 else [*read] or None
        if not isinstance(default, dict | None):
            fault = f"`defaultTest` is one test, not {json_kind(default)}"
            self.reading.add(("defaultTest",), fault)
        default = as_mapping(default)
        written = self._fields.get("tests")
        if written is None and self._fields.get("scenarios") is None:
            written = [{}]  # then every prompt is sent once
        listed = self._listed(written, () if self._is_list else ("tests",))
        tests = ((f"test-{number}", *test) for number, test in enumerate(listed, 1))
        for test in itertools.chain(tests, self._scenarios()):
            # Reported once; more cases would repeat the same error for every test.
            if not self._take(test, default):
                break
        # After the tests, so that what a file without cases lost is found first.
        self._leave_out_fields()
        if not self._is_list:
            self.reading.head = self._run(default)
        return self.reading

    def _leave_out_fields(self) -> None:
        if self._missing and not self._has_whole_test:
            at, message, remedy = self._missing[0]
            self.reading.add(at, f"no test can be used: {message}", remedy)
        for name, value in self._fields.items():
            if value and name not in READ_FIELDS:
                reason, remedy = UNREAD_FIELDS.get(name, ("it has no counterpart here", None))
                self.reading.leave_out((name,), f"`{name[:60]}` is not imported: {reason}", remedy)

    def _run(self, default: JsonObject) -> PromptfooRun:
        cases = self.reading.cases
        every = [
            c.input if isinstance(c.input, dict) else c.metadata.get("variables") for c in cases
        ]
        sets = [one for one in every if isinstance(one, dict)]
        certain = frozenset.intersection(*map(frozenset, sets)) if sets else frozenset[str]()
        markers = {image.marker for case in cases for image in case.images}
        reader = self._variants
        reader.certain, reader.all_names = certain, frozenset[str]().union(*sets)
        # What JavaScript prints in another way; of objects it would print nothing of use.
        reader.values = {n for one in sets for n, v in one.items() if not isinstance(v, str | dict)}
        reader.images = frozenset(n for n in certain if all(str(one[n]) in markers for one in sets))
        reader.read(self._fields)
        chosen = [reader.chosen(*self._tests[case.id]) for case in cases]
        run = reader.run(as_mapping(default.get("options")).get("provider"))
        # Variants of single tests answer no others.
        others = reader.configured if len(run.variants) > len(reader.configured) else None
        for place, (case, own) in enumerate(zip(cases, chosen, strict=True)):
            if (names := others if own is None else own) is not None:
                cases[place] = case.model_copy(update={"variants": names})
        return run

    def _listed(self, tests: JsonValue, at: KeyPath) -> Iterator[tuple[KeyPath, JsonObject]]:
        """The tests written here, and those in files that are named here."""
        if tests is None:
            return
        is_one = isinstance(tests, str) or (isinstance(tests, dict) and "path" in tests)
        items = [tests] if is_one else tests
        if not isinstance(items, list):
            self.reading.add(at, f"`tests` is a list or a file, not {json_kind(tests)}")
            return
        for index, item in enumerate(items):
            place = at if is_one else (*at, index)
            # `{path: …, config: …}` is a file of code with its settings.
            name = item.get("path") if isinstance(item, dict) else item
            if isinstance(name, str):
                read = self._in_file(name, place, self.reading.leave_out, item)
                yield from ((place, test) for test in read)
            elif isinstance(item, dict):
                yield place, item
            else:
                self.reading.add(place, f"a test is a mapping or a file, not {json_kind(item)}")

    def _in_file(
        self, name: str, at: KeyPath, report: Callable[..., None], test: JsonValue = None
    ) -> list[JsonObject]:
        """The tests of a file, of the files that a pattern matches, or those of a test's code."""
        if test is not None and (code := code_path(name)) is not None:
            config = test.get("config") if isinstance(test, dict) else None
            made = self._files.made(name, config, at, report)
            return self._mappings(made, self._files.folder / code, at, report)
        try:
            paths = self._files.paths(name)
        except AttachmentError as error:
            report(at, str(error), error.remedy)
            return []
        return [test for path in paths for test in self._tests_of(path, at, report)]

    def _tests_of(self, path: Path, at: KeyPath, report: Callable[..., None]) -> list[JsonObject]:
        try:
            if suffix_of(path) in DOCUMENT_SUFFIXES:
                value = read_document(path).value
            else:
                rows = iter_rows(path)
                value = [row_as_test(row.fields) if row.is_table else row.fields for row in rows]
        except DatasetError as error:
            report(at, f"the tests cannot be read: {error.message}", error.hint)
            return []
        if value == []:
            report(at, f"{path.name} holds no tests", "add one, or do not name the file")
        return self._mappings(value, path, at, report)

    def _mappings(
        self, value: JsonValue, path: Path, at: KeyPath, report: Callable[..., None]
    ) -> list[JsonObject]:
        items = one_or_several(value)
        tests = [self._located(item, path) for item in items if isinstance(item, dict)]
        if len(tests) < len(items):
            n = len(items) - len(tests)
            report(at, f"{path.name}: {n} of {len(items)} tests are no mappings")
        return tests

    def _located(self, test: JsonObject, path: Path) -> JsonObject:
        """A test of a file, whose files of variables are named from the folder of that file."""
        names = test.get("vars")
        names = [names] if isinstance(names, str) else names
        if not isinstance(names, list):
            return test
        folder = os.path.relpath(path.parent, self._files.folder.resolve())
        own = [os.path.normpath(f"{folder}/{str(name).removeprefix(FILE)}") for name in names]
        return {**test, "vars": [*own]}

    def _scenarios(self) -> Iterator[_Test]:
        scenarios = self._fields.get("scenarios")
        if scenarios is None:
            return
        for number, (at, scenario) in enumerate(self.reading.objects(scenarios, ("scenarios",)), 1):
            configs = list(self.reading.objects(scenario.get("config"), (*at, "config")))
            tests = list(self._listed(scenario.get("tests", [{}]), (*at, "tests")))
            pairs = itertools.product(configs, tests)
            for place, ((_, config), (where, test)) in enumerate(pairs, 1):
                yield f"scenario-{number}.{place}", where, merged_test(config, test)

    def _take(self, test: _Test, default: JsonObject) -> bool:
        """Add the cases of a test; False where there would be too many."""
        number, at, own = test
        whole = merged_test(default, own)
        asserted = self._asserted(own, at)
        levels: _Levels = ((own, at), (default, ("defaultTest",)))
        lost = self._lost(levels)
        transform = self._transform(levels, lost)
        n_missing = len(self._missing)
        variables = self._variables(whole.get("vars"), (*at, "vars"), lost)
        self._has_whole_test |= n_missing == len(self._missing)
        if as_mapping(own.get("options")).get("disableDefaultAsserts") is not True:
            asserted = [*self._asserted(default, ("defaultTest",)), *asserted]
        lists = value_lists(variables, whole)
        # Counted before they are made: a few lists of variables multiply to millions of cases.
        n_cases = math.prod(map(len, lists.values()))
        if n_cases + len(self.reading.cases) > MAX_CASES:
            self.reading.add(at, f"the variables make more than {MAX_CASES} cases")
            return False
        provider = as_mapping(own.get("options")).get("provider")
        judge = self._variants.judge_name(provider, (*at, "options", "provider"))
        for place, values in enumerate(itertools.product(*lists.values()), start=1):
            name = number if n_cases == 1 else f"{number}.{place}"
            each = resolved_variables({**variables, **dict(zip(lists, values, strict=True))})
            self._add(
                name, {**whole, "transform": transform, "judge": judge}, each, asserted, lost, at
            )
        return True

    def _lost(self, tests: _Levels) -> list[_Lost]:
        """List the settings of a test that are not read; the specs of those that run code."""
        lost: dict[str, _Lost] = {}
        for fields, at in tests:
            settings = [(*at, n) for n, v in fields.items() if v and n not in self._test_fields]
            settings += [
                (*at, "options", n)
                for n in as_mapping(fields.get("options"))
                if n not in READ_OPTIONS
            ]
            for place in settings:
                name = str(place[-1])
                if name not in CODE_SETTINGS:
                    message = f"`{name[:60]}` is not imported: it has no counterpart here"
                    self.reading.leave_out(place, message)
                elif name not in lost:
                    lost[name] = place, self.reading.not_imported(name, place, NO_CODE, WRITE_IT)
        return list(lost.values())

    def _transform(self, tests: _Levels, lost: list[_Lost]) -> list[JsonValue]:
        """The steps of a test's transform, or else of the default one; its mark if it is code."""
        for fields, at in tests:
            for name in TRANSFORMS:
                if not (code := as_mapping(fields.get("options")).get(name)):
                    continue
                place: KeyPath = (*at, "options", name)
                if isinstance(code, str) and (steps := as_steps(code)) is not None:
                    return [*steps]
                call = code_call(code, function="get_transform")
                reason = NO_CODE if call is None else f"it {NEEDS_SCRIPTS}"
                mark = None if call is None else JsonObject()
                spec = self.reading.not_imported(name, place, reason, WRITE_IT, script=mark)
                lost.append((place, spec))
                return [] if call is None else [{"call": call}]
        return []

    def _asserted(self, fields: JsonObject, at: KeyPath) -> list[tuple[KeyPath, JsonValue]]:
        listed = fields.get("assert")
        if listed is None:
            return []
        if not isinstance(listed, list):
            self.reading.add((*at, "assert"), f"`assert` must be a list, not {json_kind(listed)}")
            return []
        return [((*at, "assert", index), item) for index, item in enumerate(listed)]

    def _variables(self, listed: JsonValue, at: KeyPath, lost: list[_Lost]) -> JsonObject:
        """The variables of a test; those that stand in files, or are made of others, are read."""

        def lose(at: KeyPath, message: str, remedy: str | None = None) -> None:
            name = ".".join(map(str, at[at.index("vars") :]))
            lost.append((at, self.reading.not_imported(name, at, message, remedy)))
            if message != NO_CODE:
                self._missing.append((at, message, remedy))

        names: JsonValue = [listed] if isinstance(listed, str) else listed
        # Variables of a default test beside those of the test, where only one are of a file.
        if isinstance(names, list) and {str} <= {*map(type, names)} <= {str, dict}:
            read = [
                self._in_file(one, at, lose) if isinstance(one, str) else [as_mapping(one)]
                for one in names
            ]
            every = itertools.chain.from_iterable(read)
            listed = {name: value for fields in every for name, value in fields.items()}
        if listed is None:
            return {}
        if not isinstance(listed, dict):
            message = f"`vars` must be a mapping or a file here, not {json_kind(listed)}"
            self.reading.add(at, message, "write the variables out")
            return {}
        variables: JsonObject = {}
        for name, value in listed.items():
            try:
                variables[name] = self._variable(value)
            except AttachmentError as error:
                lose((*at, name), str(error), error.remedy)
        return variables

    def _variable(self, value: JsonValue) -> JsonValue:
        if isinstance(value, list) and is_text_list(value[:1]):
            return [self._variable(item) for item in value]
        if not isinstance(value, str):
            return value
        if value.startswith("data:image/"):
            return self._image({"image_url": value}, value)
        if not value.startswith(FILE):
            return value.removesuffix("\n")
        if code_path(value) is not None:
            raise AttachmentError(NO_CODE, "write the value of the variable out")
        # A pattern makes a value of each file.
        contents = [self._file_text(path, value) for path in self._files.paths(value)]
        return contents if "*" in value else contents[0]

    def _file_text(self, path: Path, name: str) -> JsonValue:
        own = os.path.relpath(path, self._files.folder.resolve())
        text = self._contents.take(own).get("text")
        if suffix_of(path) in _IMAGE_SUFFIXES:
            return self._image({"path": path.name}, FILE + own, path.parent)
        if suffix_of(path) in {".yaml", ".yml"}:
            try:
                return json.dumps(read_document(path).value, ensure_ascii=False)
            except DatasetError as error:
                raise AttachmentError(error.message, error.hint) from error
        return text.strip() if isinstance(text, str) else name

    def _image(self, part: JsonObject, name: str, folder: Path | None = None) -> str:
        try:
            self._images[name] = part_with_bytes(part, folder)
        except ValueError as error:
            raise AttachmentError(str(error)) from error
        if folder is not None:
            self._images[name]["name"] = name.removeprefix(FILE)
        return name

    def _shown(self, variables: JsonObject, more: JsonObject) -> JsonValue:
        """The input of a case: the variables, or a message where some are images."""
        images = {n: one for n, v in variables.items() if (one := self._images.get(str(v)))}
        if not images:
            return variables
        more["variables"] = variables | {n: images_in([i])[0].marker for n, i in images.items()}
        parts: list[JsonValue] = [
            images.get(name, {"type": "text", "text": f"{name}: {javascript_text(value)}"})
            for name, value in variables.items()
        ]
        return [{"role": "user", "content": parts}]

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
        reader = replace(self._assertions, own_judge=whole["judge"])
        checks = reader.read(asserted, variables, is_scored=threshold is not None)
        weigh_assertions(checks, threshold, at, self.reading)
        for place, spec in [*lost, *choice_specs(checks, self.reading)]:
            checks.add(spec, place)
        if not checks.assertions and not checks.criteria:
            message = "the test asserts nothing, so it cannot fail"
            self.reading.warn(at, message, "add `assert`, or grade it with a rubric", case_id=name)
        more: JsonObject = {**as_mapping(whole.get("metadata"))}
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
            "input": self._shown(variables, more),
            "reference": checks.reference,
            "assertions": [*checks.assertions],
            "rubric": rubric,
            "evaluation": strategy if is_similar else None,
            "tags": tags if isinstance(tags, list) else None,
            "transform": whole["transform"],
            "metadata": more,
        }
        if self.reading.add_case(fields, at) is not None:
            self.reading.spec_places[name] = checks.places
            self._tests[name] = whole, at


class _PromptfooUsage(CamelRecord):
    # Of a reply from promptfoo's cache there is only the number of `cached` tokens.
    prompt: Count | None = None
    completion: Count | None = None


class _PromptfooResponse(CamelRecord):
    output: JsonValue = None
    token_usage: _PromptfooUsage | None = None
    error: str | None = None


class _PromptfooResult(CamelRecord):
    provider: JsonValue = None  # a name, or an object with `id` and `label`
    prompt_idx: Count = 0
    test_idx: Count | None = None
    test_case: JsonValue = None
    vars: JsonObject = Field(default_factory=dict)
    response: _PromptfooResponse | None = None
    success: bool | None = None
    score: Finite | None = None
    latency_ms: Finite | None = None
    cost: Finite | None = None  # in US dollars
    error: str | None = None  # why there is no answer, or why it failed
    metadata: JsonValue = None


def check_promptfoo_results(document: ParsedDocument) -> ForeignFile:
    return _results(document)[0]


def promptfoo_result_rows(document: ParsedDocument) -> Iterator[tuple[int, JsonObject]]:
    """The outputs of a file of results, as the rows of an outputs file."""
    # A case is called as in the configuration, or after its variables where the file has no number.
    # A variant is a provider, with its prompt's number where there are several. `success` and
    # `score` are in the output's metadata.
    reading, found = _results(document)
    reading.refuse_errors()
    has_prompts = len({result.prompt_idx for _, result in found}) > 1
    case_ids = _case_ids(document.value, [result for _, result in found])
    inputs: dict[str, JsonValue] = {}
    repeats: Counter[tuple[str, str]] = Counter()
    for at, result in found:
        case_id = case_ids.get(result.test_idx, f"test-{fingerprint(result.vars)[:12]}")
        provider = result.provider
        if isinstance(provider, dict):
            provider = provider.get("label") or provider.get("id")
        variant = provider if isinstance(provider, str) and provider.strip() else "unnamed"
        variant += f" prompt-{result.prompt_idx + 1}" if has_prompts else ""
        values: JsonValue = result.vars
        about = as_mapping(result.metadata)
        if "judgekit_run" in about:  # which an export of judgekit adds
            case_id, variant = str(about.get("case_id")), str(about.get("variant"))
            values = result.vars["input"] if [*result.vars] == ["input"] else values
        named: JsonObject = {"case_id": case_id, "variant": variant}
        named["input"] = inputs.setdefault(case_id, values)
        row = _row(result, repeats[case_id, variant])
        if "judgekit_run" in about:  # promptfoo's score of an answer without one is 0
            known = as_mapping(row["metadata"]) | {
                "success": about.get("passed"),
                "score": about.get("value"),
            }
            row["metadata"] = without_nulls(known)
        yield document.line_of(*at), named | row
        repeats[case_id, variant] += 1


def _case_ids(value: JsonValue, results: list[_PromptfooResult]) -> dict[int | None, str]:
    """The ids that the cases of results have in a configuration, by the numbers of the results."""
    # promptfoo counts each combination of the values of variables, and each repeat of it.
    names = _expanded_names(as_mapping(value).get("config"))
    found: dict[int | None, str] = {}
    first: dict[str, str] = {}
    numbered = ((one.test_idx, one) for one in results if one.test_idx is not None)
    for number, result in sorted(numbered, key=lambda one: one[0]):
        if number in found:
            continue
        content = str(number)
        if result.test_case is not None:
            content = fingerprint([result.test_case, result.vars])
        n_repeats = len(found) - len(first)
        place = number - n_repeats
        name = names[place] if place < len(names) else f"test-{place + 1}"
        found[number] = first.setdefault(content, name)
    return found


def _expanded_names(config: JsonValue) -> list[str]:
    """The ids of a configuration's cases, where its tests are written out; else none."""
    fields = as_mapping(config)
    default = as_mapping(fields.get("defaultTest"))
    names: list[str] = []
    for number, test in enumerate(as_items(fields.get("tests")), 1):
        whole = merged_test(default, test if isinstance(test, dict) else {"vars": test})
        variables = whole.get("vars", {})
        # A file, or a pattern for files, may hold any number of values.
        if not isinstance(variables, dict) or FILE in json.dumps(variables):
            return []
        n_cases = math.prod(map(len, value_lists(variables, whole).values()))
        if n_cases + len(names) > MAX_CASES:
            return []
        places = [""] if n_cases == 1 else [f".{place}" for place in range(1, n_cases + 1)]
        names += [f"test-{number}{place}" for place in places]
    return names


def _row(result: _PromptfooResult, repeat: int) -> JsonObject:
    response = result.response or _PromptfooResponse()
    made, tokens = response.output, response.token_usage or _PromptfooUsage()
    error = response.error or (result.error if made is None else None)
    if made is None and error is None:
        error = "there is no output"
    usage: JsonObject = {
        "input_tokens": tokens.prompt,
        "output_tokens": tokens.completion,
        "cost_usd": result.cost,
    }
    metadata: JsonObject = {"success": result.success, "score": result.score, "repeat": repeat}
    if made is not None:
        metadata["transformed"] = True  # by promptfoo, so that no case's transform is applied again
    fields: JsonObject = {
        "text" if isinstance(made, str) else "data": made,
        "error": error,
        "usage": without_nulls(usage) or None,
        "duration_ms": result.latency_ms,
        "metadata": without_nulls(metadata),
    }
    return without_nulls(fields)


def _results(
    document: ParsedDocument,
) -> tuple[ForeignFile, list[tuple[KeyPath, _PromptfooResult]]]:
    reading, value = ForeignFile(document), document.value
    inner = as_mapping(value).get("results")
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
