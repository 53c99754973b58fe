"""Criteria with needs and judges of their own on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.evaluation.suites import lay_suite, rows
from tests.factories import reply

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run

JUDGES = [{"model": "recorded:plain.jsonl"}, {"model": "recorded:strong.jsonl", "name": "strong"}]
RUBRIC = """\
name: answers
criteria:
  - {name: good, question: "Is it good?", scale: one_to_five}
  - {name: safe, question: "Is it safe?", scale: one_to_five, judge: strong}
"""
TRACED = """\
name: agents
criteria:
  - {name: good, question: "Is it good?", scale: one_to_five}
  - {name: tools, question: "Was every tool needed?", scale: one_to_five, needs: trace}
"""


def lay(folder: Path, rubric: str = RUBRIC, **suite: Any) -> None:
    known = {"judge": JUDGES, "rubric": "rubric.yaml", "assertions": None}
    lay_suite(folder, n=2, **known | suite)
    (folder / "rubric.yaml").write_text(rubric, encoding="utf-8")
    for name, score in {"plain": 2, "strong": 5, "other": 3}.items():
        found = ({"case_id": f"c{k}", "text": reply(score)} for k in range(2))
        (folder / f"{name}.jsonl").write_text(rows(*found), encoding="utf-8")


def test_the_judge_of_the_command_line_leaves_named_judges(run: Run, tmp_path: Path) -> None:
    lay(tmp_path)
    ran = run("run", "--judge", "recorded:other.jsonl", "--json")
    values = ran.json["summary"]["variants"][0]["criteria"] if "summary" in ran.json else None
    values = values or ran.json["variants"][0]["criteria"]
    assert {name: figures["value"] for name, figures in values.items()} == {"good": 0.5, "safe": 1}


def test_an_output_without_a_trace_leaves_the_rest_of_its_grading(run: Run, tmp_path: Path) -> None:
    lay(tmp_path, TRACED, judge=JUDGES[0])
    ran = run("run")
    assert ran.code == 3
    assert "2 judgments: the judge could not assess" in ran.out
    assert "criterion 'tools' needs a trace, and the output has none" in " ".join(ran.out.split())
    assert "supply what its criteria need" in ran.err


@pytest.mark.parametrize(
    ("judges", "message"),
    [
        (JUDGES[:1], "criterion 'safe' is to be graded by the judge 'strong'"),
        (JUDGES[1:], "criterion 'good' names no judge, and every judge has a name"),
        ([*JUDGES, {"model": "human", "name": "ann"}], "the suite's judge 'ann' has nothing to gr"),
    ],
)
def test_judges_that_do_not_fit_are_found_without_running(
    run: Run, tmp_path: Path, judges: list[Any], message: str
) -> None:
    lay(tmp_path, judge=judges)
    for command in (["validate", "judgekit.yaml"], ["plan"], ["run"]):
        ran = run(*command)
        assert (ran.code, message in " ".join((ran.out + ran.err).split())) == (2, True)


def test_a_need_that_no_case_meets_is_reported_before_the_run(run: Run, tmp_path: Path) -> None:
    lay(tmp_path, RUBRIC.replace("judge: strong", "needs: reference"), judge=JUDGES[0])
    message = "criterion 'safe' needs `reference`, and no case has it"
    for command in (["validate", "judgekit.yaml"], ["plan"], ["run"]):
        ran = run(*command)
        assert message in " ".join((ran.out + ran.err).split()), command


def test_a_comparison_says_what_it_does_not_compare(run: Run, tmp_path: Path) -> None:
    lay(tmp_path, TRACED)
    (tmp_path / "w1.jsonl").write_text(rows({"case_id": "c0", "text": "other"}), encoding="utf-8")
    ran = run(
        "compare", "v1.jsonl", "w1.jsonl", "--rubric", "rubric.yaml", "--dry-run",
        "--judge", "openai/gpt-4.1-mini", "--cases", "cases.jsonl",
    )  # fmt: skip
    assert "tools needs the trace, which comparisons do not show" in ran.err


def test_the_rule_point_decides_where_the_interval_cannot(run: Run, tmp_path: Path) -> None:
    lay_suite(tmp_path, n=3, gate={"tier": "production", "rule": "point"})
    ran = run("run", "-q")
    assert (ran.code, "(rule: point)" in " ".join(ran.out.split())) == (0, True)
    lay_suite(tmp_path, n=3, texts={"c0": "wrong"}, gate={"tier": "production", "rule": "point"})
    assert run("run", "-q").code == 1
    assert run("gate").code == 1
    assert run("gate", "--gate-rule", "interval").code == 4
