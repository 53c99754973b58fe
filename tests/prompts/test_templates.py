from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgekit.errors import TemplateError, UnknownNameError
from judgekit.prompts import find_template, template_names
from judgekit.prompts.templates import read_header
from judgekit.resources import shipped_file

if TYPE_CHECKING:
    from pathlib import Path

SHIPPED = [
    "analyze_rate", "checklist", "criterion", "five_letters", "joint", "no_reference", "prometheus",
    "rate_explain", "reason_then_score", "score_only", "stars", "trajectory", "yes_no",
]  # fmt: skip


def header(*lines: str) -> str:
    return "\n".join(["{# judgekit", *lines, "#}", "{% block shared %}{% endblock %}"])


def test_these_templates_are_shipped_and_partials_are_none() -> None:
    names = template_names()
    assert {f"pointwise/{name}" for name in SHIPPED} <= set(names)
    assert not any(name.startswith("partials/") for name in names)


@pytest.mark.parametrize("name", template_names())
def test_every_shipped_template_says_what_it_is_for(name: str) -> None:
    source = shipped_file("prompts", f"{name}.j2").read_text(encoding="utf-8")
    assert read_header(source, name).description.endswith(".")


def test_a_header_says_how_the_template_asks() -> None:
    found = read_header(
        header("description: d", "", "asks: criterion", "reply: choice", "choices: yes=1 no=0",
               "needs: trace", "scales: binary"),
        "t",
    )  # fmt: skip
    assert (found.description, found.asks, found.reply.kind) == ("d", "criterion", "choice")
    assert found.reply.choices == {"yes": 1.0, "no": 0.0}
    assert (found.needs_trace, found.binary_only) == (True, True)


@pytest.mark.parametrize("source", ["", "{# a comment #}", "{% block shared %}{% endblock %}"])
def test_a_template_without_a_header_asks_for_one_criterion_in_json(source: str) -> None:
    found = read_header(source, "t")
    assert (found.asks, found.reply.kind, dict(found.reply.choices)) == ("criterion", "json", {})
    assert (found.needs_trace, found.binary_only) == (False, False)


@pytest.mark.parametrize("kind", ["score_line", "result", "brackets", "stated"])
def test_a_published_reply_format_is_taken(kind: str) -> None:
    assert read_header(header(f"reply: {kind}"), "t").reply.kind == kind


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("asks: some", "asks: 'some' is none of criterion, all"),
        ("reply: xml", "reply: 'xml' is none of json"),
        ("needs: money", "needs: 'money' is none of output, trace"),
        ("scales: wide", "scales: 'wide' is none of any, binary"),
        ("replies: json", "its header has a line 'replies: json'\n.*one of description, asks"),
        ("no colon here", "its header has a line 'no colon here'"),
        ("reply: choice", "reply: choice and choices: go together"),
        ("choices: a=1", "reply: choice and choices: go together"),
        ("reply: choice\nchoices: a=one", "choices: 'a=one' is not of the form word=number"),
        ("reply: choice\nchoices: a", "choices: 'a' is not of the form word=number"),
        ("reply: choice\nchoices: a=nan", "choices: 'a=nan' is not of the form word=number"),
        ("reply: choice\nchoices: A=1 B=0 A=0.5", "choices: 'A=1 B=0 A=0.5' has a word twice"),
        ("reply: choice\nchoices: yes=1 Yes=0", "choices: 'yes=1 Yes=0' has a word twice"),
        ("judges: pair\nreply: choice\nchoices: A=first A=tie B=second", "choices: .* word twice"),
        ("asks: all\nasks: criterion", "its header has asks: twice"),
        ("fields: score", "fields: 'score' does not list fields"),
        ("fields: rationale score score", "fields: .* does not list fields"),
        ("fields: rationale score price", "fields: .* does not list fields"),
        ("reply: result\nfields: rationale score", "fields: goes with reply: json"),
        ("asks: all\nreply: result", "asks: all needs reply: json"),
    ],
)
def test_an_unsound_header_is_refused(line: str, problem: str) -> None:
    with pytest.raises(TemplateError, match=f"template mine: {problem}"):
        read_header(header(line), "mine")


@pytest.mark.parametrize("before", ["\ufeff", "\n", " \r\n", "\ufeff\n"])
def test_a_mark_or_blank_lines_before_a_header_do_not_hide_it(before: str) -> None:
    assert read_header(before + header("reply: result"), "mine").reply.kind == "result"


@pytest.mark.parametrize("source", ["{# of mine #}\n{}", "Text\n\n{}", "  {% set a = 1 %}\n {}"])
def test_a_header_behind_anything_else_is_refused(source: str) -> None:
    text = source.replace("{}", header("reply: result"))
    with pytest.raises(TemplateError, match=r"mine: its header is not its first line\n.*begin"):
        read_header(text, "mine")
    with pytest.raises(TemplateError, match="in lower case"):
        read_header(header("reply: result").replace("judgekit", "JudgeKit"), "mine")


def test_an_own_folder_comes_before_the_shipped_one(tmp_path: Path) -> None:
    own = tmp_path / "pointwise"
    own.mkdir()
    (own / "criterion.j2").write_text("", encoding="utf-8")
    name, places = find_template("pointwise/criterion", [tmp_path])
    assert name == "pointwise/criterion.j2"
    assert places == (tmp_path, shipped_file("prompts"))


def test_a_template_may_be_named_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.j2"
    path.write_text("", encoding="utf-8")
    name, places = find_template(str(path))
    assert (name, places[0]) == ("mine.j2", tmp_path.resolve())


@pytest.mark.parametrize("name", ["pointwise/criterion", "pointwise/criterion.j2"])
def test_the_ending_of_a_name_may_be_left_out(name: str) -> None:
    assert find_template(name)[0] == "pointwise/criterion.j2"


def test_an_unknown_template_lists_the_near_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean pointwise/criterion"):
        find_template("pointwise/criterium", [tmp_path])


def test_own_templates_are_listed_with_the_shipped_ones(tmp_path: Path) -> None:
    (tmp_path / "mine.j2").write_text("", encoding="utf-8")
    assert {"mine", "pointwise/criterion"} <= set(template_names([tmp_path]))
