"""Fetches one pinned file: over https or from a folder, bounded, verified, whole or not at all.

The only module that opens an address for published sets.
"""

from __future__ import annotations

import hashlib
import http.client
import time
import urllib.error
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import quote, urlsplit

from judgekit.errors import DownloadError, SettingsError
from judgekit.report.replacing import replaced

if TYPE_CHECKING:
    from email.message import Message

    from judgekit.published.catalog import PinnedFile, Source

_CHUNK = 1 << 16
_STALLED_S = 30.0
_WHOLE_S = 600.0
_STALLED = "nothing came for too long"
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_PLACES = ("{repository}", "{commit}", "{path}")


def address_of(origin: str, source: Source, name: str) -> str:
    """Where a file is fetched from."""
    if not any(place in origin for place in _PLACES):
        origin = f"{origin.rstrip('/')}/{{repository}}/{{commit}}/{{path}}"
    given = quote(name) if _is_url(origin) else name
    filled = zip(_PLACES, (source.repository, source.commit, given), strict=True)
    for place, value in filled:
        origin = origin.replace(place, value)
    return origin


def is_verified(path: Path, pinned: PinnedFile) -> bool:
    """Whether a file is there and is the pinned one."""
    try:
        if path.stat().st_size != pinned.bytes:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == pinned.sha256
    except OSError:
        return False


def fetch(
    address: str,
    target: Path,
    *,
    pinned: PinnedFile,
    stalled_s: float = _STALLED_S,
    whole_s: float = _WHOLE_S,
) -> None:
    """Fetch a file to its place, if it is the pinned one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with closing(_opened(address, stalled_s)) as stream, replaced(target) as file:
            _copy(stream, file, address, pinned, deadline=time.monotonic() + whole_s)
    except urllib.error.HTTPError as error:
        with closing(error):
            raise _failed(address, f"the server answered {error.code} {error.reason}") from error
    except TimeoutError as error:
        raise _failed(address, _STALLED) from error
    except urllib.error.URLError as error:
        raise _failed(address, str(error.reason)) from error
    except http.client.HTTPException as error:
        raise _failed(address, f"the connection broke: {error!r}") from error


def _copy(
    stream: IO[bytes], file: IO[bytes], address: str, pinned: PinnedFile, *, deadline: float
) -> None:
    digest, n_bytes = hashlib.sha256(), 0
    while chunk := _chunk(stream, address):
        n_bytes += len(chunk)
        if n_bytes > pinned.bytes:
            raise _failed(address, f"it is larger than the {pinned.bytes} bytes it should have")
        if time.monotonic() > deadline:
            raise _failed(address, f"it took too long; {n_bytes} of {pinned.bytes} bytes came")
        digest.update(chunk)
        file.write(chunk)
    if n_bytes < pinned.bytes:
        raise _failed(address, f"it was cut off after {n_bytes} of {pinned.bytes} bytes")
    if (found := digest.hexdigest()) != pinned.sha256:
        raise DownloadError(
            f"{address} is not the file that was pinned: its SHA-256 is {found}, "
            f"not {pinned.sha256}",
            hint="nothing of it was kept; its owners changed it, or something stands in between",
        )


def _chunk(stream: IO[bytes], address: str) -> bytes:
    """What came next; an error of the connection is not one of the disk."""
    try:
        return (
            stream.read1(_CHUNK)
            if isinstance(stream, http.client.HTTPResponse)
            else stream.read(_CHUNK)
        )
    except TimeoutError as error:
        raise _failed(address, _STALLED) from error
    except OSError as error:
        raise _failed(address, f"the connection broke: {error}") from error


def _opened(address: str, stalled_s: float) -> IO[bytes]:
    if not _is_url(address):
        try:
            return Path(address).open("rb")
        except OSError as error:
            raise _failed(address, str(error.strerror)) from error
    _check(address)
    request = urllib.request.Request(  # noqa: S310 - https, or http on this machine: just checked
        address, headers={"User-Agent": "judgekit", "Accept-Encoding": "identity"}
    )
    opener = urllib.request.build_opener(_SafeRedirects)
    stream: IO[bytes] = opener.open(request, timeout=stalled_s)
    return stream


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows a redirect only to where a file may be fetched from in the first place."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Message,
        newurl: str,
    ) -> urllib.request.Request | None:
        """The next request."""
        if not _is_allowed(newurl) or (req.type == "https" and urlsplit(newurl).scheme != "https"):
            fp.close()
            raise _failed(req.full_url, f"it redirects to {newurl}, which is not https")
        # The base class takes these arguments by position only in its own calls.
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]  # typeshed: HTTPMessage


def _check(address: str) -> None:
    if not _is_allowed(address):
        raise SettingsError(
            f"{address} is neither https nor on this machine",
            hint="give an https address, or a folder that holds the files",
        )


def _is_allowed(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)


def _is_url(address: str) -> bool:
    return "://" in address


def _failed(address: str, why: str) -> DownloadError:
    return DownloadError(
        f"{address} could not be fetched: {why}",
        hint="what was fetched and verified before is kept; run the command again to go on",
    )
