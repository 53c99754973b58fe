"""Options and suite file to everything that `run` and its plan need, checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from judgekit.cli import console as streams
from judgekit.cli.options import DEFAULT_STORE
from judgekit.cli.running.named_suites import suite_paths, with_given_variant
from judgekit.cli.setup import JUDGE_SETTINGS, cache_folder, refresh_of
from judgekit.datasets.loading import rubric_path
from judgekit.datasets.streaming import open_cases
from judgekit.datasets.suite import scorer_name
from judgekit.datasets.suite_opening import suite_from
from judgekit.datasets.suite_settings import Gate, JudgeSettings
from judgekit.errors import SettingsError
from judgekit.evaluation.preparing.asking import Asking, Choice
from judgekit.evaluation.preparing.case_plans import JUDGE
from judgekit.evaluation.preparing.default_rubrics import needs_judge
from judgekit.evaluation.preparing.opening import OpenSuite, open_suite
from judgekit.evaluation.running.resuming import begun_run, chosen_before
from judgekit.evaluation.running.runner import Session
from judgekit.shipped import shipped_file
from judgekit.store.runs import RunStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from judgekit.cli.setup import Options
    from judgekit.datasets.suite import Suite
    from judgekit.records.run import RunInfo


@dataclass(slots=True)
class RunSetup:
    """Everything a run needs, resolved and checked."""

    opened: OpenSuite
    """The suite, ready to run."""

    store: RunStore
    """Where it is kept."""

    session: Session
    """How this sitting goes."""

    begun: RunInfo | None
    """The run that is gone on with."""

    notes: str | None
    """Whatever should be remembered with the run."""

    info: RunInfo | None = None
    """The run, once it is known."""

    def total(self) -> int:
        """How many answers are still to be had; tries of what failed are not counted."""
        n_cases = (self.info.n_cases if self.info else None) or 0
        n_all = n_cases * len(self.opened.variants) * self.opened.suite.settings.repeats
        if self.begun is None:
            return n_all
        again = self.session.retry_errors
        return n_all - sum(
            seen.is_done and not (again and (seen.has_error or seen.n_failures))
            for seen in self.store.progress(self.begun.id)
            if seen.key.repeat < self.opened.suite.settings.repeats
        )


def run_setup(path: Path | None, options: Options) -> RunSetup:
    """Resolve the options of a run: command line first, then the suite file, then defaults."""
    if options.get("refresh") and options.get("frozen"):
        raise SettingsError("--refresh and --frozen contradict each other")
    suite = with_given_rubric(_suite(path, options), options)
    suite = with_given_variant(_judged(suite, options), options)
    suite = _with_given_calibration(suite, options)
    store = RunStore(cast("str | None", options.get("store")) or DEFAULT_STORE)
    begun = _begun(store, suite, options)
    chosen = _choice(options)
    if begun is not None and chosen == Choice():
        chosen = chosen_before(begun)
    asking = asking_of(options)
    session = Session(
        max_seconds=cast("float | None", options.get("max_time")),
        fail_fast=bool(options.get("fail_fast")),
        in_flight=cast("int | None", options.get("max_concurrency")),
        retry_errors=bool(options.get("retry_errors")),
    )
    notes = cast("str | None", options.get("notes"))
    return RunSetup(open_suite(suite, chosen, asking), store, session, begun, notes)


def with_given_judge(suite: Suite, options: Mapping[str, object]) -> Suite:
    """The suite with the judge that the command line names, or its settings of asking."""
    named = cast("str | None", options.get("judge_model"))
    given = {name: options[name] for name in JUDGE_SETTINGS if options.get(name) is not None}
    if options.get("judge_seed") is not None:
        given["seed"] = options["judge_seed"]
    if isinstance(template := given.get("template"), str):
        given["template"] = _from_here(template, suite)
    judges = suite.judge
    if named is not None:
        same = [judge for judge in judges if judge.model == named]
        judges = tuple(same) or (JudgeSettings(model=_recorded_here(named, suite)),)
        suite = suite.model_copy(update={"panel": None})
    if named is None and not given:
        return suite
    merged = tuple(
        JudgeSettings.model_validate({**judge.model_dump(exclude_unset=True), **given})
        if judge.kind == "llm"
        else judge
        for judge in judges
    )
    return suite.model_copy(update={"judge": merged})


def asking_of(options: Options) -> Asking:
    """How a suite's judges and targets are asked."""
    folders = cast("Iterable[Path]", options.get("template_folders") or ())
    return Asking(
        cache=cache_folder(options),
        template_folders=tuple(folders),
        frozen=bool(options.get("frozen")),
        refresh=refresh_of(options),
        max_cost_usd=cast("float | None", options.get("max_cost")),
        allow_scripts=bool(options.get("allow_scripts")),
    )


def _judged(suite: Suite, options: Options) -> Suite:
    """The suite with the judge of the command line, where there is anything to ask it."""
    judged = with_given_judge(suite, options)
    is_asked = suite.judge or any(scorer_name(scorer) == JUDGE for scorer in suite.scorers)
    if is_asked or not judged.judge:
        return judged
    cases = open_cases(suite)
    if any(needs_judge(case, suite) for case in cases):
        return judged
    streams.note(
        f"the judge is not asked: every case of {cases.name} is decided by its own checks "
        "(--rubric FILE|NAME has it asked too)"
    )
    return suite


def with_given_rubric(suite: Suite, options: Mapping[str, object]) -> Suite:
    """The suite with the rubric that the command line names; cases keep their own."""
    named = cast("str | None", options.get("rubric"))
    if named is None:
        return suite
    # A shipped one stays its name; a file is looked for where it was typed.
    path = rubric_path(named)
    is_shipped = path.parent == shipped_file("prompts", "rubrics")
    return suite.model_copy(update={"rubric": path.stem if is_shipped else str(path.resolve())})


def _recorded_here(model: str, suite: Suite) -> str:
    """Recorded replies that the command line names are looked for where it was typed."""
    kind, colon, path = model.partition(":")
    return f"{kind}:{_from_here(path, suite)}" if kind == "recorded" and colon else model


def _from_here(path: str, suite: Suite) -> str:
    """A path that is found here; one that is not, or is the suite's own, stays as it is."""
    here = Path(path).resolve()
    return str(here) if here.is_file() and here != suite.resolve(path).resolve() else path


def _with_given_calibration(suite: Suite, options: Mapping[str, object]) -> Suite:
    given = cast("Path | None", options.get("calibration"))
    changes: dict[str, object] = {} if given is None else {"calibration": str(given.resolve())}
    if options.get("require_calibration"):
        gate = suite.gate or Gate()
        changes["gate"] = gate.model_copy(update={"require_calibration": True})
    return suite.model_copy(update=changes) if changes else suite


def _suite(path: Path | None, options: Options) -> Suite:
    named, *others = suite_paths(path, options)
    if others:
        raise SettingsError(
            f"{path} holds {1 + len(others)} datasets, among them {named.name}",
            hint="name one of them",
        )
    return suite_from(named)


def _begun(store: RunStore, suite: Suite, options: Options) -> RunInfo | None:
    named = cast("str | None", options.get("resume"))
    if named is None:
        if options.get("retry_errors"):
            raise SettingsError("--retry-errors needs --resume", hint="give --resume as well")
        return None
    return begun_run(store, named, suite)


def _choice(options: Options) -> Choice:
    def several(name: str) -> tuple[str, ...]:
        return tuple(cast("Iterable[str]", options.get(name) or ()))

    sample = cast("int | None", options.get("sample"))
    return Choice(
        variants=several("variant"),
        tags=several("filter_tag"),
        case_ids=several("filter_case"),
        name_pattern=cast("str | None", options.get("filter_name")),
        sample=sample,
        seed=cast("int", options.get("seed") or 0) if sample is not None else 0,
        limit=cast("int | None", options.get("limit")),
    )
