"""The tools that are compared: their versions, how they start, and the scores they must report."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Tool:
    """One row of the tables."""

    name: str
    runner: str
    """The module `run_<runner>` judges, and `replies.FORMS[runner]` is what it is answered."""

    scores: tuple[float, float]
    """What it must report for the levels 4 and 5."""

    packages: tuple[str, ...] = ()
    """What is installed, pinned, the tool first; empty for what runs in this environment."""

    starts: str = ""
    """The import without which it judges nothing; of a Node.js package the file."""

    command: str = ""
    """The command whose `--help` is asked for."""

    absent: dict[str, str] = field(default_factory=dict, hash=False)
    """What is said in place of figures that it cannot have."""

    option: str = ""
    """Which of its ways it takes."""

    one_call: str = ""
    """The option by which it asks about all criteria in one call; empty: it has none."""

    @property
    def is_node(self) -> bool:
        return self.runner == "promptfoo"

    @property
    def folder(self) -> Path:
        return ROOT / ".venv" / "peers" / self.runner if self.packages else Path(sys.prefix)

    @property
    def bin(self) -> Path:
        return self.folder / ("node_modules/.bin" if self.is_node else "bin")

    @property
    def judge_command(self) -> list[str]:
        if self.is_node:
            return ["node", str(Path(__file__).with_name("run_promptfoo.mjs"))]
        return [str(self.bin / "python"), "-m", f"benchmarks.peers.run_{self.runner}"]

    @property
    def import_command(self) -> list[str]:
        if self.is_node:
            code = f"import {str(self.folder / self.starts)!r}; process.exit(0)"
            return ["node", "--input-type=module", "-e", code]
        return [str(self.bin / "python"), "-c", self.starts]

    def install(self) -> str:
        """Install it where it is not yet; returns why that cannot be, empty when it is there."""
        stamp, wanted = self.folder / "installed", "\n".join(self.packages)
        if not wanted or (stamp.exists() and stamp.read_text(encoding="utf-8") == wanted):
            return ""
        self.folder.mkdir(parents=True, exist_ok=True)
        folder, uv = str(self.folder), str(Path(sys.prefix) / "bin" / "uv")
        commands = [
            [uv, "venv", "-q", "--clear", "--python", sys.executable, folder],
            [uv, "pip", "install", "-q", "--python", str(self.bin / "python"), *self.packages],
        ]
        if self.is_node:
            quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
            commands = [["npm", "install", "--prefix", folder, *quiet, *self.packages]]
        for command in commands:
            try:
                subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
            except subprocess.CalledProcessError as error:
                return (str(error.stderr).strip() or str(error)).splitlines()[-1]
            except (OSError, subprocess.TimeoutExpired) as error:
                return str(error)
        stamp.write_text(wanted, encoding="utf-8")
        return ""


_NO_CACHE = {"warm_s": "no cache", "n_warm_requests": "all"}
_NO_COMMAND = {"help_cpu_s": "no command"}
_AS_ABOVE = {"import_cpu_s": "as above", "help_cpu_s": "as above"}

FLOOR = Tool(
    "bare aiohttp loop", "aiohttp", (4, 5), starts="import aiohttp", absent=_NO_CACHE | _NO_COMMAND
)
"""What every time is compared with."""

TOOLS = (
    FLOOR,
    Tool(
        "judgekit", "judgekit", (4, 5), starts="import judgekit; judgekit.Judge",
        command="judgekit", one_call="joint",
    ),
    Tool("judgekit through litellm", "judgekit", (4, 5), option="litellm", absent=_AS_ABOVE),
    Tool(
        "autoevals 0.4.1", "autoevals", (0.75, 1), ("autoevals==0.4.1", "openai==3.57.0"),
        "import autoevals, openai; autoevals.LLMClassifier", absent=_NO_CACHE | _NO_COMMAND,
    ),
    Tool(
        # langchain-community 0.4.2 lacks a module that ragas 0.4.3 imports.
        "ragas 0.4.3", "ragas", (4, 5), ("ragas==0.4.3", "langchain-community==0.4.1"),
        "from ragas.llms import llm_factory; import ragas.metrics.collections", "ragas",
    ),
    Tool(
        "autorubric 1.6.1", "autorubric", (0.75, 1), ("autorubric==1.6.1",),
        "import autorubric.eval, autorubric.graders", absent=_NO_COMMAND, one_call="per_item",
    ),
    Tool(
        "inspect_ai 0.3.285", "inspect", (0.5, 1), ("inspect-ai==0.3.285", "openai==3.57.0"),
        "from inspect_ai import eval; from inspect_ai.scorer import model_graded_qa", "inspect",
    ),
    Tool(
        "promptfoo 0.121.20", "promptfoo", (0.75, 1), ("promptfoo@0.121.20",),
        "node_modules/promptfoo/dist/src/index.js", "promptfoo",
    ),
    Tool(
        "deepeval 4.3.1", "deepeval", (7 / 9, 1), ("deepeval==4.3.1",),
        "from deepeval import evaluate; from deepeval.metrics import GEval", "deepeval",
    ),
)  # fmt: skip
"""All of them, the floor first."""
