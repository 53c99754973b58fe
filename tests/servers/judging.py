"""A judge by rule, for the OpenAI-shaped server: what documents show is run against it.

It scores an output of 20 characters or more the best level and a shorter one the worst, prefers the
longer of two, and answers a prompt that asks for no JSON with one sentence.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tests.servers.answers import ok

if TYPE_CHECKING:
    from tests.servers.answers import Answer, SeenRequest

ANSWER = "Yes, you can return it within 30 days, unworn and with the receipt."
_OUTPUT = re.compile(r"<(output\S*) (\w+)>\n(.*?)\n</\1 \2>", re.DOTALL)
_FEW = 20


def judging(seen: SeenRequest) -> Answer:
    """The reply of the rule to a request of a judge or of a prompt under test."""
    form = seen.body.get("response_format")
    if not form:
        return ok(ANSWER)
    prompt = "\n".join(str(message["content"]) for message in seen.body["messages"])
    outputs = [found[2] for found in _OUTPUT.findall(prompt)]
    schema = form["json_schema"]["schema"]
    return ok(json.dumps({k: _field(k, v, outputs) for k, v in schema["properties"].items()}))


def _field(name: str, schema: dict[str, Any], outputs: list[str]) -> object:
    """What the rule writes into one field of a reply."""
    output = outputs[-1 if name.endswith("_second") else 0] if outputs else ""
    shape = schema["anyOf"][0] if "anyOf" in schema else schema
    if "properties" in shape:
        return {k: _field(k, v, outputs) for k, v in shape["properties"].items()}
    by_name = {"preference": _preference(outputs), "confidence": 0.9}
    by_type = {
        "array": [line[:60] for line in output.splitlines()[:1]],
        "boolean": True,
        "string": "The output says what the criterion asks for.",
    }
    if name in by_name:
        return by_name[name]
    return by_type.get(shape.get("type", "")) or _score(shape, is_good=len(output) >= _FEW)


def _preference(outputs: list[str]) -> str:
    first, second = (len(outputs[place]) if outputs else 0 for place in (0, -1))
    return "tie" if first == second else "first" if first > second else "second"


def _score(shape: dict[str, Any], *, is_good: bool) -> object:
    allowed = shape.get("enum") or [shape.get("minimum", 0), shape.get("maximum", 1)]
    return max(allowed) if is_good else min(allowed)
