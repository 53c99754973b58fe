"""An audit as people read it in a file: a page with every interval drawn, or Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from judgekit.report import audit_document
from judgekit.report.html import render_html
from judgekit.report.markdown import render_markdown
from tests.report.test_audit_terminal import audit, effect, probe

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgekit.bias_audit import Audit
    from judgekit.report import Document

HOSTILE = "\"><script>alert('x')</script><img src=x onerror=alert(1)>\u202e\x00</style>|`*_"


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


@pytest.mark.parametrize("render", [render_html, render_markdown])
def test_a_file_has_all_that_the_terminal_has(render: Callable[[Document], str]) -> None:
    text = re.sub(r"<[^>]*>|\\", " ", render(audit_document(whole())))
    text = " ".join(text.replace("&#39;", "'").split())
    for words in (
        "Audit of support", "20 cases, 40 outputs", "Does it reward length?",
        "Material: verbosity, injection; inconclusive: stability", "no case has two outputs",
        "about 90 cases needed for a result", "Incomplete: it was interrupted.",
        "3 questions without a complete answer", "polite", "rude", "odd, answer lost",
        "3 kinds, with simultaneous intervals: 1 none seen, 1 MATERIAL",
        "1,200 raised", "2 answers: no answer in time", "no reply within 60 s",
        "openai/m pairwise/criterion@1",
    ):  # fmt: skip
        assert words in text, words


def test_foreign_texts_are_only_text() -> None:
    made = audit_document(hostile())
    assert render_html(made).count("<script") == 1  # the page's own
    assert "<script" not in render_markdown(made).replace("\\<", "")


def test_kinds_without_an_effect_are_folded_and_others_are_not() -> None:
    page = render_html(audit_document(whole()))
    folded = page[page.index("<details>") : page.index("</details>")]
    assert "The other kinds" in folded
    assert "polite" not in folded
    assert "rude" in folded
    quiet = effect(0.0, name="odd", verdict="none_seen")
    alone = audit_document(audit(probe("a", parts=(quiet,))))
    assert "<summary>Every kind<" in render_html(alone)


def test_an_audit_without_a_probe_says_so() -> None:
    page = render_html(audit_document(audit(probe("a", status="skipped", reason="no"))))
    assert "No probe could be run" in page
    assert "Each bar" not in page
    assert 'class="conclusion inconclusive"' in page
