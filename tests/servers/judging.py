"""A judge by rule, for the OpenAI-shaped server: what documents show is run against it.

It scores an output the worst level where it is shorter than 20 characters, or names a number that
neither the task nor its material names; any other the best level. Of two it prefers the one without
such a number, else the longer. A prompt that asks for no JSON is answered with one sentence, or
with a word where it says `briefly`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.servers.answers import ok

if TYPE_CHECKING:
    from judgekit.testing import ServedReply, ServedRequest

ANSWER = "Yes, you can return it within 30 days, unworn and with the receipt."
_OUTPUT = re.compile(r"<(output\S*) (\w+)>\n(.*?)\n</\1 \2>", re.DOTALL)
_MATERIAL = re.compile(r"<(input|context|reference|steps) (\w+)>\n(.*?)\n</\1 \2>", re.DOTALL)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_FEW = 20


class _Read(NamedTuple):
    """An output as the rule reads it."""

    text: str = ""
    invented: tuple[str, ...] = ()
    """The numbers that the material does not name; none where there is only the task."""

    @property
    def is_good(self) -> bool:
        return len(self.text) >= _FEW and not self.invented

    @property
    def reason(self) -> str:
        if self.invented:
            return f"The output names {self.invented[0]}, which the material does not."
        if not self.is_good:
            return "The output is too short to do what the criterion asks for."
        return "The output does what the criterion asks for."


def judging(seen: ServedRequest) -> ServedReply:
    """The reply of the rule to a request of a judge or of a prompt under test."""
    prompt = "\n".join(str(message["content"]) for message in seen.body["messages"])
    form = seen.body.get("response_format")
    if not form:
        return ok("Yes." if "briefly" in prompt else ANSWER)
    schema = _written_out(form["json_schema"]["schema"])
    outputs = _outputs(prompt)
    return ok(json.dumps({k: _field(k, v, outputs) for k, v in schema["properties"].items()}))


def _written_out(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with its definitions in the places that refer to them."""
    text = json.dumps(schema)
    for name, shared in schema.get("$defs", {}).items():
        text = text.replace(json.dumps({"$ref": f"#/$defs/{name}"}), json.dumps(shared))
    return json.loads(text)  # type: ignore[no-any-return]


def _outputs(prompt: str) -> list[_Read]:
    material = {found[1]: found[3] for found in _MATERIAL.finditer(prompt)}
    # A task alone says nothing about what is true, so numbers are held against more than it.
    known = set(_NUMBER.findall(" ".join(material.values()))) if len(material) > 1 else None
    texts = [found[3] for found in _OUTPUT.finditer(prompt)]
    if known is None:
        return [_Read(text) for text in texts]
    return [
        _Read(text, tuple(n for n in _NUMBER.findall(text) if n not in known)) for text in texts
    ]


def _field(name: str, schema: dict[str, Any], outputs: list[_Read]) -> object:
    """What the rule writes into one field of a reply."""
    output = (outputs or [_Read()])[-1 if name.endswith("_second") else 0]
    shape = schema["anyOf"][0] if "anyOf" in schema else schema
    if "properties" in shape:
        return {k: _field(k, v, outputs) for k, v in shape["properties"].items()}
    by_name = {"preference": _preference(outputs), "confidence": 0.9}
    by_type = {
        "array": [line[:60] for line in output.text.splitlines()[:1]],
        "boolean": True,
        "string": output.reason,
    }
    if name in by_name:
        return by_name[name]
    return by_type.get(shape.get("type", "")) or _score(shape, is_good=output.is_good)


def _preference(outputs: list[_Read]) -> str:
    ranks = [(not output.invented, len(output.text)) for output in outputs or [_Read()]]
    first, second = ranks[0], ranks[-1]
    return "tie" if first == second else "first" if first > second else "second"


def _score(shape: dict[str, Any], *, is_good: bool) -> object:
    allowed = shape.get("enum") or [shape.get("minimum", 0), shape.get("maximum", 1)]
    return max(allowed) if is_good else min(allowed)
