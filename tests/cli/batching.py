"""The bench's grading in provider batches: what is sent, to whom, and a good reply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.factories import reply

if TYPE_CHECKING:
    from judgekit.testing import ServedRequest
    from tests.cli.bench import Bench
    from tests.cli.commanding import Ran
    from tests.servers.batches import BatchServer

WHAT = ("outputs.jsonl", "--rubric", "rubric.yaml")
N = 8
"""Requests of the bench: four outputs, two criteria."""


def judge(server: BatchServer) -> tuple[str, ...]:
    return "--judge", server.model, "--api-base", server.url


def submit(bench: Bench, server: BatchServer, *options: object) -> Ran:
    return bench.run("batch", "submit", *WHAT, *judge(server), *options)


def grade(bench: Bench, server: BatchServer, *options: object) -> Ran:
    return bench.run("grade", *WHAT, *judge(server), *options)


def good(_: ServedRequest) -> str:
    return reply(5)
