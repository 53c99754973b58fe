"""Answers requests from a file of recorded replies."""

from __future__ import annotations

import difflib
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError, field_validator

from judgekit.errors import DatasetError, ModelError
from judgekit.formats import (
    file_exists,
    foreign_shape,
    is_read_whole,
    iter_lines,
    read_whole_document,
)
from judgekit.models.request import ModelReply, ModelRequest, Subject, TokenLogprob
from judgekit.records import RECORDED_PREFIX, Name, SpooledRecords, Usage

_REPLY_FIELDS = ("text", "finish_reason", "model", "usage", "logprobs")

# The fields that a row may leave out to serve every value of them.
_WILDCARD_FIELDS = {"variant", "criterion"}

# In which order the fields of an unused row are examined: one wrong field explains the others.
_REPORT_ORDER = ("order", "case_id", "variant", "criterion", "repeat", "turn")

_PLURALS = {"criterion": "criteria", "line": "lines"}
_SHOWN = 3


class _Key(NamedTuple):
    """What a reply is looked up by; without its case, the question that a row answers."""

    case_id: str | None
    variant: str | None
    criterion: str | None
    order: str | None
    repeat: int
    turn: int | None
    attempt: int


def _key(subject: Subject) -> _Key:
    return _Key(*attrgetter(*_Key._fields)(subject))


class RecordedReply(Subject):
    """One line of a file of recorded replies: the request's subject and the reply."""

    case_id: Name
    text: str | None
    finish_reason: str | None = "stop"
    model: str | None = None
    usage: Usage | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None

    @field_validator("repeat", "attempt", mode="before")
    @classmethod
    def _first_where_null(cls, value: object) -> object:
        """Tables write null where a field is left out."""
        return 0 if value is None else value


class RecordedModel:
    """Answers from a JSONL file, plain or gzipped, by what a request is about.

    A reply is looked up by case, variant, criterion, order, repeat, turn and attempt, so:

    1. a row that has all of them;
    2. a row without a variant;
    3. a row without a criterion: one reply for all criteria;
    4. a row without either.

    Case, order, repeat, turn and attempt are never guessed: a row without `repeat` answers repeat 0
    only, and a retry needs a row with its `attempt`.
    """

    cacheable = False

    def __init__(self, path: Path | str) -> None:
        self.path = Path(str(path).removeprefix(RECORDED_PREFIX))
        self.name = f"{RECORDED_PREFIX}{self.path}"
        # A file has few questions about many cases: the numbers of the rows by question and case.
        # A whole key of each row would take half a kilobyte.
        self._rows: dict[_Key, dict[str, int]] = {}
        self._lines = array("Q")
        self._replies: SpooledRecords[int, ModelReply] = SpooledRecords(ModelReply)
        # What requests asked for, and which rows answered them.
        self._requested: dict[str, set[str | int | None]] = {name: set() for name in _Key._fields}
        names: dict[str, str] = {}  # every case id once
        for number, (line, row) in enumerate(_rows(self.path)):
            key = _key(row)
            case_id = names.setdefault(row.case_id, row.case_id)
            first = self._rows.setdefault(key._replace(case_id=None), {}).setdefault(
                case_id, number
            )
            # Two answers to one question: choosing one silently would hide a mistake in the file.
            if first != number:
                raise DatasetError(
                    f"answers the same request as line {self._lines[first]}: {_words(key)}",
                    path=self.path,
                    line=line,
                    case_id=row.case_id,
                    hint="keep one of the two, or give them different repeats",
                )
            self._lines.append(line)
            reply = {name: getattr(row, name) for name in _REPLY_FIELDS}
            # Nothing is paid to read a file.
            self._replies[number] = ModelReply.model_validate({**reply, "cost_usd": 0.0})
        self._used = bytearray(len(self._lines))

    @property
    def has_overall_replies(self) -> bool:
        """Whether a row of a comparison has no criterion, and so chooses between whole outputs."""
        return any(asks.criterion is None and asks.order is not None for asks in self._rows)

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """What each reply is about, in file order."""
        return tuple(Subject.model_validate(key._asdict()) for _, key in self._keys())

    async def complete(self, request: ModelRequest) -> ModelReply:
        reply = self.find(request.subject)
        if reply is None:
            raise self._miss(request.subject)
        return reply

    def find(self, subject: Subject) -> ModelReply | None:
        exact = _key(subject)
        case_id, asks = exact.case_id, exact._replace(case_id=None)
        for name, value in asks._asdict().items():
            self._requested[name].add(value)
        for one in (
            asks,
            asks._replace(variant=None),
            asks._replace(criterion=None),
            asks._replace(variant=None, criterion=None),
        ):
            number = self._rows.get(one, {}).get(case_id or "")
            if number is not None:
                self._used[number] = True
                return self._replies[number]
        self._requested["case_id"].add(case_id)  # others have a row that was used
        return None

    def _keys(self, *, unused_only: bool = False) -> list[tuple[int, _Key]]:
        """The number and the key of each row, in file order."""
        rows = [
            (number, case_id, asks)
            for asks, numbers in self._rows.items()
            for case_id, number in numbers.items()
            if not (unused_only and self._used[number])
        ]
        return [(number, asks._replace(case_id=case_id)) for number, case_id, asks in sorted(rows)]

    def unused_rows(self) -> str | None:
        """A message about the rows that no request has used; None where there are none."""
        # Rows for retries are left out, which serve only where a reply cannot be parsed, and rows
        # for every variant or criterion where a more specific row answered.
        if not (self._requested["case_id"] or 1 in self._used):
            return None
        left = [(number, key) for number, key in self._keys(unused_only=True) if not key.attempt]
        if left:
            rows = (row for numbers in self._rows.values() for row in numbers.items())
            self._requested["case_id"] |= {
                case_id for case_id, number in rows if self._used[number]
            }
        found: dict[str, list[str | int | None]] = {}
        for number, key in left:
            why = self._why_unused(key, self._lines[number])
            if why is not None:
                found.setdefault(why[0], []).append(why[1])
        n_left = sum(map(len, found.values()))
        if not n_left:
            return None
        parts = [
            _coverage_part(name, values, n_rows=None if len(found) == 1 else len(values))
            for name, values in found.items()
        ]
        n_rows = len(self._lines)
        were = f"row{'' if n_rows == 1 else 's'} {'was' if n_left == 1 else 'were'}"
        return f"{self.path}: {n_left:,} of {n_rows:,} {were} not used: {'; '.join(parts)}"

    def _why_unused(self, key: _Key, line: int) -> tuple[str, str | int | None] | None:
        """The first field of a row with a value that no request had; else its line.

        None for a row that serves every variant or criterion and was not needed.
        """
        # The first wrong field is enough: a message with all of them could not be read.
        fields = key._asdict()
        # One file may serve grading and comparing, which are different commands.
        orders = {order is not None for order in self._requested["order"]}
        if (key.order is not None) not in orders and 1 in self._used:
            return None
        for name in _REPORT_ORDER:
            value = fields[name]
            serves_all = value is None and name in _WILDCARD_FIELDS
            if not serves_all and value not in self._requested[name]:
                return name.removesuffix("_id"), value
        is_specific = all(fields[name] is not None for name in _WILDCARD_FIELDS)
        return ("line", line) if is_specific else None

    def _miss(self, subject: Subject) -> ModelError:
        wanted = _key(subject)
        # Only rows of the same case: a near row of another case would mislead.
        same_case = [
            (number, asks._replace(case_id=wanted.case_id))
            for asks, numbers in self._rows.items()
            if (number := numbers.get(wanted.case_id or "")) is not None
        ]
        if not same_case:
            cases = sorted({case_id for numbers in self._rows.values() for case_id in numbers})
            close = difflib.get_close_matches(wanted.case_id or "", cases, n=3)
            hint = f"did you mean {' or '.join(close)}?" if close else "the file has no such case"
        else:
            # Of rows that differ in as many fields the first.
            number, near = min(
                same_case, key=lambda row: (len(_differences(row[1], wanted)), row[0])
            )
            differing = [
                f"{field} is {_word(recorded)} instead of {_word(value)}"
                for field, recorded, value in _differences(near, wanted)
            ]
            hint = f"the nearest row is line {self._lines[number]}, where {', '.join(differing)}"
        return ModelError(
            f"{self.path} holds no reply for {_words(wanted)}",
            kind="bad_request",
            provider="recorded",
            hint=hint,
        )


def _differences(
    recorded: _Key, wanted: _Key
) -> list[tuple[str, str | int | None, str | int | None]]:
    """The fields that keep a row from answering a request, with both values."""
    return [
        (name, ours, theirs)
        for name, ours, theirs in zip(_Key._fields, recorded, wanted, strict=True)
        if ours != theirs and not (ours is None and name in _WILDCARD_FIELDS)
    ]


def _rows(path: Path) -> Iterator[tuple[int, RecordedReply]]:
    document = read_whole_document(path) if file_exists(path) and is_read_whole(path) else None
    shape = None if document is None else foreign_shape(document.value)
    if document is not None and shape is not None and shape.is_log:
        # The replies of judges that another tool recorded.
        for row in shape.read(document).rows("replies"):
            yield row.line, _checked(path, row.line, partial(_of_fields, row.fields))
        return
    for line in iter_lines(path):
        if isinstance(line, DatasetError):
            raise line
        if line.text.strip():
            yield line.number, _checked(path, line.number, partial(_of_json, line.text))


_of_fields, _of_json = RecordedReply.model_validate, RecordedReply.model_validate_json


def _checked(path: Path, line: int, read: Callable[[], RecordedReply]) -> RecordedReply:
    try:
        return read()
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = f"{'.'.join(map(str, problem['loc']))}: " if problem["loc"] else ""
        raise DatasetError(
            f"no recorded reply: {where}{problem['msg']}",
            path=path,
            line=line,
            hint=f"a line is a JSON object with {', '.join(RecordedReply.model_fields)}; "
            "case_id and text are needed",
        ) from error


def _words(key: _Key) -> str:
    """`case 'refund', variant 'v1', repeat 0`; fields that are None are left out."""
    named = [
        f"{field.removesuffix('_id')} {_word(value)}"
        for field, value in key._asdict().items()
        if value is not None and (field != "attempt" or value)
    ]
    return ", ".join(named) if key.case_id is not None else f"no case, {', '.join(named)}"


def _word(value: str | int | None) -> str:
    return "none" if value is None else repr(value)


def _coverage_part(name: str, values: Iterable[str | int | None], *, n_rows: int | None) -> str:
    distinct = list(dict.fromkeys(values))
    shown = ", ".join(_word(value) for value in distinct[:_SHOWN])
    more = f" and {len(distinct) - _SHOWN:,} more" if len(distinct) > _SHOWN else ""
    noun = name if len(distinct) == 1 else _PLURALS.get(name, f"{name}s")
    rows = "" if n_rows is None else f" ({n_rows:,} row{'' if n_rows == 1 else 's'})"
    return f"{noun} {shown}{more}{rows}"
