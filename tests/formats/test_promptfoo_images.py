"""Variables of a promptfoo configuration that are images."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import suite_from_path, validate_path
from judgekit.targets.prompt import TargetPrompt

if TYPE_CHECKING:
    from pathlib import Path

RED = (
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQS"
    "ACj/P8Fu7N9hAAAAAElFTkSuQmCC"
)
DATA_URL = f"data:image/png;base64,{RED}"


def written(folder: Path, prompt: Any, *photos: str, provider: str = "openai:m") -> Path:
    (folder / "sign.png").write_bytes(base64.b64decode(RED))
    (folder / "text.png").write_text("no image")
    tests = [
        {"vars": {"q": "Which?", "photo": photo}, "assert": [{"type": "contains", "value": "a"}]}
        for photo in photos
    ]
    text = prompt if isinstance(prompt, str) else json.dumps(prompt)
    path = folder / "promptfooconfig.json"
    whole = {"prompts": [text], "providers": [provider], "tests": tests}
    path.write_text(json.dumps(whole))
    return path


def chat(image: Any) -> list[Any]:
    return [{"role": "user", "content": [{"type": "text", "text": "{{q}}"}, image]}]


@pytest.mark.parametrize(
    "prompt",
    [
        "{{q}}\n{{photo}}",
        chat({"type": "image_url", "image_url": {"url": "{{photo}}"}}),
        chat({"type": "input_image", "image_url": "data:image/png;base64,{{ photo }}"}),
        chat({"type": "image", "source": {"type": "base64", "data": "{{photo}}"}}),
    ],
)
def test_an_image_is_part_of_the_input_and_in_its_place_of_the_prompt(
    tmp_path: Path, prompt: Any
) -> None:
    suite = suite_from_path(written(tmp_path, prompt, "file://sign.png", DATA_URL))
    (variant,) = suite.variants
    for case in suite.cases or ():
        (image,) = case.images
        assert (image.url, image.name) == (DATA_URL, "sign.png" if case.id == "test-1" else None)
        assert isinstance(variant.prompt, str)
        (message,) = TargetPrompt(variant.prompt).messages(case)
        assert message["content"] == f"Which?\n{image.marker}"


@pytest.mark.parametrize(
    ("prompt", "photo", "provider", "message"),
    [
        (chat({"type": "image_url", "image_url": {"url": "{{photo}}"}}), "https://a/b.png",
         "openai:m", "nor a variable with an image in each test"),
        (chat({"type": "image_url", "image_url": {"url": DATA_URL}}), "file://sign.png",
         "openai:m", "nor a variable with an image in each test"),
        ("{{photo}}", "file://text.png", "openai:m", "is no PNG, JPEG, WebP or GIF"),
        ("{{photo}}", "file://none.png", "openai:m", "there is no file"),
        ("{{photo}}", "file://sign.png", "file://a.py", "images are sent to models alone"),
    ],
)  # fmt: skip
def test_an_image_that_cannot_be_sent_is_listed(
    tmp_path: Path, prompt: Any, photo: str, provider: str, message: str
) -> None:
    path = written(tmp_path, prompt, photo, provider=provider)
    assert any(message in one.message for one in validate_path(path))
