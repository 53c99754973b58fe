"""The tables beside other tools: medians in cells, and no figure of an error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.peers import measure
from benchmarks.peers.measure import Report, ToolError
from benchmarks.peers.replies import FORMS, answer, level
from benchmarks.peers.tables import END, HEADINGS, START, TABLES, Row, replaced, tables
from benchmarks.peers.tools import FLOOR, TOOLS, Tool
from judgekit.testing import ServedRequest

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
PROMPT = "Customer 7 asks: …"


def lines_of(text: str, name: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(f"| {name} |")]


def asked(number: int = 0, content: str = PROMPT) -> ServedRequest:
    body = {"model": "m", "messages": [{"role": "user", "content": content}]}
    return ServedRequest("/v1/chat/completions", {}, body, number)


def reported(scores: dict[str, list[float | None]], n_requests: int = 2) -> Report:
    return Report(scores, 1.0, 1.0, 1.0, 1.0, n_requests)


def test_a_cell_is_the_median_of_its_rounds() -> None:
    row = Row("acme")
    for wall_s in (0.5, 0.25, 12.0):
        row.add(wall_s=wall_s, peak_mib=1234.5)
    row.add(warm_s=12.34, n_warm_requests=0)
    (line,) = lines_of(tables([row], "Taken today."), "acme")
    assert line == "| acme | 0.50 | not measured | not measured | 1,234 | 12.3 | 0 |"


def test_what_a_tool_cannot_do_is_said_in_its_cell() -> None:
    row = Row("acme", absent={"warm_s": "no cache", "n_warm_requests": "all"})
    row.add(wall_s=1.0)
    (line,) = lines_of(tables([row], ""), "acme")
    assert line.endswith("| no cache | all |")


def test_a_tool_is_in_the_tables_for_which_it_has_figures() -> None:
    joint = Row("acme, all in one call")
    joint.add(n_calls=1, prompt=900.0, schema=101.0, all_tokens=1001.0)
    (line,) = lines_of(tables([Row("acme"), joint], ""), "acme, all in one call")
    assert line == "| acme, all in one call | 1 | 900 | 101 | 1,001 |"
    assert lines_of(tables([Row("acme"), joint], ""), "acme") == []


def test_a_tool_that_is_not_there_is_named_with_the_reason() -> None:
    text = tables([Row("acme", "not installed: no such version")], "Taken today.")
    assert text.startswith("Taken today.")
    assert text.endswith(
        "Without figures, or without all of them:\n\n- acme: not installed: no such version"
    )


def test_every_column_has_a_heading() -> None:
    assert sorted(HEADINGS) == sorted(column for columns in TABLES.values() for column in columns)


def test_only_what_is_between_the_marks_is_replaced() -> None:
    page = f"# Page\n\n{START}\nold\n{END}\n\nThe end.\n"
    assert replaced(page, "new") == f"# Page\n\n{START}\n\nnew\n\n{END}\n\nThe end.\n"
    assert replaced(replaced(page, "one"), "new") == replaced(page, "new")


@pytest.mark.parametrize("page", ["", START, f"{END} {START}", f"{START} {START} {END}"])
def test_a_page_without_its_marks_is_an_error(page: str) -> None:
    with pytest.raises(ValueError, match="bench-peers: begin"):
        replaced(page, "new")


def test_the_page_of_the_documentation_has_its_marks() -> None:
    assert "new" in replaced(PAGE.read_text(encoding="utf-8"), "new")


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_has_a_runner_a_reply_and_pinned_packages(tool: Tool) -> None:
    suffix = "mjs" if tool.is_node else "py"
    assert (Path(measure.__file__).parent / f"run_{tool.runner}.{suffix}").is_file()
    assert tool.runner in FORMS
    assert all("==" in one or "@" in one for one in tool.packages)


def test_a_package_that_is_not_there_is_a_reason_and_no_exception(tmp_path: Path) -> None:
    class Elsewhere(Tool):
        folder = tmp_path / "tool"

    nowhere = Elsewhere("t", "t", (4, 5), (f"nowhere @ file://{tmp_path}/nowhere.whl",))
    assert "nowhere" in nowhere.install()
    assert not (tmp_path / "tool" / "installed").exists()


def test_the_server_gives_each_item_its_level() -> None:
    replies = [
        answer(asked(content=f"customer {number}"), tool="aiohttp", share_limited=0)
        for number in (2, 3)
    ]
    scores = [json.loads(reply.text or "")["score"] for reply in replies]
    assert scores == [level(2), level(3)] == [4, 5]


def test_a_share_of_requests_is_limited_for_a_second() -> None:
    replies = [answer(asked(n), tool="aiohttp", share_limited=0.05) for n in range(1000)]
    limited = [reply for reply in replies if reply.status == 429]
    assert 30 <= len(limited) <= 70
    assert {reply.headers["Retry-After"] for reply in limited} == {"1"}


def test_a_prompt_without_its_item_is_an_error() -> None:
    with pytest.raises(ValueError, match="without the item"):
        answer(asked(content="Hello."), tool="aiohttp", share_limited=0)


@pytest.mark.parametrize(
    ("scores", "n_requests", "message"),
    [
        ({"case-0": [4], "case-1": [0]}, 2, r"case-1 has the scores \[0\], not 5"),
        ({"case-0": [4], "case-1": [None]}, 2, r"case-1 has the scores \[None\]"),
        ({"case-0": [4], "case-1": []}, 2, r"case-1 has the scores \[\]"),
        ({"case-0": [4]}, 2, "scores of 1 items were reported, not of 2"),
        ({"case-0": [4], "case-1": [5]}, 3, "3 requests were sent, not 2"),
    ],
)
def test_a_run_that_does_not_report_what_it_was_told_is_an_error(
    scores: dict[str, list[float | None]], n_requests: int, message: str
) -> None:
    with pytest.raises(ToolError, match=message):
        measure._checked(FLOOR, reported(scores, n_requests), 2, n_requests=2)


def test_the_floor_is_measured_through_its_own_process() -> None:
    report = measure.first(FLOOR)
    assert (report.scores, report.n_requests) == ({"case-0": [4.0]}, 1)
    n_calls, prompt, schema = measure.tokens(FLOOR, 2)
    assert (n_calls, schema) == (3, 0)
    assert prompt > 3 * 200
