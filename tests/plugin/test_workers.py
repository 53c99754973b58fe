from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

import pytest

from judgekit.pytest_plugin.options import cost_limit
from judgekit.testing import ServedReply
from tests.factories import reply
from tests.plugin.project import JUDGE
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from tests.plugin.project import Project

TWO = """
import pytest
@pytest.mark.parametrize("n", range(2))
def test_it(judge, n):
    judge.assert_passes("Can I?", "Yes.")
"""
GOOD = ServedReply(text=reply(5))


def asked(server: OpenAILikeServer) -> tuple[str, ...]:
    """Options that name a judge on loopback whose price is known."""
    endpoint = f"--judgekit-api-base={server.url}"
    return "--judgekit-judge=openai/gpt-4.1-nano", endpoint, JUDGE[1]


def test_workers_hand_their_verdicts_to_the_process_that_reports(project: Project) -> None:
    project.write("test_it.py", """
import pytest
@pytest.mark.parametrize("case_id", ["good", "bad", "half"])
def test_it(judge, case_id):
    assert judge.grade("Can I?", "Yes.", case_id=case_id).passed
""")  # fmt: skip
    options = ("-n2", "--judgekit-report=all.jsonl", "--junitxml=junit.xml")
    ran = project.run_alone(*JUDGE, *options, is_measured=True)
    assert ran.outcomes == {"passed": 1, "failed": 1, "error": 1}
    assert "passed       1/2 +1? (50 % [9, 91])" in ran.out
    rows = (project.folder / "all.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(row)["case_id"] for row in rows} == {"good", "bad", "half"}
    assert "1: accuracy is 1." in (project.folder / "junit.xml").read_text(encoding="utf-8")


def test_choosing_stopping_workers_and_junit_go_together(project: Project) -> None:
    project.write("test_it.py", """
import pytest
@pytest.mark.parametrize("case_id", ["bad", "good", "half"])
def test_chosen(judge, case_id):
    assert judge.grade("Can I?", "Yes.", case_id=case_id).passed
def test_left_out(judge):
    raise AssertionError("not chosen")
""")  # fmt: skip
    options = ("-k", "chosen and bad or chosen and good", "-x", "-n1", "--junitxml=junit.xml")
    ran = project.run_alone(*JUDGE, *options)
    assert ran.code == 2 if "stopping after 1" in ran.out else 1
    assert ran.outcomes["failed"] == 1
    junit = (project.folder / "junit.xml").read_text(encoding="utf-8")
    assert "test_chosen[bad]" in junit
    assert "judgekit" in junit
    assert "test_left_out" not in junit
    assert "passed       " in ran.out


def test_workers_that_ask_the_same_pay_once(project: Project) -> None:
    project.write("test_it.py", TWO)
    with OpenAILikeServer(GOOD, latency_s=0.3) as server:
        first = project.run_alone(*asked(server), "-n2")
    assert first.outcomes == {"passed": 2}, first.out
    assert server.n_requests == 2  # one for each criterion


def test_a_second_run_is_answered_from_the_cache_also_when_it_is_frozen(project: Project) -> None:
    with OpenAILikeServer(GOOD) as server:
        frozen = project.test(TWO, *asked(server), "--judgekit-frozen")
        assert frozen.outcomes == {"error": 2}
        assert "the judge gave no answer: not in the frozen cache" in frozen.out
        project.test(TWO, *asked(server))
        again = project.test(TWO, *asked(server), "--judgekit-frozen")
    assert server.n_requests == 2
    assert "calls        4 replies, 4 from the cache, $0 spent" in again.out


def test_asynchronous_tests_leave_no_connection_in_a_loop_that_ends(project: Project) -> None:
    body = """
import asyncio, pytest
@pytest.mark.parametrize("n", range(2))
async def test_it(judge, n):
    asked = [judge.grade_async("Can I?", f"Yes, {n} {m}.") for m in range(6)]
    assert all(verdict.passed for verdict in await asyncio.gather(*asked))
"""
    with OpenAILikeServer(GOOD, latency_s=0.05) as server:
        ran = project.test(body, *asked(server))
    assert ran.outcomes == {"passed": 2}, ran.out
    assert server.n_requests == 24
    assert server.most_in_flight > 2


def test_a_limit_of_money_is_kept_to(project: Project) -> None:
    with OpenAILikeServer(GOOD) as server:
        ran = project.test(TWO, *asked(server), "--judgekit-max-cost=0.000001")
        assert ran.outcomes == {"error": 2}
        assert "the judge gave no answer: cost limit reached" in ran.out
        assert server.n_requests == 0
        assert project.test(TWO, *asked(server), "--judgekit-max-cost=1").code == 0


def test_a_limit_needs_a_price(project: Project) -> None:
    ran = project.test(TWO, "--judgekit-judge=openai/nobody", "--judgekit-max-cost=1", JUDGE[1])
    assert "what openai/nobody charges is not known" in ran.out


class OneOption:
    """A configuration in which one option is given, in one of several workers or in none."""

    def __init__(self, ini: str, value: object, n_workers: int = 0) -> None:
        self._given = {ini: value}
        if n_workers:
            self.workerinput = {"workercount": n_workers}

    def getoption(self, name: str, default: object) -> object:
        return self._given.get(name, default)

    def getini(self, name: str) -> str:
        assert name
        return ""

    inipath = rootpath = None

    class invocation_params:  # noqa: N801 - as pytest has it
        dir = None


@pytest.mark.parametrize(("limit", "n_workers", "share"), [(6.0, 3, 2.0), (6.0, 0, 6.0)])
def test_each_worker_has_its_share_of_the_money(limit: float, n_workers: int, share: float) -> None:
    config = OneOption("judgekit_max_cost", limit, n_workers)
    assert cost_limit(cast("pytest.Config", config)) == share


def test_without_a_limit_no_worker_has_one() -> None:
    assert cost_limit(cast("pytest.Config", OneOption("judgekit_judge", "openai/m", 2))) is None
