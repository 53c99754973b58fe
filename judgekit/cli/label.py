"""`judgekit label`: annotators answer questions about outputs, blind, on a terminal or a page."""

from __future__ import annotations

import getpass
import shutil
import subprocess
import sys
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from judgekit import calibration, datasets, evaluation, prompts, records, report, store as stores
from judgekit.cli import console as streams
from judgekit.cli.exit_codes import Exit
from judgekit.cli.help import command
from judgekit.cli.label_packets import (
    LabelOptions,
    check_label_files,
    merge_files,
    new_packet,
    run_of_outputs,
    serve_packet,
    write_labels,
    write_packet,
)
from judgekit.cli.options import typed_options
from judgekit.cli.outputs import show_line
from judgekit.errors import SettingsError
from judgekit.report import message, numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from judgekit.evaluation import LabelQuestion
    from judgekit.records import Criterion, RunInfo

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

    --merge joins the files of several annotators (-o labels.jsonl) and reports their agreement and
    their conflicts. On the page of -o agreement.html a third annotator decides the conflicts.

    Examples:
        judgekit label
        judgekit label outputs.jsonl --rubric helpfulness
        judgekit label latest --sample 60 -o label.html
        judgekit label --import labels-ada.jsonl
        judgekit label --merge labels-ada.jsonl labels-ben.jsonl -o labels.jsonl
    """
    files = check_label_files(options)
    if options.merge:
        merge_files(targets, options, files)
        return
    if options.labels is not None and _import_packet(options.labels, targets, options):
        return
    with _opened_target(targets, options) as (store, source):
        if options.page:
            serve_packet(source, store, options)
        elif options.target is not None:
            _export(source, store, options, options.target)
        elif files.documents or options.pairwise:
            write_packet(source, store, options, files.documents)
        else:
            _label_run(store.run(source), store, options)


@contextmanager
def _opened_target(
    targets: tuple[str, ...], options: LabelOptions
) -> Iterator[tuple[stores.RunStore, str]]:
    """The store, and the run or comparison that the arguments name."""
    paths = [Path(target) for target in targets]
    missing = [str(path) for path in paths if not path.is_file()]
    has_outputs = bool(paths) and not missing
    typed = typed_options()
    if not has_outputs and ("cases" in typed or ("rubric" in typed and not options.pairwise)):
        what = typed.get("cases", "--rubric")
        raise SettingsError(f"{what} is for files of outputs", hint="a run has its own")
    if len(targets) > 1 and missing:
        what = ", ".join(missing)
        raise SettingsError(f"no such file: {what}", hint="name one run, or files of outputs")
    with options.open_store(create=has_outputs) as store:
        named = targets[0] if targets else stores.LATEST_RUN
        yield store, run_of_outputs(tuple(paths), store, options).id if has_outputs else named


def _export(source: str, store: stores.RunStore, options: LabelOptions, path: Path) -> None:
    """Write the labels of a run; of a comparison, or with --pairwise, the choices between pairs."""
    is_comparison = source.startswith(records.COMPARISON_ID_PREFIX)
    source = (store.comparison if is_comparison else store.run)(source).id
    if is_comparison or options.pairwise:
        stored = [label for packet in store.packets(source) for label in packet.labels]
        found = calibration.resolve_labels(datasets.locate_labels(stored), store.packet)
        rows = [one.label.to_json() for one in found.labels if one.label.winner is not None]
    else:
        rows = [*evaluation.label_rows(store.results(source), store.packets(source))]
    n = write_labels(path, rows)
    line = f"wrote {numbers.format_count(n, 'label')} to {path}"
    data = {"run": source, "n_labels": n, "file": str(path)}
    show_line(line, data, options, is_note=True)


def _label_run(info: RunInfo, opened: stores.RunStore, options: LabelOptions) -> None:
    """Import the labels of a run, or ask its open questions on the terminal."""
    has_questions = next(iter(opened.queue(info.id, open_only=False)), None) is not None
    is_asked = not has_questions or options.sample is not None or bool(options.criterion)
    if is_asked and options.labels is None and info.panel.judges:
        packet = new_packet(info.id, opened, options)
        has_questions |= evaluation.queue_packet(opened, info, packet, at=packet.made_at) > 0
    if not has_questions:
        raise SettingsError(
            f"run {info.id} has no questions for a human",
            hint="give its suite `judge: human`, alone or among others, and a rubric; or run "
            "it with --review SHARE",
        )
    if options.labels is None:
        sys.exit(_run_dialogue(opened, info, options))
    now, annotator = datetime.now(UTC), options.annotator
    imported = evaluation.import_labels(
        opened, info, options.labels, annotator=annotator, at=now, note=streams.note
    )
    _report(opened, info, asdict(imported), options)


def _import_packet(path: Path, targets: tuple[str, ...], options: LabelOptions) -> bool:
    """Store the labels of a packet; False where the file has other labels."""
    labels = datasets.read_labels(path, note=streams.note)
    if not any(calibration.packet_of(one.label) for one in labels):
        return False
    with options.open_store() as opened:
        found = calibration.resolve_labels(labels, opened.packet)
        if len(found.packets) != 1:
            raise SettingsError(
                f"{path} has labels of {len(found.packets)} packets",
                hint="import the files one by one; --merge joins them",
            )
        (packet,) = found.packets
        if targets and targets != (packet.source,):
            raise SettingsError(f"{path} has labels of {packet.source}, not {targets[0]}")
        for file in options.output:
            n = write_labels(file, (one.label.to_json() for one in found.labels))
            streams.note(f"wrote {numbers.format_count(n, 'label')} to {file}")
        stored = calibration.store_labels(
            opened, labels, annotator=options.annotator, at=datetime.now(UTC)
        )
        if not packet.is_pairwise:
            _report(opened, opened.run(packet.source), asdict(stored), options)
            return True
        line = f"{numbers.format_count(stored.n_labels, 'label')} of pairs stored"
        hint = f"judgekit label {packet.source} --pairwise --export FILE writes them"
        show_line(f"{line}; {hint}", {"packet": packet.id, "n_labels": stored.n_labels}, options)
    return True


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


def _run_dialogue(store: stores.RunStore, run: RunInfo, options: LabelOptions) -> int:
    # With --json, stdout must hold nothing but the result.
    console = streams.stderr() if options.as_json else streams.stdout()
    # Piped lines are answers; none of them is a name.
    is_tty = sys.stdin.isatty()
    typed = TypedLines(console, is_edited=is_tty and sys.stdout.isatty() and not options.as_json)
    name = options.annotator
    if name is None and is_tty:
        name = typed.line(f"Your name? [{suggested_name()}] ")
    name = (name or "").strip() or suggested_name()
    labelling = evaluation.LabellingSession(store, run, name, seed=options.seed)
    code = 0
    try:
        LabelDialogue(console, typed, labelling, evaluation.requires_reason(run)).run()
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
    store: stores.RunStore,
    run: RunInfo,
    counts: dict[str, int],
    options: LabelOptions,
    **about: str,
) -> None:
    """Update the status of a run, and print what was answered and what still waits."""
    run = evaluation.update_run_status(store, run.id, at=datetime.now(UTC))
    n_waiting = sum(1 for _ in store.queue(run.id))
    waiting = numbers.format_count(n_waiting, "question waits", "questions wait")
    lines = [
        ", ".join(words for name, n in counts.items() if (words := _WORDS[name](n))),
        f"{waiting} for a human" if n_waiting else "no question waits for a human",
        f"run {run.id}: {message.RUN_STATUS_WORDS[run.status]}; judgekit show {run.id}",
    ]
    if not counts.get("n_without_score"):
        counts.pop("n_without_score", None)
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

_Answer = TypeVar("_Answer")
_SKIP, _UNDO, _HELP, _QUIT = _KEYS = ("s", "u", "?", "q")


class TypedLines:
    """Lines that are typed, or piped in."""

    def __init__(self, console: Console, *, is_edited: bool) -> None:
        self._console = console
        self._is_edited = is_edited
        if is_edited:
            with suppress(ImportError):  # Windows edits lines by itself
                import readline  # noqa: F401, PLC0415 - `input` then edits them, accents included

    def line(self, prompt: str) -> str | None:
        """One line; None at the end of the input."""
        if self._is_edited:
            try:
                return input(prompt)
            except EOFError:
                return None
        self._console.print(prompt, end="", markup=False)
        line = sys.stdin.readline()
        if not sys.stdin.isatty():  # only a terminal echoes what is typed
            self._console.print(line.rstrip("\r\n"), markup=False)
        return line.rstrip("\r\n") if line else None


class _KeyTypedError(Exception):
    """A key was typed in the place of an answer."""


@dataclass(slots=True)
class LabelDialogue:
    """Asks the annotator one question after the other."""

    console: Console
    typed: TypedLines
    labelling: evaluation.LabellingSession
    needs_reason: bool
    _shown: object = None
    _n_taken: int = 0

    def run(self) -> None:
        """Ask until no question is left, the annotator quits or the input ends."""
        continues = True
        while continues:
            question = self.labelling.current()
            n_taken = self.labelling.n_taken
            if n_taken > self._n_taken:
                self._print("somebody else has answered a question meanwhile; here is the next")
            self._n_taken = n_taken
            continues = self._offer_undo() if question is None else self._ask(question)

    def _ask(self, question: LabelQuestion) -> bool:
        """Get the answer to a question; whether to continue."""
        answer = (question.case.id, question.output)
        print_question(self.console, question, with_answer=answer != self._shown)
        # Once, and again after `?`, which resets what was shown.
        if self._shown is None:
            print_keys(self.console)
        self._shown = answer
        score = None
        try:
            score = self._until(
                "score> ", lambda text: evaluation.parse_score(text, question.criterion.scale)
            )
            if self.needs_reason:
                why = self._until("why> ", _reason)
            else:
                why = self._until("why (or just Enter)> ", str.strip)
            sure = self._until(
                "how sure, 0 to 1 (or just Enter)> ", evaluation.parse_confidence, last=""
            )
        # A key works at each of the three prompts, so it leaves the question from any of them.
        except _KeyTypedError as typed:
            key = str(typed)
            if key == _SKIP:
                self.labelling.skip()
            elif key == _HELP:
                print_keys(self.console, question.criterion)
                self._shown = ()
            # After a score, undo takes back that score: the same question appears once more.
            elif key == _UNDO and score is None:
                self._undo()
            return key != _QUIT
        self.labelling.answer(score, why, sure)
        return True

    def _until(self, prompt: str, parse: Callable[[str], _Answer], *, last: str = _QUIT) -> _Answer:
        while True:
            line = self.typed.line(prompt)
            # A piped file may end before the optional confidence of its last answer.
            line = last if line is None else line
            if line.strip().lower() in _KEYS:
                raise _KeyTypedError(line.strip().lower())
            try:
                return parse(line)
            except ValueError as error:
                self._print(str(error))

    def _undo(self) -> bool:
        is_undone = self.labelling.undo()
        missing = f"there is no answer of {self.labelling.annotator} to remove"
        self._print("last answer removed" if is_undone else missing)
        return is_undone

    def _offer_undo(self) -> bool:
        """At the end: whether the last answer is replaced."""
        self._print("no question is left in this session")
        line = self.typed.line("Enter to end, u to remove your last answer> ")
        return line is not None and line.strip().lower() == _UNDO and self._undo()

    def _print(self, text: str) -> None:
        self.console.print(f"  {text}", style="yellow", markup=False)


def _reason(text: str) -> str:
    if not text.strip():
        raise ValueError("every judgment needs a reason: a few words are enough")
    return text.strip()


_KEY_HELP = (
    ("s", "skip: the question keeps waiting"),
    ("u", "undo: remove your last answer; after a score: give another score"),
    ("?", "this help, and the question again"),
    ("q", "quit: every answer is stored"),
)
"""The keys instead of an answer."""


def print_question(console: Console, question: LabelQuestion, *, with_answer: bool = True) -> None:
    # Neither the variant nor other judgments are shown: knowing them would bias the answer.
    from rich.rule import Rule  # noqa: PLC0415 - a tenth of a second, only when printing
    from rich.text import Text  # noqa: PLC0415

    console.print()
    console.print(Rule(Text(f"{question.number:,} of {question.total:,}"), align="left"))
    if with_answer:
        case, output = question.case, question.output
        for title in ("input", "context", "reference"):
            if (value := getattr(case, title)) is not None:
                report.print_passage(console, title, report.safe_text(prompts.to_text(value)))
        if output.trace:
            report.print_passage(console, "steps", report.safe_text(prompts.steps_text(output)))
        text = prompts.judged_text(output) or "(no text; see the steps)"
        report.print_passage(console, "output", report.safe_text(text))
    criterion = question.criterion
    asked = report.safe_text(criterion.question)
    if criterion.scoring_guide:
        asked.append("\n")
        asked.append(report.safe_text(criterion.scoring_guide))
    asked.append(f"\nscore: {prompts.scale_words(criterion.scale)}", style="dim")
    for level in criterion.scale.levels:
        words = ": ".join(word for word in (level.name, level.description) if word)
        asked.append(f"\n  {level.value:g}  {message.printable(words)}", style="dim")
    report.print_passage(console, criterion.name, asked, style="bold cyan")


def print_keys(console: Console, criterion: Criterion | None = None) -> None:
    from rich.text import Text  # noqa: PLC0415

    lines = []
    if criterion is not None:
        lines.append(f"a score is {prompts.scale_words(criterion.scale)}; then why, then how sure")
    lines += [f"{key}  {words}" for key, words in _KEY_HELP]
    console.print(Text("\n".join(lines), style="dim"))
