"""The options that settings have on the command line and in pytest, and the default places."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

DEFAULT_CACHE_FOLDER = ".judgekit/cache"
"""Where replies are cached by default."""

DEFAULT_STORE_FILE = ".judgekit/judgekit.db"
"""Where runs are stored by default."""

OptionGroup = Literal["judge", "limits", "cache", "blind", "command"]
"""The commands that take an option: every judge, its rate limits, the cache, blind comparisons; or
the one command whose own model declares it."""


@dataclass(frozen=True, slots=True)
class CommandOption:
    """The option of a setting on the command line and in pytest."""

    # As click declares it: `-j/--max-concurrency` is two options, `--x/--no-x` one; "" follows the
    # name of the field.
    spelling: str
    group: OptionGroup
    metavar: str | None = None  # None takes the type's own word
    has_variable: bool = True  # whether it has a variable `JUDGEKIT_…`, too
    is_rare: bool = False  # whether only `--help-all` shows it
    # The name of the command's parameter, where another option has the field's.
    parameter: str | None = None
    in_pytest: bool = False  # whether the pytest plugin has it as well
    # The value of the option when it is given without one; None if it always needs one.
    flag_value: str | None = None


def command_options(settings: type[BaseModel]) -> Iterator[tuple[str, FieldInfo, CommandOption]]:
    """The settings that have an option: name, field and option, in the order of the fields."""
    for name, field in settings.model_fields.items():
        # Fields without an option are set in files or in Python only.
        for entry in field.metadata:
            if isinstance(entry, CommandOption):
                spelling = entry.spelling or f"--{name.replace('_', '-')}"
                yield name, field, replace(entry, spelling=spelling)


def choices_of(field: FieldInfo) -> tuple[str, ...]:
    """The words that a setting can be; none where it is not one of a few words."""
    members = get_args(field.annotation)
    # An optional choice is a union with None; a Literal beside another type is no choice.
    present = [member for member in members if member is not type(None)]
    words = get_args(present[0]) if type(None) in members and len(present) == 1 else members
    return words if words and all(isinstance(word, str) for word in words) else ()
