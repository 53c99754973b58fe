"""Whether a text is, or holds, HTML: known elements, properly nested, and no text around them."""

from __future__ import annotations

from html.parser import HTMLParser

_VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
})  # fmt: skip
_CLOSED_BY_OTHERS = frozenset({
    "html", "head", "body", "li", "dt", "dd", "p", "rt", "rp", "optgroup", "option", "colgroup",
    "thead", "tbody", "tfoot", "tr", "td", "th",
})  # fmt: skip
"""Elements whose end tag HTML lets one leave out."""

_KNOWN = _VOID | _CLOSED_BY_OTHERS | frozenset({
    "a", "abbr", "address", "article", "aside", "audio", "b", "bdi", "bdo", "blockquote", "button",
    "canvas", "caption", "cite", "code", "data", "datalist", "del", "details", "dfn", "dialog",
    "div", "dl", "em", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4",
    "h5", "h6", "header", "hgroup", "i", "iframe", "ins", "kbd", "label", "legend", "main", "map",
    "mark", "math", "menu", "meter", "nav", "noscript", "object", "ol", "output", "picture", "pre",
    "progress", "q", "ruby", "s", "samp", "script", "search", "section", "select", "slot", "small",
    "span", "strong", "style", "sub", "summary", "sup", "svg", "table", "template", "textarea",
    "time", "title", "u", "ul", "var", "video", "font", "center", "big", "strike", "tt",
})  # fmt: skip


def html_fault(text: str) -> str | None:
    """Why a text is no HTML document or fragment."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    for name, line in reversed(reader.open):
        if name not in _CLOSED_BY_OTHERS:
            reader.fault(f"<{name}> is never closed", line)
    if not reader.n_elements and not reader.faults:
        return "there is no element"
    return reader.faults[0] if reader.faults else None


def contains_html(text: str) -> bool:
    """Whether a text holds an HTML element: one that is void, or closed."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return reader.n_elements > 0


class _Reader(HTMLParser):
    """Follows which elements are open, and gathers what is out of place."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []
        self.open: list[tuple[str, int]] = []
        self.n_elements = 0
        self._foreign = 0

    def fault(self, message: str, line: int | None = None) -> None:
        self.faults.append(f"line {self.getpos()[0] if line is None else line}: {message}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if not self._foreign and tag not in _KNOWN and "-" not in tag:
            self.fault(f"<{tag}> is no HTML element")
        elif tag in _VOID:
            self.n_elements += 1
        else:
            self.open.append((tag, self.getpos()[0]))
            self._foreign += tag in {"svg", "math"}

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._foreign:
            return  # in SVG and MathML `<path/>` is a whole element
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        names = [name for name, _ in self.open]
        if tag in _VOID and tag not in names:
            self.fault(f"</{tag}> closes an element that has no content")
            return
        if tag not in names:
            if tag in _KNOWN:
                self.fault(f"</{tag}> closes nothing")
            return
        while self.open:
            name, line = self.open.pop()
            self._foreign -= name in {"svg", "math"}
            if name == tag:
                self.n_elements += 1
                return
            if name not in _CLOSED_BY_OTHERS:
                self.fault(f"<{name}> is not closed before </{tag}>", line)

    def handle_data(self, data: str) -> None:
        if not self.open and data.strip():
            self.fault(f"text outside of any element: {data.strip()[:40]!r}")
