"""Packets for annotators and what comes back, for tests; a test says only what matters to it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.commanding import Run

RUBRIC = """\
name: support
criteria:
  - name: correct
    question: Does the answer agree with the reference?
    scale: [{value: 1, name: wrong}, {value: 2}, {value: 3, name: half}, {value: 4}, {value: 5}]
  - name: tone
    question: Is the answer polite?
    scale: [{value: 0, name: "no"}, {value: 1, name: "yes"}]
"""


def jsonl(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def lay_outputs(folder: Path, n: int, *variants: str) -> None:
    """Files of outputs by variant, a rubric, and a judge's recorded replies to the first one."""
    (folder / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    for place, variant in enumerate(variants):
        outputs = [
            {
                "case_id": f"case-{k:03}",
                "variant": variant,
                "input": f"Can I return lamp {k}?",
                "text": f"I am {variant}. Lamp {k} can be returned{', with the receipt' * place}.",
            }
            for k in range(n)
        ]
        jsonl(folder / f"{variant}.jsonl", *outputs)
    replies = [
        {
            "case_id": f"case-{k:03}",
            "variant": variants[0],
            "criterion": name,
            "text": json.dumps({"score": score, "rationale": "It is so."}),
        }
        for k in range(n)
        for name, score in (("correct", 1 + k % 5), ("tone", k % 2))
    ]
    jsonl(folder / "replies.jsonl", *replies)


def judged(run: Run, folder: Path, n: int = 6) -> None:
    """A stored run of outputs that a recorded judge has graded."""
    lay_outputs(folder, n, "prompt-v1")
    judge = ("--rubric", "rubric.yaml", "--judge", "recorded:replies.jsonl")
    assert run("grade", "prompt-v1.jsonl", *judge, "-q").code == 0


def task_of(page: Path) -> dict[str, Any]:
    """What the script of a labelling page is given."""
    text = page.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="label-data">(.*?)</script>', text)
    assert found is not None
    task = json.loads(found[1])
    assert isinstance(task, dict)
    return task


def labels_of(
    task: dict[str, Any], annotator: str, score: Callable[[dict[str, Any], str], Any]
) -> list[dict[str, Any]]:
    """The rows that an annotator's page saves; `score` gives the answer to an item's criterion."""
    field = "winner" if task["pairs"] else "raw"
    rows = []
    for place, item in enumerate(task["items"], start=1):
        for name in [task["criteria"][k]["name"] for k in item["criteria"]]:
            about = {
                "packet": task["packet"],
                "position": place,
                "labelled_at": f"2026-11-23T10:{place:02}:00Z",
            }
            row = {"case_id": item["id"], "annotator": annotator, "metadata": about}
            row |= {} if name is None else {"criterion": name}
            answer = score(item, name)
            rows.append(row if answer is None else row | {field: answer})
    return rows


def lamp(item: dict[str, Any]) -> int:
    """Which case an item is of, as only the test knows."""
    return int(re.findall(r"\d+", item["about"][0]["text"])[0])
