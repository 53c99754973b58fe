"""Measures judge templates: how often each agrees with human labels, and what it costs."""
