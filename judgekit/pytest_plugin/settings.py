"""Resolves the settings of one test's judge: marker, command line, environment, conftest, ini."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from judgekit.datasets import DEFAULT_CACHE_FOLDER
from judgekit.errors import SettingsError
from judgekit.pytest_plugin.options import (
    OPTIONS_BY_KEY,
    PluginOption,
    ini_settings,
    parse_count,
    read_value,
    resolve_file,
    run_settings,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest

    from judgekit.models.request import Model
    from judgekit.records import Rubric

NoAnswer = Literal["error", "skip", "xfail"]
"""The outcome of a test whose judge gave no usable answer."""


_MARKED = {
    key: OPTIONS_BY_KEY[key]
    for key in (
        "model", "api_base", "rubric", "cases", "mode", "repeats", "threshold", "no_answer",
    )
} | {
    "min_pass": PluginOption("min_pass", "min_pass", "N", "Repeats that have to pass.", parse_count),  # noqa: E501
    "template": PluginOption("template", "template", "NAME", "Prompt template."),
}  # fmt: skip

_NAMED = ("rubric", "cases", "threshold", "min_pass", "no_answer")
_OF_THE_RUN = ("report", "max_cost")


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one test's judge."""

    rubric: str | Path | Rubric | None = None

    cases: str | Path | None = None
    """A file of cases; their ids may be given instead of inputs."""

    threshold: float | None = None
    """The lowest value that passes; None takes the rubric's own."""

    min_pass: int | None = None
    """How many of the repeats have to pass, each by itself; None decides by their mean."""

    no_answer: NoAnswer = "error"
    model: str | Model | None = None

    arguments: Mapping[str, object] = field(default_factory=dict)
    """Further arguments of `Judge`."""


def settings_of(item: pytest.Item, own: Mapping[str, object]) -> Settings:
    """The settings of the judge of a test."""
    # The nearest `judge` marker goes first, then the command line, the environment, the fixture
    # `judge_options`, and the ini file.
    config = item.config
    merged = {**ini_settings(config), **own, **run_settings(config), **_marked(item)}
    named = {key: merged.pop(key) for key in _NAMED if key in merged}
    model = merged.pop("model", None)
    # These hold for the whole session, not for the judge of one test.
    for key in _OF_THE_RUN:
        merged.pop(key, None)
    default = config.rootpath / DEFAULT_CACHE_FOLDER
    folder, off = merged.pop("cache_dir", None), merged.pop("no_cache", False)
    if off and merged.get("frozen"):
        raise SettingsError("no_cache and frozen contradict each other")
    if merged.get("refresh") and merged.get("frozen"):
        raise SettingsError("refresh and frozen contradict each other")
    if off:
        merged["cache"] = None
    elif folder is not None:
        merged["cache"] = folder
    else:
        merged.setdefault("cache", default)
    _check(named, merged)
    return Settings(model=model, arguments=merged, **named)  # type: ignore[arg-type]  # each was read as what it is


def _marked(item: pytest.Item) -> dict[str, object]:
    """The settings of the markers; for each setting the nearest marker counts."""
    found: dict[str, object] = {}
    # A marker stands in a test file, so its paths are relative to that first.
    folders = [item.path.parent, item.config.rootpath]
    for marker in item.iter_markers("judge"):
        where = f"{item.nodeid}: @pytest.mark.judge"
        if marker.args:
            raise SettingsError(
                f"{where} takes names only", hint='for example rubric="helpfulness"'
            )
        for key, value in marker.kwargs.items():
            if key not in _MARKED:
                known = ", ".join(sorted(_MARKED))
                raise SettingsError(f"{where} takes no {key!r}", hint=f"it takes {known}")
            option = _MARKED[key]
            plain = (
                value if option.read is str else read_value(option, str(value), f"{where}, {key}")
            )
            found.setdefault(key, resolve_file(key, plain, folders))
    return found


def _check(named: Mapping[str, object], arguments: Mapping[str, object]) -> None:
    votes, repeats = named.get("min_pass"), arguments.get("repeats", 1)
    if isinstance(votes, int) and isinstance(repeats, int) and votes > repeats:
        raise SettingsError(
            f"min_pass is {votes} of {repeats} repeats",
            hint=f"set at least repeats={votes}",
        )
