"""Which suites a path on the command line stands for, and the variant given beside it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from judgekit.cli.setup import SUITE_FILE
from judgekit.datasets.discovery import discover_datasets, discover_suites
from judgekit.datasets.loading import load_suite
from judgekit.datasets.output_rows import iter_output_rows
from judgekit.datasets.suite_settings import HttpTarget, VariantSettings
from judgekit.errors import InputError, SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from judgekit.cli.setup import Options
    from judgekit.datasets.suite import Suite

TARGETS = {
    "given_outputs": "--outputs",
    "given_command": "--target-command",
    "given_python": "--target-python",
    "given_http": "--target-http",
}
"""The options that add a variant, by their parameters."""

_SKILL_MARKS = ("eval/tests.json", "SKILL.md")


def suite_paths(path: Path | None, options: Options) -> tuple[Path, ...]:
    """The files, folders and zips that are run, each as a suite of its own."""
    # A folder is its `judgekit.yaml`, or a skill with its tests, or every suite that is found in it
    # and every dataset that none of these suites is about.
    named = path or cast("Path | None", options.get("config"))
    if named is None and Path(SUITE_FILE).is_file():
        named = Path(SUITE_FILE)
    if named is None:
        raise SettingsError(
            f"no suite is named, and there is no {SUITE_FILE} here",
            hint="name one: judgekit run suite.yaml; or begin one: judgekit init my-suite",
        )
    if not named.is_dir():
        return (named,)
    if (named / SUITE_FILE).is_file():
        return (named / SUITE_FILE,)
    if any((named / mark).is_file() for mark in _SKILL_MARKS):
        return (named,)
    found = _suites_and_datasets(named)
    if not found:
        raise SettingsError(
            f"{named} holds neither a suite nor a dataset",
            hint="name a suite, a file of cases, or a skill with eval/tests.json",
        )
    return found


def _suites_and_datasets(folder: Path) -> tuple[Path, ...]:
    suites = discover_suites(folder)
    theirs = {path.resolve() for suite in suites if (path := _dataset_of(suite)) is not None}
    datasets = [path for path in discover_datasets(folder) if path.resolve() not in theirs]
    return (*suites, *datasets)


def _dataset_of(suite: Path) -> Path | None:
    try:
        return load_suite(suite).dataset_path
    except InputError:  # what is wrong with it is said when its turn has come
        return None


def with_given_variant(suite: Suite, options: Mapping[str, object]) -> Suite:
    """The suite with the variant that the command line names, where it has none of its own."""
    # A file of outputs whose rows name their variants stands for all of these.
    given = {name: str(options[name]) for name in TARGETS if options.get(name)}
    if not given:
        return suite
    if len(given) > 1:
        both = " and ".join(TARGETS[name] for name in given)
        raise SettingsError(f"{both} are given, and one variant is run", hint="give one of them")
    ((name, value),) = given.items()
    if suite.variants:
        raise SettingsError(
            f"{TARGETS[name]} is for a suite without variants, and {suite.name!r} has some",
            hint="leave it out, or add the variant to the suite",
        )
    wanted = tuple(cast("Iterable[str]", options.get("variant") or ()))
    if name == "given_outputs" and len(wanted) != 1:
        return suite.model_copy(update={"variants": _recorded(Path(value))})
    variant = _variant(name, value, suite, id_=wanted[0] if len(wanted) == 1 else None)
    return suite.model_copy(update={"variants": (variant,)})


def _recorded(path: Path) -> tuple[VariantSettings, ...]:
    """The variants whose outputs a file holds; one called as the file, where its rows name none."""
    named = dict.fromkeys(row.fields.get("variant") for row in iter_output_rows(path))
    ids = [str(name) for name in named if name not in {None, ""}] if None not in named else []
    return tuple(VariantSettings(id=id_, outputs=str(path.resolve())) for id_ in ids or [path.stem])


def _variant(name: str, value: str, suite: Suite, *, id_: str | None) -> VariantSettings:
    if name == "given_outputs":
        path = Path(value)
        return VariantSettings(id=id_ or path.stem, outputs=str(path.resolve()))
    if name == "given_command":
        return VariantSettings(id=id_ or "command", command=_command(value, suite))
    if name == "given_python":
        here = str(Path.cwd())
        if here not in sys.path:  # as for a command, a module here is meant before all others
            sys.path.insert(0, here)
        return VariantSettings(id=id_ or value.rpartition(":")[2], python=value)
    return VariantSettings(id=id_ or urlsplit(value).netloc, http=HttpTarget(url=value))


def _command(value: str, suite: Suite) -> tuple[str, ...]:
    """The words of a command; a file named from here is found from the suite's folder too."""
    try:
        words = shlex.split(value)
    except ValueError as error:
        raise SettingsError(f"--target-command cannot be read: {error}") from error
    if not words:
        raise SettingsError("--target-command is empty", hint="for example 'python agent.py'")
    here = [
        str(Path(word).resolve())
        if Path(word).is_file() and not (suite.folder / word).is_file()
        else word
        for word in words
    ]
    return tuple(here)
