"""Rubric and output to judgments: asks, asks again when unreadable, and says how sure it is."""
