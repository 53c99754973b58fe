"""Images in inputs and outputs: content parts of chat messages that hold their bytes.

A file names an image by its path; the record has it as a data URL in OpenAI's form, with its name.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pydantic import AfterValidator, JsonValue, ValidationInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from judgekit.records.record import JsonObject

IMAGE_SIGN = "<image "
"""What every marker of an image begins with."""

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
_HELD_URL = re.compile(r"data:image/(?:png|jpeg|webp|gif);base64,([A-Za-z0-9+/]+={0,2})")
_IMAGE_KINDS = frozenset({"image", "image_url", "input_image"})
# A list of parts outside a message has no other kinds: data of a document may have an `image` too.
_PART_KINDS = _IMAGE_KINDS | {"text", "input_text", "output_text"}


class Image(NamedTuple):
    """One image of a record."""

    url: str
    """A data URL with the bytes; no other address is kept."""

    name: str | None = None
    """The path by which a file named it; no part of what is sent."""

    @property
    def content(self) -> bytes:
        """The bytes of the file."""
        return base64.b64decode(self.url.partition(",")[2])

    @property
    def marker(self) -> str:
        """What stands in a prompt in the place of the image; `message_parts` puts it there."""
        # By content: the name of a file may say what the image is to be taken for, and the same
        # image under another name is the same request.
        digest = hashlib.sha256(b"judgekit image\n" + self.url.encode()).digest()
        return f"{IMAGE_SIGN}{base64.b32encode(digest[:10]).decode('ascii')}>"

    @property
    def title(self) -> str:
        """The image in a text for readers: `[image photo.png, 12 kB, sha256 1f3c…]`."""
        content = self.content
        size = f"{len(content) / 1000:.0f} kB" if len(content) > 999 else f"{len(content)} bytes"  # noqa: PLR2004 - a kB
        digest = hashlib.sha256(content).hexdigest()
        return f"[{' '.join(('image', *filter(None, [self.name])))}, {size}, sha256 {digest[:12]}…]"


def shown_images(
    messages: Sequence[Mapping[str, str]], images: Sequence[Image]
) -> tuple[Image, ...]:
    """The images whose markers are in some messages, each once."""
    texts = [message["content"] for message in messages]
    markers = {image.marker: image for image in images}
    return tuple(markers[name] for name in markers if any(name in text for text in texts))


def message_parts(text: str, images: Sequence[Image]) -> list[JsonObject]:
    """The parts of a message in OpenAI's form, each image in the place of its marker."""
    shown = {image.marker: image.url for image in images}
    # An image of a message stands on a line of its own, whose ends are not part of the texts.
    pieces = re.split(f"\n?({'|'.join(map(re.escape, shown))})\n?", text) if shown else [text]
    return [
        {"type": "image_url", "image_url": {"url": shown[piece]}}
        if piece in shown
        else {"type": "text", "text": piece}
        for piece in pieces
        if piece
    ]


def images_in(*values: JsonValue) -> tuple[Image, ...]:
    """The images of some inputs or outputs, in their order."""
    found: list[Image] = []

    def take(image: Image) -> str:
        found.append(image)
        return ""

    for value in values:
        if isinstance(value, list | dict):  # most are texts
            show_images(value, take)
    return tuple(found)


def show_images(value: JsonValue, show: Callable[[Image], str]) -> JsonValue:
    """A value with a text in the place of each image in it."""

    def shown(part: JsonObject) -> JsonValue:
        held, name = _HELD_URL.fullmatch(_address(part)), part.get("name")
        if held is None or len(held[1]) % 4:
            return part
        return show(Image(held[0], name if isinstance(name, str) else None))

    return _changed(value, shown)


def _changed(
    value: JsonValue, change: Callable[[JsonObject], JsonValue], *, are_parts: bool = False
) -> JsonValue:
    """A value with the image parts changed of its messages, or of itself as a list of parts."""
    if isinstance(value, dict):
        if are_parts and value.get("type") in _IMAGE_KINDS:
            return change(value)
        update: JsonObject = {}
        if isinstance(value.get("messages"), list):
            update["messages"] = _changed(value["messages"], change)
        # The content of a part is what a tool returned.
        elif isinstance(value.get("content"), list) and (are_parts or "role" in value):
            update["content"] = _changed(value["content"], change, are_parts=True)
        return {**value, **update} if update else value
    if not isinstance(value, list):
        return value
    kinds = {str(one.get("type")) if isinstance(one, dict) else "" for one in value}
    are_parts = are_parts or kinds <= _PART_KINDS
    return [_changed(one, change, are_parts=are_parts) for one in value]


STORED = {"stored": True}
"""The context in which records are read that were made before: nothing is read or refused again."""


def _with_bytes(value: JsonValue, info: ValidationInfo) -> JsonValue:
    """The value as it is kept: every image a data URL."""
    if not isinstance(value, list | dict) or info.context == STORED:
        return value
    # Who reads a file passes its folder, or None where no path may be named; in Python, images
    # are in the folder of the program.
    folder = Path.cwd() if info.context is None else info.context.get("folder")
    return _changed(value, partial(part_with_bytes, folder=folder))


def _with_given_bytes(value: JsonValue) -> JsonValue:
    """The content of an event as it is kept: what a tracer wrote in another way stays."""

    def with_bytes(part: JsonObject) -> JsonValue:
        try:
            return part_with_bytes(part, None)
        except ValueError:
            return part

    return _changed(value, with_bytes)


Content = Annotated[JsonValue, AfterValidator(_with_bytes)]
"""A JSON value; an image in its chat messages is read when the record is made."""

EventContent = Annotated[JsonValue, AfterValidator(_with_given_bytes)]
"""A JSON value; of the images in it only those are taken that it holds itself."""


def _address(part: JsonObject) -> str:
    """The address of an image in the forms of OpenAI, Anthropic and inspect_ai; empty without."""
    names = ("image_url", "source", "url", "image")
    source = next((part[name] for name in names if name in part), None)
    if isinstance(source, dict) and "data" in source:
        return f"data:{source.get('media_type')};base64,{source['data']}"
    url = source.get("url") if isinstance(source, dict) else source
    return url if isinstance(url, str) else ""


def part_with_bytes(part: JsonObject, folder: Path | None) -> JsonObject:
    """An image part as it is kept; a path is below the folder, or an error where that is None."""
    path, name = part.get("path"), part.get("path", part.get("name"))
    content = _read(path, folder) if isinstance(path, str) else _decoded(_address(part))
    where = "an image" if name is None else f"the image {name!r}"
    if len(content) > MAX_IMAGE_BYTES:
        raise ValueError(f"{where} is larger than {MAX_IMAGE_BYTES >> 20} MiB")
    kind = next((kind for kind, first in _SIGNATURES.items() if first.match(content)), None)
    if kind is None:
        raise ValueError(f"{where} is no PNG, JPEG, WebP or GIF, by its first bytes")
    url = f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
    named: JsonObject = {} if name is None else {"name": name}
    return {"type": "image_url", "image_url": {"url": url}, **named}


def _decoded(url: str) -> bytes:
    if (found := _DATA_URL.match(url)) is None:
        what = f"the image {url[:80]!r} is not read: nothing is fetched" if url else "no image"
        raise ValueError(f"{what}; give a `path`, or a data: URL with base64 as `image_url`")
    try:
        return base64.b64decode("".join(url[found.end() :].split()), validate=True)
    except ValueError as error:
        raise ValueError(f"the data: URL of an image is not valid base64: {error}") from error


def _read(name: str, folder: Path | None) -> bytes:
    if "://" in name:
        return _decoded(name)
    if folder is None:
        raise ValueError(f"the image {name!r} cannot be a path here; give a data: URL")
    try:
        # After `resolve`, so that neither `..` nor a link in the folder can lead out of it.
        path, root = (folder / name).resolve(), folder.resolve()
        if not (path.is_relative_to(root) and path.is_file()):
            raise ValueError(
                f"there is no image {name!r} in {folder}; links out of it do not count"
            )
        with path.open("rb") as stream:
            # One byte more than allowed shows that it is too large without reading it all.
            return stream.read(MAX_IMAGE_BYTES + 1)
    except (OSError, RuntimeError) as error:
        raise ValueError(f"the image {name!r} cannot be read: {error}") from error
