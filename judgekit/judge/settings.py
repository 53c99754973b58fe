"""What a judge's settings may be, and the parameters that its requests are sent with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast, get_args

from judgekit.errors import SettingsError
from judgekit.records.comparison import Rule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgekit.records.record import JsonObject

Mode = Literal["per_criterion", "joint"]
"""Whether a call asks about one criterion or about all of them."""


def check_settings(*, mode: str, repeats: int, max_reasks: int, temperature: float | None) -> None:
    """Refuse settings that no judge can have."""
    if mode not in get_args(Mode):
        raise SettingsError(f"mode is {mode!r}", hint="use per_criterion or joint")
    if repeats < 1:
        raise SettingsError(f"repeats is {repeats}; it must be 1 or more")
    if max_reasks < 0:
        raise SettingsError(f"max_reasks is {max_reasks}; it must be 0 or more")
    if temperature is not None and not temperature >= 0:
        raise SettingsError(f"temperature is {temperature}; it must be 0 or more, or None")


def check_rule(rule: str) -> None:
    """Refuse a rule for two orders that there is none of."""
    if rule not in get_args(Rule):
        raise SettingsError(f"rule is {rule!r}", hint="use consistent or average")


def sent_parameters(more: Mapping[str, object] | None, **known: object) -> JsonObject:
    """The parameters that are set."""
    merged = {**known, **(more or {})}
    return cast("JsonObject", {name: value for name, value in merged.items() if value is not None})
