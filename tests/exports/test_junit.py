from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, strategies as st

from judgekit.errors import SettingsError
from judgekit.exports.junit import JUNIT
from tests.exports.making import check, make_answer, make_run
from tests.factories import make_case, make_failure, make_output

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.evaluation import Outcome

UNJUDGED: dict[str, Any] = {"rubric": None, "panel": {}}


def written(folder: Path, *answers: Outcome, **fields: object) -> ET.Element:
    """The root of the report of some answers."""
    path = folder / "report.xml"
    assert JUNIT.write(path, make_run("v1", "v2", **fields), iter(answers)) == len(answers)
    return ET.parse(path).getroot()  # noqa: S314 - written here


def only(root: ET.Element, name: str) -> ET.Element:
    """The one element of that name."""
    (found,) = root.iter(name)
    return found


def test_a_suite_stands_for_each_variant_with_its_counts_and_facts(tmp_path: Path) -> None:
    answers = [make_answer(), make_answer(variant="v2"), make_answer(1, variant="v2")]
    root = written(tmp_path, *answers)
    first, second = root.iter("testsuite")
    assert (first.get("name"), first.get("tests"), first.get("failures")) == (
        "support.v1",
        "1",
        "0",
    )
    assert (second.get("tests"), second.get("failures"), second.get("time")) == ("2", "1", "0.025")
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("3", "1", "0")
    facts = {p.get("name"): p.get("value") for p in second.findall("properties/property")}
    assert (facts["run"], facts["variant"], facts["rubric"]) == ("run-1", "v2", "support")
    assert first.get("timestamp") == "2026-11-22T09:30:00"


def test_a_failure_says_which_criteria_and_assertions_and_why(tmp_path: Path) -> None:
    answer = make_answer(2, checks=[check(passed=False), check("regex")])
    failure = only(written(tmp_path, answer, config={"assertions": [{}, {}]}), "failure")
    assert failure.get("message") == "value 0.625; contains failed: contains says so"
    text = failure.text or ""
    assert "accuracy 0.250 is below its pass mark, required" in text
    assert "It says so." in text
    assert "clarity" not in text
    assert "regex" not in text


def test_errors_of_what_is_tested_stand_apart_from_failures(tmp_path: Path) -> None:
    output = make_output(None, error="it crashed\nwith a trace", error_kind="exit")
    error = only(written(tmp_path, make_answer(None, None, output=output)), "error")
    assert (error.get("type"), error.get("message")) == ("exit", "it crashed")
    assert error.text == "it crashed\nwith a trace"


def test_an_answer_whose_missing_judgments_decide_is_an_error(tmp_path: Path) -> None:
    failure = make_failure("accuracy", kind="timeout", message="60 s")
    root = written(tmp_path, make_answer(None, 5, failures=[failure]))
    error = only(root, "error")
    assert (error.get("type"), error.text) == ("undecided", "accuracy: timeout: 60 s")
    assert only(root, "testsuite").get("errors") == "1"


def test_an_assertion_that_could_not_be_checked_is_an_error(tmp_path: Path) -> None:
    root = written(tmp_path, make_answer(checks=[check(passed=None)]))
    assert only(root, "error").text == "contains could not be checked: contains says so"


def test_an_answer_nobody_judged_is_skipped(tmp_path: Path) -> None:
    run = make_run(**UNJUDGED)
    root = written(tmp_path, make_answer(None, None, run=run), **UNJUDGED)
    assert only(root, "skipped").get("message") == "nobody has judged it"
    assert only(root, "testsuite").get("skipped") == "1"


def test_repeats_have_names_of_their_own(tmp_path: Path) -> None:
    config = {"settings": {"repeats": 2}}
    root = written(tmp_path, make_answer(), make_answer(repeat=1), config=config)
    assert [t.get("name") for t in root.iter("testcase")] == ["refund", "refund (repeat 2)"]


def test_a_test_that_was_tried_again_keeps_its_name(tmp_path: Path) -> None:
    root = written(tmp_path, make_answer(repeat=1), config={"settings": {"retry_failed": 1}})
    assert only(root, "testcase").get("name") == "refund"


@pytest.mark.parametrize(
    ("status", "is_error"),
    [
        ("complete", False),
        ("waiting", False),
        ("incomplete", True),
        ("interrupted", True),
        ("stopped", True),
        ("running", True),
    ],
)
def test_a_run_that_lacks_answers_is_an_error_although_all_it_has_passed(
    tmp_path: Path, status: str, *, is_error: bool
) -> None:
    root = written(tmp_path, make_answer(), status=status, reason="$2 are spent")
    assert (root.get("tests"), root.get("errors")) == (("2", "1") if is_error else ("1", "0"))
    found = [(one.get("type"), one.get("message")) for one in root.iter("error")]
    message = f"run-1 is not complete ({status}: $2 are spent); answers may be missing"
    assert found == ([(status, message)] if is_error else [])


def test_a_run_that_was_stopped_before_the_first_answer_is_an_error(tmp_path: Path) -> None:
    test = only(written(tmp_path, status="interrupted"), "testcase")
    assert (test.get("name"), test.get("classname")) == ("whole run", "support")
    assert "variant" not in {p.get("name") for p in test.iter("property")}


@given(st.text(max_size=30))
def test_any_text_makes_sound_xml(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    case = make_case(id=f"c{text}", tags=(text,))
    answer = make_answer(case=case, checks=[check(passed=False, message=f"m{text}")])
    root = written(tmp_path_factory.mktemp("junit"), answer, notes=text, suite=f"s{text}")
    name = only(root, "testcase").get("name") or ""
    assert len(name) == len(f"c{text}")
    if text.isprintable():
        assert name == f"c{text}"


def test_what_xml_cannot_hold_is_marked_and_line_ends_survive(tmp_path: Path) -> None:
    case = make_case(id="a\x00b\ufffe\tc\n<&\"'>]]>")
    output = make_output(None, error="\ud800x\r\ny")
    root = written(tmp_path, make_answer(case=case, output=output))
    assert only(root, "testcase").get("name") == "a\ufffdb\ufffd\tc\n<&\"'>]]>"
    assert only(root, "error").text == "\ufffdx\r\ny"


def test_another_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"a JUnit report to a\.json"):
        JUNIT.write(tmp_path / "a.json", make_run(), [])
