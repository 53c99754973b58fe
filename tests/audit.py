"""Audits what is installed, without a network: `python -m tests.audit`, or `make audit`.

Lists of known vulnerabilities need a network; `pip-audit -r requirements.lock` compares with them.
"""

from __future__ import annotations

import re
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

from judgekit.cli.doctor import litellm_check

ROOT = Path(__file__).parents[1]
LOCKS = tuple(sorted(ROOT.glob("requirements*.lock")))

# What everybody installs must be under one of these; copyleft would bind who passes judgekit on.
ALLOWED = re.compile(
    r"MIT|BSD|Apache|ISC|PSF|Python Software Foundation|MPL-2\.0|Mozilla Public License 2|Unlicense"
    r"|CC0|0BSD|Zlib"
)

# Code in them runs whenever Python starts: a malicious release of litellm came as one.
KNOWN_PTH = frozenset({
    "_editable_impl_judgekit_llm.pth", "_judgekit_llm.pth", "a1_coverage.pth",
    "distutils-precedence.pth",
})  # fmt: skip
_ENTRY = re.compile(
    r"^([\w.-]+)(?:\[[\w,.-]+\])?==([^\s;\\]+)([^\n]*(?:\n[ \t]+[^\n]*)*)", re.MULTILINE
)


class Locked(NamedTuple):
    """One package of a lock file."""

    name: str
    version: str
    hashes: tuple[str, ...]
    is_conditional: bool


def locked_packages(text: str) -> list[Locked]:
    """The packages of a lock file."""
    return [
        Locked(
            _normal(name), version, tuple(re.findall(r"--hash=sha256:([0-9a-f]{64})", rest)),
            ";" in rest.partition("\n")[0],
        )
        for name, version, rest in _ENTRY.findall(text)
    ]  # fmt: skip


def lock_faults(name: str, text: str) -> Iterator[str]:
    """Requirements of a lock file that are not pinned by version and hash."""
    found = locked_packages(text)
    yield from (f"{name}: {one.name} has no hash" for one in found if not one.hashes)
    for line in text.splitlines():
        words = line.strip()
        is_entry = line[:1].isalnum() and _ENTRY.match(line) is not None
        if words and not line.startswith((" ", "\t", "#")) and not is_entry:
            yield f"{name}: `{words}` names no version"
    for one in found:
        # Some of its releases stole keys.
        if one.name == "litellm" and (check := litellm_check(one.version)).grade == "error":
            yield f"{name}: litellm {check.text}"


def environment_faults(packages: list[Locked], site: Path) -> Iterator[str]:
    """What of an environment is not as the lock says, or is under a licence that binds others."""
    for one in packages:
        try:
            installed = distribution(one.name)
        except PackageNotFoundError:
            if not one.is_conditional:
                yield f"{one.name} is not installed"
            continue
        # A lock names several versions where they differ between Pythons.
        versions = {other.version for other in packages if other.name == one.name}
        if installed.version not in versions:
            yield f"{one.name} {installed.version} is installed, and {one.version} is locked"
        fields = installed.metadata.json
        classifiers = [each for each in fields.get("classifier", []) if each.startswith("License")]
        # Some give the whole text in the second field.
        given = [fields.get("license_expression"), str(fields.get("license", ""))[:200]]
        licence = ", ".join(map(str, filter(None, [*given, *classifiers])))
        if not ALLOWED.search(licence):
            yield f"{one.name}: no licence that is allowed: {licence or 'none is given'}"
    for path in sorted(site.glob("*.pth")):
        if path.name not in KNOWN_PTH:
            yield f"{path.name} runs code whenever Python starts, and is not known"


def direct_dependencies() -> list[str]:
    """The packages that `pyproject.toml` names as base dependencies."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [_normal(re.split(r"[<>=!~\[; ]", one)[0]) for one in project["dependencies"]]


def faults() -> list[str]:
    """Everything that is wrong."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in LOCKS}
    found = [fault for name, text in texts.items() for fault in lock_faults(name, text)]
    runtime = locked_packages(texts["requirements.lock"])
    missing = set(direct_dependencies()) - {one.name for one in runtime}
    found += [f"{name} is a dependency, and requirements.lock lacks it" for name in sorted(missing)]
    return found + list(environment_faults(runtime, Path(sysconfig.get_paths()["purelib"])))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> int:
    """Print the faults, or what was checked; the exit code."""
    found = faults()
    for fault in found:
        sys.stderr.write(f"{fault}\n")
    if not found:
        packages = locked_packages((ROOT / "requirements.lock").read_text(encoding="utf-8"))
        sys.stdout.write(
            f"{len(LOCKS)} lock files pin versions and hashes; {len(packages)} packages are "
            "installed as locked, under licences that bind nobody\n"
        )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
