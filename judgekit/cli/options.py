"""The options of commands: frozen models, and the click options generated from their fields.

A command declares its options in one model, made of the groups below, and receives an instance of
it. The settings of a judge are a field of such a model; `judgekit.datasets` declares them.
"""

from __future__ import annotations

import inspect
from contextlib import closing
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, get_args, get_origin

import click
from click.core import ParameterSource
from pydantic import Field, ValidationError

from judgekit import datasets, models, store as stores  # loaded when used
from judgekit.datasets import (
    DEFAULT_CACHE_FOLDER,
    DEFAULT_STORE_FILE,
    CommandOption,
    choices_of,
    command_options,
)
from judgekit.errors import SettingsError
from judgekit.models.cache import CacheLocation, CacheUrl, cache_location
from judgekit.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from contextlib import AbstractContextManager

    from pydantic.fields import FieldInfo

    from judgekit.datasets import CallSettings, OptionGroup

_Settings = TypeVar("_Settings")
_Command = TypeVar("_Command", bound="Callable[..., object]")
# click checks paths before a command starts, with the name of the option in the error.
EXISTING_PATH = click.Path(path_type=Path, exists=True)
EXISTING_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
NEW_FILE = click.Path(path_type=Path, dir_okay=False)
_FOLDER = click.Path(path_type=Path, file_okay=False)


class CachePlace(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """A folder, or the address of a server."""

    name = "dir|url"

    def convert(
        self, value: str | CacheLocation, param: click.Parameter | None, ctx: click.Context | None
    ) -> CacheLocation:
        place = cache_location(value)
        return place if isinstance(place, CacheUrl) else Path(_FOLDER.convert(place, param, ctx))


_REGISTERED: dict[str, Callable[[], tuple[str, ...]]] = {
    "transport": lambda: models.transport_names()  # noqa: PLW0108 - loaded when used
}
"""Settings whose choices are what is registered, not a list in their type."""


def option(
    words: str,
    default: object = None,
    *,
    spelling: str = "",
    kind: click.ParamType[Any] | None = None,
    metavar: str | None = None,
    has_variable: bool = False,
    flag_value: str | None = None,
    ge: float | None = None,
    gt: float | None = None,
    le: float | None = None,
    lt: float | None = None,
) -> Any:
    """A field with its option; the type of the option follows from the field unless `kind` is set.

    Its spelling is that of the field, `--max-error` for `max_error`, unless another is given;
    `-n/--limit` is two spellings of one option. With `has_variable` the environment sets it too, by
    `JUDGEKIT_` and its name. The `flag_value` is that of the option given without a value.
    """
    untyped: Any = Field(default, description=words, ge=ge, gt=gt, le=le, lt=lt)
    field: FieldInfo = untyped
    # The same place where `Annotated` puts what stands beside a type, in a third of the lines.
    field.metadata += [
        CommandOption(
            spelling, "command", metavar, has_variable=has_variable, flag_value=flag_value
        ),
        *([] if kind is None else [kind]),
    ]
    return field


def flag(words: str, *, spelling: str = "", has_variable: bool = False) -> Any:
    """A field with an option that is given without a value."""
    return option(words, default=False, spelling=spelling, has_variable=has_variable)


def baseline_option() -> Any:
    return option(
        "Earlier run to compare the pass rate with: its id, previous, best or accepted (default "
        "previous).",
        metavar="RUN",
    )


def max_drop_option() -> Any:
    return option(
        "Exit 1 if the pass rate falls further below the baseline's; in points, 0.10 is ten "
        "percentage points.",
        metavar="POINTS",
        ge=0,
        le=1,
    )


def max_cost_option(words: str) -> Any:
    """The field of the cost limit, whose consequence differs from command to command."""
    return option(words, gt=0, metavar="USD", has_variable=True)


def config_option(words: str, kind: click.ParamType[Any] = EXISTING_FILE) -> Any:
    return option(words, spelling="-c/--config", kind=kind, has_variable=True)


def rubric_option(words: str) -> Any:
    return option(words, metavar="FILE|NAME", has_variable=True)


def cases_option(words: str, spelling: str = "") -> Any:
    return option(words, spelling=spelling, kind=EXISTING_PATH, has_variable=True)


def outputs_option(words: str) -> Any:
    """The field of `--outputs`, for commands whose argument is something else."""
    return option(f"{words} May be repeated.", (), kind=EXISTING_PATH, metavar="FILE")


def root_option() -> Any:
    return option(
        "Folder from which files named by another tool's file may come, beside its own folder.",
        kind=click.Path(path_type=Path, exists=True, file_okay=False),
        metavar="DIR",
    )


def dry_run_option() -> Any:
    return flag("Estimate calls and cost without making any.")


class CommandOptions(Record):
    """The options of a command, as they were given or by default."""

    # `demo`, `plan` and `rejudge` hand their options to the code of another command.
    @classmethod
    def of(cls, other: CommandOptions, **changes: object) -> Self:
        """The options of another command, as far as this one has them, with changes."""
        shared = type(other).model_fields.keys() & cls.model_fields.keys()
        return cls.model_validate({name: getattr(other, name) for name in shared} | changes)

    def fill(self, kind: Callable[..., _Settings], **changes: object) -> _Settings:
        """The settings of a job: its fields that have the name of an option here, and changes."""
        shared = type(self).model_fields.keys() & inspect.signature(kind).parameters.keys()
        return kind(**{name: getattr(self, name) for name in shared} | changes)


_Options = TypeVar("_Options", bound=CommandOptions)


def takes(model: type[_Options]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a model, and an instance of it as its first argument.

    An argument of the command whose name is a field of the model is a part of the instance.
    """

    def add(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def command(**parameters: object) -> None:
            function(_collect(model, parameters), **parameters)

        plain: Callable[..., None] = command
        # Shared groups first, from the most specific one, then what only this command has; pydantic
        # has them the other way round, and help and resumed command lines show this order.
        names = dict.fromkeys(
            name
            for owner in (*model.__mro__[1:], model)
            for name in inspect.get_annotations(owner)
            if name in model.model_fields
        )
        options = {name: (field, entry) for name, field, entry in command_options(model)}
        # The decorator that is applied last is the first option.
        for name in reversed(names):
            if name in options:
                plain = _click_option(name, *options[name])(plain)
            for entry in model.model_fields[name].metadata:
                if isinstance(entry, SettingGroups):
                    for setting in reversed(entry.options()):
                        plain = _click_option(*setting)(plain)
        return plain

    return add


def _collect(model: type[_Options], parameters: dict[str, object]) -> _Options:
    values = {name: parameters.pop(name) for name in model.model_fields if name in parameters}
    for name, field in model.model_fields.items():
        if any(isinstance(entry, SettingGroups) for entry in field.metadata):
            # Only what was given is set, so that the suite decides the rest.
            given_settings = {
                setting: value
                for setting, _, entry in command_options(datasets.JudgeSettings)
                if (value := parameters.pop(entry.parameter or setting, None)) not in (None, ())
            }
            values[name] = datasets.JudgeSettings.checked(**given_settings)
    try:
        return model.model_validate(values)
    except ValidationError as error:  # click has checked all but what is no number (nan)
        problem = error.errors(include_url=False)[0]
        spelled = {name: entry.spelling for name, _, entry in command_options(model)}
        name = str(problem["loc"][0])
        message = problem["msg"][:1].lower() + problem["msg"][1:]
        raise SettingsError(f"{spelled.get(name, name)}: {message}") from error


# `cache explain` builds requests and sends none, so it takes no limits, for example.
class SettingGroups:
    """Which groups of judge settings a command takes as options."""

    def __init__(self, *names: OptionGroup, settings: type[CallSettings] | None = None) -> None:
        self._names = names
        self._settings = settings or datasets.JudgeSettings

    def options(self) -> list[tuple[str, FieldInfo, CommandOption]]:
        every = [*command_options(self._settings)]
        return [one for name in self._names for one in every if one[2].group == name]


def _click_option(
    name: str, field: FieldInfo, entry: CommandOption
) -> Callable[[_Command], _Command]:
    """One option: its type and range, its default and its help are the field's."""
    switches = isinstance(field.default, bool)
    words = (field.description or "").replace("`", "").removesuffix(".")
    has_default = not switches and field.default not in {None, ()}
    # A setting that is not given is left to the suite, so its default is only named in the help.
    is_setting = entry.group != "command"
    if is_setting and has_default:
        shown = f"{field.default:g}" if isinstance(field.default, float) else field.default
        words += f" (default {shown})"
    elif is_setting and field.default is True:
        words += " (default: yes)"
    # A pair of options says yes or no, and neither where it is not given: then the suite decides.
    pair = switches and entry.spelling.startswith("--") and "/" in entry.spelling
    spellings = (entry.spelling,) if pair else tuple(entry.spelling.split("/"))
    # A synonym has a variable of its own; the second of a pair is the opposite.
    longs = [one for one in entry.spelling.split("/") if one.startswith("--")]
    variables = [
        "JUDGEKIT_" + one.removeprefix("--").replace("-", "_").upper()
        for one in longs[: 1 if pair else None]
    ]
    default = field.default if has_default and not is_setting else None
    is_required = field.default is None and type(None) not in get_args(field.annotation)
    # click distinguishes a flag value of None from a missing one, and takes a default of None for
    # the value of an option that is required.
    more: dict[str, Any] = {} if entry.flag_value is None else {"flag_value": entry.flag_value}
    if not is_required:
        more["default"] = False if switches and not pair else default
    return click.option(
        *spellings,
        entry.parameter or name,
        type=None if switches else _click_type(name, field),
        is_flag=switches,
        show_default=default is not None,
        multiple=isinstance(field.default, tuple),
        nargs=_n_values(field),
        required=is_required,
        metavar=entry.metavar,
        envvar=(variables if variables[1:] else variables[0]) if entry.has_variable else None,
        help=words if words.endswith("]") else f"{words}.",
        **more,
    )


def _click_type(name: str, field: FieldInfo) -> click.ParamType[Any]:
    if kind := next((one for one in field.metadata if isinstance(one, click.ParamType)), None):
        return kind
    if words := choices_of(field) or _REGISTERED.get(name, tuple)():
        return click.Choice(words)
    kinds = {field.annotation, *get_args(field.annotation)}
    if Path in kinds:
        return _FOLDER
    # The limits of a field, each by the name of its class in annotated_types: `Ge(ge=1)`.
    limits = {type(one).__name__: one for one in field.metadata}
    low, high = (limits.get(one) for one in ("Ge", "Le"))
    above, below = (limits.get(one) for one in ("Gt", "Lt"))
    if int in kinds:
        return click.INT if low is None else click.IntRange(low.ge)
    if float not in kinds:
        return click.STRING
    return click.FloatRange(
        low.ge if low else above.gt if above else None,
        high.le if high else below.lt if below else None,
        min_open=above is not None,
        max_open=below is not None,
    )


def _n_values(field: FieldInfo) -> int:
    """How many values follow the option: those of a tuple of fixed length, else one."""
    for annotation in (field.annotation, *get_args(field.annotation)):
        if get_origin(annotation) is tuple and ... not in get_args(annotation):
            return len(get_args(annotation))
    return 1


# `quiet` and `verbose` are fields of every command, so that one function prints all documents.
class OutputOptions(CommandOptions):
    """The form of the result on stdout."""

    as_json: bool = flag("Print the result as JSON.", spelling="--json")
    quiet: bool = False
    verbose: bool = False


class TalkOptions(OutputOptions):
    """The amount and form of what is printed."""

    no_progress: bool = flag("Do not show progress.")
    quiet: bool = flag("Print only the result.", spelling="-q/--quiet")
    verbose: bool = flag("Print every verdict with every reason.", spelling="-v/--verbose")

    @property
    def shows_progress(self) -> bool:
        """Whether progress is shown; beside JSON it would be in the way of whoever reads both."""
        return not (self.quiet or self.no_progress or self.as_json)


class StoreOptions(CommandOptions):
    """The store of runs."""

    # Text, not a path: it may be the URL of a database.
    store: str = option(
        "SQLite file or database URL (postgresql://…) of the stored runs.",
        DEFAULT_STORE_FILE,
        metavar="FILE|URL",
        has_variable=True,
    )

    def open_store(self, *, create: bool = False) -> AbstractContextManager[stores.RunStore]:
        """The store until the end of the block; without `create` it has to exist."""
        return closing(stores.RunStore(self.store, create=create))


CACHE_WORDS = "Reply cache: a folder, or a server's postgresql://… or redis://… address."


class CacheFolderOptions(CommandOptions):
    """The cache of a command that only looks at it."""

    cache_dir: CacheLocation = option(
        CACHE_WORDS,
        Path(DEFAULT_CACHE_FOLDER),
        spelling="--cache/--cache-dir",
        kind=CachePlace(),
        metavar="DIR|URL",
        has_variable=True,
    )


class ReplyOptions(CommandOptions):
    """Whether pages have what the judge was sent and what it wrote."""

    # Off by default: prompts repeat every input, and make a page several times as large.
    with_replies: bool = flag("With -o FILE.html: include the judge's prompts and raw replies.")


def long_spelling(parameter: click.Parameter) -> str:
    return next((one for one in parameter.opts if one.startswith("--")), parameter.opts[-1])


def typed_options() -> dict[str, str]:
    """The options that were typed for this command: the spelling of each by its field."""
    # The environment sets options for all commands, so that none contradicts what one of them does.
    context = click.get_current_context()
    return {
        one.name or "": long_spelling(one)
        for one in context.command.params
        if isinstance(one, click.Option)
        and context.get_parameter_source(one.name or "") is ParameterSource.COMMANDLINE
    }


# Where results are written and how they are shown applies to every result.
_OF_RESULTS = frozenset({"output", "as_json", "quiet", "verbose", "no_progress", "store"})


def refuse_others(
    allowed: Container[str], why: str, hint: str, also: Container[str] = _OF_RESULTS
) -> None:
    """Refuse a typed option that would be ignored here; the reason follows its spelling."""
    for name, spelling in typed_options().items():
        if name not in allowed and name not in also:
            raise SettingsError(f"{spelling} {why}", hint=hint)


def check_no_rule(rule: str | None) -> None:
    """Refuse a rule for comparisons where there is no comparison."""
    if rule is not None:
        raise SettingsError(
            "--rule is for comparisons",
            hint="name a comparison (cmp-…); judgekit show --comparisons lists them",
        )
