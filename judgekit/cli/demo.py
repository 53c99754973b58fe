"""`judgekit demo`: grades shipped outputs with recorded replies, without a key or a network."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from judgekit.cli import console
from judgekit.cli.help import command
from judgekit.cli.options import OutputOptions, dry_run_option, flag, option
from judgekit.cli.outputs import export_outputs, output_option
from judgekit.cli.run import grade_files
from judgekit.cli.setup import configured_suite, grade_rubric, grade_setup
from judgekit.cli.suite_setup import GradeOptions
from judgekit.datasets import DEFAULT_CACHE_FOLDER, JudgeSettings
from judgekit.models import SMOKE_NOTICE, is_smoke_name
from judgekit.models.cache import DiskCache, import_entries
from judgekit.resources import shipped_file

_RECORDED = """\
12 real tasks, answered by three small language models, graded on {n_criteria} criteria by one of
them, Qwen2.5-Coder-1.5B. Its replies were recorded on 2026-11-22 and are read from a reply cache
now: no key, no network, no calls, no cost.
"""

# A demonstration with a weak judge must state it, or its verdicts pass for the product's.
_AFTERWARDS = """
How far to trust this judge: little. Qwen2.5-Coder-1.5B was chosen because it runs on any laptop.
On 60 general pairs of LLMBar it agreed with the human labels in 65 % of cases, in one order (chance
is 50 %; GPT-4 reached 96 % on the same pairs), and here it also grades its own outputs.
Use a strong judge instead with one flag, its key in the environment:

  judgekit demo --judge openai/gpt-4.1-mini      (`--dry-run` estimates the cost first)

See every case on a page: judgekit demo -o demo.html
Your own outputs next: judgekit init my-suite"""


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
    """Grade 36 real outputs of three small models; needs no key and no network.

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
            console.note(f"Grading live with {name}; replies are cached in {DEFAULT_CACHE_FOLDER}.")
            if is_smoke_name(name):
                console.note(SMOKE_NOTICE)
        sys.exit(grade_files(live, files))
    # A cache of its own: the recorded replies must not count among those the user paid for.
    with tempfile.TemporaryDirectory(prefix="judgekit-demo-") as folder:
        import_recording(Path(folder))
        # Frozen: a missing reply must be an error here, not a call with the user's key.
        replayed = {
            "cache_dir": Path(folder),
            "judge_settings": JudgeSettings(frozen=True),
            "no_progress": True,
        }
        grading = grading.model_copy(update=replayed)
        if is_commented:
            rubric = grade_rubric(None, configured_suite(config))
            console.note(_RECORDED.format(n_criteria=len(rubric.criteria)))
        code = grade_files(grading, files)
    if is_commented and not options.dry_run:
        console.note(_AFTERWARDS)
    sys.exit(code)


def import_recording(folder: Path) -> None:
    """Put the demo's recorded replies into a cache."""
    recording = shipped_file("calibration", "demo", "judge_replies.jsonl")
    with DiskCache(folder) as cache:
        import_entries(cache, recording)
