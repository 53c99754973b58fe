"""One document in every form: terminal, Markdown, page and JSON."""

from __future__ import annotations

import gzip
import html
import io
import json
import re
from base64 import b64decode, b64encode
from hashlib import sha256
from html.parser import HTMLParser
from math import nan
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

from judgekit.report import (
    Conclusion,
    Details,
    Document,
    Entries,
    Notes,
    document_data,
    not_empty,
    print_document,
    write_document,
)
from judgekit.report.case_table import CaseTableBuilder, GridCell, text_snippet
from judgekit.report.document import (
    Axis,
    Block,
    Cell,
    Column,
    Entry,
    IntervalBar,
    Lines,
    Plot,
    Section,
    Series,
    Table,
    mean_cell,
    rate_cell,
    text_columns,
)
from judgekit.report.html import asset_text, render_html
from judgekit.report.markdown import markdown_text, render_markdown
from judgekit.report.run_cases import RUN_STATES
from judgekit.stats.estimate import Estimate
from judgekit.stats.intervals import proportion
from tests.report.drawing import drawn, plain_console

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.report.document import PageJson

HOSTILE = "\"><script>alert('x')</script><img src=x onerror=alert(1)>\u202e\x00</style>|`*_[red]"
BAR = IntervalBar(Estimate(value=0.1, low=-0.1, high=0.3, n=9, method="t"), (-1.0, 1.0), 0.05)


def blocks(text: str = "a") -> tuple[Block, ...]:
    """One block of every kind, each with the text in every place that it has."""
    bar = Cell(text, bar=BAR)
    table = Table(
        (Column(text, "text"), Column(text), Column(text, "bar"), Column(text, "ellipsis")),
        ((text, rate_cell(proportion(3, 4)), bar, Cell(text, "fail")),),
        title=text,
        notes=(text,),
        rules_after=frozenset({0}),
    )
    entry = Entry(text, (text,), badge=text, tone="pass")
    series = (Series(((0.1, 0.2), (1.0, nan)), name=text), Series(((0, 0), (1, 1)), "rule", text))
    plot = Plot(text, Axis(text, 0, 1), Axis(text, 0, 1), series)
    return (
        table,
        Lines(((text, text), ("", text)), title=text),
        Notes((text,), title=text),
        Entries((entry,), title=text, note=text),
        plot,
        Section(text, (Notes((text,)),), intro=text, tone="worse"),
        Details(text, (Notes(("hidden",)),)),
    )


def document(text: str = "a", *parts: Block, tone: str = "fail") -> Document:
    """A document of one text."""
    conclusion = Conclusion(text, tone)  # type: ignore[arg-type]  # a literal
    return Document(text, conclusion, parts or blocks(text), lambda: {"rate": nan, "n": (1, 2)})


class Seen(HTMLParser):
    """The tags and attributes of a page, its scripts, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.scripts: list[str] = []
        self.text = ""
        self._in_script = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_script = tag == "script"
        if self._in_script:
            self.scripts.append("")
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - a script holds no elements
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data
        else:
            self.text += data


def shown(made: Document, *, width: int = 80, verbose: bool = False) -> str:
    """What a terminal shows."""
    console = plain_console(width)
    print_document(console, made, verbose=verbose)
    return drawn(console)


def test_the_conclusion_comes_before_everything_else() -> None:
    lines = shown(document("yes", Notes(("a note",)))).splitlines()
    assert lines == ["", "yes", "yes", "a note"]


@pytest.mark.parametrize(
    ("tone", "code"), [("pass", "32"), ("better", "32"), ("worse", "31"), ("inconclusive", "33")]
)
def test_the_conclusion_is_coloured_by_its_tone_unless_no_color_is_set(
    tone: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def printed() -> str:
        stream = io.StringIO()
        console = Console(file=stream, force_terminal=True, color_system="standard")
        print_document(console, document("x", tone=tone))
        return stream.getvalue()

    monkeypatch.delenv("NO_COLOR", raising=False)
    assert f"\x1b[1;{code}mx" in printed()
    monkeypatch.setenv("NO_COLOR", "1")
    assert f"{code}m" not in printed()


def test_details_are_printed_only_where_all_is_wanted() -> None:
    assert "hidden" not in shown(document())
    assert "hidden" in shown(document(), verbose=True)


def test_foreign_text_acts_on_no_terminal() -> None:
    text = shown(document(HOSTILE), width=300)
    assert {"\u202e", "\x00"}.isdisjoint(text)
    assert "[red]" in text


def test_a_table_that_does_not_fit_loses_intervals_then_moves_columns_below() -> None:
    value = Estimate(value=0.5, low=0.2, high=0.8, n=9, method="t")
    columns = (Column("variant", "text"), Column("value"), Column("clarity", may_move=True))
    made = document("x", Table(columns, (("v1", mean_cell(value), mean_cell(value)),)))
    assert "0.50 [0.20, 0.80]" in shown(made, width=80)
    assert "0.50 [" not in shown(made, width=36)
    narrow = shown(made, width=24)
    assert re.search(r"v1 +0\.50\n", narrow)
    assert re.search(r"clarity +v1 +0\.50", narrow)


def test_a_page_holds_foreign_text_as_text_only() -> None:
    seen = Seen(render_html(document(HOSTILE)))
    assert "img" not in seen.tags
    assert seen.scripts == [asset_text("page.js")]
    assert not {name for name in seen.attributes if name.startswith("on")}
    assert not seen.attributes & {"src", "style"}
    assert "<script>alert('x')</script>" in seen.text
    assert {"\u202e", "\x00"}.isdisjoint(seen.text)


def test_a_page_keeps_the_indent_of_a_row() -> None:
    rows = (("judge", "1"), ("  its model", "2"))
    made = Document("plan", Conclusion("one"), (Table(text_columns("", "n"), rows),), dict)
    assert "\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}its model" in render_html(made)


def test_a_page_allows_its_own_script_and_style_and_nothing_else() -> None:
    page = render_html(document())

    def digest(tag: str) -> str:
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

    (policy,) = re.findall(r'Security-Policy" content="(.*?)"', page)
    assert policy.replace("&#39;", "'") == (
        f"default-src 'none'; script-src {digest('script')}; style-src {digest('style')}; "
        "img-src data:; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    assert "prefers-color-scheme:dark" in page


def test_the_data_of_a_page_are_json_that_cannot_end_its_element() -> None:
    builder = CaseTableBuilder("run", ("v1",), RUN_STATES, {"failed": "Failed"})
    full: PageJson = {"answers": [{"output": HOSTILE}]}
    builder.add(None, (GridCell("fail", 0.5),), full, name=HOSTILE, tags=(HOSTILE,))
    seen = Seen(render_html(document("a", builder.table())))
    index, chunk, script = seen.scripts
    assert json.loads(index)["snippets"] == [text_snippet(HOSTILE)]
    assert "<" not in index
    (row,) = json.loads(gzip.decompress(b64decode(chunk)))
    assert row["answers"] == [{"output": HOSTILE}]
    assert script == asset_text("page.js")


def test_a_page_can_be_read_by_everyone() -> None:
    page = render_html(document())
    for part in ('<html lang="en">', 'name="viewport"', 'scope="col"', 'scope="row"', "<main id="):
        assert part in page, part
    assert 'title="95 % interval, n = 4, wilson"' in page
    # The sign repeats what colour and words say, so that it is not read aloud.
    assert re.search(
        r'<p class="conclusion fail"><span[^>]* aria-hidden="true">✗</span> a</p>', page
    )


def test_every_picture_is_well_formed_and_says_what_it_shows() -> None:
    pictures = re.findall(r"<svg.*?</svg>", render_html(document("a < b")), re.DOTALL)
    assert len(pictures) == 2
    for picture in pictures:
        assert ET.fromstring(picture).attrib["aria-label"] == "a < b"  # noqa: S314 - our own


def test_an_interval_is_drawn_from_end_to_end_with_its_margin_behind_it() -> None:
    """240 wide with 6 at the edges: 0 is at 120, and a tenth of the way to 1 is 11.4 on."""
    made = document("x", Table((Column("", "bar"),), ((Cell("x", bar=BAR),),)))
    (bar,) = re.findall(r"<svg.*?</svg>", render_html(made), re.DOTALL)
    parts = {part.get("class"): part for part in ET.fromstring(bar)}  # noqa: S314 - our own
    assert parts["point"].get("d") == "M131.4 7.0V15.0"
    assert parts["span rough"].get("d") == "M108.6 11.0H154.2"
    assert parts["reference"].get("d") == "M120.0 0V22"
    assert (parts["band"].get("x"), parts["band"].get("width")) == ("114.3", "11.4")


def test_what_is_undefined_is_not_drawn() -> None:
    nothing = IntervalBar(Estimate(value=nan, low=nan, high=nan, n=0, method="t"), (-1, 1), 0.1)
    made = document("x", Table((Column("", "bar"),), ((Cell("x", bar=nothing),),)))
    assert "<svg" not in render_html(made)


def test_markdown_folds_details_and_keeps_the_breaks_of_lines() -> None:
    blocks = (Lines((("test", "a"), ("", "b"))), Details("All <b>", (Notes(("text",)),)))
    whole = Document("Title", Conclusion("Done."), blocks, dict)
    ending = "- test: a\\\n  b\n\n<details><summary>All &lt;b&gt;</summary>\n\ntext\n\n</details>\n"
    assert render_markdown(whole).endswith(ending)


def test_markdown_has_every_block_and_escapes_foreign_text() -> None:
    text = render_markdown(document(HOSTILE))
    assert "<script" not in text.replace("\\<", "")
    assert "hidden" in text
    rows = [line for line in text.splitlines() if line.startswith("| ") and "---" not in line]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4}
    assert markdown_text("a | *b* <c> [d](e)") == "a \\| \\*b\\* \\<c\\> \\[d\\](e)"


@pytest.mark.parametrize(
    "text",
    ["&lt;b&gt; &copy;", "~~gone~~", "~~~", "- item", "+ item", "1. item", "2) item", "---", "==="],
)
def test_markdown_shows_foreign_text_as_it_stands(text: str) -> None:
    blocks = (Lines((("label", "a"), ("", text))), Notes((text,)), Entries((Entry(text),)))
    made = render_markdown(Document("Title", Conclusion("Done."), blocks, dict))
    shown = MarkdownIt("gfm-like", {"linkify": False}).render(made)
    plain = html.unescape(re.sub(r"<[^>]*>", "", shown))
    assert plain.count(text) == 3
    assert shown.count("<h") == 1
    assert shown.count("<ul>") == 2
    assert "<ol>" not in shown


def test_json_has_null_for_what_is_undefined() -> None:
    assert document_data(document()) == {"rate": None, "n": [1, 2]}


@pytest.mark.parametrize(
    ("name", "begins"), [("a.json", "{"), ("a.md", "# a"), ("a.HTML", "<!doctype html>")]
)
def test_the_suffix_chooses_the_form(tmp_path: Path, name: str, begins: str) -> None:
    write_document(tmp_path / name, document())
    text = (tmp_path / name).read_text(encoding="utf-8")
    assert text.startswith(begins)
    if name == "a.json":
        assert json.loads(text)["n"] == [1, 2]


def test_blocks_without_content_are_left_out() -> None:
    empty = (
        Table(text_columns("a", "b"), ()), Lines(()), Notes(()), Entries(()), Section("a", ()),
        Details("a", ()), None,
    )  # fmt: skip
    assert not_empty(empty) == ()
    assert not_empty(blocks()) == blocks()
