from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from judgekit.datasets import load_dataset, load_rubric
from judgekit.formats import read_graders
from tests.formats import FOREIGN

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.commanding import Run


def test_cases_of_another_tool_become_judgekits_own(run: Run, tmp_path: Path) -> None:
    ran = run("convert", FOREIGN / "workflow.json", "-o", "cases.jsonl")
    n = len(load_dataset(tmp_path / "cases.jsonl").cases)
    assert (ran.code, ran.out) == (0, "")
    first, second = ran.err.splitlines()
    assert first == f"wrote {n} case{'s' * (n > 1)} to cases.jsonl (cases)"
    lost = "the name 'greeter.v2', the version '2.1.0'"
    assert second == f"not converted, because the target holds only cases: {lost}"


def test_what_a_form_has_no_place_for_is_told_in_json_too(run: Run) -> None:
    ran = run("convert", FOREIGN / "workflow.json", "-o", "cases.jsonl", "--json")
    assert ran.json["left_out"] == ["the name 'greeter.v2'", "the version '2.1.0'"]
    assert (
        "left_out" not in run("convert", FOREIGN / "workflow.json", "-o", "a.json", "--json").json
    )


def test_of_a_skills_tests_a_suite_keeps_more(run: Run) -> None:
    ran = run("convert", FOREIGN / "skill", "-o", "cases.jsonl")
    assert "`profile` of the tests" in ran.err
    assert "--to suite keeps it" in ran.err


@pytest.mark.parametrize(
    ("name", "form"), [("tests.json", "skill-tests"), ("a.json", "cases"), ("folder", "suite")]
)
def test_what_is_wanted_is_seen_from_the_name(run: Run, name: str, form: str) -> None:
    ran = run("convert", FOREIGN / "tests_v1.json", "-o", name, "--json")
    assert ran.json == {
        "source": str(FOREIGN / "tests_v1.json"),
        "file": name,
        "form": form,
        "n_cases": 3,
        "lost": [],
    }


def test_a_loss_is_refused_and_written_when_it_is_wanted(run: Run, tmp_path: Path) -> None:
    arguments = ("convert", FOREIGN / "evals.json", "-o", "w.json", "--to", "workflow")
    refused = run(*arguments)
    assert refused.code == 2
    assert "w.json is not written, for this would be lost:\n  first-entry:" in refused.err
    assert not (tmp_path / "w.json").exists()
    ran = run(*arguments, "--lossy")
    assert ran.code == 0
    assert "lost: first-entry: " in ran.err
    assert (tmp_path / "w.json").exists()


def test_a_suite_that_loses_something_is_refused(run: Run, tmp_path: Path) -> None:
    refused = run("convert", FOREIGN / "skill", "-o", "suite")
    assert (refused.code, (tmp_path / "suite").exists()) == (2, False)
    assert "the place of scripts/" in refused.err
    ran = run("convert", FOREIGN / "skill", "-o", "suite", "--lossy")
    assert (ran.code, (tmp_path / "suite" / "judgekit.yaml").exists()) == (0, True)


def test_grader_specs_become_a_rubric(run: Run, tmp_path: Path) -> None:
    arguments = ("convert", FOREIGN / "graders.json", "-o", "rubric.yaml", "--to", "rubric")
    refused = run(*arguments)
    assert (refused.code, "the check " in refused.err) == (2, True)
    ran = run(*arguments, "--lossy")
    rubric = load_rubric(tmp_path / "rubric.yaml")
    assert rubric == read_graders(FOREIGN / "graders.json").rubric
    assert ran.err.startswith(f"wrote a rubric of {len(rubric.criteria)} criteria to rubric.yaml")
    assert run(*arguments, "--lossy", "--json").json["n_criteria"] == len(rubric.criteria)


def test_a_rubric_is_not_made_of_a_part_of_the_file_with_strict(run: Run, tmp_path: Path) -> None:
    checks = [{"type": "llm-rubric", "value": "is polite"}, {"type": "perplexity", "threshold": 3}]
    tests = [{"vars": {"x": "a"}, "assert": checks}]
    whole = {"prompts": ["{{x}}"], "providers": ["openai:m"], "tests": tests}
    (tmp_path / "promptfooconfig.yaml").write_text(json.dumps(whole), encoding="utf-8")
    arguments = ("convert", "promptfooconfig.yaml", "--to", "rubric", "-o", "rubric.yaml")
    ran = run(*arguments, "--strict")
    assert (ran.code, "1 part of the file is not imported" in ran.err) == (2, True)
    assert not (tmp_path / "rubric.yaml").exists()
    ran = run(*arguments)
    assert (ran.code, "wrote a rubric of 1 criterion to rubric.yaml" in ran.err) == (0, True)


def test_columns_may_be_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("key,frage\na,Q\n")
    ran = run("convert", "t.csv", "-o", "a.jsonl", "--column", "key=id", "--column", "frage=input")
    assert ran.code == 0
    assert load_dataset(tmp_path / "a.jsonl").cases[0].input == "Q"
    wrong = run("convert", "t.csv", "-o", "a.jsonl", "--column", "key")
    assert (wrong.code, "is not NAME=FIELD" in wrong.err) == (2, True)


@pytest.mark.parametrize(
    ("command", "asked"),
    [
        (("convert", FOREIGN / "graders.json"), "Missing option '-o' / '--output'"),
        (("export",), "name a file with -o, or a tool with --to"),
    ],
)
def test_a_target_that_is_not_named_is_asked_for(
    run: Run, command: tuple[object, ...], asked: str
) -> None:
    ran = run(*command)
    assert (ran.code, asked in ran.err) == (2, True)


def test_checks_that_name_a_field_of_an_item_are_not_offered_for_a_suite(
    run: Run, tmp_path: Path
) -> None:
    check = {"type": "string_check", "name": "same", "operation": "eq"}
    check |= {"input": "{{sample.output_text}}", "reference": "{{ item.answer }}"}
    (tmp_path / "graders.json").write_text(json.dumps(check))
    ran = run("convert", "graders.json", "--to", "rubric", "-o", "rubric.yaml")
    assert ran.code == 2
    assert "{{" not in ran.err
    assert "`data_source`" in ran.err
    assert "`evaluation: {strategy: exact_match}`" in ran.err
    (tmp_path / "graders.json").write_text(json.dumps(check | {"reference": "4"}))
    ran = run("convert", "graders.json", "--to", "rubric", "-o", "rubric.yaml")
    assert '`assertions: [{"type": "equals", "value": "4"' in ran.err
