"""Options that several commands share, spelled alike everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    Decorator = Callable[["F"], "F"]

F = TypeVar("F", bound="Callable[..., object]")

DEFAULT_CACHE = ".judgekit/cache"
"""Where the cache lies when nothing says otherwise."""

DEFAULT_STORE = ".judgekit/judgekit.db"
"""Where runs are kept when nothing says otherwise."""

_FOLDER = click.Path(path_type=Path, file_okay=False)


ASKING = (
    click.option(
        "--api-base",
        metavar="URL",
        envvar="JUDGEKIT_API_BASE",
        help="Endpoint of an OpenAI-compatible or other server.",
    ),
    click.option(
        "--mode",
        type=click.Choice(["per_criterion", "joint"]),
        envvar="JUDGEKIT_MODE",
        help="One call a criterion (default), or one call for all.",
    ),
    click.option(
        "--template",
        metavar="NAME",
        envvar="JUDGEKIT_TEMPLATE",
        help="Prompt template, by name or .j2 file.",
    ),
    click.option(
        "--templates",
        "template_folders",
        type=_FOLDER,
        multiple=True,
        help="Folder of your own templates; may be given more than once.",
    ),
    click.option(
        "--repeats",
        type=click.IntRange(1),
        envvar="JUDGEKIT_REPEATS",
        help="Ask each question N times.",
    ),
    click.option(
        "--temperature",
        type=click.FloatRange(0),
        envvar="JUDGEKIT_TEMPERATURE",
        help="Sampling temperature.",
    ),
    click.option(
        "--judge-seed",
        type=int,
        envvar="JUDGEKIT_JUDGE_SEED",
        help="Sampling seed, for providers that take one.",
    ),
    click.option(
        "--max-tokens",
        type=click.IntRange(1),
        envvar="JUDGEKIT_MAX_TOKENS",
        help="Limit of a reply, in tokens.",
    ),
    click.option(
        "--logprobs/--no-logprobs",
        default=None,
        envvar="JUDGEKIT_LOGPROBS",
        help="Ask for token probabilities, for weighted scores and confidence.",
    ),
)
"""How a judge is asked, whoever it is."""

_CONFIG = click.option(
    "-c",
    "--config",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    envvar="JUDGEKIT_CONFIG",
    help="Suite file (default judgekit.yaml, where there is one).",
)

_RUBRIC = click.option(
    "--rubric",
    metavar="FILE|NAME",
    envvar="JUDGEKIT_RUBRIC",
    help="Rubric file, or a shipped one's name.",
)


def judge_options(function: F) -> F:
    """Who judges, and how it is asked."""
    return stacked(
        function,
        click.option(
            "--judge",
            "judge_model",
            metavar="MODEL",
            envvar="JUDGEKIT_JUDGE",
            help="Provider and model (openai/gpt-4.1-mini, anthropic/…), recorded:FILE, or local.",
        ),
        *ASKING,
    )


def limit_options(function: F) -> F:
    """How hard the provider may be asked."""
    return stacked(
        function,
        click.option(
            "-j",
            "--max-concurrency",
            type=click.IntRange(1),
            envvar="JUDGEKIT_MAX_CONCURRENCY",
            help="Calls in flight at most, for each model (default 32).",
        ),
        click.option(
            "--rpm", type=click.IntRange(1), envvar="JUDGEKIT_RPM", help="Requests a minute."
        ),
        click.option(
            "--tpm", type=click.IntRange(1), envvar="JUDGEKIT_TPM", help="Tokens a minute."
        ),
        click.option(
            "--timeout",
            "timeout_s",
            type=click.FloatRange(0, min_open=True),
            envvar="JUDGEKIT_TIMEOUT",
            help="Deadline of one call, in seconds (default 60).",
        ),
        click.option(
            "--max-retries",
            type=click.IntRange(0),
            envvar="JUDGEKIT_MAX_RETRIES",
            help="Retries after a passing error (default 5).",
        ),
    )


def cache_options(function: F) -> F:
    """What is read from the cache, and where it lies."""
    return stacked(
        function,
        click.option(
            "--cache-dir",
            type=_FOLDER,
            envvar="JUDGEKIT_CACHE_DIR",
            help=f"Folder of the reply cache (default {DEFAULT_CACHE}).",
        ),
        click.option(
            "--no-cache",
            is_flag=True,
            envvar="JUDGEKIT_NO_CACHE",
            help="Neither read nor write the cache.",
        ),
        click.option(
            "--refresh",
            is_flag=True,
            envvar="JUDGEKIT_REFRESH",
            help="Ask anew what the cache holds.",
        ),
        click.option(
            "--frozen",
            is_flag=True,
            envvar="JUDGEKIT_FROZEN",
            help="Never ask: what the cache does not hold is an error (exit 6).",
        ),
    )


def calibration_options(function: F) -> F:
    """By which maps the judge's values are calibrated, and whether they have to hold."""
    return stacked(
        function,
        click.option(
            "--calibration",
            type=click.Path(path_type=Path, exists=True),
            metavar="PATH",
            help="Maps that `calibrate --write-map` wrote (a file or folder): their values decide.",
        ),
        click.option(
            "--require-calibration",
            is_flag=True,
            help="Ask nothing without a calibration that holds. Exit code 4.",
        ),
    )


def input_options(function: F) -> F:
    """What is graded."""
    return stacked(
        function,
        click.argument("outputs", nargs=-1, type=click.Path(path_type=Path, exists=True)),
        _CONFIG,
        _RUBRIC,
        click.option(
            "--cases",
            type=click.Path(path_type=Path, exists=True),
            envvar="JUDGEKIT_CASES",
            help="Cases that the outputs answer (inputs, references).",
        ),
        click.option("--variant", help="Name of the variant, for outputs that name none."),
        click.option("--filter-tag", multiple=True, help="Only cases with this tag."),
        _drawing("outputs"),
    )


def side_options(function: F) -> F:
    """What is compared, by which rubric and at which error."""
    return stacked(
        function,
        _CONFIG,
        _RUBRIC,
        click.option(
            "--cases",
            "--dataset",
            "cases",
            type=click.Path(path_type=Path, exists=True),
            envvar="JUDGEKIT_CASES",
            help="The cases that are answered (inputs, references).",
        ),
        click.option("--filter-tag", multiple=True, help="Only cases with this tag."),
        _drawing("cases", seeded="what is drawn"),
        click.option(
            "--alpha",
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            default=0.05,
            show_default=True,
            help="The error a decision may have.",
        ),
    )


def choice_options(function: F) -> F:
    """Which part of a suite is run."""
    return stacked(
        function,
        click.option(
            "-c",
            "--config",
            type=click.Path(path_type=Path, exists=True),
            envvar="JUDGEKIT_CONFIG",
            help="Suite file, where it is not the argument.",
        ),
        click.option("--variant", multiple=True, help="Only this variant; may be repeated."),
        click.option("--filter-tag", multiple=True, help="Only cases with this tag."),
        click.option("--filter-case", multiple=True, metavar="ID", help="Only this case."),
        click.option("--filter-name", metavar="REGEX", help="Only cases whose name matches."),
        _drawing("cases"),
    )


def target_options(function: F) -> F:
    """What is run where the suite names no variants, as other tools' files do not."""
    return stacked(
        function,
        click.option(
            "--outputs",
            "given_outputs",
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
            help="Recorded outputs (rows with case_id and text) to run a suite without variants "
            "with; each variant that they name is one.",
        ),
        click.option(
            "--target-command",
            "given_command",
            metavar="COMMAND",
            help="A program to run it with: case JSON on stdin, output JSON on stdout.",
        ),
        click.option(
            "--target-python",
            "given_python",
            metavar="MODULE:NAME",
            help="A Python function to run it with, called with each case.",
        ),
        click.option(
            "--target-http",
            "given_http",
            metavar="URL",
            help="An endpoint to run it with: case JSON in, output JSON out.",
        ),
    )


def store_option(function: F) -> F:
    """Where runs are kept."""
    return click.option(
        "--store",
        envvar="JUDGEKIT_STORE",
        metavar="FILE|URL",
        default=DEFAULT_STORE,
        show_default=True,
        help="SQLite file or database URL (postgresql://…) that runs are kept in.",
    )(function)


def max_cost_option(text: str = "Never spend more than this. Exit code 5.") -> Callable[[F], F]:
    """What may be spent at the most."""
    return click.option(
        "--max-cost",
        type=click.FloatRange(0, min_open=True),
        envvar="JUDGEKIT_MAX_COST",
        metavar="USD",
        help=text,
    )


def talk_options(function: F) -> F:
    """How much is said."""
    return stacked(
        function,
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
        click.option("--no-progress", is_flag=True, help="No progress display."),
        click.option("-q", "--quiet", is_flag=True, help="Only the result."),
        click.option("-v", "--verbose", is_flag=True, help="Every verdict with every reason."),
    )


def json_option(function: F) -> F:
    """Print the result as JSON."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(
        function
    )


def cache_dir_option(function: F) -> F:
    """Where the cache lies."""
    return click.option(
        "--cache-dir",
        type=_FOLDER,
        envvar="JUDGEKIT_CACHE_DIR",
        default=DEFAULT_CACHE,
        show_default=True,
        help="Folder of the reply cache.",
    )(function)


def _drawing(things: str, *, seeded: str = "--sample") -> Callable[[F], F]:
    """How many of them are taken, and which."""

    def add(function: F) -> F:
        return stacked(
            function,
            click.option(
                "-n", "--limit", type=click.IntRange(1), help=f"Only the first N {things}."
            ),
            click.option("--sample", type=click.IntRange(1), help=f"N {things} drawn at random."),
            click.option(
                "--seed", type=int, default=0, show_default=True, help=f"Seed of {seeded}."
            ),
        )

    return add


def stacked(function: F, *decorators: Decorator[F]) -> F:
    """A command with several options, in the order they stand in its help."""
    for decorator in reversed(decorators):
        function = decorator(function)
    return function
