"""Generates and stores the outputs of variants or templates before `compare`.

`rank` compare them.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from judgekit.cli import console
from judgekit.cli.exit_codes import EXIT_FROZEN, EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_LIMIT
from judgekit.cli.options import resume_command
from judgekit.cli.progress import show_progress
from judgekit.cli.sides import SideArguments, is_template_argument, run_side, split_name
from judgekit.cli.signals import Interrupts
from judgekit.cli.suite_setup import asking_of
from judgekit.datasets import Suite, VariantSettings
from judgekit.errors import SettingsError
from judgekit.evaluation import Choice, Session, choice_of_run, open_suite, prepare_run, run_suite
from judgekit.report import message_lines
from judgekit.store import COMPARISON_OUTPUTS_SUFFIX

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judgekit.cli.setup import Options
    from judgekit.evaluation import OpenSuite, RunStopReason, Side
    from judgekit.records import RunInfo
    from judgekit.store import RunStore

_STOPPED: dict[RunStopReason, int] = {
    "interrupted": EXIT_INTERRUPTED,
    "budget": EXIT_LIMIT,
    "time": EXIT_LIMIT,
    "fail_fast": EXIT_INCOMPLETE,
    "model": EXIT_INCOMPLETE,
}
"""The exit code for each reason to end before every output was there."""


@dataclass(frozen=True, slots=True)
class GeneratedOutputs:
    """What came of making the outputs."""

    run: RunInfo
    """The stored run they are in."""

    sides: tuple[Side, ...]
    """The sides, in the order of the arguments."""

    session: Session
    """How it went."""

    spent_usd: float
    """What was paid, as far as known."""

    def code(self) -> int | None:
        """The exit code where it is not whole, and what to do is told; None to go on."""
        session, run = self.session, self.run
        if session.reason is not None:
            what = "interrupted" if session.reason == "interrupted" else f"stopped: {run.reason}"
            console.note(_go_on(what, run.id))
            return _STOPPED[session.reason]
        if session.n_missed:
            console.note("some replies are not in the frozen cache; nothing was asked for them")
            return EXIT_FROZEN
        return None


def generate_outputs(
    names: SideArguments,
    answering: tuple[Suite, tuple[str, ...]],
    options: Options,
    store: RunStore,
    begun: RunInfo | None = None,
) -> GeneratedOutputs:
    """Have all sides answer the cases; no judge is asked."""
    # Outputs are made as `judgekit run` makes them, over the same cache and within the same limit
    # of money, and are on disk before anything is compared.
    suite, ids = answering
    chosen = _choice(options) if begun is None else choice_of_run(begun)
    opened = open_suite(suite, chosen, asking_of(options))
    session = Session(in_flight=cast("int | None", options.get("max_concurrency")))
    run = prepare_run(opened, store, begun, now=session.now(), notes="outputs to compare")
    try:
        ended = asyncio.run(_run(opened, store, run, session, options, resumed=begun is not None))
    except asyncio.CancelledError:  # the second Ctrl-C
        console.note(_go_on("stopped at once", run.id))
        sys.exit(EXIT_INTERRUPTED)
    sides = tuple(
        _named(run_side(name, ended, variant, store), name)
        for name, variant in zip(names.given, ids, strict=True)
    )
    spent = 0.0 if opened.budget is None else opened.budget.spent_usd
    return GeneratedOutputs(ended, sides, session, spent)


async def _run(
    opened: OpenSuite,
    store: RunStore,
    run: RunInfo,
    session: Session,
    options: Options,
    *,
    resumed: bool,
) -> RunInfo:
    shown = not (options.get("quiet") or options.get("no_progress") or options.get("as_json"))
    total = (run.n_cases or 0) * len(opened.variants) * opened.suite.settings.repeats
    try:
        with (
            show_progress(
                console.stderr(), total, shown=shown, verb=("answering", "answered")
            ) as bar,
            Interrupts(lambda: session.end("interrupted")),
        ):
            session.watch = lambda result: bar.advance([], is_error=result.output.error is not None)
            session.note = lambda text: console.note(message_lines(text))
            return await run_suite(opened, store, run, session, resumed=resumed)
    finally:
        await opened.aclose()


def answering_suite(names: SideArguments, options: Options) -> tuple[Suite, tuple[str, ...]]:
    """A suite of the sides, without anybody who judges."""
    variants = [_variant(name, names, options) for name in names.given]
    ids = [variant.id for variant in variants]
    variants = [
        one.model_copy(update={"id": str(Path(name).with_suffix(""))}) if ids.count(one.id) > 1
        else one
        for one, name in zip(variants, names.given, strict=True)
    ]  # fmt: skip
    ids = [variant.id for variant in variants]
    cases = cast("Path | None", options.get("cases"))
    base = names.suite
    if base is None:
        if cases is None:
            raise SettingsError(
                "there are no cases to answer", hint="give --cases FILE, or a suite: --config FILE"
            )
        base = Suite(name=" against ".join(ids), dataset=str(cases.resolve()))
    kept: dict[str, object] = {
        "name": base.name if names.suite is None else f"{base.name}{COMPARISON_OUTPUTS_SUFFIX}",
        "variants": tuple(variants),
        "judge": (),
        "panel": None,
        "rubric": None,
        "profile": None,
        "assertions": (),
        "scorers": (),
        "gate": None,
    }
    if cases is not None:
        kept |= {"dataset": str(cases.resolve()), "cases": None, "columns": {}}
    return base.model_copy(update=kept), tuple(ids)


def _variant(name: str, names: SideArguments, options: Options) -> VariantSettings:
    if name in names.variants and not Path(name).is_file():
        return names.variants[name]
    path, variant = split_name(name)
    file = Path(path).resolve()
    if not is_template_argument(name):
        return VariantSettings(id=variant or file.stem, outputs=str(file))
    model = cast("str | None", options.get("model"))
    if model is None:
        raise SettingsError(
            f"{name} is a prompt, and no model is named to send it to",
            hint="give -m openai/gpt-4.1-nano (key in OPENAI_API_KEY), any other model that "
            "litellm knows, or local",
        )
    base = cast("str | None", options.get("api_base"))
    return VariantSettings(id=file.stem, prompt=str(file), model=model, api_base=base)


def _choice(options: Options) -> Choice:
    sample = cast("int | None", options.get("sample"))
    limits = [cast("int | None", options.get(name)) for name in ("limit", "max_cases")]
    known = [limit for limit in limits if limit is not None]
    return Choice(
        tags=tuple(cast("Iterable[str]", options.get("filter_tag") or ())),
        sample=sample,
        seed=cast("int", options.get("seed") or 0) if sample is not None else 0,
        limit=min(known) if known else None,
    )


def _go_on(what: str, run_id: str) -> str:
    context = click.get_current_context()
    again = resume_command(context, run_id, command=context.command.name or "compare")
    return f"{what}; outputs so far are kept. Go on with: {again}"


def _named(side: Side, name: str) -> Side:
    """A side whose own file would give it away too."""
    own = (Path(name).name, Path(name).stem) if Path(name).is_file() else ()
    return replace(side, names=(*side.names, *own))
