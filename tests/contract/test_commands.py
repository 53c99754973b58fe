"""What each command answers: its exit code, its JSON and its text."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.pinning import PINNED, Pins, read
from tests.contract.scenarios import SCENARIOS, Scenario
from tests.contract.shapes import figures, merged, shape
from tests.contract.terminal import Ran, judgekit, repeatable
from tests.contract.warming import warm_cache

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

ALL = sorted(SCENARIOS)


@dataclass(frozen=True)
class Step:
    """A command of a scenario, and what it answered."""

    line: str
    ran: Ran
    is_pinned: bool
    """Whether its answer is pinned; of what only prepares, the exit code is."""


def played(scenario: Scenario, folder: Path, *options: str) -> Iterator[Step]:
    """Each command of a scenario, with the options added to it, and what it answered."""
    for name, text in scenario.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if scenario.is_cached:
        warm_cache(folder)
    for line in scenario.lines:
        command, _, typed = line.removeprefix("- ").partition(" <<< ")
        words = shlex.split(command)
        columns = words.pop(0).removeprefix("COLUMNS=") if words[0].startswith("COLUMNS=") else "80"
        stdin = typed.replace("|", "\n")
        ran = judgekit(*words, *options, folder=folder, stdin=stdin, columns=columns)
        yield Step(line, ran, is_pinned=not line.startswith("- "))


def answers(steps: Iterable[Step], folder: Path) -> dict[str, Any]:
    """The exit code of each command, the figures of its JSON, and the shapes of its verb's JSON."""
    commands: list[dict[str, Any]] = []
    shapes: dict[str, dict[str, str]] = {}
    for step in steps:
        commands.append({"command": step.line, "exit": step.ran.code})
        if step.is_pinned and step.ran.out.lstrip().startswith(("{", "[")):
            value = json.loads(repeatable(step.ran.out, folder))
            verb = " ".join(takewhile(str.isalpha, step.line.split()[:2]))
            shapes[verb] = merged(shape(value), shapes.get(verb, {}))
            commands[-1]["figures"] = figures(value)
    return {"commands": commands, "shapes": shapes}


def transcript(step: Step, folder: Path) -> str:
    """What a person sees of a command."""
    streams = {"stdout": step.ran.out, "stderr": step.ran.err} if step.is_pinned else {}
    shown = [f"--- {name}\n{repeatable(text, folder)}" for name, text in streams.items() if text]
    return "\n".join(
        [f"$ judgekit {step.line.removeprefix('- ')}", f"exit {step.ran.code}", *shown, ""]
    )


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder of the same name for every test: `judgekit init` names the suite after it."""
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


@pytest.mark.no_cover
@pytest.mark.parametrize("name", ALL)
def test_a_command_exits_and_answers_in_json_as_pinned(name: str, place: Path, pins: Pins) -> None:
    found = answers(played(SCENARIOS[name], place, "--json"), place)
    for part, value in found.items():
        pins.check(f"commands/{name}", part, value)


@pytest.mark.no_cover
@pytest.mark.parametrize("name", ALL)
def test_a_command_prints_as_pinned(name: str, place: Path, pins: Pins) -> None:
    shown = [transcript(step, place) for step in played(SCENARIOS[name], place)]
    pins.check_text(f"terminal/{name}.txt", "\n".join(shown))


@pytest.mark.parametrize("code", range(7))
def test_every_exit_code_is_pinned_somewhere(code: int) -> None:
    files = (PINNED / "commands").glob("*.json")
    entries = [entry for file in files for entry in read(f"commands/{file.stem}")["commands"]]
    assert code in {entry["exit"] for entry in entries}


@pytest.mark.parametrize("files", ["commands/*.json", "terminal/*.txt"])
def test_nothing_is_pinned_of_a_scenario_that_is_gone(files: str) -> None:
    assert sorted(path.stem for path in PINNED.glob(files)) == ALL


def test_the_doctor_says_what_was_found_of_each_topic(tmp_path: Path, pins: Pins) -> None:
    """Versions, extras and keys are this machine's, so that only the form is pinned."""
    ran = judgekit("doctor", "--json", folder=tmp_path)
    topics = {check["topic"] for check in ran.json["checks"]}
    assert ran.code == 0
    assert {"judgekit", "Python", "litellm", "key", "shipped files", "cache", "store"} <= topics
    pins.check("doctor", "shape", shape(ran.json))


def test_the_doctor_says_that_a_store_is_broken(tmp_path: Path) -> None:
    (tmp_path / "broken.db").write_text("no database", encoding="utf-8")
    ran = judgekit("doctor", "--store", "broken.db", "--json", folder=tmp_path)
    grades = {check["topic"]: check["grade"] for check in ran.json["checks"]}
    assert (ran.code, ran.json["sound"], grades["store"]) == (2, False, "error")
