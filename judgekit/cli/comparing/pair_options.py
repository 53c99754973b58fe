"""Options of the commands that compare: who judges two outputs, and what that judge sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import click

from judgekit.cli.options import ASKING, stacked
from judgekit.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., object]")


def judges_options(function: F) -> F:
    """Who judges, one or several, and how they are asked."""
    return stacked(
        function,
        click.option(
            "--judge",
            "judge_model",
            type=_Model(),
            metavar="MODEL",
            multiple=True,
            envvar="JUDGEKIT_JUDGE",
            help="Provider and model (openai/gpt-4.1-mini, anthropic/…), recorded:FILE, or local; "
            "given several times they are a panel, and each has a vote.",
        ),
        *ASKING,
    )


def blind_options(function: F) -> F:
    """What the judge of two outputs does not see."""
    return stacked(
        function,
        click.option(
            "--scrub/--no-scrub",
            default=None,
            help="Take out where an output names its maker (default: yes).",
        ),
        click.option(
            "--draw-labels/--no-draw-labels",
            default=None,
            help="Call the two places by drawn labels as well (default: yes).",
        ),
        click.option("--label-seed", type=int, help="Seed of the labels (default 0)."),
        rule_option(
            "Who wins where the orders differ: nobody (consistent, the default), or who is "
            "preferred by more than half of both, with --logprobs by probabilities (average)."
        ),
    )


def rule_option(words: str) -> Callable[[F], F]:
    """By which rule two orders are reconciled."""
    return click.option("--rule", type=click.Choice(["consistent", "average"]), help=words)


def check_no_rule(rule: str | None) -> None:
    """Refuse a rule for two orders where no comparison is meant."""
    if rule is not None:
        raise SettingsError(
            "--rule is for comparisons", hint="name one (cmp-…): judgekit show --comparisons"
        )


class _Model(click.types.StringParamType):
    """A model; in an environment variable several are parted by commas, for names have blanks."""

    envvar_list_splitter = ","
