"""Judge settings are fields of one model; options, schema, pytest and docs are made of them."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import click
import pytest
from pydantic import Field

import judgekit as jk
from judgekit.cli.options import CommandOptions, SettingGroups, takes
from judgekit.cli.run import grade_command
from judgekit.datasets import (
    CallSettings,
    CommandOption,
    JudgeSettings,
    SuiteJudge,
    command_options,
)
from judgekit.errors import SettingsError
from tests.datasets.file_schemas import suite_schema

SHARED = {"model", "cache", "prices", "budget"}
"""Live objects that `Judge(...)` is handed beside its settings."""


def schema_of(name: str) -> dict[str, Any]:
    definitions: Any = suite_schema()["$defs"]
    return dict(definitions["SuiteJudge"]["properties"][name])


class Extended(JudgeSettings):
    """The settings with one more."""

    top_k: Annotated[
        int | None,
        Field(ge=1, description="Sample from the K most likely tokens."),
        CommandOption("--top-k", "judge", metavar="K"),
    ] = None


def test_a_further_field_is_an_option_of_the_command_line() -> None:
    class Options(CommandOptions):
        settings: Annotated[JudgeSettings, SettingGroups("judge", settings=Extended)]

    @click.command()
    @takes(Options)
    def command(options: Options) -> None:
        del options

    option = next(one for one in command.params if one.name == "top_k")
    assert isinstance(option, click.Option)
    assert (option.opts, option.envvar, option.metavar) == (["--top-k"], "JUDGEKIT_TOP_K", "K")
    assert isinstance(option.type, click.IntRange)
    assert (option.type.min, option.help) == (1, "Sample from the K most likely tokens.")


def test_judge_takes_every_setting_and_has_the_same_defaults() -> None:
    parameters = dict(inspect.signature(jk.Judge).parameters)
    assert set(parameters) - SHARED == set(JudgeSettings.model_fields)
    plain = JudgeSettings()
    for name in JudgeSettings.model_fields:
        default = parameters[name].default
        assert (default or None) == (getattr(plain, name) or None), name


def test_every_option_of_a_judge_is_described_as_its_setting_is() -> None:
    options = {one.name: one for one in grade_command.params if isinstance(one, click.Option)}
    for name, field, option in command_options(JudgeSettings):
        if option.group != "blind":
            words = (field.description or "").removesuffix(".")
            assert (options[option.parameter or name].help or "").startswith(words)


def test_the_schema_of_a_suite_describes_what_a_judge_takes() -> None:
    for name, field in SuiteJudge.model_fields.items():
        assert schema_of(name)["description"] == field.description
    assert set(CallSettings.model_fields) <= set(SuiteJudge.model_fields)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"rule": "mean"}, "`rule` must be 'consistent' or 'average', not 'mean'"),
        ({"repeats": 0}, "`repeats` must be 1 or more, not 0"),
        ({"timeout_s": 0}, "`timeout_s` must be more than 0"),
        ({"max_tokens": "many"}, "`max_tokens` must be a whole number, not 'many'"),
        ({"parameters": {"stop": object()}}, "the parameter stop cannot be sent as JSON"),
    ],
)
def test_a_setting_that_cannot_be_names_itself(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        JudgeSettings.checked(**given)


def test_a_judge_of_a_suite_has_upper_limits_too() -> None:
    with pytest.raises(SettingsError, match="`repeats` must be 100 or less, not 1000"):
        SuiteJudge.checked(model="x/y", repeats=1000)


def test_a_person_takes_no_settings_of_a_model() -> None:
    with pytest.raises(SettingsError, match="the judge `human` takes no `repeats`"):
        SuiteJudge.checked(model="human", repeats=2)
