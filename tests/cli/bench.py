"""A folder with something to grade, and a judge on loopback that is asked from it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.factories import reply
from tests.servers.answers import ok

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from judgekit.testing import ServedReply, ServedRequest
    from tests.cli.commanding import Ran
    from tests.servers.openai_like import OpenAILikeServer

RUBRIC = """\
name: answers
pass_threshold: 0.7
criteria:
  - {name: right, question: "Is it right?", scale: one_to_five, weight: 3}
  - {name: short, question: "Is it short?", scale: one_to_five, weight: 1}
"""

QUESTIONS = {"a": "one and one", "b": "two and two", "c": "three and three", "d": "four and four"}
"""The input of each case; the outputs are `answer a`, `answer b`, …"""


@dataclass(frozen=True)
class Bench:
    """Four outputs, a rubric of two criteria, and the command line."""

    folder: Path
    run: Callable[..., Ran]

    def write(self, name: str, *rows: Mapping[str, object] | str) -> Path:
        """Write a file: mappings as JSON lines, texts as they are."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        texts = [row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows]
        path.write_text("".join(texts), encoding="utf-8")
        return path

    def grade(self, server: OpenAILikeServer, *options: object) -> Ran:
        """Grade the four outputs with the judge on loopback."""
        return self.ask(server, "grade", "outputs.jsonl", "--rubric", "rubric.yaml", *options)

    def ask(self, server: OpenAILikeServer, *arguments: object) -> Ran:
        """Run a command with the judge on loopback."""
        return self.run(*arguments, "--judge", "openai/m", "--api-base", server.url)


def lay_out(folder: Path, run: Callable[..., Ran]) -> Bench:
    """The bench with its files written."""
    bench = Bench(folder, run)
    bench.write("rubric.yaml", RUBRIC)
    bench.write("outputs.jsonl", *(output(case) for case in QUESTIONS))
    return bench


def output(case: str, **fields: object) -> dict[str, object]:
    """A row of an outputs file that says its own input."""
    known = {"case_id": case, "input": QUESTIONS.get(case, case), "text": f"answer {case}"}
    return known | fields


def asked(seen: ServedRequest) -> str:
    """All that was said to the judge in one request."""
    return "\n".join(message["content"] for message in seen.body["messages"])


def scores(**by_text: float) -> Callable[[ServedRequest], ServedReply]:
    """A judge that gives an output whose text is `answer <name>` its score, any other a 5."""

    def rule(seen: ServedRequest) -> ServedReply:
        found = [score for name, score in by_text.items() if f"answer {name}\n" in asked(seen)]
        return ok(reply(found[0] if found else 5))

    return rule


def values(ran: Ran) -> dict[str, Any]:
    """From JSON on stdout: the value of each output by case."""
    return {verdict["case_id"]: verdict["value"] for verdict in ran.json["verdicts"]}
