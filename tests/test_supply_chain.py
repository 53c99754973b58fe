from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from judgekit.testing import ChaosServer
from tests import audit

HASH = f"--hash=sha256:{'0' * 64}"


@pytest.mark.parametrize("path", audit.LOCKS, ids=lambda path: path.name)
def test_the_lock_files_name_versions_and_hashes(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert audit.locked_packages(text)
    assert list(audit.lock_faults(path.name, text)) == []


@pytest.mark.parametrize(
    ("lock", "fault"),
    [
        (f"click==8.1 \\\n    {HASH}\n    # via x\n", None),
        (f"# a comment\nnumpy==2.0 ; python_version < '3.12' \\\n    {HASH}\n", None),
        ("click==8.1\n", "x.lock: click has no hash"),
        ("click[all]==8.1\n", "x.lock: click has no hash"),
        ("click>=8\n", "x.lock: `click>=8` names no version"),
        ("git+https://host/x.git\n", "x.lock: `git+https://host/x.git` names no version"),
        ("--index-url https://host/\n", "x.lock: `--index-url https://host/` names no version"),
        (f"litellm==1.82.8 \\\n    {HASH}\n", "x.lock: litellm 1.82.8 is a malicious release"),
    ],
)
def test_a_lock_file_names_versions_and_hashes(lock: str, fault: str | None) -> None:
    found = list(audit.lock_faults("x.lock", lock))
    assert [fault is not None and one.startswith(fault) for one in found] == [True] * len(found)
    assert bool(found) is (fault is not None)


def test_another_version_a_missing_package_and_an_unknown_start_up_file_are_found(
    tmp_path: Path,
) -> None:
    (tmp_path / "evil.pth").write_text("import os", encoding="utf-8")
    locked = [
        audit.Locked("click", "0.1", (), is_conditional=False),
        audit.Locked("no-such-package", "1", (), is_conditional=False),
        audit.Locked("not-on-this-system", "1", (), is_conditional=True),
    ]
    first, second, third = audit.environment_faults(locked, tmp_path)
    assert re.fullmatch(r"click \S+ is installed, and 0\.1 is locked", first)
    assert second == "no-such-package is not installed"
    assert third.startswith("evil.pth runs code whenever Python starts")


def test_every_base_dependency_has_its_reason() -> None:
    text = (audit.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| .{20,} \|$", text, re.MULTILINE)
    assert rows == audit.direct_dependencies()


GUARDED = """\
import json, sys
seen = set()
def note(event, args):
    if event == "socket.connect":
        seen.add(str(args[1]))
    elif event == "socket.getaddrinfo" and args[0] not in (None, "127.0.0.1"):
        seen.add(str(args[:2]))
sys.addaudithook(note)
from judgekit.cli.main import main
for transport in ("direct", "litellm"):
    try:
        main(["grade", "outputs.jsonl", "--rubric", "helpfulness", "--judge", "openai/any",
              "--api-base", sys.argv[1], "--transport", transport,
              "--no-cache", "--no-store", "-q"])
    except SystemExit as stop:
        assert stop.code == 0, stop.code
print("CONNECTED " + json.dumps(sorted(seen)))
"""


def test_only_the_named_endpoint_is_connected_to_through_either_transport(tmp_path: Path) -> None:
    row = {"case_id": "c1", "input": "Hello?", "text": "Good day."}
    (tmp_path / "outputs.jsonl").write_text(f"{json.dumps(row)}\n", encoding="utf-8")
    with ChaosServer() as server:
        ran = subprocess.run(
            [sys.executable, "-c", GUARDED, server.url],
            cwd=tmp_path, env={**os.environ, "OPENAI_API_KEY": "none"}, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        wanted = [str(("127.0.0.1", server.port))]
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout.rpartition("CONNECTED ")[2]) == wanted
