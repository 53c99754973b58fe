"""The files that a configuration of promptfoo names, all in its own folder; the tests in them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from judgekit.errors import DatasetError
from judgekit.formats.attachments import AttachmentError, FolderAttachments, safe_file_name
from judgekit.formats.foreign_file import NEEDS_SCRIPTS
from judgekit.formats.promptfoo_vocabulary import KNOWN_ASSERTIONS
from judgekit.formats.text import as_mapping, javascript_text, one_or_several
from judgekit.records import JsonObject

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.formats.text import KeyPath

MAX_CASES = 100_000
_STARS = re.compile(r"(?<=[^/])\*{2,}|\*{2,}(?=[^/])|\*{3,}")
FILE = "file://"
CODE_SUFFIXES = frozenset({".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".py", ".rb", ".go"})
"""promptfoo runs these files; a file of data must not run code here."""


def code_path(name: str) -> str | None:
    """The path of the file of code that a text names, as `file.py` or `file.py:function`."""
    path = name.removeprefix(FILE).split(":")[0]
    return path if Path(path).suffix.lower() in CODE_SUFFIXES else None


_Report = Callable[..., None]
# What calls a function of a file where scripts are allowed; it fails with a `DatasetError`.
_Caller = Callable[[JsonObject, JsonObject, Path], JsonValue]
code_caller: ContextVar[_Caller | None] = ContextVar("code_caller", default=None)

# Node.js from 22.18 on runs TypeScript as it is.
_JAVASCRIPT = (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts")
_LANGUAGES = {".py": "python", **dict.fromkeys(_JAVASCRIPT, "javascript")}


def code_call(
    value: JsonValue, *, language: str = "javascript", function: str | None = None
) -> JsonObject | None:
    """What is called for the code that a text is, or for the file of code that it names."""
    # `function` is called of a Python file where the text names none. None where nothing runs it.
    if not isinstance(value, str) or not value.strip() or language not in _LANGUAGES.values():
        return None
    if not value.startswith(FILE):
        # Code that a template fills in would let data become code.
        is_fixed = "{{" not in value and "{%" not in value
        return {"language": language, "code": value.rstrip()} if is_fixed else None
    path, _, named = value.removeprefix(FILE).partition(":")
    known = _LANGUAGES.get(Path(path).suffix.lower())
    if known is None:
        return None
    called = named or (function if known == "python" else None)
    call: JsonObject = {"language": known, "file": path}
    return call if called is None else {**call, "function": called}


@dataclass(frozen=True, slots=True)
class ConfigFiles:
    """Finds the files of a configuration; what is wrong with a name is an `AttachmentError`."""

    folder: Path

    def made(self, name: str, config: JsonValue, at: KeyPath, report: _Report) -> JsonValue:
        """What the function of a file of tests returns; none where it is not called, or fails."""
        remedy = "write out what it makes as YAML, JSONL or CSV"
        located = name if name.startswith(FILE) else FILE + name
        call, caller = code_call(located, function="generate_tests"), code_caller.get()
        if call is None:
            report(at, f"{name[:80]!r} is code in a language that is not run here", remedy)
        elif FILE in json.dumps(config):  # promptfoo would read that file first
            report(at, f"{name[:80]!r} is not called: its `config` names a file", remedy)
        elif caller is None:
            report(at, f"{name[:80]!r} is code, which {NEEDS_SCRIPTS}", f"read it, or {remedy}")
        else:
            try:
                made = caller(call, {} if config is None else {"config": config}, self.folder)
            except DatasetError as error:
                report(at, f"{name[:80]!r} makes no tests: {error.message}", remedy)
                return []
            if made == []:
                report(at, f"{name[:80]!r} makes no tests: it returned an empty list", remedy)
            return made
        return []

    def paths(self, name: str) -> list[Path]:
        pattern = name.removeprefix(FILE)
        if "://" in pattern:
            remedy = "name a file in the configuration's folder"
            raise AttachmentError(f"{name[:80]!r} is not a file here", remedy)
        if code_path(name) is not None:
            message = f"{name[:80]!r} is code, which is never run from a file of data"
            raise AttachmentError(message, "write out what it makes as YAML, JSONL or CSV")
        if "*" not in pattern:
            return [FolderAttachments(self.folder).locate(safe_file_name(pattern))]
        # Within a component promptfoo reads `**` as `*`; pathlib refuses it.
        safe = _STARS.sub("*", safe_file_name(pattern))
        # The folder may be relative to the working folder, and names are relative to it.
        folder = self.folder.absolute()
        found = islice(filter(Path.is_file, folder.glob(safe)), MAX_CASES)
        paths = sorted(FolderAttachments(folder).locate(str(path)) for path in found)
        if not paths:
            raise AttachmentError(f"no file matches {name[:80]!r}", "correct the pattern")
        return paths


# A variable that names another; promptfoo fills them in five times.
_OTHER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_MAX_NESTED = 5


def is_text_list(value: JsonValue) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, str) for v in value)


def value_lists(variables: JsonObject, test: JsonObject) -> dict[str, list[JsonValue]]:
    """The variables with several values, each combination of which makes a case."""
    # As in promptfoo the first value decides whether a list holds the values or is one.
    if as_mapping(test.get("options")).get("disableVarExpansion") is True:
        return {}
    return {n: v for n, v in variables.items() if isinstance(v, list) and is_text_list(v[:1])}


def resolved_variables(variables: JsonObject) -> JsonObject:
    """The variables with the values of others in the place of their names."""
    resolved = dict(variables)
    for _ in range(_MAX_NESTED):
        for name, value in resolved.items():
            found = _OTHER.search(value) if isinstance(value, str) else None
            other = None if found is None else resolved.get(found[1])
            if found is not None and isinstance(other, str | int | float):
                resolved[name] = str(value).replace(found[0], javascript_text(other), 1)
    return resolved


def merged_test(first: JsonObject, second: JsonObject) -> JsonObject:
    """A test over the default test: variables, metadata and options are merged by name."""
    merged: JsonObject = {**first, **second}
    for name in ("vars", "metadata", "options"):
        one, other = first.get(name), second.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            merged[name] = {**one, **other}
        elif name == "vars" and one and other:  # files of variables, which are read later
            merged[name] = [*one_or_several(one), *one_or_several(other)]
    one, other = first.get("assert"), second.get("assert")
    if isinstance(one, list) and isinstance(other, list):
        merged["assert"] = [*one, *other]
    return merged


_EXPECTED = re.compile(r"__expected\d*")
_CONFIG = re.compile(r"__config:__expected([1-9]\d*)?:threshold")
_METADATA = "__metadata:"
_LIST = "[]"
_COMMA = re.compile(r"(?<!\\),")

_ASSERTION = re.compile(
    r"(?P<type>(?:not-)?[a-z][a-z-]*)(?:\((?P<threshold>\d+(?:\.\d+)?)\))?(?::(?P<value>.*))?",
    re.DOTALL,
)

_SHORT = {"fn": "javascript", "eval": "javascript", "grade": "llm-rubric"}
_NUMBERS = frozenset({"latency", "cost", "levenshtein"})


def row_as_test(row: Mapping[str, JsonValue]) -> JsonObject:
    """A row of a table of tests; an empty cell of a column of settings says nothing."""
    cells: JsonObject = {
        name: cell
        for name, cell in row.items()
        if name.startswith("__") and cell is not None and str(cell).strip()
    }
    asserted = [assertion_of_text(str(cells.pop(n))) for n in [*cells] if _EXPECTED.fullmatch(n)]
    metric = _moved(cells, "metric")
    test = _moved(cells, "description", "threshold", "providerOutput")
    if "threshold" in test:
        test["threshold"] = _number(str(test["threshold"]))
    options = _moved(cells, "prefix", "suffix")
    metadata: JsonObject = {}
    for name, cell in cells.items():
        own = name.removeprefix(_METADATA)
        if config := _CONFIG.fullmatch(name):
            # The assertions are counted without empty cells.
            for one in asserted[int(config[1] or 1) - 1 :][:1]:
                one["threshold"] = _number(str(cell))
        elif own != name and name.endswith(_LIST):
            # `__metadata:tags[]` is a list.
            parts = [part.strip().replace(r"\,", ",") for part in _COMMA.split(str(cell))]
            metadata[own.removesuffix(_LIST)] = [*parts]
        else:
            metadata[own] = cell
    test |= {"options": options} if options else {}
    variables = {name: cell for name, cell in row.items() if not name.startswith("__")}
    listed: list[JsonValue] = [{**one, **metric} for one in asserted]
    return {**test, "vars": variables, "assert": listed, "metadata": metadata}


def _moved(cells: dict[str, JsonValue], *names: str) -> JsonObject:
    """The settings in columns such as `__description`, which are removed from the cells."""
    return {name: cells.pop(f"__{name}") for name in names if f"__{name}" in cells}


def assertion_of_text(text: str) -> JsonObject:
    """An assertion as it stands in a cell: `similar(0.8): Hello`, or a bare text."""
    match = _ASSERTION.fullmatch(text.strip())
    name = "" if match is None else match["type"]
    name = _SHORT.get(name, name)
    plain = name.removeprefix("not-")
    if match is None or plain not in KNOWN_ASSERTIONS:
        return {"type": "equals", "value": text}
    found: JsonObject = {"type": name}
    value = (match["value"] or "").strip()
    if match["threshold"] is not None:
        stated = float(match["threshold"])  # a distance is a whole number
        found["threshold"] = int(stated) if plain == "levenshtein" else stated
    if plain in _NUMBERS and match["threshold"] is None:
        found["threshold"] = _number(value)
    elif value:
        found["value"] = value
    return found


def _number(text: str) -> JsonValue:
    try:
        number = float(text)
    except ValueError:
        return text
    return number if abs(number) < float("inf") else text
