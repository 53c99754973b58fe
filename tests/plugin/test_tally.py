from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from judgekit.pytest_plugin import summary_lines
from judgekit.records import Verdict
from judgekit.report import verdict_line
from judgekit.scoring import conclude
from tests.factories import make_failure, make_judgment, make_rubric
from tests.plugin.project import JUDGE, line

if TYPE_CHECKING:
    from tests.plugin.project import Project

THREE = """
import pytest
@pytest.mark.parametrize("case_id", ["good", "bad", "half"])
def test_it(judge, case_id):
    assert judge.grade("Can I?", "Yes.", case_id=case_id).passed
"""


def summed(*verdicts: Verdict) -> list[str]:
    rubric = make_rubric()
    lines = [verdict_line(verdict) for verdict in verdicts]
    rubrics = {rubric.fingerprint: rubric.model_dump_json()}
    return [f"{label:<9}{text}" for label, text in summary_lines(lines, rubrics, [])]


def test_a_run_ends_with_what_its_verdicts_come_to(project: Project) -> None:
    out = project.test(THREE, *JUDGE).out
    assert "passed       1/2 +1? (50 % [9, 91]), value 0.62 [" in out
    assert "support, passes from 0.7\n" in out
    assert "calls        5 replies, $0 spent\n" in out
    assert "calibration  uncalibrated: the judge has not been compared with human labels\n" in out
    assert "failed       1 judgment: the request was refused (excluded from the means" in out


def test_rubrics_and_variants_are_summed_up_apart() -> None:
    rubric, other = make_rubric(), make_rubric("tone", name="other")
    verdicts = [
        conclude(rubric, [make_judgment()], variant="v1"),
        conclude(rubric, [make_judgment(value=0.0)], variant="v2"),
        conclude(other, [make_judgment("tone")]),
    ]
    rubrics = {r.fingerprint: r.model_dump_json() for r in (rubric, other)}
    lines = list(summary_lines([verdict_line(v) for v in verdicts], rubrics, []))
    assert [text.split(": ")[1] for _, text in lines[:3]] == [
        "support, passes from 0.7, v1",
        "support, passes from 0.7, v2",
        "other, passes from 0.7",
    ]


def test_what_was_paid_and_what_was_owned_are_told_apart() -> None:
    bought = make_judgment(cost_usd=0.002, price_usd=0.002)
    owned = make_judgment(cached=True, cost_usd=0.0, price_usd=0.003)
    lines = summed(conclude(make_rubric(), [bought]), conclude(make_rubric(), [owned]))
    assert "calls    2 replies, 1 from the cache, $0.0020 spent, $0.0030 saved" in lines


def test_invented_quotations_smoke_models_and_failures_are_pointed_out() -> None:
    marks = ["evidence_not_found", "smoke_model"]
    odd = make_judgment(evidence=[{"quote": "60 days"}], flags=marks)
    failed = conclude(make_rubric(), [], [make_failure(message="no verdict\n  ask again")])
    lines = summed(conclude(make_rubric(), [odd]), failed)
    assert "evidence 1 of 1 quoted passages are not in the outputs" in lines
    assert "marked   1 judgment: a smoke model, whose verdicts carry no information" in lines
    assert lines[-2:] == [
        "failed   1 judgment: no verdict could be read (excluded from the means, not counted as 0)",
        "         no verdict; ask again",
    ]


def test_the_report_file_holds_every_verdict_of_the_last_run(project: Project) -> None:
    for _ in range(2):
        ran = project.test(THREE, *JUDGE, "--judgekit-report=verdicts.jsonl")
    file = project.folder / "verdicts.jsonl"
    read = [Verdict.model_validate_json(row) for row in file.read_text("utf-8").splitlines()]
    assert [(verdict.case_id, verdict.passed) for verdict in read] == [
        ("good", True), ("bad", False), ("half", None),
    ]  # fmt: skip
    assert f"wrote {file}\n" in ran.out


def test_a_report_file_that_cannot_be_written_is_a_usage_error(project: Project) -> None:
    ran = project.run("--judgekit-report=nowhere/verdicts.jsonl")
    assert ran.code == 4


def test_junit_carries_scores_and_reasons(project: Project) -> None:
    project.record(line("good", accuracy=5, tone=4), line("bad", accuracy=1, tone=4))
    project.test(THREE, *JUDGE, "--junitxml=junit.xml")
    found = ET.parse(project.folder / "junit.xml").getroot()  # noqa: S314 - pytest wrote it
    bad, half = (
        {p.attrib["name"]: p.attrib["value"] for p in case.iter("property")}
        for case in list(found.iter("testcase"))[1:]
    )
    assert (bad["judgekit.case"], bad["judgekit.passed"], bad["judgekit.value"]) == (
        "bad", "failed", "0.3750",
    )  # fmt: skip
    assert bad["judgekit.accuracy"] == "1: accuracy is 1."
    assert half["judgekit.passed"] == "undecided"
    assert half["judgekit.accuracy"].startswith("no answer (bad_request): ")


def test_the_second_verdict_of_a_test_and_its_repeats_have_names_of_their_own(
    project: Project,
) -> None:
    project.record(*(line("good", repeat=n, accuracy=5) for n in range(2)))
    body = """
import pytest
@pytest.mark.judge(repeats=2, no_answer="skip")
def test_it(judge):
    try:
        judge.grade("Can I?", "Yes.", case_id="good")
    finally:
        judge.grade("Can I?", "Yes.", case_id="good")
"""
    project.test(body, *JUDGE, "--junitxml=junit.xml")
    names = [p.attrib["name"] for p in ET.parse("junit.xml").getroot().iter("property")]  # noqa: S314
    assert {"judgekit.accuracy#2", "judgekit.tone#2", "judgekit.2.case"} <= set(names)


# What pytest-rerunfailures does.
AGAIN = """
from _pytest.runner import runtestprotocol
def pytest_runtest_protocol(item, nextitem):
    for is_last in (False, True):
        item._initrequest()
        for report in runtestprotocol(item, nextitem=nextitem, log=False):
            if report.failed and not is_last:
                report.outcome = "rerun"
            item.ihook.pytest_runtest_logreport(report=report)
    return True
def pytest_report_teststatus(report):
    return ("rerun", "R", "RERUN") if report.outcome == "rerun" else None
"""


def test_a_test_that_is_run_again_states_its_last_verdict(project: Project) -> None:
    project.write("conftest.py", AGAIN)
    body = """
ids = iter(["half", "good"])
def test_it(judge, request):
    request.node.user_properties.append(("mine", "1"))
    judge.assert_passes("Can I?", "Yes.", case_id=next(ids))
"""
    ran = project.test(body, *JUDGE, "--junitxml=junit.xml")
    assert ran.outcomes == {"rerun": 1, "passed": 1}
    last = [*ET.parse("junit.xml").getroot().iter("testcase")][-1]  # noqa: S314 - pytest wrote it
    names = [p.attrib["name"] for p in last.iter("property")]
    assert (names.count("judgekit.passed"), names.count("mine")) == (1, 2)
    values = {p.attrib["name"]: p.attrib["value"] for p in last.iter("property")}
    assert (values["judgekit.case"], values["judgekit.passed"]) == ("good", "passed")
