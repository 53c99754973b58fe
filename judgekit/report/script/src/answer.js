// One answer of a run in full: the output with its evidence, and everything that was decided about it.
import { html } from "./html.js";
import { Passage, visible } from "./evidence.js";
import { Badge, Facts, Opinion } from "./opinion.js";

function Criterion({ group, exchanges, question, view }) {
  return html`<section class=${`criterion ${group.tone}-edge`}>
    <h4><bdi>${visible(group.title)}</bdi> ${group.result && html`<${Badge} tone=${group.tone}>${group.result}<//>`}</h4>
    <${Facts} facts=${group.facts} />
    ${question && html`<p class="question" dir="auto">${visible(question)}</p>`}
    ${group.rows.map((row) => html`<${Opinion} row=${row} exchanges=${exchanges} view=${view} />`)}
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
      ? html`<${Passage} text=${answer.output} images=${answer.images} mono=${answer.mono} marks=${answer.marks} at=${view.quote} onPick=${view.pick} label="output" />`
      : answer.error === null && html`<p class="note">${answer.is_verdict_only ? "The file holds verdicts only, and no outputs." : "The output is empty."}</p>`}
    ${answer.steps && html`<h3>steps, as the judge was shown them</h3>
      <${Passage} text=${answer.steps.text} marks=${answer.steps.marks} at=${view.quote} onPick=${view.pick} label="steps" />`}`;
}

/** What was decided about an answer: criteria, assertions and scores. */
export function Decisions({ answer, questions, view }) {
  const groups = answer.opinions;
  return html`
    ${answer.checks.length > 0 && html`<h3>assertions</h3><ul class="checks">${answer.checks.map((check) => html`<${Check} check=${check} />`)}</ul>`}
    ${groups.length > 0 && html`<h3>judgments</h3>${groups.map((group) =>
      html`<${Criterion} key=${group.title} group=${group} exchanges=${answer.exchanges} question=${questions[group.title]} view=${view} />`)}`}
    ${answer.scores.length > 0 && html`<h3>scores</h3><table class="scores"><tbody>${answer.scores.map((score) => html`<tr>
      <th scope="row"><bdi>${visible(score.name)}</bdi></th><td class="number">${score.value}</td><td dir="auto">${visible(score.text)}</td></tr>`)}</tbody></table>`}
    ${answer.checks.length + groups.length + answer.scores.length === 0 && html`<p class="note">Nothing was checked or judged.</p>`}`;
}
