"""The groups of options of commands that call a judge, or read the outputs and cases it judges."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
from click.core import ParameterSource

from judgekit.cli.options import (
    CACHE_WORDS,
    EXISTING_FILE,
    EXISTING_PATH,
    CachePlace,
    CommandOptions,
    SettingGroups,
    StoreOptions,
    TalkOptions,
    cases_option,
    config_option,
    dry_run_option,
    flag,
    long_spelling,
    max_cost_option,
    option,
    rubric_option,
)
from judgekit.datasets import DEFAULT_CACHE_FOLDER, JudgeSettings
from judgekit.models.cache import CacheLocation, mask_address
from judgekit.records import DEFAULT_CONSENSUS, Consensus

if TYPE_CHECKING:
    from collections.abc import Iterator

# These are all defaults: checking them would build validators for every help.
NO_SETTINGS = JudgeSettings.model_construct()


def judge_option(
    more: str = "", default: object = None, kind: click.ParamType[Any] | None = None
) -> Any:
    words = "Judge model: PROVIDER/MODEL (openai/gpt-4.1-mini), recorded:FILE, or local"
    return option(
        f"{words}{more}.",
        default,
        spelling="--judge",
        kind=kind,
        metavar="MODEL",
        has_variable=True,
    )


class CallOptions(CommandOptions):
    """How judges are called, with which cache and at which cost."""

    # Without a default of its own: a setting that is not given is the suite's, else the default.
    judge_settings: Annotated[JudgeSettings, SettingGroups("judge", "limits", "cache")] = (
        NO_SETTINGS
    )
    cache_dir: CacheLocation | None = option(
        f"{CACHE_WORDS.removesuffix('.')} (default {DEFAULT_CACHE_FOLDER}).",
        spelling="--cache/--cache-dir",
        kind=CachePlace(),
        metavar="DIR|URL",
        has_variable=True,
    )
    no_cache: bool = flag("Do not read or write the cache.", has_variable=True)
    max_cost: float | None = max_cost_option("Stop at this cost. Exit code 5.")
    retry_errors: bool = False

    @property
    def max_concurrency(self) -> int | None:
        """The limit that was given; None leaves it to the suite."""
        settings = self.judge_settings
        is_set = "max_concurrency" in settings.model_fields_set
        return settings.max_concurrency if is_set else None


class JudgeOptions(CallOptions):
    """One judge and how it is called."""

    judge_model: str | None = judge_option()


class SelectionOptions(CommandOptions):
    """Which cases or outputs are used."""

    filter_tag: tuple[str, ...] = option("Only cases with this tag; may be repeated.", ())
    limit: int | None = option("Only the first N cases.", spelling="-n/--limit", ge=1)
    sample: int | None = option("Draw N cases at random.", ge=1)
    # Fixed by default: the same command selects the same cases.
    seed: int = option("Random seed of --sample.", 0)


class InputOptions(SelectionOptions):
    """Outputs that are graded, and by what."""

    # An argument of some commands and an option of others, which redefine the field.
    outputs: tuple[Path, ...] = ()
    config: Path | None = config_option("Suite file (default judgekit.yaml, if there is one).")
    rubric: str | None = rubric_option("Rubric file, or the name of a shipped rubric.")
    cases: Path | None = cases_option("Cases of the outputs (inputs, references).")
    variant: str | None = option("Variant of outputs that do not name one.")
    limit: int | None = option("Only the first N outputs.", spelling="-n/--limit", ge=1)
    sample: int | None = option("Draw N outputs at random.", ge=1)


class GradingOptions(InputOptions, JudgeOptions):
    """What a judge needs to grade outputs, whichever command has it do so."""

    calibration: Path | None = None
    require_calibration: bool = False


class SuiteOptions(SelectionOptions):
    """Which part of a suite is run, and on what where the suite has no variants."""

    config: Path | None = config_option("Suite file, if not given as the argument.", EXISTING_PATH)
    benchmark: str | None = option(
        "Of a quality memory: the cases of this benchmark only, by its id or name.", metavar="NAME"
    )
    variant: tuple[str, ...] = option("Only this variant; may be repeated.", ())
    filter_case: tuple[str, ...] = option("Only this case; may be repeated.", (), metavar="ID")
    filter_name: str | None = option("Only cases whose name matches REGEX.", metavar="REGEX")
    where: tuple[str, ...] = option(
        "Only cases whose FIELD is VALUE: difficulty, priority, author, any other field of the "
        "metadata, stratum, agent or skill. Several fields must all match, of several values of a "
        "field one.",
        (),
        metavar="FIELD=VALUE",
    )
    target_outputs: Path | None = option(
        "Recorded outputs (rows with case_id and text) for a suite without variants.",
        spelling="--outputs",
        kind=EXISTING_FILE,
    )
    target_command: str | None = option(
        "Program to test: case JSON on stdin, output JSON on stdout.", metavar="COMMAND"
    )
    target_python: str | None = option(
        "Python function to test, called with each case.", metavar="MODULE:NAME"
    )
    target_http: str | None = option(
        "Endpoint to test: case JSON in, output JSON out.", metavar="URL"
    )
    rubric: str | None = rubric_option(
        "Rubric of cases that have none: a file, or the name of a shipped rubric."
    )
    extra_rubric: tuple[str, ...] = option(
        "Judge every judged case by this rubric too, without a say in its verdict; may be repeated "
        "(skill_conventions, skill_review).",
        (),
        metavar="FILE|NAME",
    )


class _Model(click.types.StringParamType):
    """A model; several in an environment variable are separated by commas."""

    # click splits at blanks by default, but `recorded:my replies.jsonl` is one model.
    envvar_list_splitter = ","


class ComparingOptions(InputOptions, CallOptions, TalkOptions):
    """What is compared, by which rubric and judge, at which significance level."""

    cases: Path | None = cases_option("Cases to answer (inputs, references).", "--cases/--dataset")
    variant: str | None = None
    limit: int | None = option("Only the first N cases.", spelling="-n/--limit", ge=1)
    sample: int | None = option("Draw N cases at random.", ge=1)
    seed: int = option("Random seed of the sample.", 0)
    alpha: float = option("Significance level of a decision.", 0.05, gt=0, lt=1)


class StudyOptions(ComparingOptions, GradingOptions):
    """What the commands that examine a judge have in common."""


class ContestOptions(ComparingOptions, StoreOptions):
    """What `compare` and `rank` have in common: judges that compare outputs blind."""

    judge_settings: Annotated[JudgeSettings, SettingGroups("blind", "judge", "limits", "cache")] = (
        NO_SETTINGS
    )
    judge_model: tuple[str, ...] = judge_option(
        "; several form a panel with one vote each", (), _Model()
    )
    model: str | None = option(
        "Model that answers prompt templates.", spelling="-m/--model", has_variable=True
    )
    allow_scripts: bool = flag("Allow the setup and teardown scripts of the suite.")
    dry_run: bool = dry_run_option()
    max_cases: int | None = None


class LabelledStudyOptions(StudyOptions):
    """What the commands that examine a judge by human labels have in common."""

    annotator: tuple[str, ...] = option(
        "Only labels of this annotator; may be repeated.", (), metavar="NAME"
    )
    consensus: Consensus = option(
        "How labels of several annotators are combined.", DEFAULT_CONSENSUS
    )


_NOT_REPEATED = frozenset({
    "dry_run", "fail_fast", "fail_under", "filter_case", "filter_name", "filter_tag", "frozen",
    "limit", "max_cost", "max_time", "notes", "output", "refresh", "resume", "retry_errors",
    "sample", "variant", "where",
})  # fmt: skip
"""Options of one invocation, and those that the stored run remembers."""


def resume_command(run_id: str, *, retry: bool = False) -> str:
    """The command line that resumes a run or a comparison of this command."""
    context = click.get_current_context()
    name = context.command.name or ""
    words = ["judgekit", name, *_repeated_words(context), "--resume", run_id]
    return shlex.join([*words, *(["--retry-errors"] if retry else [])])


def _repeated_words(context: click.Context) -> Iterator[str]:
    """What was typed, as far as the resumed run needs it too."""
    # Arguments first, as they are typed.
    for parameter in sorted(context.command.params, key=lambda one: isinstance(one, click.Option)):
        name = parameter.name or ""
        # What the environment sets is set the next time as well.
        is_typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if name in _NOT_REPEATED or not is_typed:
            continue
        value = context.params[name]
        if isinstance(parameter, click.Argument):
            yield from map(str, value if isinstance(value, tuple) else (value,))
        elif isinstance(value, bool):
            yield (parameter.opts if value else parameter.secondary_opts)[-1]
        else:
            for one in value if isinstance(value, tuple) else (value,):
                shown = f"{one:g}" if isinstance(one, float) else str(one)
                yield from (long_spelling(parameter), mask_address(shown))
