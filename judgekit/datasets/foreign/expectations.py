"""Turns what a skill's test expects (S4) into assertions, and finds tests that cannot fail."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, get_args

from judgekit.datasets.faults import suggestion
from judgekit.records.case import Strategy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.datasets.foreign.reading import Reading
    from judgekit.datasets.foreign.skill_tests_format import Expected, SkillCase
    from judgekit.datasets.json_text import KeyPath
    from judgekit.records.record import JsonObject

_NEEDS = {
    "exact_match": ("output", "output"),
    "regex_match": ("patterns", "patterns"),
    "json_schema": ("json_schema", "jsonSchema"),
    "semantic_sim": ("output", "output"),
    "custom": ("custom_script", "customScript"),
}
"""What a strategy compares with: the field of `Expected`, and its name in the file."""

_USES: dict[str, frozenset[str]] = {
    "exact_match": frozenset({"output"}),
    "regex_match": frozenset({"patterns"}),
    "json_schema": frozenset({"json_schema"}),
    "semantic_sim": frozenset({"output", "semantic_threshold"}),
    "llm_judge": frozenset({"output", "rubric"}),
    "custom": frozenset({"output", "custom_script"}),
}
_FIELDS = {
    "patterns": "patterns",
    "json_schema": "jsonSchema",
    "semantic_threshold": "semanticThreshold",
    "rubric": "rubric",
    "custom_script": "customScript",
}
_SCRIPT = re.compile(r"[\w./ -]+\.(?:py|js|mjs|cjs)")


def expected_assertions(case: SkillCase) -> Iterator[JsonObject]:
    """The checks of a test that no judge is needed for, by its strategy."""
    expected, used = case.expected, strategies_of(case)
    if "exact_match" in used and expected.output is not None:
        yield {"type": "equals", "value": expected.output}
    for pattern in (expected.patterns or ()) if "regex_match" in used else ():
        yield {"type": "regex", "value": pattern}
    if "json_schema" in used and expected.json_schema is not None:
        yield {"type": "is-json", "value": expected.json_schema}
    if "semantic_sim" in used and expected.output is not None:
        least = expected.semantic_threshold
        # Without a threshold the profile decides.
        given: JsonObject = {} if least is None else {"threshold": least}
        yield {"type": "similar", "value": expected.output, **given}


def strategies_of(case: SkillCase) -> frozenset[str]:
    """The strategies that take part in a test: its own, or those a hybrid one weighs."""
    given = case.evaluation
    if given.strategy != "hybrid":
        return frozenset({given.strategy})
    if given.weights:
        return frozenset(name for name, weight in given.weights.items() if weight > 0)
    found = {name for name in _NEEDS if _has(case.expected, name)}
    if case.expected.semantic_threshold is None:
        found.discard("semantic_sim")
    return frozenset(found | ({"llm_judge"} if case.expected.rubric is not None else set()))


def check_expected(case: SkillCase, at: KeyPath, reading: Reading) -> None:
    """Note what keeps a test from failing, what it names in vain, and patterns that are none."""
    used = strategies_of(case)
    if not used:
        message = "the strategy hybrid has nothing to combine, so the case cannot fail"
        remedy = "add `weights`, or what is expected"
        reading.add((*at, "evaluation"), message, remedy, case_id=case.id)
    for name in sorted(used):
        _check_strategy(name, case, at, reading)
    _check_unused(case, at, reading)
    _check_patterns(case, at, reading)
    _check_script(case, at, reading)


def unused_fields(case: SkillCase) -> tuple[str, ...]:
    """What a test expects that its strategy does not look at."""
    used = strategies_of(case)
    compared = frozenset[str]().union(*(_USES.get(name, frozenset()) for name in used))
    return tuple(
        name
        for field, name in _FIELDS.items()
        if getattr(case.expected, field) is not None and field not in compared
    )


def _has(expected: Expected, strategy: str) -> bool:
    value = getattr(expected, _NEEDS[strategy][0])
    return value is not None and value != ()


def _check_strategy(name: str, case: SkillCase, at: KeyPath, reading: Reading) -> None:
    known = [known for known in get_args(Strategy) if known != "hybrid"]
    if name not in known:
        place = (*at, "evaluation", "weights", name)
        message = f"no strategy to combine is called {name!r}"
        reading.add(place, message, suggestion(name, known), case_id=case.id)
    elif name == "llm_judge":
        if case.expected.rubric is None:
            message = "the case has no rubric; a judge takes that of the suite or the profile"
            if case.expected.output is not None:
                message += ", else it asks for the expected output"
            remedy = "add `expected.rubric`, or run it with a rubric"
            reading.warn((*at, "expected"), message, remedy, case_id=case.id)
    elif not _has(case.expected, name):
        wanted = _NEEDS[name][1]
        message = f"the strategy {name} has no `expected.{wanted}`, so the case cannot fail"
        remedy = f"add `{wanted}` to `expected`, or name another strategy"
        reading.add((*at, "expected"), message, remedy, case_id=case.id)


def _check_unused(case: SkillCase, at: KeyPath, reading: Reading) -> None:
    for name in unused_fields(case):
        message = f"`{name}` is not looked at by the strategy {case.evaluation.strategy}"
        remedy = "remove it, or use the strategy hybrid"
        reading.warn((*at, "expected", name), message, remedy, case_id=case.id)


def _check_patterns(case: SkillCase, at: KeyPath, reading: Reading) -> None:
    for index, pattern in enumerate(case.expected.patterns or ()):
        place = (*at, "expected", "patterns", index)
        if not pattern:
            message = "an empty pattern is found in every output, so it cannot fail"
            reading.add(place, message, "remove it", case_id=case.id)
        elif complaint := _pattern_fault(pattern):
            message = f"{pattern[:80]!r} is no regular expression: {complaint}"
            reading.add(place, message, case_id=case.id)


def _pattern_fault(pattern: str) -> str | None:
    try:
        with warnings.catch_warnings():
            # What a later Python may read in another way is not the file's fault now.
            warnings.simplefilter("ignore", FutureWarning)
            warnings.simplefilter("ignore", DeprecationWarning)
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return str(error)
    return None


def _check_script(case: SkillCase, at: KeyPath, reading: Reading) -> None:
    script = case.expected.custom_script
    if script is None:
        return
    if ".." in script.split("/") or script.startswith("/") or not _SCRIPT.fullmatch(script):
        message = "`customScript` must be the path of a .py or .js file below the skill's folder"
        remedy = "put the code into a file; a test names a script, it never holds one"
        reading.add((*at, "expected", "customScript"), message, remedy, case_id=case.id)
