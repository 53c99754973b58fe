"""The public corpus of attacks, in the folder that `JUDGEKIT_DATA` names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ATTACKS = Path(os.environ.get("JUDGEKIT_DATA", "")) / "injection" / "attacks_dev.jsonl"
"""The corpus: 112 attacks in 23 kinds, and 110 harmless texts."""

needs_corpus = pytest.mark.skipif(
    not os.environ.get("JUDGEKIT_DATA"), reason="JUDGEKIT_DATA names no folder"
)
"""A test that reads it."""

ECHOES = ATTACKS.with_name("echo_templates_dev.jsonl")
"""Ways in which a judge's reply quotes what it judges."""
