"""What `judgekit label` does besides the terminal: runs of outputs, pages, merging."""

from __future__ import annotations

import json
import secrets
import webbrowser
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit import calibration, datasets, evaluation, records, report, store as stores
from judgekit.atomic_write import write_text_atomically
from judgekit.cli import console
from judgekit.cli.options import (
    EXISTING_FILE,
    NEW_FILE,
    OutputOptions,
    StoreOptions,
    cases_option,
    flag,
    option,
    refuse_others,
    rubric_option,
)
from judgekit.cli.outputs import OutputFiles, output_option, show_document, show_line, sort_outputs
from judgekit.cli.progress import run_async
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
from judgekit.errors import SettingsError
from judgekit.extras import require_package
from judgekit.report import numbers

if TYPE_CHECKING:
    from judgekit.records import JsonObject, LabelPacket, RunInfo

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
        "Write the human labels of the run as JSONL, in the same format; with --pairwise the "
        "choices between pairs.",
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
    if options.merge:
        why = "does not apply to --merge, which joins files of labels"
        refuse_others({"merge", "rubric"}, why, "omit it, or omit --merge")
    # Each alone; an import that is followed by an export would export what was just imported.
    ways = {
        "--import": options.labels,
        "--export": options.target,
        "--page": options.page,
        "-o": options.output if options.labels is None else (),
    }
    if len(named := [name for name, value in ways.items() if value]) > 1:
        raise SettingsError(f"{' and '.join(named)} exclude each other: give one of them")
    if options.no_open and not options.page:
        raise SettingsError("--no-open goes with --page")
    if options.variant and not options.pairwise:
        raise SettingsError("--variant goes with --pairwise")
    return files


def run_of_outputs(
    paths: tuple[Path, ...], store: stores.RunStore, options: LabelOptions
) -> RunInfo:
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
    suite = datasets.Suite(
        name=first.stem or "outputs",
        dataset=str(first.resolve()),
        judge=() if options.pairwise else (datasets.SuiteJudge(model="human"),),
        # Nobody has asked for reasons; a suite can.
        human=datasets.HumanSettings(reason="optional"),
        variants=variants,
    )
    if not options.pairwise:
        suite = with_command_line_rubric(suite, options.rubric)
    opened = evaluation.open_suite(
        recorded.with_repeats(suite),
        selected_cases(grading),
        execution_options(grading),
        recorded=recorded,
    )
    setup = RunSetup(opened, store, evaluation.Session(), is_grading=True)
    info = prepared_run(setup, resumes=True)
    same = find_same_run(store, info)
    if same is not None and same.status in {"waiting", "complete", "incomplete"}:
        run_async(opened.aclose())
        return same
    return run_async(run_with_progress(setup, grading))


def write_packet(
    source: str, store: stores.RunStore, options: LabelOptions, paths: Sequence[Path]
) -> None:
    if not paths:
        raise SettingsError(
            "pairs are labelled on a page", hint="-o label.html writes one that can be sent"
        )
    packet = new_packet(source, store, options)
    document = report.label_document(report.packet_labelling(packet, store))
    for path in paths:
        report.write_document(path, document)
    store.add_packet(packet)
    n = sum(not one.repeats for one in packet.items)
    what = ("pair", "pairs") if packet.is_pairwise else ("output", "outputs")
    names = ", ".join(map(str, paths))
    n_again = len(packet.items) - n
    again = f" ({n_again:,} of them twice)" if n_again else ""
    line = (
        f"wrote {numbers.format_count(n, *what)}{again} to {names}: send it to annotators\n"
        f"their files: judgekit label --import FILE, or judgekit calibrate FILE"
    )
    data = {"packet": packet.id, "source": packet.source, "n_items": n, "n_repeats": n_again}
    show_line(line, data | {"files": [*map(str, paths)]}, options)


def new_packet(source: str, store: stores.RunStore, options: LabelOptions) -> LabelPacket:
    """What annotators are asked about, of a run or a comparison."""
    choice = options.fill(calibration.PacketChoice, criteria=options.criterion)
    now = datetime.now(UTC)
    if not options.pairwise and not source.startswith(records.COMPARISON_ID_PREFIX):
        return calibration.draw_packet(evaluation.Run(store.run(source), store), choice, at=now)
    pairs = calibration.pair_source(store, source, options.variant)
    if options.rubric is not None:
        pairs = replace(pairs, rubric=datasets.load_rubric(options.rubric))
    return calibration.draw_pair_packet(pairs, choice, at=now)


def serve_packet(source: str, store: stores.RunStore, options: LabelOptions) -> None:
    """Label in the browser until interrupted; every answer is stored at once."""
    require_package("starlette", "labelling in the browser")
    from judgekit.web import ViewContext, labelling_routes, serve_view  # noqa: PLC0415 - the server, only here

    packet = new_packet(source, store, options)
    # A packet has answers of its own, with which the next session continues.
    own: Any = {"id": ..., "made_at": ..., "labels": ..., "items": {"__all__": {"id", "repeats"}}}
    asked = packet.model_dump(exclude=own)
    every = store.packets(packet.source)
    before = next((one for one in every if one.model_dump(exclude=own) == asked), None)
    if before is None:
        store.add_packet(packet)
    packet = before or packet
    context = ViewContext(store, secrets.token_urlsafe(32), secrets.token_urlsafe(32))

    def ready(address: str) -> None:
        address = address.replace("/?", f"/label/{packet.id}?")
        console.note(f"labelling {packet.source} at {address}")
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
    rubric = None if options.rubric is None else datasets.load_rubric(options.rubric)
    found = calibration.read_label_files(paths, options.store, note=console.note)
    merged = calibration.merge_labels(found, rubric)
    for path in files.exports:
        n = write_labels(path, (one.to_json() for one in merged.labels))
        console.note(f"wrote {numbers.format_count(n, 'label')} to {path}")
    labelling = None
    if files.has_page and merged.conflicts and len(found.packets) == 1:
        with options.open_store() as store:
            labelling = report.packet_labelling(found.packets[0], store)
    show_document(report.agreement_document(merged, labelling), options, files)


def write_labels(path: Path, rows: Iterable[JsonObject]) -> int:
    """Write labels as JSONL; how many there are."""
    lines = [f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows]
    # Half a file of labels would be a valid one.
    write_text_atomically(path, "".join(lines))
    return len(lines)
