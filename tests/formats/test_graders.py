from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import load_dataset, validate_path
from judgekit.errors import DatasetError, NotImportedWarning
from judgekit.formats import read_graders
from tests.formats import FOREIGN
from tests.formats.writing import errors_of, write

if TYPE_CHECKING:
    from pathlib import Path

OUTPUT = "{{sample.output_text}}"


def check(**fields: Any) -> dict[str, Any]:
    known = {"type": "string_check", "name": "n", "input": OUTPUT, "reference": "R"}
    return known | {"operation": "eq"} | fields


def measure(**fields: Any) -> dict[str, Any]:
    known = {"type": "text_similarity", "name": "n", "input": OUTPUT, "reference": "R"}
    return known | {"evaluation_metric": "bleu", "pass_threshold": 0.5} | fields


def ask(**fields: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": "Good?"}]
    return {"type": "score_model", "name": "n", "input": messages} | fields


def multi(formula: str, **graders: Any) -> dict[str, Any]:
    return {"type": "multi", "name": "m", "graders": graders, "calculate_output": formula}


def test_checks_are_assertions() -> None:
    exact, near, loose = read_graders(FOREIGN / "graders.json").assertions
    assert exact == {"type": "equals", "value": "{{item.answer}}", "description": "exact"}
    assert (near["type"], near["n"], near["threshold"]) == ("rouge-n", 2, 0.4)
    assert (loose["type"], loose["weight"]) == ("icontains", 0.25)


def test_questions_to_a_model_are_criteria() -> None:
    rubric = read_graders(FOREIGN / "graders.json").rubric
    assert rubric is not None
    tone, mood, care = rubric.criteria
    assert tone.question == "Rate the tone of the output for the reader."
    assert (tone.scale.min, tone.scale.max, tone.pass_value) == (1, 5, 0.75)
    assert [level.description for level in mood.scale.levels] == [
        "Its label is glad or calm.", "Its label is cross."
    ]  # fmt: skip
    assert (mood.question, mood.pass_value) == ("Name the mood.", 1)
    assert (care.weight, care.required) == (0.75, False)


@pytest.mark.parametrize(
    ("formula", "weights"),
    [
        ("(a + b) / 2", [0.5, 0.5]),
        ("0.25 * (a + 3 * b)", [0.25, 0.75]),
        ("a * 0.7 + b * 0.3", [0.7, 0.3]),
        ("2 * a * 3 + b + b", [6, 2]),
    ],
)
def test_a_sum_of_several_graders_gives_their_weights(
    tmp_path: Path, formula: str, weights: list[float]
) -> None:
    grader = multi(formula, a=check(), b=measure(evaluation_metric="gleu"))
    checks = read_graders(write(tmp_path, {"testing_criteria": [grader]})).assertions
    assert [one["type"] for one in checks] == ["equals", "gleu"]
    assert [one["weight"] for one in checks] == weights


def test_an_evaluation_lists_its_graders(tmp_path: Path) -> None:
    found = read_graders(write(tmp_path, {"testing_criteria": [check(operation="ne")]}))
    assert (found.assertions[0]["type"], found.rubric) == ("not-equals", None)
    assert read_graders(write(tmp_path, check())).assertions[0]["type"] == "equals"


def test_each_measure_is_the_assertion_of_its_name(tmp_path: Path) -> None:
    wanted = {"bleu": "bleu", "meteor": "meteor", "rouge_l": "rouge-l", "cosine": "similar"}
    graders = [measure(name=name, evaluation_metric=name) for name in wanted]
    found = read_graders(write(tmp_path, {"testing_criteria": graders})).assertions
    assert [spec["type"] for spec in found] == list(wanted.values())


def test_a_grader_that_is_code_leaves_a_check_that_no_answer_passes(tmp_path: Path) -> None:
    code = {"type": "python", "name": "p", "source": "def grade(): 1"}
    path = write(tmp_path, {"testing_criteria": [code, check()]})
    with pytest.warns(NotImportedWarning, match="1 part of the file is not imported"):
        lost, kept = read_graders(path).assertions
    assert (lost["type"], kept["type"]) == ("not_imported", "equals")
    assert "`python` is not imported: it is code" in validate_path(path)[0].message


def test_a_fuzzy_match_is_a_ratio_and_says_which(tmp_path: Path) -> None:
    path = write(tmp_path, measure(evaluation_metric="fuzzy_match", pass_threshold=0.8))
    (spec,) = read_graders(path).assertions
    assert (spec["type"], spec["threshold"]) == ("text.character_ratio", 0.8)
    (problem,) = validate_path(path)
    assert problem.severity == "warning"
    assert "OpenAI names only the library" in problem.message


def test_criteria_without_any_weight_count_alike(tmp_path: Path) -> None:
    found = read_graders(write(tmp_path, multi("0 * a", a=ask())))
    assert found.rubric is not None
    assert found.rubric.criteria[0].weight == 1


@pytest.mark.parametrize(
    ("grader", "what"),
    [
        ({"type": "string_chek", "input": "x"}, "no grader is of the type 'string_chek'"),
        ({"input": "x"}, "no grader is of the type 'None'"),
        (check(input="{{item.answer}}"), "`input` must be {{sample.output_text}}"),
        (check(operation="is"), "`operation` must be 'eq'"),
        (measure(evaluation_metric="blue"), "no measure is called 'blue'"),
        (measure(pass_threshold=None), "needs a `pass_threshold` on [0, 1]"),
        (measure(pass_threshold=5), "needs a `pass_threshold` on [0, 1]"),
        (ask(range=[5, 1]), "makes no criterion"),
        (ask(pass_threshold=7), "makes no criterion"),
        (multi("a * b", a=check()), "read only as a weighted sum"),
        (multi("a - b", a=check(), b=check()), "read only as a weighted sum"),
        (multi("a + 1", a=check()), "read only as a weighted sum"),
        (multi("1 / a", a=check()), "read only as a weighted sum"),
        (multi("a / 0", a=check()), "read only as a weighted sum"),
        (multi("a * 1e999", a=check()), "read only as a weighted sum"),
        (multi("True * a", a=check()), "read only as a weighted sum"),
        (multi("max(a, b)", a=check(), b=check()), "read only as a weighted sum"),
        (multi("(" * 999 + "a" + ")" * 999, a=check()), "read only as a weighted sum"),
        (multi("-" * 99_999 + "a", a=check()), "read only as a weighted sum"),
        (multi("a" + " + a" * 9_999, a=check()), "read only as a weighted sum"),
        (multi("a + b", a=check()), "names 'b', and no grader is called so"),
        (multi("a", a=3), "must be a mapping of fields"),
        (multi("a", a=multi("a", a=multi("a", a=multi("a", a=multi("a", a=multi("a")))))),
         "read only as a weighted sum"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_an_error(tmp_path: Path, grader: dict[str, Any], what: str) -> None:
    path = write(tmp_path, {"testing_criteria": [grader]})
    assert any(what in str(problem) for problem in errors_of(path))
    with pytest.raises(DatasetError):
        read_graders(path)


def test_two_graders_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="two graders are called 'n'"):
        read_graders(write(tmp_path, [ask(), ask()]))


def test_a_grader_without_a_part_in_the_sum_is_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, multi("a", a=check(), b=check()))
    assert len(read_graders(path).assertions) == 1


@pytest.mark.parametrize(
    ("content", "question"),
    [
        (["One.", {"type": "input_text", "text": "Two."}], "One.\nTwo."),
        ({"type": "input_image"}, "?"),
        (7, "?"),
    ],
)
def test_messages_of_any_form_are_read(tmp_path: Path, content: object, question: str) -> None:
    found = read_graders(write(tmp_path, ask(input=[{"role": "user", "content": content}])))
    assert found.rubric is not None
    assert found.rubric.criteria[0].question == question


def test_graders_are_no_dataset() -> None:
    with pytest.raises(DatasetError, match="criteria and checks, not cases"):
        load_dataset(FOREIGN / "graders.json")


def test_a_combination_needs_no_name_of_its_own(tmp_path: Path) -> None:
    whole = multi("a", a=ask(pass_threshold=0.5)) | {"pass_threshold": 0.5}
    del whole["name"]
    assert errors_of(write(tmp_path, whole)) == []
