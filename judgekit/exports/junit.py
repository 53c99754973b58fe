"""Writes a run as JUnit XML for CI servers: a suite for each variant, a test for each result."""

from __future__ import annotations

import re
import shutil
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING

from judgekit.atomic_write import atomic_writer
from judgekit.exports.tabular import RunFormat, failure_reasons

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from judgekit.evaluation import Outcome
    from judgekit.records import RunInfo

    _Facts = Mapping[str, str | None]

# The characters XML 1.0 cannot hold in any form (section 2.2).
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_QUOTED = str.maketrans({'"': "&quot;", "\t": "&#9;", "\n": "&#10;"})

# A suite states its number of tests before them, so they wait here, on disk from this size on.
_IN_MEMORY_BYTES = 4 * 2**20
_MS = 1000
_SHOWN = 200


def _write_junit(path: Path, run: RunInfo, answers: Iterable[Outcome]) -> None:
    # An answer that did not pass is a failure with the reasons. A missing answer, or one whose
    # missing judgments could decide it either way, is an error; one without a judgment, or that
    # waits for an annotator, is skipped. Characters that XML cannot hold become U+FFFD.
    suites: defaultdict[str, _Suite] = defaultdict(_Suite)
    try:
        for answer in answers:
            name = answer.result.variant
            suites[name].add(answer, f"{run.suite}.{name}", has_repeats=run.repeats > 1)
        # Which answers are missing is not known, and all that are here may have passed.
        if run.status not in {"complete", "waiting"}:
            ended = f"{run.status}: {run.reason}" if run.reason else run.status
            message = f"{run.id} is not complete ({ended}); answers may be missing"
            found = _Finding("error", run.status, message)
            suites[""].write({"name": "whole run", "classname": run.suite}, found, {}, 0.0)
        with atomic_writer(path) as file:
            whole = {"name": run.suite, **_counts(list(suites.values()))}
            file.write(b'<?xml version="1.0" encoding="UTF-8"?>\n')
            file.write(f"<testsuites{_attributes(whole)}>\n".encode())
            for name, suite in suites.items():
                _write_suite(file, name, suite, run)
            file.write(b"</testsuites>\n")
    finally:
        for suite in suites.values():
            suite.lines.close()


JUNIT = RunFormat(
    "junit",
    "JUnit XML for CI servers, a suite for each variant (.xml)",
    (".xml",),
    "a JUnit report",
    _write_junit,
    own_suffixes=(".xml",),
)


@dataclass(slots=True)
class _Suite:
    """The tests of one variant, written aside until their number is known."""

    lines: SpooledTemporaryFile[bytes] = field(
        default_factory=lambda: SpooledTemporaryFile(_IN_MEMORY_BYTES)  # noqa: SIM115 - _write_junit closes it
    )
    kinds: Counter[str] = field(default_factory=Counter)
    n: int = 0
    seconds: float = 0.0

    def add(self, answer: Outcome, classname: str, *, has_repeats: bool) -> None:
        result, case = answer.result, answer.result.case
        # A test that was tried again has the same name in each run.
        repeat = f" (repeat {result.repeat + 1})" if has_repeats and result.repeat else ""
        facts = {"value": None if answer.value is None else f"{answer.value:.6g}"}
        facts |= {"tags": ", ".join(case.tags) or None, "stratum": case.stratum}
        seconds = (result.output.duration_ms or 0.0) / _MS
        shown = {"name": f"{case.id}{repeat}", "classname": classname}
        self.write(shown, _finding(answer), facts, seconds)

    def write(
        self, shown: dict[str, str], found: _Finding | None, facts: _Facts, seconds: float
    ) -> None:
        self.n += 1
        self.kinds.update(() if found is None else (found.kind,))
        self.seconds += seconds
        shown["time"] = f"{seconds:.3f}"
        lines = [f"    <testcase{_attributes(shown)}>\n", *_properties(facts, "      ")]
        if found is not None:
            marks = {"message": found.message} | ({"type": found.type} if found.type else {})
            tag, text = f"      <{found.kind}{_attributes(marks)}", _text(found.text)
            lines.append(f"{tag}>{text}</{found.kind}>\n" if text else f"{tag}/>\n")
        self.lines.write("".join([*lines, "    </testcase>\n"]).encode())


@dataclass(frozen=True, slots=True)
class _Finding:
    """Why an answer is not a test that passed."""

    kind: str
    type: str
    message: str
    text: str = ""


def _finding(answer: Outcome) -> _Finding | None:
    result = answer.result
    if result.output.error is not None:
        name = result.output.error_kind or "error"
        return _Finding("error", name, _first_line(result.output.error), result.output.error)
    if answer.passed is True:
        return None
    reasons = failure_reasons(answer)
    text = "\n".join(reasons)
    if answer.passed is False:
        message = f"value {answer.value:.3f}" if answer.value is not None else "did not pass"
        message = "; ".join((message, *map(_first_line, reasons[:1])))
        return _Finding("failure", "judgekit", message, text)
    if not reasons:
        return _Finding("skipped", "", "nobody has judged it")
    return _Finding("error", "undecided", "what is missing could decide it either way", text)


def _write_suite(file: IO[bytes], variant: str, suite: _Suite, run: RunInfo) -> None:
    name = f"{run.suite}.{variant}" if variant else run.suite
    shown = {"name": name, **_counts([suite])}
    shown["timestamp"] = run.started_at.strftime("%Y-%m-%dT%H:%M:%S")
    file.write(f"  <testsuite{_attributes(shown)}>\n".encode())
    facts = {
        "run": run.id,
        "status": run.status,
        "variant": variant or None,
        "dataset": run.dataset,
        "rubric": None if run.rubric is None else run.rubric.name,
        "judges": ", ".join(run.panel.judges) or None,
        "config_fingerprint": run.config_fingerprint or None,
    }
    file.write("".join(_properties(facts, "    ")).encode())
    suite.lines.seek(0)
    shutil.copyfileobj(suite.lines, file)
    file.write(b"  </testsuite>\n")


def _counts(suites: list[_Suite]) -> dict[str, str]:
    kinds = sum((suite.kinds for suite in suites), Counter[str]())
    return {
        "tests": str(sum(suite.n for suite in suites)),
        "failures": str(kinds["failure"]),
        "errors": str(kinds["error"]),
        "skipped": str(kinds["skipped"]),
        "time": f"{sum(suite.seconds for suite in suites):.3f}",
    }


def _properties(facts: _Facts, indent: str) -> Iterator[str]:
    known = {name: value for name, value in facts.items() if value is not None}
    if not known:
        return
    yield f"{indent}<properties>\n"
    for name, value in known.items():
        yield f"{indent}  <property{_attributes({'name': name, 'value': value})}/>\n"
    yield f"{indent}</properties>\n"


def _attributes(values: Mapping[str, str]) -> str:
    return "".join(f' {name}="{_text(value).translate(_QUOTED)}"' for name, value in values.items())


def _text(text: str) -> str:
    return _ILLEGAL.sub("\ufffd", text).translate(_TEXT)


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:_SHOWN]
