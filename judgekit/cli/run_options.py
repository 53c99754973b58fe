"""The options of `run` and `grade`, which evaluate a suite and store a run.

`suite_setup` resolves them; what several commands share is in `options`.
"""

from __future__ import annotations

from pathlib import Path

from judgekit.cli.options import (
    CalibrationMapOptions,
    GradingOptions,
    JudgeOptions,
    StoreOptions,
    SuiteOptions,
    TalkOptions,
    dry_run_option,
    max_cost_option,
    option,
)
from judgekit.cli.outputs import output_option


class EngineOptions(JudgeOptions, CalibrationMapOptions, StoreOptions, TalkOptions):
    """What `run` and `grade` have in common: both evaluate a suite and store a run."""

    output: tuple[Path, ...] = output_option(
        "Write every answer to FILE: .jsonl, .json, .csv or .parquet; or the report: .html or .md."
    )
    # For every variant: a good one must not hide one that fails.
    fail_under: float | None = option(
        "--fail-under",
        "Exit 1 if the pass rate of a variant is below RATE, 4 if it has none.",
        ge=0,
        le=1,
        metavar="RATE",
    )
    fail_fast: bool = option("-x/--fail-fast", "Stop at the first failed answer.", default=False)
    dry_run: bool = dry_run_option()
    allow_scripts: bool = False
    max_time: float | None = None

    @property
    def resumes(self) -> bool:
        """Whether a stored run is to be continued."""
        return bool(getattr(self, "resume", None))


class RunOptions(SuiteOptions, EngineOptions):
    """The options of `run`."""

    resume: str | None = option(
        "--resume",
        "Resume a run of this suite: its id, the beginning of it, or the latest.",
        metavar="[RUN]",
        flag_value="latest",
    )
    retry_errors: bool = option(
        "--retry-errors", "With --resume: retry what failed.", default=False
    )
    max_cost: float | None = max_cost_option("Stop at this cost; --resume continues. Exit code 5.")
    max_time: float | None = option(
        "--max-time",
        "Start no new case after this time; --resume continues. Exit code 5.",
        gt=0,
        metavar="SECONDS",
        has_variable=True,
    )
    # Off by default: a suite from the network must not run programs.
    allow_scripts: bool = option(
        "--allow-scripts", "Allow the setup and the scripts of the suite.", default=False
    )
    # Stored with the run, and no part of what identifies it.
    notes: str | None = option("--notes", "Notes to store with the run.")


class GradeOptions(EngineOptions, GradingOptions):
    """The options of `grade`."""

    no_store: bool = option(
        "--no-store",
        "Do not store the run: no later show, trend, baseline or --resume.",
        default=False,
        has_variable=True,
    )
    output: tuple[Path, ...] = output_option(
        "Write the verdicts to FILE: .jsonl, .json, .csv or .parquet; or the report: .html or .md."
    )
    # A flag without an id: the options describe the outputs, which identify the run.
    resume: bool = option(
        "--resume",
        "Resume the stored run of the same outputs; without one, cached replies are used.",
        default=False,
    )
    retry_errors: bool = option(
        "--retry-errors",
        "Retry failed questions, including cached replies that cannot be parsed.",
        default=False,
    )
    fail_fast: bool = option(
        "-x/--fail-fast", "Stop at the first failed output. Exit code 1.", default=False
    )
    max_cost: float | None = max_cost_option(
        "Stop at this cost; run it again to continue. Exit code 5."
    )
