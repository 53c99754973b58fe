// The grid of cases: a table of which only the rows in view are in the document.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { twoDecimals } from "./data.js";
import { html } from "./html.js";
import { fragment, useMedia } from "./state.js";

const ROW = 34;
const CARD = 108;
const SPARE = 8;

/** How strongly a cell is filled, from its value: 1 to 4. */
function strength(tone, value) {
  if (value === null) return 2;
  const distance = tone === "fail" ? 1 - value : Math.abs(value);
  return 1 + Math.min(3, Math.max(0, Math.floor(distance * 4)));
}

function Cell({ index, column, row, isAt, tag = "td" }) {
  const cell = index.cells[column];
  const place = cell.state[row];
  const name = index.columns[column];
  const role = tag === "td" ? "cell" : null;
  if (place === null) return tag === "td" && html`<td role="cell" class=${isAt ? "cell at" : "cell"} data-column=${column}></td>`;
  const { label, sign, tone } = index.states[place];
  const value = cell.value[row];
  const text = cell.text[row] || (value === null ? "" : twoDecimals(value));
  return html`<${tag} role=${role} class=${`cell ${tone}-fill s${strength(tone, value)}${isAt ? " at" : ""}`}
    data-column=${column} title=${`${name}: ${label}`}>
    ${tag !== "td" && html`<bdi class="name">${name}</bdi> `}
    <span class=${`sign ${tone}`} aria-hidden="true">${sign}</span> ${text || html`<span class="word">${label}</span>`}
    ${text && html`<span class="hidden">, ${label}</span>`}
  <//>`;
}

function SortHead({ name, sortKey, state, change, className }) {
  const isUp = state.sort === sortKey;
  const isDown = state.sort === `-${sortKey}`;
  const next = isUp ? `-${sortKey}` : isDown ? "" : sortKey;
  return html`<th scope="col" role="columnheader" class=${className} aria-sort=${isUp ? "ascending" : isDown ? "descending" : null}>
    <button type="button" class="sort" title=${`Sort by ${name}`} onClick=${() => change({ sort: next }, { push: true })}>
      <bdi>${name}</bdi><span aria-hidden="true">${isUp ? " ▲" : isDown ? " ▼" : ""}</span>
    </button>
  </th>`;
}

export function CaseGrid({ index, rows, state, change, active, setActive, column, openRow, focusing }) {
  const box = useRef(null);
  // A row that gets the focus is the active one; but keys may be a row ahead of the focus they move.
  const isMoved = useRef(false);
  const isPhone = useMedia("(max-width: 44rem)");
  const rowHeight = isPhone ? CARD : ROW;
  const [view, setView] = useState({ top: 0, height: 800 });
  const read = () => {
    const { scrollTop, clientHeight } = box.current;
    // Only whole rows matter: a pixel more or less would draw the same.
    const top = Math.floor(scrollTop / rowHeight) * rowHeight;
    setView((was) => (was.top === top && was.height === clientHeight ? was : { top, height: clientHeight }));
  };
  useLayoutEffect(() => {
    read();
    const observer = new ResizeObserver(read);
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [rowHeight, rows.length]);
  // Other cases are shown: the first of them must be in view.
  useLayoutEffect(() => {
    box.current.scrollTop = 0;
  }, [state.state, state.variant, state.tag, state.stratum, state.q, state.sort]);
  useLayoutEffect(() => {
    if (active < 0) return;
    const { scrollTop, clientHeight } = box.current;
    const place = active * rowHeight;
    if (place < scrollTop) box.current.scrollTop = place;
    else if (place + 2 * rowHeight > scrollTop + clientHeight) box.current.scrollTop = place + 2 * rowHeight - clientHeight;
    read();
  }, [active, rowHeight]);
  const first = Math.max(0, Math.floor(view.top / rowHeight) - SPARE);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / rowHeight) + SPARE);
  useEffect(() => {
    if (focusing.current === active && active >= first && active < last) {
      focusing.current = -1;
      const row = box.current.querySelector(`[data-place="${active}"]`);
      isMoved.current = true;
      row.querySelector("a").focus({ preventScroll: true });
      isMoved.current = false;
      // The box may itself be out of the window.
      row.scrollIntoView({ block: "nearest" });
    }
  });
  const hasTags = index.tags.some((tags) => tags.length > 0) || index.strata.some((one) => one !== null);
  const marks = (row) => [index.strata[row], ...index.tags[row]].filter(Boolean);
  const nColumns = 2 + (hasTags ? 1 : 0) + index.columns.length;
  const spacer = (n) => html`<tr role="presentation" class="spacer" aria-hidden="true">
    <td role="presentation" colspan=${nColumns} ref=${(cell) => cell && (cell.style.height = `${n * rowHeight}px`)}></td></tr>`;
  const width = (table) => {
    if (table) table.style.minWidth = isPhone ? "" : `${(hasTags ? 540 : 420) + 108 * index.columns.length}px`;
  };
  const onClick = (event) => {
    const row = event.target.closest("tr[data-row]");
    // A link opened in a new tab stays the browser's; a selection of text is no click.
    if (!row || event.ctrlKey || event.metaKey || event.shiftKey || !getSelection().isCollapsed) return;
    event.preventDefault();
    const chosen = event.target.closest("[data-column]")?.dataset.column;
    setActive(Number(row.dataset.place));
    openRow(Number(row.dataset.row), chosen === undefined ? undefined : index.columns[chosen]);
  };
  // A few variants with long names have room to show them.
  const isFew = index.columns.length <= 4 && index.columns.some((name) => name.length > 12);
  return html`<div class=${isFew ? "grid few" : "grid"} ref=${box} onScroll=${read}>
    <table role="table" aria-label="Cases" aria-rowcount=${rows.length + 1} ref=${width} onClick=${onClick}>
      <colgroup><col class="c-id" /><col />${hasTags && html`<col class="c-tags" />`}
        ${index.columns.map(() => html`<col class="c-value" />`)}</colgroup>
      <thead role="rowgroup"><tr role="row" aria-rowindex="1">
        <${SortHead} name="case" sortKey="case" state=${state} change=${change} />
        <th scope="col" role="columnheader">input</th>
        ${hasTags && html`<th scope="col" role="columnheader">tags</th>`}
        ${index.columns.map((name) => html`<${SortHead} key=${name} name=${name} sortKey=${`variant:${name}`} state=${state} change=${change} />`)}
      </tr></thead>
      <tbody role="rowgroup">
        ${first > 0 && spacer(first)}
        ${rows.slice(first, last).map((row, n) => {
          const place = first + n;
          const isActive = place === active;
          const values = (tag) => index.columns.map((name, at) =>
            html`<${Cell} key=${name} tag=${tag} index=${index} column=${at} row=${row} isAt=${isActive && at === column} />`);
          return html`<tr key=${row} role="row" data-row=${row} data-place=${place} aria-rowindex=${place + 2} class=${isActive ? "active" : null}>
            <th scope="row" role="rowheader" class="id"><a href=${fragment({ ...state, case: index.ids[row] })}
              tabindex=${isActive || (active < 0 && place === 0) ? 0 : -1}
              onFocus=${() => isMoved.current || setActive(place)}><bdi>${index.ids[row]}</bdi></a></th>
            <td role="cell" class="snippet" dir="auto">${index.snippets[row]}</td>
            ${hasTags && html`<td role="cell" class="tags" title=${marks(row).join(", ")}>${marks(row).map((tag) => html`<bdi class="tag">${tag}</bdi> `)}</td>`}
            ${isPhone ? html`<td role="cell" class="cells">${values("span")}</td>` : values("td")}
          </tr>`;
        })}
        ${last < rows.length && spacer(rows.length - last)}
      </tbody>
    </table>
    ${rows.length === 0 && html`<p class="empty">${index.n === 0 ? "There are no cases yet." : "No case matches. “Show all” removes the filters."}</p>`}
  </div>`;
}
