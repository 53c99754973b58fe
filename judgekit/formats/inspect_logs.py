"""Reads logs of inspect_ai, as JSON or `.eval`: cases, outputs with traces, scores as labels."""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
import zlib
from collections import Counter
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from judgekit.errors import DatasetError
from judgekit.formats.attachments import MAX_FILE_BYTES, AttachmentError, open_zip, read_member
from judgekit.formats.documents import ParsedDocument, parse_document
from judgekit.formats.foreign_file import ForeignFile, map_texts
from judgekit.formats.messages import asked_of, final_text, read_messages
from judgekit.formats.rows import require_pyarrow
from judgekit.formats.text import (
    as_items,
    as_mapping,
    decode_utf8,
    objects_in,
    read_text,
    without_nulls,
)
from judgekit.records import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from judgekit.formats.text import KeyPath

# Number 93 of the ZIP specification (APPNOTE 4.4.5); `zipfile` knows it from Python 3.14 on.
_ZSTD = 93
_LOCAL_HEADER = struct.Struct("<26xHH")
# A text of a log that pydantic wrote may hold these constants, which are no JSON; `null` has four
# characters and they have three or more, so only columns move, and no line does.
_CONSTANT = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*"|(?P<constant>-?(?:NaN|Infinity))')
_ATTACHMENT = re.compile(r"attachment://([0-9a-f]{32})")

# The only parts of a sample that are read: its events may be a hundred times as large.
_READ = (
    "id", "epoch", "input", "choices", "target", "messages", "output", "scores", "metadata",
    "model_usage", "total_time", "error", "limit", "uuid", "attachments",
)  # fmt: skip
# Events that only repeat other parts of a sample, or that divide the others into groups.
_REPEATED = frozenset({
    "sample_init", "sample_limit", "error", "state", "store", "step", "span_begin", "span_end",
    "anchor",
})  # fmt: skip
# What a run leaves behind besides. The names are listed once, and not for every sample.
_UNREAD = {
    "store": "it is the state of the program that was evaluated",
    "files": "they were copied into a sandbox, which is gone",
    "setup": "it is code, which is never run from a file of data",
    "invalidation": "inspect_ai counts these samples as invalid, for a reason that is in the log",
    "error_retries": "only the last try of a sample has an answer",
}
# What a scorer says of an answer; `N` (no answer) is no score.
_SCORES: dict[str, JsonValue] = {"C": "pass", "I": "fail", "P": 0.5, "N": None}


def read_constants(path: Path) -> ParsedDocument | None:
    """A document in JSON with NaN for missing figures, as a log has them; else None."""
    text = read_text(path)
    bare = _CONSTANT.sub(lambda m: "null" if m["constant"] else m[0], text)
    return None if bare == text or '"eval"' not in text else parse_document(bare, path)


def read_log_archive(path: Path) -> ParsedDocument:
    """The log in an `.eval` file, with its samples in the order of their names."""
    with open_zip(path) as archive:
        names = [*archive.NameToInfo]
        # An interrupted run has no header yet, but the journal of its start.
        head = next((n for n in ("header.json", "_journal/start.json") if n in names), None)
        if head is None:
            hint = "an .eval file of inspect_ai has a `header.json`"
            raise DatasetError("is no log of inspect_ai", path=path, hint=hint)
        log = _member(archive, head, path)
        samples: list[JsonValue] = []
        for name in sorted(n for n in names if n.startswith("samples/")):
            sample = _member(archive, name, path)
            # Of the rest only that it is there, which is listed.
            unread: JsonObject = {n: bool(sample[n]) for n in _UNREAD if n in sample}
            unread["events"] = [*_lost_events(sample)]
            samples.append({**{n: sample[n] for n in _READ if n in sample}, **unread})
    return ParsedDocument(path, {**log, "samples": samples})


def _member(archive: zipfile.ZipFile, name: str, path: Path) -> JsonObject:
    info = archive.NameToInfo[name]
    try:
        is_known = info.compress_type != _ZSTD or hasattr(zipfile, "ZIP_ZSTANDARD")
        raw = read_member(archive, name) if is_known else _zstd_member(archive, info)
        # Constants such as NaN become null; a member that is damaged is reported by its name.
        value = json.loads(decode_utf8(raw, path=path / name), parse_constant=lambda _: None)
    except AttachmentError as error:
        raise DatasetError(str(error), path=path, hint=error.remedy) from error
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{name} is not JSON: {error}", path=path) from error
    if not isinstance(value, dict):
        raise DatasetError(f"{name} holds no object", path=path)
    return value


def _zstd_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    pa = require_pyarrow(
        "this log is compressed with Zstandard, which needs pyarrow",
        "or convert it: inspect log convert --to json",
    )
    stream = cast("io.BufferedReader", archive.fp)
    stream.seek(info.header_offset)
    header = stream.read(_LOCAL_HEADER.size)
    stream.seek(sum(_LOCAL_HEADER.unpack(header)), io.SEEK_CUR)
    packed = io.BytesIO(stream.read(info.compress_size))
    try:
        with pa.input_stream(packed, compression="zstd") as unpacked:
            content: bytes = unpacked.read(min(info.file_size, MAX_FILE_BYTES) + 1)
    except OSError as error:
        raise AttachmentError(f"the file {info.filename!r} is damaged: {error}") from error
    if len(content) > MAX_FILE_BYTES:
        limit = f"{MAX_FILE_BYTES >> 20} MiB"
        raise AttachmentError(f"the file {info.filename!r} unpacks to more than {limit}")
    if zlib.crc32(content) != info.CRC:
        raise AttachmentError(f"the file {info.filename!r} is damaged: its checksum is wrong")
    return content


def _lost_events(sample: JsonObject) -> set[str]:
    """The kinds of events that say what no other part of the sample does."""
    known: set[str] = set()
    for message in objects_in(sample.get("messages")):
        known |= _texts(message, "id", "tool_call_id", "content")
    # The answer of a model that a scorer asked is the explanation of its score.
    for score in objects_in([*as_mapping(sample.get("scores")).values()]):
        known |= _texts(score, "explanation")
    known |= _texts(as_mapping(sample.get("error")), "message")
    events = sample.get("events")
    # Of an `.eval` file only these kinds are kept, for its events may be large.
    return {one for one in as_items(events) if isinstance(one, str)} | {
        str(event.get("event")) for event in objects_in(events) if not _is_repeated(event, known)
    }


def _is_repeated(event: JsonObject, known: set[str]) -> bool:
    match event.get("event"):
        case "tool":
            return bool(_texts(event, "id") & known)
        case "score":
            return not event.get("intermediate")
        case "model":
            choices = objects_in(as_mapping(event.get("output")).get("choices"))
            answers = objects_in([one.get("message") for one in choices])
            if error := _texts(event, "error"):
                return error <= known
            return all(_texts(one, "id", "content") & known for one in answers)
        case kind:
            return str(kind) in _REPEATED


def _texts(fields: JsonObject, *names: str) -> set[str]:
    return {value for name in names if isinstance(value := fields.get(name), str) and value}


def read_inspect_log(document: ParsedDocument) -> ForeignFile:
    """The samples as cases, each epoch as an output, each score as a label of its scorer."""
    return _Log(document).read()


class _Log:
    def __init__(self, document: ParsedDocument) -> None:
        self.reading = ForeignFile(document)
        self._value = cast("JsonObject", document.value)
        self._eval = cast("JsonObject", self._value["eval"])
        self._model = str(self._eval.get("model"))
        epochs = as_mapping(self._eval.get("config")).get("epochs")
        self._has_epochs = isinstance(epochs, int) and epochs > 1
        self._lost: Counter[str] = Counter()
        self._lost_kinds: set[str] = set()

    def read(self) -> ForeignFile:
        reading = self.reading
        reading.header = {"name": self._eval["task"], "version": self._eval.get("task_version", 1)}
        if (status := self._value.get("status")) != "success":
            words = "the run was interrupted" if status is None else f"the run ended as {status!r}"
            reading.warn((), f"{words}; samples that it did not reach are not in the log")
        samples = self._value.get("samples")
        if not samples:
            reading.add((), "the log holds no samples", "write it with `log_samples=True`")
            return reading
        for at, sample in reading.objects(samples, ("samples",)):
            if isinstance(sample.get("id"), str | int):
                self._take(sample, at)
            else:
                reading.add(at, "the sample has no `id`")
        # A suite with repeats takes the rows of a case in their order, which names do not have.
        reading.outputs.sort(key=lambda one: int(str(one[1].get("repeat", 0))))
        for name, n in self._lost.items():
            of = f"{n} sample{'' if n == 1 else 's'}"
            kinds = f"no message says what these do: {', '.join(sorted(self._lost_kinds))}"
            reason = _UNREAD.get(name, kinds)
            reading.leave_out(("samples",), f"`{name}` of {of} is not imported: {reason}")
        return reading

    def _take(self, raw: JsonObject, at: KeyPath) -> None:
        self._lost.update(name for name in _UNREAD if raw.get(name))
        if kinds := _lost_events(raw):
            self._lost["events"] += 1
            self._lost_kinds |= kinds
        sample = self._resolved({name: raw[name] for name in _READ if name in raw}, at)
        case_id, epoch = str(sample["id"]), sample.get("epoch")
        target = sample.get("target")
        if isinstance(target, list) and len(target) == 1:
            target = target[0]
        question, choices = asked_of(sample.get("input")), sample.get("choices")
        asked: JsonObject = {
            "input": {"question": question, "choices": choices} if choices else question,
            "reference": target or None,
        }
        if case_id not in self.reading.places:
            more = sample.get("metadata")
            self.reading.add_case({"id": case_id, **asked, "metadata": more or None}, at)
        named: JsonObject = {"case_id": case_id, "variant": self._model}
        if self._has_epochs and isinstance(epoch, int):
            named["repeat"] = epoch - 1
        row = {**named, **asked, **self._answer(sample)}
        self.reading.outputs.append((at, without_nulls(row)))
        for scorer, score in as_mapping(sample.get("scores")).items():
            if isinstance(score, dict):
                place = (*at, "scores", scorer)
                self.reading.labels += [
                    (place, {**named, "annotator": f"inspect:{scorer}", **label})
                    for label in self._labels(scorer, score, place)
                ]

    def _resolved(self, sample: JsonObject, at: KeyPath) -> JsonObject:
        """The sample with the texts that the log keeps apart, under a checksum, put in."""
        texts = as_mapping(sample.pop("attachments", None))

        def resolve(text: str, place: KeyPath) -> JsonValue:
            if "attachment://" not in text:
                return text
            missing = [key for key in _ATTACHMENT.findall(text) if key not in texts]
            if missing:
                self.reading.add(place, f"the attachment {missing[0]} is not in the log")
            return _ATTACHMENT.sub(lambda m: str(texts.get(m[1], m[0])), text)

        return cast("JsonObject", map_texts(sample, at, resolve))

    def _answer(self, sample: JsonObject) -> JsonObject:
        made, error = as_mapping(sample.get("output")), sample.get("error")
        choices = made.get("choices")
        text = made.get("completion")
        # Older logs have no `completion`, which is the text of the first choice.
        if text is None and isinstance(choices, list) and choices:
            text = final_text(read_messages(choices[0], role="assistant"))
        failed = as_mapping(error).get("message")
        if failed is None and not choices and not text:
            limit = sample.get("limit")
            why = f" ({limit.get('type')} limit)" if isinstance(limit, dict) else ""
            failed = f"the model gave no answer{why}"
        seconds, limit = sample.get("total_time"), sample.get("limit")
        return {
            "text": text if failed is None else None,
            "error": failed,
            "trace": sample.get("messages") or None,
            "metadata": {"limit": limit} if limit else None,
            "usage": self._usage(sample.get("model_usage")),
            "duration_ms": seconds * 1000 if isinstance(seconds, int | float) else None,
            "run_id": sample.get("uuid"),
        }

    def _usage(self, usage: JsonValue) -> JsonValue:
        # The usage of other models is that of scorers, which is no cost of the answer.
        own = as_mapping(usage).get(self._model)
        if not isinstance(own, dict):
            return None
        # Input tokens are counted there without those read from a cache or written to it.
        parts = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
        counts = [n for name in parts if isinstance(n := own.get(name), int)]
        return without_nulls(
            {
                "input_tokens": sum(counts),
                "output_tokens": own.get("output_tokens"),
                "cached_input_tokens": own.get("input_tokens_cache_read"),
                "reasoning_tokens": own.get("reasoning_tokens"),
                "cost_usd": own.get("total_cost"),
            }
        )

    def _labels(self, scorer: str, score: JsonObject, at: KeyPath) -> Iterator[JsonObject]:
        value, reason = score.get("value"), score.get("explanation")
        several = value if isinstance(value, dict) else {None: value}
        for criterion, raw in several.items():
            label: JsonObject = {} if criterion is None else {"criterion": criterion}
            if isinstance(reason, str) and reason.strip():
                label["rationale"] = reason
            label["raw"] = _SCORES.get(raw, raw) if isinstance(raw, str) else raw
            if isinstance(label["raw"], list | dict) or label["raw"] in {None, ""}:
                what = json.dumps(raw)[:40]
                message = f"the score {what} of `{scorer}` is not imported: it is no single score"
                self.reading.leave_out(at, message)
                continue
            yield label
