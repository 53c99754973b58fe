"""Two outputs as a judge gets to see them, and the questions about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgekit.prompts.pair_rendering import shown_text
from judgekit.prompts.scrubbing import scrub
from judgekit.records.comparison import Scrubbed

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from judgekit.models.request import ModelRequest
    from judgekit.prompts.pair_rendering import PairPrompt
    from judgekit.prompts.scrubbing import Removed
    from judgekit.records.comparison import Order
    from judgekit.records.output import Output


@dataclass(frozen=True, slots=True)
class Pair:
    """Two outputs as a judge gets to see them."""

    texts: tuple[str, str]
    """The texts of a and b, scrubbed where that is wanted."""

    variants: tuple[str | None, str | None]
    """Whose they are; no judge is told."""

    scrubbed: tuple[Scrubbed, ...] | None
    """What was taken out; None where nobody looked."""

    @property
    def is_identical(self) -> bool:
        """Whether a judge would see the same text twice."""
        return self.texts[0] == self.texts[1]

    def in_order(self, order: Order) -> tuple[str, str]:
        """The texts as they are shown, the first one first."""
        return self.texts if order == "ab" else (self.texts[1], self.texts[0])

    def variants_in(self, order: Order) -> tuple[str | None, str | None]:
        """The variants in the same order."""
        return self.variants if order == "ab" else (self.variants[1], self.variants[0])


@dataclass(frozen=True, slots=True)
class PairQuestion:
    """One prompt about two outputs in one order, asked for one repeat."""

    prompt: PairPrompt
    """What is asked."""

    request: ModelRequest
    """How it is sent."""

    order: Order
    """Which output is shown first."""

    shown: tuple[str, str]
    """The texts, the one shown first first; a verdict that stands in them is no verdict."""

    variants: tuple[str | None, str | None]
    """The variants they are of."""

    @property
    def asked(self) -> tuple[str | None, ...]:
        """The criteria it asks about; None is the whole."""
        names: tuple[str | None, ...] = tuple(c.name for c in self.prompt.criteria)
        return (*names, None) if self.prompt.asks_overall else names


def seen_pair(a: Output, b: Output, names: Iterable[str] = (), *, scrubs: bool = True) -> Pair:
    """The two outputs as a judge gets to see them."""
    variants = a.variant, b.variant
    texts = shown_text(a), shown_text(b)
    if not scrubs:
        return Pair(texts, variants, None)
    own = [*names, *(name for name in variants if name)]
    (text_a, out_a), (text_b, out_b) = (scrub(text, own) for text in texts)
    return Pair((text_a, text_b), variants, (*_taken("a", out_a), *_taken("b", out_b)))


def _taken(side: Literal["a", "b"], removed: Iterable[Removed]) -> Iterable[Scrubbed]:
    return [Scrubbed(side=side, text=out.text, start=out.start, end=out.end) for out in removed]
