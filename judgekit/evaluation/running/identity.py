"""What makes two runs the same run: what is asked of whom, part by part, and about which cases."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from judgekit.errors import SettingsError
from judgekit.evaluation.running.items import check_groups
from judgekit.evaluation.running.strangers import Strangers
from judgekit.fingerprint import fingerprint
from judgekit.records.compared import VersionMark
from judgekit.store.texts import name_text, record_text

if TYPE_CHECKING:
    from judgekit.evaluation.preparing.opening import OpenSuite
    from judgekit.records.case import Case
    from judgekit.records.record import JsonObject
    from judgekit.records.run import RunInfo

PARTS = "parts"
"""The key of a run's `config` under which the fingerprints of its parts are."""

VERSIONS = "versions"
"""The key under which each variant's version is, as it was when the run was begun."""

_WORDS = {
    "cases": "the cases, their order or what is chosen of them",
    "rubric": "the rubric",
    "judges": "the judges or how they are asked",
    "variants": "the variants or their prompts",
    "assertions": "the assertions",
    "measures": "the profile or the scorers",
    "groups": "the groups of cases",
    "settings": "the settings",
}
"""What each part is called, in the order in which it is told of."""

_PACE_OF_SETTINGS = {"max_concurrency", "in_sequence", "fail_fast", "timeout_s"}
_PACE_OF_JUDGES = {"max_concurrency", "rpm", "tpm", "timeout_s", "max_retries"}
_SHORT = 16


@dataclass(frozen=True, slots=True)
class ChosenCases:
    """What is known of the chosen cases once all of them were read."""

    n_cases: int
    """How many."""

    fingerprint: str
    """Of their content, with the rubrics they name, in their order."""


def read_cases(opened: OpenSuite) -> ChosenCases:
    """Read every chosen case once, so that all are known to be sound before anything is asked."""
    # What recorded outputs belong to no case is noted in `opened.unmatched`.
    n_cases, digest, checks = 0, sha256(), opened.case_checks()
    strangers = Strangers(opened.targets)
    for case in opened.cases:
        n_cases += 1
        strangers.discard(case.id)
        opened.refuse_retries_of_repeats(case)
        name_text("case id", case.id)
        as_run = opened.case_as_run(case)
        checks.take(as_run)
        digest.update(_text(as_run))
    if n_cases == 0:
        raise _nothing_chosen(opened)
    checks.close()
    if opened.suite.suites:
        check_groups(opened.suite.suites, (case.id for case in opened.cases.source))
    if strangers.has_any:  # filters and limits leave out cases that are there
        for case in opened.cases.source:
            strangers.discard(case.id)
    opened.unmatched = strangers.left()
    return ChosenCases(n_cases, digest.hexdigest())


def identity(opened: OpenSuite, cases: ChosenCases) -> dict[str, str]:
    """The parts of a run that have to stay what they are for it to be gone on with."""
    # How fast it goes, where replies are kept, what models charge and which names the suite's files
    # have are no part of it; nor is what a command, a function, an endpoint or a file of recorded
    # outputs answers, which is observed anew for each case.
    suite = opened.suite
    rubric = None if opened.rubric is None else opened.rubric.fingerprint
    settings = suite.settings.model_dump(mode="json", exclude=_PACE_OF_SETTINGS)
    groups = [group.model_dump(mode="json") for group in suite.suites]
    variants: list[JsonObject] = [
        {
            "variant": variant.model_dump(mode="json", exclude={"tags", "timeout_s"}),
            "prompt": opened.prompts.get(variant.id),
        }
        for variant in opened.variants
    ]
    judges = [judge.model_dump(mode="json", exclude=_PACE_OF_JUDGES) for judge in suite.judge]
    panel = opened.jury.panel.model_dump(mode="json")
    parts: dict[str, object] = {
        "cases": cases.fingerprint,
        "rubric": rubric,
        "judges": [judges, panel],
        "variants": variants,
        "assertions": list(suite.assertions),
        "groups": groups,
        "settings": settings,
    }
    if suite.profile is not None or suite.scorers:  # others keep the identity they had
        parts["measures"] = [suite.profile, list(suite.scorers)]
    return {name: fingerprint(parts[name])[:_SHORT] for name in _WORDS if name in parts}


def same_run(begun: RunInfo, fresh: RunInfo) -> RunInfo:
    """The run that was begun, if the suite still is what it was; else figures would mix two suites."""
    if begun.config_fingerprint == fresh.config_fingerprint:
        return begun
    before, now = _parts(begun), _parts(fresh)
    changed = [words for name, words in _WORDS.items() if before.get(name) != now.get(name)]
    raise SettingsError(
        f"the run {begun.id} cannot go on, for the suite has changed since it was begun: "
        + "; ".join(changed),
        hint="begin a new run (without --resume): replies that are owned are not asked again",
    )


def version_in(run: RunInfo, variant: str) -> VersionMark | None:
    """Which version of a variant a run has."""
    marks = run.config.get(VERSIONS)
    mark = marks.get(variant) if isinstance(marks, dict) else None
    return None if mark is None else VersionMark.model_validate(mark)


def _parts(run: RunInfo) -> JsonObject:
    parts = run.config.get(PARTS)
    return parts if isinstance(parts, dict) else {}


def _text(case: Case) -> bytes:
    return record_text(case).encode() + b"\n"


def _nothing_chosen(opened: OpenSuite) -> SettingsError:
    tally = opened.cases.tally()
    return SettingsError(
        f"no case of {opened.cases.name!r} is left to run "
        f"({tally.n_filtered} filtered, {tally.n_draft} draft, {tally.n_deprecated} deprecated)",
        hint="look at the filters, and at `status` and `tags` of the cases",
    )
