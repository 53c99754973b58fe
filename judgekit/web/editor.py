"""The editor of `judgekit view --edit`: cases, rubrics, suites and templates of one folder.

All in one folder, and of the types that judgekit reads. What is typed is checked by the functions
of `validate` and `lint`, changed by `edit_value`, and previewed by the judge of a run; a file is
written only by `save`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from shlex import quote
from stat import S_IMODE
from threading import Lock
from typing import TYPE_CHECKING, Annotated, TypeVar, cast

from pydantic import Field, JsonValue, ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from judgekit import formats, report
from judgekit.assertions import PROFILES
from judgekit.atomic_write import atomic_writer
from judgekit.datasets import SKIPPED_FOLDERS
from judgekit.errors import DatasetError, JudgekitError
from judgekit.records import JsonObject, Record
from judgekit.report import numbers
from judgekit.web.preview import TrialSettings, preview_or_try
from judgekit.web.replies import ViewContext, page_reply, write_route

if TYPE_CHECKING:
    from starlette.requests import Request

    from judgekit.models.cache import CacheLocation


# Files with other suffixes are not opened, whatever they hold.
SUFFIXES = (".yaml", ".yml", ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".j2")
# In bytes: typing in a larger file would be slow in a browser, and so would be checking it.
LARGEST_FILE = 2 * 1024 * 1024
_LARGER = f"larger than {numbers.format_file_size(LARGEST_FILE)}"
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """What `judgekit validate` and `judgekit lint` report of a file."""

    kind: str  # its type, as `validate` calls it
    # Each with `path`, `line`, `severity`, `message`, `remedy` and `rule`
    problems: tuple[JsonObject, ...] = ()
    is_listed: bool = True  # whether it is a file of judgekit's
    is_recorded: bool = False  # replies or results, which are evidence that nobody edits

    def count(self, severity: str) -> int:
        return sum(problem["severity"] == severity for problem in self.problems)

    @property
    def tone(self) -> report.Tone:
        """How its problems are coloured."""
        return "fail" if self.count("error") else "inconclusive" if self.problems else "pass"

    @property
    def summary(self) -> str:
        """How many problems there are: `2 errors, 1 warning`."""
        counts = [(self.count(severity), severity) for severity in ("error", "warning")]
        parts = [numbers.format_count(n, severity) for n, severity in counts if n]
        return ", ".join(parts) or "no problems found"


CheckFile = Callable[[Path], CheckedFile]


@dataclass(frozen=True, slots=True)
class FileContent:
    """A file as it is on disk."""

    text: str  # with line feeds alone at line ends, which is what a browser gives back
    version: str  # its fingerprint, by which a change on disk is noticed
    line_end: str
    has_bom: bool

    def encode(self, text: str) -> bytes:
        """Another text with the line ends and the mark of this file."""
        return (_BOM if self.has_bom else b"") + text.replace("\n", self.line_end).encode()


@dataclass(frozen=True)
class EditFolder:
    """A folder whose files may be edited; nothing outside of it can be named."""

    folder: Path  # without links, so that a path shows what is in it
    check_file: CheckFile
    _saving: Lock = field(default_factory=Lock)

    def path_of(self, name: str) -> Path:
        """The file of a name relative to the folder; 403 for what may not be opened."""
        parts = name.split("/")
        if any(part in {"", "..", "."} or part.startswith(".") or "\0" in part for part in parts):
            raise HTTPException(
                403, "hidden files and paths outside of the folder cannot be opened"
            )
        if Path(name).suffix.lower() not in SUFFIXES or "\\" in name:
            raise HTTPException(403, f"only files that end in {', '.join(SUFFIXES)} can be opened")
        # A link may lead out of the folder, or to a file with another suffix.
        path = (self.folder / name).resolve()
        inside = path.relative_to(self.folder) if path.is_relative_to(self.folder) else None
        is_hidden = inside is not None and any(part.startswith(".") for part in inside.parts)
        if inside is None or is_hidden or path.suffix.lower() not in SUFFIXES:
            raise HTTPException(
                403,
                f"{name} is a link to a file that cannot be opened\n"
                "It leads out of the folder, to a hidden file, or to one of another type.",
            )
        if not path.exists():
            raise HTTPException(404, f"there is no file {name} in the folder")
        if not path.is_file():
            raise HTTPException(403, f"{name} is a folder, not a file")
        return path

    def listing(self) -> Iterator[tuple[str, CheckedFile]]:
        """The files of judgekit's in the folder, each with what is wrong with it."""
        for name in sorted(self._names()):
            with suppress(HTTPException):  # may not be opened
                is_large = self.path_of(name).stat().st_size > LARGEST_FILE
                checked = CheckedFile(_LARGER) if is_large else self.check(name)
                if checked.is_listed:
                    yield name, checked

    def check(self, name: str, text: str | None = None) -> CheckedFile:
        """The problems of a file, or of a text in its place; other files are read from disk."""
        path = self.path_of(name)
        with nullcontext() if text is None else formats.text_in_place(path, text):
            return self._with_names(self.check_file(path))

    def read(self, name: str) -> FileContent:
        path = self.path_of(name)
        with formats.open_file(path) as stream:
            raw = stream.read(LARGEST_FILE + 1)
        if len(raw) > LARGEST_FILE:
            raise HTTPException(413, f"{name} is {_LARGER}: edit it in another editor")
        text = formats.decode_utf8(raw, path=Path(name))
        unix = text.replace("\r\n", "\n")
        line_end = "\r\n" if "\r\n" in text else "\n"
        # A browser would replace all of them, and the whole file would be a change.
        if "\r" in unix or unix.replace("\n", line_end) != text:
            raise DatasetError("the file has several kinds of line ends", path=Path(name))
        return FileContent(unix, sha256(raw).hexdigest(), line_end, raw.startswith(_BOM))

    def save(self, name: str, text: str, version: str, *, allow_errors: bool = False) -> None:
        """Write a file; a `ChangedOnDiskError` where it is not of the version that was edited."""
        checked = self.check(name, text)
        # By what it is on disk: the text that was typed may look like anything.
        if self.check(name).is_recorded:
            raise HTTPException(403, f"{name} holds recorded evidence and is not edited")
        if checked.count("error") and not allow_errors:
            raise HTTPException(422, f"not saved: {checked.summary}")
        path = self.path_of(name)
        with self._saving:
            found = self._of_version(name, version)
            with atomic_writer(path) as file:
                file.write(found.encode(text))
                os.chmod(file.name, S_IMODE(path.stat().st_mode))  # noqa: PTH101 - by its name
                # Again at the last moment: another program may have written meanwhile.
                self._of_version(name, version)

    def _of_version(self, name: str, version: str) -> FileContent:
        found = self.read(name)
        if found.version != version:
            raise ChangedOnDiskError(found)
        return found

    def _names(self) -> Iterator[str]:
        for place, folders, files in os.walk(self.folder):
            folders[:] = [one for one in folders if one[0] != "." and one not in SKIPPED_FOLDERS]
            for file in files:
                yield (Path(place) / file).relative_to(self.folder).as_posix()

    def _with_names(self, checked: CheckedFile) -> CheckedFile:
        """The problems with names in the place of paths: no page shows where the folder is."""
        problems: list[JsonObject] = []
        for problem in checked.problems:
            texts = {key: one for key, one in problem.items() if isinstance(one, str)}
            shown = {key: self.without_folder(text) for key, text in texts.items()}
            # A suite may name a file outside of the folder.
            if (path := Path(shown.get("path", ""))).is_absolute():
                shown["path"] = path.name
            problems.append({**problem, **shown})
        return replace(checked, problems=tuple(problems))

    def without_folder(self, words: str) -> str:
        """A message without the path of the folder."""
        return words.replace(f"{self.folder}{os.sep}", "").replace(str(self.folder), ".")


class ChangedOnDiskError(Exception):
    """The file on disk is not the one that was edited."""

    def __init__(self, found: FileContent) -> None:
        super().__init__()
        self.found = found


class _Named(Record):
    path: str  # its name, relative to the folder


class _Typed(_Named):
    """A request about a file as it was typed; each route reads the fields that it needs."""

    text: Annotated[str, Field(max_length=2 * LARGEST_FILE)]

    # A change of one value
    kind: formats.EditKind = "set"
    where: tuple[int | str, ...] = ()
    value: JsonValue = None

    # A file to be written, in the place of this version
    version: str = ""
    allow_errors: bool = False

    # A preview of prompts, and with the key of the calls whose price was shown a trial
    suite: str = ""
    settings: TrialSettings = TrialSettings()
    calls_key: str | None = None


_N = TypeVar("_N", bound=_Named)


@dataclass(frozen=True)
class Editor:
    """The routes of the editor, over one folder."""

    folder: EditFolder
    write_token: str | None
    cache: CacheLocation

    def home(self, _: Request) -> Response:
        """The files of the folder with what is wrong with each."""
        files = dict(self.folder.listing())
        n_errors = sum(checked.count("error") for checked in files.values())
        words = numbers.format_count(n_errors, "error") if n_errors else "no errors"
        text = f"{numbers.format_count(len(files), 'file')}: {words}"
        conclusion = report.Conclusion(text, "fail" if n_errors else "pass")
        if not files:
            text = "No file of this folder is one of judgekit's. `judgekit init` makes a suite."
            conclusion = report.Conclusion(text)
        rows: list[dict[str, str | report.Cell]] = [
            {
                "file": report.Cell(name, link=report.page_path("edit", name)),
                "type": checked.kind,
                "problems": report.Cell(checked.summary, checked.tone),
            }
            for name, checked in files.items()
        ]
        suites = [name for name, checked in files.items() if checked.kind == "suite"]
        notes = [f"To run {name}: {self._command(name)}" for name in suites]
        notes.append("Changes are checked while you type; nothing is written before you save.")
        title = f"Editor: {self.folder.folder.name}"
        document = report.Document(
            title,
            conclusion,
            report.not_empty((report.listing_table(rows), report.Notes(tuple(notes)))),
            dict,
        )
        return page_reply(document, here="edit", write_token=self.write_token)

    def page(self, request: Request) -> Response:
        """A file with what is wrong with it; the script makes an editor of it."""
        name = request.path_params["name"]
        content, checked = self.folder.read(name), self.folder.check(name)
        lines = tuple(
            f"{one['path']}:{one['line'] or ''} {one['severity']}: {one['message']}"
            for one in checked.problems
        )
        conclusion = report.Conclusion(f"{checked.kind}: {checked.summary}", checked.tone)
        blocks = report.not_empty(
            (report.Notes(lines, "Problems"), report.Passage(content.text, "Text"))
        )
        document = report.Document(f"Edit {name}", conclusion, blocks, dict)
        return page_reply(document, here=f"edit/{name}", write_token=self.write_token)

    def list_files(self, _: Request, __: dict[str, object]) -> object:
        return {
            "folder": self.folder.folder.name,
            "files": [
                {
                    "path": name,
                    "kind": checked.kind,
                    "n_errors": checked.count("error"),
                    "n_warnings": checked.count("warning"),
                    "command": self._command(name) if checked.kind == "suite" else None,
                }
                for name, checked in self.folder.listing()
            ],
        }

    def open(self, posted: _Named) -> object:
        content = self.folder.read(posted.path)
        return self._state(posted.path, content.text) | {
            "text": content.text,
            "version": content.version,
            "profiles": _PROFILES,
            "aliases": dict(formats.CASE_ALIASES),
        }  # fmt: skip

    def check(self, posted: _Typed) -> object:
        return self._state(posted.path, posted.text)

    def change(self, posted: _Typed) -> object:
        path = self.folder.path_of(posted.path)
        text = formats.edit_value(posted.text, path, posted.kind, posted.where, posted.value)
        return {"text": text} | self._state(posted.path, text)

    def save(self, posted: _Typed) -> object:
        name, allow_errors = posted.path, posted.allow_errors
        try:
            self.folder.save(name, posted.text, posted.version, allow_errors=allow_errors)
        except ChangedOnDiskError as error:
            words = "The file changed on disk after you opened it, so it was not overwritten."
            disk = {"text": error.found.text, "version": error.found.version}
            return JSONResponse({"error": words, **disk}, 409)
        return {"version": self.folder.read(name).version}

    def preview(self, posted: _Typed) -> object:
        suite, path = self.folder.path_of(posted.suite), self.folder.path_of(posted.path)
        # Messages name files by their paths, which no page shows.
        shown = self.folder.without_folder
        with formats.text_in_place(path, posted.text) as typed:
            try:
                reply = asyncio.run(
                    preview_or_try(suite, posted.settings, posted.calls_key, cache=self.cache)
                )
            except JudgekitError as error:
                # As usual as an invalid suite is while one is typed: no failure of the request.
                return {"error": shown(str(error))}
        notes = [shown(str(note)) for note in cast("list[JsonValue]", reply["notes"])]
        if not typed.is_read:
            unused = f"{posted.suite} does not use {posted.path}: changes of it do not show."
            notes.insert(0, unused)
        return {**reply, "notes": [*notes]}

    def _command(self, name: str) -> str:
        """The command that runs a suite; there is no such button, for a run may be long."""
        path, here = self.folder.path_of(name), Path.cwd().resolve()
        from_here = path.relative_to(here).as_posix() if path.is_relative_to(here) else name
        return (
            "judgekit run" if from_here == "judgekit.yaml" else f"judgekit run {quote(from_here)}"
        )

    def _state(self, name: str, text: str) -> JsonObject:
        """What a text is in the place of a file: its type, problems and data."""
        checked, path = self.folder.check(name, text), self.folder.path_of(name)
        return {
            "kind": checked.kind,
            "is_recorded": checked.is_recorded,
            "problems": list(checked.problems),
            "summary": checked.summary,
            **_form(checked, path, text),
        }


def editor_routes(
    context: ViewContext, check_file: CheckFile, *, cache: CacheLocation
) -> list[BaseRoute]:
    """The routes of the editor of a folder; `check_file` is what `judgekit validate` does."""
    folder = EditFolder((context.edit_folder or Path()).resolve(), check_file)
    editor = Editor(folder, context.write_token, cache)
    return [
        Route("/edit", editor.home),
        Route("/edit/{name:path}", editor.page),
        write_route("/api/edit/files", editor.list_files),
        _posting("open", _Named, editor.open),
        _posting("check", _Typed, editor.check),
        _posting("change", _Typed, editor.change),
        _posting("save", _Typed, editor.save),
        _posting("preview", _Typed, editor.preview),
    ]


def _posting(name: str, model: type[_N], answer: Callable[[_N], object]) -> Route:
    def read(_: Request, posted: dict[str, object]) -> object:
        try:
            typed = model.model_validate(posted)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            words = f"the request is not valid: {where}: {first['msg']}"
            raise HTTPException(400, words) from error
        return answer(typed)

    return write_route(f"/api/edit/{name}", read)


def _form(checked: CheckedFile, path: Path, text: str) -> JsonObject:
    """The data of a text for the forms, and where its cases are; without them for other files."""
    nothing: JsonObject = {"form": None, "data": None, "cases_at": None, "lines": []}
    suffix = path.suffix.lower()
    if checked.kind not in {"cases", "suite", "rubric"} or suffix not in (
        *formats.LINE_SUFFIXES,
        *formats.DOCUMENT_SUFFIXES,
    ):
        return nothing
    try:
        if suffix in formats.LINE_SUFFIXES:
            lines = [number + 1 for number in formats.row_lines(text)]
            rows = [row for row in text.split("\n") if row.strip()]
            data = [formats.parse_strict_json(row, path=path)[0] for row in rows]
            return {"form": checked.kind, "data": data, "cases_at": [], "lines": [*lines]}
        document = formats.parse_document(text, path)
    except DatasetError:
        return nothing  # it is among the problems
    whole = document.value
    inner = whole.get("cases") if isinstance(whole, dict) else whole
    at = ("cases",) if isinstance(whole, dict) else ()
    cases = inner if isinstance(inner, list) else []
    lines = [document.line_of(*at, place) for place in range(len(cases))]
    cases_at = [*at] if isinstance(inner, list) else None
    return {"form": checked.kind, "data": whole, "cases_at": cases_at, "lines": [*lines]}


_PROFILES: list[JsonValue] = [
    {
        "name": name,
        "strategies": ", ".join(profile.strategies),
        "threshold": "right or wrong" if profile.threshold is None else f"{profile.threshold:g}",
        "rubric": profile.rubric,
    }
    for name, profile in PROFILES.items()
]
"""What each profile sets, for those who choose one."""
