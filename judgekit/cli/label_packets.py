"""What `judgekit label` does besides the terminal: runs of outputs, pages, merging."""

from __future__ import annotations

import asyncio
import json
import secrets
import webbrowser
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from judgekit.calibration import PacketChoice, draw_packet, draw_pair_packet, merge_labels
from judgekit.cli import console
from judgekit.cli.label_files import read_label_files
from judgekit.cli.options import (
    EXISTING_FILE,
    NEW_FILE,
    OutputOptions,
    StoreOptions,
    cases_option,
    flag,
    option,
    rubric_option,
)
from judgekit.cli.outputs import output_option, show_document, show_line, sort_outputs
from judgekit.cli.run import prepared_run, run_with_progress
from judgekit.cli.setup import grade_inputs
from judgekit.cli.suite_setup import (
    GradeOptions,
    RunSetup,
    execution_options,
    find_same_run,
    read_recorded,
    selected_cases,
    with_command_line_rubric,
)
from judgekit.datasets import HumanSettings, Suite, SuiteJudge, load_rubric
from judgekit.errors import SettingsError, UnknownNameError
from judgekit.evaluation import COMPARISON_ID_PREFIX, OutputPair, Run, Session, open_suite
from judgekit.report import (
    LabelTask,
    agreement_document,
    hidden_names,
    numbers,
    pair_label_task,
    render_label_page,
    run_label_task,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from judgekit.cli.outputs import OutputFiles
    from judgekit.records import CaseResult, JsonObject, Rubric, RunInfo
    from judgekit.store import RunStore

_PAIR = 2


class LabelOptions(StoreOptions, OutputOptions):
    """The options of `label`."""

    annotator: str | None = option(
        "Your name (default: asked once; git's user.name is suggested).",
        metavar="NAME",
        has_variable=True,
    )
    seed: int = option("Random seed of the order of questions, and of --sample.", 0)
    sample: int | None = option("Label N outputs, or N pairs.", ge=1)
    criterion: tuple[str, ...] = option("Only this criterion; may be repeated.", (), metavar="NAME")
    rubric: str | None = rubric_option("Of OUTPUTS: rubric file, or the name of a shipped rubric.")
    cases: Path | None = cases_option("Cases of the outputs (inputs, references).")
    pairwise: bool = flag("Ask which of two outputs is better.")
    variant: tuple[str, ...] = option(
        "With --pairwise: the two variants of the run; given twice.", (), metavar="NAME"
    )
    page: bool = flag("Label in the browser; each answer is stored at once.")
    no_open: bool = flag("With --page: print the address without opening a browser.")
    merge: bool = flag("Merge the files of several annotators, which are the arguments.")
    output: tuple[Path, ...] = output_option(
        "Write the page for annotators (.html); with --merge or --import the labels (.jsonl), with "
        "--merge the agreement (.html, .md)."
    )
    labels: Path | None = option(
        "Answer questions from a file: case_id, variant, criterion, annotator, raw, rationale.",
        spelling="--import",
        kind=EXISTING_FILE,
        metavar="LABELS.jsonl",
    )
    target: Path | None = option(
        "Write the human labels of the run as JSONL, in the same format.",
        spelling="--export",
        kind=NEW_FILE,
    )


def check_label_files(options: LabelOptions) -> OutputFiles:
    """The files of -o by what is written to them; options that do not apply together are errors."""
    takes_labels = options.merge or options.labels is not None
    files = sort_outputs(options.output, what="labels", exports=(".jsonl",) if takes_labels else ())
    unfit = [path for path in files.documents if path.suffix.lower() != ".html"]
    if unfit and not options.merge:
        raise SettingsError(f"the page for annotators is HTML, not {unfit[0].name}")
    if options.labels is not None and files.documents:
        raise SettingsError("--import writes labels", hint="use -o FILE.jsonl")
    if options.page and options.output:
        raise SettingsError("--page and -o exclude each other: give one of them")
    if options.variant and not options.pairwise:
        raise SettingsError("--variant goes with --pairwise")
    return files


def run_of_outputs(paths: tuple[Path, ...], store: RunStore, options: LabelOptions) -> RunInfo:
    """The stored run of recorded outputs that a human judges; the same outputs have the same run.

    Pairs are not judged one by one: of them the run has only the outputs.
    """
    if options.rubric is None and not options.pairwise:
        raise SettingsError(
            "no rubric is named, so that there is nothing to ask an annotator",
            hint="give --rubric FILE, or the name of a shipped rubric, for example --rubric "
            "helpfulness",
        )
    grading = GradeOptions(
        outputs=paths,
        cases=options.cases,
        sample=None if options.pairwise else options.sample,
        seed=options.seed,
        quiet=True,
        no_progress=True,
        no_cache=True,
    )
    inputs = grade_inputs(grading, None, is_lenient=True)
    recorded, variants = read_recorded(inputs, is_suite=False)
    first = paths[0]
    suite = Suite(
        name=first.stem or "outputs",
        dataset=str(first.resolve()),
        judge=() if options.pairwise else (SuiteJudge(model="human"),),
        # Nobody has asked for reasons; a suite can.
        human=HumanSettings(reason="optional"),
        variants=variants,
    )
    if not options.pairwise:
        suite = with_command_line_rubric(suite, options.rubric)
    opened = open_suite(
        suite, selected_cases(grading), execution_options(grading), recorded=recorded
    )
    setup = RunSetup(opened, store, Session(), is_grading=True)
    info = prepared_run(setup, resumes=True)
    same = find_same_run(store, info)
    if same is not None and same.status in {"waiting", "complete", "incomplete"}:
        asyncio.run(opened.aclose())
        return same
    return asyncio.run(run_with_progress(setup, grading))


class _Source(NamedTuple):
    """What can be labelled as pairs."""

    id: str
    variants: tuple[str, str]
    hidden: tuple[str, ...]
    rubric: Rubric | None
    pairs: list[OutputPair]


def write_packet(
    source: str, store: RunStore, options: LabelOptions, paths: Sequence[Path]
) -> None:
    """Make a packet, store it, and write its page."""
    if not paths:
        raise SettingsError(
            "pairs are labelled on a page", hint="-o label.html writes one that can be sent"
        )
    task = _new_task(source, store, options)
    page, n = render_label_page(task), sum(not one.repeats for one in task.packet.items)
    for path in paths:
        # Atomic: half a page would open, without its end.
        with click.open_file(str(path), "w", "utf-8", atomic=True) as file:
            file.write(page)
    store.add_packet(task.packet)
    what = ("pair", "pairs") if task.packet.is_pairwise else ("output", "outputs")
    names = ", ".join(map(str, paths))
    n_again = len(task.packet.items) - n
    again = f" ({n_again:,} of them twice)" if n_again else ""
    line = (
        f"wrote {numbers.format_count(n, *what)}{again} to {names}: send it to annotators\n"
        f"their files: judgekit label --import FILE, or judgekit calibrate FILE"
    )
    data = {
        "packet": task.packet.id,
        "source": task.packet.source,
        "n_items": n,
        "n_repeats": n_again,
    }
    show_line(line, data | {"files": [*map(str, paths)]}, options)


def _new_task(source: str, store: RunStore, options: LabelOptions) -> LabelTask:
    choice = PacketChoice(sample=options.sample, seed=options.seed, criteria=options.criterion)
    now = datetime.now(UTC)
    if options.pairwise or source.startswith(COMPARISON_ID_PREFIX):
        own = _pair_source(source, store, options)
        packet = draw_pair_packet(
            own.pairs, own.id, own.variants, choice, rubric=own.rubric, at=now
        )
        return pair_label_task(packet, own.pairs, own.hidden)
    run = Run(store.run(source), store)
    return run_label_task(draw_packet(run, choice, at=now), run.info, run.results())


def _pair_source(source: str, store: RunStore, options: LabelOptions) -> _Source:
    """The sides of a comparison, or two variants of a run."""
    if source.startswith(COMPARISON_ID_PREFIX):
        found = store.comparison(source)
        a, b = (side.variant or side.label for side in (found.a, found.b))
        pairs = [
            OutputPair(pair.case, pair.a, pair.b, pair.repeat) for pair in store.compared(found.id)
        ]
        return _Source(found.id, (a, b), (a, b, *found.names), found.rubric, pairs)
    run = store.run(source)
    known = [one.id for one in run.variants]
    chosen = options.variant or tuple(known)
    for name in chosen:
        if name not in known:
            raise UnknownNameError("variant of this run", name, known)
    if len(chosen) != _PAIR or len(set(chosen)) != _PAIR:
        raise SettingsError(
            f"run {run.id} has the variants {', '.join(known)}, and pairs are of two",
            hint="name both: --variant A --variant B",
        )
    a, b = chosen
    first, second = (_outputs_of(store.results(run.id, variant=name)) for name in (a, b))
    pairs = [
        OutputPair(one.case, one.output, second[key].output, one.repeat)
        for key, one in first.items()
        if key in second
    ]
    rubric = run.rubric if options.rubric is None else load_rubric(options.rubric)
    return _Source(run.id, (a, b), hidden_names(run), rubric, pairs)


def _outputs_of(results: Iterator[CaseResult]) -> dict[tuple[str, int], CaseResult]:
    return {(one.case.id, one.repeat): one for one in results}


def serve_packet(source: str, store: RunStore, options: LabelOptions) -> None:
    """Label in the browser until interrupted; every answer is stored at once."""
    from judgekit.web import ViewContext, labelling_routes, serve_view  # noqa: PLC0415 - the server, only here

    task = _new_task(source, store, options)
    if task.packet.is_pairwise:
        raise SettingsError(
            "labels of pairs are not stored in a run or comparison",
            hint="label them on a page that is a file: -o label.html",
        )
    store.add_packet(task.packet)
    context = ViewContext(store, secrets.token_urlsafe(32), secrets.token_urlsafe(32))

    def ready(address: str) -> None:
        address = address.replace("/?", f"/label/{task.packet.id}?")
        console.note(f"labelling {task.packet.source} at {address}")
        if not options.no_open:
            webbrowser.open(address)

    serve_view(context, routes=labelling_routes(context), ready=ready)


def merge_files(names: Sequence[str], options: LabelOptions, files: OutputFiles) -> None:
    """Join files of labels; write them, and report agreement and conflicts."""
    paths = [Path(name) for name in names]
    if len(paths) < _PAIR:
        raise SettingsError("--merge joins two files or more", hint="name them as arguments")
    if missing := next((path for path in paths if not path.is_file()), None):
        raise SettingsError(f"there is no file {missing}")
    rubric = None if options.rubric is None else load_rubric(options.rubric)
    merged = merge_labels(read_label_files(paths, options.store), rubric)
    for path in files.exports:
        n = write_labels(path, (one.to_json() for one in merged.labels))
        console.note(f"wrote {numbers.format_count(n, 'label')} to {path}")
    show_document(agreement_document(merged), options, files)


def write_labels(path: Path, rows: Iterable[JsonObject]) -> int:
    """Write labels as JSONL; how many there are."""
    lines = [f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows]
    # Atomic: half a file of labels would be a valid one.
    with click.open_file(str(path), "w", "utf-8", atomic=True) as file:
        file.writelines(lines)
    return len(lines)
