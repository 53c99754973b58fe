import { useState } from "preact/hooks";
import { html } from "./html.js";
import { loadCase } from "./data.js";
import { PairBody, isPairKind } from "./pairs.js";

export function Cases({ index, title }) {
  const [opened, open] = useState(null);
  return html`
    <h2>${title}</h2>
    <div class="wide cases">
      <table>
        <tbody>
          ${index.order.slice(0, 100).map((row) => html`
            <tr data-row=${row} onClick=${async () => open(await loadCase(index, row))}>
              <th scope="row" class="id">${index.ids[row]}</th>
              <td>${index.snippets[row]}</td>
              ${index.cells.map((cell) => html`<td>${cell.value[row] ?? ""}</td>`)}
            </tr>`)}
        </tbody>
      </table>
    </div>
    ${opened && html`<div class="drawer">${
      isPairKind(index.kind) ? html`<${PairBody} row=${opened} />` : html`<pre>${JSON.stringify(opened, null, 1)}</pre>`
    }</div>`}
  `;
}
