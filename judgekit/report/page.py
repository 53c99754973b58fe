"""The frame of a page, light and dark, without a script; foreign text in Markdown; their files."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING

from judgekit.report.replacing import check_place, replace_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

SUFFIXES = (".json", ".md", ".html")
"""The file types of what has a page."""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What a browser may do: apply the style in the page. Foreign text that got out of its place would
run nothing and reach nobody."""

_STYLE = """
:root{color-scheme:light dark;--ink:#1d232b;--dim:#69727d;--line:#d9dee4;--page:#fff;--a:#2463b4;--b:#c2571a}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ed;--dim:#98a2ad;--line:#3a424c;--page:#15191e;--a:#74a9ef;--b:#ee9b62}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem;margin-bottom:.2rem}h2{font-size:1.05rem;margin:2rem 0 .4rem}
.conclusion{font-weight:600;border-left:4px solid var(--a);padding:.4rem .8rem;margin:1rem 0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{text-align:right;padding:.2rem .9rem .2rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--dim);font-weight:500}td:first-child,th:first-child,.lines td{text-align:left}
.lines td{border:0}.lines td:first-child{color:var(--dim);white-space:nowrap}
.note{color:var(--dim);margin:.3rem 0}.plots{display:flex;flex-wrap:wrap;gap:1rem}
figure{margin:0}figcaption{font-size:.85rem;color:var(--dim);max-width:360px}
svg{max-width:100%;height:auto}svg text{fill:var(--dim);font-size:11px;text-anchor:middle}
svg .y{text-anchor:end}svg .key{text-anchor:start}svg .frame{fill:none;stroke:var(--line)}
svg .c0{fill:var(--a);stroke:var(--a)}svg .c1{fill:var(--b);stroke:var(--b)}svg .c2{fill:var(--dim);stroke:var(--dim)}
svg circle{fill-opacity:.55}svg polyline{fill:none!important;stroke-width:1.6}svg .rule{stroke-dasharray:4 3;stroke-width:1}
"""  # noqa: E501 - a style sheet


def check_page_place(path: Path, *, what: str) -> None:
    """Refuse a place that a page cannot be written to, before anything is asked."""
    check_place(path, SUFFIXES, what=what, may_be_folder=False)


def write_page(
    path: Path,
    *,
    figures: Callable[[], object],
    markdown: Callable[[], str],
    html: Callable[[], str],
) -> None:
    """Write one of three forms to a file, chosen by its suffix; whole or not at all."""
    suffix = path.suffix.lower()
    if suffix == ".json":
        text = json.dumps(figures(), ensure_ascii=False, indent=2) + "\n"
    else:
        text = html() if suffix == ".html" else markdown()
    replace_text(path, text)


def html_page(title: str, body: Sequence[str], *, style: str = "") -> str:
    """A page of its own."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{_STYLE}{style}</style></head>\n<body>\n"
        + "\n".join(part for part in body if part)
        + "\n</body></html>\n"
    )


def markdown_text(text: str) -> str:
    """Foreign text as it stands: nothing in it is taken for Markdown or HTML."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|!" else c for c in text)
