"""Cases answered several times: what is right of one answer is likely right of the others."""

from __future__ import annotations

import numpy as np

N_CASES, REPEATS = 40, 4
NAMES: list[int] = np.repeat(np.arange(N_CASES), REPEATS).tolist()


def shared(rng: np.random.Generator, *, n_cases: int = N_CASES) -> np.ndarray:
    """Normal numbers of variance 2, half of it shared by the answers of a case."""
    return np.asarray(
        np.repeat(rng.normal(size=n_cases), REPEATS) + rng.normal(size=n_cases * REPEATS)
    )


def rated_cases(
    rng: np.random.Generator, *, n_cases: int = N_CASES
) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities that are right, one a case, and outcomes that hang together in it."""
    p = np.repeat(rng.uniform(0.05, 0.95, n_cases), REPEATS)
    alike = np.repeat(rng.random(n_cases), REPEATS)
    own = rng.random(n_cases * REPEATS)
    follows = rng.random(n_cases * REPEATS) < 0.8
    return p, (np.where(follows, alike, own) < p).astype(float)
