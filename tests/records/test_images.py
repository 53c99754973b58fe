"""Images in records: what is read, what is refused, and what a stored record keeps."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from judgekit.datasets import load_dataset
from judgekit.datasets.outputs import iter_case_outputs
from judgekit.errors import DatasetError
from judgekit.prompts import to_text
from judgekit.records import (
    MAX_IMAGE_BYTES,
    Case,
    Image,
    Output,
    TraceEvent,
    message_parts,
    read_record,
    record_text,
)
from tests.factories import make_case
from tests.pictures import GIF, asked_about, data_url, image, png

if TYPE_CHECKING:
    from pathlib import Path

JPEG = b"\xff\xd8\xff\xe0" + b"\0" * 20
WEBP = b"RIFF\x10\0\0\0WEBPVP8 "


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the program, with images and what is none."""
    inner = tmp_path / "suite"
    inner.mkdir()
    monkeypatch.chdir(inner)
    (inner / "photo.png").write_bytes(png())
    (inner / "photo.gif").write_bytes(png())
    (inner / "a.txt").write_bytes(GIF)
    (inner / "notes.png").write_text("not an image", encoding="utf-8")
    (inner / "large.png").write_bytes(png() + b"\0" * MAX_IMAGE_BYTES)
    (tmp_path / "outside.png").write_bytes(png())
    (inner / "link.png").symlink_to(tmp_path / "outside.png")
    (inner / "sub").mkdir()
    (inner / "sub" / "own.png").write_bytes(png())
    return inner


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        (image(path="photo.png"), "png"),
        (image(path="sub/../photo.png"), "png"),
        # By its bytes and not by its name.
        (image(path="photo.gif"), "png"),
        (image(path="a.txt"), "gif"),
        (image(url=data_url(JPEG, "image/png")), "jpeg"),
        ({"type": "image_url", "image_url": {"url": data_url(WEBP, "image/webp")}}, "webp"),
        ({"type": "input_image", "image_url": data_url(png())}, "png"),
        (image(source={"type": "base64", "media_type": "image/gif",
                       "data": data_url(GIF).partition(",")[2]}), "gif"),
    ],
)  # fmt: skip
def test_an_image_is_held_as_a_data_url(part: dict[str, Any], kind: str) -> None:
    case = make_case(input=asked_about(part))
    (found,) = case.images
    assert found.url.startswith(f"data:image/{kind};base64,")
    assert Case.model_validate(case.to_json()) == case
    assert read_record(Case, record_text(case)) == case


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (image(path="../outside.png"), "no image '../outside.png'"),
        (image(path="link.png"), "no image 'link.png'"),
        (image(path="absent.png"), "no image 'absent.png'"),
        (image(path="sub"), "no image 'sub'"),
        (image(path="notes.png"), "'notes.png' is no PNG, JPEG, WebP or GIF"),
        (image(path="large.png"), "'large.png' is larger than 20 MiB"),
        (image(path="https://a.example/x.png"), "'https://a.example/x.png' is not read"),
        (image(url="http://a.example/x.png"), "nothing is fetched"),
        ({"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}, "nothing is fetched"),
        (image(url="data:image/png;base64,@@"), "not valid base64"),
        (image(url="data:text/html;base64,PGI+"), "nothing is fetched"),
        (image(), "give a `path`"),
    ],
)
def test_what_is_no_image_of_the_folder_is_refused_by_name(
    part: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        make_case(input=asked_about(part))
    assert words in str(caught.value)


def test_images_are_read_from_the_folder_of_their_file(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    case = {"id": "a", "input": asked_about(image(path="photo.png"))}
    answer = {"case_id": "a", "messages": [{"role": "assistant", "content": [image(path="a.txt")]}]}
    files = {"cases.jsonl": case, "outputs.jsonl": answer, "both.jsonl": {**case, **answer}}
    for name, row in files.items():
        (folder / name).write_text(json.dumps(row) + "\n", encoding="utf-8")
    dataset = load_dataset(folder / "cases.jsonl")
    assert [one.name for one in dataset.cases[0].images] == ["photo.png"]
    for name, cases in (("outputs.jsonl", dataset), ("both.jsonl", None)):
        ((found, output),) = iter_case_outputs(folder / name, cases)
        assert [one.name for one in (*found.images, *output.images)] == ["photo.png", "a.txt"]


@pytest.mark.parametrize("row", [
    {"id": "a", "input": asked_about(image(path="../outside.png"))},
    {"case_id": "a", "input": asked_about(image(path="../outside.png")), "text": "x"},
])  # fmt: skip
def test_a_file_that_names_an_image_elsewhere_is_refused_with_its_line(
    folder: Path, row: dict[str, Any]
) -> None:
    path = folder / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"rows\.jsonl:1.*outside\.png"):
        list(iter_case_outputs(path) if "text" in row else load_dataset(path).cases)


def test_images_are_told_by_name_size_and_checksum() -> None:
    case = make_case(input=asked_about(image(path="photo.png")))
    digest = hashlib.sha256(png()).hexdigest()[:12]
    assert f'"[image photo.png, {len(png())} bytes, sha256 {digest}…]"' in to_text(case.input)
    assert Image(data_url(png() + b"\0" * 12_000)).title.startswith("[image, 12 kB, sha256 ")


def test_other_data_with_the_word_image_stay_what_they_are() -> None:
    for data in (
        [{"type": "image", "url": "https://a.example/x.png"}, {"type": "paragraph"}],
        {"type": "image", "path": "/x.png"},
        {"image_url": {"url": "https://a.example"}},
        [["image"], 3],
    ):
        output = Output(data=data)
        assert (output.data, output.images) == (data, ())


def test_of_a_trace_only_images_that_it_holds_are_taken() -> None:
    far = {"type": "image_url", "image_url": {"url": "https://a.example/x.png"}}
    near = {"type": "image_url", "image_url": {"url": data_url(png())}}
    broken = {"type": "image_url", "image_url": {"url": "data:image/png;base64,abc"}}
    event = TraceEvent(type="tool_result", content=[far, near, broken])
    assert event.content == [far, near, broken]
    assert [one.url for one in Output(trace=(event,)).images] == [data_url(png())]


def test_a_record_that_was_stored_before_is_read_as_it_was() -> None:
    old = {"id": "a", "input": asked_about(image(url="https://a.example/x.png"))}
    assert read_record(Case, json.dumps(old)).input == old["input"]


def test_parts_are_in_the_order_of_the_text_and_without_names() -> None:
    first, second = Image(data_url(png(1)), "a.png"), Image(data_url(png(2)), "b.png")
    text = f"One {second.marker} and {first.marker}{second.marker}"
    parts = message_parts(text, [first, second])
    assert [part.get("text") for part in parts] == ["One ", None, " and ", None, None]
    assert [part["image_url"] for part in parts if "image_url" in part] == [
        {"url": second.url}, {"url": first.url}, {"url": second.url},
    ]  # fmt: skip
