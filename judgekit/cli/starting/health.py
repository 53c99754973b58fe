"""Checks of the installation and its surroundings; none of them asks a model or the network."""

from __future__ import annotations

import os
import platform
import re
import stat
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from judgekit.cli.caching.cache_folder import opened
from judgekit.datasets.loading import load_rubric, shipped_rubrics
from judgekit.errors import JudgekitError, SettingsError, StoreError
from judgekit.models.cache import upkeep
from judgekit.models.cache.folder import CacheFolder
from judgekit.models.local import WEIGHTS_VARIABLE, is_smoke_name, local_weights
from judgekit.models.pricing import PriceTable
from judgekit.models.tokens import count_tokens
from judgekit.prompts.pair_rendering import PairTemplate
from judgekit.prompts.rendering import PromptTemplate
from judgekit.prompts.templates import is_pair_template, pair_template_names, template_names
from judgekit.report import view
from judgekit.shipped import shipped_root

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Grade = Literal["ok", "warning", "error", "note"]

DISTRIBUTION = "judgekit-llm"

PROVIDER_KEYS = {
    "OPENAI_API_KEY": "openai",
    "ANTHROPIC_API_KEY": "anthropic",
    "GEMINI_API_KEY": "gemini",
    "AZURE_API_KEY": "azure",
    "AWS_ACCESS_KEY_ID": "bedrock",
    "GOOGLE_APPLICATION_CREDENTIALS": "vertex_ai",
    "MISTRAL_API_KEY": "mistral",
    "GROQ_API_KEY": "groq",
    "OPENROUTER_API_KEY": "openrouter",
    "COHERE_API_KEY": "cohere",
    "DEEPSEEK_API_KEY": "deepseek",
    "TOGETHERAI_API_KEY": "together_ai",
    "FIREWORKS_AI_API_KEY": "fireworks_ai",
    "XAI_API_KEY": "xai",
    "PERPLEXITYAI_API_KEY": "perplexity",
    "HUGGINGFACE_API_KEY": "huggingface",
    "CEREBRAS_API_KEY": "cerebras",
    "DATABRICKS_API_KEY": "databricks",
}
"""The environment variables litellm takes keys from, and what its models begin with."""

_MALICIOUS = re.compile(r"1\.82\.[78]|1\.107(\..*)?")
_OLDEST_LITELLM = (1, 83, 7)
_ENCODINGS = {"gpt-4o": "o200k_base", "gpt-4": "cl100k_base"}
_PRICED = "openai/gpt-4.1-mini"
_NETWORK = frozenset(
    {"nfs", "nfs3", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "9p", "lustre", "glusterfs"}
    | {"fuse.sshfs", "fuse.glusterfs", "fuse.s3fs", "fuse.rclone", "fuse.gcsfuse", "beegfs", "gpfs"}
)
_MOUNTS = Path("/proc/mounts")
_MOST_VERIFIED = 20_000
_NAME = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    topic: str
    """What, in a word or two."""

    grade: Grade
    """How it stands."""

    text: str
    """What was found."""

    remedy: str | None = None
    """How to mend it."""


def version_checks(
    installed: Mapping[str, str] | None = None, distribution: str = DISTRIBUTION
) -> Iterator[Check]:
    """Versions of judgekit, Python and every package judgekit needs."""
    yield _own_version(distribution)
    yield Check("Python", "ok", f"{platform.python_version()} on {platform.platform(terse=True)}")
    for name, is_optional in _requirements(distribution):
        version = _version(name) if installed is None else installed.get(name)
        if name == "litellm" and version is not None:
            yield litellm_check(version)
        elif version is not None:
            yield Check(name, "ok", version)
        elif is_optional:
            yield Check(name, "note", "not installed (optional)")
        else:
            yield Check(name, "error", "not installed", f"pip install {DISTRIBUTION}")


def litellm_check(version: str) -> Check:
    """Whether a release of litellm can be used and trusted."""
    if _MALICIOUS.fullmatch(version):
        return Check(
            "litellm",
            "error",
            f"{version} is a malicious release that steals keys",
            "remove it, change every key this machine has seen, and install "
            '"litellm>=1.83.7,<2,!=1.107.*"',
        )
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:3])
    if numbers < _OLDEST_LITELLM:
        return Check("litellm", "error", f"{version} is too old", 'pip install "litellm>=1.83.7"')
    return Check("litellm", "ok", version)


def key_checks(environment: Mapping[str, str]) -> Iterator[Check]:
    """Which providers' keys are there; their values are looked at for white space and never shown."""
    present = {name: environment[name] for name in PROVIDER_KEYS if environment.get(name)}
    for name, value in present.items():
        prefix = f"models begin with {PROVIDER_KEYS[name]}/"
        if value == value.strip():
            yield Check("key", "ok", f"{name} is set; {prefix}")
        else:
            text = f"{name} has white space at an end, which providers refuse"
            yield Check("key", "warning", text, "set it again without")
    if not present:
        yield Check(
            "key",
            "warning",
            "no provider's key is set",
            f"set one, for example {next(iter(PROVIDER_KEYS))}; recorded, cached and local "
            "replies need none",
        )


def offline_checks(
    prices: PriceTable | None = None, folders: Sequence[Path] | None = None
) -> Iterator[Check]:
    """Whether tokens and prices can be worked out without a network."""
    for model, encoding in _ENCODINGS.items():
        source = count_tokens("a", model, folders=folders).source
        if source == f"tiktoken:{encoding}":
            yield Check("tokens", "ok", f"encoding {encoding} found")
        else:
            text = f"encoding {encoding} not found; counts come from {source}"
            yield Check("tokens", "warning", text, "install litellm, or set TIKTOKEN_CACHE_DIR")
    if (prices or PriceTable()).price(_PRICED) is None:
        text = "no price table found; every price is unknown"
        yield Check("prices", "warning", text, 'pip install "litellm>=1.83.7"')
    else:
        yield Check("prices", "ok", "litellm's price table found")


def shipped_check(templates: Sequence[str] | None = None) -> Check:
    """Whether the files that come with judgekit are there and sound."""
    try:
        root = shipped_root()
        rubrics = shipped_rubrics()
        names = [*template_names(), *pair_template_names()] if templates is None else templates
        for rubric in rubrics:
            load_rubric(rubric)
        for name in names:
            (PairTemplate if is_pair_template(name) else PromptTemplate)(name)
    except JudgekitError as error:
        remedy = error.hint or f"pip install --force-reinstall {DISTRIBUTION}"
        return Check("shipped files", "error", error.message, remedy)
    text = f"{len(rubrics)} rubrics and {len(names)} templates in {root}"
    return Check("shipped files", "ok", text)


def cache_checks(
    folder: Path, mounts: Path = _MOUNTS, *, most_verified: int = _MOST_VERIFIED
) -> Iterator[Check]:
    """Whether the cache folder is sound, private, writable and on a local disk."""
    if (network := network_file_system(folder, mounts)) is not None:
        text = f"{folder} is on a network file system ({network}), where locks may not hold"
        yield Check("cache", "warning", text, "name a folder on a local disk with --cache-dir")
    place = CacheFolder(folder)
    if place.identity() is None:
        yield _future_check(folder)
        return
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & 0o077:
        text = f"{folder} has mode {mode:04o}; prompts and replies may be read by others"
        yield Check("cache", "warning", text, f"chmod 700 {folder}")
    if not os.access(folder, os.W_OK):
        text = f"{folder} cannot be written; new replies would go to an emergency file"
        yield Check("cache", "warning", text, "name another folder with --cache-dir")
    yield _content_check(folder, most_verified)


def network_file_system(folder: Path, mounts: Path = _MOUNTS) -> str | None:
    """The kind of network file system a folder is on."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    around = {str(folder.resolve()), *map(str, folder.resolve().parents)}
    found = [line.split(" ")[1:3] for line in lines if line.count(" ") > 1]
    holding = [(point, kind) for point, kind in found if point.replace("\\040", " ") in around]
    kind = max(holding, key=lambda pair: len(pair[0]))[1] if holding else ""
    return kind if kind in _NETWORK else None


def local_checks(environment: Mapping[str, str]) -> Iterator[Check]:
    """Whether a model can run on this machine."""
    try:
        weights = local_weights()
    except SettingsError as error:
        is_meant = bool(environment.get(WEIGHTS_VARIABLE))
        grade: Grade = "error" if is_meant else "note"
        yield Check("local model", grade, error.message, error.hint)
        return
    if find_spec("xllamacpp") is None:
        remedy = f'pip install "{DISTRIBUTION}[local]"'
        yield Check("local model", "note", f"{weights.name}, but not xllamacpp", remedy)
        return
    smoke = "; it proves the setup and cannot judge" if is_smoke_name(weights.model_name) else ""
    yield Check("local model", "ok", f"{weights.model_name}{smoke}")


def _own_version(distribution: str) -> Check:
    version = _version(distribution)
    if version is None:
        remedy = f"pip install {DISTRIBUTION}, or pip install -e . in a checkout"
        return Check("judgekit", "warning", "runs without being installed", remedy)
    return Check("judgekit", "ok", version)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _requirements(distribution: str) -> list[tuple[str, bool]]:
    """The packages judgekit names, and whether each is optional."""
    try:
        lines = metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:
        lines = ["litellm"]
    found = {}
    for line in lines:
        match = _NAME.match(line)
        if match is not None:
            found[match.group().lower()] = "extra ==" in line
    return list(found.items())


def _future_check(folder: Path) -> Check:
    parent = next((each for each in folder.absolute().parents if each.exists()), folder)
    existing = folder if folder.exists() else parent
    if not os.access(existing, os.W_OK | os.X_OK):
        text = f"there is none, and {existing} cannot be written"
        return Check("cache", "warning", text, "name another folder with --cache-dir")
    return Check("cache", "note", f"none yet in {folder}; it is made when it is needed")


def _content_check(folder: Path, most_verified: int) -> Check:
    try:
        CacheFolder(folder).check_owner()
        with opened(folder) as cache:
            n = len(cache)
            if n > most_verified:
                problems, damaged = cache.problems(), 0
            else:
                report = upkeep.verify(cache)
                problems, damaged = report.problems, len(report.damaged)
    except StoreError as error:
        return Check("cache", "error", error.message, error.hint or "judgekit cache verify")
    if problems or damaged:
        text = "; ".join(
            [
                *problems,
                *([view.count(damaged, "damaged reply", "damaged replies")] if damaged else []),
            ]
        )
        return Check("cache", "error", f"{folder}: {text}", "see judgekit cache verify")
    return Check("cache", "ok", f"{view.count(n, 'reply', 'replies')} in {folder}")
