// The cases of a result: filters, grid and drawer over one state, which the address holds.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { html } from "./html.js";
import { useAddress } from "./state.js";
import { useSearch, useSelection } from "./selection.js";
import { FilterBar } from "./filters.js";
import { CaseGrid } from "./grid.js";
import { Drawer } from "./drawer.js";
import { Help, useKeys, useSingleKeys } from "./keys.js";

const SHORTCUTS = [
  ["?", "this list"],
  ["/", "search"],
  ["j k", "next, previous row"],
  ["← →", "variant"],
  ["Enter", "open the case"],
  ["1 … 5", "filters: all, then as listed"],
  ["Esc", "close"],
  ["[ ]", "in a case: previous, next case"],
  ["e", "in a case: next piece of evidence"],
  ["r", "in a case: reference"],
  ["p", "in a case: prompt and reply of the judge"],
  ["c", "in a case: copy a link to it"],
];

export function Cases({ index }) {
  const [state, change] = useAddress();
  const search = useSearch(index, state.q);
  const selection = useSelection(index, state, search.hits);
  const { rows } = selection;
  const places = useMemo(() => new Map(index.ids.map((id, row) => [id, row])), [index]);
  const opened = state.case === undefined ? undefined : places.get(state.case);
  const [active, setActive] = useState(-1);
  const [column, setColumn] = useState(-1);
  const [isHelpOpen, openHelp] = useState(false);
  const [areKeysOn, setKeysOn] = useSingleKeys();
  const searchBox = useRef(null);
  const focusing = useRef(false);

  const moveTo = (place) => {
    if (rows.length === 0) return;
    focusing.current = true;
    setActive(Math.min(rows.length - 1, Math.max(0, place)));
  };
  const open = (row, variant) =>
    change({ case: index.ids[row], answer: variant ?? index.columns[column] ?? "", with: "" }, { push: true });
  const close = () => {
    // Back where the case was opened from; a page that was opened by a link has no such step.
    if (history.state?.pushed) history.back();
    else change({ case: "", answer: "", with: "" });
  };
  const moveCase = (by) => {
    const at = rows.indexOf(opened);
    const next = rows[at < 0 ? 0 : at + by];
    if (next !== undefined) change({ case: index.ids[next], with: "" });
  };
  // Who closes a case goes on at its row.
  const before = useRef(opened);
  useEffect(() => {
    if (before.current !== undefined && opened === undefined) moveTo(rows.indexOf(before.current));
    before.current = opened;
  }, [opened]);
  // A row that went out of the selection cannot be the one that is worked on.
  useEffect(() => setActive((at) => Math.min(at, rows.length - 1)), [rows]);

  const filter = (key) => () => change({ state: key }, { push: true });
  const turn = (by) => () => {
    if (active < 0) return false;
    const n = index.columns.length;
    setColumn((at) => (at + by + n + (at < 0 && by < 0 ? 1 : 0)) % n);
    return true;
  };
  const isGrid = opened === undefined && !isHelpOpen;
  useKeys(
    {
      "?": () => openHelp(true),
      "/": () => searchBox.current.focus(),
      j: () => moveTo(active + 1),
      k: () => moveTo(active - 1),
      1: filter(""),
      ...Object.fromEntries(index.filters.slice(0, 8).map((one, n) => [n + 2, filter(one.key)])),
    },
    isGrid && areKeysOn,
  );
  // Arrows are no characters: they work with single keys switched off, too, on a row.
  const isOnRow = () => document.activeElement?.closest?.("tr[data-row]") !== null;
  useKeys(
    {
      ArrowDown: () => isOnRow() && (moveTo(active + 1), true),
      ArrowUp: () => isOnRow() && (moveTo(active - 1), true),
      ArrowLeft: () => isOnRow() && turn(-1)(),
      ArrowRight: () => isOnRow() && turn(1)(),
      Enter: () => document.activeElement?.matches?.("tr[data-row] a") && (open(rows[active]), true),
    },
    isGrid,
  );

  return html`
    <p class="legend note">${index.states.map(({ label, sign, tone }) => html`<span><span class=${tone} aria-hidden="true">${sign}</span> ${label}</span>`)}</p>
    <${FilterBar} index=${index} state=${state} change=${change} selection=${selection} search=${search}
      searchBox=${searchBox} onHelp=${() => openHelp(true)} />
    ${state.case !== undefined && opened === undefined && html`<p class="fail" role="alert">There is no case “${state.case}” on this page.</p>`}
    <${CaseGrid} index=${index} rows=${rows} state=${state} change=${change} active=${active} setActive=${setActive}
      column=${column} openRow=${open} focusing=${focusing} />
    ${opened !== undefined && html`<${Drawer} index=${index} place=${opened} rows=${rows} state=${state} change=${change}
      onClose=${close} onMove=${moveCase} areKeysOn=${areKeysOn && !isHelpOpen} onHelp=${() => openHelp(true)} />`}
    ${isHelpOpen && html`<${Help} rows=${SHORTCUTS} isOn=${areKeysOn} setOn=${setKeysOn} onClose=${() => openHelp(false)} />`}
  `;
}
