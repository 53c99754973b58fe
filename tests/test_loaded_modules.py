"""What commands load, counted by modules: unlike times, it is the same on every machine."""

from __future__ import annotations

import json
import subprocess
import sys
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

# In one process, which keeps what it has loaded: the commands that need least come first.
STORED: list[Row] = [
    ("show", ("jinja2", "numpy", "yaml", *STATISTICS)),
    ("cache stats", ("jinja2", "numpy", "yaml", *STATISTICS)),
    ("lint", ("numpy", *STATISTICS)),
    ("validate", ("numpy", *STATISTICS)),
    ("plan", ("numpy", *STATISTICS)),
    (
        "grade outputs/v1.jsonl --rubric rubrics/quality.yaml --judge recorded:replies.jsonl",
        ("numpy", *STATISTICS),
    ),
    ("findings", STATISTICS),
    ("trend", STATISTICS),
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


def test_the_help_of_no_command_loads_the_engine(tmp_path: Path) -> None:
    assert loaded_by(HELPS, tmp_path) == []


def test_commands_on_stored_results_load_no_slow_statistics(tmp_path: Path) -> None:
    assert loaded_by(FIRST, tmp_path) == []
    assert loaded_by(STORED, tmp_path) == []
