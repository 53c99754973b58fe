// Which cases are shown, and in which order: filters, search and sorting over the index.
import { useEffect, useMemo, useState } from "preact/hooks";
import { areTextsRead, chunkTexts } from "./data.js";

const LEAST_SEARCHED = 2;

// Drawing the grid again for each of a hundred chunks would take longer than the search.
const BETWEEN_UPDATES = 150;

/** The beginnings of all cases in lower case, to be searched at once. */
function useBeginnings(index) {
  return useMemo(
    () =>
      index.ids.map((id, n) =>
        [id, index.snippets[n], index.strata[n] ?? "", ...index.tags[n]].join("\n").toLowerCase(),
      ),
    [index],
  );
}

const idle = () =>
  new Promise((go) => {
    if (globalThis.requestIdleCallback) requestIdleCallback(go, { timeout: 100 });
    else setTimeout(go);
  });

/** The cases that a text occurs in: at once in their beginnings, then in all their texts. */
export function useSearch(index, query) {
  const needle = (query ?? "").trim().toLowerCase();
  const beginnings = useBeginnings(index);
  const near = useMemo(() => {
    if (!needle) return null;
    const found = new Set();
    beginnings.forEach((text, n) => text.includes(needle) && found.add(n));
    return found;
  }, [beginnings, needle]);
  const [full, setFull] = useState({ needle: "", hits: new Set(), share: 1 });
  useEffect(() => {
    if (needle.length < LEAST_SEARCHED) return undefined;
    let isWanted = true;
    const nChunks = Math.ceil(index.n / index.chunk);
    async function search() {
      const hits = new Set();
      let drawn = performance.now();
      for (let number = 0; number < nChunks; number += 1) {
        // Unpacking takes long enough to be felt by who types; looking through texts does not.
        if (!areTextsRead(index, number)) await idle();
        const texts = await chunkTexts(index, number);
        if (!isWanted) return;
        texts.forEach((text, n) => text.includes(needle) && hits.add(number * index.chunk + n));
        const now = performance.now();
        if (number + 1 < nChunks && now - drawn < BETWEEN_UPDATES) continue;
        drawn = now;
        setFull({ needle, hits: new Set(hits), share: (number + 1) / nChunks });
      }
    }
    search().catch((error) => isWanted && setFull({ needle, hits: new Set(), share: 1, error }));
    return () => {
      isWanted = false;
    };
  }, [index, needle]);
  return useMemo(() => {
    if (!near) return { hits: null, share: 1 };
    if (full.needle !== needle) return { hits: near, share: needle.length < LEAST_SEARCHED ? 1 : 0 };
    return { hits: full.hits.union?.(near) ?? new Set([...near, ...full.hits]), share: full.share, error: full.error };
  }, [near, full, needle]);
}

function sortedOrder(index, sort) {
  if (!sort) return index.order;
  const isDown = sort.startsWith("-");
  const name = isDown ? sort.slice(1) : sort;
  const column = index.columns.indexOf(name.replace(/^variant:/, ""));
  const sign = isDown ? -1 : 1;
  if (name === "case") {
    const compare = new Intl.Collator(undefined, { numeric: true }).compare;
    return [...index.order].sort((a, b) => sign * compare(index.ids[a], index.ids[b]));
  }
  if (column < 0) return index.order;
  const { value, state } = index.cells[column];
  // Choices have no values: they come in the order of the legend.
  const values = value.some((one) => one !== null) ? value : state;
  // A case without a value is neither high nor low: it comes last either way.
  return [...index.order].sort((a, b) => {
    if (values[a] === null || values[b] === null) return (values[a] === null) - (values[b] === null);
    return sign * (values[a] - values[b]);
  });
}

/** The rows to show and how many there would be with each filter. */
export function useSelection(index, state, hits) {
  const order = useMemo(() => sortedOrder(index, state.sort), [index, state.sort]);
  return useMemo(() => {
    const column = index.columns.indexOf(state.variant);
    const cells = column < 0 ? null : index.cells[column];
    const wanted = index.filters.find((filter) => filter.key === state.state)?.bit ?? 0;
    const counts = Object.fromEntries(index.filters.map((filter) => [filter.key, 0]));
    const rows = [];
    let all = 0;
    for (const row of order) {
      if (hits && !hits.has(row)) continue;
      if (cells && cells.state[row] === null) continue;
      if (state.tag && !index.tags[row].includes(state.tag)) continue;
      if (state.stratum && index.strata[row] !== state.stratum) continue;
      const mask = cells ? cells.mask[row] : index.masks[row];
      all += 1;
      for (const filter of index.filters) if (mask & filter.bit) counts[filter.key] += 1;
      if (!wanted || mask & wanted) rows.push(row);
    }
    return { rows, counts, all };
  }, [index, order, state.state, state.variant, state.tag, state.stratum, hits]);
}
