// The page on which an annotator labels the items of a packet. It has no data but its own: which
// output is whose is not in it.
import { render } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Pictures } from "./evidence.js";
import { html } from "./html.js";
import {
  answerOf, download, emptyWork, fileName, isAnswered, isDone, isGap, isKeptAt, isSame, joined, keep, keptName,
  keyOf, labelRow, labelRows, ordered, readKept, workOfFile, workOfRows,
} from "./label_file.js";
import { postJson } from "./api.js";
import { plural } from "./words.js";

const FORMAT = "judgekit-label/1";
const IDLE_MS = 120_000;
const REMIND_EVERY = 5;
const PACE_AFTER = 5;

export function startLabelling() {
  const data = document.getElementById("label-data");
  const place = document.getElementById("label");
  if (!data || !place) return;
  const task = JSON.parse(data.textContent);
  // A page of another version keeps its static text.
  if (task.format !== FORMAT) return;
  const intro = [...place.querySelectorAll("#label-task > p")].map((line) => line.textContent);
  const store = place.dataset.answers ?? null;
  place.replaceChildren();
  render(html`<${Labelling} task=${task} intro=${intro} store=${store} />`, place);
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const clock = (iso) => new Date(iso).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
const isTyping = (target) => target.closest?.("input:not([type=checkbox]), textarea, select") != null;
const isPressable = (target) => target.closest?.("button, a, summary, label, input") != null;

function Labelling({ task, intro, store }) {
  const [stage, setStage] = useState("start");
  // Nothing but the item is shown while an annotator works: other parts of the page would distract.
  useLayoutEffect(() => void document.body.classList.toggle("answering", stage !== "start"), [stage]);
  const [work, setWork] = useState(null);
  const [problem, setProblem] = useState("");
  const [isRefused, setRefused] = useState(false);
  // What the store has not confirmed yet: an answer that could not be stored is sent again.
  const [nUnsent, setUnsent] = useState(0);
  const sending = useRef({ unsent: new Map(), last: Promise.resolve() });
  const latest = useRef(null);
  latest.current = work;

  /** Change the work and keep it; the answer to `rows` goes to the store where there is one. */
  function change(next, sent) {
    const known = { ...next, changed: new Date().toISOString() };
    latest.current = known;
    setWork(known);
    setRefused(!keep(task, known));
    if (store && sent) send(known, sent);
  }

  function send(known, sent) {
    sending.current.unsent.set(`${known.annotator} ${sent.item.id} ${sent.name}`, { known, ...sent });
    sendAll();
  }

  function sendAll() {
    const queue = sending.current;
    setUnsent(queue.unsent.size);
    // One after the other: an answer must not arrive after its undo.
    queue.last = queue.last.then(sendUnsent);
  }

  async function sendUnsent() {
    const { unsent } = sending.current;
    let failure = "";
    for (const [key, sent] of [...unsent]) {
      const { known, item, name, position } = sent;
      try {
        await postJson(store, { annotator: known.annotator, labels: [labelRow(task, known, item, name, position)] });
        // A later answer to the same question has taken its place meanwhile.
        if (unsent.get(key) === sent) unsent.delete(key);
        latest.current = { ...latest.current, saved: new Date().toISOString() };
        setWork(latest.current);
      } catch (error) {
        failure = error.message.replace(/[^.?!\n](?=\n|$)/g, "$&.");
      }
    }
    setUnsent(unsent.size);
    setProblem(failure && `${plural(unsent.size, "answer is", "answers are")} not stored: ${failure} They are kept in this browser, and sent again with the next answer; “Save file” writes them for judgekit label --import or --merge.`);
  }

  async function begin(name, before = readKept(task, name) ?? emptyWork(name)) {
    let known = before;
    if (store) {
      try {
        const { labels } = await postJson(store, { annotator: name, labels: [] });
        const stored = { ...workOfRows(task, labels), annotator: name };
        known = joined(known, stored);
        // What this browser could not send before.
        for (const [place, item] of ordered(task, name).entries()) {
          for (const at of item.criteria) {
            const criterion = keyOf(task.criteria[at]);
            const [own, other] = [known, stored].map((one) => answerOf(one, item, criterion));
            const isReasonMissing = isAnswered(own) && isGap(task, known, item, at);
            if (!isReasonMissing && !isSame(own, other)) send(known, { item, name: criterion, position: place + 1 });
          }
        }
      } catch (error) {
        setProblem(`The answers that are stored cannot be read: ${error.message}`);
        return;
      }
    }
    setProblem("");
    setWork(known);
    setRefused(!keep(task, known));
    setStage("items");
  }

  function resume(text) {
    try {
      const read = workOfFile(task, text);
      const known = joined(readKept(task, read.annotator) ?? emptyWork(read.annotator), read);
      setProblem("");
      // Beginning sends what the store does not have.
      if (store) return void begin(read.annotator, known);
      setWork({ ...known, saved: known.saved ?? read.changed });
      setRefused(!keep(task, known));
      setStage("items");
    } catch (error) {
      setProblem(error.message);
    }
  }

  const items = useMemo(() => (work ? ordered(task, work.annotator) : []), [work?.annotator]);
  function save() {
    download(fileName(work.annotator), labelRows(task, work, items));
    const saved = { ...latest.current, saved: new Date().toISOString() };
    latest.current = saved;
    setWork(saved);
    keep(task, saved);
  }

  useEffect(() => {
    const leave = (event) => {
      // What is still being typed counts, too.
      document.activeElement?.blur();
      const now = latest.current;
      // With a store every answer is there already.
      if (store ? sending.current.unsent.size > 0 : now?.changed && now.changed > (now.saved ?? "")) event.preventDefault();
    };
    const adopt = (event) => {
      const now = latest.current;
      if (!now || !event.newValue || !isKeptAt(task, now.annotator, event.key)) return;
      const whole = joined(now, JSON.parse(event.newValue));
      latest.current = whole;
      setWork(whole);
      for (const one of sending.current.unsent.values()) if (one.known.annotator === whole.annotator) one.known = whole;
    };
    addEventListener("beforeunload", leave);
    addEventListener("storage", adopt);
    return () => {
      removeEventListener("beforeunload", leave);
      removeEventListener("storage", adopt);
    };
  }, []);

  const kept = isRefused
    ? html`<p class="banner fail" role="alert">! This browser does not keep your answers. Use “Save file” often, and before you close the page.</p>`
    : null;
  const trouble = problem && html`<p class="banner fail" role="alert">! ${problem}
    ${nUnsent > 0 && html` <button onClick=${sendAll}>Store again</button>`}</p>`;
  if (stage === "practice") {
    return html`<${Items} task=${practiceTask(task)} items=${practiceTask(task).items} work=${emptyWork("practice")}
      isPractice leave=${() => setStage("start")} />`;
  }
  if (stage === "start") {
    return html`${trouble}<${Start} task=${task} intro=${intro} isStored=${store != null} begin=${begin} resume=${resume}
      practise=${() => setStage("practice")} />`;
  }
  return html`${kept}${trouble}<${Items} key=${work.annotator} task=${task} items=${items} work=${work} change=${change} save=${save} isRefused=${isRefused}
    isStored=${store != null} unsent=${nUnsent && (problem ? "not stored" : "storing …")} resume=${resume} leave=${() => setStage("start")} />`;
}

// --- first screen

function Start({ task, intro, isStored, begin, resume, practise }) {
  const [name, setName] = useState(keptName(task));
  const [gap, setGap] = useState("");
  function submit(event) {
    event.preventDefault();
    const given = name.trim().replace(/\s+/g, " ");
    if (!given) setGap("Type your name first.");
    else if (task.others?.includes(given)) setGap(`${given} has labelled these items: a third annotator decides.`);
    else begin(given);
  }
  return html`
    <section aria-label="The task">
      ${intro.map((line) => html`<p>${line}</p>`)}
      <p>${isStored
        ? "Every answer is stored at once in the project from which this page is served."
        : `Your answers are kept in this browser only, and nothing is sent anywhere. Use “Save file” when you have finished${task.adjudicates ? "." : ", and send that file back."}`}</p>
    </section>
    <form class="start" onSubmit=${submit} novalidate>
      <label for="annotator">Your name</label>
      <input id="annotator" autocomplete="name" maxlength="80" value=${name} aria-describedby="name-gap"
        onInput=${(event) => setName(event.currentTarget.value)} />
      <button class="main">Start</button>
      ${!task.adjudicates && html`<button type="button" onClick=${practise}>Try it first</button>`}
      <${FileButton} resume=${resume} />
      <p id="name-gap" class="fail" role="alert">${gap}</p>
    </form>
    <section aria-label="What is asked">
      ${task.criteria.map((criterion) => html`
        <section class="criterion"><h2>${criterion.name ?? "Preference"}</h2><${Anchors} criterion=${criterion} /></section>`)}
    </section>
    <${Keys} task=${task} />
  `;
}

function FileButton({ resume }) {
  const input = useRef(null);
  async function read(event) {
    const [file] = event.currentTarget.files;
    event.currentTarget.value = "";
    if (file) resume(await file.text());
  }
  return html`<button type="button" onClick=${() => input.current.click()}>Resume from file</button>
    <input type="file" hidden ref=${input} accept=".jsonl,.json,application/jsonl" aria-label="File of your answers" onChange=${read} />`;
}

/** Whether the scores are the numbers of their keys; else names say more than scores. */
const isNumbered = (criterion) => criterion.levels.every((level, n) => level.shown === String(n + 1));

function Anchors({ criterion }) {
  const levels = criterion.levels?.filter((level) => level.name || level.about) ?? [];
  return html`
    <p class="foreign">${criterion.question}</p>
    ${criterion.guide && html`<p class="foreign guide">${criterion.guide}</p>`}
    ${levels.length > 0 && html`<dl class="anchors">${levels.map((level) => html`
      <dt>${isNumbered(criterion) || !level.name ? level.shown : level.name}</dt>
      <dd>${isNumbered(criterion) && level.name}${isNumbered(criterion) && level.name && level.about ? ": " : ""}${level.about}</dd>`)}</dl>`}
  `;
}

function Keys({ task, isOpen }) {
  const rows = task.pairs
    ? [["1", "the first is better"], ["2", "the second is better"], ["3", "they are equally good"], ["0", "cannot judge"]]
    : [["1 … 9", "score, by the number on the button; the next criterion follows"], ["0", "cannot judge this criterion; where the score is typed, it begins one"]];
  const all = [...rows, ["Enter", "next item"], ["← →", "item before, item after"], ["↑ ↓", "criterion before, after"],
    ["Backspace", "undo the last answer"], ["m", "comment (Esc leaves it)"], ["f", "flag this item, to come back to it"], ["?", "these keys"]];
  return html`<details class="keys" open=${isOpen}><summary>Keys</summary><dl>${all.map(([key, words]) => html`<dt><kbd>${key}</kbd></dt><dd>${words}</dd>`)}</dl></details>`;
}

/** One item of the same kind, made up, on which the keys can be tried. */
function practiceTask(task) {
  const text = (words) => ({ text: words, steps: "" });
  const outputs = task.pairs
    ? [text("You can return it within 30 days, with the receipt."), text("Returns are possible.")]
    : [text("You can return it within 30 days, with the receipt.")];
  const item = {
    id: "practice", part: 0, again: "", outputs,
    about: [{ title: "Input", text: "I bought a lamp last week. Can I return it?" }],
    criteria: task.criteria.map((_, place) => place),
  };
  return { ...task, packet: "practice", items: [item] };
}

// --- items

function Items({ task, items, work: given, change, save, leave, resume, isPractice, isRefused, isStored, unsent }) {
  const [practised, setPractised] = useState(given);
  const work = isPractice ? practised : given;
  const first = items.findIndex((item) => !isDone(task, work, item));
  const [at, setAt] = useState(first < 0 ? items.length : first);
  const [active, setActive] = useState(0);
  const [undo, setUndo] = useState([]);
  // An object, so that the same words draw the page again, and what is to have the focus gets it.
  const [{ words }, speak] = useState({ words: "" });
  const say = (text) => speak({ words: text });
  const [hasKeys, setHasKeys] = useState(true);
  const [isHelped, setHelped] = useState(false);
  const [reminded, setReminded] = useState(0);
  const panel = useRef(null);
  const focusOn = useRef(null);
  useLayoutEffect(() => {
    // What is to have the focus may be there only now.
    if (focusOn.current) panel.current?.querySelector(focusOn.current)?.focus();
    focusOn.current = null;
  });
  const item = items[at] ?? null;
  const nDone = items.filter((one) => isDone(task, work, one)).length;
  const timer = useTimer(item, isPractice);

  function go(to) {
    const next = Math.max(0, Math.min(items.length, to));
    setAt(next);
    const place = items[next]?.criteria.findIndex((one) => isGap(task, work, items[next], one)) ?? 0;
    setActive(Math.max(0, place));
    setHelped(false);
    say(next === items.length ? "End of the items." : `Item ${next + 1} of ${items.length}.`);
    scrollTo(0, 0);
  }

  function put(place, update, isTyped = false) {
    const name = keyOf(task.criteria[item.criteria[place]]);
    const before = answerOf(work, item, name) ?? { choice: null, cannot: false, comment: "" };
    const answer = { ...before, ...update, at: new Date().toISOString() };
    const next = {
      ...work,
      answers: { ...work.answers, [item.id]: { ...work.answers[item.id], [name]: answer } },
      seconds: { ...work.seconds, [item.id]: (work.seconds[item.id] ?? 0) + timer.take() },
    };
    if (!("comment" in update)) setUndo([...undo, { at, place, before }]);
    if (isPractice) setPractised(next);
    // A comment is sent when it is finished, and an answer not without the reason it needs.
    else change(next, isTyped || (task.reason && isGap(task, next, item, item.criteria[place])) ? null : { item, name, position: at + 1 });
    return next;
  }

  function choose(place, choice, shown) {
    const next = put(place, { choice, cannot: choice === null });
    const about = task.criteria[item.criteria[place]].name;
    const gap = item.criteria.findIndex((one) => isGap(task, next, item, one));
    const following = item.criteria.findIndex((one, n) => n > place && isGap(task, next, item, one));
    const isReasonMissing = task.reason && isGap(task, next, item, item.criteria[place]);
    const to = isReasonMissing ? place : following < 0 ? (gap < 0 ? place : gap) : following;
    setActive(to);
    say(`${shown}${about ? ` for ${about}` : ""}. ${gap < 0 ? "Enter: next item." : ""}`);
    if (isReasonMissing) focusOn.current = `[data-place="${place}"] textarea`;
  }

  function next() {
    const gap = item.criteria.findIndex((one) => isGap(task, work, item, one));
    if (gap < 0) {
      go(at + 1);
      if (isRefused && nDone % REMIND_EVERY === 0) setReminded(nDone);
      return;
    }
    setActive(gap);
    const name = task.criteria[item.criteria[gap]].name;
    const answer = answerOf(work, item, name ?? "");
    say(isAnswered(answer) ? "A reason is missing." : `Not answered yet${name ? `: ${name}` : ""}.`);
    const levels = task.pairs || task.criteria[item.criteria[gap]].levels.length;
    // Not a button: Enter would press it instead of going on.
    focusOn.current = `[data-place="${gap}"] ${isAnswered(answer) ? "textarea" : levels ? "h3" : "input"}`;
  }

  function takeBack() {
    const last = undo.at(-1);
    if (!last) {
      say("There is nothing to undo.");
      return;
    }
    setUndo(undo.slice(0, -1));
    const back = items[last.at];
    const name = keyOf(task.criteria[back.criteria[last.place]]);
    const now = answerOf(work, back, name);
    const answer = { ...last.before, comment: now?.comment ?? "", at: new Date().toISOString() };
    const changed = { ...work, answers: { ...work.answers, [back.id]: { ...work.answers[back.id], [name]: answer } } };
    if (isPractice) setPractised(changed);
    else change(changed, { item: back, name, position: last.at + 1 });
    setAt(last.at);
    setActive(last.place);
    say("The last answer is undone.");
  }

  function flag() {
    const isOn = !work.flags[item.id]?.on;
    const flags = { ...work.flags, [item.id]: { on: isOn, at: new Date().toISOString() } };
    if (isPractice) setPractised({ ...work, flags });
    else change({ ...work, flags });
    say(isOn ? "Flagged." : "Flag removed.");
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey) {
      if (event.key === "Enter" && item) {
        event.preventDefault();
        next();
      }
      return;
    }
    if (event.altKey || !hasKeys || event.defaultPrevented) return;
    if (isTyping(event.target)) {
      if (event.key === "Escape") {
        event.target.blur();
        const gap = item?.criteria.findIndex((one) => isGap(task, work, item, one)) ?? -1;
        if (gap >= 0) setActive(gap);
      }
      return;
    }
    const acts = { "?": () => setHelped(!isHelped), ArrowLeft: () => go(at - 1), Backspace: takeBack };
    if (item) {
      const criterion = task.criteria[item.criteria[active]];
      const choices = task.pairs ? PAIR : (criterion.levels ?? []);
      const asked = task.pairs ? choices.map(({ value, name }) => [value, name]) : choices.map((level) => [level.value, level.shown]);
      asked.forEach(([value, shown], n) => (acts[n + 1] = () => choose(active, value, shown)));
      // A score that is typed goes where it is typed.
      if (!choices.length && /^[0-9.-]$/.test(event.key)) panel.current?.querySelector(`[data-place="${active}"] input`)?.focus();
      if (choices.length) acts[0] = () => choose(active, null, "Cannot judge");
      acts.ArrowRight = () => go(at + 1);
      acts.ArrowDown = () => setActive(Math.min(item.criteria.length - 1, active + 1));
      acts.ArrowUp = () => setActive(Math.max(0, active - 1));
      acts.f = flag;
      acts.m = () => {
        // A comment is mostly about the score just given, which has moved on to the next criterion.
        const last = undo.at(-1);
        const place = last?.at === at && isGap(task, work, item, item.criteria[active]) ? last.place : active;
        setActive(place);
        focusOn.current = `[data-place="${place}"] textarea`;
        say("Comment.");
      };
      if (!isPressable(event.target)) acts.Enter = next;
    }
    if (acts[event.key]) {
      event.preventDefault();
      acts[event.key]();
    }
  }
  // Before the page is drawn: a key that is pressed as soon as an item is seen must not be lost.
  const latestKey = useRef(null);
  latestKey.current = onKey;
  useLayoutEffect(() => {
    const press = (event) => latestKey.current(event);
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);

  const status = html`<${Status} task=${task} items=${items} work=${work} nDone=${nDone} at=${at} isPractice=${isPractice}
    isRefused=${isRefused} isStored=${isStored} unsent=${unsent} save=${save} leave=${leave} resume=${resume} />`;
  const reminder = reminded > 0 && isRefused
    ? html`<p class="banner fail" role="alert">! ${plural(reminded, "item")} done, and this browser does not keep them.
        <button onClick=${() => { save(); setReminded(0); }}>Save file</button></p>` : null;
  const live = html`<p class="hidden" role="status" aria-live="polite">${words}</p>`;
  if (!item) {
    return html`${status}${reminder}${live}<${End} task=${task} items=${items} work=${work} go=${go} save=${save} leave=${leave}
      isPractice=${isPractice} isStored=${isStored} unsent=${unsent} />`;
  }
  return html`
    ${status}${reminder}${live}
    ${isHelped && html`<${Help} task=${task} hasKeys=${hasKeys} setHasKeys=${setHasKeys} close=${() => setHelped(false)} />`}
    <div class=${task.pairs ? "item pair" : "item"}>
      <${Texts} task=${task} item=${item} at=${at} />
      <div class="panel" ref=${panel} onClick=${release}>
        ${item.criteria.map((number, place) => html`
          <${Question} key=${`${item.id} ${number}`} task=${task} criterion=${task.criteria[number]} place=${place} isActive=${place === active}
            isGap=${isGap(task, work, item, number)} answer=${answerOf(work, item, keyOf(task.criteria[number]))}
            activate=${() => setActive(place)} choose=${choose} comment=${(text, isTyped) => put(place, { comment: text }, isTyped)} next=${next} />`)}
        <div class="moves">
          <button onClick=${() => go(at - 1)} disabled=${at === 0}>← Back</button>
          <button aria-pressed=${Boolean(work.flags[item.id]?.on)} onClick=${flag}>⚑ Flag</button>
          <button onClick=${takeBack} disabled=${!undo.length}>Undo</button>
          <button class="main" onClick=${next}>Next item</button>
        </div>
        <button class="plain" aria-expanded=${isHelped} onClick=${() => setHelped(!isHelped)}>? Keys</button>
      </div>
    </div>`;
}

/** After a click with the mouse, Enter goes on, where it would press the same button once more. */
function release(event) {
  if (event.detail) event.target.closest("button")?.blur();
}

/** Seconds spent on an item; a pause longer than two minutes does not count. */
function useTimer(item, isOff) {
  const state = useRef({ last: 0, total: 0 });
  const count = () => {
    const now = performance.now();
    const since = now - state.current.last;
    if (state.current.last && since <= IDLE_MS && !document.hidden) state.current.total += since / 1000;
    state.current.last = now;
  };
  useEffect(() => {
    if (isOff) return undefined;
    state.current = { last: performance.now(), total: 0 };
    const events = ["keydown", "pointerdown", "pointermove", "wheel"];
    for (const name of events) addEventListener(name, count, { passive: true });
    return () => events.forEach((name) => removeEventListener(name, count));
  }, [item?.id]);
  return {
    take() {
      count();
      const { total } = state.current;
      state.current.total = 0;
      return total;
    },
  };
}

function Status({ task, items, work, nDone, at, isPractice, isRefused, isStored, unsent, save, leave, resume }) {
  if (isPractice) {
    return html`<header class="status"><p><strong>Practice</strong> Nothing that you do here is kept.</p>
      <button class="main" onClick=${leave}>Back to the start</button></header>`;
  }
  const paces = Object.values(work.seconds).filter((seconds) => seconds > 0);
  const pace = paces.length < PACE_AFTER ? task.seconds : median(paces);
  const minutes = Math.ceil(((items.length - nDone) * pace) / 60);
  const where = isStored ? "stored" : isRefused ? "not kept" : "kept in this browser";
  const time = unsent || (work.changed ? (isRefused ? where : `${where} at ${clock(isStored ? (work.saved ?? work.changed) : work.changed)}`) : "");
  return html`
    <header class="status">
      <p><bdi><strong>${work.annotator}</strong></bdi>
        <span>${at < items.length ? `item ${at + 1} of ${items.length}` : `${items.length} items`}, ${nDone} done</span>
        ${time && html`<span>${time}</span>`}
        ${nDone < items.length && html`<span>about ${plural(minutes, "minute")} left</span>`}</p>
      <progress max=${items.length} value=${nDone} aria-label="Items done"></progress>
      <span class="tools"><button onClick=${save}>Save file</button><${FileButton} resume=${resume} />
        <button class="plain" onClick=${leave}>Task</button></span>
    </header>`;
}

function Texts({ task, item, at }) {
  const heading = useRef(null);
  useLayoutEffect(() => {
    // A reader of the screen begins at the item; others keep what they had in focus.
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, [item.id]);
  const titles = task.pairs ? ["FIRST", "SECOND"] : ["Output"];
  return html`
    <div class="texts">
      <h2 ref=${heading} tabindex="-1">Item ${at + 1}</h2>
      ${item.labels && html`<section class="labels" aria-label="Labels that differ"><h3>Labels that differ</h3><dl>${item.labels.map(({ title, text }) => html`
        <dt><bdi>${title}</bdi></dt><dd dir="auto">${text}</dd>`)}</dl></section>`}
      ${item.about.map(({ title, text, images }) => html`<section><h3>${title}</h3><${Foreign} text=${text} images=${images} /></section>`)}
      <div class="outputs">
        ${item.outputs.map((output, n) => html`
          <section class="output"><h3>${titles[n]}</h3>
            ${output.steps && html`<details><summary>Steps</summary><${Foreign} text=${output.steps} /></details>`}
            <${Foreign} text=${output.text} images=${output.images} /></section>`)}
      </div>
    </div>`;
}

/** A text as it is; each paragraph has its own direction. */
function Foreign({ text, images }) {
  return html`<div class="foreign">${text.split(/\n{2,}/).map((part) => html`<p dir="auto">${part}</p>`)}<${Pictures} images=${images} /></div>`;
}

const PAIR = [
  { value: "first", name: "First is better" }, { value: "second", name: "Second is better" }, { value: "tie", name: "Equally good" },
];

function Question({ task, criterion, place, isActive, isGap: isOpen, answer, activate, choose, comment, next }) {
  const heading = `question-${place}`;
  const choices = task.pairs
    ? PAIR.map(({ value, name }) => ({ value, shown: name, name: "", about: "" }))
    : criterion.levels;
  const isTagged = !task.pairs && isNumbered(criterion);
  return html`
    <section class=${isActive ? "question active" : "question"} data-place=${place} aria-labelledby=${heading} onFocusIn=${activate}>
      <h3 id=${heading} tabindex="-1"><button class="plain" aria-expanded=${isActive} onClick=${activate}>${criterion.name ?? "Preference"}</button>
        <span class=${isOpen ? "note" : "pass"}>${isOpen ? (isAnswered(answer) ? "reason missing" : "open") : "✓"}</span></h3>
      ${isActive && html`<${Anchors} criterion=${criterion} />`}
      ${choices.length
        ? html`<div class="scale" role="radiogroup" aria-labelledby=${heading}>
            ${choices.map((level, n) => html`
              <button role="radio" aria-checked=${String(answer?.choice === level.value)} onClick=${() => choose(place, level.value, level.shown)}>
                ${(isTagged || !level.name) && html`<strong>${level.shown}</strong>`}
                ${isTagged && level.name && " "}${level.name && html`<span>${level.name}</span>`}
                ${!isTagged && isActive && html` <kbd aria-hidden="true">${n + 1}</kbd>`}</button>`)}
            <button role="radio" class="cannot" aria-checked=${String(Boolean(answer?.cannot))}
              onClick=${() => choose(place, null, "Cannot judge")}><span>Cannot judge</span> ${isActive && html`<kbd aria-hidden="true">0</kbd>`}</button>
          </div>`
        : html`<${NumberInput} criterion=${criterion} answer=${answer} place=${place} choose=${choose} />`}
      ${(isActive || answer?.comment) && html`
        <label class="comment"><span>${task.reason ? "Reason (required)" : "Comment (optional)"}</span>
          <textarea rows="2" value=${answer?.comment ?? ""} onInput=${(event) => comment(event.currentTarget.value, true)} onChange=${(event) => comment(event.currentTarget.value)}
            onKeyDown=${(event) => {
              // One line is the usual reason: Enter goes on, Shift+Enter breaks the line.
              if (event.key === "Enter" && !event.shiftKey && !event.isComposing && !event.ctrlKey && !event.metaKey) {
                event.preventDefault();
                event.currentTarget.blur();
                next();
              }
            }}></textarea></label>`}
    </section>`;
}

function NumberInput({ criterion, answer, place, choose }) {
  const [text, setText] = useState(answer?.choice ?? "");
  const [problem, setProblem] = useState("");
  // It may be undone, or come from another tab.
  useEffect(() => setText(answer?.choice ?? ""), [answer?.choice]);
  function take(event) {
    event.preventDefault();
    const score = Number(text);
    const isOutside = text === "" || !(score >= criterion.min && score <= criterion.max);
    if (isOutside || (criterion.whole && !Number.isInteger(score))) {
      setProblem(`Type a ${criterion.whole ? "whole number" : "number"} from ${criterion.min} to ${criterion.max}.`);
      return;
    }
    setProblem("");
    event.currentTarget.querySelector("input").blur();
    choose(place, score, String(score));
  }
  return html`<form class="scale" onSubmit=${take} novalidate>
    <label>Score, ${criterion.min} to ${criterion.max} <input type="number" step="any" min=${criterion.min} max=${criterion.max}
      value=${text} onInput=${(event) => setText(event.currentTarget.value)} /></label>
    <button>Set</button>
    <button type="button" class="cannot" aria-pressed=${Boolean(answer?.cannot)} onClick=${() => choose(place, null, "Cannot judge")}>Cannot judge</button>
    <p class="fail" role="alert">${problem}</p></form>`;
}

function Help({ task, hasKeys, setHasKeys, close }) {
  return html`<section class="help" aria-label="Keys"><${Keys} task=${task} isOpen />
    <label><input type="checkbox" checked=${hasKeys} onChange=${(event) => setHasKeys(event.currentTarget.checked)} /> Single keys are on</label>${" "}
    <button onClick=${close}>Close</button></section>`;
}

function End({ task, items, work, go, save, leave, isPractice, isStored, unsent }) {
  const heading = useRef(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  if (isPractice) {
    return html`<section class="end"><h2 ref=${heading} tabindex="-1">That was the practice item</h2>
      <button class="main" onClick=${leave}>Back to the start</button></section>`;
  }
  const gaps = items.map((item, n) => [item, n]).filter(([item]) => !isDone(task, work, item));
  const flagged = items.map((item, n) => [item, n]).filter(([item]) => work.flags[item.id]?.on);
  const cannot = items.reduce((sum, item) => sum + Object.values(work.answers[item.id] ?? {}).filter((answer) => answer.cannot).length, 0);
  const list = (title, found) => found.length > 0 && html`<h3>${title}</h3><p class="jumps">${found.map(([, n]) => html`<button onClick=${() => go(n)}>Item ${n + 1}</button>`)}</p>`;
  return html`
    <section class="end">
      <h2 ref=${heading} tabindex="-1">${gaps.length ? `${plural(gaps.length, "item is", "items are")} not finished` : "All items are done"}</h2>
      ${cannot > 0 && html`<p>You could not judge ${plural(cannot, "criterion", "criteria")}: ${isStored && !task.pairs ? "no label is stored there" : "that is recorded as such"}.</p>`}
      ${list("Not finished", gaps)}
      ${list("Flagged", flagged)}
      ${isStored
        ? html`<p>${unsent ? `Not every answer is stored yet: ${unsent}.` : "Every answer is stored. You can close this page."}</p>`
        : html`<p>${task.adjudicates
            ? "Save the file, and join it with the files of the annotators: judgekit label --merge."
            : "Save the file and send it back to whoever gave you this page."}</p><button class="main" onClick=${save}>Save file</button>`}
    </section>`;
}
