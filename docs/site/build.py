# ruff: noqa: INP001 - a folder of documents, no package
"""Builds the documentation site: `python docs/site/build.py [FOLDER]`, by default `build/site`.

Pages are plain Markdown that reads well on GitHub; notebooks are executed. Pages are copied with
the project's own files beside them, with what Python-Markdown reads differently from GitHub
rewritten, and with the navigation of `zensical.yml` written out. Then Zensical builds them; a
broken link is an error.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import posixpath
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, cast

import yaml

SITE = Path(__file__).resolve().parent
DOCS = SITE.parent
ROOT = DOCS.parent

PROJECT_FILES = {
    "SECURITY.md": "project/security.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "calibration/README.md": "project/calibration_data.md",
    "calibration/demo/README.md": "project/demo_data.md",
}
"""Files outside `docs/` that are pages of the site, and where."""

STANDS_FOR = {**PROJECT_FILES, "README.md": "index.md"}
"""The page that a link to a file outside `docs/` leads to."""

_COPIED = {".ipynb", ".png", ".svg"}
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)")
_CODE = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
_ITEM = r"(?:[-*]|\d+\.) "
_TIGHT_LIST = re.compile(rf"^((?! *{_ITEM}| *\||#)\S.*\n)(?={_ITEM})", re.MULTILINE)


def stage(place: Path) -> None:
    """Copy what the site is made of into an empty folder."""
    pages = {path.relative_to(DOCS).as_posix(): path for path in DOCS.rglob("*.md")}
    pages |= {page: ROOT / source for source, page in PROJECT_FILES.items()}
    for name, path in pages.items():
        target = place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        source = path.relative_to(ROOT).as_posix()
        text = page_text(path.read_text(encoding="utf-8"), source=source, page=name)
        target.write_text(text, encoding="utf-8")
    for path in DOCS.rglob("*.ipynb"):
        _stage_notebook(path, place / path.relative_to(DOCS).with_suffix(".md"))
    for path in [*DOCS.rglob("*"), *(SITE / "assets").iterdir()]:
        if path.suffix in _COPIED or path.parent == SITE / "assets":
            target = place / path.relative_to(SITE if SITE in path.parents else DOCS)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


def _stage_notebook(path: Path, target: Path) -> None:
    source = path.relative_to(ROOT).as_posix()
    name = path.relative_to(DOCS).with_suffix(".md").as_posix()
    make_page = runpy.run_path(str(SITE / "notebook.py"))["page"]
    # Its cells write files.
    rewrite = partial(page_text, source=source, page=name)
    # In a thread of its own: the builder may be called where an event loop is running.
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        ThreadPoolExecutor(1) as thread,
    ):
        text = thread.submit(make_page, path, rewrite).result()
    target.write_text(text, encoding="utf-8")


def page_text(text: str, *, source: str, page: str) -> str:
    """A page with its links as the site needs them, and a blank line before each list."""
    parts = _CODE.split(text)
    # Every second part is a block of code.
    for n in range(0, len(parts), 2):
        parts[n] = _LINK.sub(lambda link: _site_link(link, source, page), parts[n])
        # A list right after a line of text is part of its paragraph for Python-Markdown.
        parts[n] = _TIGHT_LIST.sub(r"\1\n", parts[n])
    return "".join(parts)


def _site_link(link: re.Match[str], source: str, page: str) -> str:
    mark, words, target, anchor = link.groups(default="")
    name = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    if not (ROOT / name).exists():
        raise SystemExit(f"{source}: the link to {target} leads nowhere")
    found = STANDS_FOR.get(name) or name.removeprefix("docs/")
    if found == name:
        # A file of the repository that is no page: its name has to do.
        return words
    return f"{mark}[{words}]({os.path.relpath(found, posixpath.dirname(page) or '.')}{anchor})"


def write_navigation(entries: list[Any], pages: list[str], order: list[str]) -> list[Any]:
    """The navigation with the pages of each pattern; a section without pages is left out."""
    named = set(_named(entries))
    places = {stem: place for place, stem in enumerate(order)}

    def matching(pattern: str) -> list[str]:
        found = [
            page
            for page in pages
            if page not in named
            and page.count("/") == pattern.count("/")
            and fnmatch.fnmatch(page, pattern)
        ]
        return sorted(found, key=lambda page: (places.get(Path(page).stem, len(places)), page))

    def expand(entry: Any) -> list[Any]:
        if isinstance(entry, str):
            return [*matching(entry)] if "*" in entry else [entry]
        [(title, inside)] = entry.items()
        if isinstance(inside, str) and "*" not in inside:
            return [entry]
        parts = inside if isinstance(inside, list) else [inside]
        below = [one for part in parts for one in expand(part)]
        return [{title: below}] if below else []

    return [one for entry in entries for one in expand(entry)]


def _named(entry: Any) -> list[str]:
    """The pages that the navigation names itself."""
    if isinstance(entry, str):
        return [] if "*" in entry else [entry]
    parts = entry.values() if isinstance(entry, dict) else entry
    return [name for part in parts for name in _named(part)]


def build(folder: Path, *, staged: Path) -> int:
    """Build the site; the exit code of the builder."""
    for place in (staged, folder):
        shutil.rmtree(place, ignore_errors=True)
    stage(staged / "pages")
    settings = cast("dict[str, Any]", yaml.safe_load((SITE / "zensical.yml").read_text("utf-8")))
    order = settings["extra"].pop("page_order")
    pages = [path.relative_to(staged / "pages").as_posix() for path in staged.rglob("*.md")]
    settings["nav"] = write_navigation(settings["nav"], pages, order)
    # Zensical wants both folders below that of its settings.
    settings |= {"docs_dir": "pages", "site_dir": "site"}
    path = staged / "zensical.yml"
    path.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    code = subprocess.run([*command, "--config-file", path], check=False, cwd=staged).returncode  # noqa: S603 - our own command
    if code == 0:
        shutil.move(staged / "site", folder)
    return code


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"
    sys.exit(build(chosen.resolve(), staged=chosen.resolve().with_name("pages_of_site")))
