"""`judgekit schema`: the JSON Schemas of judgekit's files, for editors and other programs."""

from __future__ import annotations

import json
from pathlib import Path

import click

from judgekit.atomic_write import write_text_atomically
from judgekit.cli import console
from judgekit.cli.help import command
from judgekit.cli.options import NEW_FILE, OutputOptions, option
from judgekit.cli.outputs import show_line
from judgekit.errors import SettingsError
from judgekit.resources import shipped_file

SCHEMAS = {
    "suite": "a suite: judgekit.yaml",
    "rubric": "a rubric: a YAML or JSON file",
    "case": "one case: a line of cases.jsonl, an item of a list of cases",
    "output": "one recorded output: a line of outputs.jsonl",
    "label": "one human label: a line of labels.jsonl",
}
"""The kinds of files that have a schema, and what each describes."""


class _SchemaOptions(OutputOptions):
    output: Path | None = option(
        "Write the schema to this file, not to stdout.", spelling="-o/--output", kind=NEW_FILE
    )


@command("schema", _SchemaOptions)
@click.argument("kind", type=click.Choice(list(SCHEMAS)), required=False)
def schema_command(options: _SchemaOptions, *, kind: str | None) -> None:
    """Print the JSON Schema of a kind of file; without KIND, list the kinds.

    Editors complete and explain fields by a schema. A schema describes the form of a file, and
    judgekit validate also finds what no schema can express, such as a missing file.

    Examples:
        judgekit schema
        judgekit schema suite -o judgekit.schema.json
        judgekit schema rubric -o rubric.schema.json
    """
    if kind is None:
        if options.output is not None:
            raise SettingsError("-o needs a KIND", hint=f"one of {', '.join(SCHEMAS)}")
        if options.as_json:
            console.print_json(SCHEMAS)
            return
        width = max(map(len, SCHEMAS))
        for name, words in SCHEMAS.items():
            click.echo(f"{name.ljust(width)}  {words}")
        return
    text = shipped_file("prompts", f"{kind}.schema.json").read_text(encoding="utf-8")
    if options.output is None:
        # Printed the same way with and without --json: a schema is JSON.
        console.print_json(json.loads(text))
        return
    write_text_atomically(options.output, text)
    words = f"wrote the schema of {SCHEMAS[kind].partition(':')[0]} to {options.output}"
    show_line(words, {"kind": kind, "file": str(options.output)}, options, is_note=True)
