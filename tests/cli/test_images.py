"""Images of outputs on pages: of a comparison, and for annotators, who must not learn the sides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.records import Output
from judgekit.report.case_table import number_images
from tests.cli.labelling import task_of
from tests.cli.source_designs import record
from tests.pictures import png

if TYPE_CHECKING:
    import pytest

    from tests.cli.commanding import Run


def test_a_labelling_page_names_no_file_of_an_image(run: Run) -> None:
    for name, red in (("new_model", 255), ("old_model", 9)):
        Path(name).mkdir()
        Path(name, "made.png").write_bytes(png(red))
        part = {"type": "image", "path": f"{name}/made.png"}
        record(f"{name}.jsonl", {"case_id": "a", "input": "Draw it", "data": [part]})
    page = Path("label.html")
    ran = run("label", "new_model.jsonl", "old_model.jsonl", "--pairwise", "-o", page)
    assert ran.code == 0
    outputs = task_of(page)["items"][0]["outputs"]
    assert [json.loads(one["text"]) for one in outputs] == [["[image 1]"], ["[image 1]"]]
    assert {one["images"][0]["title"] for one in outputs} == {"[image 1]"}
    assert "made.png" not in page.read_text()


def test_the_images_of_a_text_are_numbered_without_moving_what_is_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("made.png").write_bytes(png())
    images = Output(data=[{"type": "image", "path": "made.png"}]).images
    text = f"See {images[0].marker}: it is red."
    shown = number_images(text, images)
    assert "image 1 of 1" in shown
    assert shown.index("it is red") == text.index("it is red")
