from __future__ import annotations

import click
from click.testing import CliRunner

from judgekit.cli.judge_options import resume_command


@click.command("run")
@click.option("--store")
@click.option("--max-cost", type=float)
@click.option("--seed", type=int)
def told(**_: object) -> None:
    """Prints how to go on."""
    click.echo(resume_command("run-1"))


def command(*words: str) -> str:
    """What is told after this command line."""
    return CliRunner().invoke(told, words).output.strip()


def test_what_was_given_is_given_again_but_for_what_one_sitting_needs() -> None:
    assert command("--store", "a b.db", "--max-cost", "2") == (
        "judgekit run --store 'a b.db' --resume run-1"
    )


def test_the_seed_is_given_again_for_it_decides_which_pairs_are_compared_first() -> None:
    assert command("--seed", "7") == "judgekit run --seed 7 --resume run-1"


def test_the_password_of_a_database_is_not_repeated() -> None:
    shown = command("--store", "postgresql://ada:s3cr:t@db.example:5432/runs")
    assert (
        shown == "judgekit run --store 'postgresql://ada:***@db.example:5432/runs' --resume run-1"
    )
    plain = "postgresql://ada@db.example:5432/runs"
    assert plain in command("--store", plain)
