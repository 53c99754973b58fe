from __future__ import annotations

from judgekit.report.page import html_page, markdown_text


def test_a_page_says_that_it_loads_and_runs_nothing() -> None:
    page = html_page("<b>", ["<p>one</p>", "", "<p>two</p>"], style="p{color:red}")
    assert "<title>&lt;b&gt;</title>" in page
    assert "content=\"default-src 'none'; style-src 'unsafe-inline'\"" in page
    assert "<body>\n<p>one</p>\n<p>two</p>\n</body>" in page
    assert "p{color:red}</style>" in page


def test_what_markdown_acts_on_stands_behind_a_backslash() -> None:
    assert markdown_text("a | *b* <c> [d](e)") == "a \\| \\*b\\* \\<c\\> \\[d\\](e)"
