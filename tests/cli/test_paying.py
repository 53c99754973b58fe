"""Commands that pay a judge for existing outputs match files and count calls before that."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.cli.bench import asked, output
from tests.factories import reply
from tests.servers.answers import ok
from tests.servers.openai_like import OpenAILikeServer

if TYPE_CHECKING:
    from judgekit.testing import ServedReply, ServedRequest
    from tests.cli.bench import Bench
    from tests.cli.commanding import Ran

N = 20
N_LABELLED = 5
# One call may cost 0.0145 dollars at most and costs less, so that some calls are made.
MINI = ("--judge", "openai/gpt-4.1-mini", "-j", 1)
COST = 0.015


def judge(seen: ServedRequest) -> ServedReply:
    """Prefers the output shown first, or gives a score that depends on the output."""
    schema = json.dumps(seen.body["response_format"])
    number = re.search(r"answer c(\d+)\n", asked(seen))
    score = 4 if number is None else int(number[1]) % 5 + 1
    one: dict[str, object] = {"evidence": [], "rationale": "So.", "score": score}
    names = ["right", "short"]
    if "preference" in schema:
        one = {"evidence_first": [], "evidence_second": [], "rationale": "So."}
        one["preference"] = "first"
        names.append("overall")
    return ok(json.dumps({"criteria": dict.fromkeys(names, one)} if "criteria" in schema else one))


def label(case: str, **fields: object) -> dict[str, object]:
    known = {"case_id": case, "annotator": "Ada", "criterion": "right", "raw": 4}
    return {name: value for name, value in (known | fields).items() if value is not None}


@pytest.fixture
def laid(bench: Bench) -> Bench:
    """Twenty outputs, two criteria, and labels of five outputs on one criterion."""
    cases = [f"c{k}" for k in range(N)]
    bench.write("outputs.jsonl", *(output(case) for case in cases))
    bench.write("other.jsonl", *(output(case, text=f"{case} otherwise") for case in cases))
    bench.write("labels.jsonl", *(label(f"c{k}", raw=k % 4 + 1) for k in range(N_LABELLED)))
    return bench


def calibrate(bench: Bench, server: OpenAILikeServer, *more: object) -> Ran:
    what = ("calibrate", "labels.jsonl", "--outputs", "outputs.jsonl", "--rubric", "rubric.yaml")
    return bench.ask(server, *what, *more)


def compare(bench: Bench, server: OpenAILikeServer, *more: object) -> Ran:
    sides = ("--compare", "outputs.jsonl", "other.jsonl", "--rubric", "rubric.yaml")
    return bench.ask(server, "calibrate", "labels.jsonl", *sides, *more)


FAULTS = [
    ({"variant": "v9"}, "no output is of variant 'v9'", "name no variant: give them one"),
    ({"case_id": "c77"}, "no output is of this case", "did you mean"),
    ({"criterion": "rihgt"}, "the rubric has no criterion 'rihgt'", "did you mean `right`?"),
    ({"criterion": "tone"}, "the rubric has no criterion 'tone'", "known: right, short"),
    ({"repeat": 3}, "no output of this case has repeat 3", "leave `repeat` out"),
    ({"raw": 99}, "99 is not a score of 'right'", "1, 2, 3, 4, 5"),
    ({"raw": None, "winner": "a"}, "it names a winner, but single outputs", "give `raw`"),
]


@pytest.mark.parametrize(("fields", "problem", "hint"), FAULTS)
def test_a_label_that_fits_nothing_is_an_error_before_the_first_call(
    laid: Bench, fields: dict[str, object], problem: str, hint: str
) -> None:
    # Alone for a variant: beside labels that fit, those of other variants are left out.
    good = [] if "variant" in fields else [label("c1")]
    laid.write("labels.jsonl", *good, label("c2", **fields))
    with OpenAILikeServer(judge) as server:
        calibrated = calibrate(laid, server)
        rewordings = ("--candidates", "helpfulness", "--rubric", "rubric.yaml")
        tuned = laid.ask(server, "tune", "labels.jsonl", "--outputs", "outputs.jsonl", *rewordings)
        assert server.n_requests == 0
    for ran in (calibrated, tuned):
        assert ran.code == 2
        assert f"labels.jsonl:{len(good) + 1}: case" in ran.err
        assert problem in ran.err
        assert hint in ran.err


def test_a_label_of_another_output_of_the_case_is_an_error(laid: Bench) -> None:
    laid.write("outputs.jsonl", output("c1", variant="v1"), output("c2", variant="v2"))
    laid.write("labels.jsonl", label("c1", variant="v1"), label("c2", variant="v1"))
    with OpenAILikeServer(judge) as server:
        ran = calibrate(laid, server)
        assert server.n_requests == 0
    assert ran.code == 2
    assert "labels.jsonl:2: case 'c2': no output of this case is of variant 'v1'" in ran.err
    assert "there are outputs of v2" in ran.err


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"case_id": "c77", "winner": "a"}, "no output is of this case"),
        ({"criterion": "tone", "winner": "a"}, "the rubric has no criterion 'tone'"),
        ({"raw": 3}, "it names no winner"),
    ],
)
def test_a_label_that_fits_no_pair_is_an_error_before_the_first_call(
    laid: Bench, fields: dict[str, object], problem: str
) -> None:
    laid.write("labels.jsonl", label("c2", **{"raw": None, "criterion": None} | fields))
    with OpenAILikeServer(judge) as server:
        ran = compare(laid, server)
        assert server.n_requests == 0
    assert ran.code == 2
    assert "labels.jsonl:1: case" in ran.err
    assert problem in ran.err


def test_only_labelled_items_are_judged_and_the_figures_are_the_same(laid: Bench) -> None:
    with OpenAILikeServer(judge) as server:
        ran = calibrate(laid, server, "--no-cache")
        n = server.n_requests
        labelled = calibrate(laid, server, "--no-cache", "--json").json
        whole = calibrate(laid, server, "--no-cache", "--json", "--all").json
        assert server.n_requests - 2 * n == 2 * N
    assert n == N_LABELLED
    assert (
        "labels cover 5 of 20 outputs and 1 of 2 criteria: 5 of 40 calls serve labelled items; "
        "only these are made; --all makes the others too, which the corrected rate needs"
    ) in ran.err
    assert labelled["criteria"]["right"]["agreement"] == whole["criteria"]["right"]["agreement"]
    assert (labelled["joined"]["n_judged"], whole["joined"]["n_judged"]) == (N_LABELLED, N)


def test_with_all_it_is_said_what_the_other_calls_are(laid: Bench) -> None:
    with OpenAILikeServer(judge) as server:
        told = calibrate(laid, server, "--all").err
        quiet = calibrate(laid, server, "--all", "-q").err
    assert "5 of 40 calls serve labelled items; the others are made too (--all)" in told
    assert "labels cover" not in quiet


@pytest.mark.parametrize(
    ("fields", "more", "n"),
    [
        # A verdict on the whole needs every criterion.
        ({"criterion": None, "raw": 0.5}, (), 2 * N_LABELLED),
        ({}, ("--repeats", 3), 3 * N_LABELLED),
        # A joint question has every criterion, and cannot be split.
        ({}, ("--mode", "joint"), N_LABELLED),
    ],
)
def test_a_labelled_output_is_asked_what_its_labels_need(
    laid: Bench, fields: dict[str, object], more: tuple[object, ...], n: int
) -> None:
    laid.write("labels.jsonl", *(label(f"c{k}", **fields) for k in range(N_LABELLED)))
    with OpenAILikeServer(judge) as server:
        planned = calibrate(laid, server, *more, "--dry-run", "--json").json
        calibrate(laid, server, *more, "--json")
        assert server.n_requests == n
    assert (planned["n_calls"], planned["labels"]["n_labelled_calls"]) == (n, n)


def test_variants_of_one_case_are_asked_apart(laid: Bench) -> None:
    laid.write("outputs.jsonl", *(output("c1", variant=v, text=f"answer c{v}") for v in "123"))
    rows = [label("c1", variant="1"), label("c1", variant="2", criterion="short")]
    laid.write("labels.jsonl", *rows)
    with OpenAILikeServer(judge) as server:
        found = calibrate(laid, server, "--json").json
        assert server.n_requests == 2
    assert {name: part["n"] for name, part in found["criteria"].items()} == {"right": 1, "short": 1}


def test_labels_of_variants_that_are_not_judged_now_are_left_out(laid: Bench) -> None:
    laid.write("outputs.jsonl", *(output(f"c{k}", variant="v1") for k in range(N)))
    laid.write("labels.jsonl", *(label("c1", variant=v) for v in ("v1", "v2", "v3")))
    with OpenAILikeServer(judge) as server:
        ran = calibrate(laid, server)
        assert server.n_requests == 1
    assert "2 labels left out: no output is of their variant" in ran.err
    assert ran.code == 0


@pytest.mark.parametrize(("limit", "n"), [(3, 3), (N, N_LABELLED)])
def test_a_limit_counts_labelled_outputs(laid: Bench, limit: int, n: int) -> None:
    laid.write("labels.jsonl", *(label(f"c{N - 1 - k}") for k in range(N_LABELLED)))
    with OpenAILikeServer(judge) as server:
        assert calibrate(laid, server, "-n", limit).code == 0
        assert server.n_requests == n


def test_a_tag_that_no_labelled_output_has_is_an_error(laid: Bench) -> None:
    cases = ({"id": f"c{k}", "input": "?", "tags": ["late"] * (k > 9)} for k in range(N))
    laid.write("cases.jsonl", *cases)
    with OpenAILikeServer(judge) as server:
        tagged = ("--cases", "cases.jsonl", "--filter-tag", "late")
        for more in ((), ("--dry-run",)):
            ran = calibrate(laid, server, *tagged, *more)
            assert ran.code == 2
            assert "no case with a labelled output has the tag late" in ran.err
        assert server.n_requests == 0


def test_recorded_replies_cost_nothing_so_all_are_used(laid: Bench) -> None:
    replies = ({"case_id": f"c{k}", "criterion": c, "text": reply(4)}
               for k in range(N) for c in ("right", "short"))  # fmt: skip
    laid.write("replies.jsonl", *replies)
    what = ("calibrate", "labels.jsonl", "--outputs", "outputs.jsonl", "--rubric", "rubric.yaml")
    ran = laid.run(*what, "--judge", "recorded:replies.jsonl")
    assert "judged 20 outputs, 15 without a label" in " ".join(ran.out.split())
    assert "calls" not in ran.err


@pytest.mark.parametrize(
    ("criterion", "template", "n"),
    [
        (None, "pairwise/criterion", 2),
        ("right", "pairwise/criterion", 2),
        # It asks for everything at once.
        ("right", "pairwise/joint", 2),
    ],
)
def test_a_labelled_pair_is_asked_what_its_labels_are_about(
    laid: Bench, criterion: str | None, template: str, n: int
) -> None:
    rows = (label(f"c{k}", criterion=criterion, raw=None, winner="a") for k in range(N_LABELLED))
    laid.write("labels.jsonl", *rows)
    more = ("--template", template, "--no-cache")
    with OpenAILikeServer(judge) as server:
        planned = compare(laid, server, *more, "--dry-run", "--json").json
        assert server.n_requests == 0
        labelled = compare(laid, server, *more, "--json").json
        assert server.n_requests == N_LABELLED * n == planned["n_calls"]
        whole = compare(laid, server, *more, "--json", "--all").json
        assert server.n_requests == N_LABELLED * n + planned["labels"]["n_calls"]
    parts = [
        one["overall"] if criterion is None else one["criteria"][criterion]
        for one in (labelled, whole)
    ]
    assert parts[0]["agreement"] == parts[1]["agreement"]
    assert planned["labels"]["n_labelled_calls"] == N_LABELLED * n


def test_a_comparison_states_its_labelled_pairs(laid: Bench) -> None:
    rows = (label(f"c{k}", criterion=None, raw=None, winner="a") for k in range(N_LABELLED))
    laid.write("labels.jsonl", *rows)
    with OpenAILikeServer(judge) as server:
        ran = compare(laid, server)
        text = " ".join(compare(laid, server, "--dry-run").out.split())
    assert "labels cover 5 of 20 pairs: 10 of 120 calls serve labelled items; only these" in ran.err
    assert "labels cover 5 of 20 pairs: 10 of 120 calls serve labelled items" in text
    assert "No calls needed" in text


# Every command that pays a judge for existing outputs, with what it judges.
COMMANDS = {
    "calibrate": ("calibrate", "many.jsonl", "--outputs", "outputs.jsonl"),
    "compare": ("calibrate", "winners.jsonl", "--compare", "outputs.jsonl", "other.jsonl"),
    "rejudge run": ("rejudge", "latest"),
    "rejudge file": ("rejudge", "verdicts.jsonl", "outputs.jsonl"),
    "audit": ("audit", "outputs.jsonl", "--probes", "stability"),
    "tune": ("tune", "many.jsonl", "--outputs", "outputs.jsonl", "--anchors", "--holdout", "0.5"),
}


@pytest.fixture
def judged(laid: Bench) -> Bench:
    """The same with a stored run, a file of verdicts, and labels of pairs and of all outputs."""
    pairs = (label(f"c{k}", criterion=None, raw=None, winner="a") for k in range(N_LABELLED))
    laid.write("winners.jsonl", *pairs)
    laid.write("many.jsonl", *(label(f"c{k}", raw=k % 5 + 1) for k in range(N)))
    with OpenAILikeServer(judge) as server:
        assert laid.grade(server, "-o", "verdicts.jsonl").code == 0
    return laid


@pytest.mark.no_cover
@pytest.mark.parametrize("name", COMMANDS)
def test_a_dry_run_counts_the_calls_and_prices_them(judged: Bench, name: str) -> None:
    what = (*COMMANDS[name], "--rubric", "rubric.yaml", *MINI)
    shown = judged.run(*what, "--dry-run")
    planned = judged.run(*what, "--dry-run", "--json").json
    likely = planned["price_usd"] if name == "audit" else planned["price_usd"][0]
    assert shown.code == 0
    assert re.search(r"price +\$0\.\d+ likely, \$0\.\d+ at most", shown.out)
    assert re.search(r"tokens to send +[1-9]", shown.out)
    with_file = judged.run(*what, "--dry-run", "-o", "found.html" if name != "tune" else "r.yaml")
    assert "is not written: a dry run has no results" in with_file.err
    limited = judged.run(*what, "--dry-run", "--max-cost", likely / 2)
    assert limited.code == 5
    assert name == "audit" or "likely does not suffice" in " ".join(limited.out.split())
    with OpenAILikeServer(judge) as server:
        judged.run(*what, "--api-base", server.url)
        # A tuning asks at most what was planned: the present rubric may be the best one.
        n = server.n_requests
    assert n <= planned["n_calls"] if name == "tune" else n == planned["n_calls"]
    assert n > 0


@pytest.mark.no_cover
@pytest.mark.parametrize("name", COMMANDS)
def test_a_cost_limit_stops_with_exit_5_and_the_same_command_continues(
    judged: Bench, name: str
) -> None:
    what = (*COMMANDS[name], "--rubric", "rubric.yaml", *MINI)
    with OpenAILikeServer(judge) as server:
        # What a call may cost at most by its list price is set aside.
        first = judged.run(*what, "--api-base", server.url, "--max-cost", COST)
        n = server.n_requests
        rest = judged.run(*what, "--api-base", server.url, "--max-cost", 9)
        n_all = server.n_requests
        again = judged.run(*what, "--api-base", server.url, "--frozen")
        assert server.n_requests == n_all
    assert (first.code, rest.code, again.code) == (5, 0, 0)
    assert n < n_all
    # An audit leaves out a probe that is likely to cost more, and this one has no other.
    assert n or name == "audit"
    if name != "audit":
        assert "run the same command again to continue" in first.err


def test_outputs_without_an_earlier_verdict_are_not_judged(judged: Bench) -> None:
    lines = (judged.folder / "verdicts.jsonl").read_text().splitlines(keepends=True)
    judged.write("verdicts.jsonl", *lines[:N_LABELLED])
    what = ("rejudge", "verdicts.jsonl", "outputs.jsonl", "--rubric", "rubric.yaml")
    with OpenAILikeServer(judge) as server:
        ran = judged.ask(server, *what)
        assert server.n_requests == 2 * N_LABELLED
        found = judged.ask(server, *what, "--json").json
    assert ran.code == 0
    assert "15 outputs left out: no verdict in verdicts.jsonl" in ran.err
    assert (found["n"], found["left_out"]) == (N_LABELLED, {"no verdict before": 15})


def test_verdicts_of_other_outputs_are_an_error_before_the_first_call(judged: Bench) -> None:
    judged.write("outputs.jsonl", *(output(f"c{k}", variant="v9") for k in range(N)))
    what = ("rejudge", "verdicts.jsonl", "outputs.jsonl", "--rubric", "rubric.yaml")
    with OpenAILikeServer(judge) as server:
        ran = judged.ask(server, *what, "--no-cache")
        assert server.n_requests == 0
    assert ran.code == 2
    assert "no output has a verdict in verdicts.jsonl; outputs: c0 of v9, c1 of v9" in ran.err


@pytest.mark.parametrize(
    "option", [("--dry-run",), ("--filter-tag", "x"), ("-n", "2"), ("--sample", "2")]
)
@pytest.mark.parametrize("source", [(), ("--results", "verdicts.jsonl")])
def test_what_chooses_calls_is_refused_for_judgments_that_exist(
    judged: Bench, source: tuple[str, ...], option: tuple[str, ...]
) -> None:
    ran = judged.run("calibrate", "labels.jsonl", *source, *option)
    assert ran.code == 2
    assert "these judgments exist: no calls are made" in ran.err


def test_a_plan_of_an_audit_without_a_note_is_a_table(laid: Bench) -> None:
    what = ("audit", "outputs.jsonl", "--rubric", "rubric.yaml", *MINI, "--dry-run")
    ran = laid.run(*what, "--probes", "stability")
    assert ran.code == 0
    assert "Plan of an audit" in ran.out
    short = laid.run(*what, "--probes", "stability", "--max-cost", "0.00001")
    assert short.code == 5
    assert "--max-cost leaves out 1 probe" in short.out
