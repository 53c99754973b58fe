"""OpenAI's batch protocol: a file of requests is uploaded, and a batch made of it.

Both are named, and looked for by their name before they are made: whatever step an earlier
process was killed at, nothing is uploaded or paid twice.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from judgekit.batches.records import BatchRequest
from judgekit.models.capabilities import marked_messages, parse_completion
from judgekit.models.error_mapping import ProviderFault, fault_of_response, redact
from judgekit.models.transports.direct import DirectModel

if TYPE_CHECKING:
    from judgekit.batches.records import BatchFolder, BatchRecord
    from judgekit.models.request import ModelReply, ModelRequest
    from judgekit.records import JsonObject

MOST_REQUESTS = 50_000
MOST_BYTES = 200 * 10**6
"""The limits of one file."""

_TIMEOUT_S = 600
_LARGEST_ANSWER = 2**31
_NAME_FIELD = "judgekit_batch"
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_OK = 200
# How far the clocks of provider and client may differ; older files and batches are not ours.
_CLOCK_SKEW = timedelta(days=1)


class OpenAIBatches:
    """The batches of one model at OpenAI, or at an endpoint that speaks its protocol."""

    def __init__(self, model: str, *, api_base: str | None) -> None:
        self.model = DirectModel(model, api_base=api_base, timeout_s=_TIMEOUT_S)
        self.check = self.model.check

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self.model.aclose()

    def request(self, request: ModelRequest, sent: ModelRequest) -> BatchRequest:
        """A request as a batch sends it; `sent` may have a limit on the reply that it has not."""
        plan = self.model.negotiation.plan(sent)
        messages = marked_messages(sent, mark_cache=False)
        # What the direct transport sends in a call: a test compares the two.
        body: JsonObject = {"model": self.model.name.partition("/")[2]}
        body |= {"messages": cast("list[Any]", messages), **plan.parameters}
        return BatchRequest(request.key, body, request.key_parts, plan.form, plan.dropped)

    def learn(self, record: BatchRecord, request: ModelRequest) -> None:
        """Take in what an earlier batch was refused for: a parameter, or the form of the reply."""
        for refused in record.refused.values():
            fault = ProviderFault(
                self.model.label, "bad_request", refused.status, refused.text, refused.parameter
            )
            negotiation = self.model.negotiation
            negotiation.learns(fault, request, negotiation.plan(request))

    def upload_line(self, request: BatchRequest) -> bytes:
        """The line of a request in the uploaded file."""
        line = {
            "custom_id": request.key,
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": request.body,
        }
        return json.dumps(line).encode() + b"\n"

    async def submit(self, record: BatchRecord, folder: BatchFolder) -> BatchRecord:
        """Upload the requests and make a batch of them, as far as that is not done yet."""
        if record.state == "written":
            query = "files?purpose=batch&limit=10000&order=desc"
            file = await self._find(
                query, record, lambda one: one.get("filename") == f"{record.name}.jsonl"
            )
            file = file or await self._upload(record, folder)
            record = folder.save(record, state="uploaded", file_id=file["id"])
        if record.state == "uploaded":
            record = await self.find(record, folder)
        if record.state == "uploaded":
            content = {
                "input_file_id": record.file_id,
                "endpoint": "/v1/chat/completions",
                "completion_window": "24h",
                "metadata": {_NAME_FIELD: record.name},
            }
            record = self._submitted(record, folder, await self._call("batches", content))
        return record

    async def find(self, record: BatchRecord, folder: BatchFolder) -> BatchRecord:
        """Look for the batch of a submission that was interrupted."""

        def is_ours(batch: Mapping[str, Any]) -> bool:
            return (batch.get("metadata") or {}).get(_NAME_FIELD) == record.name

        batch = await self._find("batches?limit=100", record, is_ours)
        return record if batch is None else self._submitted(record, folder, batch)

    async def refresh(self, record: BatchRecord, folder: BatchFolder) -> BatchRecord:
        """Ask how far a batch is."""
        if record.state != "submitted":
            return record
        return self._updated(
            record, folder, await self._call(f"batches/{record.batch_id}", method="GET")
        )

    async def cancel(self, record: BatchRecord, folder: BatchFolder) -> BatchRecord:
        """Have no further request of a batch answered; what was answered is collected."""
        batch = await self._call(f"batches/{record.batch_id}/cancel")
        return self._updated(record, folder, batch)

    async def results(
        self, record: BatchRecord, requests: Mapping[str, BatchRequest]
    ) -> AsyncIterator[tuple[str, ModelReply | ProviderFault]]:
        """What came back for each request, in any order."""
        batch = await self._call(f"batches/{record.batch_id}", method="GET")
        for name in ("output_file_id", "error_file_id"):
            if not batch.get(name):
                continue
            raw = await self.model.fetch(
                f"files/{batch[name]}/content",
                None,
                method="GET",
                most_bytes=_LARGEST_ANSWER,
                is_json=False,
            )
            if not isinstance(raw, bytes):
                raise cast("ProviderFault", raw).to_error()
            for line in raw.splitlines():
                result = _result(line)
                # A line that is cut, or of a request that is not ours, leaves its request open.
                if (key := str(result.get("custom_id"))) in requests:
                    yield key, self._reply(result, requests[key])

    def _reply(
        self, result: Mapping[str, Any], request: BatchRequest
    ) -> ModelReply | ProviderFault:
        label, response = self.model.label, result.get("response")
        if not isinstance(response, dict):
            error = result.get("error") or {}
            words = f"{error.get('code') or 'no reply'}: {error.get('message') or ''}"
            return ProviderFault(label, "internal", text=words.rstrip(": "))
        body, status = response.get("body"), response.get("status_code")
        if status == _OK:
            by_tool = request.form == "tool"
            return parse_completion(body, provider=label, by_tool=by_tool, dropped=request.dropped)
        return fault_of_response(label, int(status or 500), json.dumps(body), {})

    def _submitted(
        self, record: BatchRecord, folder: BatchFolder, batch: Mapping[str, Any]
    ) -> BatchRecord:
        return folder.save(
            record, state="submitted", batch_id=batch["id"], status=batch.get("status")
        )

    def _updated(
        self, record: BatchRecord, folder: BatchFolder, batch: Mapping[str, Any]
    ) -> BatchRecord:
        counts = batch.get("request_counts") or {}
        errors = (batch.get("errors") or {}).get("data") or []
        words = "; ".join(str(one.get("message")) for one in errors[:3])
        return folder.save(
            record,
            status=batch.get("status"),
            state="ended" if batch.get("status") in _ENDED else record.state,
            n_done=(counts.get("completed") or 0) + (counts.get("failed") or 0),
            problem=redact(words) or None,
        )

    async def _upload(self, record: BatchRecord, folder: BatchFolder) -> Mapping[str, Any]:
        content = b"".join(map(self.upload_line, folder.requests(record)))
        # The name is random, so that the content cannot hold it.
        head = (
            f'--{record.name}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
            f'--{record.name}\r\nContent-Disposition: form-data; name="file"; '
            f'filename="{record.name}.jsonl"\r\nContent-Type: application/jsonl\r\n\r\n'
        )
        body = head.encode() + content + f"\r\n--{record.name}--\r\n".encode()
        content_type = f"multipart/form-data; boundary={record.name}"
        return await self._call("files", body, content_type=content_type)

    async def _find(
        self, query: str, record: BatchRecord, is_ours: Callable[[Mapping[str, Any]], bool]
    ) -> Mapping[str, Any] | None:
        """The newest file or batch that is ours, page by page."""
        oldest = (datetime.fromisoformat(record.created_at) - _CLOCK_SKEW).timestamp()
        after = ""
        while True:
            page = await self._call(query + after, method="GET")
            found: list[dict[str, Any]] = page.get("data") or []
            if ours := next(filter(is_ours, found), None):
                return ours
            is_last = not found or found[-1].get("created_at", oldest) < oldest
            if is_last or not page.get("has_more"):
                return None
            after = f"&after={found[-1]['id']}"

    async def _call(
        self,
        route: str,
        content: Mapping[str, object] | bytes | None = None,
        *,
        method: str = "POST",
        content_type: str = "application/json",
    ) -> Mapping[str, Any]:
        # A list of many files is larger than a reply.
        read = await self.model.fetch(
            route, content, method=method, content_type=content_type, most_bytes=_LARGEST_ANSWER
        )
        if not isinstance(read, ProviderFault | dict):
            text = f"no JSON object: {str(read)[:200]}"
            read = ProviderFault(self.model.label, "protocol", text=text)
        if isinstance(read, ProviderFault):
            raise read.to_error()
        return read


def _result(line: bytes) -> dict[str, Any]:
    """A line of the results; an empty one where it cannot be read."""
    try:
        result = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return result if isinstance(result, dict) else {}
