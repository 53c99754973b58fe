// Forms over the data of a file; each change of a field is a change of that value in the text.
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { html } from "./html.js";
import { plural } from "./words.js";

const COMMIT_AFTER_MS = 400;
const SNIPPET = 90;
const SHOWN = 500;
// Fields that are no texts, so that a new one begins as what it is.
const EMPTY = {
  assertions: [], scorers: [], variants: [], suites: [], needs: [], examples: [], tags: [], stratum: "",
  metadata: {}, evaluation: {}, judge: {}, gate: {}, settings: {}, compare: {}, prices: {}, columns: {}, panel: {},
};

/** A field with a draft of its own, which is handed over when typing pauses and when it is left. */
function useDraft(value, commit) {
  const [draft, setDraft] = useState(value);
  const now = useRef({ draft: value, value, timer: 0 });
  now.current.commit = commit;
  useEffect(() => {
    // What the file has now, unless something else was typed since.
    if (now.current.draft === now.current.value) setDraft((now.current.draft = value));
    now.current.value = value;
  }, [value]);
  const flush = () => {
    clearTimeout(now.current.timer);
    if (now.current.draft === now.current.value) return;
    now.current.value = now.current.draft;
    now.current.commit(now.current.draft);
  };
  useEffect(() => flush, []);
  const type = (text) => {
    setDraft((now.current.draft = text));
    clearTimeout(now.current.timer);
    now.current.timer = setTimeout(flush, COMMIT_AFTER_MS);
  };
  return [draft, type, flush];
}

/** A choice that is shown at once, and is the file's again when the change was made or refused. */
function useChoice(value, commit) {
  const [chosen, setChosen] = useState(value);
  useEffect(() => setChosen(value), [value]);
  const choose = async (next) => {
    setChosen(next);
    if (!(await commit(next))) setChosen(value);
  };
  return [chosen, choose];
}

function TextField({ label, value, onCommit, lines = 1, hint = "", problem = "", type = "text" }) {
  const id = useId();
  const [draft, typeIn, flush] = useDraft(value, onCommit);
  const area = useRef(null);
  const rows = Math.min(16, Math.max(lines, draft.split("\n").length));
  const about = problem || hint ? `${id}-about` : null;
  const common = {
    id, value: draft, "aria-describedby": about, "aria-invalid": problem ? "true" : null,
    onInput: (event) => typeIn(event.target.value), onBlur: flush,
  };
  return html`
    <div class="ed-field">
      <label for=${id}>${label}</label>
      ${lines === 1 ? html`<input type=${type} ref=${area} ...${common} />` : html`<textarea rows=${rows} ...${common} />`}
      ${about && html`<p id=${about} class=${problem ? "fail" : "note"}>${problem || hint}</p>`}
    </div>`;
}

/** Whether no number of a value has more digits than a browser keeps: writing it back would change it. */
function isExact(value) {
  if (typeof value === "number") return !Number.isInteger(value) || Number.isSafeInteger(value);
  return value === null || typeof value !== "object" || Object.values(value).every(isExact);
}

/** Any value as JSON; what is not JSON is kept in the field and not handed over. */
function JsonField({ label, value, onCommit, hint }) {
  const [problem, setProblem] = useState("");
  if (!isExact(value)) {
    return html`<p class="note"><strong><bdi>${label}</bdi></strong> holds a number with more digits than this form keeps: change it in “Text”.</p>`;
  }
  const text = JSON.stringify(value, null, 2);
  const commit = (draft) => {
    let parsed;
    try {
      parsed = JSON.parse(draft);
    } catch (error) {
      setProblem(`Not in the file yet, for it is not JSON: ${error.message}`);
      return;
    }
    setProblem("");
    onCommit(parsed);
  };
  return html`<${TextField} label=${`${label} (JSON)`} value=${text} lines=${2} problem=${problem} hint=${hint} onCommit=${commit} />`;
}

/** A value as text where it is one, else as JSON. */
function ValueField({ label, value, lines, onCommit, onRemove, hint }) {
  if (value !== undefined && value !== null && typeof value !== "string") {
    return html`<${JsonField} label=${label} value=${value} onCommit=${onCommit} hint=${hint} />`;
  }
  // An empty field that may be missing is taken out of the file: missing is not the same as "".
  const commit = (text) => (text === "" && onRemove ? onRemove() : onCommit(text));
  return html`<${TextField} label=${label} value=${value ?? ""} lines=${lines} onCommit=${commit} hint=${hint} />`;
}

function NumberField({ label, value, onCommit, onRemove, hint }) {
  const [problem, setProblem] = useState("");
  const commit = (draft) => {
    const text = draft.trim();
    const isNumber = text !== "" && Number.isFinite(Number(text));
    setProblem(isNumber || (text === "" && onRemove) ? "" : "Not in the file yet: a number is needed.");
    if (isNumber) onCommit(Number(text));
    else if (text === "" && onRemove) onRemove();
  };
  return html`<${TextField} label=${label} value=${value === undefined || value === null ? "" : String(value)}
    problem=${problem} hint=${hint} onCommit=${commit} />`;
}

/** What `data` has besides the fields of the form, each as JSON, and a way to add one. */
function OtherFields({ data, known, where, change, noun }) {
  const [name, setName] = useState("");
  const id = useId();
  const others = Object.keys(data).filter((key) => !known.includes(key));
  const clean = name.trim();
  const add = async () => {
    if (clean && !(clean in data) && (await change("set", [...where, clean], EMPTY[clean] ?? ""))) setName("");
  };
  return html`
    ${others.map((key) => html`
      <div class="ed-other" key=${key}>
        <${ValueField} label=${key} value=${data[key] ?? undefined} lines=${1}
          onCommit=${(value) => change("set", [...where, key], value)} />
        <button onClick=${() => change("remove", [...where, key])} aria-label=${`Remove ${key}`} title="Remove">×</button>
      </div>`)}
    <div class="ed-add">
      <label for=${id}>Further field of the ${noun}</label>
      <input id=${id} value=${name} onInput=${(event) => setName(event.target.value)}
        onKeyDown=${(event) => event.key === "Enter" && add()} />
      <button onClick=${add} disabled=${!clean || clean in data}>Add field</button>
    </div>`;
}

/** Buttons for the items of a list; each choice tells which item is selected next. */
function ListTools({ noun, n, place, where, change, onPlace, blank, copyName, isReadOnly }) {
  const act = async (kind, at, value, next) => {
    if (await change(kind, [...where, at], value)) onPlace(next);
  };
  const duplicate = async () => {
    if (!(await change("copy", [...where, place]))) return;
    const [field, name] = copyName(place);
    await change("set", [...where, place + 1, field], name);
    onPlace(place + 1);
  };
  if (isReadOnly) return null;
  return html`
    <fieldset class="ed-tools" aria-label=${`Change the list of ${noun === "criterion" ? "criteria" : "cases"}`}>
      <button onClick=${() => act("insert", n ? place : -1, blank(), n ? place + 1 : 0)}>Add</button>
      <button disabled=${!n} onClick=${duplicate}>Duplicate</button>
      <button disabled=${place < 1} onClick=${() => act("move", place, -1, place - 1)} aria-label="Move up">↑</button>
      <button disabled=${place >= n - 1} onClick=${() => act("move", place, 1, place + 1)} aria-label="Move down">↓</button>
      <button disabled=${!n} onClick=${() => act("remove", place, null, Math.max(0, Math.min(place, n - 2)))}>Delete</button>
    </fieldset>`;
}

/** A list of items, one of which is selected; the arrow keys move between them. */
function ItemList({ label, items, place, onPlace }) {
  const list = useRef(null);
  const press = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const buttons = [...list.current.querySelectorAll("button")];
    const next = buttons[buttons.indexOf(document.activeElement) + step];
    next?.focus();
    next?.click();
  };
  return html`
    <ul class="ed-items" ref=${list} aria-label=${label} onKeyDown=${press}>
      ${items.map((item) => html`
        <li key=${item.place}>
          <button aria-current=${item.place === place ? "true" : null} onClick=${() => onPlace(item.place)}>
            <strong><bdi>${item.name}</bdi></strong>
            ${item.tags?.map((tag) => html`<span class="ed-tag"><bdi>${tag}</bdi></span>`)}
            <span class="note" dir="auto">${item.words}</span>
          </button>
        </li>`)}
    </ul>`;
}

function snippet(value) {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > SNIPPET ? `${text.slice(0, SNIPPET)}…` : text;
}

function freeName(name, taken) {
  for (let n = 2; ; n++) {
    if (!taken.includes(`${name}-${n}`)) return `${name}-${n}`;
  }
}

function listOf(value) {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

export function CasesForm({ file, caseId, onCase, change, isReadOnly }) {
  const [query, setQuery] = useState("");
  const [moved, setMoved] = useState(null);
  const filterId = useId();
  const where = file.cases_at;
  const cases = (where.length ? file.data[where[0]] : file.data).map((one) =>
    one && typeof one === "object" && !Array.isArray(one) ? one : {});
  const fieldOf = (one, name) =>
    Object.keys(file.aliases).find((alias) => file.aliases[alias] === name && alias in one && !(name in one)) ?? name;
  const ids = cases.map((one) => String(one[fieldOf(one, "id")] ?? ""));
  // After a change of the list, and where ids are missing or given twice, the place decides.
  const byId = caseId === null ? 0 : Math.max(0, ids.indexOf(caseId));
  const place = Math.min(moved && ids[moved.place] === (moved.id ?? ids[moved.place]) ? moved.place : byId, Math.max(0, cases.length - 1));
  const select = (at) => {
    setMoved({ place: at });
    onCase(ids[at] ?? null);
  };
  const inputOf = (one) => one[fieldOf(one, "input")];
  const wanted = query.trim().toLowerCase();
  const found = cases
    .map((one, at) => ({ place: at, name: ids[at] || "(no id)", words: snippet(inputOf(one)), tags: listOf(one.tags) }))
    .filter((one) => !wanted || `${one.name} ${one.words} ${one.tags.join(" ")}`.toLowerCase().includes(wanted));
  const one = cases[place];
  const at = [...where, place];
  const set = (name) => (value) => change("set", [...at, name], value);
  const remove = (name) => (name in one ? () => change("remove", [...at, name]) : null);
  const known = ["tags", ...["id", "input", "reference", "context"].map((name) => one ? fieldOf(one, name) : name)];
  return html`
    <div class="ed-list">
      <div class="ed-field">
        <label for=${filterId}>Find a case</label>
        <input id=${filterId} type="search" value=${query} onInput=${(event) => setQuery(event.target.value)} />
      </div>
      <p class="note" role="status">${found.length === cases.length ? "" : `${found.length} of `}${plural(cases.length, "case")}${found.length > SHOWN ? `, the first ${SHOWN} are listed` : ""}</p>
      <${ListTools} noun="case" n=${cases.length} place=${place} where=${where} change=${change} isReadOnly=${isReadOnly} onPlace=${(next) => setMoved({ place: next })}
        blank=${() => ({ id: freeName("case", ids), input: "" })} copyName=${(from) => ["id", freeName(ids[from], ids)]} />
      <${ItemList} label="Cases" items=${found.slice(0, SHOWN)} place=${place} onPlace=${select} />
    </div>
    ${one && html`
      <fieldset class="ed-fields" disabled=${isReadOnly} aria-label=${`Case ${ids[place]}`} key=${`${place} of ${cases.length}`}>
        <p class="note">Line ${file.lines[place]}</p>
        <${TextField} label="id" value=${ids[place]} hint="Names results and stored judgments."
          onCommit=${async (id) => { if (await change("set", [...at, fieldOf(one, "id")], id)) { setMoved({ place }); onCase(id); } }} />
        <${ValueField} label=${fieldOf(one, "input")} value=${inputOf(one)} lines=${5} onCommit=${set(fieldOf(one, "input"))} />
        ${["reference", "context"].map((name) => html`
          <${ValueField} key=${name} label=${fieldOf(one, name)} value=${one[fieldOf(one, name)]} lines=${3}
            onCommit=${set(fieldOf(one, name))} onRemove=${remove(fieldOf(one, name))} />`)}
        <${TextField} label="tags" value=${listOf(one.tags).join(", ")} hint="Separated by commas."
          onCommit=${(text) => set("tags")(text.split(",").map((tag) => tag.trim()).filter(Boolean))} />
        <${OtherFields} data=${one} known=${known} where=${at} change=${change} noun="case" />
      </fieldset>`}`;
}

const CRITERION = ["name", "question", "scoring_guide", "scale", "weight", "required", "pass_value"];

export function RubricForm({ data, change, isReadOnly }) {
  const [chosen, setChosen] = useState(0);
  const criteria = data.criteria.map((one) => (one && typeof one === "object" ? one : {}));
  const place = Math.min(chosen, Math.max(0, criteria.length - 1));
  const names = criteria.map((one) => String(one.name ?? ""));
  const one = criteria[place];
  const at = ["criteria", place];
  const set = (name) => (value) => change("set", [...at, name], value);
  const remove = (name) => (name in one ? () => change("remove", [...at, name]) : null);
  const setOwn = (name) => (value) => change("set", [name], value);
  return html`
    <div class="ed-list">
      <fieldset disabled=${isReadOnly} aria-label="Rubric">
      <${TextField} label="Name of the rubric" value=${String(data.name ?? "")} onCommit=${setOwn("name")} />
      <${NumberField} label="pass_threshold" value=${data.pass_threshold} hint="The least overall value that passes, 0 to 1."
        onCommit=${setOwn("pass_threshold")} onRemove=${"pass_threshold" in data ? () => change("remove", ["pass_threshold"]) : null} />
      </fieldset>
      <${ListTools} noun="criterion" n=${criteria.length} place=${place} where=${["criteria"]} change=${change} isReadOnly=${isReadOnly} onPlace=${setChosen}
        blank=${() => ({ name: freeName("criterion", names), question: "" })} copyName=${(from) => ["name", freeName(names[from], names)]} />
      <${ItemList} label="Criteria" items=${criteria.map((each, n) => ({ place: n, name: names[n] || "(no name)", words: snippet(each.question ?? "") }))}
        place=${place} onPlace=${setChosen} />
    </div>
    ${one && html`
      <fieldset class="ed-fields" disabled=${isReadOnly} aria-label=${`Criterion ${names[place]}`} key=${`${place} of ${criteria.length}`}>
        <${TextField} label="name" value=${names[place]} onCommit=${set("name")} />
        <${ValueField} label="question" value=${one.question} lines=${3} onCommit=${set("question")} />
        <${Scale} scale=${one.scale} where=${[...at, "scale"]} change=${change} />
        <${ValueField} label="scoring_guide" value=${one.scoring_guide} lines=${3} onCommit=${set("scoring_guide")} onRemove=${remove("scoring_guide")} />
        <div class="ed-row">
          <${NumberField} label="weight" value=${one.weight} hint="Its share in the overall value; 1 if missing." onCommit=${set("weight")} onRemove=${remove("weight")} />
          <${NumberField} label="pass_value" value=${one.pass_value} hint="The least value that passes, 0 to 1." onCommit=${set("pass_value")} onRemove=${remove("pass_value")} />
          <${CheckField} label="required" value=${one.required === true} onCommit=${set("required")} />
        </div>
        <${OtherFields} data=${one} known=${CRITERION} where=${at} change=${change} noun="criterion" />
      </fieldset>`}`;
}

function CheckField({ label, value, onCommit }) {
  const [isChecked, choose] = useChoice(value, onCommit);
  return html`<label class="ed-check"><input type="checkbox" checked=${isChecked}
    onChange=${(event) => choose(event.target.checked)} /> ${label}</label>`;
}

function Scale({ scale, where, change }) {
  const isLevels = Array.isArray(scale) && scale.every((one) => one && typeof one === "object" && "value" in one);
  if (!isLevels) {
    return html`<${ValueField} label="scale" value=${scale} lines=${1} onCommit=${(value) => change("set", where, value)}
      hint='The name of a scale, such as likert5; or JSON: a list of levels, each with a value and a description.' />`;
  }
  return html`
    <fieldset class="ed-levels">
      <legend>scale</legend>
      ${scale.map((level, n) => html`
        <div class="ed-level" key=${`${n} of ${scale.length}`}>
          <${NumberField} label=${`Value ${n + 1}`} value=${level.value} onCommit=${(value) => change("set", [...where, n, "value"], value)} />
          <${TextField} label="Anchor" value=${String(level.description ?? "")} lines=${2} onCommit=${(text) => change("set", [...where, n, "description"], text)} />
          <button aria-label=${`Remove level ${level.value}`} title="Remove" disabled=${scale.length < 3} onClick=${() => change("remove", [...where, n])}>×</button>
        </div>`)}
      <button onClick=${() => change("insert", [...where, scale.length - 1], { value: nextValue(scale), description: "" })}>Add level</button>
    </fieldset>`;
}

function nextValue(scale) {
  const values = scale.map((level) => Number(level.value)).filter(Number.isFinite);
  const last = values.at(-1) ?? 0;
  return values.length > 1 && values[0] > last ? last - 1 : last + 1;
}

const SUITE = ["name", "dataset", "rubric", "profile", "cases"];

export function SuiteForm({ data, profiles, change, isReadOnly }) {
  const set = (name) => (value) => change("set", [name], value);
  const remove = (name) => (name in data ? () => change("remove", [name]) : null);
  const [profile, chooseProfile] = useChoice(data.profile ?? "", (name) =>
    name ? change("set", ["profile"], name) : change("remove", ["profile"]));
  return html`
    <fieldset class="ed-fields" disabled=${isReadOnly} aria-label="Suite">
      <${TextField} label="name" value=${String(data.name ?? "")} onCommit=${set("name")} />
      ${["dataset", "rubric"].map((name) => html`
        <${ValueField} key=${name} label=${name} value=${data[name]} lines=${1} onCommit=${set(name)} onRemove=${remove(name)} />`)}
      <fieldset class="ed-profiles">
        <legend>profile</legend>
        <p class="note">The kind of skill. It sets how a case without an evaluation of its own is evaluated: the first strategy whose expectation the case has.</p>
        <div class="wide"><table>
          <thead><tr><th scope="col">profile</th><th scope="col">strategies</th><th scope="col">threshold</th><th scope="col">rubric</th></tr></thead>
          <tbody>
            ${[{ name: "", strategies: "assertions, and the rubric if there is a judge", threshold: "–", rubric: null }, ...profiles].map((one) => html`
              <tr key=${one.name}>
                <th scope="row"><label class="ed-check"><input type="radio" name="profile" value=${one.name}
                  checked=${profile === one.name} onChange=${() => chooseProfile(one.name)} /> ${one.name || "none"}</label></th>
                <td>${one.strategies}</td><td>${one.threshold}</td><td>${one.rubric ?? "–"}</td>
              </tr>`)}
          </tbody>
        </table></div>
      </fieldset>
      <${OtherFields} data=${data} known=${SUITE} where=${[]} change=${change} noun="suite" />
    </fieldset>`;
}
