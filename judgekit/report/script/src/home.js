// The start page: two ticked rows lead to their page side by side.
import { render } from "preact";
import { useState } from "preact/hooks";
import { html } from "./html.js";

const SIDES = 2;

function address([a, b]) {
  return `/diff?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`;
}

function Chosen({ boxes }) {
  const [chosen, choose] = useState([]);
  for (const box of boxes) {
    box.checked = chosen.includes(box.value);
    box.onchange = () => {
      const others = chosen.filter((side) => side !== box.value);
      // A third tick takes the place of the first.
      choose(box.checked ? [...others.slice(1 - SIDES), box.value] : others);
    };
  }
  const missing = SIDES - chosen.length;
  return html`
    <div class="chosen">
      ${missing === 0
        ? html`<a class="button" href=${address(chosen)}>Side by side</a>`
        : html`<button type="button" disabled>Side by side</button>`}
      ${chosen.length > 0 && html`
        <button type="button" onClick=${() => choose([])}>Clear</button>`}
      <span role="status">${
        missing === SIDES ? "Tick two rows to see them side by side."
          : missing ? `${chosen[0]}; tick one more row.`
            : `${chosen[0]} and ${chosen[1]}`}</span>
    </div>
  `;
}

export function startHome() {
  const cells = [...document.querySelectorAll("[data-choice]")];
  if (cells.length < SIDES) return;
  const boxes = cells.map((cell) => {
    const box = document.createElement("input");
    box.type = "checkbox";
    box.value = cell.dataset.choice;
    box.setAttribute("aria-label", `Side by side: ${cell.dataset.choice}`);
    // A label around it makes a target that a finger hits.
    const label = document.createElement("label");
    label.className = "tick";
    label.append(box);
    cell.prepend(label);
    return box;
  });
  const place = document.createElement("div");
  cells[0].closest(".wide").before(place);
  render(html`<${Chosen} boxes=${boxes} />`, place);
}
