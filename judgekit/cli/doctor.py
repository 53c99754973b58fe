"""`judgekit doctor`: checks the installation, keys, cache, store, calibration maps and a model."""

from __future__ import annotations

import os
import platform
import re
import stat
import sys
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from judgekit import (
    datasets,
    judge as judge_calls,
    models,
    prompts,
    report as reports,
    store as stores,
)
from judgekit.cli.exit_codes import Exit
from judgekit.cli.help import command
from judgekit.cli.options import CacheFolderOptions, OutputOptions, StoreOptions, option
from judgekit.cli.outputs import show_document
from judgekit.cli.progress import run_async
from judgekit.cli.setup import CALIBRATION_MAPS_FOLDER, SUITE_FILE, existing_store, open_cache
from judgekit.errors import JudgekitError, SettingsError, StoreError
from judgekit.models import cache as reply_cache
from judgekit.prompts.parsing import parse_criterion_replies
from judgekit.records import Case, Criterion, Output, Rubric, Scale
from judgekit.report import message, numbers
from judgekit.resources import shipped_root

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from judgekit.models.cache import CacheLocation
    from judgekit.models.request import ModelReply
    from judgekit.report import Tone

_PROBE = "probe"
_CASE = Case(id="probe", input="What is 2 + 2?", reference="4")
_OUTPUT = Output(text="4")

_RUBRIC = Rubric(
    name="probe",
    criteria=[
        Criterion(
            name="correct",
            question="Does the output give the same number as the reference?",
            scale=Scale(min=0, max=1, integer=True),
            scoring_guide="1: the same number. 0: another number or none.",
        )
    ],
)


class _DoctorOptions(CacheFolderOptions, StoreOptions, OutputOptions):
    probe: str | None = option("Make one tiny call to MODEL, at a tiny cost.", metavar="MODEL")
    api_base: str | None = option("Endpoint of --probe.", metavar="URL", has_variable=True)
    timeout_s: float = option("Time limit of --probe, in seconds.", 60, spelling="--timeout", gt=0)


@command("doctor", _DoctorOptions)
def doctor_command(options: _DoctorOptions) -> None:
    """Check versions, keys, offline tables, shipped files, cache, store, local weights, a model.

    Keys are named but never shown. Only --probe calls a model.

    Exit code 0 if everything works, 2 if something is broken, 3 if only the probe failed.

    Examples:
        judgekit doctor
        judgekit doctor --probe openai/gpt-4.1-mini
        judgekit doctor --probe hosted_vllm/m --api-base http://localhost:8000/v1
    """
    # All of them, also after an error: several problems are often one cause.
    checks = [
        *version_checks(),
        *key_checks(os.environ),
        *offline_checks(),
        shipped_check(),
        *cache_checks(options.cache_dir),
        *store_checks(options.store),
        *calibration_checks(),
        *local_checks(os.environ),
    ]
    if options.probe is not None:
        checks += _probe(options.probe, api_base=options.api_base, timeout_s=options.timeout_s)
    # Warnings do not fail: a machine without any API key can still replay and read results.
    broken = {check.topic for check in checks if check.grade == "error"}
    code = Exit.INCOMPLETE if broken == {_PROBE} else Exit.INPUT if broken else 0
    show_document(_health_document(checks, is_sound=not broken), options)
    sys.exit(code)


def _health_document(checks: Sequence[HealthCheck], *, is_sound: bool) -> reports.Document:
    tones: dict[str, Tone] = {"error": "error", "warning": "inconclusive"}
    problems: list[reports.Entry] = []
    rows: list[tuple[str, str]] = []
    for check in checks:
        remedies = () if check.remedy is None else (check.remedy,)
        if check.grade in tones:
            headline = f"{check.topic}: {check.text}"
            problems.append(reports.Entry(headline, remedies, check.grade, tones[check.grade]))
        else:
            rows.append((check.topic, check.text))
            rows += [("", remedy) for remedy in remedies if check.grade == "note"]
    steps = next_steps(checks, has_suite=Path(SUITE_FILE).is_file())
    grades = [check.grade for check in checks]
    totals = [numbers.format_count(grades.count(grade), grade) for grade in ("error", "warning")]
    tone: Tone = "error" if "error" in grades else "inconclusive" if problems else "pass"
    return reports.Document(
        "Health of this installation",
        reports.Conclusion(", ".join(totals), tone),
        reports.not_empty(
            [
                reports.Entries(tuple(problems), "Problems"),
                reports.Lines(tuple(rows), "Checks"),
                reports.Lines(tuple(steps.items()), "Next"),
            ]
        ),
        lambda: {
            "sound": is_sound,
            "checks": [asdict(check) for check in checks],
            "next": [{"command": command, "reason": reason} for command, reason in steps.items()],
        },
    )


def next_steps(checks: Sequence[HealthCheck], *, has_suite: bool) -> dict[str, str]:
    """Commands that make sense now, each with what it does."""
    if any(check.grade == "error" for check in checks):
        return {"judgekit doctor": "check again, when the errors above are fixed"}
    is_ok = {check.topic for check in checks if check.grade == "ok"}
    steps = {
        "judgekit run": f"grade what {SUITE_FILE} names and store the run" if has_suite else "",
        "judgekit view": "look at the stored runs in the browser" if "store" in is_ok else "",
    }
    if not any(steps.values()):
        steps["judgekit demo"] = "" if "key" in is_ok else "see it at work; needs no key"
        steps["judgekit init my-suite"] = "write a suite to edit; it runs at once, without a key"
    return {command: reason for command, reason in steps.items() if reason}


def _probe(model: str, *, api_base: str | None, timeout_s: float) -> Iterator[HealthCheck]:
    """One call exactly as a judge makes it, but without cache and retries."""
    try:
        reply, waited_s = run_async(_ask(model, api_base=api_base, timeout_s=timeout_s))
    except JudgekitError as error:
        yield HealthCheck(_PROBE, "error", f"{model}: {error.message}", error.hint)
        return
    answered = f"{model} answered in {waited_s:.1f} s"
    named = f" as {reply.model}" if reply.model else ""
    yield HealthCheck(_PROBE, "ok", f"{answered}{named}, {numbers.format_usd(reply.cost_usd)}")
    if reply.dropped_parameters:
        dropped = ", ".join(reply.dropped_parameters)
        yield HealthCheck(_PROBE, "note", f"it does not accept {dropped}, so judgekit omits them")
    # Whether the reply contains a verdict; those of small models often do not.
    try:
        found = parse_criterion_replies(
            reply.text or "",
            _RUBRIC.criteria,
            finish_reason=reply.finish_reason,
            judged_text=_OUTPUT.text,
        )
    except JudgekitError as error:
        remedy = "such replies are retried up to twice; if it happens often, use a larger model"
        yield HealthCheck(_PROBE, "warning", f"its reply has no verdict: {error.message}", remedy)
        return
    raw = found[_RUBRIC.criteria[0].name].raw
    # "0 of 1" would read as a failed check.
    score = "not assessable" if raw is None else f"score {raw:g} on a scale from 0 to 1"
    yield HealthCheck(_PROBE, "ok", f"its reply has a valid verdict: {score}")


async def _ask(model: str, *, api_base: str | None, timeout_s: float) -> tuple[ModelReply, float]:
    # A cached reply would prove nothing, and retries would hide an unreliable endpoint.
    judge = judge_calls.Judge(
        model, api_base=api_base, cache=None, timeout_s=timeout_s, max_retries=0
    )
    try:
        request = judge.requests(_CASE, _OUTPUT, _RUBRIC)[0]
        begun = time.monotonic()
        reply = await judge.connection.model.complete(request)
        return reply, time.monotonic() - begun
    finally:
        await judge.aclose()


_HealthGrade = Literal["ok", "warning", "error", "note"]
DISTRIBUTION = "judgekit-llm"

PROVIDER_KEYS = {
    "OPENAI_API_KEY": "openai", "ANTHROPIC_API_KEY": "anthropic", "GEMINI_API_KEY": "gemini",
    "AZURE_API_KEY": "azure", "AWS_ACCESS_KEY_ID": "bedrock",
    "GOOGLE_APPLICATION_CREDENTIALS": "vertex_ai", "MISTRAL_API_KEY": "mistral",
    "GROQ_API_KEY": "groq", "OPENROUTER_API_KEY": "openrouter", "COHERE_API_KEY": "cohere",
    "DEEPSEEK_API_KEY": "deepseek", "TOGETHERAI_API_KEY": "together_ai",
    "FIREWORKS_AI_API_KEY": "fireworks_ai", "XAI_API_KEY": "xai",
    "PERPLEXITYAI_API_KEY": "perplexity", "HUGGINGFACE_API_KEY": "huggingface",
    "CEREBRAS_API_KEY": "cerebras", "DATABRICKS_API_KEY": "databricks",
}  # fmt: skip
"""The environment variables litellm takes keys from, and what its models begin with."""

# Compromised releases, which steal keys; they may still be installed somewhere.
_MALICIOUS = re.compile(r"1\.82\.[78]|1\.107(\..*)?")
_OLDEST_LITELLM = (1, 83, 7)
_ENCODINGS = {"gpt-4o": "o200k_base", "gpt-4": "cl100k_base"}
_PRICED = "openai/gpt-4.1-mini"

# SQLite's locks are unreliable on these (https://www.sqlite.org/lockingv3.html, section 6).
_NETWORK = frozenset(
    {"nfs", "nfs3", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "9p", "lustre", "glusterfs"}
    | {"fuse.sshfs", "fuse.glusterfs", "fuse.s3fs", "fuse.rclone", "fuse.gcsfuse", "beegfs", "gpfs"}
)

_MOUNTS = Path("/proc/mounts")
_MOST_VERIFIED = 20_000
_NEED = re.compile(r"""(?P<name>[A-Za-z0-9._-]+)(.*extra == ["'](?P<extra>[\w-]+)["'])?""")


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """The result of one check."""

    topic: str
    grade: _HealthGrade
    text: str
    remedy: str | None = None


def version_checks(
    installed: Mapping[str, str] | None = None, distribution: str = DISTRIBUTION
) -> Iterator[HealthCheck]:
    """Versions of judgekit, Python and every package judgekit needs."""
    if (own := _version(distribution)) is not None:
        yield HealthCheck("judgekit", "ok", own)
    else:
        remedy = f"pip install {DISTRIBUTION}, or pip install -e . in a checkout"
        yield HealthCheck("judgekit", "warning", "runs without being installed", remedy)
    python = f"{platform.python_version()} on {platform.platform(terse=True)}"
    yield HealthCheck("Python", "ok", python)
    try:
        lines = metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:
        # A source tree without installation; litellm is the one package with dangerous releases.
        lines = ["litellm"]
    # By name, the extra of an optional package; `all` names judgekit itself.
    needed = {
        match["name"].lower(): match["extra"] for line in lines if (match := _NEED.match(line))
    }
    needed.pop(distribution, None)
    for name, extra in needed.items():
        version = _version(name) if installed is None else installed.get(name)
        # Its version matters more than that of any other package: see `litellm_check`.
        if name == "litellm" and version is not None:
            yield litellm_check(version)
        elif version is not None:
            yield HealthCheck(name, "ok", version)
        elif extra is not None:
            remedy = f'pip install "{DISTRIBUTION}[{extra}]"'
            yield HealthCheck(name, "note", "not installed (optional)", remedy)
        else:
            yield HealthCheck(name, "error", "not installed", f"pip install {DISTRIBUTION}")


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def litellm_check(version: str) -> HealthCheck:
    """Whether a release of litellm can be used and trusted."""
    if _MALICIOUS.fullmatch(version):
        text = f"{version} is a malicious release that steals keys"
        remedy = "remove it, change every key this machine has seen, and install "
        return HealthCheck("litellm", "error", text, f'{remedy}"litellm>=1.83.7,<2,!=1.107.*"')
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:3])
    if numbers < _OLDEST_LITELLM:
        remedy = 'pip install "litellm>=1.83.7"'
        return HealthCheck("litellm", "error", f"{version} is too old", remedy)
    return HealthCheck("litellm", "ok", version)


def key_checks(environment: Mapping[str, str]) -> Iterator[HealthCheck]:
    """Which API keys are set; their values are checked for white space, and never shown."""
    present = {name: environment[name] for name in PROVIDER_KEYS if environment.get(name)}
    for name, value in present.items():
        prefix = f"models begin with {PROVIDER_KEYS[name]}/"
        if value == value.strip():
            yield HealthCheck("key", "ok", f"{name} is set; {prefix}")
        else:
            # A line break copied along is the most frequent reason why a valid key is refused.
            text = f"{name} begins or ends with white space, which providers refuse"
            yield HealthCheck("key", "warning", text, "set it again without white space")
    if not present:
        example = next(iter(PROVIDER_KEYS))
        remedy = f"set one, for example {example}; recorded, cached and local replies need none"
        yield HealthCheck("key", "warning", "no API key is set", remedy)


def offline_checks(
    prices: models.PriceTable | None = None, folders: Sequence[Path] | None = None
) -> Iterator[HealthCheck]:
    """Whether tokens and prices are known without a network."""
    # tiktoken downloads an encoding it does not have, which an offline machine cannot do.
    for model, encoding in _ENCODINGS.items():
        source = models.token_source(model, folders=folders)
        if source == f"tiktoken:{encoding}":
            yield HealthCheck("tokens", "ok", f"encoding {encoding} found")
        else:
            text = f"encoding {encoding} not found; counts come from {source}"
            remedy = "install litellm, or set TIKTOKEN_CACHE_DIR"
            yield HealthCheck("tokens", "warning", text, remedy)
    if (prices or models.PriceTable()).price(_PRICED) is None:
        text = "no price table found; every price is unknown"
        yield HealthCheck("prices", "warning", text, 'pip install "litellm>=1.83.7"')
    else:
        yield HealthCheck("prices", "ok", "litellm's price table found")


def shipped_check(templates: Sequence[str] | None = None) -> HealthCheck:
    """Whether the files that come with judgekit exist and are valid."""
    try:
        root = shipped_root()
        rubrics = datasets.shipped_rubrics()
        names = templates or [*prompts.template_names(), *prompts.pair_template_names()]
        for rubric in rubrics:
            datasets.load_rubric(rubric)
        for name in names:
            (prompts.PairTemplate if prompts.is_pair_template(name) else prompts.PromptTemplate)(
                name
            )
    except JudgekitError as error:
        remedy = error.hint or f"pip install --force-reinstall {DISTRIBUTION}"
        return HealthCheck("shipped files", "error", error.message, remedy)
    text = f"{len(rubrics)} rubrics and {len(names)} templates in {root}"
    return HealthCheck("shipped files", "ok", text)


def cache_checks(
    folder: CacheLocation, mounts: Path = _MOUNTS, *, most_verified: int = _MOST_VERIFIED
) -> Iterator[HealthCheck]:
    """Whether the cache is valid, and a folder is private, writable and on a local disk."""
    if not isinstance(folder, Path):
        yield _content_check(folder, most_verified)
        return
    if (network := network_file_system(folder, mounts)) is not None:
        text = f"{folder} is on a network file system ({network}), where locks may not hold"
        remedy = "name a folder on a local disk with --cache"
        yield HealthCheck("cache", "warning", text, remedy)
    place = reply_cache.CacheFolder(folder)
    if place.identity() is None:
        # Creating it to find out would leave an empty cache behind.
        parent = next((each for each in folder.absolute().parents if each.exists()), folder)
        existing = folder if folder.exists() else parent
        if os.access(existing, os.W_OK | os.X_OK):
            yield HealthCheck("cache", "note", f"none yet in {folder}; it is created when needed")
        else:
            text = f"there is none, and {existing} cannot be written"
            yield HealthCheck("cache", "warning", text, "name another folder with --cache")
        return
    mode = stat.S_IMODE(folder.stat().st_mode)
    # Prompts may contain personal data.
    if os.name == "posix" and mode & 0o077:
        text = f"{folder} has mode {mode:04o}: other users may read prompts and replies"
        yield HealthCheck("cache", "warning", text, f"chmod 700 {folder}")
    if not os.access(folder, os.W_OK):
        text = f"{folder} cannot be written; new replies would go to an emergency file"
        yield HealthCheck("cache", "warning", text, "name another folder with --cache")
    yield _content_check(folder, most_verified)


def network_file_system(folder: Path, mounts: Path = _MOUNTS) -> str | None:
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    # The innermost mount that contains the folder decides.
    around = {str(folder.resolve()), *map(str, folder.resolve().parents)}
    found = [line.split(" ")[1:3] for line in lines if line.count(" ") > 1]
    holding = [(point, kind) for point, kind in found if point.replace("\\040", " ") in around]
    kind = max(holding, key=lambda pair: len(pair[0]))[1] if holding else ""
    return kind if kind in _NETWORK else None


def local_checks(environment: Mapping[str, str]) -> Iterator[HealthCheck]:
    """Whether a model can run on this machine."""
    try:
        # Found, not loaded: loading a model takes longer than all other checks together.
        weights = models.local_weights()
    except SettingsError as error:
        # Local weights are optional; only those that were asked for by name can be missing.
        is_meant = bool(environment.get(models.WEIGHTS_VARIABLE))
        grade: _HealthGrade = "error" if is_meant else "note"
        yield HealthCheck("local model", grade, error.message, error.hint)
        return
    if find_spec("xllamacpp") is None:
        remedy = f'pip install "{DISTRIBUTION}[local]"'
        yield HealthCheck("local model", "note", f"{weights.name}, but not xllamacpp", remedy)
        return
    smoke = (
        "; it tests the setup and cannot judge" if models.is_smoke_name(weights.model_name) else ""
    )
    yield HealthCheck("local model", "ok", f"{weights.model_name}{smoke}")


def _content_check(folder: CacheLocation, most_verified: int) -> HealthCheck:
    try:
        if isinstance(folder, Path):
            reply_cache.CacheFolder(folder).check_owner()
        with open_cache(folder) as cache:
            n = len(cache)
            # Verifying reads every reply, which takes minutes for a large cache.
            if n > most_verified:
                problems, damaged = cache.problems(), 0
            else:
                report = reply_cache.admin.verify_cache(cache)
                problems, damaged = report.problems, len(report.damaged)
    except StoreError as error:
        return HealthCheck("cache", "error", error.message, error.hint or "judgekit cache verify")
    if damaged:
        count = numbers.format_count(damaged, "damaged reply", "damaged replies")
        problems = (*problems, count)
    if problems:
        text = f"{folder}: {'; '.join(problems)}"
        return HealthCheck("cache", "error", text, "see judgekit cache verify")
    return HealthCheck("cache", "ok", f"{numbers.format_count(n, 'reply', 'replies')} in {folder}")


def calibration_checks(folder: Path = CALIBRATION_MAPS_FOLDER) -> Iterator[HealthCheck]:
    """Whether each file of maps is valid; nothing if there is none."""
    # Whether they fit a judge and a rubric is reported by `plan`, `grade` and `run`.
    for path in sorted(folder.glob("*.json")):
        try:
            found = datasets.load_calibration(path)
        except SettingsError as error:
            yield HealthCheck("calibration", "error", error.message, error.hint)
            continue
        judges = ", ".join(judge.model for judge in found.asked.judges)
        labels = numbers.format_count(found.n_labels, "label")
        text = f"{path}: {message.printable(judges)} by {message.printable(found.rubric.name)}, {labels}"  # noqa: E501
        yield HealthCheck("calibration", "ok", f"{text}, {found.fitted_at:%Y-%m-%d}")


def store_checks(location: str) -> Iterator[HealthCheck]:
    """Whether a store is valid; it is not created."""
    try:
        place = stores.locate_database(location)
        with ExitStack() as stack:
            if (store := existing_store(location, stack)) is None:
                text = f"no runs yet; the first one creates {place.name}"
                yield HealthCheck("store", "note", text)
                return
            store.check()  # opening alone does not read the pages that may be damaged
            runs = store.runs()
    except JudgekitError as error:
        remedy = error.hint or "name another store with --store"
        is_damaged = isinstance(error, StoreError)
        yield HealthCheck("store", "error" if is_damaged else "warning", error.message, remedy)
        return
    if not runs:
        yield HealthCheck("store", "note", f"no runs yet in {place.name}")
        return
    n_open = sum(run.status != "complete" for run in runs)
    left = f", {n_open:,} of them not complete" if n_open else ""
    count = numbers.format_count(len(runs), "run")
    yield HealthCheck("store", "ok", f"{count} in {place.name}{left}")
