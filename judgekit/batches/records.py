"""The records of batches, in the folder `batches` of the reply cache.

A record is written before anything is sent, so that a submission that was interrupted is found
again; beside it stand its requests until their replies are in the cache.
"""

from __future__ import annotations

import json
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field, ValidationError

from judgekit.atomic_write import atomic_writer, make_folder
from judgekit.byte_lock import FileLocks
from judgekit.errors import SettingsError, StoreError
from judgekit.models.cache import CacheLocation, CacheUrl
from judgekit.models.pricing import BATCH_PROVIDERS
from judgekit.records import Count, Finite, JsonObject, Name, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from judgekit.models.capabilities import ReplyForm

_LINE_START = '{"key": "'
_KEY_AT = slice(len(_LINE_START), len(_LINE_START) + 64)


class RefusedRequest(Record):
    """Why a request of a batch has no reply; it goes into the next batch."""

    text: str
    status: Count | None = None
    parameter: str | None = None
    """The parameter that the provider blames; the next batch is sent without it."""


class BatchRecord(Record):
    """One batch: what was sent, and how far it is."""

    name: Name  # its name here, and at a provider that takes names: of its file, and of the batch
    model: str = Field(pattern=rf"^({'|'.join(BATCH_PROVIDERS)})/")
    api_base: str | None = None
    created_at: str
    state: Literal["written", "sending", "submitted", "ended", "collected"] = "written"
    """How far it is: `sending` may have a batch at the provider, `submitted` has one, `ended` is
    done there, and of a `collected` one every reply is in the cache."""

    file_id: str | None = None
    after_id: str | None = None
    """The newest batch before it was sent, where the provider takes no names."""

    candidates: tuple[str, ...] = ()
    """The batches at the provider of which one may be it, after an interruption."""

    batch_id: str | None = None
    status: str | None = None  # the provider's own word
    n_requests: Count
    n_done: Count = 0  # requests that the provider has answered so far
    most_usd: Finite | None = None
    """What it costs at most at the price of batches; None where no limit of money was given."""

    n_replies: Count = 0
    n_rejected: Count = 0  # of its replies, those that were cut short, filtered or empty
    cost_usd: Finite | None = None  # what its replies cost, as far as known
    refused: dict[str, RefusedRequest] = Field(default_factory=dict)
    """Requests without a reply, by key."""

    problem: str | None = None  # why the provider refused all of it

    @property
    def is_interrupted(self) -> bool:
        """Whether it is not known to be at the provider."""
        return self.state in {"written", "sending"}

    @property
    def is_open(self) -> bool:
        """Whether replies may still come, so that its requests are not sent again."""
        return self.state != "collected"

    @property
    def n_open(self) -> int:
        """Requests that have no reply although the batch is collected."""
        return 0 if self.is_open else self.n_requests - self.n_replies


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """A request in a batch, with all that its reply needs to be cached as that of a call."""

    key: str
    body: JsonObject
    """What is sent."""

    parts: JsonObject
    """What the key is made of."""

    form: ReplyForm = "plain"
    dropped: tuple[str, ...] = ()
    price: tuple[float | None, ...] = ()
    """What a token of it costs in a batch: the fields of a `ModelPrice`; empty if unknown."""

    def line(self) -> bytes:
        """Its line in the file of requests; the key comes first, so that it is found quickly."""
        rest = {
            "body": self.body, "parts": self.parts, "form": self.form, "dropped": self.dropped,
            "price": self.price,
        }  # fmt: skip
        return f'{_LINE_START}{self.key}", {json.dumps(rest)[1:]}\n'.encode()

    @classmethod
    def of_line(cls, line: str) -> BatchRequest:
        """The request of a line."""
        fields = json.loads(line)
        fields |= {name: tuple(fields[name]) for name in ("dropped", "price")}
        return cls(**fields)


class BatchFolder:
    """All batches of a reply cache: in its folder, or in one for its server on this machine."""

    def __init__(self, cache: CacheLocation) -> None:
        if isinstance(cache, CacheUrl):
            cache = Path(".judgekit", "shared", sha256(cache.name.encode()).hexdigest()[:12])
        self.path = cache / "batches"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the folder alone, among processes; the lock dies with its holder."""
        make_folder(self.path)
        with closing(FileLocks(self.path / "lock")) as locks, locks.holding(0):
            yield

    def records(self) -> list[BatchRecord]:
        """All records, oldest first."""
        found = []
        for path in self.path.glob("*.json"):
            try:
                found.append(BatchRecord.model_validate_json(path.read_bytes()))
            except (OSError, ValidationError) as error:
                # Its requests could be sent a second time, so that it is not passed over.
                raise StoreError(
                    f"the record of a batch cannot be read: {path}",
                    hint="restore it; if it is deleted, its requests may be paid for again",
                ) from error
        return sorted(found, key=lambda one: (one.created_at, one.name))

    def record(self, name: str) -> BatchRecord:
        """The batch of that name, of that id at the provider, or of a beginning of its name."""
        records = self.records()
        exact = [one for one in records if name in {one.name, one.batch_id}]
        matching = exact or [one for one in records if one.name.startswith(name)]
        if len(matching) != 1:
            known = ", ".join(one.name for one in records) or "there are none"
            raise SettingsError(f"no single batch is named {name!r}", hint=f"batches: {known}")
        return matching[0]

    def write(self, record: BatchRecord, requests: Iterable[BatchRequest]) -> BatchRecord:
        """Write a new record, after its requests: a record without them would be lost."""
        with atomic_writer(self._requests_path(record), is_private=True) as file:
            for request in requests:
                file.write(request.line())
        return self.save(record)

    def save(self, record: BatchRecord, **changes: object) -> BatchRecord:
        """Write a record with changes; the requests of one that is collected are deleted."""
        record = record.model_copy(update=changes)
        with atomic_writer(self.path / f"{record.name}.json", is_private=True) as file:
            file.write(record.model_dump_json(indent=1).encode())
        # The cache has the requests by then; they are large.
        if not record.is_open:
            self._requests_path(record).unlink(missing_ok=True)
        return record

    def requests(self, record: BatchRecord) -> Iterator[BatchRequest]:
        """The requests of a batch that is open."""
        try:
            yield from map(BatchRequest.of_line, self._lines(record))
        except (ValueError, TypeError, LookupError) as error:
            raise self._damaged(record) from error

    def keys(self, record: BatchRecord) -> list[str]:
        """The keys of its requests."""
        return [line[_KEY_AT] for line in self._lines(record)]

    def pending_keys(self) -> dict[str, BatchRecord]:
        """The keys of all requests whose reply may still come, each with its batch."""
        return {key: one for one in self.records() if one.is_open for key in self.keys(one)}

    def _requests_path(self, record: BatchRecord) -> Path:
        return self.path / f"{record.name}.jsonl"

    def _lines(self, record: BatchRecord) -> Iterator[str]:
        n_lines = 0
        try:
            with self._requests_path(record).open(encoding="utf-8") as file:
                for n_lines, line in enumerate(file, 1):  # noqa: B007 - counted
                    yield line
        except (OSError, ValueError) as error:
            raise self._damaged(record) from error
        # The replies to requests that are missing would be lost, and paid for again.
        if n_lines != record.n_requests:
            raise self._damaged(record)

    def _damaged(self, record: BatchRecord) -> StoreError:
        path = self._requests_path(record)
        return StoreError(
            f"the requests of the batch {record.name} cannot be read: {path}",
            hint="restore the file: its replies are cached under what it holds; if it is lost, "
            f"delete {record.name}.json as well, and its requests are paid for again",
        )
