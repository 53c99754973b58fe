"""Runs everything that judgekit is made to survive, and prints what was tried and lost.

python -m tests.chaos [--short] [--only WORDS] [--write]; --write puts the rows that were run into
the table in docs/reliability.md, and leaves the others as they are
"""

from __future__ import annotations

import argparse
import itertools
import logging
import os
import platform
import re
import signal
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from hypothesis import HealthCheck, settings

from tests.chaos.commands import COMMANDS, IN_FLIGHT, Forks
from tests.chaos.disk import EXITS, OUTPUTS, fail_at_each
from tests.chaos.faults import FAULT_NAMES, POSITIONS, run_trials, trials
from tests.chaos.kills import kill_command
from tests.chaos.machine import SuiteMachine, walk
from tests.chaos.stops import stop_at_imports
from tests.chaos.storage import damage, fill, remove, share
from tests.fuzz.fuzzer import fuzz_in_parts
from tests.fuzz.readers import READERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_T = TypeVar("_T")
PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
_TABLE = re.compile(r"(<!-- table -->\n)(.*?)(\n<!-- end -->)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Row:
    """What was tried, how often, and what came of it."""

    what: str
    tried: str
    result: str
    complaints: list[str]


def rows(*, short: bool, only: str = "") -> Iterator[Row]:
    """Every row of the table, one after the other: some take minutes."""
    parts: dict[str, Callable[[], Iterable[Row]]] = {
        "faults": lambda: _faults(short=short),
        "kills": lambda: [_kills(one, short=short) for one in COMMANDS],
        "stops": lambda: [_stops(one, short=short) for one in (signal.SIGINT, signal.SIGTERM)],
        "storage": lambda: _storage(short=short),
        **{
            f"disk {one}": lambda one=one: [_disk(one, short=short)]  # type: ignore[misc]
            for one in (["export", "convert"] if short else OUTPUTS)
        },
        "walks": lambda: [_walks(short=short)],
        "inputs": lambda: [_inputs(short=short)],
    }
    for name, part in parts.items():
        if only in name:
            yield from part()


def _faults(*, short: bool) -> Iterator[Row]:
    positions = ["every 2nd"] if short else list(POSITIONS)
    for transport in ("direct", "litellm", "anthropic", "gemini"):
        done = run_trials(trials(FAULT_NAMES, positions, [transport]))
        n_scored, n_failed = sum(t.n_scored for t in done), sum(t.failures.total() for t in done)
        n_good = sum(len(trial.good) for trial in done)
        yield Row(
            f"{len(FAULT_NAMES)} faults at {len(positions)} positions, transport {transport}",
            f"{len(done)} trials, {sum(t.n_requests for t in done):,} requests",
            f"{n_scored:,} right scores, {n_failed:,} failures of a named kind, 0 wrong scores; "
            f"0 of {n_good:,} good replies lost",
            [one for trial in done for one in trial.complaints],
        )


def _kills(command: str, *, short: bool) -> Row:
    n_trials, n_kills = (1, 2) if short else (10, 4)
    done = [
        _in_folder(lambda folder, s=seed: kill_command(  # type: ignore[misc]
            command, folder, n_kills=n_kills, n_cases=8 if short else 20, seed=s
        ))
        for seed in range(n_trials)
    ]  # fmt: skip
    n_kills = sum(one.n_kills for one in done)
    n_repeated = sum(one.n_repeated for one in done)
    return Row(
        f"`{command}` killed with SIGKILL and started again",
        f"{n_kills} kills, {sum(one.n_keys for one in done):,} distinct calls",
        f"{n_repeated} calls repeated (at most {n_kills * IN_FLIGHT} were in flight); equal "
        "results, cache and store intact",
        [complaint for one in done for complaint in one.complaints],
    )


def _stops(number: int, *, short: bool) -> Row:
    n_stops = 6 if short else 60
    done = _in_folder(
        lambda folder: stop_at_imports("run", folder, number=number, n_stops=n_stops, seed=1)
    )
    return Row(
        f"{signal.Signals(number).name} while `run` starts up",
        f"{done.n_stops} moments",
        "exit code 130, no traceback",
        done.complaints,
    )


def _storage(*, short: bool) -> Iterator[Row]:
    n_cases, n_kills = (20, 2) if short else (100, 10)
    shown = {
        "four processes with one cache, some killed": lambda folder: share(
            folder, n_cases=n_cases, n_kills=n_kills, seed=1
        ),
        "cache folder removed in the middle of a command": lambda folder: remove(
            folder, n_cases=n_cases
        ),
        "40 bits of the cache's file changed": lambda folder: damage(
            folder, n_cases=n_cases, seed=1
        ),
        "disk full in the middle of a command": lambda folder: fill(folder, n_cases=120),
    }
    for what, run in shown.items():
        done = _in_folder(run)
        if done is None:
            yield Row(what, "not tried: no small disk can be mounted here", "", [])
            continue
        yield Row(
            what,
            f"{done.n_keys} distinct calls",
            f"{done.n_paid} calls made (at most {done.most_paid})",
            done.complaints,
        )


def _disk(command: str, *, short: bool) -> Row:
    done = []
    # A fault that stays, and one that is over at once.
    for fault, times in itertools.product(EXITS, [None] if short else [None, 1]):
        with tempfile.TemporaryDirectory(prefix="judgekit-chaos-") as folder:
            suite, step = Path(folder, "suite"), 5 if command in {"grade", "run"} else 1
            done.append(fail_at_each(command, fault, suite, times=times, step=step))
    return Row(
        f"files fail at each operation of `{command}`: {len(EXITS)} faults",
        f"{sum(one.n_tried for one in done):,} commands",
        "a message and an exit code each, old or new files and no half of one; the same "
        "command ends well afterwards",
        [complaint for one in done for complaint in one.complaints],
    )


def _walks(*, short: bool) -> Row:
    n_walks, n_steps = (10, 10) if short else (200, 30)
    complaints = []
    SuiteMachine.forks = None if short else Forks()
    how = settings(
        max_examples=n_walks,
        stateful_step_count=n_steps,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    try:
        walk(SuiteMachine, how)
    except Exception:  # noqa: BLE001 - whatever it is breaks a law
        complaints.append(traceback.format_exc()[-3000:])
    if SuiteMachine.forks is not None:
        SuiteMachine.forks.close()
    return Row(
        "random walks: add cases, edit the rubric, run, stop, kill, damage the cache, resume, move",
        f"{n_walks} walks of up to {n_steps} steps",
        "no stored reply was paid for again, every run as if nothing had happened, no unfinished "
        "run passed its gate",
        complaints,
    )


def _inputs(*, short: bool) -> Row:
    tally = fuzz_in_parts(seconds=30 if short else 1200, seed=int(time.time()))
    return Row(
        f"mutated inputs for {len(READERS)} readers",
        f"{tally.n_inputs:,} inputs",
        "a result or an error that names the file; at most 2 s and 256 MiB each, no score outside "
        "its scale",
        [f"{name}: {reason[-600:]}" for name, (_, _, reason) in tally.broken.items()],
    )


def _in_folder(run: Callable[[Path], _T]) -> _T:
    with tempfile.TemporaryDirectory(prefix="judgekit-chaos-") as folder:
        return run(Path(folder, "suite"))


def _merged(table: str, lines: list[str], when: str) -> str:
    """The table with the rows that were run; the others stay, and so does what was said of them."""
    head, *old = [line for line in table.splitlines() if line.startswith("|")]
    names = [line.split("|")[1] for line in lines]
    known = {line.split("|")[1]: line for line in (*old[1:], *lines)}
    order = dict.fromkeys([*(line.split("|")[1] for line in old[1:]), *names])
    said = when if len(names) == len(order) else f"Last run: {when}"
    return "\n".join([head, old[0], *(known[name] for name in order), "", said])


def main() -> None:
    """Print the table; exit 1 where something was lost or wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos")
    parser.add_argument("--short", action="store_true", help="a few minutes, for a first look")
    parser.add_argument("--only", default="", help="faults, kills, stops, storage, disk, …")
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    arguments = parser.parse_args()
    # What litellm finds odd in replies that are made odd, and the connections it forgets: it keeps
    # 200 clients, and there are more endpoints here.
    warnings.filterwarnings("ignore", "Pydantic serializer warnings")
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    lines, complaints, started = (
        ["| what | tried | result |", "| --- | --- | --- |"],
        [],
        time.time(),
    )
    for row in rows(short=arguments.short, only=arguments.only):
        complaints += row.complaints
        result = f"**{len(row.complaints)} complaints**" if row.complaints else row.result
        lines.append(f"| {row.what} | {row.tried} | {result} |")
        print(lines[-1], flush=True)  # noqa: T201
    minutes = (time.time() - started) / 60
    machine = f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    when = f"{datetime.now(UTC):%Y-%m-%d}, {machine}, {minutes:.0f} minutes."
    print(when, *complaints, sep="\n")  # noqa: T201
    if arguments.write:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(
            _TABLE.sub(lambda m: m[1] + _merged(m[2], lines[2:], when) + m[3], page),
            encoding="utf-8",
        )
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
