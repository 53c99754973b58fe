// The trace of an output as a timeline: what happened, in order, with durations where they are known.
import { html } from "./html.js";
import { Passage, visible } from "./evidence.js";

const SHORT = 400;

function Part({ title, text, mono }) {
  const passage = html`<${Passage} text=${text} mono=${mono} label=${title || "content"} />`;
  if (text.length <= SHORT) return html`${title && html`<div class="part">${visible(title)}</div>`}${passage}`;
  return html`<details><summary>${visible(title) || "content"}, ${text.length.toLocaleString("en")} characters</summary>${passage}</details>`;
}

export function Timeline({ trace }) {
  const longest = Math.max(0, ...trace.map((event) => event.ms ?? 0));
  const share = (event) => (bar) => bar && (bar.style.width = `${Math.max(1, (100 * event.ms) / longest)}%`);
  return html`<ol class="timeline">
    ${trace.map((event) => html`<li class=${event.is_error ? "is-error" : null}>
      <div class="event"><span class="type">${event.is_error ? "! " : ""}${visible(event.type)}</span>
        ${event.name && html`<strong><bdi>${visible(event.name)}</bdi></strong>`}
        ${event.took && html`<span class="took">${event.took}</span>`}
      </div>
      ${event.ms !== null && longest > 0 && html`<div class="track" aria-hidden="true"><div ref=${share(event)}></div></div>`}
      ${event.parts.map((part) => html`<${Part} ...${part} />`)}
    </li>`)}
  </ol>`;
}
