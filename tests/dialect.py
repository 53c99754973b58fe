"""Finds words that readers would not know: `python -m tests.dialect [PATH ...]` lists them.

`PROSE` holds for comments, docstrings, messages, help and the documents; `NAMES` for
identifiers in the code. `test_dialect.py` keeps both at zero.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

# The private word, and what to write instead.
PROSE = {
    r"people|people's|persons?": "human labels, annotators, a reviewer, users, somebody",
    r"persons?' words?|judge's word|word of (?:a|the) judge": "human judgment, judgment",
    r"said|say so|says so|goes unsaid": "stated, reported, set, given; inconclusive",
    r"told|tells": "reported, listed, shown, passed",
    r"heard|unheard": "received, answered",
    r"owned|owns|owning|bought|buys|buying": "cached, stored; fetched, paid for",
    r"shelf|shelves|portals?|doors?|seams?|sittings?|leases?|juries|jury|seats?": (
        "cache, sync wrapper, entry point, interface, session, lock, panel, member"
    ),
    r"strangers?": "unmatched outputs, external program",
    r"mend|mends|mended|mending": "fix, repair, correct",
    r"unsound|sound|sounder|soundness": "invalid, valid, reliable",
    r"doubt|doubts|doubtful": "uncertainty, confidence interval",
    r"anew": "again; retried",
    r"noted": "reported, recorded, warned",
    r"nearness": "similarity",
    r"by heart|on the whole|broken off|breaks off|break off": "overall, interrupted",
    r"(?:go|goes|gone|going|went) on(?: with)?": "continue, resume",
    r"(?:come|comes|came|coming) (?:to|of|out of)": "result, total, amount to",
    r"(?:held|hold|holds|holding) (?:\w+ )?against": "compared with",
    r"asks? (?:\w+ )?(?:again|no more|nothing)|asked (?:\w+ )?again": "retries; makes no calls",
    r"kept (?:reply|replies|answers?|judgments?|verdicts?|runs?)": "cached reply, stored run",
    r"stands? (?:twice|nowhere|there|outside)|put in (?:its|their) place": "appears, is; replaced",
    r"(?:judges?|models?) (?:is|are|was|were|be) asked": "called",
    r"looked at|taken out": "examined, viewed, included; removed",
    r"askings?|lookings?|twins?": "call, repeat; evaluation; counterpart",
    r"nothing to (?:lose|say|mend)|for want of|save for|of its own accord": "say it plainly",
    r"by itself alone|as one whole|one throughout": "say it plainly",
}
NAMES = {
    *("people", "person", "persons", "said", "told", "tells", "heard", "owned", "bought"),
    *("shelf", "portal", "door", "seam", "sitting", "lease", "leases", "jury", "seat"),
    *("stranger", "strangers", "mend", "mended", "mending", "unsound", "sound", "doubt"),
    *("anew", "noted", "nearness", "asking", "askings", "drawn", "took", "twin", "twins"),
}
# No name for a value: what it holds has a better one.
WHOLE_NAMES = {"said", "told", "heard", "given", "asked", "kept", "held", "taken", "seen"}

# What stays, with the reason.
ALLOWED = {
    "TextSource": "values in the JSON of `plan --json`",
    "_FROM_KNOWN_ANSWERS": "a value in the JSON of `plan --json`",
    "asked": "a field of stored verdicts, checks and calibration maps",
    "ask_person": "a public method of `RunStore`",
    "is_owned": "a public argument of `RunStore.spent_usd`",
    "held": "a key of the JSON of `cache explain` and of gate results",
    "is_sound": "a key of the JSON that `cache verify --json` prints",
    "n_owned": "a key of the JSON that `--json` prints",
    "people": "a key of the JSON of `calibrate` and of plans",
    "people_alpha": "a key of the JSON of `calibrate --json`",
    "people_fleiss_kappa": "a key of the JSON of `calibrate --json`",
    "passed_by_people": "a field of calibration maps",
    "n_askings": "a field of `AuditOptions`",
    "REPEATS_COUNT": "a key of the JSON of `audit --json`",
    "_PADDING": "a text shown to the judge: another wording would make cached replies useless",
    "_GUIDE": "a text shown to the judge: another wording would make cached replies useless",
    "_ANCHOR": "a text shown to the judge: another wording would make cached replies useless",
    "_LABELS_ALONE": "a value in the JSON of `calibrate --json`",
    "n_sound": "a key of the JSON that `cache verify --json` prints",
    "said": "a keyword of `Panel.observe`",
    "try_lease": "a public method of reply caches",
}
# Options, and words of JSON, that users have typed or read for long.
_PUBLIC_WORDS = re.compile(r"--askings|--skip-unsound|^\"(?:unsound|sound)\"$")

# Phrases that stay, with the reason.
PHRASES = {
    '"unsound"': "the name of a rule of lint, which `lint --json` prints",
    '"people"': "the annotator, in label files, of labels that stand for several",
    "the reply said": "a repeated question quotes the message, so it is part of its cache key",
    "the reply also said": "a repeated question quotes the message, so it is part of its cache key",
    "leases.lock": "a file of the cache's folder, which processes of other versions lock, too",
    "--skip-unsound": "an option of `cache import`",
    "judge was asked for no reason": "a stored rationale, which stays as it was written",
    "said: Earlier answers": "a keyword of `Panel.observe`",
}

_PROSE = [
    (re.compile(rf"(?<!\.)\b(?:{pattern})\b", re.IGNORECASE), to) for pattern, to in PROSE.items()
]
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_DOCUMENTS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs")
_TEXT = {".md", ".j2", ".jinja", ".html", ".css", ".txt"}


@dataclass(frozen=True, slots=True)
class PrivateWord:
    """A word to replace: where it stands and what to write instead."""

    path: Path
    line: int
    word: str
    instead: str

    def __str__(self) -> str:
        """One line, as compilers write them."""
        return f"{self.path}:{self.line}: {self.word!r}; instead: {self.instead}"


def private_words(*places: Path) -> list[PrivateWord]:
    """Every private word in these places; without any, in the product and its documents."""
    roots = places or (ROOT / "judgekit", *(ROOT / name for name in _DOCUMENTS))
    words: list[PrivateWord] = []
    for root in roots:
        for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
            # What others wrote: packages of the page's script, and their licences. The reference
            # repeats docstrings and signatures, which are read where they stand.
            if {"node_modules", "reference"} & {*path.parts} or path.name == "LICENSES.txt":
                continue
            if path.suffix in {".py", ".pyi"}:
                words += _in_code(path)
            elif path.suffix in _TEXT:
                words += _in_prose(path, 1, path.read_text(encoding="utf-8"))
    return words


def _in_code(path: Path) -> list[PrivateWord]:
    """The private words in comments, strings and names."""
    words: list[PrivateWord] = []
    text = path.read_text(encoding="utf-8")
    statement = before = ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line = token.start[0]
        if token.start[1] == 0 and token.string.strip():
            statement = token.string
        if statement in ALLOWED and token.type == tokenize.STRING:
            continue  # the value of a constant that stays
        # An attribute counts where it is defined.
        is_attribute, before = before == ".", token.string
        if token.type in {tokenize.COMMENT, tokenize.STRING}:
            words += _in_prose(path, line, token.string)
        elif token.type == tokenize.NAME and token.string not in ALLOWED:
            name = token.string
            parts = {part.lower() for part in _WORD.findall(name)}
            if (name in WHOLE_NAMES and not is_attribute) or parts & NAMES:
                words.append(PrivateWord(path, line, name, "a name for what it is"))
    return words


def _in_prose(path: Path, line: int, text: str) -> list[PrivateWord]:
    """The private words of a text; an identifier in it counts where it is defined."""
    for phrase in PHRASES:
        text = text.replace(phrase, " " * len(phrase))
    return [
        PrivateWord(path, line + text.count("\n", 0, match.start()), match[0], instead)
        for pattern, instead in _PROSE
        for match in pattern.finditer(_PUBLIC_WORDS.sub("", text))
    ]


if __name__ == "__main__":
    for word in private_words(*map(Path, sys.argv[1:])):
        print(word)  # noqa: T201 -- a script
