"""Texts made to be slow: what a reader that looks twice at the same place takes minutes for."""

from __future__ import annotations

from typing import NamedTuple


class Trap(NamedTuple):
    """A text of any length: its middle is repeated."""

    unit: str
    before: str = ""
    after: str = ""

    def text(self, length: int) -> str:
        """The trap with about `length` characters."""
        return self.before + self.unit * (length // len(self.unit)) + self.after


REPLIES = {
    "braces": Trap("{"),
    "brackets": Trap("["),
    "lists of objects": Trap("[{"),
    "open objects": Trap('{"a":'),
    "open strings": Trap('{"x": "'),
    "quotes": Trap('"'),
    "backslashes": Trap("\\", before='{"a": "'),
    "comments": Trap('{"a":1,/*'),
    "bare objects": Trap("{a: b "),
    "thoughts": Trap("<think>"),
    "ends of thoughts": Trap("</think>"),
    "short thoughts": Trap("<think>a</think>"),
    "fences": Trap("```"),
    "quoting": Trap("> "),
    "spaces": Trap(" ", before="a: ", after="x"),
    "lines": Trap("Score:\n"),
    "lines with scores": Trap(f"Score: 4 ({'x' * 50})\n"),
    "table": Trap("| a |\n"),
    "tags": Trap("<a>"),
    "one long string": Trap("x", before='{"score": 4, "reason": "', after='"}'),
    "many verdicts": Trap('{"accuracy": 4, "clarity": 1}\n'),
    "digits": Trap("1", before="Score: "),
    "inability": Trap("I cannot "),
    "keys": Trap('"a": '),
    "entities": Trap("&lt;"),
    "bullets": Trap("- "),
    "verdicts in brackets": Trap("[[4]] "),
    "letters in brackets": Trap("[[A]] "),
    "answers on a line": Trap("Answer: A, "),
    "better outputs": Trap("Output (a) is better "),
    "stars": Trap("4 stars "),
    "parts of five": Trap("4 out of 5 "),
}
"""Replies of a judge."""

QUOTES = {
    "spaces": Trap(" ", before="a", after="b"),
    "words": Trap("x "),
    "marks on a letter": Trap("\u0301\u0316", before="a"),
    "open syllables": Trap("\u1100"),
    "accents": Trap("\u00e9 "),
    "dots": Trap(". "),
}
"""Quotations, and texts they are looked for in."""

COUNTED = {
    "one letter": Trap("a"),
    "spaces": Trap(" "),
    "line breaks": Trap("\n"),
    "foxes": Trap("\U0001f98a"),
    "special": Trap("<|"),
    "words": Trap("ab "),
}
"""Texts whose tokens are counted."""


def around(trap: Trap, length: int) -> str:
    """A judged text that holds the beginning of a trap far within.

    Args:
        trap: The trap.
        length: How long the text is.

    Returns:
        The text.
    """
    filling = "x" * (length // 2)
    return f"{filling} {trap.text(length)[:40]} {filling}"
