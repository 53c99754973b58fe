"""Downloads a public dataset, verifies it, and writes its rows as judgekit's cases, outputs.

Labels and rubrics.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.atomic_write import atomic_writer
from judgekit.errors import SettingsError, StoreError
from judgekit.public_data.converters import CONVERTERS
from judgekit.public_data.sources import SourceTree, download_file, is_verified, source_address

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pydantic import JsonValue

    from judgekit.public_data.sources import PinnedFile, PublicDataset
    from judgekit.records import JsonObject

FOLDER_VARIABLE = "JUDGEKIT_DATA"
"""The environment variable that names the folder the sets lie in."""

_DEFAULT = Path(".judgekit/data")

# Kept beside the rows, so that they can be made anew without the network.
_SOURCES = ".sources"
_OWN = "judgekit"

# More connections at once are refused by some hosts.
_AT_ONCE = 8
_JOINED = ".jsonl.gz"


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """One file of a set that was written."""

    path: Path
    n_rows: int


@dataclass(frozen=True, slots=True)
class DownloadedSet:
    """What getting a set came to."""

    folder: Path
    n_fetched: int
    n_kept: int
    joined: tuple[WrittenFile, ...]
    own: tuple[WrittenFile, ...]


def data_folder(given: Path | None = None) -> Path:
    """The folder the sets lie in."""
    return given or Path(os.environ.get(FOLDER_VARIABLE) or _DEFAULT)


def joined_files(name: str, folder: Path) -> list[Path]:
    """The joined files of a set that are there."""
    return sorted((folder / name).glob(f"*{_JOINED}"))


def download_set(
    chosen: PublicDataset,
    folder: Path,
    *,
    origin: str,
    on_file: Callable[[str], None] = lambda _: None,
) -> DownloadedSet:
    """Fetch a set's files from its source, verify them, and write its rows."""
    # What is there and verified is not fetched again. Rows are written when all files are there.
    _check_is_ours(chosen, folder)
    try:
        own = folder / chosen.name / _OWN
        own.mkdir(parents=True, exist_ok=True)
        wanted = _missing(chosen, folder)
        _fetch_all(chosen, wanted, origin, on_file)
    except OSError as error:
        raise StoreError(f"cannot write below {folder}: {error.strerror}") from error
    # Only complete sources are converted, or a set would lack rows without saying so.
    rows = CONVERTERS[chosen.converter](_tree(chosen, folder))
    joined = {stem: list(found) for stem, found in rows.items()}
    place = folder / chosen.name
    return DownloadedSet(
        folder=place,
        n_fetched=len(wanted),
        n_kept=chosen.n_files - len(wanted),
        joined=tuple(_write(place / f"{stem}{_JOINED}", found) for stem, found in joined.items()),
        own=tuple(
            _write(own / name, found)
            for name, found in judgekit_files(joined, instrument=chosen.name)
        ),
    )


def _check_is_ours(chosen: PublicDataset, folder: Path) -> None:
    """Rows without the sources they were made of came from elsewhere, and are not replaced."""
    sources = _tree(chosen, folder).folders.values()
    # Somebody may have put rows there by hand; they could not be fetched again.
    if joined_files(chosen.name, folder) and not any(place.is_dir() for place in sources):
        raise SettingsError(
            f"{folder / chosen.name} holds rows that were not fetched by judgekit",
            hint="they stay as they are; give another folder with --to",
        )


def _tree(chosen: PublicDataset, folder: Path) -> SourceTree:
    return SourceTree(
        folders={s.repository: folder / _SOURCES / s.repository / s.commit for s in chosen.sources},
        names={source.repository: tuple(source.files) for source in chosen.sources},
    )


_Wanted = list[tuple[int, str, Path, "PinnedFile"]]


def _missing(chosen: PublicDataset, folder: Path) -> _Wanted:
    folders = _tree(chosen, folder).folders
    return [
        (at, name, path, pinned)
        for at, source in enumerate(chosen.sources)
        for name, pinned in source.files.items()
        # A file that is there but differs from its checksum is fetched again.
        if not is_verified(path := folders[source.repository] / name, pinned)
    ]


def _fetch_all(
    chosen: PublicDataset, wanted: _Wanted, origin: str, on_file: Callable[[str], None]
) -> None:
    """Fetch several at once; the first that fails stops those that have not begun."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        asked = {
            pool.submit(
                download_file, source_address(origin, chosen.sources[at], name), path, pinned=pinned
            ): name
            for at, name, path, pinned in wanted
        }
        try:
            for done in as_completed(asked):
                done.result()
                on_file(asked[done])
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _write(path: Path, rows: Iterable[JsonObject]) -> WrittenFile:
    n_rows = 0
    with atomic_writer(path) as file:
        packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if path.suffix == ".gz" else file
        for row in rows:
            packed.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            n_rows += 1
        if packed is not file:
            packed.close()
    return WrittenFile(path, n_rows)


_Files = dict[str, list["JsonObject"]]

# The sections of a Prometheus prompt (Kim et al. 2024).
_PROMPT = re.compile(
    r"###The instruction to evaluate:\n(?P<input>.*?)\s*###Response to evaluate:\n(?P<output>.*?)"
    r"\s*###Reference Answer[^\n]*:\n(?P<reference>.*?)\s*###Score Rubrics",
    re.DOTALL,
)

_KNOWN = ("subset", "category", "dimension", "system_a", "system_b", "doc_id")
_WINNERS = {"A": "a", "B": "b", "tie": "tie"}
_SAFE = re.compile(r"[^\w.-]+")
_WHOLE = "quality"
_EVEN = 0.5
_CATEGORY = "category"
_QUESTION = "How good is the {} of it, as the set's authors define it?"
_CONSENSUS = "people"


def judgekit_files(
    joined: Mapping[str, Sequence[JsonObject]], *, instrument: str
) -> Iterator[tuple[str, list[JsonObject]]]:
    """The files of a set in judgekit's own formats."""
    texts = {row["doc_id"]: row["output"] for row in _all(joined) if set(row) == _STORY}
    questions = {row["criterion"]: row["question"] for row in _all(joined) if "question" in row}
    for stem, rows in joined.items():
        if not rows:
            continue
        files: _Files = {}
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


_STORY = {"doc_id", "title", "input", "output"}


def _all(joined: Mapping[str, Sequence[JsonObject]]) -> Iterator[JsonObject]:
    for rows in joined.values():
        yield from rows


def _add_pairs(files: _Files, rows: Sequence[Any], name: str) -> None:
    for row in rows:
        if "input" in row:
            _add_pair(files, row)
    if files:
        criteria = dict.fromkeys(row.get("criterion", _WHOLE) for row in rows)
        files["rubric.json"] = [
            {
                "name": _slug(name),
                "criteria": [
                    {"name": each, "question": _QUESTION.format(each), "scale": "unit"}
                    for each in criteria
                ],
            }
        ]


def _add_pair(files: _Files, row: Any) -> None:
    key = {"case_id": row["id"]}
    known = {name: row[name] for name in _KNOWN if name in row}
    case = {"id": row["id"], "input": row["input"]} | ({"metadata": known} if known else {})
    _add(files, "cases.jsonl", case)
    for side in ("a", "b"):
        if f"output_{side}" in row:
            _add(files, "outputs.jsonl", key | {"variant": side, "text": row[f"output_{side}"]})
    if "human" in row:
        said = {"annotator": _CONSENSUS, "winner": _WINNERS[row["human"]]}
        _add(files, "labels.jsonl", key | _criterion(row) | said)
    # Where the outputs are not there, the replies say themselves which two they are about.
    sides = f"{row['system_a']} vs {row['system_b']}" if "output_a" not in row else None
    shown: JsonObject = {} if sides is None else {"variant": sides}
    for judge, orders in row.get("judge", {}).items():
        for order, text in orders.items():
            reply = key | shown | {"order": order, "text": text}
            _add(files, f"replies.{_slug(judge)}.jsonl", reply)
    for judge, chances in row.get("judge_probability", {}).items():
        chosen = max(chances, key=lambda side: chances[side])
        sure = chances[chosen] / sum(chances.values())
        found = {"winner": _WINNERS[chosen], "confidence": sure}
        _add(files, f"results.{_slug(judge)}.jsonl", key | found)


def _add_preferences(files: _Files, rows: Sequence[Any]) -> None:
    """Winners of one judge and system a file; 1 is a, 2 is b, a fraction is between, 0 a draw."""
    for row in rows:
        name = f"results.{_slug(row['judge_name'])}.{_slug(row['system_b'])}.jsonl"
        for at, said in enumerate(row["preference"]):
            found: JsonObject = {
                "case_id": str(at),
                "variant_a": row["system_a"],
                "variant_b": row["system_b"],
                "winner": None,
            }
            if said is not None:
                share = _EVEN if said == 0 else 2 - said
                side = "tie" if share == _EVEN else "a" if share > _EVEN else "b"
                found |= {"winner": side, "probability": share}
            _add(files, name, found)


def _add_outputs(files: _Files, rows: Sequence[Any], texts: Mapping[Any, Any]) -> None:
    """One case a document, one variant a system; what has no text has labels and replies only."""
    cases: dict[str, JsonObject] = {}
    outputs: dict[tuple[str, str], JsonObject] = {}
    for row in rows:
        parts = _prompt_parts(row) if "prompt" in row else row
        text = parts.get("output", texts.get(row["doc_id"]))
        key = {"case_id": row["doc_id"], "variant": row["system_id"]}
        given = {name: parts[name] for name in ("input", "context", "reference") if name in parts}
        cases.setdefault(row["doc_id"], {"id": row["doc_id"], **given})
        if text is not None:
            outputs.setdefault((row["doc_id"], row["system_id"]), {**key, "text": text})
        key |= {"criterion": row.get("criterion", _WHOLE)}
        for who, score in zip(_annotators(row), row["human"], strict=True):
            _add(files, "labels.jsonl", {**key, "annotator": who, "raw": score})
        for at, score in enumerate(row.get("human_crowd", ()), start=1):
            _add(files, "labels.crowd.jsonl", {**key, "annotator": f"worker {at}", "raw": score})
            _add(files, "results.crowd.jsonl", {**key, "repeat": at - 1, "raw": score})
        for judge, said in row["judge"].items():
            for repeat, reply in enumerate(said):
                name = f"replies.{_slug(judge)}.jsonl"
                _add(files, name, {**key, "repeat": repeat, "text": reply})
    files |= {"cases.jsonl": [*cases.values()], "outputs.jsonl": [*outputs.values()]}


def _add_labels_only(files: _Files, rows: Sequence[Any], name: str) -> None:
    """Scores, or categories: a level each, in the order of their names, which means nothing."""
    given = [
        label for row in rows for label in (*row["human"].values(), *row["judge_parsed"].values())
    ]
    words = sorted({label for label in given if isinstance(label, str)})
    if words:
        files["rubric.json"] = [_categories(_slug(name), words)]
    for row in rows:
        for who, label in row["human"].items():
            _add(files, "labels.jsonl", {"case_id": row["id"], "annotator": who, "raw": label})
        for judge, label in row["judge_parsed"].items():
            found = {"case_id": row["id"], "raw": label}
            _add(files, f"results.{_slug(judge)}.jsonl", found)


def _categories(name: str, words: Sequence[str]) -> JsonObject:
    levels: list[JsonValue] = [{"value": at, "name": word} for at, word in enumerate(words)]
    question = "Which category is it?"
    criterion: JsonObject = {
        "name": _CATEGORY,
        "question": question,
        "scale": {"levels": levels},
    }
    return {"name": name, "criteria": [criterion]}


def _rubric(name: str, rows: Sequence[Any], questions: Mapping[Any, Any]) -> JsonObject:
    """Every criterion met, on its scale; a set's own question where it states one."""
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


def _prompt_parts(row: Mapping[str, Any]) -> Mapping[str, Any]:
    found = _PROMPT.search(row["prompt"])
    return {} if found is None else found.groupdict()


def _annotators(row: Mapping[str, Any]) -> list[str]:
    if "human_annotator" in row:
        return [f"expert {who}" for who in row["human_annotator"]]
    if "human_is_mean_of" in row:
        return [f"mean of {row['human_is_mean_of']}"]
    return [f"expert {at}" for at in range(1, len(row["human"]) + 1)]


def _criterion(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"criterion": row["criterion"]} if "criterion" in row else {}


def _slug(text: str) -> str:
    return _SAFE.sub("_", text)


def _add(files: _Files, name: str, row: JsonObject) -> None:
    files.setdefault(name, []).append(row)
