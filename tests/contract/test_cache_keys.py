"""The keys that paid replies are kept under: one byte of difference, and all is paid again."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

import judgekit as jk
from judgekit.models.request import ModelRequest, Subject
from judgekit.records import Image
from tests.contract.judging import asked, label
from tests.contract.material import laboratory, rows
from tests.contract.pinning import PINNED
from tests.contract.terminal import judgekit
from tests.contract.warming import PAID, warm_cache

if TYPE_CHECKING:
    from pathlib import Path

    from tests.contract.pinning import Pins

ASKED: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "plain": ({}, "two", "plain", "plain"),
    "joint": ({"mode": "joint"}, "two", "plain", "plain"),
    "repeats": ({"repeats": 3}, "binary", "plain", "plain"),
    "asked again": ({"max_reasks": 2}, "binary", "plain", "plain"),
    "joint asked again": ({"mode": "joint", "max_reasks": 1}, "two", "plain", "plain"),
    "temperature": ({"temperature": 0.7, "seed": 5}, "binary", "plain", "plain"),
    "no temperature": ({"temperature": None}, "binary", "plain", "plain"),
    "tokens": ({"max_tokens": 300, "logprobs": True}, "binary", "plain", "plain"),
    "parameters": ({"parameters": {"top_p": 0.9, "n": None}}, "binary", "plain", "plain"),
    "endpoint": ({"api_base": "http://127.0.0.1:1/v1"}, "binary", "plain", "plain"),
    "other model": ({"model": "anthropic/claude-sonnet-4-5"}, "two", "plain", "plain"),
    "no reference": ({}, "two", "bare", "plain"),
    "rich case": ({}, "two", "rich", "plain"),
    "data": ({}, "two", "plain", "data"),
    "fence": ({}, "two", "plain", "fence"),
    "trace": ({"template": "pointwise/trajectory"}, "two", "plain", "trace"),
    "levels": ({}, "levels", "plain", "plain"),
    "numbers": ({}, "numbers", "plain", "plain"),
    "named": ({}, "named", "plain", "plain"),
    "examples": ({"template": "pointwise/few_shot"}, "examples", "plain", "plain"),
    "pair": ({}, "two", "plain", "plain other"),
    "pair joint": ({"mode": "joint"}, "two", "plain", "plain other"),
    "pair repeats": ({"repeats": 2}, "binary", "plain", "plain other"),
    "pair labels": ({"label_seed": 4}, "binary", "plain", "plain other"),
    "pair no labels": ({"draw_labels": False}, "binary", "plain", "plain other"),
    "pair no scrub": ({"scrub": False}, "binary", "rich", "plain other"),
    "pair no reference": ({"template": "pairwise/criterion_no_reference"}, "two", "bare",
                          "plain data"),
    "pair average": ({"rule": "average", "logprobs": True}, "binary", "plain", "other plain"),
}  # fmt: skip

_MESSAGES = ({"role": "system", "content": "Judge."}, {"role": "user", "content": "Ünïcode 🙂\n"})
REQUESTS: dict[str, dict[str, Any]] = {
    "bare": {},
    "parameters": {"parameters": {"temperature": 0.0, "top_p": 1, "stop": ["\n"]}},
    "none is not sent": {"parameters": {"temperature": None}},
    "whole number": {"parameters": {"temperature": 1}},
    "same number": {"parameters": {"temperature": 1.0}},
    "schema": {"reply_schema": {"type": "object", "properties": {"score": {"type": "integer"}}}},
    "endpoint": {"api_base": "https://judge.example/v1"},
    "repeat": {"subject": Subject(case_id="q", repeat=2)},
    "no key in subject": {"subject": Subject(case_id="q", variant="v", criterion="c", order="ab")},
    "image": {"images": (Image("data:image/png;base64,iVBORw0KGgo=", "a.png"),)},
    "more in messages": {"messages": ({"role": "user", "content": "x", "name": "Ann"},)},
}


@pytest.mark.parametrize("name", ASKED)
def test_what_a_judge_asks_has_the_key_it_always_had(name: str, pins: Pins) -> None:
    settings, rubric, case, outputs = ASKED[name]
    requests = asked(settings, rubric, case, *outputs.split())
    keys: dict[str, list[str]] = {}
    for request in requests:
        keys.setdefault(label(request), []).append(request.key)
    assert keys
    pins.check("cache_keys", name, {about: sorted(found) for about, found in keys.items()})


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_has_the_key_it_always_had(name: str, pins: Pins) -> None:
    request = ModelRequest(**{"model": "openai/m", "messages": _MESSAGES} | REQUESTS[name])
    pins.check("request_keys", name, request.key)


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """The laboratory's files in a folder."""
    for name, text in laboratory().items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_a_cache_exports_the_bytes_it_always_did(lab: Path, pins: Pins) -> None:
    warm_cache(lab)
    assert judgekit("cache", "export", "all.jsonl", folder=lab).code == 0
    pins.check_text("cache_export.jsonl", (lab / "all.jsonl").read_text(encoding="utf-8"))


def test_a_cache_that_was_exported_before_is_served_now(lab: Path) -> None:
    shutil.copy(PINNED / "cache_export.jsonl", lab / "before.jsonl")
    assert judgekit("cache", "import", "before.jsonl", folder=lab).code == 0
    ran = judgekit("grade", "outputs/a.jsonl", "outputs/b.jsonl", "--cases", "cases.jsonl",
                   "--judge", PAID, "--frozen", "--json", folder=lab)  # fmt: skip
    assert (ran.code, [v["n_failed"] for v in ran.json["summary"]["variants"]]) == (0, [10, 10])


def test_listed_keys_are_those_of_the_requests(tmp_path: Path) -> None:
    reply = '{"rationale": "It is.", "evidence": [], "score": 1}'
    model = jk.ScriptedModel(reply, name=PAID)
    rubric = jk.Rubric(
        name="r", criteria=[jk.Criterion(name="right", question="Is it right?", scale="binary")]
    )
    with jk.Judge(model, cache=tmp_path / "cache", repeats=2) as judge:
        judge.grade_sync(jk.Case(id="q", input="2 + 2"), jk.Output(text="4"), rubric)
    ran = judgekit("cache", "ls", "--cache-dir", "cache", "--json", folder=tmp_path)
    listed = {entry["key"] for entry in ran.json["entries"]}
    assert listed == {request.key for request in model.requests}
    assert len(listed) == 2


def test_a_real_judge_would_look_for_the_same_keys(lab: Path, pins: Pins) -> None:
    warm_cache(lab)
    (lab / "one.jsonl").write_text(rows([{"case_id": "q00", "text": "New."}]), encoding="utf-8")
    line = ("cache", "explain", "one.jsonl", "--cases", "cases.jsonl", "--judge", PAID, "--json")
    (group,) = judgekit(*line, folder=lab).json["groups"]
    pins.check("request_keys", "what a real judge lacks", group["example"]["key"])
