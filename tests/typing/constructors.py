"""Records made as the docs make them: `make types` checks it as a user's mypy does."""

from __future__ import annotations

from typing import assert_type

import judgekit as jk

NUMBERS = jk.Criterion(
    name="accuracy", question="Is it right?", scale={"min": 1, "max": 5}, weight=1, required=False
)
NAMED = jk.Criterion(name="polite", question="Is it polite?", scale="binary")
LEVELS = jk.Criterion(
    name="tone", question="Is it friendly?", scale=[{"value": 0, "name": "no"}, {"value": 1}]
)
WHOLE = jk.Criterion(name="brief", question="Is it brief?", scale=jk.Scale(min=0, max=1))
RUBRIC = jk.Rubric(name="r", criteria=[NUMBERS, NAMED, LEVELS, WHOLE], pass_threshold=0.7)
OUTPUT = jk.Output(trace=[{"type": "message", "role": "user", "content": "Hello."}])

assert_type(NUMBERS.scale, jk.Scale)
assert_type(RUBRIC.criteria, tuple[jk.Criterion, ...])
assert_type(OUTPUT.trace, tuple[jk.TraceEvent, ...])
