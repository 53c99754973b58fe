"""The catalog of public labelled datasets, and the download of their files, pinned by checksum."""

from __future__ import annotations

import csv
import hashlib
import http.client
import json
import re
import time
import urllib.request
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Annotated, cast
from urllib.parse import quote, urlsplit

from pydantic import Field, ValidationError

from judgekit.atomic_write import atomic_writer
from judgekit.errors import DatasetError, DownloadError, SettingsError, UnknownNameError
from judgekit.formats import read_document
from judgekit.http_session import LOOPBACK_HOSTS
from judgekit.records import Count, JsonObject, Name, Record
from judgekit.resources import shipped_file

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from email.message import Message


_SAFE = re.compile(r"[\w.()+@,=-]+(?:/[\w.()+@,=-]+)*")


class PinnedFile(Record):
    """The size and checksum that a file of a source must have."""

    bytes: Count
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class SourceRepository(Record):
    """Files of a repository at one commit, by path."""

    repository: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]  # `owner/name`
    # A commit and not a branch, whose files may change.
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
    files: dict[str, PinnedFile]


class PublicDataset(Record):
    """A public labelled set."""

    name: Name  # its name here, and that of its folder
    what: Name  # what its rows are
    labelled_by: Name
    licence: Name  # the licence its owners state, or that they state none
    citation: Name
    converter: Name  # its key in `judgekit.public_data.converters.CONVERTERS`
    sources: tuple[SourceRepository, ...]  # where its files come from; the first is the main one

    @property
    def n_bytes(self) -> int:
        return sum(file.bytes for source in self.sources for file in source.files.values())

    @property
    def n_files(self) -> int:
        return sum(len(source.files) for source in self.sources)


class PublicCatalog(Record):
    """All published sets, and the address their files are fetched from."""

    address: Name  # an address with `{repository}`, `{commit}` and `{path}` to be filled in
    sets: tuple[PublicDataset, ...]

    def find(self, name: str) -> PublicDataset:
        for one in self.sets:
            if one.name == name:
                return one
        raise UnknownNameError("published set", name, [one.name for one in self.sets])


def load_catalog(path: Path | None = None) -> PublicCatalog:
    """Read a catalog and the listings in `sources/` beside it."""
    path = path or shipped_file("calibration", "catalog.yaml")
    value = read_document(path).value
    try:
        if not isinstance(value, dict) or not isinstance(value.get("sets"), dict):
            raise DatasetError("has no `sets:`", path=path)
        sets = [_set(name, fields, path.parent) for name, fields in value["sets"].items()]  # type: ignore[union-attr]  # checked above
        return PublicCatalog.model_validate({"address": value.get("from"), "sets": sets})
    except ValidationError as error:
        raise DatasetError(f"is no catalog: {error}", path=path) from error


def _set(name: str, fields: object, folder: Path) -> PublicDataset:
    path = folder / "sources" / f"{name}.json"
    try:
        listing = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DatasetError(f"is no listing of files: {error}", path=path) from error
    # The names become paths on this machine, so none may lead out of the folder.
    for file in (file for files in listing.values() for file in files):
        if not _SAFE.fullmatch(file) or ".." in PurePosixPath(file).parts:
            raise DatasetError(f"lists {file!r}, which is no path in a repository", path=path)
    own = dict(fields) if isinstance(fields, dict) else {}
    sources = [
        {**source, "files": listing.get(str(source.get("repository")))}
        for source in own.get("sources") or ()
    ]
    return PublicDataset.model_validate({**own, "name": name, "sources": sources})


_CHUNK = 1 << 16

# A slow server that sends a byte now and then is stopped by the second limit.
_STALLED_S = 30.0
_WHOLE_S = 600.0
_PLACES = ("{repository}", "{commit}", "{path}")


def source_address(origin: str, source: SourceRepository, name: str) -> str:
    """The address of a file below an origin."""
    # A mirror or a folder given without places has the layout of the cache.
    if not any(place in origin for place in _PLACES):
        origin = f"{origin.rstrip('/')}/{{repository}}/{{commit}}/{{path}}"
    file = quote(name) if "://" in origin else name
    for place, value in zip(_PLACES, (source.repository, source.commit, file), strict=True):
        origin = origin.replace(place, value)
    return origin


def is_verified(path: Path, pinned: PinnedFile) -> bool:
    """Whether a file exists and is the pinned one."""
    try:
        if path.stat().st_size != pinned.bytes:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == pinned.sha256
    except OSError:
        return False


def download_file(
    address: str,
    target: Path,
    *,
    pinned: PinnedFile,
    stalled_s: float = _STALLED_S,
    whole_s: float = _WHOLE_S,
) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, n_bytes, deadline = hashlib.sha256(), 0, time.monotonic() + whole_s
    with closing(_chunks(address, stalled_s)) as chunks, atomic_writer(target) as file:
        for chunk in chunks:
            n_bytes += len(chunk)
            if n_bytes > pinned.bytes:
                raise _failed(address, f"it is larger than the {pinned.bytes} bytes it should have")
            if time.monotonic() > deadline:
                received = f"{n_bytes} of {pinned.bytes} bytes were received"
                raise _failed(address, f"it took too long; {received}")
            digest.update(chunk)
            file.write(chunk)
        if n_bytes < pinned.bytes:
            raise _failed(address, f"it was cut off after {n_bytes} of {pinned.bytes} bytes")
        if (found := digest.hexdigest()) != pinned.sha256:
            raise DownloadError(
                f"{address} is not the file that was pinned: its SHA-256 is {found}, "
                f"not {pinned.sha256}",
                hint="nothing of it was stored; its owners changed it, or a proxy replaced it",
            )


def _chunks(address: str, stalled_s: float) -> Generator[bytes]:
    # Only errors of the connection arise here; those of the disk are the caller's.
    try:
        with closing(_opened(address, stalled_s)) as stream:
            read = stream.read1 if isinstance(stream, http.client.HTTPResponse) else stream.read
            while chunk := read(_CHUNK):
                yield chunk
    except urllib.error.HTTPError as error:
        with closing(error):
            raise _failed(address, f"the server answered {error.code} {error.reason}") from error
    except TimeoutError as error:
        raise _failed(address, "nothing was received for too long") from error
    except urllib.error.URLError as error:
        raise _failed(address, str(error.reason)) from error
    except (http.client.HTTPException, OSError) as error:
        raise _failed(address, f"the connection broke: {error!r}") from error


def _opened(address: str, stalled_s: float) -> IO[bytes]:
    if "://" not in address:
        try:
            return Path(address).open("rb")
        except OSError as error:
            raise _failed(address, str(error.strerror)) from error
    if not _is_allowed(address):
        raise SettingsError(
            f"{address} is neither https nor on this machine",
            hint="give an https address, or a folder with the files",
        )
    request = urllib.request.Request(  # noqa: S310 - https, or http on this machine: just checked
        address, headers={"User-Agent": "judgekit", "Accept-Encoding": "identity"}
    )
    opener = urllib.request.build_opener(_SafeRedirects)
    stream: IO[bytes] = opener.open(request, timeout=stalled_s)
    return stream


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows a redirect only to an address that is allowed itself."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Message,
        newurl: str,
    ) -> urllib.request.Request | None:
        if not _is_allowed(newurl) or (req.type == "https" and urlsplit(newurl).scheme != "https"):
            fp.close()
            raise _failed(req.full_url, f"it redirects to {newurl}, which is not https")
        # The base class takes these arguments by position only in its own calls.
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]  # typeshed: HTTPMessage


def _is_allowed(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK_HOSTS)


def _failed(address: str, why: str) -> DownloadError:
    return DownloadError(
        f"{address} could not be fetched: {why}",
        hint="files downloaded and verified before are kept; run the command again to resume",
    )


@dataclass(frozen=True, slots=True)
class SourceTree:
    """Files of one or more repositories at their pinned commits."""

    folders: Mapping[str, Path]
    names: Mapping[str, Sequence[str]]

    def text(self, name: str, *, repository: str | None = None) -> str:
        path = self._folder(repository) / name
        try:
            return path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DatasetError(f"cannot be read: {error}", path=path) from error

    def document(self, name: str) -> object:
        return self._parsed(self.text(name), name, 1)

    def objects(self, name: str) -> list[JsonObject]:
        """The objects of a JSON list, or of a file with one object a line."""
        text = self.text(name)
        if text.lstrip().startswith("["):
            found = self._parsed(text, name, 1)
        else:
            # Texts may hold U+2028: only a line feed ends a row.
            lines = enumerate(text.split("\n"), start=1)
            found = [self._parsed(line, name, at) for at, line in lines if line.strip()]
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise DatasetError("is no list of objects", path=self._folder(None) / name)
        return cast("list[JsonObject]", found)

    def table(self, name: str) -> list[dict[str, str]]:
        return list(csv.DictReader(self.text(name).splitlines()))

    def below(self, prefix: str) -> list[str]:
        """The paths in the first repository that begin with a prefix, in the catalog's order."""
        first = next(iter(self.names))
        return [name for name in self.names[first] if name.startswith(prefix)]

    def _folder(self, repository: str | None) -> Path:
        return self.folders[repository or next(iter(self.folders))]

    def _parsed(self, text: str, name: str, line: int) -> object:
        try:
            value: object = json.loads(text)
        except ValueError as error:
            path = self._folder(None) / name
            raise DatasetError(f"is no JSON: {error}", path=path, line=line) from error
        return value
