"""Options about people's labels, spelled alike wherever labels are read."""

from __future__ import annotations

import click

from judgekit.cli.options import F, stacked
from judgekit.evaluation.calibrating.options import CalibrationOptions


def label_options(function: F) -> F:
    """Whose labels count, and how several come to one."""
    return stacked(
        function,
        click.option(
            "--annotator", multiple=True, metavar="NAME", help="Only this one; may be repeated."
        ),
        click.option(
            "--consensus",
            type=click.Choice(["median", "mean", "majority"]),
            default=CalibrationOptions().consensus,
            show_default=True,
            help="How several annotators come to one label.",
        ),
    )
