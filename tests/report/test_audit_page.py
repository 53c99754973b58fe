"""An audit as people read it in a file: a page with every interval drawn, or Markdown."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from math import nan
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from judgekit.errors import SettingsError
from judgekit.report import write_audit
from judgekit.report.audit import audit_html, audit_markdown
from judgekit.stats.estimate import undefined_estimate
from tests.report.test_audit_terminal import audit, effect, probe

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.bias_audit import Audit

HOSTILE = "\"><script>alert('x')</script><img src=x onerror=alert(1)>\u202e\x00</style>|`*_"
TAGS = frozenset(
    {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "table", "tr", "td"}
    | {"details", "summary", "svg", "rect", "path", "circle"}
)


class Seen(HTMLParser):
    """The tags and attributes of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def whole() -> Audit:
    parts = (
        effect(0.5, name="polite"),
        effect(0.1, 0.4, name="rude", verdict="cannot_say"),
        effect(0.3, name="odd, answer lost", scale="rate", verdict="none_seen"),
    )
    return audit(
        probe("verbosity", effect(0.3), effect(0.12, scale="lean", name="preference")),
        probe("position", status="skipped", reason="no case has two outputs"),
        probe("stability", effect(0.1, 0.2, verdict="cannot_say", n_to_tell=90)),
        probe("scale", status="incomplete", reason="it was interrupted", n_failed=3),
        probe("injection", effect(0.2, verdict=None), parts=parts, counts={"raised": 1200}),
        failures={"timeout": 2},
        failure_messages={"timeout": "no reply within 60 s"},
    )


def hostile() -> Audit:
    bad = effect(0.5, name=HOSTILE, note=HOSTILE)
    return audit(
        probe("injection", bad, parts=(bad,), counts={HOSTILE: HOSTILE}),
        probe("scale", status="incomplete", reason=HOSTILE),
        probe("position", status="skipped", reason=HOSTILE),
        rubric=HOSTILE,
        judge=HOSTILE,
        pair_judge=HOSTILE,
        failures={"timeout": 2},
        failure_messages={"timeout": HOSTILE},
    )


@pytest.mark.parametrize("write", [audit_html, audit_markdown])
def test_a_file_tells_all_that_the_terminal_does(write: object) -> None:
    said = re.sub(r"<[^>]*>|\\", " ", write(whole()))  # type: ignore[operator]
    text = " ".join(said.replace("&#x27;", "'").split())
    for words in (
        "Audit: support", "20 cases, 40 outputs", "Does it reward length?",
        "Material: verbosity, injection; cannot be said: stability", "no case has two outputs",
        "about 90 cases would tell", "Incomplete: it was interrupted.",
        "3 questions without a whole answer", "polite", "rude", "odd, answer lost",
        "3 kinds, with intervals that hold for all at once: 1 none seen, 1 MATERIAL",
        "raised 1,200", "2 answers: no answer in time", "no reply within 60 s",
        "openai/m pairwise/criterion@1",
    ):  # fmt: skip
        assert words in text


def test_a_page_is_built_of_known_parts_whatever_foreign_texts_say() -> None:
    for found in (whole(), hostile()):
        seen = Seen(audit_html(found))
        assert seen.tags <= TAGS
        assert not {name for name in seen.attributes if name.startswith("on")}
        assert not seen.attributes & {"src", "href", "style"}
    assert "<script>alert('x')</script>" in seen.text
    assert "\u202e" not in seen.text
    assert "default-src 'none'" in audit_html(hostile())


def test_foreign_texts_are_only_text_in_markdown() -> None:
    said = audit_markdown(hostile())
    assert "<script" not in said.replace("\\<", "")
    rows = [line for line in said.splitlines() if line.startswith('| "')]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4}
    assert {"\u202e", "\x00"}.isdisjoint(said)


def test_an_interval_is_drawn_from_end_to_end_with_its_margin_behind_it() -> None:
    """240 wide with 6 at the edges: 0 of a shift is at 120, and a tenth of it 11.4 on."""
    page = audit_html(audit(probe("a", effect(0.1, 0.2, margin=0.05))))
    (bar,) = re.findall(r"<svg.*?</svg>", page)
    drawn = {part.get("class") or part.tag: part for part in ET.fromstring(bar)}  # noqa: S314 - our own
    assert drawn["circle"].get("cx") == "131.4"
    assert drawn["span"].get("d") == "M108.6 11.0H154.2"
    assert drawn["zero"].get("d") == "M120.0 0V22"
    assert (drawn["band"].get("x"), drawn["band"].get("width")) == ("114.3", "11.4")


def test_what_is_undefined_is_not_drawn() -> None:
    nothing = effect(
        0.0, estimate=undefined_estimate("none", n=0, method="t"), verdict="cannot_say"
    )
    page = audit_html(audit(probe("a", nothing)))
    assert "<svg" not in page
    alone = audit_html(audit(probe("a", effect(0.3, nan))))
    assert "<circle" in alone
    assert 'class="span"' not in alone


def test_kinds_that_do_nothing_are_folded_and_those_that_do_are_not() -> None:
    page = audit_html(whole())
    folded = page[page.index("<details>") : page.index("</details>")]
    assert "the other kinds" in folded
    assert "polite" not in folded
    assert "rude" in folded
    quiet = effect(0.0, name="odd", verdict="none_seen")
    assert "<summary>every kind<" in audit_html(audit(probe("a", parts=(quiet,))))


def test_an_audit_without_a_probe_says_so() -> None:
    page = audit_html(audit(probe("a", status="skipped", reason="no")))
    assert "No probe was made" in page
    assert "Each bar" not in page


@pytest.mark.parametrize(
    ("name", "begins"), [("a.json", "{"), ("a.md", "# Audit: support"), ("a.HTML", "<!doctype")]
)
def test_the_ending_says_in_which_form_it_is_written(
    tmp_path: Path, name: str, begins: str
) -> None:
    write_audit(tmp_path / name, whole())
    text = (tmp_path / name).read_text(encoding="utf-8")
    assert text.startswith(begins)
    if name == "a.json":
        assert json.loads(text)["material"] == ["verbosity", "injection"]


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"suffix is \.txt"):
        write_audit(tmp_path / "a.txt", whole())
