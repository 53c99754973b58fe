"""The guards of the package: what each refuses, where it stands, and the tests that notice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Guard:
    """A check that refuses something."""

    name: str
    """What would be possible without it."""

    file: str
    """Its module, below `judgekit`."""

    function: str
    """Its function, with the class before it."""

    text: str
    """Its condition, as Python writes it."""

    tests: tuple[str, ...]
    """The modules of tests that notice when it is gone."""

    becomes: str = "False"
    """What stands in place of the condition then."""


def _guard(name: str, file: str, function: str, text: str, *tests: str, becomes: str = "False") -> Guard:
    return Guard(name, file, function, text, tuple(f"tests/{one}.py" for one in tests), becomes)


GUARDS: tuple[Guard, ...] = (
    # Files that other files name.
    _guard("a named file outside of the folder", "formats/attachments.py", "FolderAttachments.locate",
           "not path.is_relative_to(_root.get() or root)", "formats/test_attachments"),
    _guard("an attachment of any size", "formats/attachments.py", "FolderAttachments.read",
           "len(content) > MAX_FILE_BYTES", "formats/test_attachments"),
    _guard("`..` and absolute paths", "formats/attachments.py", "safe_file_name",
           "path.is_absolute() or is_outside or ':' in (path.parts or ('',))[0]", "formats/test_attachments"),
    _guard("a NUL in a path", "formats/attachments.py", "safe_file_name",
           "not path.parts or '\\x00' in name", "formats/test_attachments"),
    _guard("attachments of any size in total", "formats/attachments.py", "AttachmentReader.take",
           "self._n_bytes > MAX_ATTACHMENT_BYTES", "formats/test_attachments"),
    _guard("tests of a skill behind a link", "formats/attachments.py", "skill_document",
           "not (path / name).resolve().is_relative_to(path.resolve())", "formats/test_skill_archive", "formats/test_attachments"),
    _guard("an image outside of the folder", "records/images.py", "_read",
           "not (path.is_relative_to(root) and path.is_file())", "records/test_images"),
    _guard("an image by a path from where no path may be named", "records/images.py", "_read",
           "folder is None", "records/test_images"),
    _guard("an image of any size", "records/images.py", "part_with_bytes",
           "len(content) > MAX_IMAGE_BYTES", "records/test_images"),
    _guard("an image that is none", "records/images.py", "part_with_bytes", "kind is None", "records/test_images"),
    _guard("a trace by a path from where no path may be named", "datasets/traces.py", "_inside",
           "folder is None", "datasets/test_traces"),
    # Zips.
    _guard("a zip with any number of files", "formats/attachments.py", "open_zip", "n_entries > MAX_ENTRIES", "formats/test_skill_archive"),
    _guard("a file that unpacks to more than it declares", "formats/attachments.py", "read_member", "len(content) > MAX_FILE_BYTES", "formats/test_skill_archive"),
    _guard("a zip of any size", "formats/attachments.py", "_declared_entries", "size > MAX_ZIP_BYTES", "formats/test_skill_archive"),
    _guard("a zip of the 64-bit kind", "formats/attachments.py", "_declared_entries", "_WIDE_END in tail", "formats/test_skill_archive"),
    _guard("a zip bomb of many files", "formats/attachments.py", "_check", "sum((info.file_size for info in infos)) > MAX_UNPACKED_BYTES", "formats/test_skill_archive"),
    _guard("two files of one name in a zip", "formats/attachments.py", "_check", "len(set(names)) != len(names)", "formats/test_skill_archive"),
    _guard("an encrypted file", "formats/attachments.py", "_complaint", "info.flag_bits & _ENCRYPTED", "formats/test_skill_archive"),
    _guard("a link in a zip", "formats/attachments.py", "_complaint", "stat.S_ISLNK(info.external_attr >> 16)", "formats/test_skill_archive"),
    _guard("a zip bomb of one file", "formats/attachments.py", "_complaint", "info.file_size > MAX_FILE_BYTES or large", "formats/test_skill_archive"),
    _guard("a name in a zip that leads out of it", "formats/attachments.py", "_complaint", "safe_file_name(name)", "formats/test_skill_archive", becomes="None"),
    # Documents.
    _guard("a YAML bomb", "formats/documents.py", "_Builder._alias", "self._n_aliased > MAX_ALIASED", "formats/test_documents"),
    _guard("YAML nested without end", "formats/documents.py", "_Builder._start", "len(self._open) >= MAX_JSON_DEPTH", "formats/test_documents"),
    _guard("tags of YAML on mappings and lists", "formats/documents.py", "_Builder._start",
           "event.tag not in {None, '!', f\"{_TAG}{('map' if is_mapping else 'seq')}\"}", "formats/test_documents"),
    _guard("tags of YAML on values", "formats/documents.py", "_Builder._value",
           "tag is not None and tag not in {f'{_TAG}{n}' for n in ('int', 'float', 'bool', 'null')}", "formats/test_documents"),
    _guard("a number of any length", "formats/documents.py", "_Builder._plain", "len(text) > _MAX_DIGITS", "formats/test_documents"),
    _guard("infinite numbers in YAML", "formats/documents.py", "_Builder._plain", "_FLOAT.fullmatch(text) or _NOT_FINITE.fullmatch(text)", "formats/test_documents"),
    _guard("a document of any size", "formats/text.py", "read_text", "len(raw) > MAX_DOCUMENT_BYTES", "formats/test_documents", "formats/test_texts"),
    _guard("a line of any length", "formats/text.py", "iter_lines", "len(raw) > MAX_LINE_BYTES", "formats/test_rows", "formats/test_texts"),
    _guard("NUL bytes", "formats/text.py", "decode_utf8", "nul >= 0", "formats/test_texts", "formats/test_rows"),
    _guard("JSON nested without end", "formats/text.py", "parse_strict_json", "text.count('[') + text.count('{') > MAX_JSON_DEPTH and _is_too_deep(value)", "formats/test_json_text", "formats/test_documents"),
    _guard("a key given twice", "formats/text.py", "_pairs", "len(found) != len(pairs)", "formats/test_json_text"),
    _guard("infinite numbers in JSON", "formats/text.py", "_finite", "math.isinf(number)", "formats/test_json_text"),
    _guard("infinite numbers in tables", "formats/rows.py", "_scalar", "math.isinf((number := float(cell)))", "formats/test_rows"),
    # Code from files.
    _guard("scripts without permission", "assertions/scripts.py", "find_script", "not settings.is_allowed", "assertions/test_custom"),
    _guard("code in texts without permission", "assertions/scripts.py", "run_code", "not settings.is_allowed", "assertions/test_transforms", "assertions/test_custom"),
    _guard("a script outside of the folder", "assertions/scripts.py", "find_script", "not path.is_relative_to(folder)", "assertions/test_custom"),
    _guard("scripts of cases without permission", "evaluation/case_plans.py", "_script_fault", "not plans.scripts.is_allowed", "evaluation/session/test_case_checks", "evaluation/session/test_opening"),
    _guard("setup programs without permission", "evaluation/runner.py", "suite_hooks", "(setup or teardown) and (not allowed)", "evaluation/runner/test_hooks"),
    _guard("functions as variants without permission", "evaluation/runner.py", "_refuse_code", "opened.recorded is None and (not opened.execution.allow_scripts)", "evaluation/test_foreign_code"),
    _guard("a script from a zip", "datasets/sources.py", "_command", "not is_folder", "datasets/test_suite_opening", "formats/test_skill_archive"),
    _guard("a script of a skill outside of it", "datasets/sources.py", "_command", "script.startswith('/') or '..' in parts", "datasets/test_suite_opening"),
    _guard("a program that runs for ever", "subprocess/__init__.py", "run_process", "asyncio.timeout(limits.timeout_s)", "test_processes", becomes="asyncio.timeout(None)"),
    _guard("a program that writes for ever", "subprocess/__init__.py", "Child._read", "most is not None and self._n_read[pipe] > most", "test_processes"),
    _guard("a function that runs for ever", "assertions/sandbox.py", "_Worker._request", "alarm.start()", "assertions/test_bounded", becomes="None"),
    _guard("a template that counts for ever", "prompts/environment.py", "_capped_range", "len(numbers) > _MAX_RANGE", "prompts/test_sandbox"),
    _guard("a template that includes itself", "prompts/environment.py", "_sources", "name in above", "prompts/test_sandbox", "prompts/test_templates"),
    _guard("an include by a computed name", "prompts/environment.py", "_included_files", "not isinstance(target, nodes.Const) or not isinstance(target.value, str)", "prompts/test_sandbox", "prompts/test_templates"),
    # Replies.
    _guard("a verdict quoted from the judged text", "prompts/parsing/quotation.py", "JudgedTexts.has_quoted", "_occurs(normalised(text), self.quoted)", "prompts/test_replies_echoes", "prompts/test_quoting"),
    _guard("JSON from the judged text, read strictly", "prompts/parsing/strict.py", "_strict_answer", "text is None or finish_reason not in {'stop', None} or is_json_like(judged_text)", "prompts/test_replies_echoes", "prompts/test_quoting", "prompts/test_replies"),
    _guard("a quoted score line", "prompts/parsing/text_formats.py", "parse_formatted_reply", "not _is_quoted(hit, has)", "prompts/test_replies_formatted", "prompts/test_quoting", becomes="True"),
    _guard("a quoted preference", "prompts/parsing/pair_formats.py", "parse_formatted_preference", "not _is_quoted_choice(hit, has, judged_text)", "prompts/test_pair_replies", "prompts/test_quoting", becomes="True"),
    _guard("a verdict inside prose", "prompts/parsing/text_formats.py", "check_prose_around", "is_amid and (not is_judge_refusal(prose))", "prompts/test_replies_ownership", "prompts/test_replies_formatted"),
    _guard("a verdict that is withdrawn", "prompts/parsing/resolve.py", "_check_prose_beside", "withdraws(after)", "prompts/test_replies_ownership"),
    _guard("a verdict beside a refusal", "prompts/parsing/resolve.py", "_check_prose_beside", "refuses_beside(before, after)", "prompts/test_replies_ownership"),
    _guard("a score outside of its scale", "prompts/parsing/text_formats.py", "_decided_score", "not wanted.scale.holds(raw)", "prompts/test_replies_formatted"),
    _guard("scores of pairs outside of 1 to 10", "prompts/parsing/pair_formats.py", "parse_formatted_preference", "hit.raws is not None and (not all((_LOWEST <= raw <= _HIGHEST for raw in hit.raws)))", "prompts/test_pair_replies"),
    _guard("several verdicts that differ", "prompts/parsing/text_formats.py", "_decided_score", "reply_format.kind != 'score_line' and len({raw for _, raw in plain}) > 1", "prompts/test_replies_formatted"),
    _guard("evidence that is not in the output", "judge/pointwise.py", "_require_evidence", "not reading.cannot_assess and (not any(map(_MATCH, evidence)))", "judge/test_pointwise", "judge/test_grading"),
    # The cache.
    _guard("a cache folder of another user", "models/cache/disk_cache.py", "CacheFolder.check_owner", "status.st_uid not in {os.geteuid(), 0}", "models/cache/test_on_disk"),
    _guard("a cache folder that others write to", "models/cache/disk_cache.py", "CacheFolder.check_owner", "status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)", "models/cache/test_on_disk"),
    _guard("a reply that was altered", "models/cache/entries.py", "decode_reply", "not text.startswith(f'{_SEAL}{checksum}\",')", "models/cache/test_entries"),
    _guard("the reply of another request", "models/cache/entries.py", "decode_reply", "body['key'] != key or ('rejected' in body and (not may_be_rejected))", "models/cache/test_entries"),
    _guard("a request that was altered", "models/cache/entries.py", "decode_request", "hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest() != key", "models/cache/test_entries"),
    _guard("a pickle in the cache", "models/cache/entries.py", "stored_text", "mode != MODE_RAW or filename is not None or (not isinstance(value, str))", "models/cache/test_disk"),
    _guard("an altered line of an export", "models/cache/entries.py", "decode_line", "not sealed", "models/cache/test_entries", "models/cache/test_exchange"),
    _guard("an imported reply under another key", "models/cache/entries.py", "decode_line", "not isinstance(request, dict) or fingerprint(request) != body['key']", "models/cache/test_entries"),
    _guard("an imported reply that was cut off", "models/cache/entries.py", "decode_line", "not entry.rejected and (not is_servable(entry.reply))", "models/cache/test_entries"),
    _guard("a cut reply that is served", "models/cache/reply_cache.py", "ReplyCache.put", "not is_servable(reply)", "models/cache/test_kept"),
    _guard("a call in a frozen run", "models/cached_model.py", "CachedModel.complete", "self._frozen", "models/test_caching"),
    _guard("frozen and refresh together", "models/cached_model.py", "CachedModel.__init__", "frozen and refresh", "models/test_caching", "models/test_caching_refresh"),
    _guard("the same call from two processes", "models/cache/disk_cache.py", "FileKeyLocks.try_acquire", "not is_ours", "models/cache/test_leases"),
    _guard("two answers to one recorded question", "models/recorded_replies.py", "RecordedModel.__init__", "key in self._lines", "models/test_recorded"),
    # Money and endpoints.
    _guard("a call beyond the limit of money", "models/budget.py", "Budget.reserve", "not self._waiting and amount <= self._limit - self._spent - self._reserved", "models/test_budget", "models/test_budgeted", becomes="True"),
    _guard("a limit of money that is no number", "models/budget.py", "Budget.__init__", "not 0 <= limit_usd < math.inf", "models/test_budget"),
    _guard("a limit of money for an unknown price", "models/budget.py", "Budget.price", "price is None", "models/test_budget"),
    _guard("a reply of any size", "models/transports/direct.py", "DirectModel._post", "len(raw) > LARGEST_REPLY_BYTES", "models/test_direct", "models/test_transports_agree"),
    _guard("a body of any size", "http_session.py", "read_body", "size > most_bytes", "models/test_direct"),
    _guard("a redirect of an endpoint", "models/transports/direct.py", "DirectModel._post", "session.client.post(f'{self._base}/{route}', data=body, headers=headers, allow_redirects=False)", "models/test_direct", becomes="session.client.post(f'{self._base}/{route}', data=body, headers=headers)"),
    _guard("calls after a refused key", "models/rate_limit.py", "LimitedModel._take_note", "error.fatal", "models/test_limits"),
    _guard("a wait of hours", "models/rate_limit.py", "LimitedModel._until_allowed", "wait_s > _MAX_WAIT_S", "models/test_limits"),
    _guard("calls to an endpoint that is down", "models/rate_limit.py", "LimitedModel._take_note_of_case", "len(self._failed_cases) >= fewest", "models/test_breaker"),
    # Decisions.
    _guard("a gate on a run that did not finish", "evaluation/gate.py", "check_gate", "run.status not in FINISHED_STATUSES", "evaluation/test_gating"),
    _guard("a drop beside answers without a verdict", "scoring/gate.py", "check_value", "isnan(low) or isnan(high)", "scoring/test_gate"),
    _guard("a comparison of runs that were measured otherwise", "evaluation/comparability.py", "paired_sides", "measure.changes", "evaluation/comparison/test_stored", "evaluation/comparison/test_scores"),
    _guard("a comparison without a common case", "evaluation/comparability.py", "paired_sides", "not both", "evaluation/comparison/test_scores", "evaluation/comparison/test_stored"),
    _guard("a pass where nothing was checked", "scoring/gate.py", "all_passed", "results and None not in results", "scoring/test_gate", becomes="True"),
    _guard("an approval of a version that fails its gate", "evaluation/approval.py", "approve_version", "gate is not None and gate.outcome == 'failed'", "cli/test_approve"),
    _guard("an approval of a changed version", "evaluation/approval.py", "check_version_current", "approval_status(evidence.version, variant, suite) == 'stale'", "cli/test_approve"),
    # The store.
    _guard("a store of a newer judgekit", "store/database.py", "_schema_version", "newest.version > SCHEMA_VERSION", "store/test_migrations"),
    _guard("a database of another program", "store/database.py", "_schema_version", "foreign", "store/test_migrations", "store/test_location"),
    _guard("a migration without a copy", "store/database.py", "_migrate_database", "found < SCHEMA_VERSION and location.file is not None", "store/test_migrations"),
    _guard("a damaged store", "store/database.py", "Database.check", "found != 'ok'", "store/test_faults", "cli/test_store_health"),
    _guard("an answer filed under another case", "store/observations.py", "ObservationBatch._take_answer", "each.case.id != case_id", "store/test_runs", "store/test_order"),
    _guard("a second answer of a person", "store/runs.py", "RunStore.answer_item", "row.answered_at is not None", "store/test_people"),
    # The viewer, pages and terminals.
    _guard("another host", "web/guard.py", "LocalGuard._answer", "[*self._hosts.intersection(headers.getlist('host'))] != headers.getlist('host')", "web/test_guard"),
    _guard("a page of another site", "web/guard.py", "LocalGuard._answer", "_is_foreign(headers)", "web/test_guard"),
    _guard("reading without the token", "web/guard.py", "LocalGuard._reading_problem", "_is_same(cookies.get(self._cookie, ''), self._token)", "web/test_guard", becomes="True"),
    _guard("writing where only reading is allowed", "web/guard.py", "LocalGuard._writing_problem", "self._write_token is None", "web/test_guard"),
    _guard("writing from another origin", "web/guard.py", "LocalGuard._writing_problem", "headers.get('origin', '') != f\"http://{headers['host']}\"", "web/test_guard"),
    _guard("writing without its token", "web/guard.py", "LocalGuard._writing_problem", "not _is_same(headers.get(TOKEN_HEADER, ''), self._write_token)", "web/test_guard"),
    _guard("writing by a form", "web/guard.py", "LocalGuard._writing_problem", "headers.get('content-type', '').partition(';')[0].strip() != 'application/json'", "web/test_guard"),
    _guard("answers without security headers", "web/guard.py", "LocalGuard.__call__", "MutableHeaders(scope=message).update(SECURITY_HEADERS)", "web/test_guard", becomes="None"),
    _guard("hidden files in the editor", "web/editor.py", "EditFolder.path_of", "any((part in {'', '..', '.'} or part.startswith('.') or '\\x00' in part for part in parts))", "web/test_editor"),
    _guard("other files in the editor", "web/editor.py", "EditFolder.path_of", "Path(name).suffix.lower() not in SUFFIXES or '\\\\' in name", "web/test_editor"),
    _guard("a link in the editor", "web/editor.py", "EditFolder.path_of", "inside is None or is_hidden or path.suffix.lower() not in SUFFIXES", "web/test_editor"),
    _guard("a file that changed meanwhile", "web/editor.py", "EditFolder._of_version", "found.version != version", "web/test_editor"),
    _guard("recorded evidence in the editor", "web/editor.py", "EditFolder.save", "self.check(name).is_recorded", "web/test_editor"),
    _guard("a request of any size", "web/replies.py", "_posted_json", "len(body) > _LARGEST_BODY", "web/test_replies", "web/test_editor"),
    _guard("answers of another page", "web/labelling.py", "LabellingPages.answer", "{packet_of(one.label) for one in located} != {packet.id}", "web/test_labelling"),
    _guard("paying for other calls than were shown", "web/preview.py", "_tried", "prepared.calls_key != calls_key", "web/test_editor_preview"),
    # Downloads.
    _guard("a published file that changed", "public_data/sources.py", "download_file", "(found := digest.hexdigest()) != pinned.sha256", "public_data/test_getting", "public_data/test_catalog"),
    _guard("a published file without end", "public_data/sources.py", "download_file", "n_bytes > pinned.bytes", "public_data/test_getting", "public_data/test_catalog"),
    _guard("a file name from a catalogue", "public_data/sources.py", "_set", "not _SAFE.fullmatch(file) or '..' in PurePosixPath(file).parts", "public_data/test_getting", "public_data/test_catalog"),
    _guard("a download without encryption", "public_data/sources.py", "_opened", "not _is_allowed(address)", "public_data/test_getting", "public_data/test_catalog"),
    # Secrets, and text of others on terminals, in tables and on pages.
    _guard("the value of a key in an error", "models/error_mapping.py", "redact", "text.replace(value, REDACTED)", "models/test_redaction", becomes="text"),
    _guard("what looks like a key in an error", "models/error_mapping.py", "redact", "shape.sub(f'\\\\g<1>{REDACTED}', text)", "models/test_redaction", becomes="text"),
    _guard("a secret in a log record", "models/error_mapping.py", "RedactingFilter.filter", "redact(record.getMessage())", "models/test_redaction", becomes="record.getMessage()"),
    _guard("the password of a database in a message", "store/database.py", "DatabaseLocation.name", "self.url.render_as_string(hide_password=True)", "store/test_location", becomes="self.url.render_as_string(hide_password=False)"),
    _guard("secrets in the environment of a program", "subprocess/__init__.py", "scrub_environment", "name in _KEPT_NAMES or name.startswith(_KEPT_PREFIX)", "test_processes", becomes="True"),
    _guard("control characters on a terminal", "report/message.py", "message_lines", "_escaped(line)", "report/test_terminal", "cli/test_console", "cli/test_main", becomes="line"),
    _guard("control characters in a cell", "report/message.py", "printable", "_escaped(flat)", "report/test_terminal", becomes="flat"),
    _guard("formulas in a table", "formats/text.py", "escape_formula", "_is_formula(text.lstrip(FORMULA_ESCAPE))", "formats/test_formulas"),
    _guard("markup on a page", "report/html.py", "_environment", "Environment(loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, auto_reload=False, finalize=_finalize)", "report/test_html", "report/test_audit_page", becomes="Environment(loader=FileSystemLoader(_TEMPLATES), autoescape=False, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, auto_reload=False, finalize=_finalize)"),
    _guard("a page without a policy", "report/html.py", "file_policy", "_digest(script)", "report/test_html", becomes="'unsafe-inline'"),
    _guard("a judge that sees who wrote an output", "prompts/redaction.py", "scrub", "any((stem in text for stem in _STEMS))", "prompts/test_scrubbing"),
    _guard("a call through litellm without a deadline", "models/transports/litellm.py", "LitellmModel._send", "asyncio.timeout(self._timeout_s)", "models/test_litellm_model", "models/test_transports_agree", becomes="asyncio.timeout(None)"),
    _guard("a cookie of one reply in the next request", "http_session.py", "http_sessions.session", "aiohttp.DummyCookieJar()", "models/test_direct", "models/test_connecting", becomes="aiohttp.CookieJar(unsafe=True)"),
    _guard("a run that two processes continue", "store/runs.py", "RunStore._lock_run", "not self._try_lock(number)", "store/test_processes", "store/test_runs"),
    _guard("a file replaced by half of another", "atomic_write.py", "atomic_writer", "path.with_name(f'.{path.name}.{os.getpid()}.part')", "report/test_replacing", "exports/test_table", becomes="path"),
    _guard("a cache that others read", "models/cache/disk_cache.py", "CacheFolder.prepare", "folder.mkdir(mode=448, exist_ok=True)", "models/cache/test_on_disk", becomes="folder.mkdir(exist_ok=True)"),
    _guard("a file of judgments that others read", "store/database.py", "prepare_database_file", "os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 384)", "store/test_location", becomes="os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 438)"),
    _guard("a name of a header that adds another", "targets/external.py", "EndpointTarget.__init__", "not name.isascii() or not name or (not value.isprintable())", "targets/test_http"),
)  # fmt: skip
