"""`judgekit compare`: two sides blind, in both orders; or two runs by the scores they have."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import aclosing, closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgekit.cli import console as streams
from judgekit.cli.compare_sides import compare_setup, is_file
from judgekit.cli.display import progress
from judgekit.cli.interrupts import Interrupts
from judgekit.cli.main import (
    EXIT_FROZEN,
    EXIT_INCOMPLETE,
    EXIT_INCONCLUSIVE,
    EXIT_INTERRUPTED,
)
from judgekit.cli.options import (
    cache_options,
    judge_options,
    limit_options,
    store_option,
    talk_options,
)
from judgekit.errors import SettingsError
from judgekit.evaluation.comparing.asking import compare_pairs
from judgekit.evaluation.comparing.decision import Looking
from judgekit.evaluation.comparing.summary import ComparisonTally
from judgekit.report.comparison_terminal import (
    comparison_json,
    comparison_lines,
    print_comparison,
)
from judgekit.report.replacing import check_place, replaced
from judgekit.store.runs import RunStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from judgekit.cli.setup import Options
    from judgekit.evaluation.comparing.figures import ComparisonSummary
    from judgekit.evaluation.comparing.pairing import LeftOut, Pairing
    from judgekit.judge.judge import Judge
    from judgekit.records.comparison import Comparison
    from judgekit.records.rubric import Rubric

_SUFFIXES = (".jsonl", ".json")


@click.command()
@click.argument("a")
@click.argument("b")
@click.option(
    "-c",
    "--config",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    envvar="JUDGEKIT_CONFIG",
    help="Suite file (default judgekit.yaml, where there is one).",
)
@click.option("--rubric", metavar="FILE|NAME", help="Rubric file, or a shipped one's name.")
@click.option(
    "--cases",
    type=click.Path(path_type=Path, exists=True),
    help="Cases that the outputs answer (inputs, references).",
)
@click.option("--filter-tag", multiple=True, help="Only cases with this tag.")
@click.option("-n", "--limit", type=click.IntRange(1), help="Only the first N pairs.")
@click.option("--sample", type=click.IntRange(1), help="N pairs drawn at random.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of --sample.")
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="The error a decision may have.",
)
@click.option("--until-decided", is_flag=True, help="Stop as soon as a difference is shown.")
@click.option("--max-cases", type=click.IntRange(1), help="With --until-decided: at most N cases.")
@click.option("--scores", is_flag=True, help="Two runs by the scores they have; asks no judge.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write every comparison to FILE: .jsonl or .json.",
)
@store_option
@judge_options
@limit_options
@cache_options
@talk_options
def compare(
    *,
    a: str,
    b: str,
    alpha: float,
    until_decided: bool,
    max_cases: int | None,
    scores: bool,
    output: Path | None,
    store: str,
    **options: object,
) -> None:
    """Compare A and B blind: the judge sees both orders and no name, and position cannot decide.

    A and B are outputs files, variants of a suite whose outputs are recorded, or stored runs (an
    id, the beginning of one, `latest`). FILE::VARIANT and RUN::VARIANT name one of several
    variants. What does not answer the same case is left out, and said.

    Exit 0 when one side is better, 4 when that is not decided, 3 when a judge failed.
    """
    if max_cases is not None and not until_decided:
        raise SettingsError("--max-cases goes with --until-decided", hint="-n takes the first N")
    if scores and until_decided:
        raise SettingsError("--scores asks no judge, so that there is nothing to stop")
    with _store(a, b, store) as kept:
        if scores:
            from judgekit.cli.compare_scores import compare_scores  # noqa: PLC0415 - only for this

            sys.exit(compare_scores((a, b), kept, alpha=alpha, options=options, output=output))
        _check_output(output, (a, b))
        judge, rubric, pairing = compare_setup((a, b), options, kept)
        looking = Looking(alpha, max_cases) if until_decided else None
        job = _Job(judge, rubric, pairing, alpha, looking, output)
        sys.exit(_run(job, options))


@dataclass(frozen=True, slots=True)
class _Job:
    """Everything a comparison needs."""

    judge: Judge
    rubric: Rubric
    pairing: Pairing
    alpha: float
    looking: Looking | None
    output: Path | None

    def summary(self, tally: ComparisonTally, left_out: LeftOut) -> ComparisonSummary:
        evidence = None if self.looking is None else self.looking.evidence()
        return tally.summary(left_out=left_out, evidence=evidence)


def _run(job: _Job, options: Options) -> int:
    keeps = job.judge.connection.cache is not None
    labels = job.pairing.a.label, job.pairing.b.label
    tally = ComparisonTally(job.rubric, labels, alpha=job.alpha)
    try:
        total, left_out = job.pairing.count()
        if not total:
            raise SettingsError(
                "no case is answered by both sides",
                hint="both need the same case_id, and the same input for it; see --filter-tag too",
            )
        if job.looking is not None and job.looking.max_cases is not None:
            total = min(total, job.looking.max_cases)
        interrupted = asyncio.run(_compare_all(job, tally, total, options))
    except asyncio.CancelledError:  # the second Ctrl-C
        streams.note(_interrupted("stopped at once", keeps=keeps))
        return EXIT_INTERRUPTED
    finally:
        job.judge.close()
    summary = job.summary(tally, left_out)
    if options.get("as_json"):
        streams.print_json(comparison_json(summary))
    else:
        print_comparison(streams.stdout(), summary)
    if job.output is not None and not options.get("quiet"):
        streams.note(f"wrote the comparisons to {job.output}")
    if interrupted:
        streams.note(_interrupted("interrupted", keeps=keeps))
        return EXIT_INTERRUPTED
    return _code(summary)


async def _compare_all(job: _Job, tally: ComparisonTally, total: int, options: Options) -> bool:
    """Compare until all is done or decided; whether the user broke it off."""
    stop, interrupted = asyncio.Event(), asyncio.Event()

    def interrupt() -> None:
        interrupted.set()
        stop.set()

    shown = not (options.get("quiet") or options.get("no_progress") or options.get("as_json"))
    verb = ("comparing", "compared")
    with (
        _written(job.output) as write,
        progress(streams.stderr(), total, shown=shown, verb=verb) as display,
        Interrupts(interrupt),
    ):
        async with job.judge:
            pairs = compare_pairs(
                job.judge,
                job.pairing.pairs(),
                job.rubric,
                names=job.pairing.names,
                in_flight=_in_flight(job),
                stop=stop,
            )
            async with aclosing(pairs) as told:
                async for one in told:
                    # What was in flight when all was decided is finished, kept and not counted.
                    if job.looking is not None and job.looking.is_over:
                        continue
                    tally.take(one)
                    write(one.comparison)
                    _tell(one.comparison, options)
                    display.advance([], target_usd=_paid(one.comparison))
                    if job.looking is not None:
                        job.looking.look(one.comparison)
                        if job.looking.is_over:
                            stop.set()
    return interrupted.is_set()


def _tell(found: Comparison, options: Options) -> None:
    if options.get("verbose") and not options.get("as_json"):
        streams.stdout().print(comparison_lines(found), markup=False, soft_wrap=True)


def _paid(found: Comparison) -> float:
    said = [*found.preferences, *found.failures]
    return sum(one.cost_usd or 0.0 for one in said if not one.cached)


def _in_flight(job: _Job) -> int:
    """Enough pairs at a time to keep every slot busy; few where one may stop at any of them."""
    slots = job.judge.connection.max_concurrency
    return max(1, slots // 4) if job.looking is not None else max(4, slots)


@contextmanager
def _written(path: Path | None) -> Iterator[Callable[[Comparison], None]]:
    """Writes comparisons to a file as they come; it appears when all of them are there."""
    if path is None:
        yield lambda _: None
        return
    is_list = path.suffix.lower() == ".json"
    n = 0
    with replaced(path) as file:

        def write(found: Comparison) -> None:
            nonlocal n
            lead = ("[\n" if n == 0 else ",\n") if is_list else ""
            line = json.dumps(found.to_json(), ensure_ascii=False)
            file.write(f"{lead}{line}{'' if is_list else chr(10)}".encode("utf-8", "replace"))
            n += 1

        yield write
        if is_list:
            file.write(b"\n]\n" if n else b"[]\n")


def _check_output(output: Path | None, names: tuple[str, str]) -> None:
    """Outputs are never altered, also not by a slip of the hand."""
    if output is None:
        return
    check_place(output, _SUFFIXES, what="comparisons", may_be_folder=False)
    for name in names:
        source = Path(name.rpartition("::")[0] or name)
        if source.is_file() and source.resolve() == output.resolve():
            raise SettingsError(
                f"--output would overwrite {output}, which is compared", hint="choose another file"
            )


def _store(a: str, b: str, store: str) -> AbstractContextManager[RunStore | None]:
    """The store, where it could be needed and is there."""
    if is_file(a) and is_file(b):
        return nullcontext()
    is_there = "://" in store or Path(store).is_file()
    return closing(RunStore(store, create=False)) if is_there else nullcontext()


def _interrupted(what: str, *, keeps: bool) -> str:
    again = "nothing that was answered is asked twice" if keeps else "from the beginning"
    return f"{what}; run the same command again to go on: {again}"


def _code(summary: ComparisonSummary) -> int:
    if summary.failures.get("frozen_miss"):
        return EXIT_FROZEN
    if summary.failures:
        return EXIT_INCOMPLETE
    return 0 if summary.decision.winner is not None else EXIT_INCONCLUSIVE
