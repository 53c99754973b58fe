"""The `--with-replies` option of commands that write pages, and the cache that it reads."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from judgekit.cli.options import CommandOptions, flag
from judgekit.cli.setup import open_cache
from judgekit.errors import SettingsError
from judgekit.models.cache import CacheFolder, MemoryCache
from judgekit.report import JudgeReplies

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from judgekit.cli.outputs import OutputFiles


class ReplyOptions(CommandOptions):
    """Whether pages have what the judge was sent and what it wrote."""

    # Off by default: prompts repeat every input, and make a page several times as large.
    with_replies: bool = flag("With -o FILE.html: include the judge's prompts and raw replies.")


def check_replies(options: ReplyOptions, files: OutputFiles) -> None:
    """Refuse `--with-replies` where it would have no effect."""
    if not options.with_replies:
        return
    if not files.has_page:
        raise SettingsError("--with-replies is for pages", hint="add -o FILE.html")
    if getattr(options, "no_cache", False):
        raise SettingsError(
            "--no-cache and --with-replies contradict each other",
            hint="prompts and raw replies are read from the cache",
        )


@contextmanager
def page_replies(folder: Path, *, is_wanted: bool) -> Iterator[JudgeReplies | None]:
    """The prompts and replies in a cache folder for a page; None without `--with-replies`."""
    if not is_wanted:
        yield None
    # A run with recorded replies leaves no cache; its page says that they are not there.
    elif CacheFolder(folder).identity() is None:
        yield JudgeReplies(MemoryCache())
    else:
        with open_cache(folder) as cache:
            yield JudgeReplies(cache)
