// The filters above the grid: states as buttons, everything else as lists, and the search.
import { useMemo, useState } from "preact/hooks";
import { html } from "./html.js";
import { useMedia } from "./state.js";
import { plural } from "./words.js";

function counted(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a.localeCompare(b));
}

function Choice({ label, value, options, onChoose }) {
  return html`<label class="choice">
    <span>${label}</span>
    <select value=${value ?? ""} onChange=${(event) => onChoose(event.target.value)}>
      ${options.map(([key, text]) => html`<option value=${key} selected=${key === (value ?? "")}>${text}</option>`)}
    </select>
  </label>`;
}

function StateButton({ filter, n, isOn, onClick }) {
  return html`<button type="button" aria-pressed=${isOn} title=${filter.title || null} disabled=${n === 0 && !isOn} onClick=${onClick}>
    ${filter.label} <span class="n">${n.toLocaleString("en")}</span>
  </button>`;
}

export function FilterBar({ index, state, change, selection, search, searchBox, onFound, onHelp }) {
  const isPhone = useMedia("(max-width: 44rem)");
  const [isOpen, setOpen] = useState(false);
  const tags = useMemo(() => counted(index.tags.flat()), [index]);
  const strata = useMemo(() => counted(index.strata.filter((one) => one !== null)), [index]);
  const choose = (key) => (value) => change({ [key]: value }, { push: true });
  const withAll = (found, all) => [["", all], ...found.map(([name, n]) => [name, `${name} (${n.toLocaleString("en")})`])];
  const sorts = [
    ["", "what needs attention first"],
    ["case", "by case"],
    ...index.columns.flatMap((name) => [
      [`variant:${name}`, `${name}, lowest first`],
      [`-variant:${name}`, `${name}, highest first`],
    ]),
  ];
  const chosen = ["variant", "tag", "stratum", "sort"].filter((key) => state[key]).length;
  // From the search the keyboard goes to what was found, or back to the page.
  const onKey = (event) => {
    if (event.key !== "Escape" && event.key !== "Enter") return;
    event.preventDefault();
    event.target.blur();
    if (event.key === "Enter") onFound();
  };
  const percent = Math.floor(search.share * 100);
  return html`<div class="filters" role="search" aria-label="Cases">
    <div class="states" role="group" aria-label="Show">
      <${StateButton} filter=${{ label: "All" }} n=${selection.all} isOn=${!state.state}
        onClick=${() => choose("state")("")} />
      ${index.filters.map((filter) => html`<${StateButton} key=${filter.key} filter=${filter}
        n=${selection.counts[filter.key]} isOn=${state.state === filter.key}
        onClick=${() => choose("state")(state.state === filter.key ? "" : filter.key)} />`)}
    </div>
    <div class="searching">
      <input type="search" ref=${searchBox} value=${state.q ?? ""} placeholder="Search ids and all texts"
        aria-label="Search ids and all texts" onInput=${(event) => change({ q: event.target.value })}
        onKeyDown=${onKey} />
      ${isPhone && html`<button type="button" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
        Filters${chosen > 0 && ` (${chosen})`}</button>`}
      <button type="button" onClick=${onHelp} aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)">?</button>
    </div>
    ${(!isPhone || isOpen) && html`<div class="choices">
      ${index.columns.length > 1 && html`<${Choice} label="variant" value=${state.variant} onChoose=${choose("variant")}
        options=${[["", "any"], ...index.columns.map((name) => [name, name])]} />`}
      ${tags.length > 0 && html`<${Choice} label="tag" value=${state.tag} onChoose=${choose("tag")} options=${withAll(tags, "any")} />`}
      ${strata.length > 0 && html`<${Choice} label="stratum" value=${state.stratum} onChoose=${choose("stratum")} options=${withAll(strata, "any")} />`}
      <${Choice} label="order" value=${state.sort} onChoose=${choose("sort")} options=${sorts} />
    </div>`}
    <p class="count">
      <span role="status">${selection.rows.length.toLocaleString("en")} of ${plural(index.n, "case")}</span>
      ${search.share < 1 && html`<span class="progress">, searching all texts: ${percent} %</span>`}
      ${search.error && html`<span class="fail">, the texts could not be searched: ${search.error.message}</span>`}
      ${fragmentIsSet(state) && html` <button type="button" class="plain" onClick=${() =>
        change({ state: "", variant: "", tag: "", stratum: "", q: "", sort: "" }, { push: true })}>Show all</button>`}
    </p>
  </div>`;
}

function fragmentIsSet(state) {
  return ["state", "variant", "tag", "stratum", "q", "sort"].some((key) => state[key]);
}
