"""Reads an `eval/tests.json` (S4, `skill_tests_schema`) as cases, and writes cases as one."""

from __future__ import annotations

import itertools
import re
import warnings
from typing import TYPE_CHECKING

from pydantic.alias_generators import to_camel

from judgekit.errors import DatasetError
from judgekit.formats.attachments import (
    MAX_CASE_FILES,
    AttachmentError,
    AttachmentReader,
    FolderAttachments,
    MissingAttachmentError,
    attachments_of,
    safe_file_name,
    skill_name,
)
from judgekit.formats.foreign_file import ForeignFile, map_texts
from judgekit.formats.problems import suggest_name
from judgekit.formats.skill_tests_schema import (
    OTHER_FIELDS,
    SkillCase,
    SkillExpected,
    SkillTests,
    check_thresholds,
    downgrade_skill_tests,
    is_skill_tests_v1,
    rubric_from_skill_test,
    upgrade_skill_tests,
)
from judgekit.formats.text import KeyPath, as_items, as_mapping, folder_exists, without_nulls
from judgekit.records import Case, JsonObject, Rubric

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pydantic import JsonValue

    from judgekit.formats.detection import ConversionSource, WrittenCases
    from judgekit.formats.documents import ParsedDocument

STRATA = {"easy": "simple", "medium": "medium", "hard": "complex"}
_SYNONYMS = {
    "expectedOutput": "output", "expectedPatterns": "patterns", "threshold": "passingThreshold",
    "schema": "jsonSchema", "retries": "retryCount", "script": "customScript",
    "tests": "testCases", "cases": "testCases",
}  # fmt: skip


def read_skill_tests(document: ParsedDocument) -> ForeignFile:
    """The cases of an `eval/tests.json`; what else it says is the head."""
    reading = ForeignFile(document)
    value = document.value
    where: KeyPath = ("testCases",)
    if is_skill_tests_v1(value):
        where = ("tests",) if isinstance(value, dict) else ()
        try:
            value = upgrade_skill_tests(value)
        except DatasetError as error:
            reading.add(where, error.message, error.hint)
            return reading
    reading.head = head = reading.record(SkillTests, value, synonyms=_SYNONYMS)
    version = "2.0" if head is None else head.version
    reading.header = {"name": skill_name(document.path), "version": version}
    fields = as_mapping(value)
    fixtures = _Fixtures(reading)
    listed = fields.get("testCases")
    for place, case in reading.records(SkillCase, listed, where, synonyms=_SYNONYMS):
        check_expected(case, place, reading)
        case_fields = _fields(case, place, reading, fixtures)
        # A wrong threshold is an error already, and such a case is not run.
        if check_thresholds(case, place, reading):
            reading.add_case(case_fields, place)
    _check_groups(fields.get("suites"), reading)
    return reading


def _fields(case: SkillCase, at: KeyPath, reading: ForeignFile, fixtures: _Fixtures) -> JsonObject:
    metadata = case.metadata
    # Tags may stand beside the test or in its metadata; those beside it count.
    tags = case.tags if case.tags is not None else None if metadata is None else metadata.tags
    difficulty = None if metadata is None else metadata.difficulty
    prompt, variables = case.input.prompt, case.input.variables
    context: JsonValue = None
    if case.input.context is not None:
        context = fixtures.resolve(case.input.context, (*at, "input", "context"), case.id)
    return {
        "id": case.id,
        "name": case.name,
        "description": case.description,
        "tags": list(tags or ()),
        "input": prompt if not variables else {"prompt": prompt, "variables": {**variables}},
        "context": context,
        "reference": case.expected.output,
        "assertions": [*expected_assertions(case)],
        "rubric": rubric_from_skill_test(case, at, reading),
        "evaluation": _evaluation(case),
        "stratum": None if difficulty is None else STRATA[difficulty],
        "metadata": _metadata(case),
    }


def _evaluation(case: SkillCase) -> JsonObject:
    evaluation, expected = case.evaluation, case.expected
    strategy = evaluation.strategy
    threshold = expected.semantic_threshold
    # The pass mark of a rubric and the threshold of similarity share one field here.
    if strategy == "llm_judge" and expected.rubric is not None:
        threshold = expected.rubric.passing_threshold
    fields: JsonObject = {"weights": {**(evaluation.weights or {})}}
    optional: JsonObject = {
        "strategy": strategy,
        "threshold": threshold if strategy in {"semantic_sim", "llm_judge"} else None,
        "timeout_s": None if evaluation.timeout is None else evaluation.timeout / 1000,
        "retries": evaluation.retry_count,
        "script": expected.custom_script,
    }
    return fields | without_nulls(optional)


def _metadata(case: SkillCase) -> JsonObject:
    """All metadata, and under `OTHER_FIELDS` what has no field in a case."""
    metadata: JsonObject = {} if case.metadata is None else case.metadata.as_given()
    expected = case.expected.as_given()
    unused = {name: expected[name] for name in unused_fields(case) if name in expected}
    other: JsonObject = {
        "input": case.input.extra,
        "expected": {**case.expected.extra, **unused},
        "evaluation": case.evaluation.extra,
        "case": case.extra,
    }
    other = {name: fields for name, fields in other.items() if fields}
    return {**metadata, OTHER_FIELDS: other} if other else metadata


def _check_groups(groups: JsonValue, reading: ForeignFile) -> None:
    """Check that groups name only existing tests, and that each has a name of its own."""
    names: list[JsonValue] = []
    for number, item in enumerate(as_items(groups)):
        group = as_mapping(item)
        name, test_ids = group.get("name"), group.get("testIds")
        if name is not None and name in names:
            message = f"two suites are called {name!r}"
            reading.add(("suites", number, "name"), message, "rename one")
        names.append(name)
        for index, test_id in enumerate(as_items(test_ids)):
            # Ids of tests with errors are claimed too, so that a group is not blamed for them.
            if isinstance(test_id, str) and test_id not in reading.claimed:
                message = f"the suite {name!r} names the test {test_id!r}, which is not there"
                place = ("suites", number, "testIds", index)
                reading.add(place, message, suggest_name(test_id, reading.claimed))


# What each strategy compares with: the field of `expected` it cannot do without, then others. It
# ignores all other expectations, which the author of a test should know.
_USES = {
    "exact_match": ("output",),
    "regex_match": ("patterns",),
    "json_schema": ("json_schema",),
    "semantic_sim": ("output", "semantic_threshold"),
    "llm_judge": ("rubric", "output"),
    "custom": ("custom_script", "output"),
}
_FIELDS = ("patterns", "json_schema", "semantic_threshold", "rubric", "custom_script")

# A path and nothing else: a test names a script and never holds a command.
_SCRIPT = re.compile(r"[\w./ -]+\.(?:py|js|mjs|cjs)")


def expected_assertions(case: SkillCase) -> Iterator[JsonObject]:
    """The checks of a test that need no judge, by its strategy."""
    expected, used = case.expected, expected_strategies(case)
    # Without a strategy the profile decides whether the output is to be equal or alike.
    if "exact_match" in used and expected.output is not None and case.evaluation.strategy:
        yield {"type": "equals", "value": expected.output}
    for pattern in (expected.patterns or ()) if "regex_match" in used else ():
        yield {"type": "regex", "value": pattern}
    if "json_schema" in used and expected.json_schema is not None:
        yield {"type": "is-json", "value": expected.json_schema}
    if "semantic_sim" in used and expected.output is not None:
        least = expected.semantic_threshold
        # Without a threshold the profile decides.
        threshold: JsonObject = {} if least is None else {"threshold": least}
        yield {"type": "similar", "value": expected.output, **threshold}


def expected_strategies(case: SkillCase) -> frozenset[str]:
    """The strategies of a test: its own, or all that a hybrid one or a profile may combine."""
    evaluation = case.evaluation
    if evaluation.strategy is not None and evaluation.strategy != "hybrid":
        return frozenset({evaluation.strategy})
    if evaluation.weights and evaluation.strategy:
        return frozenset(name for name, weight in evaluation.weights.items() if weight > 0)
    found = {name for name in _USES if _has(case.expected, name)}
    # An expected output alone is compared exactly; similarity has to be asked for.
    if case.expected.semantic_threshold is None:
        found.discard("semantic_sim")
    return frozenset(found)


def check_expected(case: SkillCase, at: KeyPath, reading: ForeignFile) -> None:
    """Report what keeps a test from failing, fields without effect, and invalid patterns."""
    used = expected_strategies(case)
    if not used and case.evaluation.strategy:
        message = "the strategy hybrid has nothing to combine, so the case cannot fail"
        remedy = "add `weights`, or what is expected"
        reading.add((*at, "evaluation"), message, remedy, case_id=case.id)
    for name in sorted(used):
        _check_strategy(name, case, at, reading)
    for name in unused_fields(case):
        message = f"the strategy {case.evaluation.strategy} ignores `{name}`"
        remedy = "remove it, or use the strategy hybrid"
        reading.warn((*at, "expected", name), message, remedy, case_id=case.id)
    _check_patterns(case, at, reading)
    script = case.expected.custom_script
    if script is not None and (
        ".." in script.split("/") or script.startswith("/") or not _SCRIPT.fullmatch(script)
    ):
        message = "`customScript` must be the path of a .py or .js file below the skill's folder"
        remedy = "put the code into a file; a test names a script, it never contains one"
        reading.add((*at, "expected", "customScript"), message, remedy, case_id=case.id)


def unused_fields(case: SkillCase) -> tuple[str, ...]:
    """The expectations that the strategy of a test ignores, by their names in the file."""
    compared = {field for name in expected_strategies(case) for field in _USES.get(name, ())}
    ignored = [field for field in _FIELDS if field not in compared]
    return tuple(to_camel(f) for f in ignored if getattr(case.expected, f) is not None)


def _has(expected: SkillExpected, strategy: str) -> bool:
    value = getattr(expected, _USES[strategy][0])
    return value is not None and value != ()


def _check_strategy(name: str, case: SkillCase, at: KeyPath, reading: ForeignFile) -> None:
    if name not in _USES:
        place = (*at, "evaluation", "weights", name)
        message = f"no strategy to combine is called {name!r}"
        reading.add(place, message, suggest_name(name, _USES), case_id=case.id)
    elif _has(case.expected, name):
        return
    elif name == "llm_judge":
        message = "the case has no rubric; a judge takes that of the suite or the profile"
        if case.expected.output is not None:
            message += ", else it asks for the expected output"
        remedy = "add `expected.rubric`, or run it with a rubric"
        reading.warn((*at, "expected"), message, remedy, case_id=case.id)
    else:
        wanted = to_camel(_USES[name][0])
        message = f"the strategy {name} has no `expected.{wanted}`, so the case cannot fail"
        remedy = f"add `{wanted}` to `expected`, or name another strategy"
        reading.add((*at, "expected"), message, remedy, case_id=case.id)


def _check_patterns(case: SkillCase, at: KeyPath, reading: ForeignFile) -> None:
    for index, pattern in enumerate(case.expected.patterns or ()):
        place = (*at, "expected", "patterns", index)
        if not pattern:
            message = "an empty pattern is found in every output"
            reading.add(place, message, "remove it", case_id=case.id)
            continue
        try:
            with warnings.catch_warnings():
                # A pattern that a later Python may read in another way is valid now.
                warnings.simplefilter("ignore", FutureWarning)
                warnings.simplefilter("ignore", DeprecationWarning)
                re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            message = f"{pattern[:80]!r} is no regular expression: {error}"
            reading.add(place, message, case_id=case.id)


_FOLDER = "fixtures"
_LEADS = ("fixtures/", "eval/fixtures/")


class _Fixtures:
    def __init__(self, reading: ForeignFile) -> None:
        place, self._inside = attachments_of(reading.document.path)
        # Where there is no folder with fixtures at all, the test file was copied without them.
        self._is_alone = isinstance(place, FolderAttachments) and not any(
            folder_exists(root / _FOLDER) for root in (place.root / self._inside, place.root)
        )
        self._files = AttachmentReader(place)
        self._reading = reading

    def resolve(self, context: JsonObject, at: KeyPath, case_id: str) -> JsonValue:
        """A test's context with the files it names."""
        # Every text in it that begins with `fixtures/` or `eval/fixtures/` becomes an object: the
        # `file` and its `text`, or what kind of file it is. A file that cannot be read is reported
        # and its name stays.
        numbers = itertools.count(1)

        def resolved(text: str, place: KeyPath) -> JsonValue:
            # Files written on Windows name paths with backslashes.
            path = text.replace("\\", "/").removeprefix("./")
            is_file = "\n" not in path and path.startswith(_LEADS) and not path.endswith("/")
            return self._file(text, place, case_id, next(numbers)) if is_file else text

        return map_texts(context, at, resolved)

    def _file(self, name: str, at: KeyPath, case_id: str, number: int) -> JsonValue:
        if number > MAX_CASE_FILES:
            if number == MAX_CASE_FILES + 1:
                message = f"a case may name {MAX_CASE_FILES} files; this one names more"
                self._reading.add(at, message, case_id=case_id)
            return name
        try:
            return {**self._read(name), "file": name}
        except MissingAttachmentError as error:
            if self._is_alone:
                message = f"the fixture {name!r} is not here; the case is read with its name alone"
                remedy = "open the skill's folder or zip to have its fixtures"
                self._reading.warn(at, message, remedy, case_id=case_id)
            else:
                self._reading.add(at, str(error), "add it, or correct the name", case_id=case_id)
        except AttachmentError as error:
            self._reading.add(at, str(error), error.remedy, case_id=case_id)
        return name

    def _read(self, name: str) -> JsonObject:
        """`eval/fixtures/x` from the root; `fixtures/x` beside the test file, or in the root."""
        path = safe_file_name(name)
        if path.startswith("eval/") or not self._inside:
            return self._files.take(path)
        try:
            return self._files.take(self._inside + path)
        except MissingAttachmentError:
            return self._files.take(path)


_LEVELS = {"simple": "easy", "medium": "medium", "complex": "hard", "very_complex": "hard"}


def write_skill_tests(source: ConversionSource) -> WrittenCases:
    """Cases as an `eval/tests.json` of version 2; a file that is one passes unchanged."""
    return skill_tests_of(source.cases) if source.skill_tests is None else source.skill_tests


def write_first_version(source: ConversionSource) -> WrittenCases:
    """Cases as the list of tests that version 1 of `tests.json` is."""
    whole = source.skill_tests or skill_tests_of(source.cases)
    return [test for test in downgrade_skill_tests(whole)[0] if isinstance(test, dict)]


def skill_tests_of(cases: Iterable[Case]) -> JsonObject:
    """Cases as an `eval/tests.json`; those that were read from one make the same tests."""
    whole: JsonObject = {"version": "2.0", "profile": "enterprise", "settings": {}}
    return {**whole, "testCases": [_test(case) for case in cases]}


def _test(case: Case) -> JsonObject:
    metadata = dict(case.metadata)
    other = as_mapping(metadata.pop(OTHER_FIELDS, None))
    if case.stratum is not None and "difficulty" not in metadata:
        metadata["difficulty"] = _LEVELS[case.stratum]
    found: JsonObject = {"id": case.id, "name": case.name or case.id}
    if case.description is not None:
        found["description"] = case.description
    if case.tags and metadata.get("tags") != [*case.tags]:
        found["tags"] = [*case.tags]
    asked: JsonObject = {"prompt": case.input if isinstance(case.input, str) else str(case.input)}
    if isinstance(case.input, dict) and case.input.keys() == {"prompt", "variables"}:
        asked = dict(case.input)
    if isinstance(case.context, dict):
        asked["context"] = _named(case.context)
    parts = {"input": asked, "expected": _expected(case), "evaluation": _evaluation_json(case)}
    found |= {name: {**part, **as_mapping(other.get(name))} for name, part in parts.items()}
    if metadata:
        found["metadata"] = metadata
    return {**found, **as_mapping(other.get("case"))}


def _named(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_named(item) for item in value]
    if not isinstance(value, dict):
        return value
    is_file = value.keys() in ({"file", "text"}, {"file", "media_type", "n_bytes", "sha256"})
    return value["file"] if is_file else {name: _named(item) for name, item in value.items()}


def _expected(case: Case) -> JsonObject:
    found: JsonObject = {}
    if isinstance(case.reference, str):
        found["output"] = case.reference
    patterns = [item.get("value") for item in case.assertions if item.get("type") == "regex"]
    if patterns:
        found["patterns"] = patterns
    for item in case.assertions:
        if item.get("type") == "is-json" and "value" in item:
            found["jsonSchema"] = item["value"]
        if item.get("type") == "similar" and "threshold" in item:
            found["semanticThreshold"] = item["threshold"]
    if isinstance(case.rubric, Rubric):
        found["rubric"] = _rubric(case.rubric)
    if case.evaluation is not None and case.evaluation.script is not None:
        found["customScript"] = case.evaluation.script
    return found


def _evaluation_json(case: Case) -> JsonObject:
    evaluation = case.evaluation
    if evaluation is None:
        is_exact = any(item.get("type") == "equals" for item in case.assertions)
        return {"strategy": "exact_match" if is_exact else "llm_judge"}
    fields: JsonObject = {} if evaluation.strategy is None else {"strategy": evaluation.strategy}
    if evaluation.timeout_s is not None:
        fields["timeout"] = _whole(evaluation.timeout_s * 1000)
    if "retries" in evaluation.model_fields_set:
        fields["retryCount"] = evaluation.retries
    if evaluation.weights:
        fields["weights"] = {**evaluation.weights}
    return fields


def _rubric(rubric: Rubric) -> JsonObject:
    metadata = dict(rubric.metadata)
    other = as_mapping(metadata.pop(OTHER_FIELDS, None))
    criteria: list[JsonValue] = []
    for criterion in rubric.criteria:
        scale: JsonObject = {"min": _whole(criterion.scale.min), "max": _whole(criterion.scale.max)}
        texts: JsonObject = {
            f"{level.value:g}": level.description or level.name or ""
            for level in reversed(criterion.scale.levels)
        }
        if texts:
            scale["descriptions"] = texts
        fields: JsonObject = {
            "name": criterion.name,
            "description": criterion.question,
            "weight": criterion.weight,
            "scale": scale,
        }
        criteria.append({**fields, **as_mapping(other.get(criterion.name))})
    return {"criteria": criteria, "passingThreshold": rubric.pass_threshold, **metadata}


def _whole(number: float) -> float:
    # JSON written by hand has 5, not 5.0, and the file should stay as it was.
    return int(number) if number.is_integer() else number
