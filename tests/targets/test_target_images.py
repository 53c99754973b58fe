"""Images that a system under test returns: its own program may name files, an endpoint may not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from judgekit.targets.target import TargetCall
from tests.factories import make_case
from tests.pictures import data_url, image, png

if TYPE_CHECKING:
    from pathlib import Path


def test_a_program_names_images_in_its_folder_and_an_endpoint_sends_them(tmp_path: Path) -> None:
    (tmp_path / "made.png").write_bytes(png())
    named = json.dumps({"data": [image(path="made.png")]}).encode()
    sent = json.dumps({"data": [image(url=data_url(png()))]}).encode()
    program, endpoint = (
        TargetCall(make_case(), "v1", folder=tmp_path),
        TargetCall(make_case(), "v1"),
    )
    for call, raw in ((program, named), (program, sent), (endpoint, sent)):
        output = call.read_bytes(raw, source="the reply")
        assert [one.url for one in output.images] == [data_url(png())]
    refused = endpoint.read_bytes(named, source="the reply")
    assert refused.error_kind == "unreadable"
    assert "the image 'made.png' cannot be a path here" in (refused.error or "")
