"""Reads results of promptfoo as outputs, and what it said of them as judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field, JsonValue

from judgekit.datasets.foreign.reading import Reading
from judgekit.datasets.foreign.results import ForeignResults
from judgekit.datasets.foreign.shape import CamelRecord
from judgekit.fingerprint import fingerprint
from judgekit.records.case import Dataset
from judgekit.records.judgment import Judgment
from judgekit.records.output import Output, Usage
from judgekit.records.record import Count, Finite, JsonObject  # noqa: TC001 - pydantic reads it

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.datasets.documents import Document
    from judgekit.datasets.json_text import KeyPath

_GRADED = ("rubric", "model-graded", "factuality", "g-eval", "relevance", "faithfulness")


class TokenUsage(CamelRecord):
    """Tokens of an answer."""

    prompt: Count = 0
    """Tokens sent."""

    completion: Count = 0
    """Tokens received."""

    cached: Count = 0
    """Tokens that were in promptfoo's own cache."""


class Response(CamelRecord):
    """An answer."""

    output: JsonValue = None
    """What was produced."""

    token_usage: TokenUsage | None = None
    """What it took."""

    error: str | None = None
    """Why there is none."""


class Component(CamelRecord):
    """What one assertion found."""

    passed: bool = Field(alias="pass")
    """Whether it holds."""

    score: Finite
    """How far."""

    reason: str | None = None
    """Why."""

    assertion: JsonObject | None = None
    """The assertion."""


class Grading(CamelRecord):
    """What all assertions found."""

    component_results: tuple[Component, ...] | None = None
    """One for each."""


class Result(CamelRecord):
    """One answer with what was found."""

    provider: JsonValue = None
    """Who answered: a name, or an object with `id` and `label`."""

    prompt_idx: Count = 0
    """Which prompt was used."""

    test_idx: Count | None = None
    """Which test it answers."""

    vars: JsonObject = Field(default_factory=dict)
    """The test's variables."""

    response: Response | None = None
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

    grading_result: Grading | None = None
    """What the assertions found."""


def check_promptfoo_results(document: Document) -> Reading:
    """What is wrong with a file of results."""
    reading = Reading(document)
    for _ in _results(document, reading):
        pass
    return reading


def read_promptfoo_results(document: Document) -> ForeignResults:
    """The outputs of a file of results, with their cases and what was said of them."""
    # A case is called `test-N` by its test, or after its variables where the file does not say. A
    # variant is a provider, with its prompt's number where there are several. `success` and `score`
    # are in the output's metadata.
    reading = Reading(document)
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


def result_rows(document: Document) -> Iterator[tuple[int, JsonObject]]:
    """The outputs of a file of results, as the rows of an outputs file."""
    places = [at for at, _ in _results(document, Reading(document))]
    found = read_promptfoo_results(document)
    inputs = {case.id: case.input for case in found.dataset.cases}
    for at, output in zip(places, found.outputs, strict=True):
        fields = {"input": inputs[output.case_id or ""], **output.to_json()}
        yield document.line_of(*at), fields


def _results(document: Document, reading: Reading) -> Iterator[tuple[KeyPath, Result]]:
    value = document.value
    inner = value.get("results") if isinstance(value, dict) else None
    at: KeyPath = ("results",)
    if isinstance(inner, dict):
        inner, at = inner.get("results"), ("results", "results")
    for place, item in reading.objects(inner, at):
        n_before = len(reading.problems)
        result = reading.record(Result, item, place)
        # Results carry much that nobody needs here; only what is unsound is told.
        reading.problems[n_before:] = [
            problem for problem in reading.problems[n_before:] if problem.severity == "error"
        ]
        if result is not None:
            yield place, result


def _case_id(result: Result) -> str:
    if result.test_idx is not None:
        return f"test-{result.test_idx + 1}"
    return f"test-{fingerprint(result.vars)[:12]}"


def _variant(result: Result, *, has_prompts: bool) -> str:
    provider = result.provider
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    name = provider if isinstance(provider, str) and provider.strip() else "unnamed"
    return f"{name} prompt-{result.prompt_idx + 1}" if has_prompts else name


def _output(result: Result, case_id: str, variant: str, repeat: int) -> Output:
    response = result.response or Response()
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


def _usage(result: Result, tokens: TokenUsage | None) -> Usage | None:
    if tokens is None:
        return None if result.cost is None else Usage(cost_usd=result.cost)
    return Usage(input_tokens=tokens.prompt, output_tokens=tokens.completion, cost_usd=result.cost)


def _judgments(result: Result, case_id: str, variant: str, repeat: int) -> Iterator[Judgment]:
    grading = result.grading_result
    names: set[str] = set()
    for part in (grading.component_results or ()) if grading is not None else ():
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
