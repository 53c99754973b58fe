"""Counts tokens offline, with the source of each count."""

from __future__ import annotations

import hashlib
import os
import threading
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.models.pricing import litellm_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tiktoken import Encoding

_CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"
_BYTES_PER_TOKEN = 4

# Encoding time grows faster than the length of a text without spaces; longer texts are cut.
_PIECE = 16_384

_PER_MESSAGE = 3
_PER_REPLY = 3
_FALLBACKS = ("o200k_base", "cl100k_base")

# The file of each encoding in a cache folder of tiktoken, and the SHA-256 of its content. tiktoken
# deletes a file with another content and downloads it again, so both are checked first.
_FILES = {
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "p50k_base": (
        "ec7223a39ce59f226a68acc30dc1af2788490e15",
        "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    ),
    "r50k_base": (
        "0ea1e91bbb3a60f729a8dc8f777fd2fc07cd8df4",
        "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    ),
}
_FILES |= {"o200k_harmony": _FILES["o200k_base"], "p50k_edit": _FILES["p50k_base"]}

_loading = threading.Lock()


@dataclass(frozen=True, slots=True)
class TokenCount:
    """A number of tokens and how it was found."""

    n: int
    source: str
    """`tiktoken:<encoding>` for the model's own encoding, `fallback:<encoding>` where the model's
    own is not known or not at hand, `estimate:bytes/4` where no encoding is at hand."""


def count_tokens(text: str, model: str, *, folders: Sequence[Path] | None = None) -> TokenCount:
    """Count the tokens of a text as a model would see them; offline, always."""
    # Special tokens written in the text count as the ordinary text they are.
    encoding, source = _encoding_for(model, encoding_folders() if folders is None else folders)
    return TokenCount(_count(text, encoding), source)


def count_messages(
    messages: Sequence[Mapping[str, str]], model: str, *, folders: Sequence[Path] | None = None
) -> TokenCount:
    # To the tokens of every role and content come three for each message and three that open the
    # reply: the overhead OpenAI documents for its chat format. Other providers' overhead differs by
    # a few tokens a message, and schemas and tools are not counted.
    encoding, source = _encoding_for(model, encoding_folders() if folders is None else folders)
    total = _PER_REPLY
    for message in messages:
        total += _PER_MESSAGE + sum(_count(text, encoding) for text in message.values())
    return TokenCount(total, source)


def encoding_folders() -> tuple[Path, ...]:
    """The folders where encodings may lie: the user's own, then the one inside litellm."""
    # litellm is looked up but not imported.
    own, litellm = os.environ.get(_CACHE_VARIABLE), litellm_folder()
    folders = (Path(own),) if own else ()
    shipped = () if litellm is None else (litellm / "litellm_core_utils" / "tokenizers",)
    return (*folders, *shipped)


def _encoding_for(model: str, folders: Sequence[Path]) -> tuple[Encoding | None, str]:
    places = tuple(folders)
    own = _encoding_name(model)
    for name in (own, *_FALLBACKS):
        encoding = None if name is None else _load(name, places)
        if encoding is not None:
            return encoding, f"{'tiktoken' if name == own else 'fallback'}:{name}"
    return None, f"estimate:bytes/{_BYTES_PER_TOKEN}"


@lru_cache(maxsize=1024)
def _encoding_name(model: str) -> str | None:
    """The encoding tiktoken's own table has for a model; providers are stripped one by one."""
    from tiktoken import encoding_name_for_model  # noqa: PLC0415 - not needed to start

    name = model
    while True:
        try:
            return encoding_name_for_model(name)
        except KeyError:
            _, slash, name = name.partition("/")
            if not slash:
                return None


@lru_cache(maxsize=64)
def _load(name: str, folders: tuple[Path, ...]) -> Encoding | None:
    """An encoding from the first folder that holds its file whole; None where none does."""
    folder = next((folder for folder in folders if _holds(folder, name)), None)
    if folder is None:
        return None
    from tiktoken import get_encoding  # noqa: PLC0415 - not needed to start

    with _loading:
        # The one variable tiktoken takes its folder from; the user's own value comes back.
        before = os.environ.get(_CACHE_VARIABLE)
        os.environ[_CACHE_VARIABLE] = str(folder)
        try:
            return get_encoding(name)
        finally:
            del os.environ[_CACHE_VARIABLE]
            if before is not None:
                os.environ[_CACHE_VARIABLE] = before


def _holds(folder: Path, name: str) -> bool:
    if name not in _FILES:
        return False
    file_name, digest = _FILES[name]
    try:
        return hashlib.sha256((folder / file_name).read_bytes()).hexdigest() == digest
    except OSError:
        return False


def _count(text: str, encoding: Encoding | None) -> int:
    if encoding is None:
        return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)
    n, start = 0, 0
    while start < len(text):
        end = start + _PIECE
        # Cut at a space where there is one; each cut can move the count by a token or two.
        space = text.rfind(" ", start + _PIECE // 2, end) if end < len(text) else -1
        end = space if space > 0 else end
        n += len(encoding.encode(text[start:end], disallowed_special=()))
        start = end
    return n
