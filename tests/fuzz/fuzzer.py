"""Reads mutated inputs by each reader, and keeps those that break the law of reading."""

from __future__ import annotations

import faulthandler
import hashlib
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from base64 import b64decode, b64encode
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Self

from tests.fuzz.mutating import Mutator
from tests.fuzz.readers import READERS, Reader, law, seeds, seeds_of

if TYPE_CHECKING:
    from collections.abc import Iterator

DEADLINE_S = 2.0
"""Seconds of CPU time that reading an input of at most 100 kB may take."""

MOST_KIB = 256 << 10
"""By how much the memory of the process may grow at one input."""

_STUCK_S = 60
_PART_S = 300.0
_ERRORS = os.fdopen(os.dup(2), "w")  # pytest takes stderr away
_PACKAGE = re.compile(r"/judgekit/")


class TooLongError(BaseException):
    """Reading took longer than the deadline; no `except Exception` catches it."""


@dataclass
class Tally:
    """What was read, how it ended, and what broke the law: input and reason by signature."""

    inputs: Counter[str] = field(default_factory=Counter)
    """How many inputs each reader was given."""

    ends: Counter[str] = field(default_factory=Counter)
    broken: dict[str, tuple[str, bytes, str]] = field(default_factory=dict)

    @property
    def n_inputs(self) -> int:
        return self.inputs.total()

    def to_json(self) -> str:
        """For another process."""
        broken = {
            signature: [name, b64encode(content).decode(), reason]
            for signature, (name, content, reason) in self.broken.items()
        }
        return json.dumps([self.inputs, self.ends, broken])

    @classmethod
    def from_json(cls, text: str) -> Self:
        inputs, ends, broken = json.loads(text)
        read = {one: (name, b64decode(data), why) for one, (name, data, why) in broken.items()}
        return cls(Counter(inputs), Counter(ends), read)

    def __iadd__(self, other: Self) -> Self:
        self.inputs += other.inputs
        self.ends += other.ends
        self.broken = {**other.broken, **self.broken}
        return self


def fuzz(
    folder: Path,
    *,
    seed: int,
    n_inputs: int | None = None,
    seconds: float | None = None,
    names: tuple[str, ...] = (),
) -> Tally:
    """Read mutated inputs: so many, or for so long, of which each reader has its share."""
    rng = random.Random(seed)
    readers = [reader for reader in READERS.values() if not names or reader.name in names]
    mutator = Mutator(tuple(seeds().values()), rng)
    tally, until = Tally(), time.monotonic() + (seconds or float("inf"))
    spent = dict.fromkeys(readers, 0.0)
    while (started := time.monotonic()) < until and (n_inputs is None or tally.n_inputs < n_inputs):
        if n_inputs is None:  # by time: a slow reader takes none from the others
            reader = min(readers, key=lambda one: spent[one] / one.weight)
        else:  # and the same ones in each run of a test
            reader = rng.choices(readers, [one.weight for one in readers])[0]
        # Now and then an input that is meant for other readers.
        names_of = list(seeds()) if rng.random() < 0.1 else seeds_of(reader)
        name = rng.choice(names_of)
        suffix = Path(name).suffix
        content = mutator.mutate(seeds()[name], suffix)
        if rng.random() < 0.02:
            name = Path(name).stem + rng.choice((".json", ".yaml", ".jsonl", ".csv", ".zip"))
        tally.inputs[reader.name] += 1
        end, reason = read(reader, folder / name, content)
        tally.ends[end] += 1
        spent[reader] += time.monotonic() - started
        if reason is not None:
            tally.broken.setdefault(f"{reader.name}: {end}", (name, content, reason))
    return tally


def fuzz_in_parts(*, seconds: float, seed: int, names: tuple[str, ...] = ()) -> Tally:
    """Fuzz in processes of five minutes: what does not come back is ended, the next begins."""
    whole, until = Tally(), time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        seed += 1
        with tempfile.TemporaryDirectory(prefix="judgekit-fuzz-", dir=_memory()) as folder:
            part = ["--part", folder, "--seed", str(seed), "--seconds", str(min(_PART_S, left))]
            done = subprocess.run(
                [sys.executable, "-m", "tests.fuzz", *part, *names],
                capture_output=True, text=True, check=False, timeout=_PART_S + 2 * _STUCK_S,
            )  # fmt: skip
            if done.returncode == 0:
                whole += Tally.from_json(done.stdout)
                continue
            # The input on which it died is still there.
            for path in Path(folder).iterdir():
                reason = f"exit {done.returncode}: {done.stderr[-3000:]}"
                broken = (path.name, path.read_bytes(), reason)
                whole.broken.setdefault("any reader: the process died", broken)
    return whole


def _memory() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - a folder of ours in it


def read(reader: Reader, path: Path, content: bytes) -> tuple[str, str | None]:
    """How reading an input ended; and where it broke the law, how."""
    path.write_bytes(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with _deadline():
            end = law(reader, path)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - whatever it is breaks the law
        return _signature(error), "".join(traceback.format_exception(error))[-4000:]
    finally:
        path.unlink(missing_ok=True)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    if grown > MOST_KIB:
        return "memory", f"took {grown >> 10} MiB"
    return end, None


def file_name(signature: str, name: str, content: bytes) -> str:
    """What a broken input is called in the corpus."""
    words = re.sub(r"[^a-z0-9]+", "_", signature.lower()).strip("_")[:60]
    digest = hashlib.sha256(content).hexdigest()[:8]
    return f"{words}_{digest}{''.join(Path(name).suffixes)}"


def _signature(error: BaseException) -> str:
    """The kind of an error and where in judgekit it arose: one of each is enough."""
    source = error.__cause__ or error
    frames = [
        one for one in traceback.extract_tb(source.__traceback__) if _PACKAGE.search(one.filename)
    ]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else "?"
    return f"{type(error).__name__} {where}"


@contextmanager
def _deadline() -> Iterator[None]:
    def stop(*_: object) -> NoReturn:
        raise TooLongError

    before = signal.signal(signal.SIGPROF, stop)
    # CPU time: other processes of the machine do not count. What does not come back from C at all
    # ends the process, with the place.
    signal.setitimer(signal.ITIMER_PROF, DEADLINE_S)
    faulthandler.dump_traceback_later(_STUCK_S, exit=True, file=_ERRORS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        faulthandler.cancel_dump_traceback_later()
