"""Answers requests from a file of recorded replies, and records replies into such a file.

It also reports which recorded rows no request used.
"""

from __future__ import annotations

import difflib
import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError, field_validator

from judgekit.errors import DatasetError, ModelError, SettingsError
from judgekit.formats import iter_lines
from judgekit.models.request import Model, ModelReply, ModelRequest, Subject, TokenLogprob
from judgekit.records import Count, Name, Record, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

RECORDED_PREFIX = "recorded:"
"""What the name of a recorded model begins with."""

_Key = tuple[str | None, str | None, str | None, str | None, int, int]
_KEY_FIELDS = ("case_id", "variant", "criterion", "order", "repeat", "attempt")

# The fields that a row may leave out to serve every value of them.
_WILDCARD_FIELDS = {"variant", "criterion"}


class RecordedReply(Record):
    """One line of a file of recorded replies: the request's subject and the reply."""

    case_id: Name
    variant: str | None = None
    """The variant whose output is judged; without it the reply serves every variant."""

    criterion: str | None = None
    """The criterion; without it the reply serves every criterion."""

    order: str | None = None
    """`ab` or `ba` in a comparison."""

    repeat: Count = 0
    attempt: Count = 0
    """0 for the first attempt; higher for a retry."""

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

    @property
    def key(self) -> _Key:
        """What the reply is looked up by."""
        return (
            self.case_id, self.variant, self.criterion, self.order, self.repeat, self.attempt,
        )  # fmt: skip


class RecordedModel:
    """Answers from a JSONL file, plain or gzipped, by what a request is about.

    A reply is looked up by case, variant, criterion, order, repeat and attempt, in this order:

    1. a row that has all of them;
    2. a row without a variant;
    3. a row without a criterion: one reply for all criteria;
    4. a row without either.

    Case, order, repeat and attempt are never guessed: a row without `repeat` answers repeat 0
    only, and a retry needs a row with its `attempt`.
    """

    cacheable = False

    def __init__(self, path: Path | str) -> None:
        self.path = Path(str(path).removeprefix(RECORDED_PREFIX))
        self._lines: dict[_Key, int] = {}
        self._replies: dict[_Key, ModelReply] = {}
        self._coverage = _RowCoverage()
        for line, row in _rows(self.path):
            # Two answers to one question: choosing one silently would hide a mistake in the file.
            if row.key in self._lines:
                raise DatasetError(
                    f"answers the same request as line {self._lines[row.key]}: {_words(row.key)}",
                    path=self.path,
                    line=line,
                    case_id=row.case_id,
                    hint="keep one of the two, or give them different repeats",
                )
            self._lines[row.key] = line
            self._replies[row.key] = _reply(row)

    @property
    def name(self) -> str:
        """`recorded:` and the file's path."""
        return f"{RECORDED_PREFIX}{self.path}"

    @property
    def has_overall_replies(self) -> bool:
        """Whether a row of a comparison has no criterion, and so chooses between whole outputs."""
        return any(
            criterion is None and order is not None for _, _, criterion, order, *_ in self._replies
        )

    def __len__(self) -> int:
        return len(self._replies)

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """What each reply is about, in file order."""
        rows = (dict(zip(_KEY_FIELDS, key, strict=True)) for key in self._lines)
        return tuple(Subject.model_validate(row) for row in rows)

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer one request from the file."""
        reply = self.find(request.subject)
        if reply is None:
            raise self._miss(request.subject)
        return reply

    def find(self, subject: Subject) -> ModelReply | None:
        """The recorded reply for a subject."""
        keys = _keys(subject)
        row = next((key for key in keys if key in self._replies), None)
        self._coverage.record(keys[0], row)
        return None if row is None else self._replies[row]

    def unused_rows(self) -> str | None:
        """A message about the rows that no request has used; None where there are none."""
        message = self._coverage.report(self._lines)
        return None if message is None else f"{self.path}: {message}"

    def _miss(self, subject: Subject) -> ModelError:
        wanted = _keys(subject)[0]
        near = self._nearest(wanted)
        if near is None:
            close = difflib.get_close_matches(
                wanted[0] or "", sorted({key[0] or "" for key in self._lines}), n=3
            )
            hint = f"did you mean {' or '.join(close)}?" if close else "the file has no such case"
        else:
            differing = [
                f"{field} is {_word(recorded)} instead of {_word(value)}"
                for field, recorded, value in zip(_KEY_FIELDS, near, wanted, strict=True)
                if _differs(field, recorded, value)
            ]
            hint = f"the nearest row is line {self._lines[near]}, where {', '.join(differing)}"
        return ModelError(
            f"{self.path} holds no reply for {_words(wanted)}",
            kind="bad_request",
            provider="recorded",
            hint=hint,
        )

    def _nearest(self, wanted: _Key) -> _Key | None:
        """The row of the same case with the fewest differing fields."""

        def distance(key: _Key) -> int:
            return sum(map(_differs, _KEY_FIELDS, key, wanted))

        # Only rows of the same case: a near row of another case would mislead.
        same_case = [key for key in self._lines if key[0] == wanted[0]]
        return min(same_case, key=distance, default=None)


class RecordingModel:
    """Passes requests on to a model and appends each reply to a file of recorded replies.

    The first reply to a request is recorded: a later one to the same case, variant,
    criterion, order, repeat and attempt is returned but not written, and counted in `n_skipped`.
    """

    def __init__(self, model: Model, path: Path | str) -> None:
        self._model = model
        self.path = Path(path)
        existing = _rows(self.path) if self.path.exists() else iter(())
        self._keys = {row.key for _, row in existing}
        self.n_skipped = 0

    @property
    def name(self) -> str:
        """The name of the model that answers."""
        return self._model.name

    @property
    def cacheable(self) -> bool:
        """Whether the replies of the model that answers may be cached."""
        return bool(getattr(self._model, "cacheable", True))

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer one request and record the reply."""
        subject = request.subject
        if not subject.case_id:
            raise SettingsError(
                f"a reply can be recorded in {self.path} only for a case with an id",
                hint="give the case an id",
            )
        reply = await self._model.complete(request)
        self._append(_keys(subject)[0], reply)
        return reply

    def _append(self, key: _Key, reply: ModelReply) -> None:
        if key in self._keys:
            self.n_skipped += 1
            return
        subject = {k: v for k, v in zip(_KEY_FIELDS, key, strict=True) if v not in (None, 0)}
        more = reply.model_dump(
            mode="json", include={"finish_reason", "model", "usage", "logprobs"}, exclude_none=True
        )
        row = {**subject, "text": reply.text, "finish_reason": reply.finish_reason, **more}
        # ASCII only: a lone surrogate in a reply cannot be written as UTF-8.
        line = json.dumps(row, ensure_ascii=True) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.suffix == ".gz":
            with gzip.open(self.path, "at", encoding="utf-8") as packed:
                packed.write(line)
        else:
            with self.path.open("a", encoding="utf-8") as plain:
                plain.write(line)
        self._keys.add(key)


def _differs(field: str, recorded: str | int | None, wanted: str | int | None) -> bool:
    """Whether a field of a row keeps it from answering a request."""
    return recorded != wanted and not (recorded is None and field in _WILDCARD_FIELDS)


def _keys(subject: Subject) -> list[_Key]:
    """The keys that answer a subject, the most specific first."""
    exact = (subject.order, subject.repeat, subject.attempt)
    case, variant, criterion = subject.case_id, subject.variant, subject.criterion
    return [
        (case, variant, criterion, *exact),
        (case, None, criterion, *exact),
        (case, variant, None, *exact),
        (case, None, None, *exact),
    ]


def _rows(path: Path) -> Iterator[tuple[int, RecordedReply]]:
    for line in iter_lines(path):
        if isinstance(line, DatasetError):
            raise line
        if not line.text.strip():
            continue
        try:
            yield line.number, RecordedReply.model_validate_json(line.text)
        except ValidationError as error:
            raise DatasetError(
                f"no recorded reply: {_first_problem(error)}",
                path=path,
                line=line.number,
                hint=f"a line is a JSON object with {', '.join(RecordedReply.model_fields)}; "
                "case_id and text are needed",
            ) from error


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in problem["loc"])
    return f"{where}: {problem['msg']}" if where else str(problem["msg"])


def _reply(row: RecordedReply) -> ModelReply:
    return ModelReply(
        text=row.text,
        finish_reason=row.finish_reason,
        usage=row.usage,
        model=row.model,
        logprobs=row.logprobs,
        cost_usd=0.0,  # nothing is paid to read a file
    )


def _words(key: _Key) -> str:
    """`case 'refund', variant 'v1', repeat 0`; fields that are None are left out."""
    named = [
        f"{field.removesuffix('_id')} {_word(value)}"
        for field, value in zip(_KEY_FIELDS, key, strict=True)
        if value is not None and (field != "attempt" or value)
    ]
    return ", ".join(named) if key[0] is not None else f"no case, {', '.join(named)}"


def _word(value: str | int | None) -> str:
    return "none" if value is None else repr(value)


# In which order the fields of an unused row are examined: one wrong field explains the others.
_REPORT_ORDER = ("order", "case_id", "variant", "criterion", "repeat")

_PLURALS = {"criterion": "criteria", "line": "lines"}
_SHOWN = 3


class _RowCoverage:
    """What requests asked for, and which rows answered them."""

    def __init__(self) -> None:
        self._used: set[_Key] = set()
        self._requested: dict[str, set[str | int | None]] = {name: set() for name in _KEY_FIELDS}

    def record(self, wanted: _Key, row: _Key | None) -> None:
        """Record one request, and the row that answered it."""
        for name, value in zip(_KEY_FIELDS, wanted, strict=True):
            self._requested[name].add(value)
        if row is not None:
            self._used.add(row)

    def report(self, rows: Mapping[_Key, int]) -> str | None:
        """Which rows no request used, on one line; None before the first request."""
        # Rows for retries are left out, which serve only where a reply cannot be parsed, and rows
        # for every variant or criterion where a more specific row answered.
        if not self._requested["case_id"]:
            return None
        found: dict[str, list[str | int | None]] = {}
        for key, line in rows.items():
            why = None if key in self._used or key[-1] else self._why(key, line)
            if why is not None:
                found.setdefault(why[0], []).append(why[1])
        n_left = sum(map(len, found.values()))
        if not n_left:
            return None
        parts = [
            _coverage_part(name, values, n_rows=None if len(found) == 1 else len(values))
            for name, values in found.items()
        ]
        were = f"row{'' if len(rows) == 1 else 's'} {'was' if n_left == 1 else 'were'}"
        return f"{n_left:,} of {len(rows):,} {were} not used: {'; '.join(parts)}"

    def _why(self, key: _Key, line: int) -> tuple[str, str | int | None] | None:
        """The first field of a row with a value that no request had; else its line.

        None for a row that serves every variant or criterion and was not needed.
        """
        # The first wrong field is enough: a message with all of them could not be read.
        fields = dict(zip(_KEY_FIELDS, key, strict=True))
        for name in _REPORT_ORDER:
            value = fields[name]
            serves_all = value is None and name in _WILDCARD_FIELDS
            if not serves_all and value not in self._requested[name]:
                return name.removesuffix("_id"), value
        is_specific = all(fields[name] is not None for name in _WILDCARD_FIELDS)
        return ("line", line) if is_specific else None


def _coverage_part(name: str, values: Iterable[str | int | None], *, n_rows: int | None) -> str:
    distinct = list(dict.fromkeys(values))
    shown = ", ".join(_word(value) for value in distinct[:_SHOWN])
    more = f" and {len(distinct) - _SHOWN:,} more" if len(distinct) > _SHOWN else ""
    noun = name if len(distinct) == 1 else _PLURALS.get(name, f"{name}s")
    rows = "" if n_rows is None else f" ({n_rows:,} row{'' if n_rows == 1 else 's'})"
    return f"{noun} {shown}{more}{rows}"
