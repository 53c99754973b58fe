"""Options that several commands share, and the command line that resumes an interrupted run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click
from click.core import ParameterSource

from judgekit.calibration import CalibrationOptions
from judgekit.datasets import (
    DEFAULT_CACHE_FOLDER,
    DEFAULT_STORE_FILE,
    CallSettings,
    JudgeSettings,
    choices_of,
    command_options,
)
from judgekit.errors import SettingsError
from judgekit.models import transport_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pydantic.fields import FieldInfo

    from judgekit.datasets import CommandOption, OptionGroup

    Decorator = Callable[["_Command"], "_Command"]

_Command = TypeVar("_Command", bound="Callable[..., object]")
_FOLDER = click.Path(path_type=Path, file_okay=False)

_CONFIG = click.option(
    "-c",
    "--config",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    envvar="JUDGEKIT_CONFIG",
    help="Suite file (default judgekit.yaml, if there is one).",
)

_RUBRIC = click.option(
    "--rubric",
    metavar="FILE|NAME",
    envvar="JUDGEKIT_RUBRIC",
    help="Rubric file, or the name of a shipped rubric.",
)


def judge_model_options(function: _Command) -> _Command:
    """The judge model and its settings."""
    return stack_options(
        function,
        click.option(
            "--judge",
            "judge_model",
            metavar="MODEL",
            envvar="JUDGEKIT_JUDGE",
            help="Judge model: PROVIDER/MODEL (openai/gpt-4.1-mini), recorded:FILE, or local.",
        ),
        settings_options("judge"),
    )


_REGISTERED: dict[str, Callable[[], tuple[str, ...]]] = {"transport": transport_names}
"""Settings whose choices are what is registered, not a list in their type."""


def settings_options(
    group: OptionGroup, settings: type[CallSettings] = JudgeSettings
) -> Callable[[_Command], _Command]:
    """The options of a group of judge settings, generated from the settings."""

    def add(function: _Command) -> _Command:
        decorators: list[Decorator[_Command]] = [
            _settings_option(name, field, option)
            for name, field, option in command_options(settings)
            if option.group == group
        ]
        return stack_options(function, *decorators)

    return add


def _settings_option(name: str, field: FieldInfo, option: CommandOption) -> Decorator[_Command]:
    """One option: its type and range, its default and its help are the field's."""
    switches = isinstance(field.default, bool)
    words = (field.description or "").replace("`", "").removesuffix(".")
    if not switches and field.default not in {None, ()}:
        shown = f"{field.default:g}" if isinstance(field.default, float) else field.default
        words += f" (default {shown})"
    elif switches and field.default:
        words += " (default: yes)"
    # A pair of options says yes or no, and neither where it is not given: then the suite decides.
    pair = option.spelling.startswith("--") and "/" in option.spelling
    spellings = (option.spelling,) if pair else tuple(option.spelling.split("/"))
    long = option.spelling.split("/")[0] if pair else spellings[-1]
    variable = "JUDGEKIT_" + long.removeprefix("--").replace("-", "_").upper()
    return click.option(
        *spellings,
        option.parameter or name,
        type=None if switches else _click_type(name, field),
        is_flag=switches,
        default=None if pair else False if switches else None,
        multiple=isinstance(field.default, tuple),
        metavar=option.metavar,
        envvar=variable if option.has_variable else None,
        help=f"{words}.",
    )


def _click_type(name: str, field: FieldInfo) -> click.ParamType[Any]:
    """The type of a setting that is no switch."""
    if words := choices_of(field) or _REGISTERED.get(name, tuple)():
        return click.Choice(words)
    if isinstance(field.default, tuple):
        return _FOLDER
    kinds = {field.annotation, *get_args(field.annotation)}
    least = {type(bound).__name__: bound for bound in field.metadata}
    # Upper ends are for files, where a typing error waits unseen; see SuiteJudge.
    if (at_least := least.get("Ge")) is not None:
        return (click.IntRange if int in kinds else click.FloatRange)(at_least.ge)
    if (above := least.get("Gt")) is not None:
        return click.FloatRange(above.gt, min_open=True)
    return click.INT if int in kinds else click.STRING


def given_judge_settings(options: Mapping[str, object]) -> dict[str, object]:
    """The settings of calling a judge that the options of a command give, by field."""
    return {
        name: value
        for name, _, option in command_options()
        if name in CallSettings.model_fields
        and (value := options.get(option.parameter or name)) is not None
    }


def given_blind_settings(options: Mapping[str, object]) -> dict[str, object]:
    """The settings of blind comparisons that the options of a command give, by field."""
    return {
        name: value
        for name, _, option in command_options()
        if option.group == "blind" and (value := options.get(name)) is not None
    }


def limit_options(function: _Command) -> _Command:
    """Limits on the calls to a provider."""
    return settings_options("limits")(function)


def cache_options(function: _Command) -> _Command:
    """Which replies come from the cache, and its folder."""
    return stack_options(
        function,
        click.option(
            "--cache-dir",
            type=_FOLDER,
            envvar="JUDGEKIT_CACHE_DIR",
            help=f"Folder of the reply cache (default {DEFAULT_CACHE_FOLDER}).",
        ),
        click.option(
            "--no-cache",
            is_flag=True,
            envvar="JUDGEKIT_NO_CACHE",
            help="Do not read or write the cache.",
        ),
        settings_options("cache"),
    )


def calibration_options(function: _Command) -> _Command:
    """The calibration maps, and whether valid ones are required."""
    return stack_options(
        function,
        click.option(
            "--calibration",
            type=click.Path(path_type=Path, exists=True),
            metavar="PATH",
            help="Calibration maps from calibrate --write-map; calibrated values decide.",
        ),
        click.option(
            "--require-calibration",
            is_flag=True,
            help="Make no call without a valid calibration. Exit code 4.",
        ),
    )


def input_options(function: _Command) -> _Command:
    """What is graded."""
    return stack_options(
        function,
        click.argument("outputs", nargs=-1, type=click.Path(path_type=Path, exists=True)),
        _CONFIG,
        _RUBRIC,
        click.option(
            "--cases",
            type=click.Path(path_type=Path, exists=True),
            envvar="JUDGEKIT_CASES",
            help="Cases of the outputs (inputs, references).",
        ),
        click.option("--variant", help="Variant of outputs that do not name one."),
        click.option(
            "--filter-tag", multiple=True, help="Only cases with this tag; may be repeated."
        ),
        _sampling_options("outputs"),
    )


def side_options(function: _Command) -> _Command:
    """What is compared, by which rubric, at which significance level."""
    return stack_options(
        function,
        _CONFIG,
        _RUBRIC,
        click.option(
            "--cases",
            "--dataset",
            "cases",
            type=click.Path(path_type=Path, exists=True),
            envvar="JUDGEKIT_CASES",
            help="Cases to answer (inputs, references).",
        ),
        click.option(
            "--filter-tag", multiple=True, help="Only cases with this tag; may be repeated."
        ),
        _sampling_options("cases", seeded="the sample"),
        click.option(
            "--alpha",
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            default=0.05,
            show_default=True,
            help="Significance level of a decision.",
        ),
    )


def choice_options(function: _Command) -> _Command:
    """Which part of a suite is run."""
    return stack_options(
        function,
        click.option(
            "-c",
            "--config",
            type=click.Path(path_type=Path, exists=True),
            envvar="JUDGEKIT_CONFIG",
            help="Suite file, if not given as the argument.",
        ),
        click.option("--variant", multiple=True, help="Only this variant; may be repeated."),
        click.option(
            "--filter-tag", multiple=True, help="Only cases with this tag; may be repeated."
        ),
        click.option(
            "--filter-case", multiple=True, metavar="ID", help="Only this case; may be repeated."
        ),
        click.option("--filter-name", metavar="REGEX", help="Only cases whose name matches REGEX."),
        _sampling_options("cases"),
    )


def target_options(function: _Command) -> _Command:
    """The system under test, for suites without variants such as files of other tools."""
    return stack_options(
        function,
        click.option(
            "--outputs",
            "given_outputs",
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
            help="Recorded outputs (rows with case_id and text) for a suite without variants.",
        ),
        click.option(
            "--target-command",
            "given_command",
            metavar="COMMAND",
            help="Program to test: case JSON on stdin, output JSON on stdout.",
        ),
        click.option(
            "--target-python",
            "given_python",
            metavar="MODULE:NAME",
            help="Python function to test, called with each case.",
        ),
        click.option(
            "--target-http",
            "given_http",
            metavar="URL",
            help="Endpoint to test: case JSON in, output JSON out.",
        ),
    )


def store_option(function: _Command) -> _Command:
    """The store of runs."""
    return click.option(
        "--store",
        envvar="JUDGEKIT_STORE",
        metavar="FILE|URL",
        default=DEFAULT_STORE_FILE,
        show_default=True,
        help="SQLite file or database URL (postgresql://…) of the stored runs.",
    )(function)


def max_cost_option(
    text: str = "Stop at this cost. Exit code 5.",
) -> Callable[[_Command], _Command]:
    """The cost limit."""
    return click.option(
        "--max-cost",
        type=click.FloatRange(0, min_open=True),
        envvar="JUDGEKIT_MAX_COST",
        metavar="USD",
        help=text,
    )


def talk_options(function: _Command) -> _Command:
    """The amount and format of output."""
    return stack_options(
        function,
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
        click.option("--no-progress", is_flag=True, help="Do not show progress."),
        click.option("-q", "--quiet", is_flag=True, help="Print only the result."),
        click.option(
            "-v", "--verbose", is_flag=True, help="Print every verdict with every reason."
        ),
    )


def json_option(function: _Command) -> _Command:
    """Print the result as JSON."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(
        function
    )


def cache_dir_option(function: _Command) -> _Command:
    """The folder of the cache."""
    return click.option(
        "--cache-dir",
        type=_FOLDER,
        envvar="JUDGEKIT_CACHE_DIR",
        default=DEFAULT_CACHE_FOLDER,
        show_default=True,
        help="Folder of the reply cache.",
    )(function)


def _sampling_options(things: str, *, seeded: str = "--sample") -> Callable[[_Command], _Command]:
    """How many of them are used, and which."""

    def add(function: _Command) -> _Command:
        return stack_options(
            function,
            click.option(
                "-n", "--limit", type=click.IntRange(1), help=f"Only the first N {things}."
            ),
            click.option("--sample", type=click.IntRange(1), help=f"Draw N {things} at random."),
            click.option(
                "--seed", type=int, default=0, show_default=True, help=f"Random seed of {seeded}."
            ),
        )

    return add


def stack_options(function: _Command, *decorators: Decorator[_Command]) -> _Command:
    """A command with several options, in the order of its help."""
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


_PairCommand = TypeVar("_PairCommand", bound="Callable[..., object]")


def judges_options(function: _PairCommand) -> _PairCommand:
    """One judge model or a panel of several, and their settings."""
    return stack_options(
        function,
        click.option(
            "--judge",
            "judge_model",
            type=_Model(),
            metavar="MODEL",
            multiple=True,
            envvar="JUDGEKIT_JUDGE",
            help="Judge model: PROVIDER/MODEL (openai/gpt-4.1-mini), recorded:FILE, or local; "
            "several form a panel with one vote each.",
        ),
        settings_options("judge"),
    )


def blind_options(function: _PairCommand) -> _PairCommand:
    """How two outputs are shown to the judge without naming their makers."""
    return settings_options("blind")(function)


def rule_option(words: str) -> Callable[[_PairCommand], _PairCommand]:
    """The rule that reconciles the two orders."""
    return click.option("--rule", type=click.Choice(["consistent", "average"]), help=words)


def check_no_rule(rule: str | None) -> None:
    """Refuse a rule for comparisons where there is no comparison."""
    if rule is not None:
        raise SettingsError(
            "--rule is for comparisons", hint="name one (cmp-…): judgekit show --comparisons"
        )


class _Model(click.types.StringParamType):
    """A model; several in an environment variable are separated by commas."""

    # click splits at blanks by default, but `recorded:my replies.jsonl` is one model.
    envvar_list_splitter = ","


def label_options(function: _Command) -> _Command:
    """Which annotators count, and how their labels are combined."""
    return stack_options(
        function,
        click.option(
            "--annotator",
            multiple=True,
            metavar="NAME",
            help="Only labels of this annotator; may be repeated.",
        ),
        click.option(
            "--consensus",
            type=click.Choice(["median", "mean", "majority"]),
            default=CalibrationOptions().consensus,
            show_default=True,
            help="How labels of several annotators are combined.",
        ),
    )


_NOT_AGAIN = frozenset({
    "dry_run", "fail_fast", "fail_under", "filter_case", "filter_name", "filter_tag", "frozen",
    "limit", "max_cost", "max_time", "notes", "output", "refresh", "resume", "retry_errors",
    "sample", "seed", "variant",
})  # fmt: skip
"""Options of one invocation, and those that the stored run remembers."""

_PASSWORD = re.compile(r"(?<=://)([^:/@\s]*):[^@\s]*(?=@)")
"""The password in a database URL; it must never be printed."""


def resume_command(
    context: click.Context, run_id: str, *, retry: bool = False, command: str = "run"
) -> str:
    """The command line that resumes a run or a comparison."""
    words = ["judgekit", command, *_given(context), "--resume", run_id]
    return shlex.join([*words, *(["--retry-errors"] if retry else [])])


def _given(context: click.Context) -> Iterator[str]:
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if name in _NOT_AGAIN or source is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[name]
        if isinstance(parameter, click.Argument):
            yield from map(str, value if isinstance(value, tuple) else (value,))
        elif isinstance(value, bool):
            yield (parameter.opts if value else parameter.secondary_opts)[-1]
        else:
            for one in value if isinstance(value, tuple) else (value,):
                yield from (parameter.opts[-1], _text(one))


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else _PASSWORD.sub(r"\1:***", str(value))


TARGET_OPTIONS = {
    "given_outputs": "--outputs",
    "given_command": "--target-command",
    "given_python": "--target-python",
    "given_http": "--target-http",
}
"""The options that add a variant, by their parameters."""
