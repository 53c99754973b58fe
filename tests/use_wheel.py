"""Builds the wheel, installs it with its locked dependencies into an empty environment, uses it.

Run it as a script: `python tests/use_wheel.py`. It prints one line and exits with 0 when all is
well; else it says which step failed, and exits with 1.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UV = Path(sys.executable).parent / "uv"

LOOK_INSIDE = """
import judgekit as jk
from judgekit.datasets.loading import load_rubric
from judgekit.prompts.messages import PairTemplate
from judgekit.prompts.messages import PromptTemplate
from judgekit.prompts.templates import pair_template_names, template_names
from judgekit.public_data.sources import load_catalog
from judgekit.resources import shipped_file, shipped_root

assert "site-packages" in str(shipped_root()), shipped_root()
case = jk.Case(id="a", input="One and one?", reference="Two.")
output = jk.Output(text="Two.", trace=[{"type": "tool_call", "name": "add"}])
rubric = jk.Rubric(name="r", criteria=[jk.Criterion(name="c", question="?", scale="binary")])
five = jk.Rubric(name="f", criteria=[jk.Criterion(name="c", question="?", scale="one_to_five")])
names = template_names()
assert len(names) >= 5, names
for name in names:
    template = PromptTemplate(name)
    scored = five if 5 in template.header.reply.choices.values() else rubric
    assert template.prompts(case, output, scored)[0].messages, name
pair_names = pair_template_names()
assert len(pair_names) >= 5, pair_names
for name in pair_names:
    assert PairTemplate(name).prompts(case, "Two.", "Three.", rubric)[0].messages, name
rubrics = sorted(shipped_file("prompts", "rubrics").glob("*.yaml"))
assert len(rubrics) >= 5, rubrics
for path in rubrics:
    load_rubric(path.stem)
assert all(one.n_files for one in load_catalog().sets)
assert shipped_file("calibration", "demo", "judge_replies.jsonl").is_file()
assert (shipped_root().parent / "py.typed").is_file()
assert not (shipped_root().parent / "report" / "script").exists()
print(len(names) + len(pair_names), "templates and", len(rubrics), "rubrics")
"""


class StepFailedError(Exception):
    """A step did not come to what it should; says which and why."""


def main() -> int:
    """Build, install and use; the exit code."""
    with tempfile.TemporaryDirectory(prefix="judgekit-wheel-") as name:
        folder = Path(name)
        try:
            wheel = build(folder / "dist")
            bin_folder = install(wheel, folder / "venv")
            said = use(bin_folder, folder / "empty")
        except StepFailedError as error:
            sys.stderr.write(f"the wheel is not sound: {error}\n")
            return 1
    sys.stdout.write(f"OK: {wheel.name} installs and works: {said}\n")
    return 0


def build(into: Path) -> Path:
    """The wheel of this checkout, without a network."""
    step("build", [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", into], ROOT)
    (wheel,) = into.glob("*.whl")
    return wheel


def install(wheel: Path, into: Path) -> Path:
    """The folder of commands of a new environment that holds the lock file and the wheel."""
    venv.create(into, with_pip=False)
    bin_folder = into / ("Scripts" if os.name == "nt" else "bin")
    python = bin_folder / "python"
    put("dependencies", ["--require-hashes", "-r", ROOT / "requirements.lock"], python)
    put("install", ["--no-deps", wheel], python)
    return bin_folder


def put(name: str, what: list[Path | str], python: Path) -> None:
    """Install into another environment: with uv, or with pip where uv cannot reach its index."""
    quickly: list[Path | str] = [UV, "pip", "install", "--quiet", "--python", python]
    slowly: list[Path | str] = [sys.executable, "-m", "pip", "--python", python, "install", "-q"]
    try:
        step(name, [*quickly, *what], ROOT)
    except StepFailedError:
        step(name, [*slowly, "--disable-pip-version-check", *what], ROOT)


def use(bin_folder: Path, empty: Path) -> str:
    """Use what was installed, from a folder that holds nothing of the checkout."""
    empty.mkdir()
    judgekit = bin_folder / "judgekit"
    version = step("version", [judgekit, "--version"], empty).strip()
    step("demo", [judgekit, "demo", "-q"], empty)
    if list(empty.iterdir()):
        raise StepFailedError(f"the demo left {[path.name for path in empty.iterdir()]} behind")
    step("init", [judgekit, "init", "suite"], empty)
    graded = json.loads(step("grade", [judgekit, "grade", "--json"], empty / "suite"))
    step("page", [judgekit, "run", "-q", "-o", "run.html"], empty / "suite")
    if "page-index" not in (empty / "suite" / "run.html").read_text(encoding="utf-8"):
        raise StepFailedError("the page of a run holds no cases")
    inside = step("shipped files", [bin_folder / "python", "-c", LOOK_INSIDE], empty).strip()
    return f"{version}; demo, init, run and grade ({len(graded['verdicts'])} verdicts); {inside}"


def step(name: str, command: list[Path | str], folder: Path) -> str:
    """Run a command; its stdout."""
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    heard = {
        name: value
        for name, value in os.environ.items()
        if name not in hidden and not name.startswith("JUDGEKIT_")
    }
    words = [str(part) for part in command]
    try:
        ran = subprocess.run(
            words, cwd=folder, env=heard, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise StepFailedError(f"{name} cannot be run: {error}") from error
    if ran.returncode != 0:
        said = f"{ran.stdout[-2000:]}{ran.stderr[-4000:]}"
        raise StepFailedError(f"{name} exited with {ran.returncode}\n{said}")
    return ran.stdout


if __name__ == "__main__":
    sys.exit(main())
