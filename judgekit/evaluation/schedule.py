"""What a run consists of: cases, items in order, and the identity a resumed run must have."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.datasets import suite_template_folders
from judgekit.errors import DatasetError, SettingsError, UnknownNameError
from judgekit.evaluation.outcome import tries_of_answers
from judgekit.evaluation.run_config import JUDGING_KEY, PARTS_KEY, SCRIPTS_KEY
from judgekit.fingerprint import fingerprint
from judgekit.models import RecordedModel
from judgekit.records import (
    ItemKey,
    VariantVersion,
    config_part,
    name_text,
    objects_of,
    record_text,
)
from judgekit.targets import RecordedTarget, TargetPrompt

if TYPE_CHECKING:
    from judgekit.datasets import Suite, SuiteGroup, VariantSettings
    from judgekit.evaluation.session import OpenSuite
    from judgekit.judge import JudgePanel
    from judgekit.records import Case, CaseResult, JsonObject, RunInfo
    from judgekit.store import AnswerProgress

_BEGUN, _DONE = 1, 2
# The repeat number that marks a case as settled: no further try will be made.
_SETTLED = -1


@dataclass(frozen=True, slots=True)
class WorkItem:
    """One answer to be had and judged."""

    key: ItemKey
    place: int
    case: Case
    # The answer of another run that is judged here: its output and checks are taken as they are
    stored: CaseResult | None = None

    def again(self) -> WorkItem:
        return WorkItem(self.key._replace(repeat=self.key.repeat + 1), self.place, self.case)


# Items that are done one after the other; most chains have one.
WorkChain = tuple[WorkItem, ...]


class ProgressLedger:
    """How far earlier sessions of a run have come, in one byte for each answer.

    Answers are identified by the places of their cases, which never change within a run.
    """

    def __init__(self) -> None:
        self._marks: defaultdict[tuple[str, int], bytearray] = defaultdict(bytearray)

    def look_back(
        self, progress: Iterable[AnswerProgress], run: RunInfo, *, retry_failed: bool
    ) -> list[ItemKey]:
        """Note what was begun; the failed answers, where these are to be had again."""
        failed: list[ItemKey] = []
        for tries in tries_of_answers(progress, run):
            last = tries[-1]
            # Of several tries only the last counts: to have an earlier one again changes nothing.
            is_again = retry_failed and (last.has_error or last.n_failures > 0)
            failed += [last.key] if is_again else []
            for one in tries:
                is_done = one.is_done and not (is_again and one is last)
                self.note(one.key.variant, one.key.repeat, one.place, is_done=is_done)
        return failed

    def note(self, variant: str, repeat: int, place: int, *, is_done: bool) -> None:
        # A dictionary of keys would take a hundred bytes an answer; runs have millions.
        marks = self._marks[variant, repeat]
        if place >= len(marks):
            marks.extend(bytes(place + 1 - len(marks)))
        marks[place] = _DONE if is_done else _BEGUN

    def settle(self, variant: str, place: int) -> None:
        """Note that no answer of a variant to a case will be tried again."""
        self.note(variant, _SETTLED, place, is_done=True)

    def is_settled(self, variant: str, place: int) -> bool:
        """Whether no answer of a variant to a case will be tried again, as far as is known."""
        return self._mark(variant, _SETTLED, place) == _DONE

    def is_begun(self, item: WorkItem) -> bool:
        return self._mark(item.key.variant, item.key.repeat, item.place) > 0

    def is_done(self, variant: str, repeat: int, place: int) -> bool:
        return self._mark(variant, repeat, place) == _DONE

    def _mark(self, variant: str, repeat: int, place: int) -> int:
        marks = self._marks.get((variant, repeat), b"")
        return marks[place] if place < len(marks) else 0


@dataclass(frozen=True, slots=True)
class Schedule:
    """Which answers a run is made of."""

    variants: Sequence[str]
    repeats: int = 1
    # Cases that belong together; those `in_sequence` are one chain for each variant
    groups: Sequence[SuiteGroup] = ()
    # What need not be done again
    done: ProgressLedger = field(default_factory=ProgressLedger)
    retries: Callable[[Case], int] = lambda _: 0
    has_answer: Callable[[ItemKey], bool] = lambda _: True

    def chains(self, cases: Iterable[Case]) -> Iterator[WorkChain]:
        """Everything to be done, read as slowly as it is done."""
        group_of = {
            case_id: group
            for group in self.groups
            if group.in_sequence
            for case_id in group.case_ids
        }
        # Cases of a sequence may stand anywhere in the dataset; only those wait in memory.
        gathered: defaultdict[str, dict[str, tuple[int, Case]]] = defaultdict(dict)
        for place, case in enumerate(cases):
            group = group_of.get(case.id)
            if group is None:
                yield from ((item,) for item in self._items(place, case))
                continue
            gathered[group.name][case.id] = (place, case)
            if len(gathered[group.name]) == len(group.case_ids):
                yield from self._chained(group, gathered.pop(group.name))
        for group in self.groups:  # filters and limits may have left some of its cases out
            if group.name in gathered:
                yield from self._chained(group, gathered[group.name])

    def _chained(
        self, group: SuiteGroup, cases: dict[str, tuple[int, Case]]
    ) -> Iterator[WorkChain]:
        ordered = [cases[case_id] for case_id in group.case_ids if case_id in cases]
        items = [item for place, case in ordered for item in self._items(place, case)]
        for variant in self.variants:
            chain = tuple(item for item in items if item.key.variant == variant)
            if chain:
                yield chain

    def _items(self, place: int, case: Case) -> Iterator[WorkItem]:
        for variant in filter(case.is_answered_by, self.variants):
            for repeat in range(self.repeats):
                key = ItemKey(case.id, variant, repeat)
                is_over = self.done.is_done(variant, repeat, place) and (
                    self.retries(case) == 0 or self.done.is_settled(variant, place)
                )
                if not is_over and self.has_answer(key):
                    yield WorkItem(key, place, case)


def check_case_groups(groups: Sequence[SuiteGroup], case_ids: Iterable[str]) -> None:
    """Refuse a group that names a case the dataset does not have, and a case in two sequences."""
    known = set(case_ids)
    chained: dict[str, str] = {}
    for group in groups:
        for case_id in group.case_ids:
            if case_id not in known:
                raise UnknownNameError(f"case of the group {group.name!r}", case_id, known)
            if group.in_sequence and chained.setdefault(case_id, group.name) != group.name:
                raise SettingsError(
                    f"the case {case_id!r} is in two groups that are run in sequence: "
                    f"{chained[case_id]} and {group.name}",
                    hint="leave it in one of them",
                )


# The name of each part in messages, in the order of the message.
PART_WORDS = {
    "cases": "the cases, their order or what is chosen of them",
    "rubric": "the rubric",
    "judges": "the judges or their settings",
    "variants": "the variants or their prompts",
    "assertions": "the assertions",
    "measures": "the profile or the scorers",
    "groups": "the groups of cases",
    "settings": "the settings",
}
_PACE_OF_SETTINGS = {"max_concurrency", "in_sequence", "fail_fast", "timeout_s"}
_PACE_OF_JUDGES = {"max_concurrency", "rpm", "tpm", "timeout_s", "max_retries", "transport"}
_SHORT = 16


def read_chosen_cases(opened: OpenSuite) -> tuple[int, str]:
    """Read every chosen case once, so that an invalid one is found before any call is made.

    Returns their number and a fingerprint of their content, with the rubrics they name, in their
    order. Recorded outputs that belong to no case are put into `opened.unmatched`.
    """
    # One pass does everything that needs all cases: datasets are read from disk and may be large.
    n_cases, n_most, digest, checks = 0, 1, sha256(), opened.case_checks()
    unmatched = {
        name: dict.fromkeys(target.case_ids)
        for name, target in opened.targets.items()
        if isinstance(target, RecordedTarget)
    }
    unasked = Counter[str]()
    for case in opened.cases:
        n_cases += 1
        unasked.update(one.id for one in opened.variants if not case.is_answered_by(one.id))
        for ids in unmatched.values():
            ids.pop(case.id, None)
        opened.check_case(case)
        n_most = max(n_most, opened.suite.settings.repeats, 1 + opened.retries_of(case))
        name_text("case id", case.id)
        as_run = opened.plans.as_run(case)
        checks.take(as_run)
        digest.update(record_text(as_run).encode() + b"\n")
    # An empty run would pass every gate.
    if unasked.total() == n_cases * max(len(opened.variants), 1):
        tally = opened.cases.tally()
        raise SettingsError(
            f"no case of {opened.cases.name!r} is left to run "
            f"({tally.n_filtered} filtered, {tally.n_draft} draft, "
            f"{tally.n_deprecated} deprecated)",
            hint="look at the filters, and at `status`, `tags` and `variants` of the cases",
        )
    opened.unasked = dict(unasked)
    checks.close()
    opened.check_recorded(n_most)
    if opened.suite.suites:
        check_case_groups(opened.suite.suites, (case.id for case in opened.cases.source))
    if any(unmatched.values()):
        source = opened.cases.source
        stored = (case_id for case_id, _ in objects_of(source.objects, "test-case"))
        # Cases exist also where filters, limits or a benchmark leave them out.
        for case_id in chain((case.id for case in source), stored):
            for ids in unmatched.values():
                ids.pop(case_id, None)
    recorded = {} if opened.recorded is None else opened.recorded.unmatched
    opened.unmatched = {name: tuple(ids) for name, ids in unmatched.items() if ids} | dict(recorded)
    return n_cases, digest.hexdigest()


def run_identity(opened: OpenSuite, cases: str) -> dict[str, str]:
    """The fingerprints of the parts that must be unchanged for a run to be resumed."""
    # How fast it goes, where replies are kept, what models charge and which names the suite's files
    # have are no part of it; nor is what a command, a function, an endpoint or a file of recorded
    # outputs answers, which is observed for each case.
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
    panel = opened.judges.panel.model_dump(mode="json")
    parts: dict[str, object] = {
        "cases": cases,
        "rubric": rubric,
        "judges": [judges, panel],
        "variants": variants,
        "assertions": list(suite.assertions),
        "groups": groups,
        "settings": settings,
    }
    if suite.profile is not None or suite.scorers:  # others keep the identity they had
        parts["measures"] = [suite.profile, list(suite.scorers)]
    return {name: fingerprint(parts[name])[:_SHORT] for name in PART_WORDS if name in parts}


def require_same_run(begun: RunInfo, fresh: RunInfo) -> RunInfo:
    """The run that was begun, if the suite still is what it was."""
    # Else figures would mix two suites. Templates of criteria were no part of a run's identity at
    # first, and need not be known.
    own = [config_part(run, JUDGING_KEY).get("templates") for run in (begun, fresh)]
    is_same = None in own or own[0] == own[1]
    was, scripts = (config_part(run, SCRIPTS_KEY) for run in (begun, fresh))
    edited = [
        f"the script {name}" for name in scripts if was.get(name) not in {None, scripts[name]}
    ]
    if begun.config_fingerprint == fresh.config_fingerprint and is_same and not edited:
        return begun
    before, now = config_part(begun, PARTS_KEY), config_part(fresh, PARTS_KEY)
    changed = [words for name, words in PART_WORDS.items() if before.get(name) != now.get(name)]
    changed += edited if is_same else ["the templates of its criteria", *edited]
    raise SettingsError(
        f"the run {begun.id} cannot be resumed, because the suite has changed since it was begun: "
        + "; ".join(changed),
        hint="begin a new run (without --resume): cached replies cost nothing",
    )


_NOT_PART_OF_VERSION = {"id", "tags", "timeout_s"}


def variant_versions(opened: OpenSuite) -> JsonObject:
    if opened.recorded is not None and opened.recorded.is_from_memory:
        return {
            name: VariantVersion(
                fingerprint=fingerprint([one.to_json() for one in outputs.values()])
            ).to_json()
            for name, outputs in opened.recorded.outputs.items()
        }
    folders = (*opened.execution.template_folders, *suite_template_folders(opened.suite))
    return {v.id: version_mark(v, opened.suite, folders).to_json() for v in opened.variants}


def version_mark(
    variant: VariantSettings, suite: Suite, template_folders: Sequence[Path] = ()
) -> VariantVersion:
    """Which version of a variant a suite names now."""
    # A prompt counts with all it includes, its model and its parameters; recorded outputs count
    # with their file's content. Of a program, a function or an endpoint only what the suite says of
    # it is known.
    if variant.outputs is not None:
        return file_mark(suite.resolve(variant.outputs), name=variant.outputs)
    settings = variant.model_dump(mode="json", exclude=_NOT_PART_OF_VERSION)
    prompt = variant.prompt if isinstance(variant.prompt, str) else None
    if prompt is None:
        return VariantVersion(fingerprint=fingerprint(settings))
    folders = tuple(template_folders)
    own = TargetPrompt(prompt, folder=suite.folder, template_folders=folders).fingerprint
    return VariantVersion(
        fingerprint=fingerprint([{**settings, "prompt": None}, own]),
        prompt_fingerprint=own,
        prompt=prompt,
        model=None if variant.model is None else str(variant.model),
    )


def file_mark(path: Path, *, name: str | None = None) -> VariantVersion:
    """Which version a file of recorded outputs is."""
    try:
        with path.open("rb") as file:
            digest = sha256(file.read()).hexdigest()
    except OSError as error:
        raise DatasetError(f"cannot be read: {error.strerror}", path=path) from error
    return VariantVersion(fingerprint=digest, outputs=name or str(path))


_MOST_IDS_SHOWN = 3


def unmatched_message(variant: str, ids: tuple[str, ...]) -> str:
    """That some recorded outputs were left out, on one line."""
    shown = ", ".join(ids[:_MOST_IDS_SHOWN]) + (", …" if len(ids) > _MOST_IDS_SHOWN else "")
    what = "1 id" if len(ids) == 1 else f"{len(ids):,} ids"
    return f"{variant}: outputs for {what} that no case has are left out: {shown}"


def unused_reply_messages(judges: JudgePanel) -> Iterator[str]:
    """The recorded replies that a whole run had no question for."""
    # The later judges of a cascade are asked only where those before were not sure.
    n_asked_of_all = 1 if judges.panel.combine == "cascade" else len(judges.judges)
    for judge in judges.judges[:n_asked_of_all]:
        model = judge.connection.model
        if isinstance(model, RecordedModel) and (text := model.unused_rows()) is not None:
            yield text
