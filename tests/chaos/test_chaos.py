"""A short cut of `make chaos`: each kind of fault, each command killed, each signal."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.chaos.commands import COMMANDS
from tests.chaos.faults import FAULT_NAMES, run_trials, trials
from tests.chaos.kills import kill_command
from tests.chaos.stops import stop_at_imports

if TYPE_CHECKING:
    from pathlib import Path

# litellm prints what it finds odd in a reply.
pytestmark = pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")

# One of each family: the others take the same ways, and all of them run in `make chaos`.
LITELLM_FAULTS = (
    "401", "429ra_s", "500", "reset_mid", "hang", "trunc_body", "bad_utf8", "no_choices",
    "null_content", "length", "malformed", "off_scale",
)  # fmt: skip


def test_no_fault_becomes_a_score_and_no_good_reply_is_lost() -> None:
    wanted = trials(FAULT_NAMES, ["every 2nd"], ["direct"])
    wanted += trials(LITELLM_FAULTS, ["every 2nd"], ["litellm"])
    done = run_trials(wanted)
    assert [complaint for trial in done for complaint in trial.complaints] == []
    assert sum(trial.n_scored for trial in done) > 4 * len(done)
    assert sum(sum(trial.failures.values()) for trial in done) > len(done)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_is_killed_and_started_again_loses_nothing(
    tmp_path: Path, command: str
) -> None:
    kills = kill_command(command, tmp_path, n_kills=1, n_cases=8, seed=1)
    assert kills.complaints == []
    assert kills.n_kills == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_a_command_starts_up_ends_it_quietly_with_130(
    tmp_path: Path, number: int
) -> None:
    stops = stop_at_imports("grade", tmp_path, number=number, n_stops=2, seed=1)
    assert stops.complaints == []
