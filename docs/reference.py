# ruff: noqa: INP001 - a folder of documents, no package
"""Writes the reference pages: assertions, commands, and the judge settings in `suites.md`.

It also writes the judge's options of pytest, whose plugin must not import pydantic. Text outside
the markers is written by hand and kept. Run it after a change: `python
docs/reference.py`. With `--check` nothing is written, and the exit code is 1 if a page is stale.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
import yaml
from pydantic.errors import PydanticInvalidForJsonSchema

from judgekit.assertions import SYNONYMS, assertion_registry, scorer_registry
from judgekit.assertions.registry import ELSEWHERE, declaration_of
from judgekit.cli.completion import COMMANDS_FILE
from judgekit.cli.help import COMMAND_GROUPS, rare_parameters
from judgekit.cli.main import COMMANDS as COMMANDS_BY_NAME, JOBS, judgekit
from judgekit.datasets import JudgeSettings, SuiteJudge, choices_of, command_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from judgekit.assertions.registry import Parameter, Synonym
    from judgekit.registry import Registry

PAGE = Path(__file__).with_name("assertions.md")
EXAMPLES = Path(__file__).with_name("assertion_examples.yaml")
SUITES = Path(__file__).with_name("suites.md")
COMMANDS = Path(__file__).with_name("commands.md")
PYTEST_OPTIONS = Path(__file__).parents[1] / "judgekit" / "pytest_plugin" / "options.py"
OPTIONS_BEGIN = "_JUDGE_OPTIONS = (\n"
OPTIONS_END = ")  # fmt: skip\n# End of the written lines."
TABLE_BEGINS = "<!-- The table below is written by docs/reference.py. -->"
TABLE_ENDS = "<!-- End of the table. -->"
MARKER = "<!-- From here on the page is written by docs/reference.py. -->"

_GROUPS = {
    "Values at a path": ("output.",),
    "Texts": (
        "text.contains", "text.contains_all", "text.contains_any", "text.contains_either",
        "text.equals", "text.starts_with", "text.regex", "text.word_count", "text.char_count",
        "text.number", "text.is_refusal",
    ),
    "Similarity to a reference text": (
        "text.levenshtein", "text.character_ratio", "text.bleu", "text.word_bleu", "text.gleu",
        "text.chrf", "text.meteor", "text.rouge_l", "text.rouge_n",
    ),
    "Formats": (
        "text.is_json", "text.contains_json", "text.is_xml", "text.contains_xml", "text.is_html",
        "text.contains_html", "text.is_sql", "text.contains_sql",
    ),
    "Time, cost and tokens": ("metric.",),
    "Behaviour": ("behavior.",),
    "Agent trajectories": ("trajectory.",),
    "The outputs of all variants": ("variants.",),
}  # fmt: skip
"""The sections of the page: names, or with a dot at the end all names that begin so."""

_EXPLAINED_ABOVE = frozenset({"path", "ignore_case", "timeout_s"})
"""Parameters that mean the same everywhere and are explained once."""

_NOT_IN_FILES = frozenset({"embed", "verdict"})
"""Parameters that only Python can hand over."""

_ONE_OF_MANY = 6
"""Longer lists of words are not shown."""

_TYPE_WORDS = {"string": "text", "boolean": "true or false", "array": "list"}


_COMMANDS_INTRO = """\
This page is written by `docs/reference.py` from the commands themselves. `judgekit COMMAND --help`
shows the same, and options marked “rare” only with `--help-all`. A variable is read from the
environment when the option is not given."""


def page() -> str:
    """The whole page.

    Returns:
        Markdown.
    """
    found = cast("dict[str, Any]", yaml.safe_load(EXAMPLES.read_text(encoding="utf-8")))
    examples = {each["spec"]["type"]: each["spec"] for each in found["assertions"]}
    registry = assertion_registry()
    by_hand = PAGE.read_text(encoding="utf-8").partition(MARKER)[0].strip()
    parts = [by_hand, MARKER]
    for title, wanted in _GROUPS.items():
        names = [name for want in wanted for name in _named(want, registry)]
        parts.append(f"## {title}\n\n{_table(names, registry, examples)}")
    parts.append(f"## Unsupported names and their replacements\n\n{_elsewhere()}")
    scorers = {each["spec"]["type"]: each["spec"] for each in found["scorers"]}
    parts.append(f"## Scorers\n\n{_scorers_intro()}\n\n{_scorer_table(scorers)}")
    return "\n\n".join(parts) + "\n"


def suites_page() -> str:
    """The page about suites, with the present table of judge settings.

    Returns:
        Markdown.
    """
    above, _, rest = SUITES.read_text(encoding="utf-8").partition(TABLE_BEGINS)
    below = rest.partition(TABLE_ENDS)[2]
    return f"{above}{TABLE_BEGINS}\n{judge_settings_table()}\n{TABLE_ENDS}{below}"


def judge_settings_table() -> str:
    """The settings that a suite's `judge` accepts, and their options.

    Returns:
        A Markdown table.
    """
    rows = ["| setting | default | option | meaning |", "| --- | --- | --- | --- |"]
    spelled = {name: option.spelling for name, _, option in command_options(JudgeSettings)}
    for name, field in SuiteJudge.model_fields.items():
        default = field.get_default(call_default_factory=True)
        shown = "required" if field.is_required() else f"`{json.dumps(default)}`"
        option = spelled.get(name, "--judge" if name == "model" else "")
        spellings = ", ".join(f"`{one}`" for one in option.split("/") if one)
        rows.append(_row(f"`{name}`", shown, spellings, field.description or ""))
    return "\n".join(rows)


def pytest_options() -> str:
    """The module of pytest's options, with the present judge settings.

    Returns:
        Python.
    """
    above, _, rest = PYTEST_OPTIONS.read_text(encoding="utf-8").partition(OPTIONS_BEGIN)
    below = rest.partition(OPTIONS_END)[2]
    lines = []
    for name, field, option in command_options(JudgeSettings):
        if not option.in_pytest:
            continue
        # Among integers, pytest has counts only; a flag has no value to name.
        words, parser, metavar = choices_of(field), "str", option.metavar or name.upper()
        if words:
            parser = f"choice_parser({', '.join(map(json.dumps, words))})"
        elif field.annotation is int:
            parser, metavar = "parse_count", "N"
        elif isinstance(field.default, bool):
            parser, metavar = "parse_flag", ""
        known = ", ".join(map(json.dumps, (name, metavar, field.description)))
        lines.append(f"    PluginOption(\n        {known},\n        {parser},\n    ),\n")
    return f"{above}{OPTIONS_BEGIN}{''.join(lines)}{OPTIONS_END}{below}"


def commands_page() -> str:
    """Every command with its options.

    Returns:
        Markdown.
    """
    parts = ["# Commands and options", _COMMANDS_INTRO]
    # With the settings of the real one: click keeps the help option that a command is first asked
    # for, here without `-h`.
    context = click.Context(judgekit, info_name="judgekit", **judgekit.context_settings)
    for title, names in JOBS.items():
        parts.append(f"## {title}")
        for name in names:
            parts += _command_sections(judgekit, name, context)
    return "\n\n".join(parts) + "\n"


def _command_sections(group: click.Group, name: str, parent: click.Context) -> list[str]:
    command = group.get_command(parent, name)
    if command is None:
        raise LookupError(name)
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    about = " ".join((command.help or "").split("\n\n")[0].split())
    sections = [
        f"### {context.command_path}",
        f"`{usage}`",
        about,
        _options_table(command, context),
    ]
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            sections += _command_sections(command, each, context)
    return [section for section in sections if section]


def _options_table(command: click.Command, context: click.Context) -> str:
    """The options in the order of the help, each with its variable."""
    order = {name: place for place, name in enumerate(chain.from_iterable(COMMAND_GROUPS.values()))}
    options = [each for each in command.params if isinstance(each, click.Option)]
    options.sort(key=lambda each: order.get(each.name or "", len(order)))
    rows = []
    for each in options:
        record = each.get_help_record(context)
        if record is None or each.name == "help_all":
            continue
        spelling, words = record
        words = " ".join(words.split())
        rare = " *(rare)*" if each.name in rare_parameters() else ""
        names = [each.envvar] if isinstance(each.envvar, str) else each.envvar or ()
        variable = f" Variable: {' or '.join(f'`{name}`' for name in names)}." if names else ""
        rows.append(_row(f"`{spelling}`{rare}", f"{words}{variable}"))
    return "\n".join(["| option | meaning |", "| --- | --- |", *rows]) if rows else ""


_COMPLETED = {
    "judge_model": "judge", "probe": "judge", "model": "judge", "rubric": "rubric", "run": "run",
    "runs": "run", "source": "run", "targets": "run", "baseline": "run", "resume": "run",
    "result": "run", "other": "run", "suite": "suite", "case": "case", "case_id": "case",
    "filter_case": "case", "variant": "variant", "sides": "variant", "a": "variant", "b": "variant",
}  # fmt: skip
"""What the shell completes for a parameter of this name, beside choices and files."""

_OR_FILES = ("source", "targets", "result", "sides", "a", "b", "rubric", "suite", "outputs")
_OR_COMPARISONS = ("run", "result", "other")


def completion_table(command: click.Command, context: click.Context) -> dict[str, Any]:
    """What shell completion needs to know of a command.

    Args:
        command: The command or group.
        context: The context of click.

    Returns:
        Its summary, options, arguments and commands, as JSON.
    """
    options: dict[str, object] = {}
    for one in command.get_params(context):
        if isinstance(one, click.Option) and not one.hidden:
            about = " ".join((one.help or "").split()).partition(". ")[0].removesuffix(".")
            takes = None if one.is_flag or one.count else _completed(one)
            options |= {name: [about, takes] for name in (*one.opts, *one.secondary_opts)}
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    found: dict[str, Any] = {
        "about": command.get_short_help_str(100),
        "options": dict(sorted(options.items(), key=lambda one: (one[0][:2] != "--", one[0]))),
        "arguments": [_completed(one) for one in arguments],
        "repeats": any(one.nargs == -1 for one in arguments),
    }
    if isinstance(command, click.Group):
        names = command.list_commands(context)
        under = {n: one for n in names if (one := command.get_command(context, n)) is not None}
        found["commands"] = {n: completion_table(one, context) for n, one in under.items()}
        for name, about in COMMANDS_BY_NAME.items() if command is judgekit else ():
            found["commands"][name]["about"] = about
    return found


def _completed(parameter: click.Parameter) -> list[str]:
    """The kinds of values that are proposed for a parameter; `=word` is one of its choices."""
    name = parameter.name or ""
    if isinstance(parameter.type, click.Choice):
        return [f"={choice}" for choice in parameter.type.choices]
    kinds = []
    if isinstance(parameter.type, click.Path):
        kinds = ["file" if parameter.type.file_okay else "dir"]
    elif name in _COMPLETED:
        kinds = [_COMPLETED[name]]
        kinds += ["comparison"] if name in _OR_COMPARISONS else []
        kinds += ["file"] if name in _OR_FILES else []
        kinds = ["baseline", *kinds] if name == "baseline" else kinds
    return kinds


def completion_file() -> str:
    """The file that shell completion reads.

    Returns:
        JSON, one option a line.
    """
    table = completion_table(judgekit, click.Context(judgekit, info_name="judgekit"))
    text = json.dumps(table, ensure_ascii=False, indent=1)
    # A list of a few words on one line, so that a change is one line of the diff.
    return re.sub(r"\[\s*([^\[\]]*?)\s*\]", lambda m: f"[{' '.join(m[1].split())}]", text) + "\n"


def listed_names() -> set[str]:
    """The assertions that stand in some section.

    Returns:
        Their names.
    """
    registry = assertion_registry()
    return {n for wanted in _GROUPS.values() for want in wanted for n in _named(want, registry)}


def written() -> dict[Path, str]:
    """What this script writes.

    Returns:
        The text of each file.
    """
    return {
        PAGE: page(),
        SUITES: suites_page(),
        COMMANDS: commands_page(),
        PYTEST_OPTIONS: pytest_options(),
        COMMANDS_FILE: completion_file(),
    }


def main(arguments: list[str]) -> int:
    """Write the pages, or with `--check` compare them.

    Args:
        arguments: What follows the script's name.

    Returns:
        0; 1 if a page is stale and only compared.
    """
    found = written()
    if "--check" in arguments:
        return int(any(path.read_text(encoding="utf-8") != text for path, text in found.items()))
    for path, text in found.items():
        path.write_text(text, encoding="utf-8")
    return 0


def _named(want: str, registry: Registry) -> list[str]:
    if not want.endswith("."):
        return [want]
    return [name for name in registry if name.startswith(want)]


def _table(names: Iterable[str], registry: Registry, examples: Mapping[str, object]) -> str:
    rows = ["| assertion | passes when | parameters | example |", "| --- | --- | --- | --- |"]
    for name in names:
        function = _function(registry, name)
        also = _synonyms(name)
        called = f"`{name}`" + (f"<br>also {also}" if also else "")
        about = _first_words(function).removeprefix("Pass when ")
        rows.append(_row(called, about, _parameters(function), f"`{_flow(examples[name])}`"))
    return "\n".join(rows)


def _scorer_table(examples: Mapping[str, object]) -> str:
    registry = scorer_registry()
    rows = ["| scorer | measures | parameters | example |", "| --- | --- | --- | --- |"]
    for name in registry:
        function = _function(registry, name)
        about = _first_words(function).removeprefix("Score ")
        example = f"`{_flow(examples[name])}`"
        rows.append(_row(f"`{name}`", about, _parameters(function), example))
    return "\n".join(rows)


def _scorers_intro() -> str:
    return (
        "A scorer gives a number on [0, 1] and keeps what it measured as `raw`. Scorers stand "
        "under `scorers:` in\na suite ([suites.md](suites.md#scorers)), or are asked from Python: "
        "[extending.md](extending.md#a-scorer) shows how,\nand how to write one."
    )


def _function(registry: Registry, name: str) -> Callable[..., object]:
    return cast("Callable[..., object]", registry.load(name))


def _synonyms(name: str) -> str:
    return ", ".join(
        f"`{other}`{_difference(synonym)}"
        for other, synonym in sorted(SYNONYMS.items())
        if synonym.name == name
    )


def _difference(synonym: Synonym) -> str:
    """What another name changes beside the name."""
    parts = [f"`{key}: {json.dumps(value)}`" for key, value in synonym.fixed.items()]
    parts += [f"its `{theirs}` is `{own}`" for theirs, own in synonym.renamed.items()]
    return f" ({', '.join(parts)})" if parts else ""


def _first_words(function: Callable[..., object]) -> str:
    text = inspect.cleandoc(function.__doc__ or "").split("\n\n")[0]
    return " ".join(text.split()).removesuffix(".")


def _parameters(function: Callable[..., object]) -> str:
    descriptions = _argument_descriptions(function)
    signature = inspect.signature(function).parameters
    lines, shared = [], []
    for name, parameter in declaration_of(function).parameters.items():
        if name in _EXPLAINED_ABOVE and not parameter.is_required:
            default = signature[name].default
            shared.append(f"`{name}`" + (f" ({default:g} s)" if name == "timeout_s" else ""))
        elif name not in _NOT_IN_FILES:
            about = _parameter(parameter, signature[name].default, descriptions.get(name, ""))
            lines.append(f"`{name}`{about}")
    return "<br>".join([*lines, *([", ".join(shared)] if shared else [])]) or "none"


def _parameter(parameter: Parameter, default: object, description: str) -> str:
    kind = _kind(parameter, description)
    if not parameter.is_required and default is not None:
        kind = f"{kind}, else {_plain(default)}".removeprefix(", ")
    mark = "" if parameter.is_required else "?"
    return f"{mark}{f' ({kind})' if kind else ''}: {_for_files(description)}"


def _plain(default: object) -> str:
    if isinstance(default, float):
        return f"{default:g}"
    return default if isinstance(default, str) else json.dumps(default)


def _for_files(description: str) -> str:
    """The words of a docstring for readers who write files."""
    words = description[:1].lower() + description[1:]
    words = re.sub(r"\bNone (?=takes|allows|sets|looks|counts|is )", "left out, it ", words)
    words = words.replace(". left out", ". Left out")
    return words.replace("`nodeId` in S1 files", "`nodeId` is read too")


def _kind(parameter: Parameter, description: str) -> str:
    """The type of a parameter in words; nothing if its description lists the choices."""
    try:
        schema = parameter.adapter.json_schema()
    except PydanticInvalidForJsonSchema:
        return ""
    options = schema.get("enum", ())
    return "" if options and all(f"`{one}`" in description for one in options) else _worded(schema)


def _worded(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        words = [_worded(one) for one in schema["anyOf"] if one.get("type") != "null"]
        return " or ".join(word for word in words if word)
    if "enum" in schema:
        return _one_of(schema["enum"])
    kind = schema.get("type", "")
    return f"{_TYPE_WORDS.get(kind, kind)}{_ends(schema)}"


def _one_of(options: Sequence[str]) -> str:
    return f"one of {', '.join(options)}" if len(options) <= _ONE_OF_MANY else ""


def _ends(schema: Mapping[str, Any]) -> str:
    if {"minimum", "maximum"} <= schema.keys():
        return f", {schema['minimum']:g} to {schema['maximum']:g}"
    signs = {"exclusiveMinimum": ">", "minimum": "≥", "maximum": "≤"}
    return "".join(f" {sign} {schema[key]:g}" for key, sign in signs.items() if key in schema)


def _argument_descriptions(function: Callable[..., object]) -> dict[str, str]:
    """The description of each argument in the docstring."""
    text = inspect.cleandoc(function.__doc__ or "")
    block = re.search(r"^Args:\n((?: {4}.*\n?)+)", text, re.MULTILINE)
    if block is None:
        return {}
    found = re.findall(r"^ {4}(\w+): ((?:.*)(?:\n {8}.*)*)", block[1], re.MULTILINE)
    return {name: " ".join(words.split()).removesuffix(".") for name, words in found}


def _elsewhere() -> str:
    rows = ["| name | instead |", "| --- | --- |"]
    return "\n".join(rows + [_row(f"`{name}`", what) for name, what in sorted(ELSEWHERE.items())])


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _flow(spec: object) -> str:
    """A spec as it stands in a suite, on one line."""
    if isinstance(spec, dict):
        return "{" + ", ".join(f"{key}: {_flow(value)}" for key, value in spec.items()) + "}"
    if isinstance(spec, list):
        return "[" + ", ".join(map(_flow, spec)) + "]"
    if isinstance(spec, str) and re.fullmatch(r"[A-Za-z][\w.\-]*", spec):
        return spec if yaml.safe_load(spec) == spec else f'"{spec}"'
    if isinstance(spec, str) and "\\" in spec:
        return f"'{spec}'"
    return json.dumps(spec, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
