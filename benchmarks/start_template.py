"""Writes the recorded part of the suite that `judgekit init` makes, from the demo's recording.

    python benchmarks/start_template.py [FILE...]

The outputs of two of the demo's models become v1 and v2. The replies of the demo's judge are read
from its recording, and from each FILE that `judgekit cache export` wrote: the replies about pairs.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from judgekit.datasets import iter_case_outputs, load_dataset, load_rubric, load_suite
from judgekit.judge import Judge
from judgekit.models.cache import DiskCache, import_entries
from judgekit.models.request import ModelAround

if TYPE_CHECKING:
    from judgekit.models.request import Model, ModelReply, ModelRequest
    from judgekit.records import Case, JsonObject, Output

ROOT = Path(__file__).parents[1] / "calibration"
DEMO, START = ROOT / "demo", ROOT / "templates" / "start"
VARIANTS = {"qwen2.5-coder-0.5b": "v1", "qwen2.5-coder-1.5b": "v2"}
_FIELDS = {"text", "trace", "usage"}


def main() -> None:
    """Write cases, outputs and replies into the template's folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("exports", metavar="FILE", type=Path, nargs="*")
    exports = parser.parse_args().exports
    answers = {
        (case.id, VARIANTS[output.variant]): (case, output)
        for case, output in iter_case_outputs(
            DEMO / "outputs.jsonl", load_dataset(DEMO / "cases.jsonl")
        )
        if output.variant in VARIANTS
    }
    cases = [json.loads(line) for line in (DEMO / "cases.jsonl").read_text("utf-8").splitlines()]
    # One tag each: groups of one case would fill the reports of so few cases.
    kept = [
        {k: v for k, v in case.items() if k != "stratum"} | {"tags": case["tags"][:1]}
        for case in cases
    ]
    write(START / "cases.jsonl", kept)
    for name in VARIANTS.values():
        # The rest of the record describes how the demo's outputs were made.
        rows: list[JsonObject] = []
        for (case_id, variant), (_, output) in answers.items():
            if variant == name:
                row: JsonObject = {"case_id": case_id}
                row.update({k: v for k, v in output.to_json().items() if k in _FIELDS and v})
                rows.append(row)
        write(START / "outputs" / f"{name}.jsonl", rows)
    with tempfile.TemporaryDirectory() as folder:
        with DiskCache(Path(folder)) as cache:
            for path in (DEMO / "judge_replies.jsonl", *exports):
                import_entries(cache, path)
        record(answers, Path(folder))


class RecordingModel(ModelAround):
    """Passes requests on to a model, and keeps each reply as a row of a file of replies."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.rows: dict[str, JsonObject] = {}

    async def complete(self, request: ModelRequest) -> ModelReply:
        reply = await self._model.complete(request)
        subject = request.subject.model_dump(mode="json", exclude_defaults=True)
        about = {"finish_reason", "model", "usage", "logprobs"}
        more = reply.model_dump(mode="json", include=about, exclude_none=True)
        row = {**subject, "text": reply.text, "finish_reason": reply.finish_reason, **more}
        self.rows.setdefault(json.dumps(subject), row)
        return reply


def write(path: Path, rows: list[JsonObject], *, is_ascii: bool = False) -> None:
    """Write rows as JSONL."""
    text = "".join(json.dumps(row, ensure_ascii=is_ascii) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")


def record(answers: dict[tuple[str, str], tuple[Case, Output]], folder: Path) -> None:
    """Write the replies in a cache as a file of recorded replies."""
    rubric = load_rubric(DEMO / "rubric.yaml")
    settings = load_suite(DEMO / "judgekit.yaml").judge[0]
    own = settings.model_dump(exclude_unset=True, exclude={"model"})
    with Judge(settings.model, cache=folder, frozen=True, **own) as cached:
        model = RecordingModel(cached.connection.model)
        with Judge(model, cache=None, **own) as judge:
            named = {
                key: (case, output.model_copy(update={"variant": key[1]}))
                for key, (case, output) in answers.items()
            }
            for case, output in named.values():
                judge.grade_sync(case, output, rubric)
            for case_id in dict.fromkeys(id_ for id_, _ in named):
                # What is not in the cache is a failure here, and is not recorded.
                case, first = named[case_id, "v1"]
                judge.compare_sync(case, first, named[case_id, "v2"][1], rubric)
    # A reply may hold a lone surrogate, which cannot be written as UTF-8.
    write(START / "replies.jsonl", [*model.rows.values()], is_ascii=True)


if __name__ == "__main__":
    main()
