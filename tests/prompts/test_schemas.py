from __future__ import annotations

from typing import Any

import pytest

from judgekit.prompts import scale_words
from judgekit.prompts.messages import criteria_schema, criterion_schema
from judgekit.records import Scale
from tests.factories import make_criterion


def score_schema(scale: Any) -> Any:
    properties: Any = criterion_schema(make_criterion(scale=scale))["properties"]
    return properties["score"]["anyOf"][0]


def test_evidence_and_rationale_are_asked_for_before_the_score() -> None:
    schema: Any = criterion_schema(make_criterion())
    names = ["evidence", "rationale", "score", "confidence", "assessable"]
    assert list(schema["properties"]) == names
    assert schema["required"] == names
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(
    ("scale", "schema"),
    [
        ("binary", {"type": "integer", "enum": [0, 1]}),
        ({"min": 1, "max": 5, "integer": True}, {"type": "integer", "enum": [1, 2, 3, 4, 5]}),
        ("five_level", {"type": "number", "enum": [0.0, 0.3, 0.5, 0.7, 1.0]}),
        ([{"value": 2}, {"value": 4}], {"type": "integer", "enum": [2, 4]}),
        ("unit", {"type": "number"}),
        ({"min": 0, "max": 100, "integer": True}, {"type": "integer"}),
        ({"min": 0, "max": 10**9, "integer": True}, {"type": "integer"}),
    ],
)
def test_a_short_scale_is_listed_and_a_long_one_is_not(scale: Any, schema: Any) -> None:
    assert score_schema(scale) == schema


def test_a_score_may_be_null_where_it_cannot_be_assessed() -> None:
    properties: Any = criterion_schema(make_criterion())["properties"]
    assert properties["score"]["anyOf"][1] == {"type": "null"}


def test_no_schema_has_bounds_that_strict_modes_refuse() -> None:
    text = str(criterion_schema(make_criterion(scale="unit")))
    assert "minimum" not in text
    assert "maximum" not in text


def test_a_reply_has_the_fields_that_its_template_names() -> None:
    names = ["rationale", "score", "evidence"]
    one: Any = criterion_schema(make_criterion(), names)
    joint: Any = criteria_schema([make_criterion("style"), make_criterion("tone")], names)
    assert list(one["properties"]) == one["required"] == names
    assert joint["$defs"] == {"answer_1": one}


def test_a_joint_schema_with_named_fields_holds_equal_answers_once() -> None:
    criteria = [
        make_criterion("style"),
        make_criterion("tone"),
        make_criterion("real", scale="binary"),
    ]
    schema: Any = criteria_schema(criteria, ["rationale", "score"])
    answers = schema["properties"]["criteria"]["properties"]
    places = {name: answer["$ref"] for name, answer in answers.items()}
    assert places == {"style": "#/$defs/answer_1", "tone": "#/$defs/answer_1",
                      "real": "#/$defs/answer_2"}  # fmt: skip
    assert list(schema["$defs"]) == ["answer_1", "answer_2"]


def test_a_joint_schema_holds_one_answer_for_each_criterion_in_order() -> None:
    criteria = [make_criterion("style"), make_criterion("accuracy", scale="unit")]
    schema: Any = criteria_schema(criteria)
    inner = schema["properties"]["criteria"]
    assert list(inner["properties"]) == inner["required"] == ["style", "accuracy"]
    assert inner["properties"]["accuracy"] == criterion_schema(criteria[1])


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        (Scale(min=1, max=3, integer=True), "one of 1, 2, 3 (3 is best)"),
        (Scale(min=0, max=1), "a number from 0 to 1 (1 is best)"),
        (Scale(min=0, max=100, integer=True), "a whole number from 0 to 100 (100 is best)"),
        (Scale.model_validate({"levels": [{"value": 0.5}, {"value": 0}]}),
         "one of 0, 0.5 (0.5 is best)"),
    ],
)  # fmt: skip
def test_a_scale_is_put_in_words(scale: Scale, words: str) -> None:
    assert scale_words(scale) == words


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        ({"min": 1, "max": 5, "integer": True}, "1 to 5 (5 is best)"),
        ({"min": 0, "max": 1, "integer": True}, "0 or 1 (1 is best)"),
        ([{"value": 1}, {"value": 3}, {"value": 7}], "1, 3 or 7 (7 is best)"),
        ([{"value": 1}, {"value": 2}, {"value": 3}], "1 to 3 (3 is best)"),
        ({"min": 0, "max": 10**9, "integer": True},
         "whole number from 0 to 1e+09 (1e+09 is best)"),
        ("unit", "number from 0 to 1 (1 is best)"),
    ],
)  # fmt: skip
def test_a_scale_is_put_in_few_words(scale: Any, words: str) -> None:
    assert scale_words(make_criterion(scale=scale).scale, is_short=True) == words
