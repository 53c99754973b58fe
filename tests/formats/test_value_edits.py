"""A change of one value leaves every other character of the file as it is."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time
from typing import Any, cast

import pytest
from hypothesis import given, strategies as st

from judgekit.errors import DatasetError, SettingsError
from judgekit.formats import (
    dump_yaml,
    edit_value,
    parse_document,
    read_document,
    row_lines,
    text_in_place,
)

YAML = Path("suite.yaml")
JSON = Path("suite.json")
JSONL = Path("cases.jsonl")

SUITE = """\
# The support suite.
name: x   # short

cases:
  # The clause that decides.
  - id: "a"      # never rename
    input: |
      Hello,
      can I return it?

    tags: [a, b]  # two
  # Written later.
  -   id: y
      input: 'old: "q"'
      meta:
        k: v
        list:
        - 1
        - {z: 2}
  - {id: z, input: hi}

status: active
"""


def lines_of(before: str, after: str) -> tuple[list[str], list[str]]:
    """The lines that were taken out, and those that came instead."""
    old, new = before.split("\n"), after.split("\n")
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    return old, new


@pytest.mark.parametrize(
    ("where", "value", "old", "new"),
    [
        (["cases", 0, "id"], "b: c", ['  - id: "a"      # never rename'],
         ['  - id: "b: c"      # never rename']),
        (["cases", 0, "input"], "No.", ["    input: |", "      Hello,", "      can I return it?"],
         ["    input: No."]),
        (["cases", 1, "input"], "two\nlines", ["      input: 'old: \"q\"'"],
         ["      input: |-", "        two", "        lines"]),
        (["cases", 0, "tags"], ["x, y", "z"], ["    tags: [a, b]  # two"],
         ["    tags: ['x, y', z]  # two"]),
        (["cases", 0, "reference"], "no", [], ["    reference: 'no'"]),
        (["cases", 1, "meta", "k"], 3, ["        k: v"], ["        k: 3"]),
        (["cases", 1, "meta", "list"], [7], ["        - 1", "        - {z: 2}"], ["        - 7"]),
        (["cases", 2, "input"], "a\nb", ["  - {id: z, input: hi}"],
         ['  - {id: z, input: "a\\nb"}']),
        (["cases", 2, "tags"], ["q"], ["  - {id: z, input: hi}"],
         ["  - {id: z, input: hi, tags: [q]}"]),
        (["profile"], "flexible", [], ["profile: flexible"]),
    ],
)  # fmt: skip
def test_setting_a_field_of_yaml_changes_its_lines_only(
    where: list[str | int], value: object, old: list[str], new: list[str]
) -> None:
    after = edit_value(SUITE, YAML, "set", tuple(where), value)  # type: ignore[arg-type]  # JSON

    assert lines_of(SUITE, after) == (old, new)


@pytest.mark.parametrize(
    ("where", "old", "new"),
    [
        (["cases", 0, "tags"], ["    tags: [a, b]  # two"], []),
        (["cases", 0, "id"], ['  - id: "a"      # never rename', "    input: |"], ["  - input: |"]),
        (["cases", 2, "id"], ["  - {id: z, input: hi}"], ["  - {input: hi}"]),
        (["cases", 2, "input"], ["  - {id: z, input: hi}"], ["  - {id: z}"]),
        (["cases", 2], ["  - {id: z, input: hi}"], []),
        (["status"], ["status: active"], []),
    ],
)
def test_removing_takes_the_lines_of_the_value_only(
    where: list[str | int], old: list[str], new: list[str]
) -> None:
    assert lines_of(SUITE, edit_value(SUITE, YAML, "remove", tuple(where))) == (old, new)


def test_a_new_item_stands_below_the_one_before_in_the_indent_of_the_list() -> None:
    after = edit_value(SUITE, YAML, "insert", ("cases", 2), {"id": "n", "input": ""})

    assert lines_of(SUITE, after) == ([], ["  - id: n", "    input: ''"])


def test_a_copy_is_written_as_its_original() -> None:
    after = edit_value(SUITE, YAML, "copy", ("cases", 1))

    own = SUITE[SUITE.index("  -   id: y") : SUITE.index("  - {id: z")]
    assert after == SUITE.replace(own, own + own)


def test_a_moved_case_takes_its_own_lines_along_and_leaves_the_comments_between() -> None:
    after = edit_value(SUITE, YAML, "move", ("cases", 1), 1)

    document = cast("dict[str, list[dict[str, str]]]", parse_document(after, YAML).value)
    assert [case["id"] for case in document["cases"]] == ["a", "z", "y"]
    assert after.index("# Written later.") < after.index("{id: z")
    assert sorted(after.split("\n")) == sorted(SUITE.split("\n"))


@pytest.mark.parametrize(
    ("text", "where", "value", "wanted"),
    [
        ("a:  # note\n  b: 1\nc: 2\n", ["a"], "x", "a: x  # note\nc: 2\n"),
        ("'a':\n- 1\nc: 2\n", ["a"], [], "'a': []\nc: 2\n"),
        ("a: {}\n", ["a", "b"], 1, "a: {b: 1}\n"),
        ("a:\nb: 2\n", ["a"], "x", "a: x\nb: 2\n"),
        ("a: |+\n  x\n\nb: 2\n", ["a"], "y", "a: y\n\nb: 2\n"),
        ("a: x", ["b"], "z", "a: x\nb: z"),
        ("a: x\n", ["a"], "one\n", 'a: "one\\n"\n'),
        ("a: x\n", ["a"], "one\ntwo\n", "a: |\n  one\n  two\n"),
        ("a: x\n", ["a"], " one\ntwo", 'a: " one\\ntwo"\n'),
    ],
)
def test_a_value_takes_the_place_of_one_of_another_kind(
    text: str, where: list[str | int], value: object, wanted: str
) -> None:
    assert edit_value(text, YAML, "set", tuple(where), value) == wanted  # type: ignore[arg-type]  # JSON


def test_a_comment_between_a_dash_and_its_value_stays_with_the_item() -> None:
    text = "- # first\n  id: a\n- id: b\n"

    assert edit_value(text, YAML, "remove", (0,)) == "- id: b\n"
    assert edit_value(text, YAML, "copy", (0,)) == "- # first\n  id: a\n- id: a\n- id: b\n"


def test_items_of_a_list_are_changed_in_their_places() -> None:
    assert edit_value("a: [1, 2]\n", YAML, "set", ("a", 1), 3) == "a: [1, 3]\n"
    assert edit_value("a: [1, 2]\n", YAML, "remove", ("a", 1)) == "a: [1]\n"


def test_a_text_in_place_is_read_instead_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: 1\n")

    with text_in_place(path, "a: 2\n"):
        assert read_document(tmp_path / ".." / tmp_path.name / "x.yaml").value == {"a": 2}
        assert read_document(_other(tmp_path)).value == {"a": 3}
    assert read_document(path).value == {"a": 1}
    with pytest.raises(DatasetError, match="half of a character"), text_in_place(path, "a\n\ud800"):
        pass


def _other(folder: Path) -> Path:
    path = folder / "other.yaml"
    path.write_text("a: 3\n")
    return path


def test_a_value_that_others_repeat_is_not_changed_with_them() -> None:
    with pytest.raises(SettingsError, match="without changing more"):
        edit_value("a: &v {x: 1}\nb: *v\n", YAML, "set", ("a", "x"), 2)


@pytest.mark.parametrize(
    ("kind", "where", "value", "wanted"),
    [
        ("set", ["cases", 0, "id"], "q", '{"cases": [{"id": "q"}, {"id": "b"}]} // c\n'),
        ("set", ["cases", 1, "x"], 1, '{"cases": [{"id": "a"}, {"id": "b", "x": 1}]} // c\n'),
        ("remove", ["cases", 0], None, '{"cases": [{"id": "b"}]} // c\n'),
        ("remove", ["cases", 1], None, '{"cases": [{"id": "a"}]} // c\n'),
        ("move", ["cases", 0], 1, '{"cases": [{"id": "b"}, {"id": "a"}]} // c\n'),
        ("copy", ["cases", 1], None, '{"cases": [{"id": "a"}, {"id": "b"}, {"id": "b"}]} // c\n'),
        ("insert", ["cases", 1], {}, '{"cases": [{"id": "a"}, {"id": "b"}, {}]} // c\n'),
    ],
)  # fmt: skip
def test_json_keeps_its_comments(
    kind: str, where: list[str | int], value: object, wanted: str
) -> None:
    text = '{"cases": [{"id": "a"}, {"id": "b"}]} // c\n'

    assert edit_value(text, JSON, kind, tuple(where), value) == wanted  # type: ignore[arg-type]  # JSON


def test_a_new_item_of_json_on_several_lines_is_indented_as_the_others() -> None:
    text = '[\n  {"id": "a"}\n]\n'

    after = edit_value(text, JSON, "insert", (0,), {"id": "b"})

    assert after == '[\n  {"id": "a"},\n  {\n    "id": "b"\n  }\n]\n'


def test_the_first_item_goes_into_an_empty_list() -> None:
    assert edit_value("cases: []\n", YAML, "insert", ("cases", -1), {"id": "a"}) == (
        "cases: [{id: a}]\n"
    )
    assert edit_value("", JSONL, "insert", (-1,), {"id": "a"}) == '{"id": "a"}\n'


def test_rows_change_their_line_and_blank_lines_stay() -> None:
    text = '{"id":"a", "input": "x"}\n\n{"id": "b"}\n'

    assert row_lines(text) == [0, 2]
    assert edit_value(text, JSONL, "set", (1, "id"), "c") == text.replace('"b"', '"c"')
    assert edit_value(text, JSONL, "move", (0,), 1) == ('{"id": "b"}\n\n{"id":"a", "input": "x"}\n')
    assert edit_value(text, JSONL, "remove", (0,)) == '\n{"id": "b"}\n'
    assert edit_value(text, JSONL, "copy", (1,)) == text + '{"id": "b"}\n'


@pytest.mark.parametrize(
    ("text", "kind", "where"),
    [
        (SUITE, "move", ("cases", 2)),
        (SUITE, "set", ("cases", 7, "id")),
        ("a: 1\n", "set", ("a", "b")),
        ("a: &x {b: 1}\nc: *x\n", "remove", ("c", "b")),
        ("- id: a\n", "remove", (0, "id")),
        ("a: 1\n", "insert", ("a",)),
        ("a: 1\n", "copy", ("b",)),
        ("a: 1\n", "move", ("a", 0, "b")),
    ],
)
def test_what_cannot_be_changed_is_refused(
    text: str, kind: str, where: tuple[str | int, ...]
) -> None:
    with pytest.raises(SettingsError, match=r"no further place|no such value|only|alias|without"):
        edit_value(text, YAML, kind, where, 1)  # type: ignore[arg-type]  # checked by the editor


@pytest.mark.parametrize("step", [1, -1])
def test_a_row_is_not_moved_out_of_the_file(step: int) -> None:
    with pytest.raises(SettingsError, match="no further place"):
        edit_value('{"id": "a"}\n', JSONL, "move", (0,), step)
    with pytest.raises(SettingsError, match="no such value"):
        edit_value('{"id": "a"}\n', JSONL, "remove", (2,))


def test_a_text_that_cannot_be_read_is_not_changed() -> None:
    with pytest.raises(DatasetError, match="not YAML"):
        edit_value("a: [", YAML, "set", ("a",), 1)


texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]) | st.just("\n"))
values = texts | st.integers(-9, 9) | st.booleans() | st.none() | st.lists(texts, max_size=3)
cases = st.lists(
    st.dictionaries(st.sampled_from(["id", "input", "tags", "x y"]), values, min_size=1),
    min_size=1,
    max_size=4,
)  # fmt: skip


def _in_yaml(items: list[dict[str, object]], *, is_flow: bool) -> str:
    """Cases with a comment above each and behind its first line."""
    text = "# head\ncases:\n"
    for item in items:
        body = dump_yaml(item, is_flow=is_flow, width=2**30).rstrip("\n")
        first, *others = body.split("\n")
        text += f"  # above\n  - {first}\n" + "".join(
            f"    {line}\n" if line else "\n" for line in others
        )
    return f"{text}# foot\n"


@given(items=cases, data=st.data(), value=values, is_flow=st.booleans())
def test_one_field_is_changed_and_nothing_else(
    items: list[dict[str, object]], data: st.DataObject, value: object, *, is_flow: bool
) -> None:
    """The parsed data differ in the one field, and the text in the lines of its case."""
    place = data.draw(st.integers(0, len(items) - 1))
    name = data.draw(st.sampled_from([*items[place], "new"]))
    wanted = json.loads(json.dumps(items))
    wanted[place][name] = value
    for path, text, at in (
        (YAML, _in_yaml(items, is_flow=is_flow), ("cases",)),
        (JSON, json.dumps(items, indent=None if is_flow else 2), ()),
        (JSONL, "".join(f"{json.dumps(item)}\n" for item in items), ()),
    ):
        after = edit_value(text, path, "set", (*at, place, name), value)  # type: ignore[arg-type]  # JSON

        found: Any = (
            [json.loads(line) for line in after.splitlines()]
            if path == JSONL
            else parse_document(after, path).value
        )
        assert (found["cases"] if at else found) == wanted
        if path == YAML:
            lines = parse_document(text, path).lines
            end = lines.get(("cases", place + 1), len(text.split("\n"))) - 2
            old, new = text.split("\n"), after.split("\n")
            start = lines["cases", place] - 1
            assert new[:start] == old[:start]
            assert new[len(new) - (len(old) - end) :] == old[end:]


def test_blank_lines_inside_a_text_take_linear_time() -> None:
    text = "a: |\n  x\n" + "\n" * 100_000 + "  y\n\n\nb: 1\n"
    started = process_time()
    edited = edit_value(text, YAML, "set", ("a",), "z")
    assert edited == "a: z\n\n\nb: 1\n"
    assert process_time() - started < 5
