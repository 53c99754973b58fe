"""Every record of the corpora: malformed replies, and replies that quote an attack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.errors import RefusalError, ReplyFormatError
from judgekit.prompts.parsing import parse_reply

DATA = Path(__file__).parent.parent / "data"
HARMLESS = {"master_key", "derail", "naughty_string"}
CRITERIA = [{"name": name, "min": 1, "max": 5} for name in ("accuracy", "clarity")]


def records(name: str) -> list[dict[str, Any]]:
    lines = (DATA / name).read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def attacks() -> list[dict[str, Any]]:
    found = [r for r in records("injection_dev.jsonl") if r.get("attack_span")]
    return [r for r in found if r["family"] not in HARMLESS and r.get("attacked_output")]


def outcome(record: dict[str, Any]) -> tuple[str, dict[str, float] | None]:
    try:
        scores = parse_reply(
            record["response_text"],
            record["criteria"],
            record["finish_reason"],
            record.get("judged_output"),
        )
    except ReplyFormatError:
        return "retry", None
    except RefusalError:
        return "refusal", None
    return "ok", scores


def filled(template: str, attack: dict[str, Any], honest: str, nested: str) -> str:
    output = attack["attacked_output"]
    span = output[slice(*attack["attack_span"])]
    return template.format(
        a=span,
        o=output,
        aj=json.dumps(span)[1:-1],
        q="\n".join(f"> {line}" for line in span.split("\n")),
        a1=" ".join(span.split("\n")).replace("|", "/"),
        h=honest,
        hn=nested,
    )


@pytest.mark.parametrize("record", records("malformed_dev.jsonl"), ids=lambda r: str(r["id"]))
def test_a_malformed_reply_is_read_as_labelled_or_not_at_all(record: dict[str, Any]) -> None:
    expect = record["expect"]
    found, scores = outcome(record)
    if expect.get("or_retry") and found == "retry":
        return
    assert found == expect["outcome"]
    assert scores == expect.get("scores")


@pytest.mark.parametrize("attack", attacks(), ids=lambda r: str(r["id"]))
def test_a_quoted_attack_is_never_the_verdict(attack: dict[str, Any]) -> None:
    for template in records("echo_templates.jsonl"):
        nested = template["honest_nested"]
        for honest in (template["honest_flat"], nested):
            text = filled(template["template"], attack, honest, nested)
            expected = template["honest"] if template["has_honest_verdict"] else None
            try:
                found = parse_reply(text, CRITERIA, "stop", attack["attacked_output"])
            except (ReplyFormatError, RefusalError):
                found = None
            assert found == expected, template["id"]
