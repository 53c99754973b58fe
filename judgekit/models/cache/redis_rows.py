"""The rows and locks of a reply cache in one database of a Redis server."""

from __future__ import annotations

import os
import warnings
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from judgekit.errors import SettingsError, StoreError
from judgekit.models.cache.entries import COUNTS_ROW, CacheWarning, is_cache_key, is_row_name
from judgekit.models.cache.location import unreadable_address
from judgekit.models.cache.server_cache import CONNECT_TIMEOUT_S, LOCK_S, ServerRows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

PASSWORD_VARIABLE = "REDIS_PASSWORD"  # noqa: S105 - the name of a variable
"""The environment variable of the password, where the address has none."""

# One hash: commands for several of its fields change all of them or none.
_ROWS = "judgekit:cache"
_LOCKS = "judgekit:lock:"
_FORBIDDEN = (redis.exceptions.NoPermissionError, redis.ReadOnlyError)
# Compared and set in one step on the server; as a renewal it finds its own name.
_TAKE = """
local n_ours = 0
for _, key in ipairs(KEYS) do
  if (redis.call('GET', key) or ARGV[1]) == ARGV[1] then
    redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
    n_ours = n_ours + 1
  end
end
return n_ours
"""
_SWAP = """
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
"""
_END = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end return 1"


class RedisRows(ServerRows):
    """A hash of names and texts. The server must never evict keys, and should persist them."""

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
        if read_only and not self._ask("EXISTS", _ROWS):
            raise StoreError(f"there is no cache in {name}", hint="grade something first")
        if self.read_only_because is None:
            warn_of_loss(about, name)

    def text(self, name: str) -> str | None:
        found: str | None = self._ask("HGET", _ROWS, name)
        return found

    def texts(self, names: Sequence[str]) -> Mapping[str, str]:
        found = self._ask("HMGET", _ROWS, *names) if names else ()
        return {name: text for name, text in zip(names, found, strict=True) if text is not None}

    def names(self) -> Iterator[str]:
        yield from sorted(filter(is_row_name, self._ask("HKEYS", _ROWS)))

    def count_replies(self) -> int:
        return sum(map(is_cache_key, self._ask("HKEYS", _ROWS)))

    def n_bytes(self) -> int:
        return int(self._ask("MEMORY", "USAGE", _ROWS) or 0)

    def write(self, rows: Mapping[str, str]) -> None:
        if rows:
            self._ask("HSET", _ROWS, *chain.from_iterable(rows.items()), is_write=True)

    def remove(self, names: Sequence[str]) -> None:
        if names:
            self._ask("HDEL", _ROWS, *names, is_write=True)

    def clear(self) -> None:
        self._ask("UNLINK", _ROWS, is_write=True)

    def add_counts(self, text_of: Callable[[str | None], str]) -> None:
        is_added = False
        while not is_added:  # another process may add its own between the two commands
            present = self.text(COUNTS_ROW)
            words = "EVAL", _SWAP, 1, _ROWS, COUNTS_ROW, present or "", text_of(present)
            # Without a second attempt: done twice it would count twice.
            is_added = bool(self._ask(*words, is_write=True, retries=False))

    def lock(self, holder: str, *keys: str) -> bool:
        names = [_LOCKS + key for key in keys]
        return bool(self._ask("EVAL", _TAKE, len(names), *names, holder, int(LOCK_S * 1000)))

    def unlock(self, key: str, holder: str) -> None:
        self._ask("EVAL", _END, 1, _LOCKS + key, holder)

    def close(self) -> None:
        self._client.close()

    def is_lost(self, error: Exception) -> bool:
        # A server that is reading its file after a start answers, but has nothing yet.
        is_lost = isinstance(error, redis.ConnectionError | redis.TimeoutError)
        return is_lost and not isinstance(error, redis.AuthenticationError)

    def _may_write(self) -> bool:
        try:
            self._ask("HDEL", _ROWS, "probe", is_write=True)
            self.unlock("probe", "nobody")
        except StoreError as error:
            if not isinstance(error.__cause__, _FORBIDDEN):
                raise
            return False
        return True

    def _ask(self, *words: object, is_write: bool = False, retries: bool = True) -> Any:
        return self.run(
            lambda: self._client.execute_command(*words),  # type: ignore[no-untyped-call]  # redis-py has types for some commands only
            is_write=is_write,
            retries=retries,
        )


def _make_client(url: str, name: str) -> redis.Redis:
    try:
        parts = urlsplit(url)
        has_password = parts.password is not None or "password=" in parts.query
        password = {} if has_password else {"password": os.environ.get(PASSWORD_VARIABLE)}
        if parts.path.strip("/"):
            int(parts.path.strip("/"))  # else it would be database 0, whatever it says
        client = redis.Redis.from_url(
            url,
            decode_responses=True,
            socket_connect_timeout=CONNECT_TIMEOUT_S,
            socket_timeout=2 * CONNECT_TIMEOUT_S,
            retry=Retry(NoBackoff(), 0),  # `ServerRows.run` tries again
            **password,
        )
        client.connection_pool.make_connection()  # refuses options that it does not know
    except (ValueError, TypeError):
        raise unreadable_address(name) from None
    return client


def _server_facts(client: redis.Redis) -> dict[str, Any]:
    """What the server says of itself; its settings only where this user may read them."""
    about: dict[str, Any] = dict(client.info("everything"))
    with suppress(redis.ResponseError):  # also of a command that is forbidden or renamed
        about["save"] = client.config_get("save").get("save")
    return about


def refuse_eviction(about: Mapping[str, Any], name: str) -> None:
    """Refuse a server that deletes keys when its memory is full, or has some of them only."""
    if about.get("cluster_enabled"):
        hint = "name a server with cluster mode disabled, or postgresql://USER@HOST/DATABASE"
        raise SettingsError(f"the Redis server {name} belongs to a cluster", hint=hint)
    policy = about.get("maxmemory_policy", "noeviction")
    if policy == "noeviction":
        return
    what = "locks" if policy.startswith("volatile") else "replies that were paid for"
    raise SettingsError(
        f"the Redis server {name} may delete {what} when its memory is full: its maxmemory-policy "
        f"is {policy}",
        hint="set `maxmemory-policy noeviction` there, or use another server; with noeviction a "
        "full server is an error, and nothing is lost",
    )


def warn_of_loss(about: Mapping[str, Any], name: str) -> None:
    """Warn of a server that forgets everything when it is restarted."""
    if about.get("aof_enabled") or about.get("save"):
        return
    reason = (
        "there is neither an append-only file nor a snapshot"
        if "save" in about
        else "there is no append-only file, and this user may not ask for snapshots"
    )
    warnings.warn(
        f"a restart of the Redis server {name} may lose its replies: {reason} (set `appendonly "
        "yes` there)",
        CacheWarning,
        stacklevel=5,
    )
