"""Makes a suite of another tool's file: its cases with its settings, setup and groups."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from judgekit.datasets.faults import explain
from judgekit.datasets.foreign.attachments import FolderAttachments
from judgekit.datasets.foreign.skill_archive import attachments_of
from judgekit.datasets.foreign.skill_tests import read_whole
from judgekit.datasets.suite import Suite
from judgekit.datasets.texts import is_folder
from judgekit.errors import SettingsError

if TYPE_CHECKING:
    from pydantic import JsonValue

    from judgekit.datasets.documents import Document
    from judgekit.datasets.foreign.skill_tests_format import Profile, SkillSettings, SkillTests
    from judgekit.records.record import JsonObject

_RUNNERS = {".py": "python", ".js": "node", ".mjs": "node", ".cjs": "node", ".sh": "sh"}


@dataclass(frozen=True, slots=True)
class ForeignSuite:
    """A suite made of a skill's tests, and what a suite has no place for."""

    suite: Suite
    """Cases, settings and groups; without judges and variants, which the file does not name."""

    profile: Profile
    """The kind of skill, which decides what its tests leave open."""

    dependencies: tuple[str, ...]
    """What must be installed before it is run."""

    whole: JsonObject
    """The file as it stands, of version 1 converted to 2, its tests left out."""


def foreign_suite(document: Document) -> ForeignSuite:
    """The suite of an `eval/tests.json`."""
    reading, head = read_whole(document)
    dataset = reading.dataset()
    if head is None:  # pragma: no cover - then there was an error
        raise AssertionError
    place, _ = attachments_of(document.path)
    fields: JsonObject = {
        "name": dataset.name,
        "version": head.version,
        "profile": head.profile,
        "settings": _settings(head, document, is_folder=isinstance(place, FolderAttachments)),
        "suites": [
            {
                "name": group.name,
                "case_ids": [*group.test_ids],
                "in_sequence": bool(group.run_in_sequence),
            }
            for group in head.suites
        ],
    }
    try:
        suite = Suite.model_validate({**fields, "cases": dataset.cases})
    except ValidationError as error:
        fault = explain(error, Suite, fields)[0]
        raise SettingsError(f"{document.path}: {fault.message}", hint=fault.remedy) from error
    beside = next(folder for folder in document.path.parents if is_folder(folder))  # of a zip
    folder = place.root if isinstance(place, FolderAttachments) else beside
    whole = head.as_given()
    whole.pop("testCases", None)
    setup = head.setup
    return ForeignSuite(
        suite=suite.in_folder(folder),
        profile=head.profile,
        dependencies=() if setup is None else setup.dependencies or (),
        whole=whole,
    )


def _settings(head: SkillTests, document: Document, *, is_folder: bool) -> JsonObject:
    given = head.settings
    found: JsonObject = {
        "fail_fast": bool(given.fail_fast),
        "retry_failed": 1 if given.retry_failed else 0,
    }
    if given.default_timeout is not None:
        found["timeout_s"] = given.default_timeout / 1000
    found |= _concurrency(given)
    if head.setup is not None and head.setup.environment:
        found["environment"] = {**head.setup.environment}
    scripts = {
        "setup": None if head.setup is None else head.setup.script,
        "teardown": None if head.teardown is None else head.teardown.script,
    }
    for name, script in scripts.items():
        if script is not None:
            found[name] = _command(name, script, document, is_folder=is_folder)
    return found


def _concurrency(given: SkillSettings) -> JsonObject:
    if given.parallel_execution is False:
        return {"in_sequence": True}
    limit = given.max_concurrent_tests
    return {} if limit is None else {"max_concurrency": limit}


def _command(name: str, script: str, document: Document, *, is_folder: bool) -> list[JsonValue]:
    where = f"{document.path}:{document.line_of(name, 'script')}"
    if not is_folder:
        raise SettingsError(
            f"{where}: the script {script!r} lies in a zip, from which nothing is run",
            hint="unpack the zip and name the folder",
        )
    parts = script.replace("\\", "/").split("/")
    if script.startswith("/") or ".." in parts:
        raise SettingsError(
            f"{where}: the script {script!r} lies outside of the skill's folder",
            hint="name a script by its path in the skill's folder",
        )
    runner = _RUNNERS.get(Path(script).suffix.lower())
    if runner is None:
        known = ", ".join(_RUNNERS)
        raise SettingsError(
            f"{where}: nothing runs the script {script!r}", hint=f"its name must end in {known}"
        )
    return [runner, script]
