"""The batch protocols of OpenAI, Anthropic and Gemini, with one flow for all.

`ProviderBatches` has the flow. The classes below it have the routes, how requests are packed, and
how states and results are read. Whatever step an earlier process was killed at, nothing is paid
twice: a batch that may have been created is looked for before it is created.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from io import BytesIO
from typing import TYPE_CHECKING, Any, ClassVar, cast
from urllib.parse import quote

from judgekit.batches.records import BatchRequest
from judgekit.errors import ModelError, SettingsError
from judgekit.models.capabilities import Negotiation, marked_messages, parse_completion
from judgekit.models.error_mapping import ProviderFault, fault_of_response, redact
from judgekit.models.protocols import AnthropicProtocol, NativeProtocol
from judgekit.models.transports.direct import DirectModel

if TYPE_CHECKING:
    from judgekit.batches.records import BatchFolder, BatchRecord
    from judgekit.models.capabilities import Messages
    from judgekit.models.request import ModelReply, ModelRequest
    from judgekit.records import JsonObject

MOST_REQUESTS = 50_000
MOST_BYTES = 200 * 10**6
"""The limits of a batch: OpenAI's; the other providers take more."""

_TIMEOUT_S = 600
_LARGEST_ANSWER = 2**31
_NAME_FIELD = "judgekit_batch"
_OK = 200
# How far the clocks of provider and client may differ; older files and batches are not ours.
_CLOCK_SKEW = timedelta(days=1)
# A request that is refused creates nothing, except that these two may come from a gateway.
_REFUSED = frozenset(range(400, 500)) - {408, 409}


class ProviderBatches(ABC):
    """The batches of one model at its provider, or at an endpoint that speaks its protocol."""

    batches = "batches"  # the route of all batches

    page, cursor = "limit=100", "after"
    """What the query of a list has: how long a page is, and after which id the next one starts."""

    id_field, key_field = "id", "custom_id"
    """Where a batch or a file has its id, and a result the key of its request."""

    cancelling = "/cancel"
    headers: ClassVar[Mapping[str, str]] = {}
    gone: ClassVar = frozenset({404, 410})
    """How the provider answers where results are no longer kept."""

    ended: ClassVar[frozenset[str]]  # the states of a batch that is done

    def __init__(self, model: str, *, api_base: str | None) -> None:
        self.model = DirectModel(model, api_base=api_base, timeout_s=_TIMEOUT_S)
        self.check = self.model.check

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self.model.aclose()

    def request(self, request: ModelRequest, sent: ModelRequest) -> BatchRequest:
        """A request as a batch sends it; `sent` may have a limit on the reply that it has not."""
        # What the direct transport sends in a call: a test compares the two.
        messages = self.messages(sent)
        plan = self.model.negotiation.plan(sent)
        body = self._request_body(messages, plan.parameters)
        return BatchRequest(request.key, body, request.key_parts, plan.form, plan.dropped)

    def messages(self, request: ModelRequest) -> Messages:
        """The messages as they are sent; an error where only litellm can send them, in calls."""
        protocol = self.model.protocol
        messages = marked_messages(request, mark_cache=protocol.marks_cache)
        if protocol.dropped is None:
            return messages
        dropped = protocol.dropped(messages, request)
        if dropped is None:
            native = cast("NativeProtocol", protocol)
            odd = sorted(request.parameters.keys() - native.names.keys() - native.never_sent)
            what = f"the parameter {', '.join(odd)}" if odd else "such messages or reply schemas"
            raise SettingsError(
                f"{self.model.name} cannot be called in batches"
                + (f" with {what}" if native.facts else ": litellm's table of models lacks it"),
                hint="run it without --batch",
            )
        self.model.negotiation.refused |= dropped
        return messages

    def _request_body(self, messages: Messages, parameters: JsonObject) -> JsonObject:
        native = cast("NativeProtocol", self.model.protocol)
        return cast("JsonObject", native.request(messages, parameters)[1])

    def learn(self, record: BatchRecord, request: ModelRequest) -> None:
        """Take in what an earlier batch was refused for: a parameter, or the form of the reply."""
        for refused in record.refused.values():
            fault = ProviderFault(
                self.model.label, "bad_request", refused.status, refused.text, refused.parameter
            )
            negotiation = self.model.negotiation
            negotiation.learns(fault, request, negotiation.plan(request))

    def upload_line(self, request: BatchRequest) -> bytes:
        """The line of a request as it is uploaded."""
        return json.dumps(self._fields(request)).encode() + b"\n"

    @abstractmethod
    def _fields(self, request: BatchRequest) -> Mapping[str, object]: ...

    async def submit(self, record: BatchRecord, folder: BatchFolder) -> BatchRecord:
        """Create the batch of a record, unless it is at the provider, or may be."""
        if not record.is_interrupted or record.candidates:
            return record
        if record.state == "written":
            record = await self._prepare(record, folder)
        try:
            batch = await self._create(record, folder)
        except ModelError as error:
            # There is nothing to look for; what was prepared may be too old, and is done again.
            if error.status in _REFUSED:
                folder.save(record, state="written")
            raise
        return self._submitted(record, folder, batch)

    @abstractmethod
    async def _prepare(self, record: BatchRecord, folder: BatchFolder) -> BatchRecord:
        """Do what comes before the creation; the state is `sending` then."""

    @abstractmethod
    async def _create(self, record: BatchRecord, folder: BatchFolder) -> Mapping[str, Any]: ...

    @abstractmethod
    async def find(self, record: BatchRecord, folder: BatchFolder) -> BatchRecord:
        """Look for the batch of a submission that was interrupted."""

    async def refresh(self, record: BatchRecord, folder: BatchFolder) -> BatchRecord:
        """Ask how far a batch is."""
        status, n_done, problem = self._progress(await self._batch(record))
        return folder.save(
            record,
            status=status,
            state="ended" if status in self.ended else record.state,
            n_done=n_done,
            problem=redact(problem) or None,
        )

    async def cancel(self, record: BatchRecord, folder: BatchFolder) -> BatchRecord:
        """Have no further request of a batch answered; what was answered is collected."""
        await self._call(f"{self._route(record)}{self.cancelling}")
        return await self.refresh(record, folder)

    async def results(
        self, record: BatchRecord, requests: Mapping[str, BatchRequest]
    ) -> AsyncIterator[tuple[str, ModelReply | ProviderFault]]:
        """What came back for each request, in any order."""
        batch = await self._batch(record)
        try:
            async for result in self._results(batch):
                # A line that is cut, or of a request that is not ours, leaves its request open.
                if (key := str(result.get(self.key_field))) in requests:
                    yield key, self._reply(result, requests[key])
        except ModelError as error:
            if error.status not in self.gone:
                raise
            for key in requests:
                text = f"the results are no longer kept: {error}"
                yield key, ProviderFault(self.model.label, "not_found", text=text)

    def _reply(
        self, result: Mapping[str, Any], request: BatchRequest
    ) -> ModelReply | ProviderFault:
        label, protocol = self.model.label, self.model.protocol
        try:
            body = self._reply_body(result)
        except (AttributeError, TypeError, ValueError):
            body = ProviderFault(label, "protocol", text=f"no result: {str(result)[:200]}")
        if isinstance(body, ProviderFault):
            return body
        if isinstance(protocol, NativeProtocol):
            body = protocol.completion(body)
        by_tool = request.form == "tool"
        return parse_completion(body, provider=label, by_tool=by_tool, dropped=request.dropped)

    @abstractmethod
    def _progress(self, batch: Mapping[str, Any]) -> tuple[str, int, str]:
        """The state of a batch, the number of requests done, and why all of it was refused."""

    @abstractmethod
    def _results(self, batch: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]: ...

    @abstractmethod
    def _reply_body(self, result: Mapping[str, Any]) -> object | ProviderFault:
        """What a call would have got for a request."""

    def _route(self, record: BatchRecord) -> str:
        return f"{self.batches}/{(record.batch_id or '').rpartition('/')[2]}"

    async def _batch(self, record: BatchRecord) -> Mapping[str, Any]:
        return await self._call(self._route(record), method="GET")

    def _submitted(
        self, record: BatchRecord, folder: BatchFolder, batch: Mapping[str, Any]
    ) -> BatchRecord:
        status, _, _ = self._progress(batch)
        name = batch[self.id_field]
        return folder.save(record, state="submitted", batch_id=name, status=status, candidates=())

    async def _listed(self, query: str) -> AsyncIterator[Mapping[str, Any]]:
        """Files or batches, page by page; of batches the newest first."""
        more: str | None = ""
        while more is not None:
            page = await self._call(query + more, method="GET")
            listed = [one for name in _LISTS for one in page.get(name) or ()]
            for one in listed:
                yield one
            more = None
            if page.get("nextPageToken"):
                more = f"&pageToken={quote(page['nextPageToken'])}"
            elif listed and page.get("has_more"):
                more = f"&{self.cursor}={listed[-1]['id']}"

    async def _lines(self, route: str) -> AsyncIterator[dict[str, Any]]:
        """The lines of a file of results; an empty one where it cannot be read."""
        raw = await self.model.fetch(
            route,
            None,
            method="GET",
            headers=self.headers,
            most_bytes=_LARGEST_ANSWER,
            is_json=False,
        )
        if not isinstance(raw, bytes):
            raise cast("ProviderFault", raw).to_error()
        for line in BytesIO(raw):
            try:
                result = json.loads(line)
            except (ValueError, RecursionError):
                result = {}
            yield result if isinstance(result, dict) else {}

    async def _call(
        self,
        route: str,
        content: Mapping[str, object] | bytes | None = None,
        *,
        method: str = "POST",
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> Mapping[str, Any]:
        # A list of many files is larger than a reply.
        read = await self.model.fetch(
            route,
            content,
            method=method,
            content_type=content_type,
            headers=headers or self.headers,
            most_bytes=_LARGEST_ANSWER,
        )
        if not isinstance(read, ProviderFault | dict):
            text = f"no JSON object: {str(read)[:200]}"
            read = ProviderFault(self.model.label, "protocol", text=text)
        if isinstance(read, ProviderFault):
            hint = (
                "use the key and the address that it was sent with; if it was deleted at the "
                "provider, `judgekit batch cancel NAME` gives it up"
            )
            raise (replace(read, hint=hint) if read.kind == "not_found" else read).to_error()
        return read


_LISTS = ("data", "files", "operations")


class FileBatches(ProviderBatches):
    """Batches of an uploaded file; file and batch are found again by the name of the record."""

    files = "files"  # the route of all files
    files_page: ClassVar = ""

    async def _prepare(self, record: BatchRecord, folder: BatchFolder) -> BatchRecord:
        file = await self._named(f"{self.files}?{self.files_page or self.page}", record)
        if file is None:
            lines = map(self.upload_line, folder.requests(record))
            file = await self._upload(record, b"".join(lines))
        return folder.save(record, state="sending", file_id=file[self.id_field])

    @abstractmethod
    async def _upload(self, record: BatchRecord, content: bytes) -> Mapping[str, Any]: ...

    @abstractmethod
    def _name(self, one: Mapping[str, Any]) -> str | None:
        """The name that a file or a batch was given."""

    async def find(self, record: BatchRecord, folder: BatchFolder) -> BatchRecord:
        """Look for the batch of a submission that was interrupted, by its name."""
        batch = await self._named(f"{self.batches}?{self.page}", record)
        return record if batch is None else self._submitted(record, folder, batch)

    async def _named(self, query: str, record: BatchRecord) -> Mapping[str, Any] | None:
        oldest = (datetime.fromisoformat(record.created_at) - _CLOCK_SKEW).timestamp()
        async for one in self._listed(query):
            if self._name(one) == record.name:
                return one
            if one.get("created_at", oldest) < oldest:  # Gemini's lists promise no order
                break
        return None


class OpenAIBatches(FileBatches):
    """OpenAI's batches."""

    files_page = "purpose=batch&limit=10000&order=desc"
    ended = frozenset({"completed", "failed", "expired", "cancelled"})

    def _fields(self, request: BatchRequest) -> Mapping[str, object]:
        where = {"method": "POST", "url": "/v1/chat/completions"}
        return {"custom_id": request.key, **where, "body": request.body}

    def _request_body(self, messages: Messages, parameters: JsonObject) -> JsonObject:
        body: JsonObject = {"model": self.model.protocol.model}
        return body | {"messages": cast("list[Any]", messages), **parameters}

    def _name(self, one: Mapping[str, Any]) -> str | None:
        name = (one.get("metadata") or {}).get(_NAME_FIELD)
        return name or str(one.get("filename")).removesuffix(".jsonl")

    async def _upload(self, record: BatchRecord, content: bytes) -> Mapping[str, Any]:
        file = f'name="file"; filename="{record.name}.jsonl"\r\nContent-Type: application/jsonl'
        body = _multipart(
            record.name,
            ('Content-Disposition: form-data; name="purpose"', b"batch"),
            (f"Content-Disposition: form-data; {file}", content),
        )
        kind = f"multipart/form-data; boundary={record.name}"
        return await self._call(self.files, body, content_type=kind)

    async def _create(self, record: BatchRecord, folder: BatchFolder) -> Mapping[str, Any]:  # noqa: ARG002 - the file has its requests
        content = {
            "input_file_id": record.file_id,
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": {_NAME_FIELD: record.name},
        }
        return await self._call(self.batches, content)

    def _progress(self, batch: Mapping[str, Any]) -> tuple[str, int, str]:
        counts = batch.get("request_counts") or {}
        errors = (batch.get("errors") or {}).get("data") or []
        n_done = (counts.get("completed") or 0) + (counts.get("failed") or 0)
        problem = "; ".join(str(one.get("message")) for one in errors[:3])
        return batch.get("status") or "", n_done, problem

    async def _results(self, batch: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        for name in ("output_file_id", "error_file_id"):
            if batch.get(name):
                async for line in self._lines(f"files/{batch[name]}/content"):
                    yield line

    def _reply_body(self, result: Mapping[str, Any]) -> object | ProviderFault:
        label, response = self.model.label, result.get("response")
        if not isinstance(response, dict):
            error = result.get("error") or {}
            words = f"{error.get('code') or 'no reply'}: {error.get('message') or ''}"
            return ProviderFault(label, "internal", text=words.rstrip(": "))
        body, status = response.get("body"), response.get("status_code")
        if status == _OK:
            return body
        return fault_of_response(label, int(status or 500), json.dumps(body), {})


class AnthropicBatches(ProviderBatches):
    """Anthropic's message batches, which have neither files nor names.

    An interrupted submission is identified by the keys in its results. Until a batch that has as
    many requests has ended, nothing shows whether it is ours: it is a candidate.
    """

    batches = "v1/messages/batches"
    cursor = "after_id"
    ended = frozenset({"ended"})
    headers = AnthropicProtocol.version

    def _fields(self, request: BatchRequest) -> Mapping[str, object]:
        return {"custom_id": request.key, "params": request.body}

    async def _prepare(self, record: BatchRecord, folder: BatchFolder) -> BatchRecord:
        # What is listed before this one is newer, whatever the clocks of both sides say.
        page = await self._call(f"{self.batches}?limit=1", method="GET")
        newest = (page.get("data") or [{}])[0]
        return folder.save(record, state="sending", after_id=newest.get("id"))

    async def _create(self, record: BatchRecord, folder: BatchFolder) -> Mapping[str, Any]:
        lines = b",".join(map(self.upload_line, folder.requests(record)))
        # For all requests at once: a request in a batch may not have it.
        headers = {**self.headers, **AnthropicProtocol.for_schemas}
        return await self._call(self.batches, b'{"requests": [%b]}' % lines, headers=headers)

    async def find(self, record: BatchRecord, folder: BatchFolder) -> BatchRecord:
        """Look for the batch of an interrupted submission among those that are newer."""
        keys = {one.key for one in folder.requests(record)}
        known = {one.batch_id for one in folder.records()}
        candidates = []
        async for batch in self._listed(f"{self.batches}?{self.page}"):
            if batch["id"] == record.after_id:
                break
            is_ended = batch.get("processing_status") in self.ended
            n_requests = sum((batch.get("request_counts") or {}).values())
            # One that was just created may not have been counted yet.
            sizes = {record.n_requests} if is_ended else {record.n_requests, 0}
            if batch["id"] in known or n_requests not in sizes or batch.get("archived_at"):
                continue
            if not is_ended:
                candidates.append(batch["id"])
                continue
            results = {one.get(self.key_field) async for one in self._results(batch)}
            # A line that cannot be read is no reason to pay for all of it again.
            if results <= {*keys, None}:
                return self._submitted(record, folder, batch)
        return folder.save(record, candidates=tuple(candidates))

    def _progress(self, batch: Mapping[str, Any]) -> tuple[str, int, str]:
        counts = batch.get("request_counts") or {}
        n_done = sum(counts.values()) - (counts.get("processing") or 0)
        return batch.get("processing_status") or "", n_done, ""

    async def _results(self, batch: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        if batch.get("archived_at"):
            fault = ProviderFault(self.model.label, "not_found", 410, "the batch is archived")
            raise fault.to_error()
        # Not the address that the batch names: the key goes nowhere else.
        async for line in self._lines(f"{self.batches}/{batch['id']}/results"):
            yield line

    def _reply_body(self, result: Mapping[str, Any]) -> object | ProviderFault:
        label, outcome = self.model.label, result.get("result") or {}
        kind = outcome.get("type")
        if kind == "succeeded":
            return outcome.get("message")
        if kind != "errored":
            return ProviderFault(label, "internal", text=f"{kind}: not answered by the batch's end")
        error = outcome.get("error") or {}
        named = (error.get("error") or error).get("type")
        return fault_of_response(label, _STATUSES.get(named, 500), json.dumps(error), {})


# The status that a call has with an error of Anthropic's, and with a code of Google's RPCs.
_STATUSES: dict[object, int] = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402,
    "permission_error": 403, "not_found_error": 404, "request_too_large": 413,
    "rate_limit_error": 429, "timeout_error": 504, "overloaded_error": 529,
    3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 11: 400, 14: 503, 16: 401,
}  # fmt: skip


class GeminiBatches(FileBatches):
    """Gemini's batches of a file, whose results name their requests; inline ones may not."""

    page = "pageSize=100"
    id_field, key_field = "name", "key"
    cancelling = ":cancel"
    # A file that has expired is refused like one of somebody else.
    gone = FileBatches.gone | {403}
    ended = frozenset({"succeeded", "failed", "cancelled", "expired"})

    def __init__(self, model: str, *, api_base: str | None) -> None:
        super().__init__(model, api_base=api_base)
        # Batches garble replies to a `response_json_schema` (crmne/ruby_llm issue 894), and refuse
        # its relatives in files: the form is left to the prompt.
        self.model.negotiation = Negotiation(("plain",))
        # An address of one's own ends in the version; uploads go beside it.
        is_own, version = self.model.protocol.is_own, "v1beta/"
        self._root = "" if is_own else version
        version = f"{self.model.base.rpartition('/')[2]}/" if is_own else version
        self._uploads = f"{'../' if is_own else ''}upload/{version}files"
        self.batches, self.files = f"{self._root}batches", f"{self._root}files"

    def _fields(self, request: BatchRequest) -> Mapping[str, object]:
        return {"key": request.key, "request": request.body}

    def _name(self, one: Mapping[str, Any]) -> str | None:
        name: str | None = (one.get("metadata") or one).get("displayName")
        return name

    async def _upload(self, record: BatchRecord, content: bytes) -> Mapping[str, Any]:
        about = {"file": {"displayName": record.name, "mimeType": "application/jsonl"}}
        body = _multipart(
            record.name,
            ("Content-Type: application/json; charset=utf-8", json.dumps(about).encode()),
            ("Content-Type: application/jsonl", content),
        )
        made = await self._call(
            self._uploads,
            body,
            content_type=f"multipart/related; boundary={record.name}",
            headers={"X-Goog-Upload-Protocol": "multipart"},
        )
        return cast("Mapping[str, Any]", made["file"])

    async def _create(self, record: BatchRecord, folder: BatchFolder) -> Mapping[str, Any]:  # noqa: ARG002 - the file has its requests
        batch = {"displayName": record.name, "inputConfig": {"fileName": record.file_id}}
        route = f"{self._root}models/{self.model.protocol.model}:batchGenerateContent"
        return await self._call(route, {"batch": batch})

    def _progress(self, batch: Mapping[str, Any]) -> tuple[str, int, str]:
        about = batch.get("metadata") or {}
        counts, error = about.get("batchStats") or {}, batch.get("error") or {}
        status = str(about.get("state") or "").rpartition("STATE_")[2].lower()
        if batch.get("done") and status not in self.ended:
            status = "failed" if error else "succeeded"
        done = ("successfulRequestCount", "failedRequestCount")
        n_done = sum(int(counts.get(name) or 0) for name in done)
        return status, n_done, str(error.get("message") or "") if status == "failed" else ""

    async def _results(self, batch: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        output = batch.get("response") or (batch.get("metadata") or {}).get("output") or {}
        if file := output.get("responsesFile"):
            async for line in self._lines(f"{self._root}{file}:download?alt=media"):
                yield line

    def _reply_body(self, result: Mapping[str, Any]) -> object | ProviderFault:
        if isinstance(response := result.get("response"), dict):
            return response
        error = result.get("error") or result.get("status") or {}
        code = error.get("code")
        status = code if code in _REFUSED else _STATUSES.get(code, 500)
        return fault_of_response(self.model.label, status, json.dumps(error), {})


def open_batches(model: str, *, api_base: str | None) -> ProviderBatches:
    """The batches of a model at its provider."""
    return _PROVIDERS[model.partition("/")[0]](model, api_base=api_base)


_PROVIDERS: dict[str, Callable[..., ProviderBatches]] = {
    "openai": OpenAIBatches,
    "anthropic": AnthropicBatches,
    "gemini": GeminiBatches,
}


def _multipart(boundary: str, *parts: tuple[str, bytes]) -> bytes:
    """A body of parts; the boundary is random, so that the content cannot hold it."""
    # In one copy: the content has up to 200 MB.
    line, begin = b"\r\n", f"--{boundary}\r\n".encode()
    pieces = (one for head, part in parts for one in (begin, head.encode(), line, line, part, line))
    return b"".join((*pieces, f"--{boundary}--\r\n".encode()))
