"""What is held of each case is bounded; `python -m benchmarks memory` measures whole commands."""

from __future__ import annotations

import gc
import json
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from judgekit.batches import providers
from judgekit.datasets import read_labels
from judgekit.models import RecordedModel
from judgekit.models.request import ModelRequest
from judgekit.records import spool
from judgekit.targets import RecordedTarget

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FEW, MANY = 500, 2500


def lines(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def replies(folder: Path, n: int) -> object:
    rows: list[dict[str, object]] = [
        {"case_id": f"case-{k}", "order": order, "text": "[[A]]"}
        for k in range(n)
        for order in ("ab", "ba")
    ]
    return RecordedModel(lines(folder / "replies.jsonl", rows))


def outputs(folder: Path, n: int) -> object:
    rows: list[dict[str, object]] = [{"case_id": f"case-{k}", "text": "x" * 50} for k in range(n)]
    return RecordedTarget("v1", lines(folder / "outputs.jsonl", rows))


def labels(folder: Path, n: int) -> object:
    rows: list[dict[str, object]] = [
        {"case_id": f"case-{k}", "annotator": "Ada", "criterion": "accuracy", "raw": 4}
        for k in range(n)
    ]
    return read_labels(lines(folder / "labels.jsonl", rows))


def bytes_of(make: Callable[[Path, int], object], folder: Path, n: int) -> int:
    gc.collect()
    tracemalloc.start()
    held = make(folder, n)
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held is not None
    return size


@pytest.mark.parametrize(
    ("make", "most"),
    [(replies, 350), (outputs, 240), (labels, 680)],
    ids=["recorded replies in both orders", "recorded outputs", "labels"],
)
def test_a_further_case_takes_few_bytes(
    make: Callable[[Path, int], object], most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "_MOST_IN_MEMORY", 10)
    make(tmp_path, 10)  # what is made once, such as validators
    few, many = (bytes_of(make, tmp_path, n) for n in (FEW, MANY))
    assert (many - few) / (MANY - FEW) < most


def test_an_upload_of_a_batch_is_copied_once() -> None:
    content = bytes(2**22)
    gc.collect()
    tracemalloc.start()
    body = providers._multipart("b", ("A: b", b"batch"), ("C: d", content))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert body == b"--b\r\nA: b\r\n\r\nbatch\r\n--b\r\nC: d\r\n\r\n" + content + b"\r\n--b--\r\n"
    assert peak < 1.5 * len(content)


def test_a_request_holds_no_second_copy_of_its_messages() -> None:
    message = {"role": "user", "content": "x"}
    request = ModelRequest(model="openai/m", messages=(message,))
    assert request.key_parts["messages"] == [message]
    assert [key for key in vars(request) if key.startswith("key")] == []
