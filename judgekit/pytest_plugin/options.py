"""The options of the plugin on the command line, in the environment and in ini files."""

from __future__ import annotations

import os
from argparse import ArgumentTypeError
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pytest

_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def number_parser(what: str, is_valid: Callable[[float], bool]) -> Callable[[str], float]:

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise ValueError(f"{text!r} is not a number") from None
        if not is_valid(value):
            raise ValueError(f"{text} is not {what}")
        return value

    return read


parse_fraction = number_parser("a number from 0 to 1", lambda value: 0 <= value <= 1)
parse_amount = number_parser("an amount above 0", lambda value: 0 < value < float("inf"))


def parse_count(text: str) -> int:
    """A whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{text} is not a whole number from 1")
    return int(text)


def choice_parser(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"{text!r} is not one of {', '.join(words)}")
        return text

    return read


def parse_flag(text: str) -> bool:
    if text.lower() not in _TRUE + _FALSE:
        raise ValueError(f"{text!r} is neither true nor false")
    return text.lower() in _TRUE


RECORDED = "recorded:"
"""The prefix of a judge that answers from a file."""


@dataclass(frozen=True, slots=True)
class PluginOption:
    """One setting that can be given on the command line, in the environment and in an ini file."""

    name: str
    """Its name: `cache_dir` is `--judgekit-cache-dir`, `judgekit_cache_dir`, JUDGEKIT_CACHE_DIR."""

    metavar: str
    help: str
    read: Callable[[str], object] = str
    """Converts text to the value; raises ValueError."""

    @property
    def key(self) -> str:
        """Its name in a marker and in the settings."""
        return {"judge": "model", "cache_dir": "cache"}.get(self.name, self.name)

    @property
    def ini(self) -> str:
        return f"judgekit_{self.name}"

    @property
    def flag(self) -> str:
        return f"--{self.ini.replace('_', '-')}"

    @property
    def variable(self) -> str:
        return self.ini.upper()

    def parse(self, text: str) -> object:
        try:
            return self.read(text)
        except ValueError as error:
            raise ArgumentTypeError(str(error)) from error


# pytest loads the plugin in every session of every project where judgekit is installed, so nothing
# here may import pydantic. docs/reference.py therefore writes the next lines from JudgeSettings.
_JUDGE_OPTIONS = (
    PluginOption(
        "api_base", "URL", "Endpoint of the model, if it is not the provider's own.",
        str,
    ),
    PluginOption(
        "mode", "MODE", "One call per criterion, or one joint call for all criteria.",
        choice_parser("per_criterion", "joint"),
    ),
    PluginOption(
        "repeats", "N", "Judge calls for each question.",
        parse_count,
    ),
    PluginOption(
        "refresh", "", "Ignore cached replies and fetch each one again.",
        parse_flag,
    ),
    PluginOption(
        "frozen", "", "Use cached replies only; a reply that is not cached is an error.",
        parse_flag,
    ),
)  # fmt: skip
# End of the written lines.

PLUGIN_OPTIONS = (
    PluginOption("judge", "MODEL", "Judge: PROVIDER/MODEL, recorded:FILE, or local."),
    *_JUDGE_OPTIONS,
    PluginOption("rubric", "FILE|NAME", "Rubric file, or the name of a shipped rubric."),
    PluginOption("cases", "FILE", "Cases of the fixture `case`; `judge.grade` accepts their ids."),
    PluginOption("threshold", "VALUE", "Lowest value that passes, 0 to 1.", parse_fraction),
    PluginOption(
        "calibration", "PATH", "Calibration maps, a file or folder; calibrated values decide.",
    ),
    PluginOption("cache_dir", "DIR|URL", "Same as `cache`."),
    PluginOption("cache", "DIR|URL", "Reply cache: a folder, or the address of a server."),
    PluginOption("no_cache", "", "Do not read or write the cache.", parse_flag),
    PluginOption("max_cost", "USD", "Maximum cost of judging.", parse_amount),
    PluginOption(
        "no_answer", "OUTCOME",
        "Outcome of a test whose judge gave no usable answer: error (default), skip or xfail.",
        choice_parser("error", "skip", "xfail"),
    ),
    PluginOption("report", "FILE", "Write every verdict to FILE as JSON Lines."),
)  # fmt: skip

OPTIONS_BY_KEY = {option.key: option for option in PLUGIN_OPTIONS}


def add_options(parser: pytest.Parser) -> None:
    """Add the options, all in one group, and the ini entries."""
    group = parser.getgroup("judgekit", "LLM judges (judgekit)")
    for option in PLUGIN_OPTIONS:
        # pytest's help does not show variables by itself.
        text = f"{option.help} [{option.variable}]"
        if option.metavar:
            group.addoption(
                option.flag, dest=option.ini, metavar=option.metavar, type=option.parse, help=text
            )
        else:
            group.addoption(
                option.flag, dest=option.ini, action="store_const", const=True, help=text
            )
        parser.addini(option.ini, option.help, type="string", default="")


def settings_of_session(config: pytest.Config, *, from_ini: bool) -> dict[str, object]:
    """The settings of the ini file, or those of the command line, else of the environment."""
    read = _of_ini if from_ini else _of_run
    found = ((option.key, read(config, option)) for option in PLUGIN_OPTIONS)
    return {key: value for key, value in found if value is not None}


def report_file(config: pytest.Config) -> Path | None:
    found = _anywhere(config, "report")
    return found if isinstance(found, Path) else None


def cost_limit(config: pytest.Config) -> float | None:
    # Workers cannot share a budget, so each gets an equal part of it.
    limit = _anywhere(config, "max_cost")
    n_workers = getattr(config, "workerinput", {}).get("workercount", 1)
    return limit / n_workers if isinstance(limit, float) else None


def read_value(option: PluginOption, text: str, where: str) -> object:
    try:
        return option.read(text)
    except ValueError as error:
        raise SettingsError(f"{where}: {error}") from error


def resolve_file(key: str, value: object, folders: Sequence[Path]) -> object:
    """A setting with its path resolved, if it names a file."""
    if not isinstance(value, str):
        return value
    if key == "cache" and ("://" in value or value.startswith("${")):
        return value  # the address of a server
    if key in {"cache", "report", "calibration"}:
        return folders[0] / value
    if key == "model" and value.startswith(RECORDED):
        path = _first_file(value.removeprefix(RECORDED), folders)
        return value if path is None else f"{RECORDED}{path}"
    # A rubric or template that is no file is the name of a shipped one.
    if key in {"rubric", "cases", "template"}:
        return _first_file(value, folders) or value
    return value


def _anywhere(config: pytest.Config, key: str) -> object:
    found = _of_run(config, OPTIONS_BY_KEY[key])
    return _of_ini(config, OPTIONS_BY_KEY[key]) if found is None else found


def _of_run(config: pytest.Config, option: PluginOption) -> object:
    value = config.getoption(option.ini, None)
    if value is None and (text := os.environ.get(option.variable)):
        value = read_value(option, text, f"the variable {option.variable}")
    return resolve_file(option.key, value, [config.invocation_params.dir])


def _of_ini(config: pytest.Config, option: PluginOption) -> object:
    text = str(config.getini(option.ini) or "")
    if not text:
        return None
    folder = config.rootpath if config.inipath is None else config.inipath.parent
    return resolve_file(
        option.key, read_value(option, text, f"{config.inipath}: {option.ini}"), [folder]
    )


def _first_file(name: str, folders: Iterable[Path]) -> Path | None:
    return next((path for folder in folders if (path := folder / name).is_file()), None)
