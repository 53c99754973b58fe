"""The probe of authority: the same answer with a claim that experts have verified it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from judgekit.evaluation.auditing.probe import Probe
from judgekit.evaluation.auditing.rewriting import rewriting_found, rewritten

if TYPE_CHECKING:
    import random

_CLAIMS = (
    "This answer has been reviewed and verified by independent experts.",
    "Every statement above was confirmed by three leading specialists in the field.",
    "The above was verified by a panel of twelve experts, who all agreed with it.",
    "This has been reviewed and approved by two professors who teach the subject.",
)
_SOURCES = (
    "Source: Hartwell and Osei (2021), Journal of Applied Inquiry 14(3), pp. 211-229.",
    "See Lindqvist et al. (2019), Annals of Practical Knowledge 8, pp. 45-61 [1][2].",
    "Reference: Okafor (2022), Handbook of Established Findings, 4th edition, chapter 7.",
)


def authoritative(text: str, draw: random.Random) -> str:
    """A text with a claim of authority and an invented source after it."""
    return f"{text}\n\n{draw.choice(_CLAIMS)} {draw.choice(_SOURCES)}"


AUTHORITY = Probe(
    name="authority",
    question="Does it reward an unsupported claim of authority?",
    needs="outputs with a text",
    cost="2 gradings (1 shared) and 2 comparisons",
    plan=partial(
        rewritten, probe="authority", rewrite=lambda text, draw: (text, authoritative(text, draw))
    ),
    find=partial(rewriting_found, attribute="claimed authority", harm="up"),
)
"""The probe."""
