"""Observations to conclusions and figures: verdicts, rates with intervals, columns."""
