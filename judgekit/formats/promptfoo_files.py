"""The files that a configuration of promptfoo names, all of them in its own folder."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.formats.attachments import AttachmentError, FolderAttachments, safe_file_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import JsonValue

    from judgekit.formats.text import KeyPath
    from judgekit.records import JsonObject

MAX_CASES = 100_000
FILE = "file://"
CODE_SUFFIXES = frozenset({".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".py", ".rb", ".go"})
"""promptfoo runs these files; a file of data must not run code here."""


def code_path(name: str) -> str | None:
    """The path of the file of code that a text names, as `file.py` or `file.py:function`."""
    path = name.removeprefix(FILE).split(":")[0]
    return path if Path(path).suffix.lower() in CODE_SUFFIXES else None


_LANGUAGES = {".py": "python", ".js": "javascript", ".cjs": "javascript", ".mjs": "javascript"}


def code_call(
    value: JsonValue, *, language: str = "javascript", function: str | None = None
) -> JsonObject | None:
    """What is called for the code that a text is, or for the file of code that it names.

    `function` is called of a Python file where the text names none. None where nothing runs it.
    """
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
    """Finds the files of a configuration; what is wrong with a name is reported."""

    folder: Path

    def paths(self, name: str, at: KeyPath, report: Callable[..., None]) -> list[Path]:
        """The file of a name, or the files that a pattern matches."""
        pattern = name.removeprefix(FILE)
        if "://" in pattern:
            message = f"{name[:80]!r} is not a file here"
            report(at, message, "name a file in the configuration's folder")
            return []
        if code_path(name) is not None:
            message = f"{name[:80]!r} is code, which is never run from a file of data"
            report(at, message, "write out what it makes as YAML, JSONL or CSV")
            return []
        try:
            if "*" not in pattern:
                return [FolderAttachments(self.folder).locate(safe_file_name(pattern))]
            safe = safe_file_name(pattern)
            # The folder may be relative to the working folder, and names are relative to it.
            folder = self.folder.absolute()
            found = islice(filter(Path.is_file, folder.glob(safe)), MAX_CASES)
            paths = sorted(FolderAttachments(folder).locate(str(path)) for path in found)
        except AttachmentError as error:
            report(at, str(error), error.remedy)
            return []
        if not paths:
            report(at, f"no file matches {name[:80]!r}", "correct the pattern")
        return paths
