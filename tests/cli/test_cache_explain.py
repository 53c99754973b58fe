from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from judgekit.cli.cache import find_misses
from judgekit.models.cache import MemoryCache
from tests.cli.cache_folders import (
    CACHE,
    MODEL,
    RUBRIC,
    buy,
    edit,
    other_request,
    reject,
    requests,
    write_suite,
)

if TYPE_CHECKING:
    from judgekit.models.request import ModelRequest
    from tests.cli.commanding import Run


def test_explain_says_that_all_is_owned(run: Run, owned: list[ModelRequest]) -> None:
    ran = run("cache", "explain")
    assert (ran.code, ran.out, ran.err) == (0, f"{len(owned)} of 4 requests cached\n", "")


@pytest.mark.usefixtures("owned")
def test_an_edited_criterion_is_one_line_with_a_diff(run: Run) -> None:
    edit("rubric.yaml", "Is the answer correct?", "Is every statement true?")
    out = run("cache", "explain").out.splitlines()
    assert out[0] == "2 of 4 requests cached"
    assert out[1] == "criterion 'correct' was edited: 2 requests differ in messages[1].content"
    assert out[2] == "  cases refund, sum"
    assert "      -correct: Is the answer correct?" in out
    assert "      +correct: Is every statement true?" in out
    assert len([line for line in out if "requests" in line]) == 2


@pytest.mark.usefixtures("owned")
def test_an_edited_scale_names_the_schema_too(run: Run) -> None:
    Path("rubric.yaml").write_text(RUBRIC.replace("one_to_five", "one_to_ten", 1))
    (group,) = run("cache", "explain", "--json").json["groups"]
    assert group["title"] == "criterion 'correct' was edited"
    assert group["parts"] == ["messages[1].content", "reply_schema"]
    assert (group["n_requests"], group["cases"]) == (2, ["refund", "sum"])
    assert group["criteria"] == ["correct"]
    assert group["example"]["nearest"]


@pytest.mark.usefixtures("owned")
def test_a_new_criterion_is_told_from_an_edited_one(run: Run) -> None:
    new = "  - {name: kind, question: Is it kind?, scoring_guide: Look., scale: one_to_five}\n"
    Path("rubric.yaml").write_text(RUBRIC + new)
    assert "criterion 'kind' is new: 2 requests" in run("cache", "explain").out


@pytest.mark.usefixtures("owned")
def test_an_edited_output_concerns_all_its_criteria(run: Run) -> None:
    edit("outputs.jsonl", "It is 4", "It is four")
    out = run("cache", "explain").out
    assert "the material was edited (task, reference, context or output): 2 requests" in out
    assert "  case sum\n" in out


@pytest.mark.usefixtures("owned")
def test_a_new_output_was_never_graded(run: Run) -> None:
    with Path("cases.jsonl").open("a") as file:
        file.write('{"id": "late", "input": "Where is my parcel?"}\n')
    with Path("outputs.jsonl").open("a") as file:
        file.write('{"case_id": "late", "text": "On its way."}\n')
    assert "outputs that were never graded: 2 requests" in run("cache", "explain").out


@pytest.mark.usefixtures("owned")
def test_an_edited_output_and_criterion_are_told_together(run: Run) -> None:
    edit("outputs.jsonl", "It is 4", "It is four")
    edit("rubric.yaml", "free of filler", "without any filler")
    titles = [group["title"] for group in run("cache", "explain", "--json").json["groups"]]
    assert "the material and the criterion differ from everything cached" in titles


@pytest.mark.parametrize(
    ("options", "title"),
    [
        (["--temperature", "1"], "parameters.temperature is 1.0, not 0.0"),
        (["--judge", "openai/gpt-4o"], f'model is "openai/gpt-4o", not "{MODEL}"'),
        (["--api-base", "http://127.0.0.1:1/v1"], 'api_base is "http://127.0.0.1:1/v1", not null'),
    ],
)
@pytest.mark.usefixtures("owned")
def test_another_setting_is_named_with_both_values(
    run: Run, options: list[str], title: str
) -> None:
    ran = run("cache", "explain", *options)
    assert f"{title}: 4 requests differ" in ran.out
    assert "  cases refund, sum\n" in ran.out


@pytest.mark.usefixtures("owned")
def test_another_repeat_was_never_asked(run: Run) -> None:
    ran = run("cache", "explain", "--repeats", "2")
    assert "4 of 8 requests cached" in ran.out
    assert "repeat is 1, not 0: 4 requests differ in repeat" in ran.out


@pytest.mark.usefixtures("owned")
def test_an_edited_template_is_not_taken_for_an_edited_criterion(run: Run, tmp_path: Path) -> None:
    shipped = Path(__file__).parents[2] / "prompts" / "pointwise" / "criterion.j2"
    own = tmp_path / "own"
    (own / "pointwise").mkdir(parents=True)
    text = shipped.read_text()
    (own / "pointwise" / "criterion.j2").write_text(text.replace("Reply in JSON", "Answer in JSON"))
    assert "the template's question was edited: 4 requests" in (
        run("cache", "explain", "--templates", own).out
    )
    (own / "pointwise" / "criterion.j2").write_text(text.replace("strictly", "severely"))
    assert "the template's instructions were edited: 4 requests" in (
        run("cache", "explain", "--templates", own).out
    )


def test_joint_requests_have_their_criteria_in_front(run: Run, tmp_path: Path) -> None:
    write_suite(tmp_path)
    buy(CACHE, *requests(mode="joint"))
    edit("rubric.yaml", "free of filler", "without filler")
    assert "a criterion was edited: 2 requests" in run("cache", "explain", "--mode", "joint").out
    edit("rubric.yaml", "without filler", "free of filler")
    edit("outputs.jsonl", "It is 4", "It is four")
    assert "the material was edited" in run("cache", "explain", "--mode", "joint").out


def test_a_template_without_a_schema_differs_in_nothing_else(run: Run, tmp_path: Path) -> None:
    write_suite(tmp_path)
    buy(CACHE, *[r.model_copy(update={"reply_schema": None}) for r in requests()])
    assert "the reply schema of criterion 'correct' was edited" in run("cache", "explain").out


def test_an_empty_cache_and_rejected_replies_are_told(run: Run, tmp_path: Path) -> None:
    write_suite(tmp_path)
    reject(CACHE, requests()[0])
    out = run("cache", "explain", "-n", "1").out.splitlines()
    assert out[0] == "0 of 2 requests cached"
    assert out[1].startswith("1 request sent before, but the reply was cut short")
    assert out[2] == "the cache is empty: 2 requests not cached"


def test_explain_of_a_key_shows_its_nearest_entry(run: Run, owned: list[ModelRequest]) -> None:
    ran = run("cache", "explain", owned[0].key[:10])
    assert ran.code == 0
    assert ran.out.startswith(f"{owned[0].key[:12]} is cached: correct: Can I return it?\n")
    assert f"nearest of 3: {owned[1].key[:12]}" in ran.out
    assert run("cache", "explain", owned[0].key, "--json").json["is_hit"] is True


def test_explain_of_a_rejected_key_says_so(run: Run, tmp_path: Path) -> None:
    write_suite(tmp_path)
    reject(CACHE, requests()[0])
    out = run("cache", "explain", requests()[0].key[:8]).out
    assert "is not served" in out
    assert "1 reply stored for the record, never served" in out
    assert "there is no other entry" in out


@pytest.mark.usefixtures("owned")
def test_explain_of_nothing_that_exists_is_an_error(run: Run) -> None:
    assert "there is no file nope.jsonl" in run("cache", "explain", "nope.jsonl").err
    ran = run("cache", "explain", "0000ffff")
    assert (ran.code, ran.out) == (2, "")


def test_many_cases_are_told_by_their_number(run: Run, tmp_path: Path) -> None:
    write_suite(tmp_path)
    cases = "".join(f'{{"id": "c{n}", "input": "{n}?"}}\n' for n in range(5))
    Path("cases.jsonl").write_text(cases)
    rows = "".join(f'{{"case_id": "c{n}", "text": "{n}."}}\n' for n in range(5))
    Path("outputs.jsonl").write_text(rows)
    buy(CACHE, other_request())
    assert "  cases c0, c1, c2 and 2 more\n" in run("cache", "explain").out


def test_of_very_many_misses_an_even_sample_is_compared() -> None:
    cache = MemoryCache()
    asked = [other_request(f"{n}") for n in range(100)]
    found = find_misses(cache, asked, asks_all=False, most_comparisons=0)
    (group,) = found.groups
    assert [r.messages[0]["content"] for r in group.requests] == [str(n) for n in range(0, 100, 5)]
    assert (found.n_requests, found.n_owned, found.n_not_compared) == (100, 0, 80)


@pytest.mark.usefixtures("owned")
def test_recorded_replies_have_nothing_to_explain(run: Run) -> None:
    Path("replies.jsonl").write_text('{"case_id": "sum", "text": "4"}\n')
    ran = run("cache", "explain", "--judge", "recorded:replies.jsonl")
    assert (ran.code, "not from the cache" in ran.err) == (2, True)


def test_many_reasons_and_many_misses_are_cut(run: Run, tmp_path: Path) -> None:
    write_suite(tmp_path)
    criteria = [
        f"  - {{name: c{n}, question: Is w{n} so?, scoring_guide: g, scale: binary}}"
        for n in range(25)
    ]
    Path("rubric.yaml").write_text("\n".join(["name: r", "criteria:", *criteria, ""]))
    buy(CACHE, *requests())
    text = Path("rubric.yaml").read_text()
    for n in range(25):
        text = text.replace(f"Is w{n} so?", f"Was x{n} so?")
    Path("rubric.yaml").write_text(text)
    assert "… and 5 more reasons" in run("cache", "explain").out
