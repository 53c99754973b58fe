// A case of the pages that set things beside each other: two outputs and the words that differ,
// judges beside annotators, a judge before and now. `index.kind` says which page it is.
import { useRef, useState } from "preact/hooks";
import { html } from "./html.js";
import { WordDiff } from "./diff.js";
import { Passage, visible } from "./evidence.js";
import { useKeys } from "./keys.js";
import { Facts, Opinion } from "./opinion.js";

const KINDS = new Set(["sides", "comparison", "ranking", "items", "changes"]);

/** Whether the cases of a page are shown by `PairBody`. */
export const isPairKind = (kind) => KINDS.has(kind);

function Output({ output, place, view }) {
  return html`
    <section class="side" data-answer=${place}>
      <h4><bdi>${visible(output.name)}</bdi></h4>
      <${Facts} facts=${output.facts} />
      ${output.error && html`<p class="error">${visible(output.error)}</p>`}
      ${output.output && html`<${Passage} text=${output.output} images=${output.images} mono=${output.mono} marks=${output.marks} at=${view.quote} onPick=${view.pick} label=${output.name} />`}
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

function Outputs({ outputs, viewOf, areKeysOn }) {
  const [[left, right], pick] = useState(firstPair(outputs));
  const [asDiff, setDiff] = useState(false);
  const place = useRef(null);
  const swap = () => pick(([a, b]) => [b, a]);

  // `n` and `N` go through the changes, `s` swaps the sides, `d` shows the words that differ.
  useKeys({
    s: swap,
    d: () => setDiff((shown) => !shown),
    n: () => nextChange(place.current, 1),
    N: () => nextChange(place.current, -1),
  }, areKeysOn);

  if (outputs.length === 0) return html`<p class="note">The output is not known here.</p>`;
  if (outputs.length === 1) return html`<${Output} output=${outputs[0]} place=${0} view=${viewOf(0)} />`;
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
        : html`<div class="pair-columns"><${Output} output=${a} place=${left} view=${viewOf(left)} key=${left} /><${Output} output=${b} place=${right} view=${viewOf(right)} key=${`right-${right}`} /></div>`}
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

function Point({ point }) {
  return html`<li><span dir="auto">${point.text}</span>
    ${point.quote && html` <q dir="auto">${point.quote}</q>`}
    ${point.after && html`<${WordDiff} a=${point.before} b=${point.after} />`}</li>`;
}

/** What judges and assertions say of the answers of two runs, each below its own title. */
function byTitle(answers) {
  const groups = new Map();
  const add = (title, one) => groups.set(title, [...(groups.get(title) ?? []), one]);
  for (const [place, answer] of answers.entries()) {
    for (const group of answer.opinions) {
      for (const row of group.rows) {
        const tone = row.tone === "error" ? row.tone : group.tone;
        add(group.title, { row: { ...row, who: answer.name, tone }, exchanges: answer.exchanges, place });
      }
    }
    for (const one of answer.checks) {
      const facts = one.actual === null ? [] : [one.actual];
      add(one.type, { row: { who: answer.name, score: one.word, tone: one.tone, facts, rationale: one.message, quotes: [] }, place });
    }
  }
  return [...groups].map(([title, rows]) => ({ title, result: "", rows }));
}

/** A case of a page that sets things beside each other. */
export function PairBody({ index, row, body, areKeysOn = true }) {
  const [at, setAt] = useState({});
  const [isPromptOpen, openPrompt] = useState(false);
  useKeys({ p: () => openPrompt((isOpen) => !isOpen) }, areKeysOn);
  const groups = row.opinions
    ? row.opinions.map((group) => ({ ...group, rows: group.rows.map((one) => ({ row: one, exchanges: row.exchanges })) }))
    : byTitle(row.answers);
  // Quotes are numbered for the whole case; those of two runs for each answer.
  const own = (place) => (row.opinions ? undefined : place);
  const viewOf = (place) => ({
    quote: at.place === own(place) ? at.no : null,
    marked: (row.opinions ? row.answers : [row.answers[place]]).flatMap((one) => one.marks.map((mark) => mark.no)),
    pick: (no) => {
      setAt({ place: own(place), no });
      const output = row.opinions ? "" : `[data-answer="${place}"] `;
      body.current.querySelector(`${output}mark[data-quotes~="${no}"]`)?.scrollIntoView({ block: "nearest" });
    },
    isPromptOpen,
    omitted: index.omitted.replies,
  });
  return html`
    <div class="pair-body">
      ${row.texts.map((text) => html`
        <details open=${text.title === "input"}><summary>${text.title}</summary><${Passage} text=${text.text} images=${text.images} mono=${text.mono} label=${text.title} /></details>`)}
      <h3>${row.answers.length > 1 ? "Outputs" : "Output"}</h3>
      <${Outputs} outputs=${row.answers} viewOf=${viewOf} areKeysOn=${areKeysOn} key=${row.id} />
      ${groups.length > 0 && html`<h3>Judgments</h3>`}
      ${groups.map((group) => html`
        <section class="group">
          <h4><bdi>${visible(group.title)}</bdi></h4>
          ${group.result && html`<p class="result">${visible(group.result)}</p>`}
          <div class="pair-columns">${group.rows.map((one) => html`<${Opinion} row=${one.row} exchanges=${one.exchanges} view=${viewOf(one.place)} />`)}</div>
        </section>`)}
      ${(row.points ?? []).map((group) => html`
        <h3>${visible(group.title)}</h3>
        <ul>${group.points.map((point) => html`<${Point} point=${point} />`)}</ul>`)}
    </div>`;
}
