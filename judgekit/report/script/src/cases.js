// The cases of a result: filters, grid and drawer over one state, which the address holds.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { html } from "./html.js";
import { readState, useAddress } from "./state.js";
import { useSearch, useSelection } from "./selection.js";
import { FilterBar } from "./filters.js";
import { CaseGrid } from "./grid.js";
import { Drawer } from "./drawer.js";
import { Help, useKeys, useSingleKeys } from "./keys.js";
import { isPairKind } from "./pairs.js";

const MOST_FILTER_KEYS = 8;
const KEYS_OF_A_RUN = [
  ["← →", "in a case: previous, next answer"],
  ["e", "in a case: next piece of evidence"],
  ["r", "in a case: reference"],
];
const KEYS_OF_PAIRS = [
  ["d", "in a case: the words that differ"],
  ["n N", "in a case: next, previous of these words"],
  ["s", "in a case: swap the sides"],
];

function shortcuts({ filters, kind }) {
  return [
    ["?", "this list"],
    ["/", "search; Enter goes to the first case found"],
    ["j k", "next, previous row"],
    ["← →", "column"],
    ["Enter", "open the case"],
    [`1 … ${1 + Math.min(MOST_FILTER_KEYS, filters.length)}`, "filters: all, then as listed"],
    ["Esc", "close"],
    ["[ ]", "in a case: previous, next case"],
    ...(isPairKind(kind) ? KEYS_OF_PAIRS : KEYS_OF_A_RUN),
    ["p", "in a case: prompt and reply of the judge"],
    ["c", "in a case: copy a link to it"],
  ];
}

export function Cases({ index }) {
  const [state, change] = useAddress();
  const search = useSearch(index, state.q);
  const selection = useSelection(index, state, search.hits);
  const { rows } = selection;
  const places = useMemo(() => new Map(index.ids.map((id, row) => [id, row])), [index]);
  const opened = state.case === undefined ? undefined : places.get(state.case);
  // An object, so that a row which is active already gets the focus again.
  const [{ active }, drawActive] = useState({ active: -1 });
  const [column, drawColumn] = useState(-1);
  // Keys come faster than frames: each begins where the one before ended.
  const at = useRef({ row: -1, column: -1 });
  const setActive = (place) => {
    at.current.row = place;
    drawActive({ active: place });
  };
  const [isHelpOpen, openHelp] = useState(false);
  const [areKeysOn, setKeysOn] = useSingleKeys();
  const searchBox = useRef(null);
  // A legend of signs that the grid does not have would only be in the way.
  const shown = useMemo(() => {
    const states = new Set(index.cells.flatMap((cell) => [...new Set(cell.state)]));
    return index.states.filter((_, n) => states.has(n));
  }, [index]);
  const focusing = useRef(-1);

  const moveTo = (place) => {
    if (rows.length === 0) return;
    const next = Math.min(rows.length - 1, Math.max(0, place));
    focusing.current = next;
    setActive(next);
  };
  const open = (row, variant) =>
    change({ case: index.ids[row], answer: variant ?? index.columns[at.current.column] ?? "", with: "" }, { push: true });
  const close = () => {
    // Back where the case was opened from; a page that was opened by a link has no such step.
    if (history.state?.pushed) history.back();
    else change({ case: "", answer: "", with: "" });
  };
  const moveCase = (by) => {
    const from = rows.indexOf(places.get(readState().case));
    const next = rows[from < 0 ? 0 : from + by];
    if (next !== undefined) change({ case: index.ids[next], with: "" });
  };
  // Who closes a case goes on at its row.
  const before = useRef(opened);
  useEffect(() => {
    if (before.current !== undefined && opened === undefined) moveTo(rows.indexOf(before.current));
    before.current = opened;
  }, [opened]);
  // A row that went out of the selection cannot be the one that is worked on.
  useEffect(() => setActive(Math.min(at.current.row, rows.length - 1)), [rows]);

  const filter = (key) => () => change({ state: key }, { push: true });
  const turn = (by) => () => {
    const n = index.columns.length;
    const from = at.current.column;
    at.current.column = from < 0 ? (by > 0 ? 0 : n - 1) : (from + by + n) % n;
    drawColumn(at.current.column);
    return true;
  };
  const isGrid = opened === undefined && !isHelpOpen;
  useKeys(
    {
      "?": () => openHelp(true),
      "/": () => searchBox.current.focus(),
      j: () => moveTo(at.current.row + 1),
      k: () => moveTo(at.current.row - 1),
      1: filter(""),
      ...Object.fromEntries(index.filters.slice(0, MOST_FILTER_KEYS).map((one, n) => [n + 2, filter(one.key)])),
    },
    isGrid && areKeysOn,
  );
  // Arrows are no characters: they work with single keys switched off, too, on a row.
  const isOnRow = () => document.activeElement?.closest?.("tr[data-row]") !== null;
  useKeys(
    {
      ArrowDown: () => isOnRow() && (moveTo(at.current.row + 1), true),
      ArrowUp: () => isOnRow() && (moveTo(at.current.row - 1), true),
      ArrowLeft: () => isOnRow() && turn(-1)(),
      ArrowRight: () => isOnRow() && turn(1)(),
      Enter: () => document.activeElement?.matches?.("tr[data-row] a") && (open(rows[at.current.row]), true),
    },
    isGrid,
  );

  return html`
    <p class="legend note">${shown.map(({ label, sign, tone }) => html`<span><span class=${tone} aria-hidden="true">${sign}</span> ${label}</span>`)}</p>
    <${FilterBar} index=${index} state=${state} change=${change} selection=${selection} search=${search}
      searchBox=${searchBox} onFound=${() => moveTo(0)} onHelp=${() => openHelp(true)} />
    ${state.case !== undefined && opened === undefined && html`<p class="fail" role="alert">There is no case “${state.case}” on this page.</p>`}
    <${CaseGrid} index=${index} rows=${rows} state=${state} change=${change} active=${active} setActive=${setActive}
      column=${column} openRow=${open} focusing=${focusing} />
    ${opened !== undefined && html`<${Drawer} index=${index} place=${opened} rows=${rows} state=${state} change=${change}
      onClose=${close} onMove=${moveCase} areKeysOn=${areKeysOn && !isHelpOpen} onHelp=${() => openHelp(true)} />`}
    ${isHelpOpen && html`<${Help} rows=${shortcuts(index)} isOn=${areKeysOn} setOn=${setKeysOn} onClose=${() => openHelp(false)} />`}
  `;
}
