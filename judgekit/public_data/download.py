"""Downloads a public dataset and writes its rows in judgekit's own formats."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.atomic_write import atomic_writer
from judgekit.errors import SettingsError, write_error
from judgekit.public_data.converters import CONVERTERS
from judgekit.public_data.sources import SourceTree, download_file, is_verified, source_address

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pydantic import JsonValue

    from judgekit.public_data.sources import PinnedFile, PublicDataset
    from judgekit.records import JsonObject

_FOLDER_VARIABLE = "JUDGEKIT_DATA"
_DEFAULT = Path(".judgekit/data")

# The files stay beside the rows, so that the rows can be made again without the network.
_SOURCES = ".sources"
_OWN = "judgekit"

# More connections at once are refused by some hosts.
_AT_ONCE = 8
_JOINED = ".jsonl.gz"


@dataclass(frozen=True, slots=True)
class DownloadedSet:
    """The result of a download."""

    folder: Path
    n_fetched: int
    n_kept: int
    # The written files, each with its number of rows.
    joined: dict[Path, int]
    own: dict[Path, int]


def data_folder(chosen: Path | None = None) -> Path:
    return chosen or Path(os.environ.get(_FOLDER_VARIABLE) or _DEFAULT)


def joined_files(name: str, folder: Path) -> list[Path]:
    return sorted((folder / name).glob(f"*{_JOINED}"))


def download_set(
    chosen: PublicDataset,
    folder: Path,
    *,
    origin: str,
    on_file: Callable[[str], None] = lambda _: None,
) -> DownloadedSet:
    # Files that were verified before are not downloaded again.
    folders = _tree(chosen, folder).folders
    # Rows without their sources were put there by hand, and could not be downloaded again.
    if joined_files(chosen.name, folder) and not any(map(Path.is_dir, folders.values())):
        raise SettingsError(
            f"{folder / chosen.name} has rows that judgekit did not download",
            hint="they stay as they are; give another folder with --to",
        )
    try:
        own = folder / chosen.name / _OWN
        own.mkdir(parents=True, exist_ok=True)
        wanted = [
            (name, source_address(origin, source, name), path, pinned)
            for source in chosen.sources
            for name, pinned in source.files.items()
            # A file that exists but differs from its checksum is downloaded again.
            if not is_verified(path := folders[source.repository] / name, pinned)
        ]
        _fetch_all(wanted, on_file)
    except OSError as error:
        raise write_error(f"cannot write below {folder}", error) from error
    # Only complete sources are converted, or a set would lack rows without saying so.
    rows = CONVERTERS[chosen.converter](_tree(chosen, folder))
    joined = {stem: list(found) for stem, found in rows.items()}
    place = folder / chosen.name
    return DownloadedSet(
        folder=place,
        n_fetched=len(wanted),
        n_kept=chosen.n_files - len(wanted),
        joined=_write(place, ((f"{stem}{_JOINED}", found) for stem, found in joined.items())),
        own=_write(own, judgekit_files(joined, instrument=chosen.name)),
    )


def _tree(chosen: PublicDataset, folder: Path) -> SourceTree:
    return SourceTree(
        folders={s.repository: folder / _SOURCES / s.repository / s.commit for s in chosen.sources},
        names={source.repository: tuple(source.files) for source in chosen.sources},
    )


def _fetch_all(
    wanted: Sequence[tuple[str, str, Path, PinnedFile]], on_file: Callable[[str], None]
) -> None:
    """Download several files at once; the first failure stops those that have not begun."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        files = {
            pool.submit(download_file, address, path, pinned=pinned): name
            for name, address, path, pinned in wanted
        }
        try:
            for done in as_completed(files):
                done.result()
                on_file(files[done])
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _write(folder: Path, files: Iterable[tuple[str, list[JsonObject]]]) -> dict[Path, int]:
    written = {}
    for name, rows in files:
        with atomic_writer(folder / name) as file:
            # Without a time stamp the same rows give the same bytes.
            packed = (
                gzip.GzipFile("", "wb", fileobj=file, mtime=0) if name.endswith(".gz") else file
            )
            for row in rows:
                packed.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            if packed is not file:
                packed.close()
        written[folder / name] = len(rows)
    return written


_Files = defaultdict[str, list["JsonObject"]]

# The sections of a Prometheus prompt (Kim et al. 2024).
_PROMPT = re.compile(
    r"###The instruction to evaluate:\n(?P<input>.*?)\s*###Response to evaluate:\n(?P<output>.*?)"
    r"\s*###Reference Answer[^\n]*:\n(?P<reference>.*?)\s*###Score Rubrics",
    re.DOTALL,
)

# What a case keeps of its row as metadata.
_KNOWN = ("subset", "category", "dimension", "system_a", "system_b", "doc_id")
_WINNERS = {"A": "a", "B": "b", "tie": "tie"}
_SAFE = re.compile(r"[^\w.-]+")

# The criterion of a set that grades outputs as a whole.
_WHOLE = "quality"
_EVEN = 0.5
_STORY = {"doc_id", "title", "input", "output"}
_CATEGORY = "category"
_QUESTION = "How good is the {} of it, as the set's authors define it?"

# The annotator where the set has one label for all its annotators.
_CONSENSUS = "people"


def judgekit_files(
    joined: Mapping[str, Sequence[JsonObject]], *, instrument: str
) -> Iterator[tuple[str, list[JsonObject]]]:
    """The files of a dataset in judgekit's own formats."""
    # Each kind of row is recognised by its fields, so that a new converter needs nothing here.
    all_rows = [row for rows in joined.values() for row in rows]
    texts = {row["doc_id"]: row["output"] for row in all_rows if set(row) == _STORY}
    questions = {row["criterion"]: row["question"] for row in all_rows if "question" in row}
    for stem, rows in joined.items():
        if not rows:
            continue
        files: _Files = defaultdict(list)
        name = f"{instrument}-{stem}"
        if "preference" in rows[0]:
            _add_preferences(files, rows)
        elif "output_a" in rows[0] or "system_a" in rows[0]:
            _add_pairs(files, rows, name)
        elif "judge" in rows[0]:
            _add_outputs(files, rows, texts)
            files["rubric.json"] = [_rubric(name, rows, questions)]
        elif "judge_parsed" in rows[0]:
            _add_labels_only(files, rows, name)
        for name, own in files.items():
            yield f"{stem}.{name}", own


def _add_pairs(files: _Files, rows: Sequence[Any], name: str) -> None:
    for row in rows:
        if "input" in row:
            _add_pair(files, row)
    if files:
        criteria: list[JsonValue] = [
            {"name": each, "question": _QUESTION.format(each), "scale": "unit"}
            for each in dict.fromkeys(row.get("criterion", _WHOLE) for row in rows)
        ]
        files["rubric.json"] = [{"name": _slug(name), "criteria": criteria}]


def _add_pair(files: _Files, row: Any) -> None:
    key = {"case_id": row["id"]}
    known = {name: row[name] for name in _KNOWN if name in row}
    case = {"id": row["id"], "input": row["input"]} | ({"metadata": known} if known else {})
    files["cases.jsonl"].append(case)
    for side in ("a", "b"):
        if f"output_{side}" in row:
            files["outputs.jsonl"].append(key | {"variant": side, "text": row[f"output_{side}"]})
    if "human" in row:
        criterion = {name: row[name] for name in ("criterion",) if name in row}
        label = {"annotator": _CONSENSUS, "winner": _WINNERS[row["human"]]}
        files["labels.jsonl"].append(key | criterion | label)
    # Without the outputs, the replies name the two variants that they compare.
    sides = {} if "output_a" in row else {"variant": f"{row['system_a']} vs {row['system_b']}"}
    for judge, orders in row.get("judge", {}).items():
        for order, text in orders.items():
            reply = key | sides | {"order": order, "text": text}
            files[f"replies.{_slug(judge)}.jsonl"].append(reply)
    for judge, chances in row.get("judge_probability", {}).items():
        chosen = max(chances, key=lambda side: chances[side])
        sure = chances[chosen] / sum(chances.values())
        found = {"winner": _WINNERS[chosen], "confidence": sure}
        files[f"results.{_slug(judge)}.jsonl"].append(key | found)


def _add_preferences(files: _Files, rows: Sequence[Any]) -> None:
    """Winners of one judge and system a file; 1 is a, 2 is b, a fraction is between, 0 a draw."""
    for row in rows:
        name = f"results.{_slug(row['judge_name'])}.{_slug(row['system_b'])}.jsonl"
        for at, preference in enumerate(row["preference"]):
            found: JsonObject = {
                "case_id": str(at),
                "variant_a": row["system_a"],
                "variant_b": row["system_b"],
                "winner": None,
            }
            if preference is not None:
                share = _EVEN if preference == 0 else 2 - preference
                side = "tie" if share == _EVEN else "a" if share > _EVEN else "b"
                found |= {"winner": side, "probability": share}
            files[name].append(found)


def _add_outputs(files: _Files, rows: Sequence[Any], texts: Mapping[Any, Any]) -> None:
    """One case for each document, one variant for each system."""
    # An output whose text was not published has labels and replies only.
    cases: dict[str, JsonObject] = {}
    outputs: dict[tuple[str, str], JsonObject] = {}
    for row in rows:
        parts = row
        if "prompt" in row:
            prompt = _PROMPT.search(row["prompt"])
            parts = {} if prompt is None else prompt.groupdict()
        text = parts.get("output", texts.get(row["doc_id"]))
        key = {"case_id": row["doc_id"], "variant": row["system_id"]}
        known = {name: parts[name] for name in ("input", "context", "reference") if name in parts}
        cases.setdefault(row["doc_id"], {"id": row["doc_id"], **known})
        if text is not None:
            outputs.setdefault((row["doc_id"], row["system_id"]), {**key, "text": text})
        key |= {"criterion": row.get("criterion", _WHOLE)}
        for who, score in zip(_annotators(row), row["human"], strict=True):
            files["labels.jsonl"].append({**key, "annotator": who, "raw": score})
        for at, score in enumerate(row.get("human_crowd", ()), start=1):
            files["labels.crowd.jsonl"].append({**key, "annotator": f"worker {at}", "raw": score})
            files["results.crowd.jsonl"].append({**key, "repeat": at - 1, "raw": score})
        for judge, replies in row["judge"].items():
            for repeat, reply in enumerate(replies):
                name = f"replies.{_slug(judge)}.jsonl"
                files[name].append({**key, "repeat": repeat, "text": reply})
    files |= {"cases.jsonl": [*cases.values()], "outputs.jsonl": [*outputs.values()]}


def _add_labels_only(files: _Files, rows: Sequence[Any], name: str) -> None:
    # Categories become levels in the order of their names, which means nothing.
    labels = [
        label for row in rows for label in (*row["human"].values(), *row["judge_parsed"].values())
    ]
    words = sorted({label for label in labels if isinstance(label, str)})
    if words:
        levels = [{"value": at, "name": word} for at, word in enumerate(words)]
        question = "Which category is it?"
        criterion = {"name": _CATEGORY, "question": question, "scale": {"levels": levels}}
        rubric: dict[str, Any] = {"name": _slug(name), "criteria": [criterion]}
        files["rubric.json"] = [rubric]
    for row in rows:
        for who, label in row["human"].items():
            files["labels.jsonl"].append({"case_id": row["id"], "annotator": who, "raw": label})
        for judge, label in row["judge_parsed"].items():
            found = {"case_id": row["id"], "raw": label}
            files[f"results.{_slug(judge)}.jsonl"].append(found)


def _rubric(name: str, rows: Sequence[Any], questions: Mapping[Any, Any]) -> JsonObject:
    """Every criterion of the rows on its scale, with the dataset's own question if it has one."""
    criteria: dict[str, JsonObject] = {}
    for row in rows:
        criterion = row.get("criterion", _WHOLE)
        low, high = row["scale"]
        criteria.setdefault(
            criterion,
            {
                "name": criterion,
                "question": questions.get(criterion, _QUESTION.format(criterion)),
                "scale": "binary" if (low, high) == (0, 1) else {"min": low, "max": high},
            },
        )
    return {"name": _slug(name), "criteria": [*criteria.values()]}


def _annotators(row: Mapping[str, Any]) -> list[str]:
    if "human_annotator" in row:
        return [f"expert {who}" for who in row["human_annotator"]]
    if "human_is_mean_of" in row:
        return [f"mean of {row['human_is_mean_of']}"]
    return [f"expert {at}" for at in range(1, len(row["human"]) + 1)]


def _slug(text: str) -> str:
    return _SAFE.sub("_", text)
