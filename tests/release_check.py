"""Checks what a release would publish: builds it twice, looks inside, installs it and uses it.

Run it as `python -m tests.release_check TOOLS`, where TOOLS is the folder of the commands `twine`
and `cyclonedx-py`. `dist/` then holds the sdist, the wheel and the bill of materials of the wheel
with its locked dependencies. Nothing is published. It exits with 1 when a step fails.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from email import message_from_bytes
from hashlib import sha256
from pathlib import Path

from tests.use_wheel import ROOT, StepFailedError, install, step, use

DIST = ROOT / "dist"
SHIPPED = {"prompts": "judgekit/shipped/prompts", "calibration": "judgekit/shipped/calibration"}
NOT_SHIPPED = "judgekit/report/script/"
LICENSES = ("LICENSE", "judgekit/report/assets/LICENSES.txt")
# A copyleft licence among what everybody installs would bind those who pass judgekit on.
LICENCE_READ = {"tiktoken": "MIT"}  # in a field that holds the whole text, which the tool skips
COPYLEFT = ("GPL-2.0", "GPL-3.0", "AGPL", "GNU General Public", "GNU Affero")


def main(tools: Path) -> int:
    """Make and check a release; the exit code."""
    with tempfile.TemporaryDirectory(prefix="judgekit-release-") as name:
        folder = Path(name)
        try:
            say(step("audit", [sys.executable, "-m", "tests.audit"], ROOT).strip())
            wheel, sdist = build_twice(folder)
            say(f"built twice, byte by byte the same: {digest(wheel)}, {digest(sdist)}")
            step("twine", [tools / "twine", "check", "--strict", wheel, sdist], ROOT)
            say("twine finds no fault in the metadata")
            say(check_wheel(wheel))
            say(check_sdist(sdist))
            bin_folder = install(wheel, folder / "venv")
            say(write_bill(tools, bin_folder))
            say(use(bin_folder, folder / "empty"))
        except StepFailedError as error:
            sys.stderr.write(f"this cannot be released: {error}\n")
            return 1
    say(f"OK: {DIST} holds what can be released")
    return 0


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def digest(file: Path) -> str:
    return f"{file.name} sha256 {sha256(file.read_bytes()).hexdigest()[:16]}"


def build_twice(folder: Path) -> tuple[Path, Path]:
    """The wheel and the sdist; the second wheel is built from the second sdist."""
    command: list[Path | str] = [sys.executable, "-m", "build", "--no-isolation"]
    shutil.rmtree(DIST, ignore_errors=True)
    step("build", [*command, "--wheel", "--sdist", "-o", DIST], ROOT)
    step("second build", [*command, "-o", folder / "dist"], ROOT)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    for first in (wheel, sdist):
        if first.read_bytes() != (folder / "dist" / first.name).read_bytes():
            raise StepFailedError(f"two builds of {first.name} differ")
    return wheel, sdist


def tracked(*folders: str) -> set[str]:
    """The files under version control, by their paths in the checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *folders], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        raise StepFailedError("a release is made from a git checkout, which this is not")
    return {name for name in listed.stdout.split("\0") if name}


def check_wheel(wheel: Path) -> str:
    """Whether the wheel holds the package with all its files, and nothing else."""
    wanted = {name for name in tracked("judgekit") if not name.startswith(NOT_SHIPPED)}
    for source, place in SHIPPED.items():
        wanted |= {place + name.removeprefix(source) for name in tracked(source)}
    with zipfile.ZipFile(wheel) as archive:
        held = [info.filename for info in archive.infolist() if not info.is_dir()]
        (info_folder,) = {n.partition("/")[0] for n in held if ".dist-info/" in n}
        metadata = message_from_bytes(archive.read(f"{info_folder}/METADATA"))
    package = {name for name in held if not name.startswith(f"{info_folder}/")}
    refuse("the wheel lacks", wanted - package)
    refuse("the wheel holds what is not under version control:", package - wanted)
    refuse("the wheel lacks", {f"{info_folder}/licenses/{name}" for name in LICENSES} - {*held})
    if metadata["License-Expression"] != "Apache-2.0":
        raise StepFailedError(f"the licence is given as {metadata['License-Expression']}")
    refuse("the metadata do not name", {*LICENSES} - {*metadata.get_all("License-File", [])})
    size = wheel.stat().st_size / 1e6
    extras = ", ".join(sorted(metadata.get_all("Provides-Extra", [])))
    return f"the wheel has {len(package)} files, {size:.1f} MB; Apache-2.0; extras {extras}"


def check_sdist(sdist: Path) -> str:
    """Whether the sdist holds what it takes to build and test, and nothing that git does not."""
    with tarfile.open(sdist) as archive:
        held = {m.name.partition("/")[2] for m in archive.getmembers() if m.isfile()}
    wanted = tracked("judgekit", "prompts", "calibration", "docs", "tests")
    wanted |= {"README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml"}
    refuse("the sdist lacks", wanted - held)
    # Written by the build, and the list of what the build leaves out.
    refuse("the sdist holds too much:", held - wanted - {"PKG-INFO", ".gitignore"})
    return f"the sdist has {len(held)} files, {sdist.stat().st_size / 1e6:.1f} MB"


def refuse(fault: str, names: set[str]) -> None:
    if names:
        some = sorted(names)[:5]
        raise StepFailedError(f"{fault} {', '.join(some)}{', …' if len(names) > len(some) else ''}")


def write_bill(tools: Path, bin_folder: Path) -> str:
    """Write the bill of materials of an environment, CycloneDX, and look at its licences."""
    bill = DIST / "sbom.cdx.json"
    python = bin_folder / "python"
    options = ["--output-reproducible", "--of", "JSON", "-o"]
    step("bill", [tools / "cyclonedx-py", "environment", *options, bill, python], ROOT)
    components = json.loads(bill.read_text(encoding="utf-8"))["components"]
    licences = {
        one["name"]: json.dumps(one["licenses"]) for one in components if one.get("licenses")
    }
    unknown = {one["name"] for one in components} - {*licences, *LICENCE_READ}
    refuse("no licence is given by", unknown)
    copyleft = {
        name
        for name, text in licences.items()
        if any(word in text for word in COPYLEFT) and "LGPL" not in text
    }
    refuse("under a copyleft licence:", copyleft)
    return (
        f"{bill.name} lists {len(components)} packages, none without a licence, none under the GPL"
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
