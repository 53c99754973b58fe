"""The probe of verbosity: the same answer, padded with sentences that say nothing."""

from __future__ import annotations

from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING

from judgekit.evaluation.auditing.probe import Probe
from judgekit.evaluation.auditing.rewriting import rewriting_found, rewritten

if TYPE_CHECKING:
    import random

_PADDING = """\
Before the answer itself, it is worth a moment to look at what is being asked, and how.
There are, as so often, several ways to look at this, and each has something to be said for it.
With that in mind, it helps to go step by step and to keep the whole of it in view meanwhile.
All of this is of course to be read in the light of what was asked, neither more nor less.
To put it slightly differently, what is said here holds in just the way in which it is said.
It goes without saying that each of these points could be put otherwise and still be the same.
One might go on at greater length, but what there is to cover is covered by what stands here.
To sum up, and taking everything together, the answer is what it is and stands as it was given.
""".splitlines()
_LEAST_WORDS = 120
"""Words that are added at least, so that a short answer becomes a long one."""


def padded(text: str, draw: random.Random) -> str:
    """A text with content-free sentences before and after it, at least twice as long."""
    wanted = max(_LEAST_WORDS, len(text.split()))
    source = cycle(draw.sample(_PADDING, len(_PADDING)))
    sentences: list[str] = []
    while sum(len(sentence.split()) for sentence in sentences) < wanted:
        sentences.append(next(source))
    half = len(sentences) // 2
    return f"{' '.join(sentences[:half])}\n\n{text}\n\n{' '.join(sentences[half:])}"


VERBOSITY = Probe(
    name="verbosity",
    question="Does it reward an answer for being long?",
    needs="outputs with a text",
    cost="2 gradings (1 shared) and 2 comparisons",
    plan=partial(
        rewritten, probe="verbosity", rewrite=lambda text, draw: (text, padded(text, draw))
    ),
    find=partial(rewriting_found, attribute="padding", harm="up"),
)
"""The probe."""
