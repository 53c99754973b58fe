// What a judge would be sent about a case, with its price, and a trial of it.
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { html } from "./html.js";
import { postJson } from "./api.js";

const PREVIEW_AFTER_MS = 600;
const TYPED = "\u0000typed";
const OF_SUITES = new Set(["suite", "rubric", "cases", "template", "partial", "outputs"]);

export function Preview({ path, file, listing, caseId, onCase, isReadOnly }) {
  const suites = listing.files.filter((one) => one.kind === "suite").map((one) => one.path);
  const [suite, setSuite] = useState(suites.includes(path) ? path : suites[0]);
  const [variant, setVariant] = useState(null);
  const [output, setOutput] = useState("");
  const [model, setModel] = useState("");
  const [preview, setPreview] = useState(null);
  const [error, setError] = useState("");
  const number = useRef(0);
  const isTyped = variant === TYPED;
  const settings = {
    case_id: caseId,
    variant: isTyped ? null : variant,
    output: isTyped ? output : null,
    model: model.trim() || null,
  };
  const body = { path, text: file.text, suite, settings };
  const key = JSON.stringify(body);

  const load = async (own) => {
    try {
      const found = await postJson("/api/edit/preview", body);
      if (own !== number.current) return;
      // What was shown stays: while something is typed the suite may be invalid for a moment.
      if (!found.error) setPreview({ ...found, key });
      setError(found.error ?? "");
    } catch (failure) {
      if (own !== number.current) return;
      setError(failure.message);
    }
  };
  useEffect(() => {
    const own = ++number.current;
    if (!suite || !OF_SUITES.has(file.kind)) return undefined;
    const timer = setTimeout(() => load(own), preview || error ? PREVIEW_AFTER_MS : 0);
    return () => clearTimeout(timer);
  }, [key, file.kind]);

  if (!OF_SUITES.has(file.kind)) return null;
  if (!suite) {
    return html`<aside class="ed-preview" aria-label="Preview"><h2>Preview</h2>
      <p class="note">Prompts are shown with a suite, which names the judge: there is none in this folder. <code>judgekit init</code> makes one.</p></aside>`;
  }
  const isCurrent = preview?.key === key;
  return html`
    <aside class="ed-preview" aria-label="Preview" aria-busy=${!isCurrent && !error}>
      <h2>What the judge reads</h2>
      <div class="ed-choices">
        ${suites.length > 1 && html`<${Choice} label="Suite" value=${suite} options=${suites} onChoose=${setSuite} />`}
        ${preview && html`
          <${Choice} label="Case" value=${preview.case_id} options=${preview.cases} onChoose=${onCase} />
          <${Choice} label="Output" value=${variant ?? preview.variant ?? TYPED} onChoose=${setVariant}
            options=${[...preview.variants, TYPED]} names=${{ [TYPED]: "typed here" }} />
          <${ModelField} judges=${preview.judges} model=${model} onModel=${setModel} />`}
      </div>
      ${isTyped && html`<${TypedOutput} text=${output} onText=${setOutput} />`}
      ${error && html`<p class="ed-narrow">No preview: <bdi>${error}</bdi></p>`}
      ${preview && !error && html`
        ${preview.notes.map((note) => html`<p class="note">${note}</p>`)}
        <${Trial} body=${body} preview=${preview} isCurrent=${isCurrent && !error} isReadOnly=${isReadOnly} />
        ${!isTyped && preview.variant && html`<details><summary>Output of ${preview.variant}</summary><pre dir="auto">${preview.output}</pre></details>`}
        ${preview.requests.map((one, place) => html`<${Prompt} key=${place} request=${one} isOpen=${place === 0} />`)}`}
    </aside>`;
}

function Choice({ label, value, options, names = {}, onChoose }) {
  const id = useId();
  return html`<div class="ed-field">
    <label for=${id}>${label}</label>
    <select id=${id} value=${value} onChange=${(event) => onChoose(event.target.value)}>
      ${options.map((one) => html`<option key=${one} value=${one} selected=${one === value}>${names[one] ?? one}</option>`)}
    </select></div>`;
}

function ModelField({ judges, model, onModel }) {
  const id = useId();
  return html`<div class="ed-field">
    <label for=${id}>Model</label>
    <input id=${id} value=${model} placeholder=${judges.join(", ") || "none"} onChange=${(event) => onModel(event.target.value)} />
  </div>`;
}

function TypedOutput({ text, onText }) {
  const id = useId();
  return html`<div class="ed-field">
    <label for=${id}>Output to judge</label>
    <textarea id=${id} rows="4" value=${text} onInput=${(event) => onText(event.target.value)} />
  </div>`;
}

function Prompt({ request, isOpen }) {
  const repeat = request.repeat ? `, repeat ${request.repeat + 1}` : "";
  return html`
    <details open=${isOpen}>
      <summary><strong>${request.criterion ?? "all criteria"}</strong>${repeat}: ${request.tokens}, ${request.price}</summary>
      <p class="note">${request.judge}; tokens counted by ${request.token_source}</p>
      ${request.messages.map((message) => html`
        <h3>${message.role}</h3>
        <pre class="ed-prompt" dir="auto">${message.content}</pre>`)}
    </details>`;
}

function Trial({ body, preview, isCurrent, isReadOnly }) {
  const [step, setStep] = useState("ready");
  const [result, setResult] = useState(null);
  const [error, setError] = useState("");
  // What was tried, or was to be confirmed, is not what is shown any more.
  useEffect(() => {
    setStep("ready");
    setResult(null);
    setError("");
  }, [preview.calls_key]);
  const attempt = async () => {
    setStep("running");
    setError("");
    try {
      const found = await postJson("/api/edit/preview", { ...body, calls_key: preview.calls_key });
      if (found.error) setError(found.error);
      else setResult(found);
    } catch (failure) {
      setError(failure.message);
    }
    setStep("ready");
  };
  const price = useRef(null);
  useEffect(() => {
    if (step === "confirm") price.current.focus();
  }, [step]);
  const isFree = preview.n_calls === 0 || preview.price.includes("not recorded");
  if (isReadOnly) return html`<p><strong>${preview.price}</strong></p>`;
  return html`
    <div class="ed-trial">
      <p><strong>${preview.price}</strong></p>
      ${preview.refusal && html`<p class="note">${preview.refusal}</p>`}
      <p><button disabled=${Boolean(preview.refusal) || !isCurrent || step === "running"} aria-expanded=${isFree ? null : String(step === "confirm")}
        onClick=${() => (isFree ? attempt() : setStep("confirm"))}>${step === "running" ? "Judging …" : isFree ? "Try: free" : "Try …"}</button></p>
      ${step === "confirm" && html`
        <div class="ed-price" role="group" aria-label="Confirm the price" tabindex="-1" ref=${price}>
          <p>This makes ${preview.price}.</p>
          <button class="ed-confirm" onClick=${attempt}>Confirm and judge</button>${" "}
          <button onClick=${() => setStep("ready")}>Cancel</button>
        </div>`}
      <div role="status">${error && html`<p class="error">${error}</p>`}${result && html`<${Result} result=${result} />`}</div>
    </div>`;
}

function Result({ result }) {
  return html`
    <p class=${`conclusion ${result.tone}`}>${result.conclusion}</p>
    ${result.notes.map((note) => html`<p class="error">${note}</p>`)}
    ${result.judgments.map((one) => html`
      <section class="ed-judgment">
        <h3>${one.criterion}: ${one.raw} <span class="note">${[`value ${one.value}`, ...one.facts].join(", ")}</span></h3>
        <p class="note">${one.judge}</p>
        <p dir="auto">${one.rationale}</p>
        ${one.evidence.map((each) => html`<blockquote dir="auto">${each.quote}${!each.match && html` <span class="fail">! not in the output</span>`}</blockquote>`)}
      </section>`)}`;
}
