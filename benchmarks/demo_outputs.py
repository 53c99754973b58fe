"""Has one local model answer the demo's cases and writes what it said, as it said it.

python benchmarks/demo_outputs.py --gguf MODEL.gguf --variant my-model \
    --cases calibration/demo/cases.jsonl --out outputs.jsonl

Needs `pip install "judgekit-llm[local]"`. Rows of other variants in the file are kept, rows of
the same variant are replaced; nothing a model wrote is changed.
"""

from __future__ import annotations

import argparse
import ast
import json
import operator
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.records import Case, Output, TraceEvent, Usage

if TYPE_CHECKING:
    from collections.abc import Callable

SYSTEM = (
    "You are a careful assistant. Do exactly what is asked and keep to the facts you are given."
)

TOOLS = {
    "lookup_order": "lookup_order(order_id): what the shop knows about an order.",
    "calculator": "calculator(expression): the value of an expression like 3 * 4.5.",
}

TOOL_RULES = """You answer customers of a shop. Your tools:
{tools}
To use a tool, reply with one line of JSON and nothing else, such as
{{"tool": "lookup_order", "arguments": {{"order_id": "K-77"}}}}
and you get its result. Look an order up before you say anything about it.
As soon as you know the answer, reply to the customer in plain words, without JSON."""

EXAMPLE = (
    ("user", 'Customer: "Has my order K-77 left yet?"'),
    ("assistant", '{"tool": "lookup_order", "arguments": {"order_id": "K-77"}}'),
    ("user", 'Result of lookup_order: {"status": "packed"}'),
    ("assistant", "Not yet: your order K-77 is packed and waits to be collected."),
)

LAST_WORD = "No tool calls are left: answer the customer now, in plain words."

MAX_TOOL_CALLS = 2
MAX_TOKENS = 200
SEED = 7
CONTEXT_TOKENS = 4096

_OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
}


def main() -> None:
    arguments = _arguments()
    cases = [Case.model_validate_json(line) for line in _lines(arguments.cases)]
    model = LocalModel(arguments.gguf, arguments.threads)
    kept = [row for row in _rows(arguments.out) if row["variant"] != arguments.variant]
    answered = []
    for case in cases:
        output = answer(case, model, arguments.variant)
        print(f"{arguments.variant} {case.id}: {output.usage}", flush=True)
        answered.append(_row(output))
    with arguments.out.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in kept + answered)


def answer(case: Case, model: LocalModel, variant: str) -> Output:
    """Ask the model, run the tools it calls, and keep its last message as the output's text."""
    talk = Talk(model, _opening(case))
    text = talk.ask()
    orders = case.metadata.get("orders")
    trace: list[TraceEvent] = []
    if isinstance(orders, dict):
        for n_left in reversed(range(MAX_TOOL_CALLS)):
            call = read_call(text)
            if call is None:
                break
            if text.strip() != json.dumps(call):
                trace.append(TraceEvent(type="message", name="assistant", content=text))
            name, result = str(call["tool"]), run_tool(call, orders)
            trace.append(TraceEvent(type="tool_call", name=name, content=call.get("arguments")))
            trace.append(TraceEvent(type="tool_result", name=name, content=result))
            told = f"Result of {name}: {json.dumps(result)}"
            text = talk.ask(told if n_left else f"{told}\n{LAST_WORD}")
        trace.append(TraceEvent(type="message", name="assistant", content=text))
    return Output(
        case_id=case.id,
        variant=variant,
        text=text,
        trace=tuple(trace),
        usage=Usage(input_tokens=talk.input_tokens, output_tokens=talk.output_tokens),
        duration_ms=round(talk.seconds * 1000),
        metadata={"finish_reason": talk.finish_reason, "model_calls": talk.n_calls},
    )


@dataclass
class Talk:
    """A conversation and what it has cost so far."""

    model: LocalModel
    messages: list[dict[str, str]]
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    n_calls: int = 0
    finish_reason: str = field(default="")

    def ask(self, more: str | None = None) -> str:
        """Send what was said so far, with one more message, and keep the reply."""
        if more is not None:
            self.messages.append({"role": "user", "content": more})
        started = time.perf_counter()
        reply = self.model.complete(self.messages)
        self.seconds += time.perf_counter() - started
        self.n_calls += 1
        self.input_tokens += reply["usage"]["prompt_tokens"]
        self.output_tokens += reply["usage"]["completion_tokens"]
        choice = reply["choices"][0]
        self.finish_reason = choice["finish_reason"]
        text: str = choice["message"]["content"]
        self.messages.append({"role": "assistant", "content": text})
        return text


class LocalModel:
    """A GGUF file behind llama.cpp's own chat template; greedy, one slot."""

    def __init__(self, path: Path, n_threads: int) -> None:
        import xllamacpp  # noqa: PLC0415 - its import loads native code

        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx = CONTEXT_TOKENS
        params.n_parallel = 1
        # llama.cpp's threads spin: more of them than idle cores is slower, not faster.
        params.cpuparams.n_threads = n_threads
        params.cpuparams_batch.n_threads = n_threads
        params.ui = False
        params.verbosity = 0
        params.hostnames = ["127.0.0.1"]
        self._server = xllamacpp.Server(params)

    def complete(self, messages: list[dict[str, str]]) -> dict[str, Any]:
        request = {
            "messages": messages,
            "temperature": 0,
            "seed": SEED,
            "max_tokens": MAX_TOKENS,
            # A prefix kept from an earlier case changes the rounding, and with it some answers.
            "cache_prompt": False,
        }
        reply: dict[str, Any] = self._server.handle_chat_completions(request)
        return reply


def read_call(text: str) -> dict[str, Any] | None:
    """The first line of a message that is a JSON object with a `tool`; None when there is none."""
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(value, dict) and "tool" in value:
            return value
    return None


def run_tool(call: dict[str, Any], orders: dict[str, Any]) -> Any:
    """What the tool returns; a call it cannot serve gets an error to read, as agents do."""
    arguments = call.get("arguments")
    if not isinstance(arguments, dict):
        return {"error": "arguments must be a JSON object"}
    if call["tool"] == "lookup_order":
        order_id = str(arguments.get("order_id"))
        return orders.get(order_id, {"error": f"no order {order_id}"})
    if call["tool"] == "calculator":
        return calculate(str(arguments.get("expression")))
    return {"error": f"no tool {call['tool']}"}


def calculate(expression: str) -> dict[str, Any]:
    """The value of a sum, difference, product or quotient of numbers; nothing else is run."""
    try:
        return {"value": round(_value(ast.parse(expression, mode="eval").body), 6)}
    except (SyntaxError, ValueError, ZeroDivisionError):
        return {"error": "not an expression of numbers, + - * / and brackets"}


def _value(node: ast.AST) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.operand))
    raise ValueError(ast.dump(node))


def _opening(case: Case) -> list[dict[str, str]]:
    user = str(case.input) if case.context is None else f"{case.context}\n\n{case.input}"
    turns = [("system", SYSTEM), ("user", user)]
    if isinstance(names := case.metadata.get("tools"), list):
        rules = TOOL_RULES.format(tools="\n".join(TOOLS[str(name)] for name in names))
        turns = [("system", f"{SYSTEM}\n\n{rules}"), *EXAMPLE, ("user", user)]
    return [{"role": role, "content": content} for role, content in turns]


def _row(output: Output) -> dict[str, Any]:
    row = output.model_dump(mode="json", exclude_defaults=True)
    return {"case_id": row.pop("case_id"), "variant": row.pop("variant"), **row}


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _lines(path)] if path.exists() else []


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--gguf", type=Path, required=True, help="the model's weights")
    parser.add_argument("--variant", required=True, help="name of the variant in the output rows")
    parser.add_argument("--cases", type=Path, required=True, help="the cases, JSONL")
    parser.add_argument("--out", type=Path, required=True, help="the output rows, JSONL")
    parser.add_argument("--threads", type=int, default=1, help="threads; at most the idle cores")
    return parser.parse_args()


if __name__ == "__main__":
    main()
