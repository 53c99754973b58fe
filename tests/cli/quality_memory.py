"""A quality memory with three benchmarks, outputs for its cases, and a judge's recorded replies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MEMORY, OUTPUTS, REPLIES = "memory.json", "outputs.jsonl", "replies.jsonl"
ON_OUTPUTS = ("--outputs", OUTPUTS, "--judge", f"recorded:{REPLIES}", "-q")
"""Options that have the recorded outputs judged by the recorded judge."""

Object = dict[str, Any]


def an_object(kind: str, key: str, **fields: object) -> Object:
    return {"type": kind, "id": key, "fields": fields}


def benchmark(key: str, name: str, *cases: str, **fields: object) -> Object:
    known = {"passingThreshold": 0.75, "ownerId": "ada", "status": "active"}
    return an_object("benchmark", key, **{"name": name, "testCaseIds": [*cases], **known, **fields})


def memory() -> list[Object]:
    """Five cases by two rubrics; three benchmarks, one retired; two benchmark runs of the past."""
    found = []
    for rubric, criterion, name in (("rub-7", "c-right", "Right"), ("rub-8", "c-kind", "Kind")):
        found += [
            an_object("rubric", rubric, name=f"Is it {name}", criteriaIds=[criterion],
                      passingThreshold=0.7, version=2, isActive=True),
            an_object("rubric-criterion", criterion, rubricId=rubric, name=name,
                      description="Is the answer as it should be?", weight=1.0, minScore=0.0,
                      maxScore=1.0),
        ]  # fmt: skip
    for n in range(1, 6):
        rubric = "rub-7" if n < 5 else "rub-8"
        found.append(
            an_object("test-case", f"tc-{n}", name=f"Case {n}", inputs=f"{n}+{n}",
                      expectedOutputs=str(2 * n), rubricId=rubric, tags=[], status="active")
        )  # fmt: skip
    return [
        *found,
        benchmark("bm1", "Small sums", "tc-1", "tc-2", description="up to two", lastScore=0.5),
        benchmark("bm2", "Sums", "tc-2", "tc-3", "tc-4", dimension="arithmetic", ownerId="bob"),
        benchmark("bm3", "Kindness", "tc-5", passingThreshold=0.5, status="retired"),
        an_object("benchmark-run", "br-1", benchmarkId="bm2", testRunIds=["old"], overallScore=0.5,
                  passRate=0.5, ranAt="2026-01-05T00:00:00Z", triggeredBy="schedule-3",
                  notes="the first"),
        an_object("benchmark-run", "br-2", benchmarkId="bm3", testRunIds=[], overallScore=0.9,
                  passRate=1.0, ranAt="2026-01-06T00:00:00Z", triggeredBy="ada", notes=""),
    ]  # fmt: skip


def write_memory(objects: list[Object], name: str = MEMORY) -> Path:
    path = Path(name)
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(one) + "\n" for one in objects))
    else:
        path.write_text(json.dumps(objects, indent=1))
    return path


def write_lab(*variants: str, wrong: frozenset[tuple[str, int]] = frozenset({("v2", 3)})) -> None:
    """The memory, and an output of each variant for each case; some of them are wrong."""
    write_memory(memory())
    outputs = [
        {"case_id": f"tc-{n}", "variant": variant, "text": "7" if (variant, n) in wrong else "ok"}
        for variant in variants
        for n in range(1, 6)
    ]
    Path(OUTPUTS).write_text("".join(json.dumps(one) + "\n" for one in outputs))
    replies = [
        {"case_id": one["case_id"], "variant": one["variant"], "text": json.dumps(
            {"evidence": [], "rationale": "It was checked.", "score": int(one["text"] == "ok")})}
        for one in outputs
    ]  # fmt: skip
    Path(REPLIES).write_text("".join(json.dumps(one) + "\n" for one in replies))
