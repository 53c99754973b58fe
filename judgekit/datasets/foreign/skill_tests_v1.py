"""Converts a `tests.json` of version 1 (S4) to version 2, and back where nothing would be lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.datasets.faults import kind_of
from judgekit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from judgekit.records.record import JsonObject

DEFAULT_TIMEOUT_MS = 30_000
"""How long a test of version 1 may take that does not say so."""

_OWN = ("name", "description", "input", "expectedOutput", "expectedPatterns", "timeout")


def is_version_1(value: JsonValue) -> bool:
    """Whether a file is of version 1: a list of tests, or an object with `tests`."""
    return isinstance(value, list) or (
        isinstance(value, dict) and "tests" in value and "testCases" not in value
    )


def upgrade(value: JsonValue) -> JsonObject:
    """A file of version 1 as one of version 2; nothing of it is lost."""
    # Tests are called `tc-001`, `tc-002`, … by their place. What is expected decides the strategy:
    # an output `exact_match`, patterns `regex_match`, both `hybrid`. Fields that version 1 does not
    # know are kept beside the others.
    tests = value.get("tests") if isinstance(value, dict) else value
    if not isinstance(tests, list):
        raise DatasetError(f"`tests` must be a list, not {kind_of(tests)}")
    rest: JsonObject = {}
    if isinstance(value, dict):
        rest = {name: item for name, item in value.items() if name not in {"tests", "version"}}
    return {
        "version": "2.0",
        "profile": "deterministic",
        "settings": {"defaultTimeout": DEFAULT_TIMEOUT_MS},
        **rest,
        "testCases": [_upgraded(test, place) for place, test in enumerate(tests, start=1)],
    }


def downgrade(value: JsonObject) -> tuple[list[JsonValue], tuple[str, ...]]:
    """The tests of a file of version 2 as version 1 has them, and what that loses."""
    # Of tests with the fields of version 1, `downgrade(upgrade(tests))` gives the same tests back
    # and loses nothing.
    usual = {"version": "2.0", "profile": "deterministic", "testCases": ...}
    settings = {"defaultTimeout": DEFAULT_TIMEOUT_MS}
    lost = [
        name
        for name, item in value.items()
        if name not in usual and not (name == "settings" and item in (settings, {}))
    ]
    if value.get("profile", "deterministic") != "deterministic":
        lost.append("profile")
    tests: list[JsonValue] = []
    given = value.get("testCases")
    for index, test in enumerate(given if isinstance(given, list) else ()):
        if isinstance(test, dict):
            tests.append(_downgraded(test))
            lost += [f"testCases[{index}].{path}" for path in _losses(test, index + 1)]
    return tests, tuple(lost)


def _upgraded(test: JsonValue, place: int) -> JsonValue:
    if not isinstance(test, dict):
        return test
    expected = {
        new: test[old]
        for new, old in (("output", "expectedOutput"), ("patterns", "expectedPatterns"))
        if test.get(old) is not None
    }
    evaluation: JsonObject = {**_strategy(expected)}
    if "timeout" in test:
        evaluation["timeout"] = test["timeout"]
    known: JsonObject = {name: test[name] for name in ("name", "description") if name in test}
    rest: JsonObject = {name: item for name, item in test.items() if name not in _OWN}
    asked: JsonObject = {"prompt": test["input"]} if "input" in test else {}
    return {
        "id": f"tc-{place:03d}",
        **known,
        "input": asked,
        "expected": expected,
        "evaluation": evaluation,
        **rest,
    }


def _strategy(expected: JsonObject) -> JsonObject:
    if len(expected) > 1:
        return {"strategy": "hybrid", "weights": {"exact_match": 0.5, "regex_match": 0.5}}
    return {"strategy": "regex_match" if "patterns" in expected else "exact_match"}


def _downgraded(test: JsonObject) -> JsonObject:
    asked, expected = _part(test, "input"), _part(test, "expected")
    found: JsonObject = {name: test[name] for name in ("name", "description") if name in test}
    if "prompt" in asked:
        found["input"] = asked["prompt"]
    for old, new in (("expectedOutput", "output"), ("expectedPatterns", "patterns")):
        if new in expected:
            found[old] = expected[new]
    evaluation = _part(test, "evaluation")
    if "timeout" in evaluation:
        found["timeout"] = evaluation["timeout"]
    new_names = {"id", "name", "description", "input", "expected", "evaluation"}
    new_names |= {"tags", "metadata"}
    return found | {name: item for name, item in test.items() if name not in new_names}


def _losses(test: JsonObject, place: int) -> Iterator[str]:
    if test.get("id") != f"tc-{place:03d}":
        yield "id"
    for name in ("tags", "metadata"):
        if test.get(name):
            yield name
    yield from (f"input.{name}" for name in _part(test, "input") if name != "prompt")
    expected = _part(test, "expected")
    yield from (f"expected.{name}" for name in expected if name not in {"output", "patterns"})
    usual = _strategy({name: expected[name] for name in ("output", "patterns") if name in expected})
    for name, item in _part(test, "evaluation").items():
        if name != "timeout" and item != usual.get(name):
            yield f"evaluation.{name}"


def _part(test: JsonObject, name: str) -> JsonObject:
    part = test.get(name)
    return part if isinstance(part, dict) else {}
