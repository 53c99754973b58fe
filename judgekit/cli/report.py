"""`judgekit report`: writes a stored result, or one that is in a file, as a page of its own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from pydantic import ValidationError

from judgekit import datasets, evaluation, formats, records, report, store as stores
from judgekit.cli import console
from judgekit.cli.help import command
from judgekit.cli.options import (
    CacheFolderOptions,
    OutputOptions,
    ReplyOptions,
    StoreOptions,
    option,
    refuse_others,
    rubric_option,
    typed_options,
)
from judgekit.cli.outputs import check_replies, output_option, sort_outputs
from judgekit.cli.rank import recorded_ranking
from judgekit.cli.setup import page_replies
from judgekit.errors import DatasetError, SettingsError
from judgekit.records import CaseResult, Verdict

if TYPE_CHECKING:
    from judgekit.report import Document, JudgeReplies

_MOST_NAMED = 8

# The fields of a row, by which the files that judgekit writes are distinguished.
_RESULT_FIELDS = {"case", "output", "judgments"}
_VERDICT_FIELDS = {"judgments", "criteria", "passed"}


class _ReportOptions(StoreOptions, CacheFolderOptions, ReplyOptions, OutputOptions):
    output: tuple[Path, ...] = output_option("Write the report to FILE: .html, .md or .json.")
    rubric: str | None = rubric_option("The rubric that judged a file of results.")
    names: tuple[str, ...] = option(
        "With OTHER: the name to show for RESULT, and the second time for OTHER.",
        (),
        spelling="--name",
        metavar="TEXT",
    )


@command("report", _ReportOptions)
@click.argument("result")
@click.argument("other", required=False)
def report_command(options: _ReportOptions, *, result: str, other: str | None) -> None:
    """Write RESULT as a page: one file with everything in it, to be opened, sent or kept.

    RESULT is a run (its id, the beginning of it, latest or latest:SUITE), a comparison (cmp-…), or
    a file with results: of run -o, grade -o, compare -o, rank -o or export, as .jsonl or .json.

    With OTHER, two runs are shown side by side: where OTHER is worse or better, and which words
    changed. RUN::VARIANT names one of several variants.

    The page contains the data of the cases: inputs, outputs and judgments.

    Examples:
        judgekit report latest -o run.html
        judgekit report latest --with-replies -o run.html
        judgekit report latest::v1 latest::v2 -o diff.html
        judgekit report verdicts.jsonl -o grading.html
    """
    files = sort_outputs(options.output, what="a report")
    if not files.documents:
        raise SettingsError("no file is named to write the report to", hint="-o report.html")
    check_replies(options, files)
    is_file = other is None and Path(result).is_file()
    if is_file:
        refuse_others({"rubric"}, "is for stored runs and comparisons", "omit it")
        document = _file_document(Path(result), options.rubric, has_page=files.has_page)
    elif "rubric" in typed_options():
        raise SettingsError("--rubric is for files: what is stored has its own", hint="omit it")
    else:
        with (
            options.open_store() as store,
            page_replies(options.cache_dir, is_wanted=options.with_replies) as replies,
        ):
            names = _side_names(options.names, has_sides=other is not None)
            document = _stored_document(
                store, result, other, replies, names=names, has_page=files.has_page
            )
    for path in files.documents:
        report.write_document(path, document)
        console.note(f"wrote the report to {path}; it contains the data of the cases")
    if options.as_json:
        written = [str(path) for path in files.documents]
        conclusion = {"tone": document.conclusion.tone, "text": document.conclusion.text}
        console.print_json({"title": document.title, "conclusion": conclusion, "files": written})


def _side_names(names: tuple[str, ...], *, has_sides: bool) -> tuple[str, str] | None:
    if not names:
        return None
    if not has_sides or len({*names}) != len(names) or len(names) != 2:  # noqa: PLR2004 - two sides
        raise SettingsError(
            "--name is for two runs side by side: give it twice, with two names",
            hint="judgekit report OLD NEW --name base --name 'this branch' -o diff.md",
        )
    return names[0], names[1]


def _stored_document(
    store: stores.RunStore,
    result: str,
    other: str | None,
    replies: JudgeReplies | None,
    *,
    names: tuple[str, str] | None,
    has_page: bool,
) -> Document:
    if other is not None:
        sides = evaluation.run_and_variant(result, store), evaluation.run_and_variant(other, store)
        return report.side_by_side_document(store, *sides, replies, names=names)
    if result.startswith(records.COMPARISON_ID_PREFIX):
        found = store.any_comparison(result)
        return report.stored_comparison_document(store, found, replies, has_page=has_page)
    return report.stored_run_document(
        store, evaluation.Run(store.run(result), store), replies, has_page=has_page
    )


def _file_document(path: Path, rubric: str | None, *, has_page: bool) -> Document:
    """The report of a file that another command wrote."""
    first = next(formats.iter_rows(path), None)
    fields = set() if first is None else first.fields.keys()
    if "rubric" in typed_options() and not fields >= _RESULT_FIELDS:
        raise SettingsError(
            f"--rubric is for the answers that run -o or export wrote, and {path.name} has none",
            hint="omit it: verdicts and comparisons were concluded by a rubric of their own",
        )
    if fields >= _VERDICT_FIELDS:
        # A variant without a name is none that a run could have.
        verdicts = [
            one.model_copy(update={"variant": one.variant or "outputs"})
            for one in _read(path, Verdict)
        ]
        answers = [*evaluation.verdict_outcomes(verdicts)]
        run = _recorded_run(verdicts[0].rubric, [one.result for one in answers])
    elif fields >= _RESULT_FIELDS:
        results = _read(path, CaseResult)
        own = None if rubric is None else datasets.load_rubric(rubric)
        if own is None and any(
            one.judgments and not isinstance(one.case.rubric, records.Rubric) for one in results
        ):
            raise SettingsError(
                f"{path.name} does not say by which rubric its answers pass",
                hint=f"give --rubric FILE, or report the run: judgekit report {results[0].run_id}",
            )
        run = _recorded_run(path.stem, results, own)
        answers = [evaluation.conclude_result(one, run) for one in results]
    elif evaluation.holds_comparisons(path):
        return recorded_ranking([path], evaluation.RankRules(), has_page=has_page)[0]
    else:
        some = ", ".join([*fields][:_MOST_NAMED]) or "none"
        raise DatasetError(
            f"it holds no results of judgekit; the fields of its first row: {some}",
            path=path,
            hint="give what run -o, grade -o, compare -o, rank -o or export wrote as .jsonl or "
            ".json; outputs are graded first: judgekit grade FILE -o report.html",
        )
    tally, cases = evaluation.RunTally(run), report.RunCases(run)
    # A file may have its rows by variant, and a row of the page is a case.
    for one in sorted(answers, key=lambda answer: answer.result.place):
        tally.take(one)
        cases.take(one)
    left_out = report.Lines(
        (("settings", "as far as the file has them: it holds no suite and no gate"),)
    )
    tables = (cases.table(), left_out) if has_page else (left_out,)
    return report.run_document(tally.summary(), answers=tables, is_stored=False)


_Row = TypeVar("_Row", Verdict, CaseResult)


def _read(path: Path, kind: type[_Row]) -> list[_Row]:
    found = []
    for row in formats.iter_rows(path):
        try:
            found.append(kind.model_validate(row.fields))
        except ValidationError as error:
            fault = formats.validation_faults(error, kind, row.fields)[0]
            raise DatasetError(str(fault), path=path, line=row.line) from error
    return found


def _recorded_run(
    name: str, results: Sequence[CaseResult], rubric: records.Rubric | None = None
) -> records.RunInfo:
    """The run that results come from, as far as they show it."""
    judges = [answer.judge for one in results for answer in one.judgments]
    judges += [failure.judge for one in results for failure in one.failures]
    return records.RunInfo(
        id=results[0].run_id,
        suite=name,
        started_at=results[0].ran_at or datetime.fromtimestamp(0, UTC),
        status="complete" if all(one.is_done for one in results) else "incomplete",
        config={"settings": {"repeats": 1 + max(one.repeat for one in results)}},
        n_cases=len({one.place for one in results}),
        rubric=rubric,
        variants=tuple(
            records.Variant(id=name) for name in dict.fromkeys(one.variant for one in results)
        ),
        panel=records.RunPanel(judges=tuple(dict.fromkeys(filter(None, judges)))),
    )
