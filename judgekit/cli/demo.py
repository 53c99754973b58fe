"""`judgekit demo`: grades shipped outputs with recorded replies, without a key or a network."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from judgekit.cli import console
from judgekit.cli.grade import run_grading, show_dry_run
from judgekit.cli.help import HelpCommand
from judgekit.cli.setup import configured_suite, grade_rubric, grade_setup
from judgekit.datasets import DEFAULT_CACHE_FOLDER
from judgekit.models import SMOKE_NOTICE, is_smoke_name
from judgekit.models.cache import DiskCache, import_entries
from judgekit.resources import shipped_file

_RECORDED = """\
12 real tasks, answered by three small language models, graded on {n_criteria} criteria by one of
them, Qwen2.5-Coder-1.5B. Its replies were recorded on 2026-11-22 and are read from a reply cache
now: no key, no network, nothing is asked, nothing is paid.
"""

_AFTERWARDS = """
How far to trust this judge: little. Qwen2.5-Coder-1.5B was chosen because it runs on any laptop.
On 60 general pairs of LLMBar it agreed with people 65 % of the time in one order (chance is 50 %;
GPT-4 reached 96 % on the same pairs), and here it grades its own outputs too.
Put a strong judge in its place with one flag, its key in the environment:

  judgekit demo --judge openai/gpt-4.1-mini      (`--dry-run` says first what it would cost)

Your own outputs next: judgekit init my-suite"""


@click.command("demo", cls=HelpCommand)
@click.option(
    "--judge", "judge_model", metavar="MODEL", help="Call this judge instead of replaying replies."
)
@click.option("--live", is_flag=True, help="Call the local model instead of replaying replies.")
@click.option("--dry-run", is_flag=True, help="Estimate calls and cost without making any.")
@click.option("-n", "--limit", type=click.IntRange(1), help="Only the first N outputs.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the table.")
@click.option("-v", "--verbose", is_flag=True, help="Print every verdict with every reason.")
def demo_command(*, judge_model: str | None, live: bool, dry_run: bool, **options: object) -> None:
    """Grade 36 real outputs of three small models; needs no key and no network.

    By default the replies of the judge come from a shipped recording. With --live or --judge the
    same outputs are graded by that judge, and its replies are cached in .judgekit/cache.

    Examples:
        judgekit demo
        judgekit demo --judge openai/gpt-4.1-mini -n 6
    """
    options["no_store"] = True  # a demonstration leaves nothing in the user's own store
    options["config"] = shipped_file("calibration", "demo", "judgekit.yaml")
    talks = not (options["quiet"] or options["as_json"])
    if live or judge_model is not None:
        options["judge_model"] = judge_model or "local"
        sys.exit(_graded_live(options, talks=talks, dry_run=dry_run))
    with tempfile.TemporaryDirectory(prefix="judgekit-demo-") as folder:
        import_recording(Path(folder))
        options |= {"cache_dir": Path(folder), "frozen": True, "no_progress": True}
        if talks:
            rubric = grade_rubric(options, configured_suite(options))
            console.note(_RECORDED.format(n_criteria=len(rubric.criteria)))
        if dry_run:
            show_dry_run(options)
            return
        code = run_grading(options)
    if talks:
        console.note(_AFTERWARDS)
    sys.exit(code)


def _graded_live(options: dict[str, object], *, talks: bool, dry_run: bool) -> int:
    if dry_run:
        show_dry_run(options)
        return 0
    with grade_setup(options).judge as judge:
        name = judge.connection.name
    if talks:
        console.note(f"Grading live with {name}; replies are cached in {DEFAULT_CACHE_FOLDER}.")
        if is_smoke_name(name):
            console.note(SMOKE_NOTICE)
    return run_grading(options)


def import_recording(folder: Path) -> None:
    """Put the demo's recorded replies into a cache."""
    recording = shipped_file("calibration", "demo", "judge_replies.jsonl")
    with DiskCache(folder) as cache:
        import_entries(cache, recording)
