// What judges and annotators say of a criterion: the same rows on every page that has cases.
import { html } from "./html.js";
import { Passage, visible } from "./evidence.js";

const SIGNS = { pass: "✓", fail: "✗", inconclusive: "?", error: "!" };

export function Badge({ tone, children }) {
  return html`<span class=${`badge ${tone}-fill`}><span class=${tone} aria-hidden="true">${SIGNS[tone] ?? ""}</span> ${children}</span>`;
}

export function Facts({ facts }) {
  return facts.length > 0 && html`<p class="facts">${facts.map((fact, n) => html`${n > 0 && " · "}<bdi>${visible(fact)}</bdi>`)}</p>`;
}

function Quote({ quote, isAt, isMarked, onPick }) {
  const output = quote.of ? html`output <bdi>${visible(quote.of)}</bdi>` : "the output";
  const place = quote.match === null ? html`<span class="fail">not found in ${output}</span>`
    : html`<span class="note">${quote.of && output}${quote.match === "exact" ? "" : " found but for white space"}</span>`;
  return html`<li class=${isAt ? "at" : null} data-quote=${quote.no}>
    ${isMarked
      ? html`<button type="button" class="number" onClick=${() => onPick(quote.no)} title="Show it in the output">
          <span class="hidden">quote </span>${quote.no}</button>`
      : html`<span class="number" aria-hidden="true">${quote.no}</span>`}
    <q dir="auto">${visible(quote.text)}</q> ${place}</li>`;
}

function Exchange({ exchange, omitted, isOpen }) {
  if (!exchange) return omitted && html`<details class="exchange" open=${isOpen}><summary>Prompt and reply</summary><p class="note">${omitted}</p></details>`;
  return html`<details class="exchange" open=${isOpen}>
    <summary>Prompt and reply</summary>
    ${exchange.note && html`<p class="note">${exchange.note}</p>`}
    ${exchange.messages.map((one) => html`<h5>${one.role}</h5><${Passage} text=${one.text} label=${one.role} />`)}
    ${exchange.reply !== null && html`<h5>reply</h5><${Passage} text=${exchange.reply} mono label="reply" />`}
  </details>`;
}

/** One row; `view` has the quote that is looked at, those marked in a text, and whether prompts are open. */
export function Opinion({ row, exchanges = [], view }) {
  const score = row.tone === "error" ? html`<${Badge} tone="error">${row.score}<//>` : html`<strong class=${row.tone}>${visible(row.score)}</strong>`;
  return html`<div class="opinion">
    <p>${row.who && html`<span class="who"><bdi>${visible(row.who)}</bdi>:</span> `}${score}${row.value && html`<span class="dim"> → ${row.value}</span>`}</p>
    <${Facts} facts=${row.facts} />
    ${row.rationale ? html`<p class="rationale" dir="auto">${visible(row.rationale)}</p>` : html`<p class="note">no reason</p>`}
    ${row.quotes.length > 0 && html`<ol class="quotes">${row.quotes.map((quote) =>
      html`<${Quote} key=${quote.no} quote=${quote} isAt=${view.quote === quote.no} isMarked=${view.marked.includes(quote.no)} onPick=${view.pick} />`)}</ol>`}
    ${row.reply && html`<details><summary>What the judge wrote</summary><${Passage} text=${row.reply} mono label="reply" /></details>`}
    <${Exchange} exchange=${exchanges[row.exchange]} omitted=${view.omitted} isOpen=${view.isPromptOpen} />
  </div>`;
}

