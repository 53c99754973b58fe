"""Mutated inputs for every reader of judgekit: `python -m tests.fuzz`."""
