"""A page of 10,000 cases and 5 variants in Chromium: first paint, filter, search, opening a case.

python -m benchmarks.pages [--quick]
"""

from __future__ import annotations

import random
import shutil
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.figures import Figure, limited, report
from judgekit.records import Case
from judgekit.report import Conclusion, Document, html_parts, write_document
from judgekit.report.case_table import (
    CaseTableBuilder,
    GridCell,
    opinion,
    opinion_group,
    shown_output,
)
from judgekit.report.run_cases import RUN_FILTERS, RUN_STATES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.sync_api import Page

N_CASES, N_VARIANTS = 10_000, 5
N_CHARACTERS = 1_200
"""Of each output, so that all texts together have about 65 MB."""

PAINT_MS, REACTION_MS = 1_000, 100

_WORDS = (
    "return", "refund", "policy", "shoes", "order", "delivery", "credit", "receipt", "within",
    "customer", "original", "payment", "label", "exchange", "shipping", "parcel", "price", "unworn",
)  # fmt: skip


def write_large_page(path: Path, n_cases: int, n_variants: int, *, n_characters: int) -> None:
    """Write a page with cases of which every fifth fails; each output has a word of its own."""
    variants = [f"v{n}" for n in range(n_variants)]
    builder = CaseTableBuilder("run", variants, RUN_STATES, RUN_FILTERS)
    _add_rows(builder, n_cases, n_variants, n_characters)
    table = builder.table()
    document = Document(f"{n_cases:,} cases", Conclusion("Measured."), (table,), dict)
    write_document(path, document)


def _add_rows(builder: CaseTableBuilder, n_cases: int, n_variants: int, n_characters: int) -> None:
    draw = random.Random(1)
    for n in range(n_cases):
        state = "fail" if n % 5 == 0 else "pass"
        filters = ("failed",) if state == "fail" else ()
        words = (" ".join(draw.choices(_WORDS, k=n_characters // 7 + 1)) for _ in range(n_variants))
        texts = [f"needle-{n} {text}"[:n_characters] for text in words]
        cells = [GridCell(state, round(draw.random(), 2), "", filters) for _ in range(n_variants)]
        case = Case(
            id=f"case-{n}", input=f"Customer {n} asks about an order", tags=(f"tag-{n % 7}",)
        )
        builder.add(case, cells, {"questions": {}, "answers": _answers(state, texts)})


def _answers(state: str, texts: Sequence[str]) -> list[dict[str, object]]:
    said = opinion("m", "4", value="0.75", rationale=texts[0][:200])
    group = opinion_group("correct", [said], "0.75", tone="pass")
    answer = {
        "round": "", "state": [*RUN_STATES].index(state), "value": "0.75", "steps": None,
        "opinions": [group], "exchanges": [], "checks": [], "scores": [], "trace": [],
    }  # fmt: skip
    return [shown_output(column, "v", text) | answer for column, text in enumerate(texts)]


def measure(quick: bool) -> list[Figure]:  # noqa: FBT001 - what the command line hands in
    """First paint, a filter, a search and a case; beside the paint of a page without cases."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if chromium is None:
        return [Figure("pages", "not measured: no Chromium here")]
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only where there is a browser

    rounds = 2 if quick else 5
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        large, empty = Path(folder, "large.html"), Path(folder, "empty.html")
        write_large_page(large, N_CASES, N_VARIANTS, n_characters=N_CHARACTERS)
        nothing = Document("Empty", Conclusion("Nothing."), (), dict)
        empty.write_text("".join(html_parts(nothing)), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        found: dict[str, list[float]] = {}
        for _ in range(rounds):
            page = browser.new_page()
            page.goto(empty.as_uri())
            found.setdefault("empty", []).append(_first_paint(page))
            page.goto(large.as_uri())
            for name, took in _reactions(page).items():
                found.setdefault(name, []).append(took)
            page.close()
        browser.close()
        size = large.stat().st_size / 1_000_000
    return _figures({name: median(times) for name, times in found.items()}, size)


def _figures(took: dict[str, float], size: float) -> list[Figure]:
    name = f"page of {N_CASES:,} x {N_VARIANTS} ({size:.0f} MB)"
    paint, empty = took["paint"], took["empty"]
    times = f"empty page {empty:.0f} ms, {paint / empty:.1f} times"
    return [
        limited(f"{name}: first paint", paint, unit="ms", at_most=PAINT_MS, reference=times),
        limited("  a state filter", took["filter"], unit="ms", at_most=REACTION_MS),
        limited("  search of ids and beginnings", took["search"], unit="ms", at_most=REACTION_MS),
        limited("  opening a case", took["case"], unit="ms"),
        limited("  search of all texts, the first time", took["texts"], unit="ms"),
        limited("  the same again", took["texts again"], unit="ms"),
    ]


def _first_paint(page: Page) -> float:
    entry = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    return _timed(page, "", f"{entry} !== undefined", f"{entry}")


def _timed(
    page: Page, change: str, is_done: str, result: str = "performance.now() - start"
) -> float:
    """Milliseconds until the frame after a change was drawn, measured inside the page."""
    # Written out, since the page's own policy forbids making functions of texts.
    script = """() => new Promise((done, fail) => {
      const start = performance.now();
      %s;
      const look = () => {
        if (%s) requestAnimationFrame(() => done(%s));
        else if (performance.now() - start > 60000) fail(new Error("not done in a minute"));
        else setTimeout(look);
      };
      look();
    })"""
    return float(page.evaluate(script % (change, is_done, result)))


def _reactions(page: Page) -> dict[str, float]:
    took = {"paint": _first_paint(page)}
    page.wait_for_selector("tr[data-row]")

    def timed(change: str, is_done: str) -> float:
        return _timed(page, change, is_done)

    def search(text: str, count: str) -> float:
        change = (
            "const box = document.querySelector('[type=search]');"
            f"box.value = {text!r}; box.dispatchEvent(new Event('input', {{bubbles: true}}))"
        )
        return timed(change, f"document.querySelector('.count').textContent.startsWith({count!r})")

    button = "document.querySelectorAll('.states button')"
    of = f"of {N_CASES:,}"
    shown = "document.querySelector('.count').textContent.startsWith"
    took["filter"] = timed(f"{button}[1].click()", f"{shown}('{N_CASES // 5:,} {of}')")
    timed(f"{button}[0].click()", f"{shown}('{N_CASES:,} {of}')")
    took["search"] = search("case-7777", f"1 {of}")
    search("", f"{N_CASES:,} {of}")
    change = "location.hash = '#case=case-5050'"
    took["case"] = timed(change, "document.querySelector('.drawer .passage') !== null")
    timed("location.hash = ''", "document.querySelector('.drawer') === null")
    took["texts"] = search("needle-8888 ", f"1 {of}")
    search("", f"{N_CASES:,} {of}")
    took["texts again"] = search("needle-9999 ", f"1 {of}")
    return took


if __name__ == "__main__":
    report(measure)
