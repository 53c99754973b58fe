"""`judgekit init`: writes a working suite to edit, made from the demo's data."""

from __future__ import annotations

import json
import shlex
import tempfile
from pathlib import Path

import click

from judgekit.cli.demo import import_recording
from judgekit.cli.help import command
from judgekit.cli.options import GradingOptions, OutputOptions, flag
from judgekit.cli.outputs import show_line
from judgekit.cli.setup import GradeSetup, grade_setup
from judgekit.datasets import JudgeSettings, load_suite
from judgekit.errors import SettingsError
from judgekit.judge import Judge
from judgekit.models import RecordingModel
from judgekit.records import JsonObject
from judgekit.report import format_count
from judgekit.resources import shipped_file

# One case of each kind of task, few enough to read all of them.
_CASES = ("sale-item-refund", "private-address", "incident-summary", "lead-extraction")
_VARIANTS = {"qwen2.5-coder-0.5b": "v1", "qwen2.5-coder-1.5b": "v2"}


class _InitOptions(OutputOptions):
    force: bool = flag("Overwrite existing files.")


@command("init", _InitOptions)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
def init_command(options: _InitOptions, *, folder: Path) -> None:
    """Create a working suite in FOLDER: config, cases, outputs, rubric, recorded replies.

    It runs at once and without a key: judgekit grade. Edit the files to make it yours.

    Examples:
        judgekit init my-suite
        cd my-suite && judgekit grade
    """
    name = folder.resolve().name or "suite"
    with tempfile.TemporaryDirectory(prefix="judgekit-init-") as temporary:
        import_recording(Path(temporary))
        frozen = JudgeSettings(frozen=True)
        setup = grade_setup(
            GradingOptions(config=_demo_suite(), cache_dir=Path(temporary), judge_settings=frozen)
        )
        with setup.judge:
            files = _files(setup, name, Path(temporary))
    # All or nothing: a mixture of the user's files and these would not run.
    present = [path for path in files if (folder / path).exists()]
    if present and not options.force:
        raise SettingsError(
            f"{folder} already has {', '.join(present)}", hint="choose another folder, or --force"
        )
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    where = "" if folder.resolve() == Path.cwd() else f"cd {shlex.quote(str(folder))} && "
    line = f"wrote {format_count(len(files), 'file')} to {folder}\nnext: {where}judgekit grade"
    show_line(line, {"folder": str(folder), "files": list(files)}, options, is_note=True)


def _files(setup: GradeSetup, name: str, temporary: Path) -> dict[str, str]:
    answers = [
        (case, output)
        for case, output in setup.answers()
        if case.id in _CASES and output.variant in _VARIANTS
    ]
    cases = {case.id: case.to_json() for case, _ in answers}
    # The outputs are graded once more from the recording, so that replies to retried questions are
    # among the rows that `recorded:` reads.
    replies = temporary / "replies.jsonl"
    # The settings of the demo's judge: with others its replies would not be found in the cache.
    settings = load_suite(_demo_suite()).judge[0].model_dump(exclude_unset=True, exclude={"model"})
    with Judge(
        RecordingModel(setup.judge.connection.model, replies), cache=None, **settings
    ) as judge:
        for case, output in answers:
            # Recorded replies are found by case and variant, and the suite names them v1 and v2.
            named = {"variant": _VARIANTS[output.variant or ""]}
            judge.grade_sync(case, output.model_copy(update=named), setup.rubric)
    files = {
        "judgekit.yaml": _named("judgekit.yaml", json.dumps(name, ensure_ascii=False)),
        "README.md": _named("README.md", name),
        "cases.jsonl": _jsonl(list(cases.values())),
        "rubrics/quality.yaml": shipped_file("calibration", "demo", "rubric.yaml").read_text(
            encoding="utf-8"
        ),
        "replies.jsonl": replies.read_text(encoding="utf-8"),
    }
    for variant, label in _VARIANTS.items():
        # The variant is the file's, and the rest of the record describes the recorded run.
        rows = [
            {k: v for k, v in output.to_json().items() if k in {"case_id", "text", "usage"}}
            for _, output in answers
            if output.variant == variant
        ]
        files[f"outputs/{label}.jsonl"] = _jsonl(rows)
    return files


def _named(file: str, name: str) -> str:
    text = shipped_file("calibration", "demo", "init", file).read_text(encoding="utf-8")
    return text.replace("NAME", name, 1)


def _demo_suite() -> Path:
    return shipped_file("calibration", "demo", "judgekit.yaml")


def _jsonl(rows: list[JsonObject]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
