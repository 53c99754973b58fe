// One answer of a run in full: the output with its evidence, and everything that was decided about it.
import { html } from "./html.js";
import { Passage, visible } from "./evidence.js";

const SIGNS = { pass: "✓", fail: "✗", inconclusive: "?", error: "!" };

export function Badge({ tone, children }) {
  return html`<span class=${`badge ${tone}-fill`}><span class=${tone} aria-hidden="true">${SIGNS[tone] ?? ""}</span> ${children}</span>`;
}

export function Facts({ facts }) {
  return facts.length > 0 && html`<p class="facts">${facts.map((fact, n) => html`${n > 0 && " · "}<bdi>${visible(fact)}</bdi>`)}</p>`;
}

function Quote({ quote, isAt, onPick }) {
  const place = quote.match === null ? html`<span class="fail">not found in the output</span>`
    : quote.match === "exact" ? null : html`<span class="note">found but for white space</span>`;
  return html`<li class=${isAt ? "at" : null} data-quote=${quote.no}>
    ${quote.match === null
      ? html`<span class="number" aria-hidden="true">${quote.no}</span>`
      : html`<button type="button" class="number" onClick=${() => onPick(quote.no)} title="Show it in the output">
          <span class="hidden">quote </span>${quote.no}</button>`}
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

function Judgment({ judgment, exchange, view }) {
  return html`<div class="judgment">
    <p><strong>${judgment.score}</strong><span class="dim"> → ${judgment.value}</span> <span class="dim"><bdi>${visible(judgment.judge)}</bdi></span></p>
    <${Facts} facts=${judgment.facts} />
    <p class="rationale" dir="auto">${visible(judgment.rationale)}</p>
    ${judgment.quotes.length > 0 && html`<ol class="quotes">${judgment.quotes.map((quote) =>
      html`<${Quote} key=${quote.no} quote=${quote} isAt=${view.quote === quote.no} onPick=${view.pick} />`)}</ol>`}
    <${Exchange} exchange=${exchange} omitted=${view.omitted} isOpen=${view.isPromptOpen} />
  </div>`;
}

function Failure({ failure, exchange, view }) {
  return html`<div class="judgment">
    <p><${Badge} tone="error">no judgment: ${failure.kind}<//> <span class="dim"><bdi>${visible(failure.judge)}</bdi></span></p>
    <p class="rationale" dir="auto">${visible(failure.message)}</p>
    ${failure.reply && html`<details><summary>What the judge wrote</summary><${Passage} text=${failure.reply} mono label="reply" /></details>`}
    <${Exchange} exchange=${exchange} omitted=${view.omitted} isOpen=${view.isPromptOpen} />
  </div>`;
}

/** The criteria in the rubric's order; those of an old rubric, which has no verdict, come last. */
function byCriterion(answer) {
  const groups = new Map(answer.criteria.map((one) => [one.name, { ...one, judgments: [], failures: [] }]));
  const group = (name) => {
    if (!groups.has(name)) groups.set(name, { name, value: "", tone: "neutral", facts: [], judgments: [], failures: [] });
    return groups.get(name);
  };
  const exchange = (place) => answer.exchanges[answer.exchange_of[place]] ?? null;
  answer.judgments.forEach((one, n) => group(one.criterion).judgments.push([one, exchange(n)]));
  answer.failures.forEach((one, n) => group(one.criterion).failures.push([one, exchange(answer.judgments.length + n)]));
  return [...groups.values()];
}

function Criterion({ group, question, view }) {
  return html`<section class=${`criterion ${group.tone}-edge`}>
    <h4><bdi>${visible(group.name)}</bdi> ${group.value && html`<${Badge} tone=${group.tone}>${group.value}<//>`}</h4>
    <${Facts} facts=${group.facts} />
    ${question && html`<p class="question" dir="auto">${visible(question)}</p>`}
    ${group.judgments.map(([one, exchange]) => html`<${Judgment} judgment=${one} exchange=${exchange} view=${view} />`)}
    ${group.failures.map(([one, exchange]) => html`<${Failure} failure=${one} exchange=${exchange} view=${view} />`)}
  </section>`;
}

function Check({ check }) {
  return html`<li><${Badge} tone=${check.tone === "inconclusive" ? "error" : check.tone}>${check.word}<//> <strong>${visible(check.type)}</strong>
    <span dir="auto"> ${visible(check.message)}</span>
    ${check.actual !== null && html`<div class="dim">found <code>${visible(check.actual)}</code></div>`}
    ${check.parts.length > 0 && html`<ul class="checks">${check.parts.map((part) => html`<${Check} check=${part} />`)}</ul>`}
  </li>`;
}

/** The output of an answer, with the quotes marked in it. */
export function Output({ answer, view }) {
  return html`
    <h3>output</h3>
    ${answer.error !== null && html`<p class="no-output"><${Badge} tone="error">no output<//> <span dir="auto">${visible(answer.error)}</span></p>`}
    ${answer.output
      ? html`<${Passage} text=${answer.output} mono=${answer.mono} marks=${answer.marks} at=${view.quote} onPick=${view.pick} label="output" />`
      : answer.error === null && html`<p class="note">The output is empty.</p>`}
    ${answer.steps && html`<h3>steps, as the judge was shown them</h3>
      <${Passage} text=${answer.steps.text} marks=${answer.steps.marks} at=${view.quote} onPick=${view.pick} label="steps" />`}`;
}

/** What was decided about an answer: criteria, assertions and scores. */
export function Decisions({ answer, questions, view }) {
  const groups = byCriterion(answer);
  return html`
    ${answer.checks.length > 0 && html`<h3>assertions</h3><ul class="checks">${answer.checks.map((check) => html`<${Check} check=${check} />`)}</ul>`}
    ${groups.length > 0 && html`<h3>judgments</h3>${groups.map((group) =>
      html`<${Criterion} key=${group.name} group=${group} question=${questions[group.name]} view=${view} />`)}`}
    ${answer.scores.length > 0 && html`<h3>scores</h3><table class="scores"><tbody>${answer.scores.map((score) => html`<tr>
      <th scope="row"><bdi>${visible(score.name)}</bdi></th><td class="number">${score.value}</td><td dir="auto">${visible(score.text)}</td></tr>`)}</tbody></table>`}
    ${answer.checks.length + groups.length + answer.scores.length === 0 && html`<p class="note">Nothing was checked or judged.</p>`}`;
}
