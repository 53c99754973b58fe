"""Random walks through what a user does with a suite, against a simple model of what must hold.

The model knows which replies were paid for and stored, what every verdict must be, and which runs
there are. Laws: no call is made whose reply is stored; a verdict is what a reply said; a run that
was interrupted and resumed is the run that nobody disturbed; a gate passes no run that did not
finish; an export that is imported is the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import random
import re
import shutil
import signal
import tempfile
import warnings
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import judgekit as jk
from judgekit.cli.main import main
from judgekit.models.cache import import_entries
from judgekit.testing import ChaosServer
from tests.chaos.commands import essence
from tests.store.test_migrations import SCRIPT, run_script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hypothesis import settings

    from judgekit.testing import ServedReply, ServedRequest
    from tests.chaos.commands import Forks

CRITERIA = ("right", "short")
_ASKED = re.compile(r"Question (c\d)\?.*?Is it (\w+), in wording (\d)\?", re.DOTALL)
MOST_CASES = 5


def score_of(prompt: str) -> int:
    """The score that the judge gives, 2 to 5: it depends on the request alone, and passes."""
    return 2 + int(sha256(prompt.encode()).hexdigest(), 16) % 4


class SuiteMachine(RuleBasedStateMachine):
    """One folder with a suite, a cache and a store, and the server that plays the judge."""

    forks: Forks | None = None
    """Where processes are started that are killed; None starts none, for it takes longer."""

    def __init__(self) -> None:
        super().__init__()
        self._stack = contextlib.ExitStack()
        self.folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="walk-")))
        before = Path.cwd()
        os.chdir(self.folder)
        self._stack.callback(os.chdir, before)
        os.environ.setdefault("OPENAI_API_KEY", "k")
        self.server = self._stack.enter_context(
            ChaosServer(self._seen, reply=_verdict, keep_requests=False)
        )
        self.cases: list[str] = []
        self.wording = 0
        self.stored: set[str] = set()
        """The prompts whose replies are stored, and must not be paid for again."""

        self.paid_again: list[str] = []
        self.runs: dict[str, str] = {}
        """The runs, with the suite that each was begun with."""

        self.said: set[tuple[str, str, int, float]] = set()
        """What the judge said: case, criterion, the wording of the rubric, and the score."""

        self._stop_at: int | None = None
        self._stop: Callable[[], object] = list
        self._n_seen = 0
        self._prompts: set[str] = set()

    def teardown(self) -> None:
        self._stack.close()

    # What the world does.

    @initialize(is_old=st.booleans(), n_cases=st.integers(1, 3))
    def begin(self, is_old: bool, n_cases: int) -> None:  # noqa: FBT001 - hypothesis passes it
        Path(".judgekit").mkdir(mode=0o700)
        if is_old:
            run_script(".judgekit/judgekit.db", SCRIPT)
        for _ in range(n_cases):
            self.add_case()

    @precondition(lambda self: len(self.cases) < MOST_CASES)
    @rule()
    def add_case(self) -> None:
        self.cases.append(f"c{len(self.cases)}")
        self._write()

    @rule()
    def edit_the_rubric(self) -> None:
        self.wording = (self.wording + 1) % 3
        self._write()

    @rule()
    def run(self) -> None:
        self._evaluate()
        run = self._latest()
        assert run.status == "complete", run
        # The law below says nothing unless a reply is known again by its prompt.
        assert self.stored >= self._prompts
        self._is_as_expected(run.id)

    @rule(after=st.integers(0, 8), softly=st.booleans())
    def stop_a_run(self, after: int, softly: bool) -> None:  # noqa: FBT001 - as above
        self._evaluate(stop_after=after, softly=softly)

    @rule()
    def resume(self) -> None:
        info = self._latest_of_suite()
        if info is None:
            return
        if self.runs.get(info.id) != self._suite_text():
            # What was judged by another rubric, or of other cases, is not mixed with this.
            with contextlib.suppress(jk.InputError):
                self._evaluate(resume=info.id)
                raise AssertionError(f"{info.id} was resumed with another suite")
            return
        self._evaluate(resume=info.id)
        self._is_as_expected(info.id)

    @precondition(lambda self: self.forks is not None)
    @rule(after=st.integers(1, 6))
    def kill_a_run(self, after: int) -> None:
        assert self.forks is not None
        process = self.forks.start("run", "-q")
        with self._watched(after, lambda: os.kill(process, signal.SIGKILL)):
            self.forks.wait()
        self._note_stored()

    @rule(seed=st.integers(0, 99), how=st.sampled_from(["bits", "cut", "empty", "delete", "text"]))
    def damage_the_cache(self, seed: int, how: str) -> None:
        rng = random.Random(seed)
        for file in Path(".judgekit/cache").glob("cache.db*"):
            content = bytearray(file.read_bytes())
            if file.name != "cache.db" and rng.random() < 0.5:
                continue
            if how == "delete":
                file.unlink()
            elif content and how == "bits":
                for _ in range(10):
                    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
                file.write_bytes(content)
            elif how != "bits":
                cut = rng.randrange(len(content) + 1)
                whole = {"cut": bytes(content[:cut]), "empty": b""}
                file.write_bytes(whole.get(how, b"no database\n"))
        self._note_stored()

    @rule()
    def export_and_import_the_cache(self) -> None:
        if not Path(".judgekit/cache/cache.db").exists():
            return
        with jk.DiskCache(".judgekit/cache") as cache, jk.MemoryCache() as other:
            self._command("cache", "export", "replies.jsonl")
            import_entries(other, "replies.jsonl")
            # What was damaged, and replies whose request was, are not in an export.
            served = [key for key in cache.keys() if key in cache and cache.request_parts(key)]  # noqa: SIM118
            assert served == list(other.keys())
            assert all(cache.get(key) == other.get(key) for key in served)

    @rule()
    def move_the_cache(self) -> None:
        """To another machine: an export, and an import into an empty cache."""
        if not Path(".judgekit/cache/cache.db").exists():
            return
        self._command("cache", "export", "moved.jsonl")
        shutil.rmtree(".judgekit/cache")
        if Path("moved.jsonl").stat().st_size:
            self._command("cache", "import", "moved.jsonl")
        before = self.stored
        self._note_stored()
        assert self.stored == before

    @rule()
    def export_a_run(self) -> None:
        if (info := self._latest_of_suite()) is None:
            return
        with contextlib.closing(jk.RunStore(".judgekit/judgekit.db")) as store:
            kept = [one.to_json() for one in store.results(info.id)]
        self._command("export", info.id, "-o", "results.jsonl")
        lines = Path("results.jsonl").read_text("utf-8").splitlines()
        assert [jk.CaseResult.model_validate(json.loads(one)).to_json() for one in lines] == kept

    @rule()
    def ask_the_gate(self) -> None:
        for info in self._infos():
            if info.id in self.runs:
                code = self._command("gate", info.id, codes={0, 1, 4})
                # Every answer passes, so that nothing but an unfinished run is no pass.
                assert (code == 0) == (info.status == "complete"), (info.status, code)

    # What must hold.

    @invariant()
    def nothing_is_paid_for_twice(self) -> None:
        assert self.paid_again == []

    @invariant()
    def every_verdict_is_what_a_reply_said(self) -> None:
        for info in self._infos():
            if info.id in self.runs:
                self._check_scores(info.id)

    @invariant()
    def every_run_is_there(self) -> None:
        assert {info.id for info in self._infos()} >= self.runs.keys()

    # The parts.

    def _write(self) -> None:
        cases = [{"id": name, "input": f"Question {name}?"} for name in self.cases]
        outputs = [{"case_id": name, "text": f"One answer to {name}."} for name in self.cases]
        for name, rows in (("cases", cases), ("outputs", outputs)):
            Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
        scale = {"min": 1, "max": 5}
        criteria = [
            {"name": one, "question": f"Is it {one}, in wording {self.wording}?", "scale": scale}
            for one in CRITERIA
        ]
        rubric = {"name": "walk", "pass_threshold": 0, "criteria": criteria}
        Path("rubric.yaml").write_text(json.dumps(rubric), "utf-8")
        judge = {"model": "openai/chaos", "api_base": self.server.url, "max_concurrency": 2}
        suite = {
            "name": "walk", "dataset": "cases.jsonl", "rubric": "rubric.yaml", "judge": judge,
            "variants": [{"id": "a", "outputs": "outputs.jsonl"}],
            "gate": {"rule": "point", "threshold": 0.01},
        }  # fmt: skip
        Path("judgekit.yaml").write_text(json.dumps(suite), "utf-8")

    def _suite_text(self) -> str:
        return json.dumps([self.cases, self.wording])

    def _evaluate(
        self, *, resume: str | None = None, stop_after: int | None = None, softly: bool = False
    ) -> None:
        """Run the suite, and stop after so many requests: by cancelling, or by asking it to."""

        async def evaluated() -> None:
            session, loop = jk.Session(), asyncio.get_running_loop()
            task = asyncio.ensure_future(
                jk.evaluate("judgekit.yaml", resume=resume, session=session)
            )
            stop = session.stop.set if softly else task.cancel
            with (
                self._watched(stop_after, lambda: loop.call_soon_threadsafe(stop)),
                contextlib.suppress(asyncio.CancelledError),
            ):
                (await task).close()

        known = {info.id for info in self._infos()}
        asyncio.run(evaluated())
        for info in self._infos():
            if info.id not in known:
                self.runs[info.id] = self._suite_text()
        self._note_stored()

    @contextlib.contextmanager
    def _watched(self, stop_after: int | None, stop: Any) -> Iterator[None]:
        self._n_seen, self._stop_at, self._stop, self._prompts = 0, stop_after, stop, set()
        if stop_after == 0:
            stop()
        try:
            yield
        finally:
            self._stop_at = None

    def _seen(self, request: ServedRequest) -> str | ServedReply:
        prompt = _prompt(request)
        if prompt in self.stored:
            self.paid_again.append(prompt)
        case, criterion, wording = _ASKED.findall(prompt)[-1]
        self.said.add((case, criterion, int(wording), score_of(prompt)))
        self._prompts.add(prompt)
        self._n_seen += 1
        if self._n_seen == self._stop_at:
            self._stop()
        return "ok"

    def _note_stored(self) -> None:
        """The replies that are stored now; opening a damaged cache mends it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with jk.DiskCache(".judgekit/cache") as cache:
                served = [key for key in cache.keys() if key in cache]  # noqa: SIM118
                requests = [cache.request_parts(key) for key in served]
        # Of a reply whose request was damaged it is not known what it answers; it is served.
        self.stored = {_text(one["messages"]) for one in requests if one is not None}

    def _infos(self) -> list[jk.RunInfo]:
        if not Path(".judgekit/judgekit.db").exists():
            return []
        with contextlib.closing(jk.RunStore(".judgekit/judgekit.db")) as store:
            return list(store.runs())

    def _latest(self) -> jk.RunInfo:
        return max(self._infos(), key=lambda info: info.started_at)

    def _latest_of_suite(self) -> jk.RunInfo | None:
        own = [info for info in self._infos() if info.id in self.runs]
        return max(own, key=lambda info: info.started_at, default=None)

    def _check_scores(self, run_id: str) -> None:
        _, wording = json.loads(self.runs[run_id])
        with contextlib.closing(jk.RunStore(".judgekit/judgekit.db")) as store:
            for result in store.results(run_id):
                assert not result.failures
                for judgment in result.judgments:
                    said = (result.case.id, judgment.criterion, wording, judgment.raw)
                    assert said in self.said

    def _is_as_expected(self, run_id: str) -> None:
        """Whether a run has the results that it would have if nothing had ever gone wrong."""
        with contextlib.closing(jk.RunStore(".judgekit/judgekit.db")) as store:
            found = [one.to_json() for one in store.results(run_id)]
        before = self.stored
        self.stored = set()
        with tempfile.TemporaryDirectory() as other:
            asyncio.run(_undisturbed(other))
            with contextlib.closing(jk.RunStore(f"{other}/judgekit.db")) as store:
                (info,) = store.runs()
                wanted = [one.to_json() for one in store.results(info.id)]
        self.stored = before
        assert essence(found) == essence(wanted)

    def _command(self, *arguments: str, codes: frozenset[int] | set[int] = frozenset({0})) -> int:
        stdout, stderr = io.StringIO(), io.StringIO()
        code: object = None
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            try:
                main(arguments)
            except SystemExit as stop:
                code = stop.code
        assert code in codes, (arguments, code, stderr.getvalue())
        return int(str(code))


async def _undisturbed(folder: str) -> None:
    run = await jk.evaluate("judgekit.yaml", store=f"{folder}/judgekit.db", cache=f"{folder}/cache")
    run.close()


def _prompt(request: ServedRequest) -> str:
    return _text(request.body["messages"])


def _text(messages: Any) -> str:
    """Messages as one text: in the cache their fields are in another order."""
    return "\n".join(f"{one['role']}: {one['content']}" for one in messages)


def _verdict(request: ServedRequest) -> str:
    reason = {"evidence": [], "rationale": "It is judged by its hash, and by nothing else."}
    return json.dumps({**reason, "score": score_of(_prompt(request))})


def walk(machine: type[SuiteMachine], how: settings) -> None:
    """Walk at random, and raise the shortest walk that breaks a law."""
    run_state_machine_as_test(machine, settings=how)
