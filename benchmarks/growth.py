"""How the time of reading grows with the length of texts that are made to be slow.

python -m benchmarks.growth [--quick]
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.figures import Figure, limited, report
from benchmarks.timing import Stopwatch
from judgekit.errors import JudgeError
from judgekit.models import count_tokens
from judgekit.prompts import locate_evidence
from judgekit.prompts.parsing import (
    PairReplyFormat,
    ReplyFormat,
    parse_formatted_preference,
    parse_formatted_reply,
    parse_preferences,
    parse_reply,
)
from judgekit.records import Criterion
from tests.traps import COUNTED, QUOTES, REPLIES, around

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.traps import Trap

LENGTH = 200_000
"""Characters of the longer text; the shorter one has half of them."""

TIMES_AT_MOST = 3.0
"""CPU of the longer text through CPU of the shorter one: 2 is in proportion, 4 is its square."""

WORTH_MEASURING = 0.02
"""CPU seconds below which a text is no trap, and a ratio mostly noise."""

ONE = [Criterion(name="quality", question="Good?", scale={"min": 1, "max": 5})]
TWO = [*ONE, Criterion(name="clarity", question="Clear?", scale={"min": 0, "max": 1})]
WORDS = {"A": 1.0, "B": 5.0}
SIDES = {"A": "first", "B": "second", "a": "first", "b": "second"}

JUDGED = ("nothing", "all", "a part")
"""What of a trap stands in the judged text too."""

Reader = Any
"""Takes a reply and the judged text, and reads or refuses it."""


@dataclass(frozen=True, slots=True)
class Work:
    """One text made slow, read in one way, at any length."""

    name: str
    prepare: Callable[[int], Callable[[], object]]


@dataclass(frozen=True, slots=True)
class Grown:
    """How a piece of work grew."""

    name: str
    seconds: float
    ratio: float


def measure(quick: bool) -> list[Figure]:  # noqa: FBT001 - what the command line hands in
    """The worst growth and the longest time of each kind of reading."""
    length, rounds = (LENGTH // 4, 5) if quick else (LENGTH, 15)
    found: list[Figure] = []
    for kind, works in _kinds().items():
        grown = [_grown(work, length, rounds) for work in works]
        worst = max(grown, key=lambda one: one.ratio)
        slowest = max(grown, key=lambda one: one.seconds)
        found.append(
            limited(
                f"{kind}, twice as long",
                worst.ratio,
                unit="times",
                at_most=TIMES_AT_MOST,
                reference=worst.name if worst.ratio else f"none of {len(grown)} measurable",
            )
        )
        found.append(
            limited(f"  longest at {length:,}", slowest.seconds, unit="s", reference=slowest.name)
        )
    return found


def _grown(work: Work, length: int, rounds: int) -> Grown:
    """The best of some rounds, so that what else the machine does is not taken for growth."""
    long = work.prepare(length)
    seconds = _seconds(long)
    if seconds < WORTH_MEASURING:
        return Grown(work.name, seconds, 0)
    half = work.prepare(length // 2)
    half()
    half_seconds = _seconds(half)
    for _ in range(rounds):
        if seconds / half_seconds <= TIMES_AT_MOST:
            break
        seconds, half_seconds = min(seconds, _seconds(long)), min(half_seconds, _seconds(half))
    return Grown(work.name, seconds, seconds / half_seconds)


def _seconds(run: Callable[[], object]) -> float:
    watch = Stopwatch()
    run()
    return watch.took(1).cpu_s


def _kinds() -> dict[str, list[Work]]:
    score_forms = ("choice", "score_line", "result", "brackets", "stated")
    pair_forms = ("choice", "brackets", "stated", "two_scores")
    return {
        "replies": list(_readings({"one": _one, "two": _two, "preference": _preference})),
        "published forms": list(_readings({kind: partial(_form, kind) for kind in score_forms})),
        "published forms of pairs": list(
            _readings({kind: partial(_pair_form, kind) for kind in pair_forms})
        ),
        "evidence": list(_lookups()),
        "tokens": [Work(name, partial(_counting, trap)) for name, trap in COUNTED.items()],
    }


def _readings(readers: Mapping[str, Reader]) -> Iterator[Work]:
    """Every trap with every reader, and what of it the judged text holds."""
    for name, trap in REPLIES.items():
        for way, reader in readers.items():
            for judged in JUDGED:
                prepare = partial(_reading, trap, reader, judged)
                yield Work(f"{name}, {way}, {judged} quoted", prepare)


def _reading(trap: Trap, reader: Reader, judged: str, length: int) -> Callable[[], object]:
    text = trap.text(length)
    texts = {"nothing": None, "all": text, "a part": around(trap, length)}
    return partial(_read, reader, text, texts[judged])


def _read(reader: Reader, text: str, judged: str | None) -> None:
    with contextlib.suppress(JudgeError):
        reader(text, judged)


def _one(text: str, judged: str | None) -> None:
    parse_reply(text, ONE, "stop", judged)


def _two(text: str, judged: str | None) -> None:
    parse_reply(text, TWO, "stop", judged)


def _preference(text: str, judged: str | None) -> None:
    parse_preferences(text, ["overall"], judged_text=(judged,) if judged else ())


def _form(kind: str, text: str, judged: str | None) -> None:
    reply_format = ReplyFormat(kind, WORDS if kind == "choice" else {})
    parse_formatted_reply(text, ONE[0], reply_format=reply_format, judged_text=judged)


def _pair_form(kind: str, text: str, judged: str | None) -> None:
    reply_format = PairReplyFormat(kind, SIDES)  # type: ignore[arg-type]  # one of the four
    parse_formatted_preference(text, reply_format, judged_text=(judged,) if judged else ())


def _lookups() -> Iterator[Work]:
    for name, trap in QUOTES.items():
        yield Work(f"a word in {name}", partial(_word_in, trap))
        yield Work(f"{name} in a text", partial(_quote_in, trap))


def _word_in(trap: Trap, length: int) -> Callable[[], object]:
    return partial(locate_evidence, ["nowhere"], trap.text(length))


def _quote_in(trap: Trap, length: int) -> Callable[[], object]:
    return partial(locate_evidence, [trap.text(length)], around(trap, length))


def _counting(trap: Trap, length: int) -> Callable[[], object]:
    return partial(count_tokens, trap.text(length), "gpt-4o")


if __name__ == "__main__":
    report(measure)
