from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from judgekit.datasets import Suite, expand_variants
from judgekit.errors import InputError, SettingsError
from judgekit.models import Connection, connect
from judgekit.targets import Target, open_target
from judgekit.testing import ScriptedModel
from tests.factories import make_case
from tests.targets.loopback import Loopback, Reply

if TYPE_CHECKING:
    from pathlib import Path

    from judgekit.datasets import VariantSettings

OWN = {"PATH": "/usr/bin:/bin", "SERVICE_KEY": "hush-hush", "HOME": "/nowhere"}


def scripted(settings: VariantSettings) -> Connection:
    return connect(ScriptedModel(f"from {settings.model}"))


def opened(folder: Path, **fields: Any) -> Target:
    suite = Suite.model_validate(
        {
            "name": "s",
            "cases": [{"id": "a", "input": "x"}],
            "variants": [{"id": "v1", **fields}],
            "settings": {"environment": {"MODE": "test"}},
        }
    ).in_folder(folder)
    (settings,) = expand_variants(suite)
    return open_target(
        settings,
        suite,
        connect_model=scripted,
        template_folders=[],
        environment=OWN,
        default_timeout_s=10,
    )


async def test_outputs_are_read_beside_the_suite(tmp_path: Path) -> None:
    row = {"case_id": "refund", "text": "recorded"}
    (tmp_path / "o.jsonl").write_text(json.dumps(row), encoding="utf-8")
    target = opened(tmp_path, outputs="o.jsonl")
    assert isinstance(target, Target)
    assert (await target.answer(make_case())).text == "recorded"


async def test_a_prompt_is_read_beside_the_suite(tmp_path: Path) -> None:
    (tmp_path / "p.j2").write_text("{{ input }}", encoding="utf-8")
    target = opened(tmp_path, prompt="p.j2", model=["m"], parameters={"temperature": 0})
    assert (await target.answer(make_case())).text == "from m"


async def test_a_function_is_imported_beside_the_suite(tmp_path: Path) -> None:
    (tmp_path / "opened_agent.py").write_text("def f(case): return 'called'", encoding="utf-8")
    target = opened(tmp_path, python="opened_agent:f")
    assert (await target.answer(make_case())).text == "called"


SEES = """\
import json, os, sys
def f(case, variant): return {"data": variant}
if __name__ == "__main__":
    own = {k: v for k, v in os.environ.items() if k.startswith("JUDGEKIT_")}
    print(json.dumps({"data": [json.load(sys.stdin)["variant"], own]}))
"""


async def test_a_program_is_told_which_variant_it_is(tmp_path: Path) -> None:
    (tmp_path / "seeing_agent.py").write_text(SEES, encoding="utf-8")
    own = {"modelByNode": {"main": "m"}, "providerTypeByNode": {"main": "p"}}
    about = {"id": "v1", "model_by_node": {"main": "m"}, "provider_by_node": {"main": "p"}}
    called = opened(tmp_path, python="seeing_agent:f", **own)
    assert (await called.answer(make_case())).data == about
    started = opened(tmp_path, command=[sys.executable, "seeing_agent.py"], **own)
    assert (await started.answer(make_case())).data == [
        about,
        {
            "JUDGEKIT_VARIANT": "v1",
            "JUDGEKIT_MODEL_BY_NODE": '{"main": "m"}',
            "JUDGEKIT_PROVIDER_BY_NODE": '{"main": "p"}',
        },
    ]


async def test_a_command_gets_the_declared_environment_and_no_other(tmp_path: Path) -> None:
    script = r"""printf '{"text": "%s %s %s %s"}' "$MODE" "$KEY" "$PRICE" "$SERVICE_KEY" """
    target = opened(
        tmp_path,
        command=["sh", "-c", script],
        environment={"KEY": "${SERVICE_KEY}", "PRICE": "$$5"},
    )
    assert (await target.answer(make_case())).text == "test hush-hush $5 "


async def test_a_commands_key_does_not_stand_in_its_error(tmp_path: Path) -> None:
    target = opened(
        tmp_path, command=["sh", "-c", "echo $KEY; exit 0"], environment={"KEY": "$SERVICE_KEY"}
    )
    output = await target.answer(make_case())
    assert "[redacted]" in (output.error or "")
    assert "hush" not in (output.error or "")


async def test_headers_take_their_keys_from_the_environment(tmp_path: Path) -> None:
    with Loopback(lambda _case, _path: Reply({"text": "yes"})) as server:
        headers = {"Authorization": "Bearer ${SERVICE_KEY}", "X-Mode": "$MODE"}
        target = opened(tmp_path, http={"url": server.url, "headers": headers})
        output = await target.answer(make_case())
        await target.aclose()
    sent = server.seen[0][2]
    assert (output.text, sent["Authorization"], sent["X-Mode"]) == (
        "yes", "Bearer hush-hush", "test",
    )  # fmt: skip


async def test_a_text_of_a_body_may_have_conditions_alone(tmp_path: Path) -> None:
    with Loopback(lambda _case, _path: Reply({"text": "yes"})) as server:
        body = {"kind": "{% if input %}question{% endif %}"}
        target = opened(tmp_path, http={"url": server.url, "body": body})
        await target.answer(make_case())
        await target.aclose()
    assert server.seen[0][3] == {"kind": "question"}


async def test_an_empty_body_is_sent_as_it_is(tmp_path: Path) -> None:
    with Loopback(lambda _case, _path: Reply({"text": "yes"})) as server:
        target = opened(tmp_path, http={"url": server.url, "body": {}})
        output = await target.answer(make_case())
        await target.aclose()
    assert server.seen[0][3] == {}
    assert output.text == '{"text": "yes"}'


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"outputs": "none.jsonl"}, "there is no such file"),
        ({"prompt": "none.j2", "model": "m"}, "no template is called"),
        ({"command": ["nonesuch"]}, "no program 'nonesuch'"),
        ({"command": ["sh"], "environment": {"A": "$NONE"}}, "variable 'A' names .* NONE, which"),
        ({"python": "nonesuch_module:f"}, "cannot be imported"),
        ({"http": {"url": "http://x", "headers": {"K": "${NONE}"}}}, "header 'K' names .* NONE"),
    ],
)
def test_what_cannot_work_is_told_before_anything_is_asked(
    tmp_path: Path, fields: dict[str, Any], told: str
) -> None:
    with pytest.raises(InputError, match=told):
        opened(tmp_path, **fields)


def test_a_matrix_is_expanded_first(tmp_path: Path) -> None:
    suite = Suite.model_validate(
        {
            "name": "s",
            "cases": [{"id": "a", "input": "x"}],
            "variants": [{"id": "v", "prompt": ["p", "q"], "model": "m"}],
        }
    ).in_folder(tmp_path)
    with pytest.raises(SettingsError, match="stands for several"):
        open_target(
            suite.variants[0],
            suite,
            connect_model=scripted,
            template_folders=[],
            environment=OWN,
            default_timeout_s=10,
        )
