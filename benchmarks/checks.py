"""How fast assertions are, against a bare Python loop that asks `value in text`.

python -m benchmarks.checks [--quick]
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchmarks.figures import Figure, compared, report
from benchmarks.timing import Stopwatch, Took, alternated
from judgekit.assertions import evaluate_assertions
from judgekit.records import Output

if TYPE_CHECKING:
    from collections.abc import Sequence

PER_S_AT_LEAST = 10_000
"""Assertions for each CPU second."""

RATIO_AT_LEAST = 0.1
"""The share of the bare loop's speed."""

N_OUTPUTS = 2_000
VALUES = ("thirty days", "refund", "receipt", "warranty", "not to be found")
"""What each output is asked to contain; the last is in none."""

_SENTENCE = "The customer may send the goods back as long as they are as good as new, {} says. "
_SENTENCES = 24


def measure(quick: bool) -> list[Figure]:  # noqa: FBT001 - what the command line hands in
    """The speed of five assertions on texts of an ordinary answer's length, and on short ones."""
    n, rounds = (N_OUTPUTS // 10, 3) if quick else (N_OUTPUTS, 7)
    texts = [_answer(number) for number in range(n)]
    specs = [{"type": "output.contains", "path": "outputs.main.text", "value": v} for v in VALUES]
    family = [{"type": "contains", "value": value} for value in VALUES]
    return [
        *_figures("output.contains, 2,000 characters", texts, specs, rounds, at_least=True),
        *_figures("contains, 2,000 characters", texts, family, rounds, at_least=True),
        *_figures("  output.contains, 80 characters", [t[-80:] for t in texts], specs, rounds),
    ]


def _figures(
    name: str,
    texts: Sequence[str],
    specs: Sequence[dict[str, str]],
    rounds: int,
    *,
    at_least: bool = False,
) -> list[Figure]:
    outputs = [Output(text=text) for text in texts]
    ours, bare = alternated(rounds, partial(_ours, outputs, specs), partial(_bare, texts))
    speeds = [took.per_cpu_s for took in ours]
    others = [took.per_cpu_s for took in bare]
    shown = compared(
        f"{name}, against `in`",
        speeds,
        others,
        unit="/CPU s",
        at_least=RATIO_AT_LEAST if at_least else None,
    )
    floor = [float(PER_S_AT_LEAST)] * len(speeds)
    wanted = compared(f"{name}, against the bar", speeds, floor, unit="/CPU s", at_least=1.0)
    return [shown, wanted]


def _ours(outputs: Sequence[Output], specs: Sequence[dict[str, str]]) -> Took:
    watch = Stopwatch()
    n_passed = sum(
        result.passed is True for output in outputs for result in evaluate_assertions(output, specs)
    )
    took = watch.took(len(outputs) * len(specs))
    if n_passed > took.n:
        raise AssertionError("more passed than were asked")
    return took


def _bare(texts: Sequence[str]) -> Took:
    watch = Stopwatch()
    found = []
    for text in texts:
        for value in VALUES:
            found.append(value in text)  # noqa: PERF401 - the loop a person would write
    return watch.took(len(found))


def _answer(number: int) -> str:
    """About 2,000 characters, an ordinary answer's length; what is looked for is at its end."""
    body = "".join(_SENTENCE.format(number + place) for place in range(_SENTENCES))
    return f"{body}With the receipt there is a refund within thirty days, or the warranty."


if __name__ == "__main__":
    report(measure)
