from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from judgekit.assertions import check_specs, evaluate_assertions
from judgekit.assertions.parsers import (
    contained_html_fault,
    contained_json_faults,
    contained_sql_fault,
    contained_xml_fault,
    html_fault,
    invalid_schema,
    read_json,
    schema_faults,
    sql_fault,
    xml_fault,
)
from judgekit.errors import InputError
from judgekit.records import Output

if TYPE_CHECKING:
    from judgekit.records import AssertionResult

PERSON = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
}
BOMB = (
    '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + "]><r>&j;</r>"
)


def one(spec_type: str, text: str, **fields: Any) -> AssertionResult:
    """The result of one assertion."""
    return evaluate_assertions(Output(text=text), [{"type": spec_type, **fields}])[0]


@pytest.mark.parametrize(
    ("spec_type", "good", "bad"),
    [
        ("is-json", '{"a": [1]}', "{a: 1}"),
        ("is-json", " null ", "NaN"),
        ("contains-json", 'Here: ```json\n{"a": 1}\n```', "no {json} here"),
        ("is-xml", "<a><b/></a>", "<a><b></a>"),
        ("contains-xml", "Answer: <a>1</a> as asked", "1 < 2 and <b>"),
        ("is-html", "<p>one<p>two<br>", "<div><p>x</div"),
        ("contains-html", "It is <b>bold</b>.", "1 < 2"),
        ("is-sql", "SELECT a FROM t; DELETE FROM t WHERE a = 1", "say hello"),
        ("contains-sql", "Use:\n```sql\nSELECT 1\n```", "select nothing in particular, please"),
    ],
)
def test_each_form_is_told_from_what_it_is_not(spec_type: str, good: str, bad: str) -> None:
    assert one(spec_type, good).passed is True
    assert one(spec_type, bad).passed is False
    assert one(f"not-{spec_type}", bad).passed is True


def test_a_schema_says_what_is_wrong_and_where() -> None:
    assert one("is-json", '{"name": "a"}', value=PERSON).passed is True
    result = one("json_schema", '{"name": 3, "tags": [1]}', schema=PERSON)
    assert result.passed is False
    assert "name: 3 is not of type 'string'; tags[0]: 1 is not" in result.message
    assert one("is-json", "no", value=PERSON).message.startswith("the text is no JSON: Expecting")


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date-time", ["2026-02-28T23:59:60Z", "2026-02-28t01:02:03.5+05:30"],
         ["2026-02-30T01:02:03Z", "2026-02-28", "2026-02-28T25:00:00Z", "2026-02-28T01:02:03"]),
        ("time", ["01:02:03Z", "01:02:03-08:00"], ["01:02", "01:02:03", "1:2:3Z"]),
        ("hostname", ["example.com", "a-b.c1"], ["a_b.c", "-a.b", "a..b", "", "a" * 64]),
        ("uri", ["https://example.com/a?b=%20#c", "urn:isbn:1", "mailto:a@b.c"],
         ["example.com/a", "/a", "https://a b", "https://a/%zz", "https://a/<b>",
          "https://a/#b#c", "https://a/é"]),
        ("uri-reference", ["", "/a", "a/b:c", "//[::1]:80/?a#b"], ["a b", "1:a", ":a", "#a#", "é"]),
        ("iri", ["https://é.fr/à?ü#€"], ["/à", "https://é b"]),
        ("iri-reference", ["à", "//é/#ü"], ["é:a", "\\\\é"]),
        ("uri-template", ["", "a/{b:3}{?c,d*}", "{+a.b}"], ["{a", "}", "{}", "{a b}", "%zz"]),
        ("json-pointer", ["", "/", "/a~0b/~1/0"], ["a", "#/a", "/~2", "/a~"]),
        ("relative-json-pointer", ["0", "1/a", "2#", "0-1/b"], ["", "/a", "01", "-1/a", "0##"]),
        ("duration", ["P1Y2M3DT4H5M6S", "P2W", "PT0S", "P1Y2D"],
         ["P", "PT", "P1DT", "P1D2H", "P1Y2W", "1D", "P2D1Y", "PT0.5S"]),
        ("email", ["a@b.c"], ["a"]),
        ("date", ["2026-02-28"], ["2026-02-30"]),
    ],
)  # fmt: skip
def test_formats_are_checked_where_that_is_wanted(
    name: str, good: list[str], bad: list[str]
) -> None:
    schema = {"items": {"format": name}}
    assert schema_faults(schema, json.dumps([*good, 5]), True) == []
    for text in bad:
        assert schema_faults(schema, json.dumps([text]), True), text
        assert schema_faults(schema, json.dumps([text])) == []


def test_a_format_of_a_name_of_ones_own_is_a_note() -> None:
    assert one("is-json", '"x"', schema={"format": "acme"}, formats=True).passed is True


def test_json_within_a_text_may_satisfy_a_schema() -> None:
    text = 'First [1], then {"name": "a"}.'
    assert one("contains-json", text, value=PERSON).passed is True
    assert "not of type 'object'" in one("contains-json", "only [1]", value=PERSON).message


def test_data_is_checked_as_json() -> None:
    spec = {"type": "is-json", "value": PERSON}
    assert evaluate_assertions(Output(data={"name": "a"}), [spec])[0].passed is True


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "objct"},
        "object",
        {"$ref": "http://x.test/y"},
        {"pattern": 3},
        {"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"b": {}}},
        {"$id": "https://x.test/a", "$ref": "#here"},
        {"$id": "urn:x", "$ref": "urn:x#/$defs/a"},
    ],
)
def test_an_unsound_schema_is_found_before_a_run(schema: object) -> None:
    with pytest.raises(InputError, match="no usable JSON Schema"):
        check_specs([{"type": "is-json", "value": schema}])


@pytest.mark.parametrize("kind", ["$ref", "$dynamicRef"])
def test_a_reference_to_another_document_is_never_fetched(kind: str) -> None:
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        schema = {"properties": {"a": {kind: f"http://127.0.0.1:{server.server_port}/x.json"}}}
        assert invalid_schema(schema) is not None
        with pytest.raises(LookupError, match="which it does not contain"):
            schema_faults(schema, '{"a": 1}')
    finally:
        server.shutdown()
        server.server_close()
    assert not asked


def test_a_schema_that_the_parser_chokes_on_is_found_before_a_run() -> None:
    schema: dict[str, Any] = {}
    for _ in range(150):
        schema = {"items": schema}
    with pytest.raises(InputError, match=r"`value` .*(nested too deeply|recursion|depth)"):
        check_specs([{"type": "is-json", "value": schema}])


def test_what_a_schema_says_is_the_same_here_and_in_the_worker() -> None:
    assert invalid_schema(PERSON) is None
    assert invalid_schema(3) == "a schema is a mapping or a truth value"
    assert invalid_schema({"properties": {"a": {"type": 3}}}) is not None
    assert contained_json_faults("[1]", PERSON) == ["[1] is not of type 'object'"]
    assert contained_json_faults('{"name": "a"}', PERSON) == []
    assert contained_json_faults("nothing", PERSON) == ["there is no object and no list"]
    with pytest.raises(LookupError, match="refers to /no"):
        schema_faults({"$ref": "#/no"}, "1")


def test_a_schema_may_refer_to_itself_and_to_what_it_holds() -> None:
    schema = {
        "$id": "https://x.test/root",
        "$defs": {"n": {"$id": "https://x.test/number.json", "type": "number"}},
        "items": {"anyOf": [{"$ref": "#"}, {"$ref": "number.json"}]},
    }
    assert invalid_schema(schema) is None
    assert schema_faults(schema, "[[1, 2]]") == []
    assert invalid_schema({"$ref": "#/$defs/a", "$defs": {"a": True}}) is None
    assert invalid_schema({"$anchor": "here", "items": {"$ref": "#here"}}) is None
    assert invalid_schema(True) is None


def test_what_looks_like_a_reference_in_a_value_is_none() -> None:
    assert invalid_schema({"enum": [{"$ref": "https://x.test/y"}]}) is None


def test_a_hostile_schema_costs_its_timeout() -> None:
    schema = {"type": "string", "pattern": "^(a+)+$"}
    result = one("is-json", f'"{"a" * 60}!"', value=schema, timeout_s=0.5)
    assert result.error == "it took longer than 0.5 s and was stopped"


def test_a_schema_that_never_ends_is_an_error() -> None:
    schema = {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}
    assert one("is-json", "1", value=schema).passed is None


def test_json_that_is_nested_too_deeply_is_an_error() -> None:
    assert one("is-json", "[" * 200_000).passed is None


def test_only_the_first_faults_of_many_are_listed() -> None:
    schema = {"items": {"type": "string"}}
    assert len(schema_faults(schema, "[1,2,3,4,5,6,7,8]")) == 5


def test_nan_is_no_json() -> None:
    with pytest.raises(ValueError, match="NaN is no JSON"):
        read_json("[NaN]")


def test_a_text_full_of_brackets_is_given_up() -> None:
    with pytest.raises(OverflowError, match="more than 2000 places"):
        contained_json_faults("{" * 3000, None)
    assert contained_json_faults("[1] {x", None) == []


@pytest.mark.parametrize("fault", [xml_fault, contained_xml_fault])
def test_an_entity_bomb_costs_nothing(fault: Any) -> None:
    assert fault(BOMB, []) is None or "entity" in fault(BOMB, [])
    assert one("is-xml", BOMB, timeout_s=60).error is None


def test_an_external_entity_is_not_read(tmp_path: Any) -> None:
    secret = tmp_path / "secret"
    secret.write_text("<b/>")
    text = f'<!DOCTYPE r [<!ENTITY x SYSTEM "file://{secret}">]><r>&x;</r>'
    assert xml_fault(text, []) is None
    assert xml_fault(text, ["r.b"]) == "it lacks the element r.b"


def test_elements_may_be_required() -> None:
    text = "so: <a><b><c/></b></a>"
    assert one("contains-xml", text, value=["a.b.c"]).passed is True
    assert one("contains-xml", text, required_elements=["a.c"]).passed is False
    assert one("is-xml", "<a/>", value=["a"]).passed is True


def test_an_element_may_be_named_in_any_script() -> None:
    assert one("contains-xml", "see <übung>3</übung>").passed is True


def test_xml_faults_have_a_place() -> None:
    assert xml_fault("<a>\n<b></a>", []) == "mismatched tag: line 2, column 5"
    assert contained_xml_fault("a < b", []) == "there is no element"
    assert contained_xml_fault("<a> <b", []) is not None
    assert contained_xml_fault("<a/>", ["a", "a.b"]) == "it lacks the element a.b"
    assert contained_xml_fault("so <a><b/></a>!", ["a.b"]) is None
    with pytest.raises(OverflowError, match="more than 1000"):
        contained_xml_fault("<a " * 1100, [])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("<!DOCTYPE html><html><head><title>t</title><body><p>x", None),
        ("<svg><path d='M0'/><g><circle/></g></svg>", None),
        ("<my-tag>x</my-tag><br/>", None),
        ("<table><tr><td>1<td>2</table>", None),
        ("<blink>x</blink>", "line 1: <blink> is no HTML element"),
        ("<div>\n<b>x</div>", "line 2: <b> is not closed before </div>"),
        ("<p>x</p></div>", "line 1: </div> closes nothing"),
        ("<p>x</blink></p>", "line 1: </blink> closes nothing"),
        ("<div>x", "line 1: <div> is never closed"),
        ("<p>a</p></br>", "line 1: </br> closes an element that has no content"),
        ("<p>a</p> and more", "line 1: text outside of any element: 'and more'"),
        ("<!-- only -->", "there is no element"),
        ("", "there is no element"),
    ],
)
def test_html_is_known_elements_properly_nested(text: str, fault: str | None) -> None:
    assert html_fault(text) == fault


def test_html_is_held_where_an_element_is_whole() -> None:
    assert contained_html_fault("so <br> it is") is None
    assert contained_html_fault("a <b and <c>") == "there is no element"


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("WITH c AS (SELECT a FROM t) SELECT * FROM c", True),
        ("CREATE TABLE t (a INT)", True),
        ("SELECT * FROM", False),
        ("hello", False),
        ("SELECT 1", True),
        ("select all you like", False),
        ("", False),
        ("-- nothing", False),
    ],
)
def test_sql_is_statements_only(text: str, *, passed: bool) -> None:
    assert (sql_fault(text, None, None) is None) is passed


def test_a_dialect_decides() -> None:
    assert sql_fault("SELECT TOP 3 a FROM t", "tsql", None) is None
    assert one("is-sql", "SELECT `a` FROM t", dialect="mysql").passed is True


def test_tables_may_be_limited() -> None:
    text = "WITH c AS (SELECT a FROM shop.t) SELECT * FROM c JOIN u ON 1 = 1"
    assert sql_fault(text, None, ["shop.t", "U"]) is None
    assert sql_fault(text, None, ["t"]) == "it names the table u, which is not among t"
    assert one("is-sql", "SELECT a FROM t", tables=["t"]).passed is True
    # A function that makes rows is no table.
    assert sql_fault("SELECT * FROM t, generate_series(1, 3)", None, ["t"]) is None


def test_an_expression_is_no_statement() -> None:
    assert sql_fault("a + 1", None, None) == "'a + 1' is no statement"
    assert sql_fault(";", None, None) == "there is no statement"


def test_sql_is_found_after_a_line_that_begins_it() -> None:
    text = "You can run\n\nSELECT a\nFROM t;\nand see."
    assert contained_sql_fault(text, None, None) is None
    assert contained_sql_fault("no query", None, None) == "nothing begins like a statement"
    assert contained_sql_fault("select ;\n" * 30, None, None) is not None


@settings(max_examples=60)
@given(st.text(alphabet="<>/ab!-\"'= &;br", max_size=40))
def test_no_text_breaks_the_parsers(text: str) -> None:
    for fault in (html_fault(text), xml_fault(text, []), contained_xml_fault(text, [])):
        assert fault is None or fault
