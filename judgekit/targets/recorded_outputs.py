"""A file of recorded outputs as the system under test; of JSONL only the offsets are held."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from judgekit import formats
from judgekit.datasets import RecordedOutput, iter_output_rows, valid_output
from judgekit.errors import DatasetError
from judgekit.targets.target import TargetCall

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from judgekit.records import Case, ItemKey, Output, TargetErrorKind

# Formats in which a row can be read again from the byte it begins at.
_INDEXED = (".jsonl", ".ndjson")

# The byte a row begins at, and its line.
_RowOffset = tuple[int, int]


class RecordedTarget:
    """Answers from a file: the first time with a case's first row, the second with its second.

    An output's duration is the one in its row; reading takes no part of it. Rows that name no
    variant are this one's; rows that name another are left out.
    """

    def __init__(self, variant: str, path: Path | str) -> None:
        self.id = variant
        self._path = formats.as_path(path)
        # The numbers of each case's rows: their places would take twice the memory
        self._rows: dict[str, tuple[int, ...]] = {}
        self._outputs: list[Output] = []
        self._offsets, self._lines = array("Q"), array("Q")
        others: set[str] = set()
        for answer, place in _answers(self._path):
            if answer.output.variant not in {None, variant}:
                others.add(str(answer.output.variant))
            else:
                case_id, number = str(answer.output.case_id), len(self._outputs) + len(self._lines)
                self._rows[case_id] = (*self._rows.get(case_id, ()), number)
                if place is None:
                    self._outputs.append(answer.output)
                else:
                    self._offsets.append(place[0])
                    self._lines.append(place[1])
        if not self._rows:
            hint = f"it has outputs of {', '.join(sorted(others)[:10])}" if others else None
            raise DatasetError(f"holds no outputs of {variant!r}", path=self._path, hint=hint)

    @property
    def case_ids(self) -> list[str]:
        """The cases it has outputs for, in the order of the file."""
        return list(self._rows)

    def has(self, key: ItemKey) -> bool:
        return key.repeat < len(self._rows.get(key.case_id, ()))

    def check(self, n_wanted: int) -> None:
        """Refuse more outputs of a case than a run takes, which would drop the others."""
        for name, rows in self._rows.items():
            if (n := len(rows)) > n_wanted:
                raise DatasetError(
                    f"holds {n} outputs of {self.id!r} for this case, and the run takes {n_wanted}",
                    path=self._path,
                    case_id=name,
                    hint=f"to grade all of them, set `settings: {{repeats: {n}}}` in a suite; else "
                    "give each its own `variant`, or keep one",
                )

    async def answer(self, case: Case, *, repeat: int = 0) -> Output:
        call = TargetCall(case, self.id)
        rows = self._rows.get(case.id, ())
        if repeat >= len(rows):
            # An error of this case only: the other recorded cases are still graded.
            has = f"{len(rows)} of its outputs, and repeat {repeat + 1} was wanted"
            message = f"{self._path} has {has if rows else 'no output for it'}"
            return _failed(call, "not_recorded", message)
        row = rows[repeat]
        if self._outputs:
            return self._own(self._outputs[row])
        try:
            output = self._read_again(self._offsets[row], self._lines[row])
        except (DatasetError, OSError) as error:
            return _failed(call, "unreadable", f"the file has changed: {error}")
        # The offsets were read when the file was opened; another program may have rewritten it
        # since.
        if output.case_id != case.id:
            return _failed(call, "unreadable", f"{self._path} has changed while it was read")
        return self._own(output)

    async def aclose(self) -> None:
        """Nothing is held between two cases but the index."""

    def _own(self, output: Output) -> Output:
        return output.model_copy(update={"variant": self.id})

    def _read_again(self, offset: int, line: int) -> Output:
        with formats.open_file(self._path) as stream:
            stream.seek(offset)
            raw = stream.readline(formats.MAX_LINE_BYTES + 1)
        return _row(raw, self._path, line=line, offset=offset).output


class GivenTarget:
    """Answers with outputs that were read already, by the case and the number of the repeat."""

    def __init__(self, variant: str, outputs: Mapping[tuple[str, int], Output]) -> None:
        self.id = variant
        self._outputs = outputs

    async def answer(self, case: Case, *, repeat: int = 0) -> Output:
        output = self._outputs.get((case.id, repeat))
        if output is None:
            message = f"no output of {self.id!r} was recorded for it"
            return _failed(TargetCall(case, self.id), "not_recorded", message)
        return output

    def has(self, key: ItemKey) -> bool:
        return (key.case_id, key.repeat) in self._outputs

    async def aclose(self) -> None:
        """Nothing is open."""


def _failed(call: TargetCall, kind: TargetErrorKind, message: str) -> Output:
    # The time of reading a file says nothing about the system under test.
    return call.failed(kind, message).model_copy(update={"duration_ms": None})


def _answers(path: Path) -> Iterator[tuple[RecordedOutput, _RowOffset | None]]:
    """Every answer of a file, with the place it can be read from again, if there is one."""
    if formats.suffix_of(path) not in _INDEXED or formats.is_read_whole(path):
        for row in iter_output_rows(path):
            yield valid_output(row, path, folder=path.parent), None
        return
    with formats.open_file(path) as stream:
        line, offset = 0, 0
        while raw := stream.readline(formats.MAX_LINE_BYTES + 1):
            line += 1
            if raw.strip():
                yield _row(raw, path, line=line, offset=offset), (offset, line)
            offset += len(raw)


def _row(raw: bytes, path: Path, *, line: int, offset: int) -> RecordedOutput:
    if len(raw) > formats.MAX_LINE_BYTES:
        message = f"a line longer than {formats.MAX_LINE_BYTES >> 20} MiB"
        raise DatasetError(message, path=path, line=line)
    text = formats.decode_utf8(raw, path=path, line=line, offset=offset).strip()
    return valid_output(formats.json_row(text, path, line), path, folder=path.parent)
