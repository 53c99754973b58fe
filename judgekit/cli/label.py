"""`judgekit label`: annotators answer questions about outputs, blind, on a terminal or a page."""

from __future__ import annotations

import getpass
import shutil
import subprocess
import sys
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgekit.calibration import packet_of, resolve_labels
from judgekit.cli import console as streams
from judgekit.cli.exit_codes import Exit
from judgekit.cli.help import command
from judgekit.cli.label_dialogue import LabelDialogue, TypedLines
from judgekit.cli.label_packets import (
    LabelOptions,
    check_label_files,
    merge_files,
    run_of_outputs,
    serve_packet,
    write_labels,
    write_packet,
)
from judgekit.cli.outputs import show_line
from judgekit.datasets import read_labels
from judgekit.errors import SettingsError
from judgekit.evaluation import (
    LabellingSession,
    import_labels,
    label_rows,
    queue_reviews,
    record_labels,
    requires_reason,
    update_run_status,
)
from judgekit.report import message, numbers
from judgekit.store import LATEST_RUN, RunStore

if TYPE_CHECKING:
    from judgekit.evaluation import LabelImport
    from judgekit.records import RunInfo

# The name is only suggested, which is not worth a longer wait.
_GIT_PATIENCE_S = 5


@command("label", LabelOptions)
@click.argument("targets", nargs=-1, metavar="[RUN|OUTPUTS]...")
def label_command(options: LabelOptions, *, targets: tuple[str, ...]) -> None:
    """Answer questions about outputs, blind: neither variant nor judge is shown.

    RUN is the id of a run, the beginning of an id, latest (the default) or latest:SUITE. The
    questions are those of a suite with judge: human, whose answers decide; and reviews of automated
    verdicts, whose answers are labels for judgekit calibrate and change no verdict. A run that has
    neither is queued for review now: all of it, or --sample N. OUTPUTS are files of outputs, graded
    by --rubric without a suite; the same command continues.

    On the terminal, type a score and Enter, then the reason, then your confidence from 0 to 1, or
    just Enter. Other keys: s skips the question, which keeps waiting; u removes your last answer; ?
    helps; q quits. Each answer is stored at once, and the next session continues from there.
    Answers can also be piped in, one per line.

    -o label.html writes a page that can be sent to annotators: one file without network, which
    gives back labels.jsonl. --page opens it in the browser and stores each answer at once.
    --pairwise asks which of two outputs is better: of two variants of a run, two files, or the
    sides of a comparison (cmp-…). Half of a --sample (30 or more) is drawn at random; where a model
    judged, the rest are the items whose labels help calibration most.

    --merge joins the files of several annotators (-o labels.jsonl) and reports their agreement (-o
    agreement.html) and their conflicts.

    Examples:
        judgekit label
        judgekit label outputs.jsonl --rubric helpfulness
        judgekit label latest --sample 60 -o label.html
        judgekit label --import labels-ada.jsonl
        judgekit label --merge labels-ada.jsonl labels-ben.jsonl -o labels.jsonl
    """
    # Either alone; one after the other would export what was just imported.
    if options.labels is not None and options.target is not None:
        raise SettingsError("--import and --export exclude each other: give one of them")
    files = check_label_files(options)
    if options.merge:
        merge_files(targets, options, files)
        return
    if options.labels is not None and _import_packet(options.labels, targets, options):
        return
    with closing(_Target(targets, options)) as target:
        if options.page:
            serve_packet(target.source, target.store, options)
        elif files.documents or options.pairwise:
            write_packet(target.source, target.store, options, files.documents)
        else:
            _label_run(target.store.run(target.source), target.store, options)


class _Target:
    """The run or comparison that the arguments name, in its open store."""

    def __init__(self, targets: tuple[str, ...], options: LabelOptions) -> None:
        paths = [Path(target) for target in targets]
        missing = [str(path) for path in paths if not path.is_file()]
        has_outputs = bool(paths) and not missing
        if options.rubric is not None and not (has_outputs or options.pairwise):
            raise SettingsError("--rubric is for files of outputs", hint="a run has its own rubric")
        if len(targets) > 1 and missing:
            what = ", ".join(missing)
            raise SettingsError(f"no such file: {what}", hint="name one run, or files of outputs")
        self.store = RunStore(options.store, create=has_outputs)
        self.close = self.store.close
        self.source = targets[0] if targets else LATEST_RUN
        if has_outputs:
            self.source = run_of_outputs(tuple(paths), self.store, options).id


def _label_run(info: RunInfo, opened: RunStore, options: LabelOptions) -> None:
    """Export or import the labels of a run, or ask its open questions on the terminal."""
    if options.target is not None:
        n = write_labels(options.target, label_rows(opened.results(info.id)))
        line = f"wrote {numbers.format_count(n, 'label')} to {options.target}"
        data = {"run": info.id, "n_labels": n, "file": str(options.target)}
        show_line(line, data, options, is_note=True)
        return
    has_questions = next(iter(opened.queue(info.id, open_only=False)), None) is not None
    is_asked = not has_questions or options.sample is not None or bool(options.criterion)
    if is_asked and options.labels is None and info.panel.judges:
        n_queued = queue_reviews(
            opened,
            info,
            criteria=options.criterion,
            sample=options.sample,
            seed=options.seed,
            at=datetime.now(UTC),
        )
        has_questions |= n_queued > 0
    if not has_questions:
        raise SettingsError(
            f"run {info.id} has no questions for a human",
            hint="give its suite `judge: human`, alone or among others, and a rubric; or run "
            "it with --review SHARE",
        )
    if options.labels is None:
        sys.exit(_run_dialogue(opened, info, options))
    now, annotator = datetime.now(UTC), options.annotator
    imported = import_labels(
        opened, info, options.labels, annotator=annotator, at=now, note=streams.note
    )
    _report(opened, info, _import_counts(imported), options)


def _import_packet(path: Path, targets: tuple[str, ...], options: LabelOptions) -> bool:
    """Store the labels of a packet in its run; False where the file has other labels."""
    labels = read_labels(path, note=streams.note)
    if not any(packet_of(one.label) for one in labels):
        return False
    with closing(RunStore(options.store, create=False)) as opened:
        found = resolve_labels(labels, lambda: opened)
        if len(found.packets) != 1:
            raise SettingsError(
                f"{path} has labels of {len(found.packets)} packets",
                hint="import the files one by one; --merge joins them",
            )
        (packet,) = found.packets
        if targets and targets != (packet.source,):
            raise SettingsError(f"{path} has labels of {packet.source}, not {targets[0]}")
        if packet.is_pairwise and not options.output:
            raise SettingsError(
                f"labels of pairs are not stored in {packet.source}",
                hint="judgekit calibrate takes them as they are; -o FILE.jsonl writes them with "
                "the cases and variants",
            )
        for file in options.output:
            n = write_labels(file, (one.label.to_json() for one in found.labels))
            streams.note(f"wrote {numbers.format_count(n, 'label')} to {file}")
        if not packet.is_pairwise:
            info, now = opened.run(packet.source), datetime.now(UTC)
            recorded = record_labels(
                opened, info, found.labels, annotator=options.annotator, at=now
            )
            _report(opened, info, _import_counts(recorded), options)
    return True


def _import_counts(imported: LabelImport) -> dict[str, int]:
    names = ("n_labels", "n_answered", "n_answered_before", "n_not_asked")
    counts = {name: getattr(imported, name) for name in names}
    n_open = imported.n_without_score
    return counts | ({"n_without_score": n_open} if n_open else {})


def suggested_name() -> str:
    """The name of the user: that of git, which is a full name, else that of the account."""
    git = shutil.which("git")
    # A name is not worth an error.
    with suppress(OSError, subprocess.SubprocessError):
        if git is not None and (
            name := subprocess.run(  # noqa: S603 - git itself, found on the path
                [git, "config", "user.name"],
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                check=False,
                timeout=_GIT_PATIENCE_S,
            ).stdout.strip()
        ):
            return name
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no account has this process's number
        return "anonymous"


def _run_dialogue(store: RunStore, run: RunInfo, options: LabelOptions) -> int:
    # With --json, stdout must hold nothing but the result.
    console = streams.stderr() if options.as_json else streams.stdout()
    # Piped lines are answers; none of them is a name.
    is_tty = sys.stdin.isatty()
    typed = TypedLines(console, is_edited=is_tty and sys.stdout.isatty() and not options.as_json)
    name = options.annotator
    if name is None and is_tty:
        name = typed.line(f"Your name? [{suggested_name()}] ")
    name = (name or "").strip() or suggested_name()
    labelling = LabellingSession(store, run, name, seed=options.seed)
    code = 0
    try:
        LabelDialogue(console, typed, labelling, needs_reason=requires_reason(run)).run()
    except KeyboardInterrupt:
        code = Exit.INTERRUPTED
        console.print()  # ends the line of the prompt
    counts = {
        "n_answered": labelling.n_answered,
        "n_skipped": labelling.n_skipped,
        "n_answered_by_others": labelling.n_taken,
    }
    # Also after Ctrl-C: the answers so far may have completed the run.
    _report(store, run, counts, options, annotator=labelling.annotator)
    return code


def _report(
    store: RunStore, run: RunInfo, counts: dict[str, int], options: LabelOptions, **about: str
) -> None:
    """Update the status of a run, and print what was answered and what still waits."""
    run = update_run_status(store, run.id, at=datetime.now(UTC))
    n_waiting = sum(1 for _ in store.queue(run.id))
    waiting = numbers.format_count(n_waiting, "question waits", "questions wait")
    lines = [
        ", ".join(words for name, n in counts.items() if (words := _WORDS[name](n))),
        f"{waiting} for a human" if n_waiting else "no question waits for a human",
        f"run {run.id}: {message.RUN_STATUS_WORDS[run.status]}; judgekit show {run.id}",
    ]
    data = {"run": run.id, "status": run.status, **about, **counts, "n_waiting": n_waiting}
    show_line("\n".join(lines), data, options)


_WORDS = {
    "n_labels": lambda n: f"{numbers.format_count(n, 'label')} read",
    "n_answered": lambda n: f"{numbers.format_count(n, 'question')} answered",
    "n_skipped": lambda n: f"{n:,} skipped" if n else "",
    "n_answered_by_others": lambda n: f"{n:,} answered by others meanwhile" if n else "",
    "n_answered_before": lambda n: f"{n:,} already answered, unchanged" if n else "",
    "n_not_asked": lambda n: f"{n:,} without a question in this run" if n else "",
    "n_without_score": lambda n: f"{n:,} without a score" if n else "",
}
