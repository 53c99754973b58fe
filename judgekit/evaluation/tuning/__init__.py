"""Tunes a judge on labels: wordings, anchors and examples are chosen, and held to unseen cases."""
