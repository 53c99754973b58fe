"""Small suites on disk, and systems under test that do as they are told."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from judgekit.evaluation import Choice, ExecutionOptions, OpenSuite, Session, open_suite, run_suite
from judgekit.evaluation.runner import new_run
from judgekit.records import Output

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from judgekit.records import Case, CaseResult, RunInfo
    from judgekit.store import RunStore

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
RIGHT: dict[str, Any] = {"type": "contains", "value": "right"}
"""Passes for the output `right`, not for `wrong`."""

RUBRIC = """\
name: answers
pass_threshold: 0.7
criteria:
  - {name: good, question: "Is it good?", scale: one_to_five}
  - {name: short, question: "Is it short?", scale: one_to_five}
"""


def rows(*found: Mapping[str, object]) -> str:
    """JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in found)


def lay_suite(
    folder: Path, n: int = 4, texts: Mapping[str, str] | None = None, **suite: Any
) -> Path:
    """A suite of n cases whose recorded outputs of `v1` say `right`, unless `texts` say otherwise.

    The assertions judge, unless the suite names a judge; its rubric file is `rubric.yaml`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    ids = [f"c{k}" for k in range(n)]
    cases = rows(
        *({"id": i, "input": f"Question {i}?", "tags": [f"t{k % 2}"]} for k, i in enumerate(ids))
    )
    answers = rows(*({"case_id": i, "text": (texts or {}).get(i, "right")} for i in ids))
    known: dict[str, Any] = {
        "name": "small",
        "dataset": "cases.jsonl",
        "judge": "heuristic",
        "variants": [{"id": "v1", "outputs": "v1.jsonl"}],
        "assertions": [RIGHT],
    }
    whole = {name: value for name, value in (known | suite).items() if value is not None}
    (folder / "cases.jsonl").write_text(cases, encoding="utf-8")
    (folder / "v1.jsonl").write_text(answers, encoding="utf-8")
    (folder / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    path = folder / "judgekit.yaml"
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path


class Told:
    """A system under test that answers what it is told, and counts."""

    def __init__(self, say: Callable[[Case, int], Output | str] = lambda *_: "right") -> None:
        self.id = "v1"
        self._say = say
        self.asked: list[tuple[str, int]] = []
        self.n_in_flight = 0
        self.most_in_flight = 0
        self.is_closed = False

    async def answer(self, case: Case, *, repeat: int = 0) -> Output:
        self.asked.append((case.id, repeat))
        self.n_in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.n_in_flight)
        await asyncio.sleep(0)
        self.n_in_flight -= 1
        said = self._say(case, repeat)
        return Output(text=said) if isinstance(said, str) else said

    async def aclose(self) -> None:
        self.is_closed = True


class Hanging(Told):
    """One that never answers, and says when it was called off."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = asyncio.Event()
        self.was_called_off = False

    async def answer(self, case: Case, *, repeat: int = 0) -> Output:
        self.asked.append((case.id, repeat))
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.was_called_off = True
            raise
        raise AssertionError("nobody sets the event")


class Bench:
    """A suite, a store, and sittings of one run of it."""

    def __init__(self, path: Path, store: RunStore, **asking: Any) -> None:
        self.path = path
        self.store = store
        self.asking = ExecutionOptions(**({"cache": None} | asking))
        self.choice = Choice()
        self.run: RunInfo | None = None

    def open(self, *targets: Told) -> OpenSuite:
        """The suite, with these systems under test in the place of its first variants'."""
        opened = open_suite(self.path, self.choice, self.asking)
        for variant, target in zip(opened.variants, targets, strict=False):
            opened.targets[variant.id] = target
        return opened

    async def sit(self, *targets: Told, session: Session | None = None) -> RunInfo:
        """Begin the run, or go on with it."""
        opened = self.open(*targets)
        resumed = self.run is not None
        run = self.run or new_run(opened, now=NOW, token="0")
        self.run = run
        try:
            self.run = await run_suite(
                opened, self.store, run, session or Session(), resumed=resumed
            )
        finally:
            await opened.aclose()
        return self.run

    def results(self) -> list[CaseResult]:
        """What was observed."""
        assert self.run is not None
        return list(self.store.results(self.run.id))
