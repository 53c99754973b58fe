"""Logs of inspect_ai in the shape of version 0.3.285: JSON, and `.eval` with Zstandard."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import judgekit as jk
from judgekit.datasets import iter_case_outputs, iter_output_rows, read_labels, validate_path
from judgekit.errors import DatasetError
from judgekit.formats import is_foreign_file, read_whole_document
from tests.formats.writing import read_variations

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::judgekit.errors.NotImportedWarning")

MODEL = "openai/gpt-4o"
LONG = "0123456789abcdef0123456789abcdef"


def _sample(name: str | int = "one", epoch: int = 1, **fields: Any) -> dict[str, Any]:
    call = {"id": "c1", "function": "add", "arguments": {"x": 1, "y": 1}, "type": "function"}
    messages: list[dict[str, Any]] = [
        {"id": "m1", "role": "user", "content": f"attachment://{LONG}", "source": "input"},
        {"id": "m2", "role": "assistant", "content": "", "tool_calls": [call], "model": MODEL},
        {"id": "m3", "role": "tool", "content": "2", "tool_call_id": "c1", "function": "add"},
        {"id": "m4", "role": "assistant", "content": "It is 2.", "model": MODEL},
    ]
    choices = [{"message": messages[-1], "stop_reason": "stop"}]
    usage = {"input_tokens": 10, "output_tokens": 3, "input_tokens_cache_read": 5}
    return {
        "id": name,
        "epoch": epoch,
        "input": f"attachment://{LONG}",
        "target": ["2"],
        "messages": messages,
        "output": {"model": MODEL, "choices": choices, "completion": "It is 2."},
        "scores": {
            "match": {"value": "C", "explanation": "It is 2."},
            "style": {"value": {"brief": 0.5, "kind": True}},
            "grader": {"value": "N"},
        },
        "metadata": {"topic": "sums"},
        "model_usage": {MODEL: usage, "openai/grader": {"input_tokens": 99}},
        "total_time": 1.5,
        "uuid": "u1",
        "events": [
            {"event": "span_begin"},
            {"event": "state"},
            {"event": "model", "output": {"choices": choices}},
            {"event": "tool", "id": "c1"},
            {"event": "model", "output": {"choices": [{"message": {"content": "It is 2."}}]}},
            {"event": "score", "score": {"value": "C"}},
        ],
        "attachments": {LONG: "What is 1 + 1?"},
        **fields,
    }


RED = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEX"
    "HbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC"
)


def _log(*samples: dict[str, Any], **fields: Any) -> dict[str, Any]:
    head = {"task": "sums", "model": MODEL, "config": {"epochs": 2}}
    return {"version": 2, "status": "success", "eval": head, "samples": [*samples], **fields}


def _write(path: Path, log: dict[str, Any]) -> Path:
    if path.suffix == ".json":
        path.write_text(json.dumps(log, indent=1))
        return path
    head = {name: value for name, value in log.items() if name != "samples"}
    members = {"header.json": head, "summaries.json": []}
    for sample in log["samples"]:
        members[f"samples/{sample['id']}_epoch_{sample['epoch']}.json"] = sample
    path.write_bytes(_zstd_zip({name: json.dumps(value) for name, value in members.items()}))
    return path


def _zstd_zip(members: dict[str, str]) -> bytes:
    """A zip whose members are packed as inspect_ai packs them, which `zipfile` cannot write."""
    body, directory = b"", b""
    for name, text in members.items():
        packed = pa.compress(text.encode(), codec="zstd", asbytes=True)
        sizes = (zlib.crc32(text.encode()), len(packed), len(text.encode()), len(name), 0)
        common = struct.pack("<HHHHHIIIHH", 63, 0, 93, 0, 33, *sizes)
        offset, body = len(body), body + b"PK\3\4" + common + name.encode() + packed
        tail = struct.pack("<HHHII", 0, 0, 0, 0, offset)
        directory += b"PK\1\2\x3f\0" + common + tail + name.encode()
    n = len(members)
    end = struct.pack("<HHHHIIH", 0, 0, n, n, len(directory), len(body), 0)
    return body + directory + b"PK\5\6" + end


@pytest.mark.parametrize("suffix", [".json", ".eval"])
def test_a_log_is_cases_outputs_and_labels(tmp_path: Path, suffix: str) -> None:
    path = _write(tmp_path / f"log{suffix}", _log(_sample()))
    ((case, output),) = iter_case_outputs(path)
    assert is_foreign_file(path)
    assert [one.id for one in jk.load_dataset(path).cases] == ["one"]
    assert (case.input, case.reference) == ("What is 1 + 1?", "2")
    assert (output.text, output.variant, output.duration_ms) == ("It is 2.", MODEL, 1500)
    assert output.usage is not None
    assert (output.usage.input_tokens, output.usage.cached_input_tokens) == (15, 5)
    kinds = [(event.type, event.name, event.content) for event in output.trace]
    assert kinds[1:3] == [("tool_call", "add", {"x": 1, "y": 1}), ("tool_result", "add", "2")]
    labels = [
        (one.label.annotator, one.label.criterion, one.label.raw) for one in read_labels(path)
    ]
    assert labels == [
        ("inspect:match", None, "pass"),
        ("inspect:style", "brief", 0.5),
        ("inspect:style", "kind", "true"),
    ]


def test_no_name_of_a_model_reaches_what_a_judge_is_shown(tmp_path: Path) -> None:
    asked = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "", "model": MODEL},
    ]
    path = _write(tmp_path / "log.json", _log(_sample(input=asked)))
    ((case, output),) = iter_case_outputs(path)
    shown = output.model_copy(update={"variant": None, "metadata": {}}).to_json()
    assert MODEL not in json.dumps([case.to_json(), shown])


@pytest.mark.parametrize("suffix", [".json", ".eval"])
def test_only_events_that_nothing_else_holds_are_listed(tmp_path: Path, suffix: str) -> None:
    lost = [
        {"event": "model", "output": {"choices": [{"message": {"id": "m9", "content": "Hm."}}]}},
        {"event": "tool", "id": ["c9"]},
        {"event": "score", "intermediate": True},
        {"event": "approval"},
    ]
    for events in ([], lost):
        sample = _sample("two", events=[*_sample()["events"], *events])
        path = _write(tmp_path / f"log{suffix}", _log(_sample(), sample))
        listed = [one.message for one in validate_path(path) if "`events`" in one.message]
        kinds = "approval, model, score, tool"
        message = f"`events` of 1 sample is not imported: no message says what these do: {kinds}"
        assert listed == ([message] if events else [])


def test_what_is_left_out_is_listed_by_name_and_line(tmp_path: Path) -> None:
    samples = [_sample(name, store={"n": 1}) for name in ("one", "two")]
    path = _write(tmp_path / "log.json", _log(*samples, status="error"))
    problems = {one.message.split("`")[1] if "`" in one.message else "": one for one in
                validate_path(path)}  # fmt: skip
    assert problems["store"].severity == "left_out"
    assert problems["store"].message.startswith("`store` of 2 samples is not imported")
    assert problems["grader"].line is not None
    assert "ended as 'error'" in problems[""].message


def test_epochs_are_repeats_of_one_case(tmp_path: Path) -> None:
    samples = [_sample(epoch=n, uuid=f"u{n}") for n in range(1, 12)]
    path = _write(tmp_path / "log.eval", _log(*samples))
    assert len(jk.load_dataset(path).cases) == 1
    assert {one.label.repeat for one in read_labels(path)} == {*range(11)}
    rows = [row.fields["run_id"] for row in iter_output_rows(path)]
    assert rows == [f"u{n}" for n in range(1, 12)]


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"error": {"message": "timeout"}}, "timeout"),
        ({"output": {"choices": [], "completion": ""}, "limit": {"type": "token"}},
         "the model gave no answer (token limit)"),
    ],
)  # fmt: skip
def test_a_sample_without_an_answer_is_an_error(
    tmp_path: Path, fields: dict[str, Any], error: str
) -> None:
    path = _write(tmp_path / "log.json", _log(_sample(**fields)))
    ((_, output),) = iter_case_outputs(path)
    assert (output.text, output.error) == (None, error)


def test_an_older_log_has_its_answer_in_its_first_choice(tmp_path: Path) -> None:
    parts = [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "Two."}]
    choice = {"message": {"role": "assistant", "content": parts}}
    path = _write(tmp_path / "log.json", _log(_sample(output={"choices": [choice]})))
    ((_, output),) = iter_case_outputs(path)
    assert output.text == "Two."


def test_choices_belong_to_the_input(tmp_path: Path) -> None:
    path = _write(tmp_path / "log.json", _log(_sample(input="Pick", choices=["x", "y"])))
    assert jk.load_dataset(path).cases[0].input == {"question": "Pick", "choices": ["x", "y"]}


def test_nan_is_read_in_a_log_and_in_no_other_file(tmp_path: Path) -> None:
    log = _log(_sample(scores={"mean": {"value": float("nan")}}))
    document = read_whole_document(_write(tmp_path / "log.json", log))
    assert document is not None
    other = tmp_path / "other.json"
    other.write_text('{"eval": "x", "value": NaN}')
    with pytest.raises(DatasetError, match="NaN"):
        read_whole_document(other)


@pytest.mark.parametrize(
    ("log", "message"),
    [
        (_log(), "holds no samples"),
        (_log({"epoch": 1}), "has no `id`"),
        (_log(_sample(attachments={})), "the attachment 0123456789abcdef.* is not in the log"),
    ],
)
def test_a_log_that_cannot_be_read_is_refused(
    tmp_path: Path, log: dict[str, Any], message: str
) -> None:
    path = _write(tmp_path / "log.json", log)
    with pytest.raises(DatasetError, match=message):
        jk.load_dataset(path)


def test_a_damaged_member_and_a_zip_of_something_else_are_refused(tmp_path: Path) -> None:
    path = _write(tmp_path / "log.eval", _log(_sample()))
    content = bytearray(path.read_bytes())
    content[content.index(b"samples/") + len("samples/one_epoch_1.json") + 20] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(DatasetError, match="damaged"):
        jk.load_dataset(path)
    other = tmp_path / "other.eval"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("tests.json", "[]")
    with pytest.raises(DatasetError, match="is no log of inspect_ai"):
        jk.load_dataset(other)


@pytest.mark.parametrize(
    "fields", [{"choices": ["x"]}, {"input": [{"role": "user", "content": "x"}]}]
)
def test_no_value_in_the_wrong_place_breaks_the_reader(fields: dict[str, Any]) -> None:
    read_variations(_log(_sample(**fields)))


def test_an_image_of_a_log_is_an_image_of_its_case(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "What is it?"},
             {"type": "image", "image": f"attachment://{LONG}", "detail": "auto"}]  # fmt: skip
    sample = _sample(input=[{"role": "user", "content": parts}], attachments={LONG: RED})
    path = tmp_path / "log.json"
    path.write_text(json.dumps(_log(sample | {"messages": []})))
    (case,) = jk.load_dataset(path).cases
    assert [image.url for image in case.images] == [RED]
