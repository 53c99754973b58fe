"""What the commands say of each published set, on the files that `judgekit data get` writes."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from click.testing import CliRunner

from judgekit.calibration import PointwiseData, calibrate_and_release
from judgekit.cli.main import judgekit
from judgekit.public_data.download import judgekit_files
from tests.public_data.material import rows_of, sets_below

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from judgekit.calibration import PairwiseData
    from tests.public_data.material import Rows

Reading = tuple[str, str | None, str | None, str | None, int]
"""Case, variant, criterion, order and repeat of a reply."""


@dataclass(frozen=True)
class Told:
    """What a command said, and what it read of each reply."""

    report: dict[str, Any]
    """What it printed with `--json`."""

    readings: dict[Reading, Any]
    """The score, or the winner, of each reply; None where nothing usable was read."""

    code: int
    """What it exited with."""


@lru_cache(maxsize=1)
def folder() -> Path:
    """Where own files lie, and what commands said of them; the tests put it in their own place."""
    return Path(mkdtemp(prefix="judgekit-published-"))


def own(name: str, file: str) -> Path:
    """A file of a set in judgekit's own formats, as `judgekit data get` writes it."""
    return _laid(name) / file


def replies(name: str, stem: str, judge: str) -> Path:
    """The recorded replies of a judge."""
    return own(name, f"{stem}.replies.{judge.replace('/', '_')}.jsonl")


def results(name: str, stem: str, judge: str) -> Path:
    """Scores or winners of a judge of whom no words are kept."""
    return own(name, f"{stem}.results.{judge}.jsonl")


def told(labels: Path, *options: object) -> Told:
    """What `judgekit calibrate` says, items taken as independent, as published intervals do.

    The same command is run once for all the tests of a run.
    """
    words = [str(word) for word in ("calibrate", labels, *_ALWAYS, *options)]
    mark = hashlib.sha256("\n".join(words).encode()).hexdigest()[:24]
    return _kept(folder() / f"{mark}.json", tuple(words))


def ranked(path: Path) -> dict[str, Any]:
    """What `judgekit rank` says of a file of winners."""
    ran = CliRunner().invoke(judgekit, ["rank", str(path), "--json"], catch_exceptions=False)
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def written(rows: Iterable[Mapping[str, Any]], suffix: str = ".jsonl") -> Path:
    """A file with these rows, named after what it holds."""
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    path = folder() / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}{suffix}"
    if not path.is_file():
        _write(path, text)
    return path


def rows_in(path: Path) -> Rows:
    """The rows of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


_ALWAYS = ("--cluster", "item", "--no-cache", "--json")


@lru_cache(maxsize=8)
def _kept(path: Path, words: tuple[str, ...]) -> Told:
    """What a command said: from the file where it is kept, or else it is run."""
    if path.is_file():
        report, readings, code = json.loads(path.read_text(encoding="utf-8"))
        return Told(report, {tuple(place): read for place, read in readings}, code)
    found = _asked(list(words))
    _write(path, json.dumps([found.report, list(found.readings.items()), found.code]))
    return found


def _write(path: Path, text: str) -> None:
    """Write a file at once, so that another worker never reads a part of it."""
    part = path.with_suffix(f".{os.getpid()}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


@lru_cache(maxsize=16)
def _laid(name: str) -> Path:
    place = folder() / name
    if not place.is_dir():
        part = Path(mkdtemp(dir=folder()))
        joined = {stem: rows_of(f"{name}/{stem}") for stem in sets_below(name)}
        for file, rows in judgekit_files(joined, instrument=name):
            text = "".join(f"{json.dumps(row)}\n" for row in rows)
            (part / file).write_text(text, encoding="utf-8")
        with suppress(OSError):  # another worker was quicker
            part.rename(place)
    return place


def _asked(words: list[str]) -> Told:
    seen: list[dict[Reading, Any]] = []

    def watching(found: PointwiseData | PairwiseData, *args: Any) -> Any:
        seen.append(_read(found))  # the answers are released once they are joined
        return calibrate_and_release(found, *args)

    with patch("judgekit.calibration.calibrate_and_release", watching):
        ran = CliRunner().invoke(judgekit, words, catch_exceptions=False)
    if not ran.stdout:
        raise AssertionError(ran.stderr)
    return Told(json.loads(ran.stdout), seen[0], ran.exit_code)


def _read(found: PointwiseData | PairwiseData) -> dict[Reading, Any]:
    if isinstance(found, PointwiseData):
        return {
            (s.place.case_id, s.place.variant, s.criterion, None, s.repeat): s.raw
            for s in found.samples
        }
    return {
        (p.place.case_id, p.place.variant, p.criterion, c.order, 0): c.winner
        for p in found.pairs
        for c in p.choices
    }
