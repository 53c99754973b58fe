"""The rows and leases of a reply cache in one database of a Redis server."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from judgekit.errors import SettingsError, StoreError
from judgekit.models.cache.entries import COUNTS_ROW, CacheWarning, DamagedEntryError, is_row_name
from judgekit.models.cache.shared import CONNECT_TIMEOUT_S, LEASE_S, ServerRows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

PASSWORD_VARIABLE = "REDIS_PASSWORD"  # noqa: S105 - the name of a variable
"""The environment variable of the password, where the address has none."""

# One hash for each kind of row, so that replies are counted without reading names.
_KINDS = ("reply", "request", "rejected", "counts")
_LEASES = "judgekit:lease:"
_LOST = (redis.ConnectionError, redis.TimeoutError)
# Compared and set in one step on the server; as a renewal it finds its own name.
_TAKE = """
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""
_END = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end return 1"


class RedisRows(ServerRows):
    """Hashes of names and texts. The server must never evict keys, and should persist them."""

    foreign_errors = (redis.RedisError, UnicodeDecodeError)

    def __init__(self, url: str, name: str, *, read_only: bool) -> None:
        super().__init__(name)
        self._client = _make_client(url, name)
        about: dict[str, Any] = self.run(lambda: _server_facts(self._client))
        if not read_only:
            refuse_eviction(about, name)
        if read_only:
            self.read_only_because = "it was opened read-only"
        elif about.get("role") == "slave":
            self.read_only_because = "the server is a replica"
        elif not self._may_write():
            self.read_only_because = "this user may not write to it"
        if read_only and not self.run(lambda: self._client.exists(*map(_hash_of_kind, _KINDS))):
            raise StoreError(f"there is no cache in {name}", hint="grade something first")
        if self.read_only_because is None:
            warn_of_loss(about, name)

    def text(self, name: str) -> str | None:
        found: str | None = self._ask("HGET", _hash(name), name)
        return found

    def texts(self, names: Sequence[str]) -> Mapping[str, str]:
        found: dict[str, str | None] = {}
        for kind in _KINDS:
            of_kind = [name for name in names if _hash(name) == _hash_of_kind(kind)]
            if of_kind:
                values = self._ask("HMGET", _hash_of_kind(kind), *of_kind)
                found.update(zip(of_kind, values, strict=True))
        return {name: value for name, value in found.items() if value is not None}

    def names(self) -> Iterator[str]:
        found = [name for kind in _KINDS for name in self._ask("HKEYS", _hash_of_kind(kind))]
        yield from sorted(filter(is_row_name, found))

    def count_replies(self) -> int:
        return int(self._ask("HLEN", _hash_of_kind("reply")))

    def n_bytes(self) -> int:
        usages = [self._ask("MEMORY", "USAGE", _hash_of_kind(kind)) for kind in _KINDS]
        return sum(int(usage or 0) for usage in usages)

    def write(self, rows: Mapping[str, str]) -> None:
        self._change([("HSET", _hash(name), name, value) for name, value in rows.items()])

    def remove(self, names: Sequence[str]) -> None:
        self._change([("HDEL", _hash(name), name) for name in names])

    def clear(self) -> None:
        self._change([("UNLINK", _hash_of_kind(kind)) for kind in _KINDS])

    def add_counts(self, text_of: Callable[[str | None], str]) -> None:
        place = _hash_of_kind("counts")

        def replace(open_: Any) -> None:
            present = open_.hget(place, "counts")
            open_.multi()
            open_.hset(place, "counts", text_of(present))

        # Once only: done twice it would count twice.
        self.run(lambda: self._client.transaction(replace, place), is_write=True, retries=False)

    def lease(self, key: str, holder: str) -> bool:
        return bool(self._ask("EVAL", _TAKE, 1, _LEASES + key, holder, int(LEASE_S * 1000)))

    def end_lease(self, key: str, holder: str) -> None:
        self._ask("EVAL", _END, 1, _LEASES + key, holder)

    def close(self) -> None:
        self._client.close()

    def is_lost(self, error: Exception) -> bool:
        # A server that is reading its file after a start answers, but has nothing yet.
        is_refusal = isinstance(
            error, redis.AuthenticationError | redis.exceptions.MaxConnectionsError
        )
        is_loading = isinstance(error, redis.BusyLoadingError)
        return is_loading or (isinstance(error, _LOST) and not is_refusal)

    def forget_connections(self) -> None:
        """Nothing: the client of Redis notices a fork itself."""

    def _may_write(self) -> bool:
        try:
            self._change([("HDEL", _hash_of_kind("counts"), "probe")])
            self._ask("EVAL", _END, 1, f"{_LEASES}probe", "nobody")
        except StoreError as error:
            if isinstance(
                error.__cause__, redis.exceptions.NoPermissionError | redis.ReadOnlyError
            ):
                return False
            raise
        return True

    def _ask(self, *words: object) -> Any:
        try:
            return self.run(lambda: self._client.execute_command(*words))  # type: ignore[no-untyped-call]  # redis-py has types for some commands only
        except StoreError as error:
            if isinstance(error.__cause__, UnicodeDecodeError):
                raise DamagedEntryError("the row is not UTF-8 text") from error
            raise

    def _change(self, commands: Sequence[tuple[object, ...]]) -> None:
        def action() -> None:
            with self._client.pipeline(transaction=True) as all_or_none:
                for words in commands:
                    all_or_none.execute_command(*words)  # type: ignore[no-untyped-call]  # as above
                all_or_none.execute()

        self.run(action, is_write=True)


def _hash_of_kind(kind: str) -> str:
    return f"judgekit:cache:{kind}"


def _hash(name: str) -> str:
    """The hash in which a row is: a key alone is a reply."""
    kind = name.partition(":")[2].partition(":")[0]
    return _hash_of_kind("counts" if name == COUNTS_ROW else kind or "reply")


def _make_client(url: str, name: str) -> redis.Redis:
    has_password = urlsplit(url).password is not None or "password=" in urlsplit(url).query
    password = {} if has_password else {"password": os.environ.get(PASSWORD_VARIABLE)}
    try:
        return redis.Redis.from_url(
            url,
            decode_responses=True,
            socket_connect_timeout=CONNECT_TIMEOUT_S,
            socket_timeout=2 * CONNECT_TIMEOUT_S,
            retry=Retry(NoBackoff(), 0),  # `ServerRows.run` tries again
            **password,
        )
    except (ValueError, TypeError):
        # Without its cause, which may repeat the password.
        raise SettingsError(
            f"the address of the cache cannot be read: {name}",
            hint="write redis://HOST:PORT/NUMBER; @, / and : in a password as %40, %2F, %3A",
        ) from None


def _server_facts(client: redis.Redis) -> dict[str, Any]:
    """What the server says of itself; its settings only where this user may read them."""
    about: dict[str, Any] = dict(client.info("everything"))
    try:
        about["save"] = client.config_get("save").get("save")
    except redis.ResponseError:  # also the error of a command that is forbidden or renamed
        about["save"] = None
    return about


def refuse_eviction(about: Mapping[str, Any], name: str) -> None:
    """Refuse a server that deletes keys when its memory is full."""
    policy = about.get("maxmemory_policy", "noeviction")
    if policy == "noeviction":
        return
    what = "leases" if policy.startswith("volatile") else "replies that were paid for"
    raise SettingsError(
        f"the Redis server {name} may delete {what} when its memory is full: its maxmemory-policy "
        f"is {policy}",
        hint="set `maxmemory-policy noeviction` there, or use another server; with noeviction a "
        "full server is an error, and nothing is lost",
    )


def warn_of_loss(about: Mapping[str, Any], name: str) -> None:
    """Warn of a server that forgets everything when it is restarted."""
    if about.get("aof_enabled") or about["save"]:
        return
    cannot_tell = about["save"] is None
    words = "may not be" if cannot_tell else "are not"
    reason = (
        "there is no append-only file, and this user may not see whether there are snapshots"
        if cannot_tell
        else "there is neither an append-only file nor a snapshot"
    )
    warnings.warn(
        f"the replies in {name} {words} on its disk: {reason}; a restart of the server loses them "
        "(set `appendonly yes` there)",
        CacheWarning,
        stacklevel=5,
    )
