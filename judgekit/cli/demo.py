"""`judgekit demo`: grades shipped outputs with recorded replies, without a key or a network."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit import (
    calibration,
    datasets,
    evaluation,
    judge as judge_calls,
    models,
    report as reports,
)
from judgekit.cli import console
from judgekit.cli.help import command
from judgekit.cli.options import OutputOptions, dry_run_option, flag, option
from judgekit.cli.outputs import export_outputs, output_option
from judgekit.cli.run import grade_files
from judgekit.cli.setup import configured_suite, grade_rubric, grade_setup
from judgekit.cli.suite_setup import GradeOptions
from judgekit.models import cache as reply_cache
from judgekit.report.numbers import format_duration, format_share
from judgekit.resources import shipped_file

if TYPE_CHECKING:
    from judgekit.records import Rubric, Verdict
    from judgekit.report import Block, Tone

_RECORDED = """\
12 tasks, answered by three small models and graded on {n_criteria} criteria by one of them,
Qwen2.5-Coder-1.5B. Its replies are recorded: no key, no network, no calls, no cost.
"""

# A demonstration with a weak judge must state it, or its verdicts pass for the product's.
_AFTERWARDS = """
Do not trust this judge: it runs on any laptop, agreed with human labels on 51 % of 103 pairs of
LLMBar (chance is 50 %, GPT-4 88 %), and grades its own outputs here.

Next:
  judgekit init my-suite                       the same data as files to edit
  judgekit demo -o demo.html                   this report as a page, with every case
  judgekit demo --judge openai/gpt-4.1-mini    another judge; --dry-run estimates the cost"""

# The labelled variants, as `judgekit init` names them.
_LABELLED = {"v1": "qwen2.5-coder-0.5b", "v2": "qwen2.5-coder-1.5b"}
_WRONG, _RIGHT = 2, 4
"""Labels up to one and from the other mean that an output is wrong or right."""


class _DemoOptions(OutputOptions):
    judge_model: str | None = option(
        "Call this judge instead of replaying replies.", spelling="--judge", metavar="MODEL"
    )
    live: bool = flag("Call the local model instead of replaying replies.")
    dry_run: bool = dry_run_option()
    limit: int | None = option("Only the first N outputs.", spelling="-n/--limit", ge=1)
    output: tuple[Path, ...] = output_option(
        "Write the report to FILE (.html, .md), or the verdicts (.jsonl, .json, .csv, .parquet)."
    )
    quiet: bool = flag("Print only the table.", spelling="-q/--quiet")
    verbose: bool = flag("Print every verdict with every reason.", spelling="-v/--verbose")


@command("demo", _DemoOptions)
def demo_command(options: _DemoOptions) -> None:
    """Grade, compare and calibrate on real outputs of small models; needs no key and no network.

    By default the replies of the judge come from a shipped recording. With --live or --judge the
    same outputs are graded by that judge, and its replies are cached in .judgekit/cache.

    Examples:
        judgekit demo
        judgekit demo -o demo.html
        judgekit demo --judge openai/gpt-4.1-mini -n 6
    """
    files = export_outputs(options.output, what="a grading")
    config = shipped_file("calibration", "demo", "judgekit.yaml")
    # A demonstration leaves nothing in the user's own store.
    grading = GradeOptions.of(options, config=config, no_store=True)
    is_commented = not (options.quiet or options.as_json)
    if options.live or options.judge_model is not None:
        live = grading.model_copy(update={"judge_model": options.judge_model or "local"})
        if is_commented and not options.dry_run:
            # The name of `local` is that of the weights that are found, known once they are.
            with grade_setup(live).judge as judge:
                name = judge.connection.name
            console.note(
                f"Grading live with {name}; replies are cached in {datasets.DEFAULT_CACHE_FOLDER}."
            )
            if models.is_smoke_name(name):
                console.note(models.SMOKE_NOTICE)
        sys.exit(grade_files(live, files))
    # A cache of its own: the recorded replies must not count among those the user paid for.
    with tempfile.TemporaryDirectory(prefix="judgekit-demo-") as folder:
        import_recording(Path(folder))
        # Frozen: a missing reply must be an error here, not a call with the user's key.
        replayed = {
            "cache_dir": Path(folder),
            "judge_settings": datasets.JudgeSettings(frozen=True),
            "no_progress": True,
        }
        grading = grading.model_copy(update=replayed)
        if is_commented:
            rubric = grade_rubric(None, configured_suite(config))
            console.note(_RECORDED.format(n_criteria=len(rubric.criteria)))
        # A part of the outputs may have neither labels nor pairs.
        shows_all = is_commented and options.limit is None
        arrange = partial(_arranged, cache=Path(folder)) if shows_all else None
        code = grade_files(grading, files, arrange=arrange)
    if is_commented and not options.dry_run:
        console.note(_AFTERWARDS)
    sys.exit(code)


def import_recording(folder: Path) -> None:
    """Put the demo's recorded replies into a cache."""
    recording = shipped_file("calibration", "demo", "judge_replies.jsonl")
    with reply_cache.DiskCache(folder) as cache:
        reply_cache.import_entries(cache, recording)


def _arranged(
    blocks: tuple[Block, ...], read_verdicts: Callable[[], Iterable[Verdict]], *, cache: Path
) -> tuple[Block, ...]:
    """The table of variants first, then what else can be done with the same data."""
    verdicts = list(read_verdicts())
    table, *others = blocks
    pages = [block for block in others if isinstance(block, reports.CaseTable)]
    rest = reports.not_empty(block for block in others if not isinstance(block, reports.CaseTable))
    rubric = datasets.load_rubric(shipped_file("calibration", "demo", "rubric.yaml"))
    labels = [
        {**row, "variant": _LABELLED[row["variant"]]}
        for row in map(json.loads, _start_file("labels.jsonl").read_text("utf-8").splitlines())
    ]
    return (
        table,
        _examples(verdicts, labels),
        _comparison(rubric),
        _calibration(verdicts, labels, rubric),
        _savings(cache, verdicts),
        *pages,
        reports.Details("The run in detail", rest),
    )


def _examples(verdicts: list[Verdict], labels: list[dict[str, Any]]) -> reports.Entries:
    """A failure with evidence, a pass that the label confirms, a pass that it contradicts."""
    by_output = {
        (row["case_id"], row["variant"]): row for row in labels if row["criterion"] == "correct"
    }
    chosen: dict[str, reports.Entry] = {}
    for verdict in verdicts:
        label = by_output.get((verdict.case_id or "", verdict.variant or ""))
        judgment = next((one for one in verdict.judgments if one.criterion == "correct"), None)
        if label is None or judgment is None:
            continue
        is_wrong, quotes = label["raw"] <= _WRONG, [q for q in judgment.evidence if q.found]
        if verdict.passed is False and is_wrong and quotes:
            kind = "rightly failed"
        elif verdict.passed and label["raw"] >= _RIGHT and quotes:
            kind = "rightly passed"
        elif verdict.passed and label["raw"] == 1:
            kind = "wrongly passed"
        else:
            continue
        lines = (
            f"judge: correct {judgment.raw:g} of 5. {judgment.rationale}",
            *(f"evidence: “{quote.quote}”" for quote in quotes[:1]),
            f"label: correct {label['raw']} of 5. {label['rationale']}",
        )
        headline = f"{verdict.case_id}, {verdict.variant}"
        tone: Tone = "fail" if kind == "wrongly passed" else "pass"
        chosen.setdefault(kind, reports.Entry(headline, lines, kind, tone))
    kinds = ("rightly failed", "rightly passed", "wrongly passed")
    return reports.Entries(
        tuple(chosen[kind] for kind in kinds if kind in chosen), "Verdicts beside labels"
    )


def _comparison(rubric: Rubric) -> reports.Section:
    """Two variants blind in both orders, by recorded replies."""
    cases = datasets.load_dataset(_start_file("cases.jsonl"))
    sides = [
        {
            case.id: (case, output)
            for case, output in datasets.iter_case_outputs(
                _start_file("outputs", f"{name}.jsonl"), cases, variant=name
            )
        }
        for name in _LABELLED
    ]
    tally = evaluation.ComparisonTally(rubric, (_LABELLED["v1"], _LABELLED["v2"]))
    with judge_calls.Judge(f"recorded:{_start_file('replies.jsonl')}", cache=None) as judge:
        for case_id, (case, first) in sides[0].items():
            second = sides[1][case_id][1]
            comparison = judge.compare_sync(case, first, second, rubric)
            tally.add(evaluation.JudgedPair(evaluation.OutputPair(case, first, second), comparison))
    document = reports.comparison_document(tally.summary())
    table, *rest = document.blocks
    text = f"A is {_LABELLED['v1']}, B is {_LABELLED['v2']}: {document.conclusion.text}"
    return reports.Section(
        "Compare: which variant is better?",
        (table, reports.Details("The comparison in detail", reports.not_empty(rest))),
        intro=text,
        tone=document.conclusion.tone,
    )


def _calibration(
    verdicts: list[Verdict], labels: list[dict[str, Any]], rubric: Rubric
) -> reports.Section:
    labelled = [one for one in verdicts if one.variant in _LABELLED.values()]
    report = calibration.calibrate(labelled, labels, rubric=rubric)
    document = reports.calibration_document(report)
    found = report.overall.pass_fail
    text = document.conclusion.text
    if found is not None:
        judge, human = (format_share(rate.value) for rate in (found.judge_rate, found.human_rate))
        text = (
            f"The judge passes {judge} of {report.overall.n} outputs, the example labels {human}. "
            f"Of the outputs that the labels fail, the judge fails {format_share(found.tnr.value)}."
        )
    is_table = [block for block in document.blocks if getattr(block, "title", "") == "Pass or fail"]
    rest = reports.not_empty(block for block in document.blocks if block not in is_table)
    return reports.Section(
        "Calibrate: how far can the judge be trusted?",
        (*is_table, reports.Details("The calibration in detail", rest)),
        intro=text,
        tone="fail",
    )


def _savings(folder: Path, verdicts: list[Verdict]) -> reports.Section:
    """What the reply cache saved in this run, as it does in every second run."""
    with reply_cache.DiskCache(folder) as cache:
        counts = cache.counts()
    usages = [one.usage for verdict in verdicts for one in verdict.judgments if one.usage]
    n_tokens = sum((usage.input_tokens or 0) + (usage.output_tokens or 0) for usage in usages)
    text = (
        f"Nothing: every reply came from the cache. The first run took {counts.n_hits} calls, "
        f"{n_tokens:,} tokens and {format_duration(counts.saved_ms / 1000)} of the model's time."
    )
    return reports.Section("Cache: what does a second run cost?", (), intro=text, tone="pass")


def _start_file(*parts: str) -> Path:
    return shipped_file("calibration", "templates", "start", *parts)
