"""What happens to the cache while commands run: shared by processes, removed, damaged, full.

What must hold: a reply that arrived is found again, unless its file was taken away by force; every
process shows what happened and no traceback.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.chaos.commands import IN_FLIGHT, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from judgekit.testing import ServedRequest
    from tests.chaos.commands import Bench

_N_PROCESSES = 4
_INCOMPLETE = 3


@dataclass
class Storage:
    """What was done to the cache, and what was counted."""

    name: str
    n_keys: int = 0
    n_paid: int = 0
    """Calls made until everything was judged."""

    most_paid: int = 0
    complaints: list[str] = field(default_factory=list)

    def settle(self, *processes: tuple[int, str], words: str = "") -> None:
        """Check the numbers, and how the processes ended."""
        if self.n_paid > self.most_paid:
            self.complaints.append(f"{self.n_paid} calls, at most {self.most_paid} expected")
        for code, err in processes:
            if "Traceback" in err:
                self.complaints.append(err[-400:])
            if not re.search(words, err):
                self.complaints.append(f"exit {code}, and nothing about {words!r}: {err[-300:]}")
        self.complaints = [f"{self.name}: {one}" for one in self.complaints]


def share(folder: Path, *, n_cases: int, n_kills: int, seed: int) -> Storage:
    """Four processes grade the same outputs with one cache; some are killed and started again."""
    rng = random.Random(seed)
    server, laying = serving(folder, n_cases=n_cases)
    found = Storage(f"{_N_PROCESSES} processes, {n_kills} kills")
    with server:
        bench = laying()
        processes = [bench.start("grade") for _ in range(_N_PROCESSES)]
        for _ in range(n_kills):
            place = rng.randrange(_N_PROCESSES)
            processes[place].kill()
            processes[place].communicate()
            processes[place] = bench.start("grade")
        ended = [(one.communicate(timeout=120)[1], one.returncode) for one in processes]
        found.n_paid = server.n_requests
        bench.result("grade")
        found.n_keys = 2 * n_cases
        found.complaints = bench.damage()
    found.most_paid = found.n_keys + n_kills * IN_FLIGHT
    found.settle(*((code, err) for err, code in ended))
    return found


def remove(folder: Path, *, n_cases: int) -> Storage:
    """The folder of the cache is removed while a command runs."""
    at = n_cases  # the half of all calls

    def script(request: ServedRequest) -> str:
        if request.number == at:
            # At once: files that are being written would keep the folder from being deleted.
            (folder / ".judgekit" / "cache").rename(folder / "removed")
        return "ok"

    server, laying = serving(folder, script, n_cases=n_cases)
    found = Storage("cache folder removed in the middle")
    with server:
        bench = laying()
        process = bench.start("grade")
        _, err = process.communicate(timeout=120)
        found.n_keys = server.n_requests
        bench.result("grade")
        found.n_paid = server.n_requests
        found.complaints = bench.damage()
    # What was stored before is gone with the folder; all that came later must be there.
    found.most_paid = found.n_keys + at + IN_FLIGHT
    found.settle((process.returncode, err), words="removed")
    return found


def damage(folder: Path, *, n_cases: int, seed: int) -> Storage:
    """Bytes of the cache's file are changed between two commands."""
    rng = random.Random(seed)
    server, laying = serving(folder, n_cases=n_cases)
    found = Storage("bytes of the cache changed")
    with server:
        bench = laying()
        undisturbed = bench.result("grade")
        found.n_keys = server.n_requests
        (file,) = (folder / ".judgekit" / "cache").glob("*.db")
        content = bytearray(file.read_bytes())
        for _ in range(40):
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        file.write_bytes(content)
        process = bench.start("grade")
        _, err = process.communicate(timeout=120)
        if bench.result("grade") != undisturbed:
            found.complaints.append("the result differs")
        found.n_paid = server.n_requests
    found.most_paid = 2 * found.n_keys
    found.settle((process.returncode, err))
    return found


def fill(folder: Path, *, n_cases: int) -> Storage | None:
    """The disk becomes full; None where no small disk can be mounted."""
    found = Storage("disk full")
    with _small_disk(folder) as is_mounted:
        if not is_mounted:
            return None
        server, laying = serving(folder, n_cases=n_cases)
        with server:
            bench = laying()
            ballast = folder / "ballast"
            _fill_up(ballast, leave=250_000)
            process = bench.start("grade", "--no-store")
            _, err = process.communicate(timeout=120)
            first = server.n_requests
            if process.returncode != _INCOMPLETE:
                found.complaints.append(f"exit {process.returncode}: {err[-300:]}")
            ballast.unlink()
            _import_spilled(bench, err)
            bench.result("grade", "--no-store")
            found.n_keys, found.n_paid = 2 * n_cases, server.n_requests
    # Calls in flight when the disk was found full are repeated at most.
    found.most_paid = found.n_keys + IN_FLIGHT
    found.settle(
        (process.returncode, err),
        words="disk is full|No space left" if first < found.n_keys else "",
    )
    return found


def _import_spilled(bench: Bench, err: str) -> None:
    """Take back the replies that were written elsewhere, as the error says."""
    for word in err.split():
        if word.endswith(".jsonl") and "judgekit" in word:
            bench.judgekit("cache", "import", word).communicate(timeout=60)


@contextmanager
def _small_disk(folder: Path) -> Iterator[bool]:
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(folder)]
    is_mounted = subprocess.run(mount, check=False, capture_output=True).returncode == 0
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", "-l", str(folder)], check=False, capture_output=True)


def _fill_up(ballast: Path, *, leave: int) -> None:
    n_free = shutil.disk_usage(ballast.parent).free
    ballast.write_bytes(b"x" * max(0, n_free - leave))
