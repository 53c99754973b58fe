from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.errors import DatasetError, ModelError
from judgekit.models import RecordedModel
from judgekit.models.recorded_replies import RecordedReply
from judgekit.models.request import Model, ModelReply, ModelRequest, Subject, TokenLogprob
from judgekit.records import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def ask(**subject: Any) -> ModelRequest:
    return ModelRequest(
        model="any", messages=({"role": "user", "content": "?"},), subject=Subject(**subject)
    )


def replies(folder: Path, *rows: Mapping[str, object]) -> Path:
    path = folder / "replies.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


async def test_a_reply_is_found_by_everything_the_request_is_about(tmp_path: Path) -> None:
    row = {"case_id": "c", "variant": "v", "criterion": "k", "repeat": 1}
    path = replies(
        tmp_path,
        {**row, "repeat": 0, "text": "first"},
        {**row, "text": "again", "finish_reason": "length", "model": "m",
         "usage": {"input_tokens": 3, "output_tokens": 1}},
    )  # fmt: skip
    reply = await RecordedModel(path).complete(
        ask(case_id="c", variant="v", criterion="k", repeat=1)
    )
    assert (reply.text, reply.finish_reason, reply.model) == ("again", "length", "m")
    assert reply.usage == Usage(input_tokens=3, output_tokens=1)


async def test_rows_without_a_variant_come_before_rows_without_a_criterion(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"case_id": "c", "text": "neither"},
        {"case_id": "c", "variant": "v", "text": "no criterion"},
        {"case_id": "c", "criterion": "k", "text": "no variant"},
        {"case_id": "c", "variant": "v", "criterion": "k", "text": "exact"},
    ]
    said = []
    while rows:
        model = RecordedModel(replies(tmp_path, *rows))
        said.append((await model.complete(ask(case_id="c", variant="v", criterion="k"))).text)
        rows.pop()
    assert said == ["exact", "no variant", "no criterion", "neither"]


async def test_each_order_of_a_comparison_has_its_own_reply(tmp_path: Path) -> None:
    path = replies(
        tmp_path,
        {"case_id": "c", "order": "ab", "text": "first"},
        {"case_id": "c", "order": "ba", "text": "second"},
    )
    model = RecordedModel(path)
    assert (await model.complete(ask(case_id="c", order="ab"))).text == "first"
    assert (await model.complete(ask(case_id="c", order="ba"))).text == "second"
    with pytest.raises(ModelError, match="order is 'ab' instead of none"):
        await model.complete(ask(case_id="c"))


async def test_what_a_row_leaves_out_to_serve_all_is_not_told_as_a_difference(
    tmp_path: Path,
) -> None:
    model = RecordedModel(replies(tmp_path, {"case_id": "c", "criterion": "tone", "text": "x"}))
    with pytest.raises(ModelError, match=r"line 1, where criterion is 'tone' instead of none$"):
        await model.complete(ask(case_id="c", variant="v1"))


async def test_a_row_without_a_repeat_answers_the_first_asking_only(tmp_path: Path) -> None:
    model = RecordedModel(replies(tmp_path, {"case_id": "c", "text": "x"}))
    assert (await model.complete(ask(case_id="c", repeat=0))).text == "x"
    with pytest.raises(ModelError, match="nearest row is line 1, where repeat is 0 instead of 1"):
        await model.complete(ask(case_id="c", repeat=1))


async def test_asking_again_needs_a_row_of_that_attempt(tmp_path: Path) -> None:
    path = replies(
        tmp_path, {"case_id": "c", "text": "?"}, {"case_id": "c", "attempt": 1, "text": "4"}
    )
    model = RecordedModel(path)
    assert (await model.complete(ask(case_id="c", attempt=1))).text == "4"
    with pytest.raises(ModelError, match="attempt 2"):
        await model.complete(ask(case_id="c", attempt=2))


async def test_a_miss_says_what_was_looked_for_and_is_not_fatal(tmp_path: Path) -> None:
    path = replies(
        tmp_path,
        {"case_id": "refund", "variant": "v1", "criterion": "tone", "text": "x"},
        {"case_id": "refund", "variant": "v2", "criterion": "accuracy", "text": "x"},
    )
    with pytest.raises(ModelError, match="case 'refund', variant 'v1', criterion 'accuracy'") as e:
        await RecordedModel(path).complete(
            ask(case_id="refund", variant="v1", criterion="accuracy")
        )
    assert str(path) in str(e.value)
    assert "line 1, where criterion is 'tone' instead of 'accuracy'" in str(e.value)
    assert (e.value.kind, e.value.retryable, e.value.fatal) == ("bad_request", False, False)


async def test_a_misspelt_case_is_answered_with_the_near_ones(tmp_path: Path) -> None:
    model = RecordedModel(replies(tmp_path, {"case_id": "refund-1", "text": "x"}))
    with pytest.raises(ModelError, match=r"did you mean refund-1\?"):
        await model.complete(ask(case_id="refund_1"))
    with pytest.raises(ModelError, match="the file has no such case"):
        await model.complete(ask(case_id="zzz"))
    with pytest.raises(ModelError, match="no case, repeat 0"):
        await model.complete(ask())


def test_two_rows_for_one_request_are_an_error_that_names_both_lines(tmp_path: Path) -> None:
    path = replies(
        tmp_path,
        {"case_id": "c", "text": "x"},
        {"case_id": "d", "text": "x"},
        {"case_id": "c", "repeat": 0, "text": "y"},
    )
    with pytest.raises(DatasetError, match=r"replies.jsonl:3: case 'c': .* as line 1"):
        RecordedModel(path)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"case_id": "c", "text": "x"', "Invalid JSON"),
        ('{"text": "x"}', "case_id: Field required"),
        ('{"case_id": "c"}', "text: Field required"),
        ('{"case_id": "c", "text": "x", "critrion": "k"}', "critrion: Extra inputs"),
        ('{"case_id": "c", "text": "x", "repeat": -1}', "repeat: Input should be greater"),
        ("[]", "Input should be an object"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text(f'{{"case_id": "a", "text": "x"}}\n\n{line}\n', encoding="utf-8")
    with pytest.raises(DatasetError, match=rf"replies.jsonl:3: no recorded reply: {problem}"):
        RecordedModel(path)


def test_a_file_that_cannot_be_read_is_a_dataset_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="there is no such file"):
        RecordedModel(tmp_path / "missing.jsonl")
    for name in ("a\0b", "\ud800", "x" * 300):
        with pytest.raises(DatasetError, match="cannot be read"):
            RecordedModel(tmp_path / name)
    broken = tmp_path / "broken.jsonl.gz"
    for content in (b"plain", gzip.compress(b"{}")[:-4], gzip.compress(b"{}" * 99)[:20]):
        broken.write_bytes(content)
        with pytest.raises(DatasetError, match="damaged gzip file"):
            RecordedModel(broken)


def test_a_packed_file_that_unpacks_to_one_endless_line_is_refused(tmp_path: Path) -> None:
    bomb = tmp_path / "replies.jsonl.gz"
    bomb.write_bytes(gzip.compress(b" " * (65 << 20), compresslevel=1))
    with pytest.raises(DatasetError, match="a line longer than 64 MiB"):
        RecordedModel(bomb)


def test_a_line_that_is_no_utf_8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_bytes(b'{"case_id": "c", "text": "x"}\n\xff\n')
    with pytest.raises(DatasetError, match=r"replies.jsonl:2: .* which is not UTF-8"):
        RecordedModel(path)


async def test_a_gzipped_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl.gz"
    path.write_bytes(gzip.compress(b'\xef\xbb\xbf{"case_id": "c", "text": "a\\u2028b"}\r\n'))
    assert (await RecordedModel(path).complete(ask(case_id="c"))).text == "a\u2028b"


def test_the_model_is_named_by_its_spec_and_kept_out_of_the_cache(tmp_path: Path) -> None:
    path = replies(tmp_path, {"case_id": "c", "text": None})
    model = RecordedModel(f"recorded:{path}")
    assert model.name == f"recorded:{path}"
    assert model.cacheable is False
    assert isinstance(model, Model)


async def test_every_part_of_a_reply_is_read(tmp_path: Path) -> None:
    full = ModelReply(
        text="4\n",
        finish_reason=None,
        usage=Usage(input_tokens=7),
        model="m",
        logprobs=(TokenLogprob(token="4", logprob=-0.1, top=(("4", -0.1), ("5", -2.0))),),
    )
    row = full.model_dump(mode="json", include={*RecordedReply.model_fields})
    model = RecordedModel(replies(tmp_path, {"case_id": "c", "order": "ab", "attempt": 1, **row}))
    reply = await model.complete(ask(case_id="c", order="ab", attempt=1))
    assert reply == full.model_copy(update={"cost_usd": 0.0})


async def test_null_is_a_field_left_out_and_usage_may_be_in_the_words_of_chat_apis(
    tmp_path: Path,
) -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
    empty = dict.fromkeys(("variant", "criterion", "order", "repeat", "model", "logprobs"))
    path = replies(tmp_path, {"case_id": "c", "text": "t", **empty, "usage": usage})
    reply = await RecordedModel(path).complete(ask(case_id="c", criterion="k"))
    assert (reply.text, reply.usage) == ("t", Usage(input_tokens=3, output_tokens=1))


async def asked_of(path: Path, *subjects: dict[str, Any]) -> str | None:
    model = RecordedModel(path)
    for subject in subjects:
        await model.complete(ask(**subject))
    return model.unused_rows()


async def test_rows_that_nobody_asked_for_are_told_by_what_nobody_asked(tmp_path: Path) -> None:
    row: dict[str, object] = {
        "case_id": "c1", "variant": "v", "criterion": "k", "text": "x"
    }  # fmt: skip
    path = replies(
        tmp_path,
        row,
        *({**row, "repeat": n} for n in (1, 2)),
        {**row, "order": "ab"},
        *({**row, "case_id": f"c{n}"} for n in range(2, 7)),
        {**row, "variant": "w"},
        {**row, "criterion": "other"},
        {**row, "attempt": 1},
        {**row, "variant": None},
        {**row, "variant": None, "criterion": None},
    )
    # The row with an order is for a comparison: another job of the same file.
    told = await asked_of(path, {"case_id": "c1", "variant": "v", "criterion": "k"})
    assert told == (
        f"{path}: 9 of 14 rows were not used: repeats 1, 2 (2 rows); "
        "cases 'c2', 'c3', 'c4' and 2 more (5 rows); variant 'w' (1 row); criterion 'other' "
        "(1 row)"
    )


async def test_of_one_kind_of_row_nobody_asked_for_no_number_is_said_twice(tmp_path: Path) -> None:
    path = replies(tmp_path, *({"case_id": "c", "repeat": n, "text": "x"} for n in range(3)))
    told = await asked_of(path, {"case_id": "c", "criterion": "k"})
    assert told == f"{path}: 2 of 3 rows were not used: repeats 1, 2"
    told = await asked_of(path, {"case_id": "c"}, {"case_id": "c", "repeat": 2})
    assert told == f"{path}: 1 of 3 rows was not used: repeat 1"


async def test_a_row_of_known_values_that_nobody_combines_is_told_by_its_line(
    tmp_path: Path,
) -> None:
    both = [{"case_id": c, "criterion": "k", "variant": v} for c in "ab" for v in "vw"]
    path = replies(tmp_path, *({**row, "text": "x"} for row in both))
    assert await asked_of(path, *both[:3]) == f"{path}: 1 of 4 rows was not used: line 4"


async def test_nothing_is_told_where_all_was_asked_for_or_nothing(tmp_path: Path) -> None:
    path = replies(
        tmp_path, {"case_id": "c", "text": "?"}, {"case_id": "c", "order": "ab", "text": "4"}
    )
    assert await asked_of(path, {"case_id": "c"}, {"case_id": "c", "order": "ab"}) is None
    assert RecordedModel(path).unused_rows() is None
