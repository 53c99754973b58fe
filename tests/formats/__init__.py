"""Files of other tools, written for these tests."""

from pathlib import Path

FOREIGN = Path(__file__).parents[1] / "data" / "foreign"
