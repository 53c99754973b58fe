"""Ratings with known agreement: raters who are right with some chance and guess else."""

from __future__ import annotations

import numpy as np

SHARES = np.array([0.1, 0.2, 0.4, 0.3])
"""True shares of the labels 1 to 4."""

ACCURACY = 0.75


def rated(rng: np.random.Generator, n_items: int, n_raters: int) -> np.ndarray:
    truth = rng.choice(4, n_items, p=SHARES)
    guesses = rng.choice(4, (n_items, n_raters), p=SHARES)
    knows = rng.random((n_items, n_raters)) < ACCURACY
    return np.where(knows, truth[:, None], guesses) + 1


def joint() -> np.ndarray:
    """The chance of each pair of labels of two raters."""
    one = ACCURACY * np.eye(4) + (1 - ACCURACY) * SHARES
    return np.asarray(one.T @ (SHARES[:, None] * one))


def rated_twice(rng: np.random.Generator, n_cases: int, n_raters: int) -> np.ndarray:
    """Each case in three near-copies, mostly rated alike; one item follows the law of `rated`."""
    once = np.repeat(rated(rng, n_cases, n_raters), 3, axis=0)
    anew = rated(rng, 3 * n_cases, n_raters)
    return np.where(rng.random((3 * n_cases, 1)) < 0.7, once, anew)
