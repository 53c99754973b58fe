"""Text that would run a script if a page took it for markup, in every field of every page.

`python -m tests.browser.hostile_text` prints how often it ran, by page and field.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright

from judgekit.report.document import CaseTable, Conclusion, Document
from judgekit.report.html import render_html
from tests.browser.conftest import CHROMIUM, SWITCHES, file_url, watch_page
from tests.browser.documents import result_documents

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from playwright.sync_api import Browser, BrowserContext, Page

OWN_PAYLOADS = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<!--<script>alert(1)</script>",
    "]]></script><img src=x onerror=alert(1)>",
    "</style><img src=x onerror=alert(1)>",
    "</title><svg onload=alert(1)>",
    "</textarea><img src=x onerror=alert(1)>",
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus=alert(1) x='",
    '" onmouseover=alert(1) tabindex=0 autofocus onfocus=alert(1) x="',
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<details open ontoggle=alert(1)>x</details>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<math><mtext></p><style><!--</style><img src=x onerror=alert(1)>",
    "{{constructor.constructor('alert(1)')()}}${alert(1)}",
    '{"__proto__":{"__html":"<img src=x onerror=alert(1)>"}}',
    "\u2028alert(1)\u2029</script><img src=x onerror=alert(1)>",
    "<a href=javascript:alert(1)>x</a><form><button formaction=javascript:alert(1)>",
    "\ufeff<img src=x onerror=alert(1)>\ud83d",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    '[x](javascript:alert(1)) ![x](x"onerror=alert(1))',
    "<link rel=stylesheet href=//example.com/x><base href=//example.com/>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
)
"""Vectors for the places that a page has: elements, attributes, scripts, data and templates."""

# Names that the templates and the script compare; no file of the user's reaches them.
_ENUMERATED = {"tone", "sign", "match", "key", "format"}
_FIXED = {("Column", "kind"), ("Column", "term"), ("Series", "kind"), ("Document", "data")}

# The places where a payload says that it ran, in this window or a frame of it.
_COUNT = """
globalThis.ran ??= 0;
for (const name of ["alert", "confirm", "prompt", "print"]) {
  globalThis[name] = () => { (globalThis.top ?? globalThis).ran += 1; };
}
"""

# What a reader does, and what would fire a handler that got onto an element.
USE = """
() => {
  for (const one of document.querySelectorAll("details")) one.open = true;
  for (const one of document.querySelectorAll("*")) {
    for (const { name } of [...one.attributes].filter(({ name }) => name.startsWith("on"))) {
      for (const target of [one, window]) target.dispatchEvent(new Event(name.slice(2)));
    }
    if (/^\\s*javascript:/i.test(one.getAttribute("href") ?? "")) one.click();
    if (one.hasAttribute("formaction")) one.click();
    for (const kind of ["mouseover", "focus"]) one.dispatchEvent(new Event(kind));
  }
}
"""


# What sets two answers beside each other, and shows the words that differ.
_BESIDE = ".drawer .tabs > button, .drawer .pair-tools button[aria-keyshortcuts=d]"

# Polled by the page itself: Playwright's own waiting evaluates text, which a policy refuses.
_WAIT = """
(patience) => new Promise((done) => {
  const start = performance.now();
  const look = () => {
    if (globalThis.ran || performance.now() - start > patience) done(globalThis.ran);
    else setTimeout(look, 10);
  };
  look();
})
"""


def published_payloads() -> list[str]:
    """Those of the shared data, each of which has run in an unescaped page; none without them."""
    data = os.environ.get("JUDGEKIT_DATA")
    path = Path(data or "") / "injection" / "xss_live_dev.jsonl"
    if not data or not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["payload"] for line in lines]


def payloads() -> list[str]:
    return [*OWN_PAYLOADS, *published_payloads()]


@dataclass
class Poison:
    """Puts a payload into each text of a document, and counts them by field."""

    texts: Iterator[str]
    counts: Counter[str] = field(default_factory=Counter)

    def document(self, made: Document) -> Document:
        blocks = tuple(self._value(block, "") for block in made.blocks)
        conclusion = self._value(made.conclusion, "")
        assert isinstance(conclusion, Conclusion)
        title, kind = self._text("Document.title"), self._text("Document.kind")
        return replace(made, title=title, kind=kind, conclusion=conclusion, blocks=blocks)

    def _text(self, place: str) -> str:
        self.counts[place] += 1
        return next(self.texts)

    def _value(self, value: Any, place: str) -> Any:
        if isinstance(value, str):
            # An empty text may choose a form: it stays empty, so that both forms are met.
            return self._text(place) if value else value
        if isinstance(value, tuple):
            return tuple(self._value(item, place) for item in value)
        if isinstance(value, CaseTable):
            return self._cases(value)
        if is_dataclass(value) and not isinstance(value, type):
            return self._record(value)
        return value

    def _record(self, record: Any) -> Any:
        kind = type(record).__name__
        changed = {
            one.name: self._value(getattr(record, one.name), f"{kind}.{one.name}")
            for one in fields(record)
            if one.init and one.name not in _ENUMERATED and (kind, one.name) not in _FIXED
        }
        return replace(record, **changed)

    def _cases(self, table: CaseTable) -> CaseTable:
        chunks = []
        for chunk in table.chunks:
            rows = self._json(json.loads(gzip.decompress(chunk)), "case")
            chunks.append(gzip.compress(json.dumps(rows).encode(), mtime=0))
        index = {
            name: value if name in {"format", "kind"} else self._json(value, f"index.{name}")
            for name, value in table.index.items()
        }
        return replace(table, index=index, chunks=tuple(chunks), title=self._text("cases.title"))

    def _json(self, value: Any, place: str) -> Any:
        if isinstance(value, str):
            return self._text(place) if place.rpartition(".")[2] not in _ENUMERATED else value
        if isinstance(value, list):
            return [self._json(item, place) for item in value]
        if isinstance(value, dict):
            return {name: self._json(item, f"{place}.{name}") for name, item in value.items()}
        return value


def hostile_context(browser: Browser, *, policy: bool) -> BrowserContext:
    """A profile in which payloads count how often they ran; its pages may be without a policy."""
    context = browser.new_context(bypass_csp=not policy)
    context.add_init_script(_COUNT)
    return context


def times_run(page: Page, path: Path) -> int:
    """How often a payload of a page ran after it was opened and used."""
    page.goto(file_url(path))
    page.evaluate(USE)
    # The first cases are opened, also with their answers beside each other and as a word diff, and
    # whatever can be pressed or searched is.
    rows = page.locator("[data-row]")
    for number in range(min(2, rows.count())):
        rows.nth(number).evaluate("(row) => row.click()")
        page.wait_for_selector(".drawer .body[aria-busy=false]")
        page.evaluate(USE)
        for button in page.locator(_BESIDE).all():
            # What was opened for the case before stays open, and another click would close it.
            if button.get_attribute("aria-pressed") != "true":
                button.evaluate("(one) => one.click()")
            page.wait_for_selector(".drawer .beside, .drawer .word-diff")
            page.evaluate(USE)
        page.keyboard.press("Escape")
    for search in page.locator("input[type=search]").all():
        search.fill("<img")
    page.evaluate("document.querySelectorAll('main button').forEach((one) => one.click())")
    page.evaluate(USE)
    return int(page.evaluate("globalThis.ran"))


def unescaped_page(payload: str) -> str:
    """The control: a page with a payload in it as it stands."""
    page = render_html(Document("control", Conclusion("PLACE"), (), dict))
    return page.replace("PLACE", payload)


def times_run_unescaped(page: Page, path: Path, payload: str, *, patience_ms: int = 500) -> int:
    path.write_bytes(unescaped_page(payload).encode("utf-8", "surrogatepass"))
    page.goto(file_url(path))
    page.evaluate(USE)
    # Some start with an animation, or once a picture cannot be loaded.
    return int(page.evaluate(_WAIT, patience_ms))


def hostile_pages(
    documents: Mapping[str, Document], folder: Path, texts: Sequence[str], first: int = 0
) -> dict[str, tuple[Path, Counter[str]]]:
    """Each document with payloads from the `first` on, written as a page, with their counts."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {}
    for name, made in documents.items():
        poison = Poison(islice(cycle(texts), first, None))
        path = folder / f"{name}.html"
        path.write_text(render_html(poison.document(made)), encoding="utf-8", errors="replace")
        pages[name] = (path, poison.counts)
    return pages


def main(rounds: int = 6) -> None:
    """Print the table: every page with the payloads in turn, with and without its policy."""
    texts = payloads()
    placed: dict[str, Counter[str]] = {}
    ran: dict[tuple[str, bool], int] = Counter()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        documents = result_documents(folder / "stores")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*SWITCHES])
        problems: list[str] = []
        for number in range(rounds):
            first = number * len(texts) // rounds
            pages = hostile_pages(documents, folder / str(number), texts, first)
            for policy in (True, False):
                context = hostile_context(browser, policy=policy)
                page = context.new_page()
                watch_page(page, problems)
                for kind, (path, counts) in pages.items():
                    ran[kind, policy] += times_run(page, path)
                    if policy:
                        placed.setdefault(kind, Counter()).update(counts)
                context.close()
        control = {}
        for policy in (True, False):
            context = hostile_context(browser, policy=policy)
            page = context.new_page()
            path = folder / "control.html"
            control[policy] = sum(
                times_run_unescaped(page, path, text, patience_ms=100) > 0 for text in texts
            )
            context.close()
        browser.close()
    lines = [f"{len(texts)} payloads, in turn in every field; ran with / without the policy"]
    for kind, counts in placed.items():
        figures = f"{counts.total():6,} texts, ran {ran[kind, True]} / {ran[kind, False]}"
        lines.append(f"{kind:15} {figures}: {', '.join(f'{k} {n}' for k, n in counts.items())}")
    lines += [
        f"control, unescaped: {control[True]} / {control[False]} of {len(texts)} payloads ran",
        f"console errors and foreign requests of the pages: {len(problems)} {problems[:3]}",
        "",
    ]
    sys.stdout.write("\n".join(lines))


if __name__ == "__main__":
    main()
