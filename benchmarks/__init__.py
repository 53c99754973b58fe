"""Measures judgekit against the bare minimum of the same work, on the same machine, in one run."""
