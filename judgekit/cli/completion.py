"""Shell completion: commands, options and the names a user has: runs, cases, rubrics, judges.

click would import a command to complete its options, and every command to list them: the records,
numpy and SQLAlchemy take longer than a user waits for TAB. What it needs to know of the commands is
in `completion.json` instead, which `python docs/reference.py` writes from the commands.
"""

from __future__ import annotations

import json
import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem, ShellComplete, get_completion_class

from judgekit.errors import JudgekitError
from judgekit.resources import shipped_file
from judgekit.store.names import stored_names

VARIABLE = "_JUDGEKIT_COMPLETE"
"""Set by the shell's function: what to print, such as `bash_complete` or `bash_source`."""

COMMANDS_FILE = Path(__file__).with_name("completion.json")

_STORE = ".judgekit/judgekit.db"
_STORED = ("run", "comparison", "suite", "variant", "case")
# Below this, too many of the 2,000 models that litellm knows would match.
_LEAST_OF_MODEL = 3
_MODEL = re.compile(r"(?:judge|model): *\[?['\"]?([\w.-]+/[\w./:@-]+)")
Words = dict[str, str]

_OTHER_WORDS: dict[str, Words] = {
    "run": {"latest": "the last run"},
    "baseline": {"previous": "the run before", "best": "the best run", "accepted": "accepted one"},
    "judge": {"local": "weights on this machine", "recorded:": "replies from a file"},
}


def print_completions(program: click.Command, instruction: str) -> int:
    """Print the shell's function, or the completions of the words it has set; the exit code."""
    shell, _, what = instruction.partition("_")
    kind = get_completion_class(shell)
    if kind is None or what not in {"source", "complete"}:
        return 1
    protocol = kind(program, {}, "judgekit", VARIABLE)
    click.echo(protocol.source() if what == "source" else "\n".join(_lines(protocol)), nl=False)
    return 0


def _lines(protocol: ShellComplete) -> list[str]:
    try:
        words, begun = protocol.get_completion_args()
        items = complete(words, begun)
    # A message would be printed into the command line that is being typed.
    except (OSError, ValueError, JudgekitError):
        return []
    return [protocol.format_completion(item) for item in items]


def complete(words: list[str], begun: str) -> list[CompletionItem]:
    """What may stand after the words of a command line, where a word is begun."""
    command: dict[str, Any] = json.loads(COMMANDS_FILE.read_text(encoding="utf-8"))
    rest = list(words)
    while rest and rest[0] in command.get("commands", {}):
        command = command["commands"][rest.pop(0)]
    name, chosen, values = _parse(rest, command["options"])
    if name is not None:
        return _values(command["options"][name][1], begun, chosen, values)
    if begun.startswith("-"):
        return _matching({name: about for name, (about, _) in command["options"].items()}, begun)
    if "commands" in command and not values:
        return _matching({name: one["about"] for name, one in command["commands"].items()}, begun)
    kinds: list[list[str]] = command["arguments"]
    # The last argument of some commands may be repeated.
    kinds += kinds[-1:] * (len(values) if command["repeats"] else 0)
    return _values(kinds[len(values)], begun, chosen, values) if len(values) < len(kinds) else []


def _parse(words: list[str], options: dict[str, Any]) -> tuple[str | None, Words, list[str]]:
    """The option that waits for its value, if one does; the options with values; the arguments."""
    waiting: str | None = None
    chosen, values = Words(), list[str]()
    for word in words:
        if waiting is not None:
            chosen[waiting], waiting = word, None
        elif word.startswith("-"):
            waiting = word if word in options and options[word][1] is not None else None
        else:
            values.append(word)
    return waiting, chosen, values


def _values(kinds: list[str], begun: str, chosen: Words, values: list[str]) -> list[CompletionItem]:
    """The values of an option or argument; files are left to the shell where no name fits."""
    found: Words = {}
    store = chosen.get("--store") or os.environ.get("JUDGEKIT_STORE") or _STORE
    for kind in kinds:
        found |= _OTHER_WORDS.get(kind, {})
        if kind in _STORED:
            found |= stored_names(store, kind, run=values[0] if values else None)
        elif kind == "rubric":
            found |= _rubrics()
        elif kind == "judge":
            found |= _judges(store, begun)
        elif kind.startswith("="):
            found[kind[1:]] = ""
    if items := _matching(found, begun):
        return items
    return [CompletionItem(begun, type=kind) for kind in ("file", "dir") if kind in kinds][:1]


def _matching(words: Words, begun: str) -> list[CompletionItem]:
    # A tab or line break in a name would be a second item to the shell.
    return [
        CompletionItem(word, help=" ".join(about.split()) or None)
        for word, about in words.items()
        if word.startswith(begun) and word.isprintable()
    ]


def _rubrics() -> Words:
    shipped = sorted(path.stem for path in shipped_file("prompts", "rubrics").glob("*.yaml"))
    own = sorted([*Path().glob("*rubric*.y*ml"), *Path().glob("rubrics/*.y*ml")])
    return dict.fromkeys(map(str, own), "file") | dict.fromkeys(shipped, "shipped")


def _judges(store: str, begun: str) -> Words:
    found = dict(stored_names(store, "judge"))
    for suite in sorted(Path().glob("judgekit*.y*ml")):
        found |= dict.fromkeys(_MODEL.findall(suite.read_text(encoding="utf-8")), str(suite))
    spec = find_spec("litellm") if len(begun) >= _LEAST_OF_MODEL else None
    for folder in (spec and spec.submodule_search_locations) or ():
        prices = Path(folder) / "model_prices_and_context_window_backup.json"
        for name, model in json.loads(prices.read_bytes()).items():
            provider = model.get("litellm_provider", "")
            whole = name if name.startswith(f"{provider}/") else f"{provider}/{name}"
            if model.get("mode") == "chat" and whole.startswith(begun):
                found.setdefault(whole, "known to litellm")
    return found
