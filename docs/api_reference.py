# ruff: noqa: INP001 - a folder of documents, no package
"""Writes `docs/reference/`: the Python API, settings of a suite, exit codes, environment variables.

Everything is read from the product: docstrings, the suite's JSON Schema, the commands' options. Run
it after a change: `python docs/api_reference.py`. A test fails while a page is stale.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import pkgutil
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import judgekit
import judgekit.stats
import judgekit.testing
from judgekit.cli.exit_codes import exit_code
from judgekit.cli.main import JOBS, judgekit as main_command
from judgekit.resources import shipped_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import ModuleType

FOLDER = Path(__file__).with_name("reference")
_WRITTEN = "This page is written by `docs/api_reference.py` from the product itself."
_SECTION = re.compile(r"^(Args|Returns|Raises|Example|Examples|References|Yields):\n", re.MULTILINE)
_ENTRY = re.compile(r"^ {4}(\*{0,2}\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)
_WIDTH = 88

_MACHINERY = {"judge", "models", "testing", "store"}
_KINDS = (
    ("Functions", lambda found, _: inspect.isfunction(found)),
    ("Judges, models, caches and stores", lambda _, home: home in _MACHINERY),
    ("Options and results", lambda _, home: home not in {"records", "errors"}),
    ("Records", lambda _, home: home == "records"),
    ("Errors", lambda _, home: home == "errors"),
)  # fmt: skip

_CODES = {
    0: "success",
    1: "quality is below the gate or `--fail-under`, or `--fail-fast` ended the run",
    2: "an option, a file or the configuration is invalid; nothing was called",
    3: "the result is incomplete: a judge, a target or a provider failed, or judgekit itself",
    4: (
        "inconclusive: too few cases, runs that are not comparable, a calibration that is missing "
        "or stale, or answers of annotators or a provider's batch that are still missing"
    ),
    5: "the limit of cost or time was reached",
    6: "the frozen cache does not have a reply",
    130: "interrupted; what was done is stored, and `--resume` continues",
}

_OWN_CODES = {"ApprovalRefusedError": (1, 4), "StoreError": (2, 3)}
"""Errors whose code depends on more than their class."""

_OTHER_VARIABLES = {
    "JUDGEKIT_DATA": "the folder of public data sets that `judgekit data get` fills",
    "TIKTOKEN_CACHE_DIR": "the folder in which tiktoken keeps its tables of tokens",
    "JUDGEKIT_LOCAL_GGUF": "the file of weights of the model `local`",
    "JUDGEKIT_LOCAL_THREADS": "the threads that the model `local` uses",
    "PGPASSWORD, REDIS_PASSWORD": "the password of a server of `--cache` or `--store`, where the "
    "address has none",
    "NO_COLOR": "any value: no colours in the terminal",
    "CI": "any value: no progress bar; messages are lines",
    "GITHUB_ACTIONS, GITLAB_CI, …": "what started a run, for `--triggered-by`",
    "OPENAI_API_KEY, ANTHROPIC_API_KEY, …": "keys of providers, by the names that litellm uses",
}


def api_page() -> str:
    """The names of `judgekit.__all__`, by kind.

    Returns:
        Markdown.
    """
    names = [name for name in judgekit.__all__ if name != "__version__"]
    rest = {name: getattr(judgekit, name) for name in names}
    parts = [
        "# Python API",
        (
            f"{_WRITTEN} These names are imported from `judgekit`; all others may change. A "
            "function "
            "whose name ends in `_sync` does the same as the one without, for callers that are not "
            "asynchronous."
        ),
    ]
    for title, is_of in _KINDS:
        chosen = {name: found for name, found in rest.items() if is_of(found, _home(found))}
        rest = {name: found for name, found in rest.items() if name not in chosen}
        parts.append(f"## {title}")
        parts += [_described(name, found) for name, found in chosen.items()]
    return _joined(parts)


def testing_page() -> str:
    """The names of `judgekit.testing`.

    Returns:
        Markdown.
    """
    module = judgekit.testing
    about = inspect.getdoc(module) or ""
    parts = ["# judgekit.testing", _WRITTEN, about]
    for name in module.__all__:
        found = getattr(module, name)
        if isinstance(found, dict):
            listed = ", ".join(f"`{each}`" for each in found)
            parts += [f"### {name}", f"The faults of a `ChaosServer`: {listed}."]
        else:
            parts.append(_described(name, found))
    return _joined(parts)


def stats_page() -> str:
    """Every function of `judgekit.stats` that has a full docstring, by module.

    Returns:
        Markdown.
    """
    parts = [
        "# judgekit.stats",
        f"{_WRITTEN} The [statistics pages](../statistics/rates.md) explain what the figures mean.",
        _without_summary(judgekit.stats),
    ]
    for info in pkgutil.iter_modules(judgekit.stats.__path__):
        module = importlib.import_module(f"judgekit.stats.{info.name}")
        functions = dict(_public_functions(module))
        if functions:
            parts += [
                f"## judgekit.stats.{info.name}",
                (inspect.getdoc(module) or "").split("\n\n")[0],
            ]
            parts += [_described(name, found) for name, found in functions.items()]
    return _joined(parts)


def settings_page() -> str:
    """The settings of a suite's file, from its JSON Schema.

    Returns:
        Markdown.
    """
    schema = json.loads(shipped_file("prompts", "suite.schema.json").read_text(encoding="utf-8"))
    parts = [
        "# Settings of a suite",
        f"{_WRITTEN} They stand in `judgekit.yaml`; [suites](../suites.md) shows them in use.",
        "## Suite",
        _settings_table(schema),
    ]
    for name, one in sorted(schema["$defs"].items()):
        if "properties" in one:
            about = " ".join(one.get("description", "").split("\n\n")[0].split())
            parts += [f"## {name}", about, _settings_table(one)]
    return _joined(parts)


def exit_codes_page() -> str:
    """What each exit code means, and which errors end a command with it.

    Returns:
        Markdown.
    """
    errors: dict[int, list[str]] = {}
    for name in judgekit.__all__:
        found = getattr(judgekit, name)
        if isinstance(found, type) and issubclass(found, judgekit.JudgekitError):
            own = _OWN_CODES.get(name)
            for code in own or (exit_code(found.__new__(found)),):
                errors.setdefault(code, []).append(f"`{name}`")
    rows = [
        _row(f"{code}", meaning, ", ".join(sorted(errors.get(code, []))))
        for code, meaning in _CODES.items()
    ]
    return _joined(
        [
            "# Exit codes",
            (
                f"{_WRITTEN} All commands use the same codes. In Python the same problems are "
                "raised "
                "as the errors of the last column; a failure of a judge within a run is not raised "
                "but counted."
            ),
            _table(["code", "meaning", "errors"], rows),
            (
                "A run that is stopped or incomplete keeps what it has: `judgekit run --resume` "
                "continues it, and `--retry-errors` repeats only what failed."
            ),
        ]
    )


def environment_page() -> str:
    """The environment variables that set options, and others that are read.

    Returns:
        Markdown.
    """
    options: dict[str, tuple[str, set[str]]] = {}
    for command, option in _options(
        main_command, [name for names in JOBS.values() for name in names]
    ):
        variables = [option.envvar] if isinstance(option.envvar, str) else option.envvar or ()
        for variable in variables:
            # A synonym has a variable of its own.
            name = f"--{variable.removeprefix('JUDGEKIT_').lower().replace('_', '-')}"
            spelled = name if name in option.opts else max(option.opts, key=len)
            options.setdefault(variable, (spelled, set()))[1].add(command)
    rows = []
    for variable, (spelled, commands) in sorted(options.items()):
        rows.append(_row(f"`{variable}`", f"`{spelled}`", ", ".join(sorted(commands))))
    others = [_row(", ".join(f"`{one}`" for one in names.split(", ")), what)
              for names, what in _OTHER_VARIABLES.items()]  # fmt: skip
    return _joined(
        [
            "# Environment variables",
            (
                f"{_WRITTEN} An option wins over its variable, and the variable over the "
                "suite's file."
            ),
            "## Options",
            _table(["variable", "option", "commands"], rows),
            "## Others",
            _table(["variable", "meaning"], others),
        ]
    )


def written() -> dict[Path, str]:
    """What this script writes.

    Returns:
        The text of each file.
    """
    pages: dict[str, Callable[[], str]] = {
        "api": api_page,
        "stats": stats_page,
        "testing": testing_page,
        "settings": settings_page,
        "exit_codes": exit_codes_page,
        "environment": environment_page,
    }
    return {FOLDER / f"{name}.md": page() for name, page in pages.items()}


def _home(found: Any) -> str:
    return str(found.__module__).split(".")[1]


def _public_functions(module: ModuleType) -> Iterator[tuple[str, Any]]:
    for name, found in vars(module).items():
        is_own = inspect.isfunction(found) and found.__module__ == module.__name__
        # Arguments are described where users may call a function; others have a sentence or none.
        if is_own and not name.startswith("_") and len((found.__doc__ or "").splitlines()) > 1:
            yield name, found


def _described(name: str, found: Any) -> str:
    """A heading, the signature and the docstring, and of a class its fields and methods."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(found))).body[0]
    parts = [f"### {name}"]
    if isinstance(tree, ast.ClassDef):
        fields = list(_fields(found))
        init = next(
            (
                one
                for one in tree.body
                if isinstance(one, ast.FunctionDef) and one.name == "__init__"
            ),
            None,
        )
        if init is not None:
            parts.append(_signature(init, f"{name}"))
        parts.append(_markdown(inspect.getdoc(found) or ""))
        if fields:
            parts.append(_table(["field", "type", "meaning"], [_row(*field) for field in fields]))
        for method in _methods(tree):
            about = _markdown(inspect.cleandoc(ast.get_docstring(method) or ""))
            parts += [_signature(method, f"{name}.{method.name}"), about]
    elif isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef):
        # A sync form is made from the other one, whose source it has.
        is_awaited = inspect.iscoroutinefunction(found)
        parts += [
            _signature(tree, name, is_awaited=is_awaited),
            _markdown(inspect.getdoc(found) or ""),
        ]
    return _joined(parts).strip()


def _methods(tree: ast.ClassDef) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for one in tree.body:
        is_method = isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
        if is_method and not one.name.startswith("_") and ast.get_docstring(one):
            yield one


def _fields(found: type) -> Iterator[tuple[str, str, str]]:
    """The annotated fields of a class and its bases, each with the docstring below it."""
    fields: dict[str, tuple[str, str, str]] = {}
    for base in reversed(found.__mro__):
        if not base.__module__.startswith("judgekit.") or base.__name__ in {"Record", "Result"}:
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        statements = [
            statement
            for one in (body.body if isinstance(body, ast.ClassDef) else [])
            # In `if TYPE_CHECKING` stands what a constructor takes beyond the field's type.
            for statement in (one.orelse if isinstance(one, ast.If) else [one])
        ]
        for statement, below in zip(statements, [*statements[1:], None], strict=True):
            if not isinstance(statement, ast.AnnAssign) or not isinstance(
                statement.target, ast.Name
            ):
                continue
            name, kind = statement.target.id, ast.unparse(statement.annotation)
            if name.startswith("_") or kind.startswith("ClassVar"):
                continue
            about = ""
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                about = " ".join(str(below.value.value).split())
            fields[name] = (f"`{name}`", f"`{_short_type(kind)}`", about)
    yield from fields.values()


def _short_type(kind: str) -> str:
    """The type without what only validates it."""
    shortened = re.sub(
        r"Annotated\[(.*?), (?:Field|BeforeValidator|AfterValidator)\(.*", r"\1", kind
    )
    return (
        shortened
        if shortened.count("[") == shortened.count("]")
        else kind.partition("[")[2].partition(",")[0]
    )


def _signature(
    tree: ast.FunctionDef | ast.AsyncFunctionDef, name: str, *, is_awaited: bool | None = None
) -> str:
    arguments = tree.args
    arguments.args = [one for one in arguments.args if one.arg not in {"self", "cls"}]
    if is_awaited is None:
        is_awaited = isinstance(tree, ast.AsyncFunctionDef)
    awaited = "await " if is_awaited else ""
    result = f" -> {ast.unparse(tree.returns)}" if tree.returns and tree.name != "__init__" else ""
    parts = _split(ast.unparse(arguments))
    text = f"{awaited}{name}({', '.join(parts)}){result}"
    if len(text) > _WIDTH:
        lines = ",\n    ".join(parts)
        text = f"{awaited}{name}(\n    {lines},\n){result}"
    return f"```py\n{text}\n```"


def _split(arguments: str) -> list[str]:
    """Arguments parted at the commas that stand in no brackets."""
    parts, depth = [""], 0
    for character in arguments:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    # `ast` writes no spaces around a default; one that is private says nothing to a reader.
    spaced = (re.sub(r"^(\w+: [^=]+)=", r"\1 = ", part.strip()) for part in parts)
    return [re.sub(r"= _\w+$", "= …", part) for part in spaced if part]


def _markdown(docstring: str) -> str:
    """A docstring in Google's style as Markdown."""
    head, *sections = _SECTION.split(docstring)
    parts = [head.strip()]
    for title, text in zip(sections[::2], sections[1::2], strict=True):
        if title in {"Args", "Raises"}:
            entries = [
                f"- `{name}`: {' '.join(words.split())}" for name, words in _ENTRY.findall(text)
            ]
            parts.append(
                f"**{'Arguments' if title == 'Args' else 'Raises'}**\n\n" + "\n".join(entries)
            )
        elif title.startswith("Example"):
            parts.append(f"**Example**\n\n```pycon\n{inspect.cleandoc(text).strip()}\n```")
        else:
            parts.append(f"**{title}**: {' '.join(inspect.cleandoc(text).split())}")
    return "\n\n".join(part for part in parts if part)


def _without_summary(module: ModuleType) -> str:
    return (inspect.getdoc(module) or "").partition("\n\n")[2]


def _settings_table(schema: dict[str, Any]) -> str:
    required = set(schema.get("required", ()))
    rows = []
    for name, one in schema["properties"].items():
        default = "required" if name in required else _default(one)
        about = " ".join(one.get("description", "").split())
        rows.append(_row(f"`{name}`", _type_of(one), default, about))
    return _table(["setting", "type", "default", "meaning"], rows)


def _default(schema: dict[str, Any]) -> str:
    default = schema.get("default")
    return (
        ""
        if default is None or default in ([], {}) or isinstance(default, dict)
        else f"`{json.dumps(default)}`"
    )


def _type_of(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return "any" if name == "JsonValue" else f"[{name}](#{name.lower()})"
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{one}`" for one in schema.get("enum", [schema.get("const")]))
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        kinds = dict.fromkeys(_type_of(one) for one in options if one.get("type") != "null")
        return " or ".join(kinds)
    kind = schema.get("type", "any")
    if kind == "array":
        inside = _type_of(schema["items"]) if isinstance(schema.get("items"), dict) else "any"
        return f"list of {inside}"
    return {"object": "mapping", "string": "text", "boolean": "true or false"}.get(kind, kind)


def _options(
    group: click.Group, names: Iterable[str], before: str = ""
) -> Iterator[tuple[str, click.Option]]:
    context = click.Context(group)
    for name in names:
        command = group.get_command(context, name)
        called = f"{before} {name}".strip()
        if isinstance(command, click.Group):
            yield from _options(command, command.list_commands(context), called)
        for each in command.params if command else ():
            if isinstance(each, click.Option):
                yield called, each


def _table(heads: Sequence[str], rows: Sequence[str]) -> str:
    return "\n".join([_row(*heads), _row(*("---" for _ in heads)), *rows])


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
