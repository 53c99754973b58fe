from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given, settings, strategies as st

from judgekit.errors import DatasetError
from judgekit.formats import ParsedDocument, dump_yaml, read_document

if TYPE_CHECKING:
    from pathlib import Path

SCALARS = [
    ("no", "no"), ("yes", "yes"), ("on", "on"), ("12:30:45", "12:30:45"),
    ("2024-01-01", "2024-01-01"), ("1_000", "1_000"), ("010", 10), ("0o10", 8), ("0x1F", 31),
    ("true", True), ("False", False), ("~", None), ("null", None), ("", None), ("-1.5", -1.5),
    ("1e3", 1000.0), (".5", 0.5), ("+7", 7), ("'7'", "7"), ('"null"', "null"), ("=", "="),
    ("!!str 7", "7"), ("!!int 7", 7), ("! 7", "7"), ("|\n  a\n  b\n", "a\nb\n"),
]  # fmt: skip


def read(folder: Path, text: str | bytes, name: str = "a.yaml") -> ParsedDocument:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_document(path)


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_scalars_follow_the_core_rules_of_yaml_1_2(
    tmp_path: Path, text: str, value: object
) -> None:
    found = read(tmp_path, f"x: {text}\n").value
    assert found == {"x": value}
    assert isinstance(found, dict)
    assert type(found["x"]) is type(value)


UNSOUND = [
    ("a: 1\nb: 2\na: 3", "the key 'a' appears twice; first in line 1", 3),
    ("x:\n  - {b: 1,\n     b: 2}", "the key 'b' appears twice; first in line 2", 3),
    ("a: .nan", "cannot|not a number that can be held", 1),
    ("a: -.inf", "not a number that can be held", 1),
    ("a: 1e999", "not a number that can be held", 1),
    ("a: " + "9" * 3001, "too many digits", 1),
    ("a: !!python/object:os.system x", "is not data", 1),
    ("a: !mine {}", "is not data", 1),
    ("a: !!float x", "not what its tag says", 1),
    ("a: !!binary aGk=", "is not data", 1),
    ("a: &x [1]\nc:\n  <<: *x\n", "a merge key .<<. names a mapping", 4),
    ("a: &x [*x]", r"\*x names nothing", 1),
    ("a: *nope", r"\*nope names nothing", 1),
    ("? [a]\n: 1", "a key must be a text", 1),
    ("&x a: 1\n*x : 2", "a key must be written out", 2),
    ("a: 1\n---\nb: 2", "a second document", 2),
    ("a: [1,\nb: }", "not YAML", 2),
    ("a: b: c", "not YAML", 1),
    ("\tx: 1", "not YAML", 1),
    ("a: \x01", "not YAML", None),
    ('a: "\\ud800"', "not YAML", 1),
    ("[" * 101 + "]" * 101, "nested deeper than 100", 1),
    ("[" * 200_000, "nested deeper than 100", 1),
]


@pytest.mark.parametrize(("text", "what", "line"), UNSOUND, ids=range(len(UNSOUND)))
def test_unsound_yaml_is_a_clean_error(
    tmp_path: Path, text: str, what: str, line: int | None
) -> None:
    with pytest.raises(DatasetError, match=what) as caught:
        read(tmp_path, text)
    assert caught.value.line == line


def test_an_alias_bomb_is_refused_at_once(tmp_path: Path) -> None:
    text = "a: &a [x, x, x, x, x, x, x, x, x]\n"
    for here, before in zip("bcdefghi", "abcdefgh", strict=True):
        text += f"{here}: &{here} [{', '.join([f'*{before}'] * 9)}]\n"
    with pytest.raises(DatasetError, match="aliases repeat more than 1000 values"):
        read(tmp_path, text)


def test_an_alias_is_the_value_it_names(tmp_path: Path) -> None:
    found = read(tmp_path, "a: &x [1, 2]\nb: *x\nc: &y z\nd: *y\n&k e: *k")
    assert found.value == {"a": [1, 2], "b": [1, 2], "c": "z", "d": "z", "e": "e"}


def test_an_empty_yaml_file_holds_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, "# nothing\n").value is None
    assert read(tmp_path, "").line_of("a") == 1


def test_keys_are_texts_as_written(tmp_path: Path) -> None:
    assert read(tmp_path, "1: a\nno: b\n~: c").value == {"1": "a", "no": "b", "~": "c"}


@pytest.mark.parametrize(
    ("text", "line", "hint"),
    [
        # The validation report of some published skills: the score has no name.
        (
            'd:\n  facts: 0.90\n    evidence: "x"\n',
            3,
            "line 2 gives `facts` a value, so nothing can be",
        ),
        ("- facts: 0.90\n    evidence: x\n", 2, "move `0.90` to a line of its own with a name"),
        ("facts: 0.90\n\n  evidence: x\n", 3, "or indent line 3 less"),
        ("b: 1\na: note: this\n", 2, "a text that contains `: ` needs quotes"),
        ("a: note: this\n", 1, "a text that contains `: ` needs quotes"),
    ],
)
def test_a_second_value_of_a_name_is_an_error_that_says_how_to_mend_it(
    tmp_path: Path, text: str, line: int, hint: str
) -> None:
    with pytest.raises(DatasetError, match="not YAML: mapping values") as caught:
        read(tmp_path, text)
    assert (caught.value.line, hint in str(caught.value.hint)) == (line, True), caught.value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "name: x\ncases:\n  - id: a\n    input: b\n  -\n    id: c\n"),
        ("a.json", '{"name": "x",\n"cases": [\n  {"id": "a",\n"input": "b"},\n\n{"id": "c"}]}'),
    ],
)
def test_a_value_knows_its_line_in_both_formats(tmp_path: Path, name: str, text: str) -> None:
    document = read(tmp_path, text, name)
    assert document.line_of("name") == 1
    assert document.line_of("cases", 0, "input") == 4
    assert document.line_of("cases", 1, "id") == 6
    assert document.line_of("cases", 0, "input", "no", "such") == 4


def test_an_empty_json_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="the file is empty"):
        read(tmp_path, " \n", "a.json")


def test_a_repaired_text_is_noted(tmp_path: Path) -> None:
    assert read(tmp_path, '["\\ud800"]', "a.json").notes == ("text_repaired",)


TEXTS = st.text() | st.sampled_from(["no", "0o7", "1e5", ".5", "~", "<<", "=", "2024-01-01", "1_0"])
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | TEXTS
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=60)
@given(value=JSON)
def test_dumped_yaml_is_read_back_by_both_generations(
    tmp_path_factory: pytest.TempPathFactory, value: object
) -> None:
    text = dump_yaml(value)
    found = read(tmp_path_factory.getbasetemp(), text, "round.yaml")
    assert found.value == value
    assert yaml.safe_load(text) == value


@settings(max_examples=60)
@given(raw=st.binary(max_size=80) | st.text(alphabet="&*![]{}:,-?|>'\"#% \nab1<", max_size=60))
def test_any_bytes_are_a_document_or_a_clean_error(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes | str
) -> None:
    for name in ("fuzz.yaml", "fuzz.json"):
        try:
            document = read(tmp_path_factory.getbasetemp(), raw, name)
        except DatasetError:
            continue
        assert document.line_of("a", 0) >= 1


def test_comments_in_json_are_passed_over_and_lines_stay(tmp_path: Path) -> None:
    text = '{\n  "a": "http://x", // an "address"\n  /* two\n lines */ "b": 1 // b\n}'
    found = read(tmp_path, text, "a.json")
    assert found.value == {"a": "http://x", "b": 1}
    assert (found.line_of("a"), found.line_of("b")) == (2, 4)
    with pytest.raises(DatasetError, match=r"a\.json:2: not JSON"):
        read(tmp_path, '{"a": 1, // one\n b}', "a.json")
    with pytest.raises(DatasetError, match=r"a\.json:1: not JSON"):
        read(tmp_path, '{"a": //}', "a.json")
