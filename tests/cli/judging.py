"""Two files of outputs, and recorded judges whose answer to each case a test chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.judge.comparing import prefers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.cli.bench import Bench

CHOICES = {
    "A": ("first", "second"),
    "B": ("second", "first"),
    "tie": ("tie", "tie"),
    "first": ("first", "first"),
    "leans": ("first", "tie"),
    "leans to B": ("tie", "first"),
    "open": ("first", None),
}
"""What a judge says with A shown first, and with B shown first."""

TURNED = {"A": "B", "B": "A", "leans": "leans to B", "leans to B": "leans"}
"""What it says of the sides turned round, where that is something else."""

ONE = "name: r\ncriteria: [{name: good, question: Is it good?, scale: one_to_five}]\n"
"""A rubric of one criterion."""


def lay_out_sides(bench: Bench, n: int, *names: str) -> list[str]:
    """Files of outputs that answer the same cases, and the rubric `r.yaml`; their cases."""
    cases = [f"c{k}" for k in range(n)]
    bench.write("r.yaml", ONE)
    for side in names or ("a", "b"):
        rows = [{"case_id": c, "input": c, "text": f"{side} {c}{'!' * k}"} for k, c in
                enumerate(cases)]  # fmt: skip
        bench.write(f"{side}.jsonl", *rows)
    return cases


def record_judge(bench: Bench, name: str, outcomes: Sequence[str]) -> str:
    """Write a judge that answers the cases so, seen from A; what to name it by."""
    rows = [
        {"case_id": f"c{k}", "order": order, "text": prefers(choice) if choice else "I pass."}
        for k, outcome in enumerate(outcomes)
        for order, choice in zip(("ab", "ba"), CHOICES[outcome], strict=True)
    ]
    bench.write(f"{name}.jsonl", *rows)
    return f"recorded:{name}.jsonl"
