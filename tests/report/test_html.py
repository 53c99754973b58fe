"""Plots of pages: where the numbers along an axis stand; what a page lets a browser run."""

from __future__ import annotations

import html
import re
from base64 import b64encode
from hashlib import sha256
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from judgekit.report.document import Axis, Conclusion, Document, Plot, Series
from judgekit.report.html import render_html

# The plot's frame, within which the numbers of the lower axis stand.
LEFT, RIGHT = 62.0, 348.0


def ticks(low: float, high: float) -> list[tuple[float, str]]:
    """The places and numbers along the lower axis of a page's plot."""
    figure = Plot("", Axis("x", low, high), Axis("y", 0, 1), (Series(((low, 0.5),)),))
    page = render_html(Document("title", Conclusion("done"), (figure,), dict))
    found = re.findall(r'<text class="tick" x="([^"]*)"[^>]*>([^<]*)<', page)
    return [(float(at), text) for at, text in found]


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0, 1, "0 0.2 0.4 0.6 0.8 1"),
        (1, 5, "1 2 3 4 5"),
        (1, 7, "1 3 5 7"),
        (0.57, 0.905, "0.6 0.7 0.8 0.9"),
        (0.57, 0.97, "0.6 0.7 0.8 0.9"),
        (0.5, 8.5, "2 4 6 8"),
        (-0.3, 0.3, "-0.2 0 0.2"),
        (1000, 64000, "20,000 40,000 60,000"),
    ],
)
def test_the_numbers_along_an_axis_are_round(low: float, high: float, shown: str) -> None:
    assert " ".join(text for _, text in ticks(low, high)) == shown


@given(st.floats(-1e4, 1e4), st.floats(0.01, 1e4))
def test_numbers_lie_on_their_axis_evenly_and_are_never_alone(low: float, span: float) -> None:
    places = [at for at, _ in ticks(low, low + span)]
    gaps = [b - a for a, b in pairwise(places)]
    assert 2 <= len(places) <= 6
    assert LEFT < min(places) <= max(places) < RIGHT
    assert max(gaps) - min(gaps) <= 0.21  # places are rounded to a tenth


def test_a_browser_runs_the_page_s_own_script_and_no_other() -> None:
    page = render_html(Document("title", Conclusion("done"), (), dict))
    policy = html.unescape(
        page.partition('Content-Security-Policy" content="')[2].partition('"')[0]
    )
    allowed = {name: value for name, _, value in (one.partition(" ") for one in policy.split("; "))}
    assert allowed["default-src"] == allowed["base-uri"] == allowed["form-action"] == "'none'"
    for tag, source in (("script", "script-src"), ("style", "style-src")):
        (own,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = b64encode(sha256(own.encode()).digest()).decode()
        assert allowed[source] == f"'sha256-{digest}'"
