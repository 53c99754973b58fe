"""Writes the results of a store as a static site: files that open from disk, linked to each other.

For artifacts of CI and for hosts of pages. The folder may hold other files, such as those of git;
only files that an earlier export wrote are ever replaced or removed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

from judgekit.atomic_write import atomic_writer, make_folder, write_text_atomically
from judgekit.errors import JudgekitError, SettingsError, StoreError
from judgekit.fingerprint import fingerprint
from judgekit.report import Document, JudgeReplies, SitePages, html_parts, page_path
from judgekit.web.documents import ResultDocuments
from judgekit.web.home import SuiteStatus, home_document, is_followed
from judgekit.web.replies import NAVIGATION, error_document

if TYPE_CHECKING:
    from judgekit.store import RunStore

MARKER = "judgekit-site.json"
"""Lists the files of an export, so that the next one knows which it may replace."""

_FORMAT = "judgekit-site/1"
_HOME = "index.html"
_PLAIN = re.compile(r"[a-z]+(/(cmp-)?([0-9]{8}T[0-9]{6}Z)?[a-z0-9.-]{0,80})?")
_LONGEST_NAME = 120
_MARK_LENGTH = 8


def export_site(
    store: RunStore, folder: Path, *, limit: int | None = None, replies: JudgeReplies | None = None
) -> int:
    """Write a site of the latest `limit` runs and all that refers to them; the number of pages."""
    before = _earlier_files(folder)
    pages = _page_makers(store, limit, replies)
    names = {path: _file_name(path) for path in pages}
    make_folder(folder)
    # Known before the first page is there: an export that is interrupted can be repeated.
    _write_marker(folder, before | {*names.values()})
    # The start page last: it leads to pages that are all there.
    for path in reversed(pages):
        _write_page(folder / names[path], pages[path], SitePages(names.get, NAVIGATION, path))
    for name in before - {*names.values()}:
        (folder / name).unlink(missing_ok=True)
    _write_marker(folder, {*names.values()})
    return len(pages)


def _page_makers(
    store: RunStore, limit: int | None, replies: JudgeReplies | None
) -> dict[str, Callable[[], Document]]:
    """What makes each page, by its path; the start page first."""
    # Each page is written once: nothing needs to be held for another look.
    documents = ResultDocuments(store, replies, most_bytes=0)
    runs = store.runs(limit=limit)
    suites = [name for name in dict.fromkeys(run.suite for run in runs) if is_followed(name)]
    pages: dict[str, Callable[[], Document]] = {
        "": lambda: home_document(store, documents.suite_findings, runs),
        "findings": documents.findings,
        "cost": lambda: documents.cost(limit),
    }
    for run in runs:
        pages[page_path("runs", run.id)] = partial(documents.run, run)
    for name in suites:
        pages[page_path("trends", name)] = partial(documents.trend, name)
        pages[page_path("findings", suite=name)] = partial(documents.findings, name)
        status = SuiteStatus(store, name, documents.suite_findings)
        if status.last.calibration is not None:
            path = page_path("calibrations", status.last.id)
            pages[path] = partial(documents.calibration, status.last.id)
        if status.last_two is not None:
            a, b = status.last_two
            pages[page_path("diff", a=a, b=b)] = partial(documents.difference, a, b)
    blind, scores = store.comparisons(limit=limit), store.score_comparisons(limit=limit)
    for name in (*(one.id for one in blind), *(one.id for one in scores)):
        pages[page_path("comparisons", name)] = partial(documents.comparison, name)
    return pages


def _write_page(file: Path, make: Callable[[], Document], site: SitePages) -> None:
    try:
        document = make()
    except StoreError:
        raise
    except JudgekitError as error:
        # Two runs that were not measured the same way, for one: the page says why.
        document = error_document(str(error))
    # With all cases in it a page can be large: it is written in parts.
    with atomic_writer(file) as written:
        parts = html_parts(document, site=site)
        written.writelines(part.encode("utf-8", "replace") for part in parts)


def _file_name(path: str) -> str:
    """The name of a page's file; different for different paths, also where case is ignored."""
    if not path:
        return _HOME
    words = re.sub(r"[^A-Za-z0-9.]+", "-", unquote_plus(path)).strip("-.")[:_LONGEST_NAME]
    # Other names may differ in what a file name cannot have, or only in case.
    mark = "" if _PLAIN.fullmatch(path) else f"-{fingerprint(path)[:_MARK_LENGTH]}"
    return f"{words}{mark}.html"


def _earlier_files(folder: Path) -> set[str]:
    """The files that an earlier export wrote into a folder; none where it is new or empty."""
    marker = folder / MARKER
    try:
        if not marker.exists():
            if folder.exists() and any(folder.iterdir()):
                raise SettingsError(
                    f"{folder} has files, and is no site that judgekit exported",
                    hint="name a new or empty folder",
                )
            return set()
        listed = json.loads(marker.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"cannot read {folder}: {error.strerror}") from error
    except ValueError:
        listed = None
    files = listed.get("files") if isinstance(listed, dict) else None
    if not isinstance(files, list) or not all(map(_is_page_name, files)):
        raise SettingsError(
            f"{marker} is not the list of an export", hint="name a new or empty folder"
        )
    return set(files)


def _is_page_name(name: object) -> bool:
    """Whether an export could have given a file this name: what is listed may be removed."""
    return isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9.-]+\.html", name) is not None


def _write_marker(folder: Path, files: set[str]) -> None:
    text = json.dumps({"format": _FORMAT, "files": sorted(files)}, indent=1)
    write_text_atomically(folder / MARKER, f"{text}\n")
