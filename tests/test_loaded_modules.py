"""What commands load, counted by modules: unlike times, it is the same on every machine."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from judgekit.cli.main import COMMANDS

if TYPE_CHECKING:
    from pathlib import Path

    Row = tuple[str, tuple[str, ...]]

ENGINE = ("sqlalchemy", "jinja2", "numpy", "scipy", "litellm", "tiktoken", "rich", "aiohttp")
STATISTICS = ("scipy", "litellm", "pandas", "aiohttp", "tiktoken_ext.openai_public")

# Readers of YAML are loaded for some helps only, and the loop of events for one.
LIGHT = ("approve", "cache", "data", "explain", "findings", "gate", "init", "lint", "show", "trend")
HELPS: list[Row] = [
    *((f"{name} --help", (*ENGINE, "asyncio", "yaml")) for name in LIGHT),
    *(
        (f"{name} --help", (*ENGINE, "asyncio"))
        for name in COMMANDS
        if name not in (*LIGHT, "batch")
    ),
    ("batch --help", ENGINE),
]

FIRST: list[Row] = [("init .", ENGINE), ("run -q", ("numpy", *STATISTICS))]

# What asks judges: commands that read what is stored need none of it.
ASKING = (
    "jinja2",
    "judgekit.evaluation.runner",
    "judgekit.evaluation.session",
    "judgekit.judge.exchange",
    "judgekit.models.factory",
    "judgekit.models.transports.litellm",
    "judgekit.prompts.messages",
)
READING = (
    *ASKING,
    "judgekit.cli.judge_options",
    "judgekit.evaluation.planner",
    "judgekit.evaluation.stored_comparison",
    "judgekit.prompts.parsing.resolve",
)
RUN_READING = ("numpy", "yaml", "judgekit.datasets.suite", *READING)
LISTING = ("judgekit.evaluation.summary", "judgekit.records.comparison", "judgekit.stats.intervals")

# In one process, which keeps what it has loaded: the commands that need least come first.
STORED: list[Row] = [
    ("show", (*LISTING, *RUN_READING, *STATISTICS)),
    ("show latest", (*RUN_READING, *STATISTICS)),
    ("findings", ("numpy", *READING, *STATISTICS)),
    ("trend", ("numpy", *READING, *STATISTICS)),
    ("cache stats", ("numpy", *ASKING, *STATISTICS)),
    ("lint", ("numpy", *STATISTICS)),
    ("validate", ("numpy", "judgekit.judge.judge", "judgekit.models.factory", *STATISTICS)),
    ("plan", ("numpy", *STATISTICS)),
    (
        "grade outputs/v1.jsonl --rubric rubrics/quality.yaml --judge recorded:replies.jsonl",
        ("numpy", *STATISTICS),
    ),
    ("doctor", STATISTICS),
    ("compare outputs/v1.jsonl outputs/v2.jsonl", STATISTICS),
    ("calibrate labels.jsonl", STATISTICS),
]

RUN = """
import contextlib, io, json, sys
from judgekit.cli.main import main
found = []
for line, banned in json.loads(sys.argv[1]):
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            main(line.split())
    except SystemExit as end:
        if end.code not in (0, None, 1, 4):
            found.append([line, f"code {end.code}: {said.getvalue()}"])
    found += [[line, name] for name in banned if name in sys.modules]
print(json.dumps(found))
"""


def loaded_by(rows: list[Row], folder: Path) -> list[list[str]]:
    """The commands that load what they must not, or fail."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(rows)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[list[str]] = json.loads(done.stdout)
    return found


def test_what_commands_must_not_load_exists() -> None:
    banned = sorted({name for _, names in (*HELPS, *FIRST, *STORED) for name in names})
    # Of packages that a user need not have, only the name is known here.
    assert [n for n in banned if n.startswith("judgekit.") and find_spec(n) is None] == []


def test_the_help_of_no_command_loads_the_engine(tmp_path: Path) -> None:
    assert loaded_by(HELPS, tmp_path) == []


def test_commands_on_stored_results_load_no_slow_statistics(tmp_path: Path) -> None:
    assert loaded_by(FIRST, tmp_path) == []
    assert loaded_by(STORED, tmp_path) == []
