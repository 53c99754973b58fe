// The editor of a folder's files. The text is the one state: forms change it, and it is checked as typed.
import { render } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "./html.js";
import { ApiError, mayWrite, postJson } from "./api.js";
import { useMedia } from "./state.js";
import { TextPane } from "./editor_text.js";
import { CasesForm, RubricForm, SuiteForm } from "./editor_forms.js";
import { Preview } from "./editor_preview.js";
import { SaveDialog } from "./editor_save.js";
import { plural } from "./words.js";

const CHECK_AFTER_MS = 300;
const HOME = "/edit";
const NARROW = "(max-width: 44rem)";
const ADDRESS = /^\/edit\/(.+)$/;

/** Make an editor of the page, where it is one. */
export function startEditor() {
  const address = ADDRESS.exec(location.pathname);
  const main = document.getElementById("main");
  if (!address || !mayWrite() || !main) return;
  const place = document.createElement("div");
  const name = address[1].split("/").map(decodeURIComponent).join("/");
  while (main.querySelector("h1").nextSibling) main.querySelector("h1").nextSibling.remove();
  main.append(place);
  document.querySelector(".skip").textContent = "Skip to the editor";
  render(html`<${Editor} path=${name} />`, place);
}

function readState() {
  return new URLSearchParams(location.hash.slice(1));
}

function writeState(changes) {
  const state = readState();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) state.delete(name);
    else state.set(name, value);
  }
  history.replaceState(null, "", `#${state}`);
}

function Editor({ path }) {
  const [listing, setListing] = useState(null);
  const [error, setError] = useState("");
  const list = () => postJson("/api/edit/files", {}).then(setListing, (e) => setError(e.message));
  useEffect(() => void list(), []);
  const isNarrow = useMedia(NARROW);
  if (error) return html`<p class="error" role="alert">${error}</p>`;
  const files = html`<${Files} listing=${listing} path=${path} />`;
  return html`
    <div class="editor">
      <nav class="ed-files" aria-label="Files" aria-busy=${!listing}>
        ${isNarrow ? html`<details><summary>Files of ${listing?.folder}</summary>${files}</details>` : files}
      </nav>
      <div class="ed-work"><${File} path=${path} listing=${listing} onSaved=${list} /></div>
    </div>`;
}

function Command({ files }) {
  const suite = files.find((file) => file.command);
  return suite && html`<p class="note">To run it: <code>${suite.command}</code></p>`;
}

function Files({ listing, path }) {
  if (!listing) return html`<p class="note">Reading the folder …</p>`;
  return html`
    <p class="ed-folder"><a href=${HOME}>${listing.folder}</a></p>
    <ul>
      ${listing.files.map((file) => html`
        <li key=${file.path}>
          <a href=${addressOf(file.path)} aria-current=${file.path === path ? "page" : null}><bdi>${file.path}</bdi></a>
          <span class="note">${file.kind} <${Counts} file=${file} /></span>
        </li>`)}
    </ul>
    <${Command} files=${listing.files} />`;
}

function Counts({ file }) {
  const parts = [];
  if (file.n_errors) parts.push(html`<span class="fail">✗ ${plural(file.n_errors, "error")}</span>`);
  if (file.n_warnings) parts.push(html`<span class="inconclusive">! ${plural(file.n_warnings, "warning")}</span>`);
  return parts;
}

export function addressOf(path) {
  return `/edit/${path.split("/").map(encodeURIComponent).join("/")}`;
}

function File({ path, listing, onSaved }) {
  // `file` is what is shown; `now` is the same for callbacks that began before the last rendering.
  const [file, setFile] = useState(null);
  const now = useRef(null);
  const [error, setError] = useState("");
  const [view, setView] = useState(readState().get("view"));
  const [caseId, setCaseId] = useState(readState().get("case"));
  const [dialog, setDialog] = useState(null);
  const [note, setNote] = useState("");
  const [target, setTarget] = useState(null);
  const checks = useRef({ timer: 0, number: 0 });
  const changes = useRef(Promise.resolve());
  const focused = useRef(null);
  const isSaving = useRef(false);
  const isNarrow = useMedia(NARROW);

  const update = (parts) => setFile((now.current = { ...now.current, ...parts }));
  const load = async () => {
    try {
      const opened = await postJson("/api/edit/open", { path });
      update({ ...opened, saved: opened.text });
      const line = Number(readState().get("line"));
      if (line) jump(line);
    } catch (failure) {
      setError(failure.message);
    }
  };
  useEffect(() => void load(), [path]);

  const isChanged = Boolean(file && file.text !== file.saved);
  useEffect(() => {
    document.title = `${isChanged ? "* " : ""}Edit ${path}`;
    if (!isChanged) return undefined;
    const warn = (event) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [isChanged]);

  const check = async () => {
    const number = ++checks.current.number;
    const { text } = now.current;
    try {
      const state = await postJson("/api/edit/check", { path, text });
      // An answer about an older text would mark the wrong lines.
      if (number === checks.current.number && text === now.current.text) update(state);
      setError("");
    } catch (failure) {
      setError(failure.message);
    }
  };
  const type = (text) => {
    setNote("");
    update({ text });
    clearTimeout(checks.current.timer);
    checks.current.timer = setTimeout(check, CHECK_AFTER_MS);
  };
  // One after the other: each is a change of the text that the one before gave.
  const change = (kind, where, value = null) => {
    const made = changes.current.then(async () => {
      let text, reply;
      // Made again where something was typed meanwhile, which must not be lost.
      do {
        text = now.current.text;
        reply = await postJson("/api/edit/change", { path, text, kind, where, value });
      } while (text !== now.current.text);
      checks.current.number++;
      update(reply);
      setError("");
      setNote("");
    });
    changes.current = made.catch((failure) => setError(failure.message));
    return made.then(() => true, () => false);
  };
  const choose = (name) => {
    setView(name);
    writeState({ view: name });
  };
  const chooseCase = (id) => {
    setCaseId(id);
    writeState({ case: id });
  };
  const jump = (line) => {
    choose("text");
    setTarget({ line });
  };

  const canSave = Boolean(file) && !file.is_recorded && !isNarrow;
  const openDialog = async () => {
    if (!canSave) return;
    // A field that is being typed in counts, too.
    focused.current = document.activeElement;
    focused.current?.blur();
    clearTimeout(checks.current.timer);
    await changes.current;
    await check();
    if (now.current.text === now.current.saved) setNote("There are no changes to save.");
    else setDialog({ kind: "save" });
  };
  const close = () => {
    setDialog(null);
    focused.current?.focus();
  };
  const save = async () => {
    // A double click would find what its first half wrote, as a change on disk.
    if (isSaving.current) return;
    isSaving.current = true;
    const { text, version, problems } = now.current;
    const allow_errors = problems.some((problem) => problem.severity === "error");
    try {
      const reply = await postJson("/api/edit/save", { path, text, version, allow_errors });
      update({ saved: text, version: reply.version });
      close();
      setNote("Saved.");
      onSaved();
    } catch (failure) {
      if (failure instanceof ApiError && failure.status === 409) {
        setDialog({ kind: "conflict", disk: failure.reply, message: failure.message });
      } else {
        setDialog({ kind: "save", message: failure.message });
      }
    } finally {
      isSaving.current = false;
    }
  };
  const settle = (disk, isMine) => {
    update({ saved: disk.text, version: disk.version });
    close();
    if (!isMine) update({ text: disk.text });
    check();
  };
  useEffect(() => {
    const press = (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s") return;
      event.preventDefault();
      // Held down, the keys would save before anybody has seen the changes.
      if (event.repeat) return;
      if (dialog?.kind === "save") save();
      else if (!dialog) openDialog();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });

  if (!file) return error ? html`<p class="error" role="alert">${error}</p>` : html`<p class="note" aria-busy="true">Opening …</p>`;
  const isReadOnly = file.is_recorded || isNarrow;
  const views = viewsOf(file);
  const shown = views.some((one) => one.name === view) ? view : views[0].name;
  const own = file.problems.filter((problem) => problem.path === path);
  return html`
    <div class="ed-bar">
      <div role="group" aria-label="View" class="ed-views">
        ${views.map((one) => html`<button aria-pressed=${String(one.name === shown)} onClick=${() => choose(one.name)}>${one.label}</button>`)}
      </div>
      <span class="ed-state" role="status">${note || (isChanged ? "Not saved" : "")}</span>
      ${canSave && html`<button class="ed-save" disabled=${!isChanged} onClick=${openDialog}>Save … <kbd>Ctrl+S</kbd></button>`}
    </div>
    ${isNarrow && html`<p class="ed-narrow">This window is too narrow for editing: files can be read here, and edited in a wider one.</p>`}
    ${file.is_recorded && html`<p class="ed-narrow">This file holds recorded ${file.kind === "recorded replies" ? "replies" : "results"}: it can be read, but not edited.</p>`}
    ${error && html`<p class="error" role="alert">${error}</p>`}
    <${Problems} file=${file} path=${path} onJump=${jump} />
    <div class="ed-panes">
      <div class="ed-pane">
        ${shown === "text"
          ? html`<${TextPane} path=${path} text=${file.text} problems=${own} isReadOnly=${isReadOnly} target=${target} onInput=${type} />`
          : html`<div class="ed-form">
              ${shown === "cases" && html`<${CasesForm} file=${file} caseId=${caseId} onCase=${chooseCase} change=${change} isReadOnly=${isReadOnly} />`}
              ${shown === "rubric" && html`<${RubricForm} data=${file.data} change=${change} isReadOnly=${isReadOnly} />`}
              ${shown === "suite" && html`<${SuiteForm} data=${file.data} profiles=${file.profiles} change=${change} isReadOnly=${isReadOnly} />`}
            </div>`}
      </div>
      ${listing && html`<${Preview} path=${path} file=${file} listing=${listing} caseId=${caseId} onCase=${chooseCase} isReadOnly=${isNarrow} />`}
    </div>
    ${dialog && html`<${SaveDialog} dialog=${dialog} path=${path} file=${file}
      onSave=${save} onSettle=${settle} onClose=${close} />`}
  `;
}

function viewsOf(file) {
  const views = [];
  if (file.form === "rubric" && Array.isArray(file.data?.criteria)) views.push({ name: "rubric", label: "Criteria" });
  if (file.form === "suite") views.push({ name: "suite", label: "Suite" });
  if (file.cases_at) views.push({ name: "cases", label: "Cases" });
  return [...views, { name: "text", label: "Text" }];
}

const SIGNS = { error: "✗", warning: "!" };

function Problems({ file, path, onJump }) {
  const summary = useRef(null);
  // The sentence alone is announced: a list that changes with each key would never end.
  useLayoutEffect(() => {
    if (summary.current.textContent !== file.summary) summary.current.textContent = file.summary;
  }, [file.summary]);
  const tone = file.problems.some((one) => one.severity === "error") ? "fail" : file.problems.length ? "inconclusive" : "pass";
  return html`
    <section class=${`ed-problems ${tone}`} aria-label="Problems">
      <p><span>${file.kind}: </span><strong role="status" ref=${summary}></strong></p>
      ${file.problems.length > 0 && html`
        <ul>
          ${file.problems.map((one) => html`
            <li>
              <span class=${one.severity === "error" ? "fail" : "inconclusive"}>${SIGNS[one.severity]} ${one.severity}</span>${" "}
              <${Place} problem=${one} path=${path} onJump=${onJump} />${" "}
              <bdi>${one.message}</bdi>${one.remedy && html` <span class="note">(${one.remedy})</span>`}
              ${one.rule && html` <code>${one.rule}</code>`}
            </li>`)}
        </ul>`}
    </section>`;
}

function Place({ problem, path, onJump }) {
  const line = problem.line === null ? "" : `line ${problem.line}`;
  if (problem.path === path) {
    return line && html`<button class="ed-link" onClick=${() => onJump(problem.line)}>${line}</button>`;
  }
  if (!problem.path) return null;
  const hash = problem.line === null ? "" : `#view=text&line=${problem.line}`;
  return html`<a href=${addressOf(problem.path) + hash}><bdi>${problem.path}</bdi> ${line}</a>`;
}
