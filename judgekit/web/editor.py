"""The editor of `judgekit view --edit`: cases, rubrics, suites and templates of one folder.

What is typed is checked by the functions of `validate` and `lint`, changed by `edit_value`, and
previewed by the judge of a run; a file is written only by `save`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar, cast

from pydantic import Field, JsonValue, ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from judgekit.assertions import PROFILES
from judgekit.errors import DatasetError, JudgekitError
from judgekit.formats import (
    CASE_ALIASES,
    EditKind,
    edit_value,
    parse_document,
    parse_strict_json,
    row_lines,
    text_in_place,
)
from judgekit.records import JsonObject, Record
from judgekit.report import Column, Conclusion, Document, Notes, Passage, Table, numbers
from judgekit.web.edit_files import LARGEST_FILE, EditFolder
from judgekit.web.preview import TrialSettings, preview_prompts, try_judge
from judgekit.web.replies import page_reply, write_route

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from judgekit.web.context import ViewContext
    from judgekit.web.edit_files import CheckedFile, CheckFile

_R = TypeVar("_R", bound=Record)
_ROWS = (".jsonl", ".ndjson")
_DOCUMENTS = (".yaml", ".yml", ".json")


class _Named(Record):
    """A request about a file."""

    path: str  # its name, relative to the folder


class _Typed(_Named):
    """A request about a file as it was typed; each route reads the fields that it needs."""

    text: Annotated[str, Field(max_length=2 * LARGEST_FILE)]

    # A change of one value
    kind: EditKind = "set"
    where: tuple[int | str, ...] = ()
    value: JsonValue = None

    # A file to be written, in the place of this version
    version: str = ""
    allow_errors: bool = False

    # A preview of prompts, and with the key of the calls whose price was shown a trial
    suite: str = ""
    settings: TrialSettings = TrialSettings()
    calls_key: str | None = None


@dataclass(frozen=True)
class Editor:
    """The routes of the editor, over one folder."""

    folder: EditFolder
    write_token: str | None
    cache: Path

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/edit", self.home),
            Route("/edit/{name:path}", self.page),
            write_route("/api/edit/files", self._files),
            write_route("/api/edit/open", self._open),
            write_route("/api/edit/check", self._check),
            write_route("/api/edit/change", self._change),
            write_route("/api/edit/save", self._save),
            write_route("/api/edit/preview", self._preview),
        ]

    def home(self, _: Request) -> Response:
        """The files of the folder with what is wrong with each."""
        files = list(self.folder.listing())
        columns = (Column("file", "id"), Column("type", "text"), Column("problems", "text"))
        rows = tuple((name, checked.kind, checked.summary) for name, checked in files)
        n_errors = sum(checked.count("error") for _, checked in files)
        count = numbers.format_count(len(files), "file")
        words = numbers.format_count(n_errors, "error") if n_errors else "no errors"
        conclusion = Conclusion(f"{count}: {words}", "fail" if n_errors else "pass")
        title = f"Editor: {self.folder.folder.name}"
        document = Document(title, conclusion, (Table(columns, rows),), dict)
        return page_reply(document, here="edit", write_token=self.write_token)

    def page(self, request: Request) -> Response:
        """A file with what is wrong with it; the script makes an editor of it."""
        name = request.path_params["name"]
        content, checked = self.folder.read(name), self.folder.check(name)
        lines = tuple(
            f"{one['path']}:{one['line'] or ''} {one['severity']}: {one['message']}"
            for one in checked.problems
        )
        tone: Literal["fail", "pass"] = "fail" if checked.count("error") else "pass"
        conclusion = Conclusion(f"{checked.kind}: {checked.summary}", tone)
        blocks = (Notes(lines, "Problems"), Passage(content.text, "Text"))
        document = Document(name, conclusion, blocks if lines else blocks[1:], dict)
        return page_reply(document, here=f"edit/{name}", write_token=self.write_token)

    def _files(self, _: Request, __: dict[str, object]) -> object:
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

    def _open(self, _: Request, posted: dict[str, object]) -> object:
        name = _read(_Named, posted).path
        content = self.folder.read(name)
        return self._state(name, content.text) | {
            "text": content.text,
            "version": content.version,
            "profiles": _PROFILES,
            "aliases": dict(CASE_ALIASES),
        }  # fmt: skip

    def _check(self, _: Request, posted: dict[str, object]) -> object:
        typed = _read(_Typed, posted)
        return self._state(typed.path, typed.text)

    def _change(self, _: Request, posted: dict[str, object]) -> object:
        change = _read(_Typed, posted)
        path = self.folder.path_of(change.path)
        text = edit_value(change.text, path, change.kind, change.where, change.value)
        return {"text": text} | self._state(change.path, text)

    def _save(self, _: Request, posted: dict[str, object]) -> object:
        saved = _read(_Typed, posted)
        disk = self.folder.save(
            saved.path, saved.text, saved.version, allow_errors=saved.allow_errors
        )
        if disk is None:
            return {"version": self.folder.read(saved.path).version}
        message = "the file was changed on disk after you opened it; it is not overwritten"
        return JSONResponse({"error": message, "text": disk.text, "version": disk.version}, 409)

    def _preview(self, _: Request, posted: dict[str, object]) -> object:
        wanted = _read(_Typed, posted)
        suite, path = self.folder.path_of(wanted.suite), self.folder.path_of(wanted.path)
        # Messages name files by their paths, which no page shows.
        shown, key = self.folder.without_folder, wanted.calls_key
        with text_in_place(path, wanted.text) as typed:
            try:
                reply = asyncio.run(
                    preview_prompts(suite, wanted.settings, cache=self.cache)
                    if key is None
                    else try_judge(suite, wanted.settings, key, cache=self.cache)
                )
            except JudgekitError as error:
                # As usual as an invalid suite is while one is typed: no failure of the request.
                return {"error": shown(str(error))}
        notes = [shown(str(note)) for note in cast("list[JsonValue]", reply["notes"])]
        if not typed.is_read:
            notes.insert(
                0, f"{wanted.suite} does not use {wanted.path}: changes of it do not show."
            )
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


def editor_routes(context: ViewContext, check_file: CheckFile, *, cache: Path) -> list[BaseRoute]:
    """The routes of the editor of a folder; `check_file` is what `judgekit validate` does."""
    folder = EditFolder(context.edit_folder or Path(), check_file)
    return Editor(folder, context.write_token, cache).routes()


def _read(model: type[_R], posted: Mapping[str, object]) -> _R:
    try:
        return model.model_validate(posted)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise HTTPException(400, f"the request is not valid: {where}: {first['msg']}") from error


def _form(checked: CheckedFile, path: Path, text: str) -> JsonObject:
    """The data of a text for the forms, and where its cases are; without them for other files."""
    nothing: JsonObject = {"form": None, "data": None, "cases_at": None, "lines": []}
    suffix = path.suffix.lower()
    if checked.kind not in {"cases", "suite", "rubric"} or suffix not in (*_ROWS, *_DOCUMENTS):
        return nothing
    try:
        if suffix in _ROWS:
            lines = [number + 1 for number in row_lines(text)]
            rows = [row for row in text.split("\n") if row.strip()]
            data = [parse_strict_json(row, path=path)[0] for row in rows]
            return {"form": checked.kind, "data": data, "cases_at": [], "lines": [*lines]}
        document = parse_document(text, path)
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
