"""Images in inputs and outputs: content parts of chat messages that hold their bytes.

A file names an image by its path; the record has it as a data URL in OpenAI's form, with its name.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, Self, cast

from pydantic import AfterValidator, JsonValue, ValidationInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from judgekit.records.record import JsonObject

MAX_IMAGE_BYTES = 20 * 2**20
"""The largest image that is read; providers refuse larger ones."""

# By their first bytes and not by name: a name may lie, and providers look at the bytes as well.
_SIGNATURES = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
    "image/gif": re.compile(rb"GIF8[79]a"),
}
_DATA_URL = re.compile(r"data:image/[\w.+-]+;base64,", re.IGNORECASE)
_IMAGE_KINDS = frozenset({"image", "image_url", "input_image"})
# A list of parts outside a message has no other kinds: data of a document may have an `image` too.
_PART_KINDS = _IMAGE_KINDS | {"text", "input_text", "output_text"}
_DETAILS = frozenset({"auto", "low", "high"})
_SHOWN_DIGITS = 12
_LONGEST_SHOWN = 80


class Image(NamedTuple):
    """One image of a record."""

    url: str
    """A data URL with the bytes; no other address is kept."""

    name: str | None = None
    """The path by which a file named it."""

    detail: str | None = None
    """How closely OpenAI's models look at it, where that was set: `low`, `high` or `auto`."""

    @classmethod
    def of(cls, part: JsonObject) -> Self:
        """The image that a part of a record holds."""
        source = cast("dict[str, str]", part["image_url"])
        return cls(source["url"], cast("str | None", part.get("name")), source.get("detail"))

    @property
    def part(self) -> JsonObject:
        """The content part of a message that is sent; it has no name."""
        source: JsonObject = {"url": self.url}
        return {
            "type": "image_url",
            "image_url": source | {"detail": self.detail} if self.detail else source,
        }

    @property
    def n_bytes(self) -> int:
        """The size of the file."""
        _, _, text = self.url.partition(",")
        return len(text) * 3 // 4 - text[-2:].count("=")

    @property
    def sha256(self) -> str:
        """The checksum of the file."""
        return hashlib.sha256(base64.b64decode(self.url.partition(",")[2])).hexdigest()

    @property
    def marker(self) -> str:
        """What stands in a prompt in the place of the image; `message_parts` puts it there."""
        # By content: the name of a file may say what the image is to be taken for, and the same
        # image under another name is the same request.
        digest = hashlib.sha256(b"judgekit image\n" + self.url.encode()).digest()
        return f"<image {base64.b32encode(digest[:10]).decode('ascii')}>"

    @property
    def title(self) -> str:
        """The image in a text for readers: `[image photo.png, 12 kB, sha256 1f3c…]`."""
        size = self.n_bytes / 1000
        about = f"{size:.0f} kB" if size >= 1 else f"{self.n_bytes} bytes"
        named = f" {self.name}" if self.name else ""
        return f"[image{named}, {about}, sha256 {self.sha256[:_SHOWN_DIGITS]}…]"


def message_parts(text: str, images: Sequence[Image]) -> str | list[JsonObject]:
    """The content of a message in OpenAI's form, each image in the place of its marker."""
    shown = {marker: image for image in images if (marker := image.marker) in text}
    if not shown:
        return text
    places = re.compile(f"({'|'.join(map(re.escape, shown))})")
    return [
        shown[piece].part if piece in shown else {"type": "text", "text": piece}
        for piece in places.split(text)
        if piece
    ]


def images_in(*values: JsonValue) -> list[Image]:
    """The images of some inputs or outputs, in their order."""
    found: list[Image] = []

    def take(image: Image) -> str:
        found.append(image)
        return ""

    for value in values:
        show_images(value, take)
    return found


def show_images(value: JsonValue, show: Callable[[Image], str]) -> JsonValue:
    """A value with a text in the place of each image in it."""

    def shown(part: JsonObject) -> JsonValue:
        source = part.get("image_url")
        is_held = isinstance(source, dict) and str(source.get("url")).startswith("data:")
        return show(Image.of(part)) if is_held else part

    return _changed(value, shown)


def _changed(value: JsonValue, change: Callable[[JsonObject], JsonValue]) -> JsonValue:
    """A value with the parts changed that are images: of its messages, or of itself as a list."""
    if isinstance(value, dict):
        if isinstance(value.get("messages"), list):
            return {**value, "messages": _changed(value["messages"], change)}
        content = value.get("content")
        if isinstance(value.get("role"), str) and isinstance(content, list):
            return {**value, "content": list(_mapped(content, change))}
        return value
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return value
    kinds = {str(one.get("type")) for one in value if isinstance(one, dict)}
    if kinds <= _PART_KINDS:
        return list(_mapped(value, change))
    return [
        _changed(one, change) if isinstance(one, dict) and "role" in one else one for one in value
    ]


def _mapped(
    parts: list[JsonValue], change: Callable[[JsonObject], JsonValue]
) -> Iterator[JsonValue]:
    for part in parts:
        if not isinstance(part, dict):
            yield part
        elif part.get("type") in _IMAGE_KINDS:
            yield change(part)
        elif isinstance(inner := part.get("content"), list):  # what a tool returned
            yield {**part, "content": list(_mapped(inner, change))}
        else:
            yield part


STORED = {"stored": True}
"""The context in which records are read that were made before: nothing is read or refused again."""


def _with_bytes(value: JsonValue, info: ValidationInfo) -> JsonValue:
    """The value as it is kept: every image a data URL."""
    if not isinstance(value, list | dict) or info.context == STORED:
        return value
    # Who reads a file passes its folder, or None where no path may be named; in Python, images
    # are in the folder of the program.
    folder = Path.cwd() if info.context is None else info.context.get("folder")
    return _changed(value, partial(_taken, folder=folder))


def _with_given_bytes(value: JsonValue) -> JsonValue:
    """The content of an event as it is kept: what a trace recorded in another way stays."""
    return _changed(
        value, lambda part: _taken(part, None) if _DATA_URL.match(_source(part)) else part
    )


Content = Annotated[JsonValue, AfterValidator(_with_bytes)]
"""A JSON value; an image in its chat messages is read when the record is made."""

EventContent = Annotated[JsonValue, AfterValidator(_with_given_bytes)]
"""A JSON value; of the images in it only those are taken that it holds itself."""


def _source(part: JsonObject) -> str:
    """The address of an image in the forms of OpenAI and Anthropic; empty where it has none."""
    source = part.get("image_url", part.get("source", part.get("url")))
    if isinstance(source, dict) and "data" in source:
        return f"data:{source.get('media_type')};base64,{source['data']}"
    url = source.get("url") if isinstance(source, dict) else source
    return url if isinstance(url, str) else ""


def _taken(part: JsonObject, folder: Path | None) -> JsonValue:
    name, source = part.get("name"), part.get("image_url")
    detail = source.get("detail") if isinstance(source, dict) else part.get("detail")
    if isinstance(path := part.get("path"), str):
        name, content = path, _read(path, folder)
    elif url := _source(part):
        content = _decoded(url)
    else:
        raise ValueError("an image needs a `path`, or an `image_url` with a data: URL")
    where = f"the image {name!r}" if isinstance(name, str) else "an image"
    if len(content) > MAX_IMAGE_BYTES:
        raise ValueError(f"{where} is larger than {MAX_IMAGE_BYTES >> 20} MiB")
    kind = next((kind for kind, first in _SIGNATURES.items() if first.match(content)), None)
    if kind is None:
        raise ValueError(f"{where} is no PNG, JPEG, WebP or GIF, by its first bytes")
    url = f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
    image = Image(url, detail=detail if isinstance(detail, str) and detail in _DETAILS else None)
    return {**image.part, "name": name} if isinstance(name, str) else image.part


def _decoded(url: str) -> bytes:
    if (found := _DATA_URL.match(url)) is None:
        shown = url if len(url) <= _LONGEST_SHOWN else f"{url[:_LONGEST_SHOWN]}…"
        raise ValueError(
            f"the image {shown!r} is not read: nothing is fetched from the network; "
            "give a `path`, or a data: URL with base64"
        )
    try:
        return base64.b64decode("".join(url[found.end() :].split()), validate=True)
    except (ValueError, binascii.Error) as error:
        raise ValueError(f"the data: URL of an image is not valid base64: {error}") from error


def _read(name: str, folder: Path | None) -> bytes:
    if "://" in name:
        return _decoded(name)
    if folder is None:
        raise ValueError(f"the image {name!r} cannot be a path here; give a data: URL")
    try:
        # After `resolve`, so that neither `..` nor a link in the folder can lead out of it.
        path, root = (folder / name).resolve(), folder.resolve()
        if not path.is_relative_to(root):
            raise ValueError(f"the image {name!r} leads out of the folder {folder}")
        if not path.is_file():
            raise ValueError(f"there is no image {name!r} in {folder}")
        with path.open("rb") as stream:
            # One byte more than allowed shows that it is too large without reading it all.
            return stream.read(MAX_IMAGE_BYTES + 1)
    except (OSError, RuntimeError) as error:
        raise ValueError(f"the image {name!r} cannot be read: {error}") from error
