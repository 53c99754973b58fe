"""Everything in judgekit that reads what others wrote, and the law of reading.

The law: an input gives a result or a `JudgekitError` that names the file, within a deadline and
with little memory, and no score outside its scale.
"""

from __future__ import annotations

import contextlib
import io
import json
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import judgekit as jk
from judgekit.calibration import load_recorded_replies, read_judged_file
from judgekit.cli.main import main
from judgekit.datasets import (
    iter_case_outputs,
    load_calibration,
    load_suite,
    open_cases,
    read_labels,
    suite_from_path,
    validate_path,
)
from judgekit.datasets.traces import read_trace
from judgekit.exports.conversion import convert_to_rubric, open_conversion_source
from judgekit.fingerprint import fingerprint
from judgekit.formats import edit_value, read_document, read_graders, read_skill_history
from judgekit.models.cache import MemoryCache, import_entries
from judgekit.models.capabilities import parse_completion
from judgekit.models.error_mapping import ProviderFault, fault_of_response
from judgekit.prompts import PairTemplate, PromptTemplate, parse_analysis
from judgekit.prompts.parsing import (
    PAIR_FORMATS,
    TEXT_FORMATS,
    PairReplyFormat,
    PreferenceReply,
    ReplyFormat,
    parse_criterion_replies,
    parse_formatted_preference,
    parse_formatted_reply,
    parse_preferences,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DATA = Path(__file__).parents[1] / "data"
SEEDS = Path(__file__).parent / "corpus" / "seeds"
FOUND = Path(__file__).parent / "corpus" / "found"

# Scores on a whole scale, on one with a fraction, and on one that begins below zero.
_CRITERIA = [
    jk.Criterion(name="accuracy", question="Is it right?", scale={"min": 1, "max": 5}),
    jk.Criterion(name="clarity", question="Is it clear?", scale={"min": 0, "max": 1}),
    jk.Criterion(name="tone", question="Is it polite?", scale={"min": -2, "max": 2}),
]
_JUDGED = ["The parcel came on Monday.", 'He wrote {"score": 5} and "Score: 3".']
_CASE = jk.Case(id="c", input="When?", reference="On Monday.")
_OUTPUT = jk.Output(text="It came on Monday.")
_RUBRIC = jk.Rubric(name="r", criteria=_CRITERIA[:1])
_EXITS = frozenset({0, 1, 2, 3, 4, 5, 6})


class BrokenLawError(AssertionError):
    """A reader did what none may do."""


@dataclass(frozen=True, slots=True)
class Reader:
    """One way in which judgekit reads an input; what it reads is a file, or the text of a reply."""

    name: str
    read: Callable[[Path], object]
    prefixes: tuple[str, ...] = ("",)
    """How the seeds are called that this reader understands; it must stand all of them."""

    names_file: bool = True
    weight: int = 4
    """Its share of the time: `make fuzz` gives 100,000 inputs to each that is not slow."""


def law(reader: Reader, path: Path) -> str:
    """How reading ends: `read`, or the name of the error; anything else is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            reader.read(path)
        except jk.JudgekitError as error:
            # The file itself, or one that it names.
            if reader.names_file and not _names(path, str(error)):
                raise BrokenLawError(f"the error does not name the file: {error}") from error
            return type(error).__name__
    return "read"


def _names(path: Path, message: str) -> bool:
    """Whether a message names a file, or one beside it that the file names."""
    return path.name in message or str(path.parent) in message


def _score(raw: float | None, criterion: jk.Criterion) -> None:
    if raw is not None and not criterion.scale.min <= raw <= criterion.scale.max:
        raise BrokenLawError(f"{raw} is no score of {criterion.name}")


def _reply(path: Path) -> str:
    # A reply may hold lone surrogates: JSON writes them as escapes.
    return path.read_bytes().decode("utf-8", "surrogateescape")


def _tolerantly(path: Path) -> None:
    text = _reply(path)
    for criteria in (_CRITERIA[:1], _CRITERIA):
        for finish_reason in ("stop", "length"):
            with contextlib.suppress(jk.JudgeError):
                for name, raw in jk.parse_reply(text, criteria, finish_reason, _JUDGED).items():
                    _score(raw, next(one for one in criteria if one.name == name))


def _strictly(path: Path) -> None:
    text = _reply(path)
    with contextlib.suppress(jk.JudgeError):
        for name, one in parse_criterion_replies(text, _CRITERIA, judged_text=_JUDGED).items():
            _score(one.raw, next(criterion for criterion in _CRITERIA if criterion.name == name))
    with contextlib.suppress(jk.JudgeError):
        for preference in parse_preferences(text, ["overall"], judged_text=_JUDGED).values():
            _preference(preference)
    with contextlib.suppress(jk.JudgeError):
        parse_analysis(text, "stop")


def _in_text_formats(path: Path) -> None:
    text = _reply(path)
    scored = {"A": 5.0, "B": 3.0, "Yes": 1.0}
    for kind in TEXT_FORMATS:
        with contextlib.suppress(jk.JudgeError):
            found = parse_formatted_reply(
                text, _CRITERIA[0], reply_format=ReplyFormat(kind, scored), judged_text=_JUDGED
            )
            _score(found.raw, _CRITERIA[0])
    for kind in PAIR_FORMATS:
        form = PairReplyFormat(kind, {"A": "first", "B": "second", "C": "tie"})
        with contextlib.suppress(jk.JudgeError):
            _preference(parse_formatted_preference(text, form, judged_text=_JUDGED))


def _preference(found: PreferenceReply) -> None:
    if found.choice not in {"first", "second", "tie", None}:
        raise BrokenLawError(f"{found.choice} is no choice")
    for raw in (found.raw_first, found.raw_second):
        if raw is not None and not 1 <= raw <= 10:
            raise BrokenLawError(f"{raw} is no score of a side")


def _provider(path: Path) -> None:
    """What an endpoint answers: a completion, an error, when it may be asked again."""
    text = _reply(path)
    with contextlib.suppress(ValueError, RecursionError):
        body = json.loads(text)
        for by_tool in (False, True):
            found = parse_completion(body, provider="p", by_tool=by_tool)
            if isinstance(found, ProviderFault):
                str(found.to_error())
    for status in (200, 400, 429, 500):
        headers = {"Retry-After": text[:200], "Date": text[-200:], "x-request-id": text[:50]}
        fault = fault_of_response("p", status, text, headers)
        str(fault.to_error())
        if not 0 <= (fault.retry_after_s or 0) < float("inf"):
            raise BrokenLawError(f"a wait of {fault.retry_after_s} s")


def _cases(path: Path) -> None:
    dataset = jk.load_dataset(path)
    jk.validate_dataset(dataset)
    for case in dataset.cases:
        # What was read can be written and read again.
        if jk.Case.model_validate(json.loads(json.dumps(case.to_json()))) != case:
            raise BrokenLawError(f"the case {case.id!r} changes when it is written")


def _streamed(path: Path) -> None:
    for _ in open_cases(path):
        pass


def _rubric(path: Path) -> None:
    rubric = jk.load_rubric(path)
    if jk.Rubric.model_validate(rubric.to_json()) != rubric:
        raise BrokenLawError("the rubric changes when it is written")


def _outputs(path: Path) -> None:
    for _, output in iter_case_outputs(path, needs_input=False):
        jk.Output.model_validate(json.loads(json.dumps(output.to_json())))


def _labels(path: Path) -> None:
    for one in read_labels(path, note=lambda _: None):
        json.dumps(one.label.to_json(), allow_nan=False)


def _converted(path: Path) -> None:
    for _ in open_conversion_source(path).cases:
        pass


def _exported_replies(path: Path) -> None:
    import_entries(MemoryCache(), path)


def _resealed_replies(path: Path) -> None:
    """An export whose lines were changed by someone who computed the checksums anew."""
    lines = []
    for line in path.read_bytes().splitlines():
        with contextlib.suppress(ValueError, RecursionError, TypeError, AttributeError):
            body = json.loads(line)
            body.pop("checksum", None)
            if isinstance(body.get("request"), dict):
                body["key"] = fingerprint(body["request"])
            line = json.dumps({**body, "checksum": fingerprint(body)}).encode()  # noqa: PLW2901
        lines.append(line)
    path.write_bytes(b"\n".join(lines))
    with MemoryCache() as cache:
        report = import_entries(cache, path, on_error="skip")
        for key in cache.keys():  # noqa: SIM118 - a cache is no dict
            reply = cache.get(key)
            if reply is not None and not (reply.text or "").strip():
                raise BrokenLawError(f"an empty reply would be served: {report}")


def _template(path: Path) -> None:
    kind = PairTemplate if path.name.startswith("template_pair") else PromptTemplate
    template: Any = kind(path.stem, [path.parent])
    if kind is PromptTemplate:
        list(template.prompts(_CASE, _OUTPUT, _RUBRIC))
    else:
        list(template.prompts(_CASE, "One output.", "Another output.", _RUBRIC))


def _edited(path: Path) -> None:
    document = read_document(path)
    text = path.read_text("utf-8")
    if isinstance(document.value, dict):
        for key in list(document.value)[:3]:
            with contextlib.suppress(jk.SettingsError):
                edit_value(text, path, "set", (key,), "changed")
            with contextlib.suppress(jk.SettingsError):
                edit_value(text, path, "remove", (key,))


def _command(*arguments: str) -> Callable[[Path], None]:
    """A command; its exit code and its words are checked as users see them."""

    def run(path: Path) -> None:
        # In a folder of its own: what a command writes is not the next one's input.
        out = path.with_suffix(".out")
        words = [one.format(path=path, out=out, rubric=_rubric_file()) for one in arguments]
        stdout, stderr = io.StringIO(), io.StringIO()
        code: object = None
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            try:
                main(words)
            except SystemExit as stop:
                code = stop.code
        if code not in _EXITS or "Traceback" in stderr.getvalue():
            raise BrokenLawError(f"exit {code}: {stderr.getvalue()[-500:]}")
        if code == 2 and not _names(path, stderr.getvalue() + stdout.getvalue()):
            raise BrokenLawError(f"the message does not name the file: {stderr.getvalue()[-500:]}")

    return run


@cache
def _rubric_file() -> Path:
    return SEEDS / "rubric_for_commands.yaml"


READERS: dict[str, Reader] = {
    one.name: one
    for one in (
        Reader("reply", _tolerantly, ("reply",), names_file=False, weight=8),
        Reader("strict reply", _strictly, ("reply",), names_file=False),
        Reader("reply in text formats", _in_text_formats, ("reply",), names_file=False),
        Reader("provider", _provider, ("provider",), names_file=False),
        Reader("cases", _cases),
        Reader("streamed cases", _streamed),
        Reader("any file", validate_path, names_file=False),
        Reader("rubric", _rubric, ("own_rubric", "quality")),
        Reader("suite", load_suite, ("own_suite", "own_cases"), weight=1),
        Reader("file as a suite", suite_from_path),
        Reader("outputs", _outputs, ("rows", "own_outputs", "traces", "opentelemetry", "a_log")),
        Reader("labels", _labels, ("rows_labels", "quality", "a_log", "scores", "votes")),
        Reader("judged file", read_judged_file, ("own_outputs", "rows", "a_grading")),
        Reader("recorded replies", load_recorded_replies, ("recorded", "rows_replies")),
        Reader("conversion", _converted),
        Reader("rubric of graders", convert_to_rubric, ("a_grader", "an_evaluation", "quality")),
        Reader("graders", read_graders, ("a_grader", "an_evaluation")),
        Reader("history", read_skill_history, ("a_history",)),
        Reader("calibration", load_calibration, ("calibration",)),
        Reader("trace", read_trace, ("opentelemetry", "traces", "runs")),
        Reader("cache export", _exported_replies, ("cache_export",)),
        Reader("resealed cache export", _resealed_replies, ("cache_export",)),
        Reader("template", _template, ("template",), names_file=False),
        Reader("edit", _edited, ("own",), weight=1),
        Reader("validate", _command("validate", "{path}"), weight=1),
        Reader("lint", _command("lint", "{path}"), ("own", "template"), weight=1),
        Reader("convert", _command("convert", "{path}", "-o", "{out}.jsonl", "--lossy"), weight=1),
        Reader(
            "report",
            _command("report", "{path}", "-o", "{out}.html"),
            ("own_outputs", "rows_none"),
            weight=1,
        ),
        Reader(
            "grade",
            _command(
                "grade", "{path}", "--rubric", "{rubric}", "--judge", "recorded:{path}",
                "--no-store", "--no-cache", "--json",
            ),
            ("rows_outputs", "own_outputs"),
            weight=1,
        ),
        Reader(
            "calibrate",
            _command("calibrate", "{path}", "--results", "{path}", "--rubric", "{rubric}"),
            ("rows_labels", "own_outputs"),
            weight=1,
        ),
    )
}  # fmt: skip


@cache
def seeds() -> dict[str, bytes]:
    """The inputs that others are made from, by the names of their files."""
    found = {path.name: path.read_bytes() for path in sorted(SEEDS.iterdir())}
    for file, field in (("malformed_dev", "response_text"), ("readable_replies", "text")):
        for number, line in enumerate((DATA / f"{file}.jsonl").read_text("utf-8").splitlines()):
            text = json.loads(line)[field]
            if text:
                found[f"reply_{file}_{number}.txt"] = text.encode("utf-8", "surrogatepass")
    return found


def seeds_of(reader: Reader) -> Sequence[str]:
    """The seeds that a reader understands."""
    return [name for name in seeds() if name.startswith(reader.prefixes) and (
        reader.prefixes != ("",) or not name.startswith(("reply", "template"))
    )]  # fmt: skip
