"""Random walks through a suite that is edited, run, compared, gated and followed.

The model keeps its own books: what each run was measured by, what the judge gives each output, and
which requests were paid for. After each step the commands must agree with the books. Laws: a
request is sent once; figures are those of the stored judgments, and of the judge that gave them; a
plan is what is sent; a decision is only made between runs that were measured the same way, and
between versions that are still there; JSON is one document, and says what the table says. What is
left of a suite that is stopped, killed, damaged or moved, `tests.chaos.machine` asks.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
import tempfile
import warnings
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from judgekit.cli.main import main
from judgekit.models import SchemaFiller
from judgekit.testing import ChaosServer, ServedReply

if TYPE_CHECKING:
    from judgekit.testing import ServedRequest

_TEXT = re.compile(r"Answer (\w+) to (\w+), edition (\d+), of worth (\d)\.")
_CRITERION = re.compile(r"(\w+): Is it \w+, in wording (\d)\?")
_MOST_CASES = 8

Sides = dict[str, dict[str, tuple[int, int]]]
"""The edition and the worth (0 to 4) of the output of each variant to each case."""

index = st.integers(0, 99)
"""Chooses one of several by the remainder, whatever there is to choose from."""


def score_of(model: str, criterion: str, wording: str, text: str) -> int:
    """The score that the judge gives, 1 to 5: the worth of the text, or one beside it."""
    draw = sha256(f"{model} {criterion} {wording} {text}".encode()).digest()[0] % 6
    return max(1, min(5, 1 + int(text[-2]) + (draw == 0) - (draw == 1)))


@dataclass
class Books:
    """The suite as it stands, or as it was when a run was begun."""

    judge: dict[str, Any]
    wordings: dict[str, int]
    threshold: float
    assertions: list[dict[str, str]]
    cases: dict[str, int]
    sides: Sides
    status: str = ""
    is_part: bool = False
    rows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def measure(self) -> str:
        """What two runs must have alike to be compared; a threshold is none of it."""
        return json.dumps([self.judge, self.wordings, self.assertions], sort_keys=True)

    def passed(self, variant: str, threshold: float) -> dict[str, bool | None]:
        """Whether the output to each case passes; None where what it lacks could decide."""
        found: dict[str, bool | None] = {}
        for row in (row for row in self.rows if row["variant"] == variant):
            # Criteria have one weight, and as many judgments each.
            n = len(self.wordings) * self.judge["repeats"]
            low = sum((one["raw"] - 1) / 4 for one in row["judgments"]) / n
            high = low + 1 - len(row["judgments"]) / n
            decided = {bound >= threshold - 1e-9 for bound in (low, high)}
            is_held = all(one["passed"] for one in row["checks"])
            found[row["case"]["id"]] = is_held and (None if len(decided) > 1 else decided.pop())
        return found


class QualityMachine(RuleBasedStateMachine):
    """One folder with a suite, and the server that plays its judge."""

    def __init__(self) -> None:
        super().__init__()
        self._stack = contextlib.ExitStack()
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="walk-"))
        self._stack.enter_context(contextlib.chdir(folder))
        os.environ.setdefault("OPENAI_API_KEY", "k")
        self.server = self._stack.enter_context(
            ChaosServer(self._seen, reply=_verdict, keep_requests=False)
        )
        self.now = Books({"model": "openai/one", "repeats": 1, "mode": "per_criterion"},
                         {"right": 0, "short": 0}, 0.5, [], {}, {})  # fmt: skip
        self.runs: dict[str, Books] = {}
        self.paid: Counter[str] = Counter()
        self.sent: list[str] = []
        self.comparisons: dict[str, Books] = {}
        self._n_editions, self._most_repeats = 0, 1

    def teardown(self) -> None:
        self._stack.close()

    # What a user edits.

    @initialize(n_cases=st.integers(4, 7), worths=st.lists(index, min_size=2, max_size=3))
    def begin(self, n_cases: int, worths: list[int]) -> None:
        self.now.sides.update({name: {} for name in "abc"[: len(worths)]})
        for _ in range(n_cases):
            self._add_case(worths)
        self._write()

    @rule(worths=st.lists(index, min_size=3, max_size=3), by=st.sampled_from([-2, -1, 1, 2]))
    def edit_the_data(self, worths: list[int], by: int) -> None:
        """Another case, an edited one, or other outputs of a variant."""
        self._n_editions += 1
        cases, sides, which = self.now.cases, self.now.sides, worths[0] // 3
        if worths[0] % 3 == 0 and len(cases) < _MOST_CASES:
            self._add_case(worths)
        elif worths[0] % 3 == 1:
            cases[_pick(cases, which)] = self._n_editions
        else:
            side = sides[_pick(sides, which)]
            side |= {c: (self._n_editions, max(0, min(4, w + by))) for c, (_, w) in side.items()}
        self._write()

    @rule(
        change=st.one_of(
            st.tuples(st.just("threshold"), st.sampled_from([0.25, 0.5, 0.75])),
            st.tuples(st.just("assertions"), st.sampled_from(["Answer", "worth 3", ""])),
            st.tuples(st.sampled_from(["right", "short"]), st.integers(0, 2)),
            st.tuples(st.just("model"), st.sampled_from(["openai/one", "openai/two"])),
            st.tuples(st.just("mode"), st.sampled_from(["per_criterion", "joint"])),
            st.tuples(st.just("repeats"), st.integers(1, 2)),
        )
    )
    def edit_the_measure(self, change: tuple[str, Any]) -> None:
        what, value = change
        if what == "threshold":
            self.now.threshold = value
        elif what == "assertions":
            self.now.assertions = [{"type": "contains", "value": value}] if value else []
        else:
            (self.now.wordings if what in self.now.wordings else self.now.judge)[what] = value
        self._write()

    # What a user runs.

    @rule(options=st.sampled_from([(), (), (), ("-n", 2), ("--frozen",)]))
    def run(self, options: tuple[object, ...]) -> None:
        plan = self._json("plan", "judgekit.yaml", *options)
        n_calls = sum(one["likely"]["calls"] for one in plan["models"])
        code = self._command("run", *options)[0]
        is_frozen = options == ("--frozen",)
        assert len(self.sent) == (0 if is_frozen else n_calls)
        assert (code == 6) == (is_frozen and n_calls > 0)
        run = self._book(is_part="-n" in options)
        assert run is not None
        self._check(run, code)

    @precondition(lambda self: self.runs)
    @rule(first=index, second=index, side=index)
    def compare_scores(self, first: int, second: int, side: int) -> None:
        a, b = _pick(self.runs, first), _pick(self.runs, second)
        variant = _pick(self.now.sides, side)
        code, found = self._both("compare", f"{a}::{variant}", f"{b}::{variant}", "--scores")
        if a == b or code == 2:
            return
        if self.runs[a].measure != self.runs[b].measure:
            assert (code, found) == (4, None)
        elif found is not None and (rates := self._paired(a, b, variant)):
            one = found["pass_rate"]
            assert (one["estimate"]["n"], one["a"], one["b"]) == pytest.approx(rates)

    @precondition(lambda self: self.runs)
    @rule(which=index, against=index, limit=st.sampled_from([0, 0.2]))
    def ask_the_gate(self, which: int, against: int, limit: float) -> None:
        run, name = _pick(self.runs, which), _pick([*self.runs, "best", "previous"], against)
        code, found = self._both(
            "gate", run, "--baseline", name, "--max-drop", limit, "--gate-rule", "point"
        )
        if code == 2:
            return
        assert {"passed": 0, "failed": 1, "inconclusive": 4}[found["gate"]["held"]] == code
        for drop in found["gate"]["drops"]:
            if drop["held"] not in {"passed", "failed"}:
                continue
            assert self.runs[drop["baseline"]].measure == self.runs[run].measure
            if rates := self._paired(drop["baseline"], run, drop["variant"]):
                change = rates[2] - rates[1]
                assert drop["change"]["value"] == pytest.approx(change)
                assert (change >= -limit - 1e-9) == (drop["held"] == "passed")

    @precondition(lambda self: self.runs)
    @rule()
    def follow_trend_and_findings(self) -> None:
        code, found = self._both("trend", "--measure", "pass_rate")
        for trend in found["trends"] if code == 0 else ():
            series = [self.runs[one["run"]] for one in trend["series"]]
            assert not any(one.is_part for one in series)
            for then, now, point in zip(series, series[1:], trend["series"][1:], strict=False):
                is_same = then.measure == now.measure and then.cases == now.cases
                assert is_same == (point["break"] is None), point

        for one in self._both("findings", "--all")[1]["findings"]:
            if one["status"] == "resolved" and (case := one["case_id"]):
                runs = [self.runs[name] for name in (one["resolved_by"], *one["runs"])]
                by, *failed = ((run.measure, run.cases[case]) for run in runs)
                assert by in failed

    @rule()
    def compare_blind(self) -> None:
        n_calls = self._json("compare", "a", "b", "--dry-run")["n_calls"]
        code, out, _ = self._command("compare", "a", "b", "--json")
        found = json.loads(out)
        assert len(self.sent) == n_calls
        assert (code == 0) == (found["decision"]["winner"] is not None)
        turned = json.loads(self._command("compare", "b", "a", "--json")[1])
        assert not self.sent
        assert turned["whole"]["wins"] == found["whole"]["losses"]
        self.comparisons |= dict.fromkeys([found["id"], turned["id"]], deepcopy(self.now))

    @rule(others=st.booleans())
    def approve(self, others: bool) -> None:  # noqa: FBT001 - hypothesis passes it
        two = ("b", "a") if others else ("a", "b")
        words = ("--baseline", two[1], "--because", "It is better.", "--json")
        code, out, _ = self._command("approve", two[0], *words)
        evidence = json.loads(out)["evidence"] if code == 0 else ()
        runs = [self.runs[name] for name in evidence if name in self.runs]
        assert len({run.measure for run in runs}) <= 1
        blind = [self.comparisons[name] for name in evidence if name in self.comparisons]
        for one in (*blind, *runs):
            assert one.wordings == self.now.wordings
            for variant in two:
                assert variant not in one.sides or one.sides[variant] == self.now.sides[variant]

    # The parts.

    def _add_case(self, worths: list[int]) -> None:
        case = f"c{len(self.now.cases)}"
        self.now.cases[case] = 0
        for place, side in enumerate(self.now.sides.values()):
            # One side is better than another in every case, or nothing would ever be decided.
            side[case] = (0, min(4, worths[place % len(worths)] % 5 + len(self.now.cases) % 2))

    def _write(self) -> None:
        now = self.now
        for name, side in now.sides.items():
            rows = [{"case_id": c, "text": _text(name, c, *two)} for c, two in side.items()]
            Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
        criteria = [
            {"name": name, "question": f"Is it {name}, in wording {wording}?",
             "scale": {"min": 1, "max": 5}}
            for name, wording in now.wordings.items()
        ]  # fmt: skip
        rubric = {"name": "walk", "pass_threshold": now.threshold, "criteria": criteria}
        Path("rubric.yaml").write_text(json.dumps(rubric), "utf-8")
        suite = {
            "name": "walk", "rubric": "rubric.yaml",
            "cases": [{"id": c, "input": f"Question {c}, {n}?"} for c, n in now.cases.items()],
            "judge": {**now.judge, "api_base": self.server.url}, "assertions": now.assertions,
            "variants": [{"id": name, "outputs": f"{name}.jsonl"} for name in now.sides],
            "gate": {"max_drop": 0.1},
        }  # fmt: skip
        Path("judgekit.yaml").write_text(json.dumps(suite), "utf-8")

    def _command(self, *arguments: object) -> tuple[int, str, str]:
        """Run a command, and hold it to what holds for all."""
        self.sent = []
        stdout, stderr = io.StringIO(), io.StringIO()
        streams = contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr)
        with streams[0], streams[1], pytest.raises(SystemExit) as stopped:
            main([str(one) for one in arguments])
        code, out, err = stopped.value.code, stdout.getvalue(), stderr.getvalue()
        assert code in {0, 1, 2, 3, 4, 5, 6, 130}, (arguments, code, err)
        assert "Traceback" not in out + err
        assert code != 2 or err, arguments
        assert "--json" not in arguments or not out or json.loads(out) is not None
        self._most_repeats = max(self._most_repeats, self.now.judge["repeats"])
        assert all(n <= self._most_repeats for n in self.paid.values()), arguments
        return int(str(code)), out, err

    def _both(self, *arguments: object) -> tuple[int, Any]:
        """The exit code and the JSON of a command, which must end the same way without --json."""
        code, out, _ = self._command(*arguments, "--json")
        assert self._command(*arguments)[0] == code
        return code, json.loads(out) if out else None

    def _json(self, *arguments: object) -> Any:
        code, out, err = self._command(*arguments, "--json")
        assert code == 0, (arguments, err)
        return json.loads(out)

    def _seen(self, request: ServedRequest) -> str | ServedReply:
        self.sent.append(json.dumps(request.body, sort_keys=True))
        self.paid[self.sent[-1]] += 1
        return "ok"

    def _book(self, *, is_part: bool = False) -> str | None:
        """Enter the run that the last command made, if it made one; all earlier ones are there."""
        if not Path(".judgekit/judgekit.db").exists():
            return None
        listed = {one["id"]: one for one in self._json("show")["runs"]}
        assert listed.keys() >= self.runs.keys()
        new = next(iter(listed.keys() - self.runs.keys()), None)
        if new is not None:
            status = listed[new]["status"]
            self.runs[new] = replace(deepcopy(self.now), is_part=is_part, status=status)
        return new

    def _check(self, run: str, code: int) -> None:
        """Whether a run is what the judge gave, its figures are of that, and the code fits."""
        book, out = self.runs[run], "results.jsonl"
        self._command("export", run, "-o", out)
        book.rows = [json.loads(line) for line in Path(out).read_text("utf-8").splitlines()]
        for row in book.rows:
            text, case = row["output"]["text"], row["case"]["id"]
            assert text == _text(row["variant"], case, *book.sides[row["variant"]][case])
            for one in row["judgments"]:
                wording = str(book.wordings[one["criterion"]])
                model = book.judge["model"].removeprefix("openai/")
                assert one["raw"] == score_of(model, one["criterion"], wording, text)
        shown = self._json("show", run)
        table = self._command("show", run)[1]
        for one in shown["variants"]:
            passed = [*book.passed(one["variant"], book.threshold).values()]
            counts = [one[name] for name in ("n_passed", "n_failed", "n_undecided")]
            assert counts == [sum(each is how for each in passed) for how in (True, False, None)]
            assert not any(counts[:2]) or f"{counts[0]}/{sum(counts[:2])}" in table
        held = shown["gate"]["held"]
        assert (code == 0) == (held == "passed" and book.status == "complete")
        assert code != 1 or held == "failed"

    def _paired(self, a: str, b: str, variant: str) -> tuple[int, float, float] | None:
        """How many decided cases two runs share, and their pass rates, by the later rubric."""
        threshold = self.runs[max(a, b, key=[*self.runs].index)].threshold
        runs = self.runs[a], self.runs[b]
        then, now = (run.passed(variant, threshold) for run in runs)
        same = [c for c in then.keys() & now.keys() if runs[0].cases[c] == runs[1].cases[c]]
        both = [(then[c], now[c]) for c in same if None not in {then[c], now[c]}]
        if not both:
            return None
        return len(both), fmean(bool(x) for x, _ in both), fmean(bool(x) for _, x in both)


def _pick(names: Any, number: int) -> str:
    return str([*names][number % len(names)])


def _text(variant: str, case: str, edition: int, worth: int) -> str:
    return f"Answer {variant} to {case}, edition {edition}, of worth {worth}."


def _verdict(request: ServedRequest) -> str:
    """What the judge says: scores by the worth of the text, and the better of two."""
    prompt = "\n".join(message["content"] for message in request.body["messages"])
    texts = [_text(v, c, int(n), int(w)) for v, c, n, w in _TEXT.findall(prompt)]
    wordings = dict(_CRITERION.findall(prompt))
    only = next(iter(wordings))

    def score(_: object, name: str | None) -> float:
        asked = name if name and name in wordings else only
        return score_of(request.body["model"], asked, wordings[asked], texts[-1])

    def prefer(_: str | None) -> str:
        first, second = (int(text[-2]) for text in texts[-2:])
        return "tie" if first == second else "first" if first > second else "second"

    schema = request.body["response_format"]["json_schema"]["schema"]
    return json.dumps(SchemaFiller(schema, score, prefer, only).fill())


def walk(n_walks: int, n_steps: int) -> None:
    """Walk at random, and raise the shortest walk that breaks a law."""
    checks = list(HealthCheck)
    how = settings(deadline=None, database=None, derandomize=True, suppress_health_check=checks)
    how = settings(how, max_examples=n_walks, stateful_step_count=n_steps)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run_state_machine_as_test(QualityMachine, settings=how)


if __name__ == "__main__":
    walk(*map(int, sys.argv[1:]))
