"""What a grading says beside its scores (S3.3): claims, feedback on the tests, how it went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.datasets.vagueness import vague_word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgekit.evaluation.figures.concluding import Concluded
    from judgekit.records.output import Output
    from judgekit.records.record import JsonObject
    from judgekit.records.rubric import Rubric


def claims(answer: Concluded) -> Iterator[JsonObject]:
    """What judges say the output claims, each looked up in it."""
    seen: set[str] = set()
    for judgment in answer.result.judgments:
        for piece in judgment.evidence:
            if piece.quote in seen:
                continue
            seen.add(piece.quote)
            where = "not found in the output"
            if piece.found:
                place = (
                    "" if piece.start is None else f" at characters {piece.start} to {piece.end}"
                )
                where = f"found in the output{place}"
            about = f"{where}; quoted for {judgment.criterion}"
            yield {"claim": piece.quote, "verified": piece.found, "evidence": about}


def eval_feedback(answer: Concluded, rubric: Rubric | None) -> str:
    """What should be mended in the test itself, as far as this answer shows it."""
    return "\n".join(dict.fromkeys([*_of_rubric(rubric), *_of_answer(answer)]))


def execution_metrics(output: Output) -> JsonObject:
    """How the output was made."""
    given = output.metadata.get("metrics")
    if isinstance(given, dict):
        return given
    found: JsonObject = {}
    if output.duration_ms is not None:
        found["duration_ms"] = output.duration_ms
    if output.usage is not None:
        found |= output.usage.to_json()
    n_calls = sum(event.type == "tool_call" for event in output.trace)
    if n_calls:
        found["tool_calls"] = n_calls
    return found


def _of_rubric(rubric: Rubric | None) -> Iterator[str]:
    if rubric is None:
        return
    for criterion in rubric.criteria:
        if word := vague_word(criterion.question):
            yield (
                f"The criterion {criterion.name} says {word!r}, which nothing can contradict: "
                "say what would be seen in the output."
            )


def _of_answer(answer: Concluded) -> Iterator[str]:
    for failure in answer.result.failures:
        if failure.kind == "cannot_assess":
            yield (
                f"The criterion {failure.criterion} could not be assessed from the output: "
                f"{failure.message}"
            )
    for check in answer.result.checks:
        if check.error is not None:
            yield f"The assertion {check.type} could not be checked: {check.error}"
