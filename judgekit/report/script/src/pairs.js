// A case of the pages that set things beside each other: two outputs and the words that differ,
// judges beside annotators, a judge before and now. `index.kind` says which page it is.
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "./html.js";
import { WordDiff } from "./diff.js";
import { Passage } from "./evidence.js";

const KINDS = new Set(["sides", "comparison", "ranking", "items", "changes"]);

/** Whether the cases of a page are shown by `PairBody`. */
export const isPairKind = (kind) => KINDS.has(kind);

function Facts({ facts }) {
  return facts?.length > 0 && html`<p class="note">${facts.join(" · ")}</p>`;
}

function Output({ output }) {
  return html`
    <section class="side">
      <h4><bdi>${output.name}</bdi></h4>
      <${Facts} facts=${output.facts} />
      ${output.error && html`<p class="error">${output.error}</p>`}
      ${output.output && html`<${Passage} text=${output.output} marks=${output.marks} label=${output.name} />`}
      ${!output.output && !output.error && html`<p class="note">The output is empty.</p>`}
    </section>`;
}

function Choice({ label, outputs, value, onPick }) {
  return html`<label>${label} <select value=${value} onChange=${(event) => onPick(Number(event.target.value))}>
    ${outputs.map((output, n) => html`<option value=${n} selected=${n === value}>${output.name}</option>`)}
  </select></label>`;
}

// The first output, and the first one of another column beside it.
function firstPair(outputs) {
  const other = outputs.findIndex((output) => output.column !== outputs[0].column);
  return [0, other < 0 ? Math.min(1, outputs.length - 1) : other];
}

function isTyping(target) {
  return target.closest?.("input, textarea, select, [contenteditable]");
}

function Outputs({ outputs, areKeysOn }) {
  const [[left, right], pick] = useState(firstPair(outputs));
  const [asDiff, setDiff] = useState(false);
  const place = useRef(null);
  const swap = () => pick(([a, b]) => [b, a]);

  useEffect(() => {
    if (!areKeysOn) return undefined;
    // `n` and `N` go through the changes, `s` swaps the sides, `d` shows the words that differ.
    const onKey = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === "s") swap();
      else if (event.key === "d") setDiff((shown) => !shown);
      else if (event.key === "n" || event.key === "N") nextChange(place.current, event.key === "n" ? 1 : -1);
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [areKeysOn]);

  if (outputs.length === 0) return html`<p class="note">The output is not known here.</p>`;
  if (outputs.length === 1) return html`<${Output} output=${outputs[0]} />`;
  const [a, b] = [outputs[left], outputs[right]];
  return html`
    <div class="pair" ref=${place}>
      <div class="pair-tools">
        ${outputs.length > 2 && html`
          <${Choice} label="Left" outputs=${outputs} value=${left} onPick=${(n) => pick([n, right])} />
          <${Choice} label="Right" outputs=${outputs} value=${right} onPick=${(n) => pick([left, n])} />`}
        <button type="button" aria-pressed=${asDiff} aria-keyshortcuts="d" onClick=${() => setDiff(!asDiff)}>Word diff</button>
        <button type="button" aria-keyshortcuts="s" onClick=${swap}>Swap sides</button>
      </div>
      ${asDiff
        ? html`<h4>From <bdi>${a.name}</bdi> to <bdi>${b.name}</bdi></h4><${WordDiff} a=${a.output} b=${b.output} />`
        : html`<div class="pair-columns"><${Output} output=${a} key=${left} /><${Output} output=${b} key=${`right-${right}`} /></div>`}
    </div>`;
}

/** Moves the focus to the next change of a diff, or the one before it. */
function nextChange(place, step) {
  const changes = [...(place?.querySelectorAll("ins, del") ?? [])];
  if (changes.length === 0) return;
  const now = changes.findIndex((change) => change.classList.contains("current"));
  const next = changes[(now + step + changes.length) % changes.length];
  changes[now]?.classList.remove("current");
  next.classList.add("current");
  next.tabIndex = -1;
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

function Quote({ quote }) {
  const where = quote.of ? `output ${quote.of}` : "the output";
  const found = { exact: "", normalized: "", fuzzy: "similar passage" }[quote.match] ?? `not in ${where}`;
  return html`<li><q dir="auto">${quote.text}</q> <sup>${quote.no}</sup> <span class="note">${
    [quote.of && quote.match ? where : "", quote.match ? found : `not in ${where}`].filter(Boolean).join(", ")
  }</span></li>`;
}

function Opinion({ row }) {
  return html`
    <div class="opinion">
      <p><bdi>${row.who}</bdi>: <strong class=${row.tone}>${row.score}</strong></p>
      <${Facts} facts=${row.facts} />
      ${row.rationale ? html`<p class="rationale" dir="auto">${row.rationale}</p>` : html`<p class="note">no reason</p>`}
      ${row.quotes.length > 0 && html`<ul class="pair-quotes">${row.quotes.map((quote) => html`<${Quote} quote=${quote} />`)}</ul>`}
    </div>`;
}

function Point({ point }) {
  return html`<li><span dir="auto">${point.text}</span>
    ${point.quote && html` <q dir="auto">${point.quote}</q>`}
    ${point.after && html`<${WordDiff} a=${point.before} b=${point.after} />`}</li>`;
}

/** What judges and assertions say of the answers of two runs, each below its own title. */
function judgedByTitle(answers) {
  const groups = new Map();
  const add = (title, row) => groups.set(title, [...(groups.get(title) ?? []), row]);
  for (const answer of answers) {
    for (const one of answer.judgments ?? []) {
      const facts = [one.judge, ...one.facts];
      add(one.criterion, { ...one, who: answer.name, facts });
    }
    for (const one of answer.failures ?? []) {
      const said = { score: one.kind, tone: "inconclusive", rationale: one.message };
      add(one.criterion, { ...said, who: answer.name, facts: [one.judge], quotes: [] });
    }
    for (const one of answer.checks ?? []) {
      const facts = one.actual === null ? [] : [one.actual];
      add(one.type, { who: answer.name, score: one.word, tone: one.tone, facts, rationale: one.message, quotes: [] });
    }
  }
  return [...groups].map(([title, rows]) => ({ title, rows }));
}

/** A case of a page that sets things beside each other. */
export function PairBody({ row, areKeysOn = true }) {
  const groups = row.opinions ?? judgedByTitle(row.answers);
  return html`
    <div class="pair-body">
      ${row.texts.map((text) => html`
        <details open=${text.title === "input"}><summary>${text.title}</summary><${Passage} text=${text.text} mono=${text.mono} label=${text.title} /></details>`)}
      <h3>${row.answers.length > 1 ? "Outputs" : "Output"}</h3>
      <${Outputs} outputs=${row.answers} areKeysOn=${areKeysOn} key=${row.id} />
      ${groups.length > 0 && html`<h3>Judgments</h3>`}
      ${groups.map((group) => html`
        <section class="group">
          <h4><bdi>${group.title}</bdi></h4>
          ${group.result && html`<p class="result">${group.result}</p>`}
          <div class="pair-columns">${group.rows.map((one) => html`<${Opinion} row=${one} />`)}</div>
        </section>`)}
      ${(row.points ?? []).map((group) => html`
        <h3>${group.title}</h3>
        <ul>${group.points.map((point) => html`<${Point} point=${point} />`)}</ul>`)}
    </div>`;
}
