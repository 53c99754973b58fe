// A case in full, in a dialog over the page.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { html } from "./html.js";
import { loadCase } from "./data.js";
import { linkTo, useMedia } from "./state.js";
import { Dialog, useKeys } from "./keys.js";
import { Passage, visible } from "./evidence.js";
import { Decisions, Output } from "./answer.js";
import { Badge, Facts } from "./opinion.js";
import { Timeline } from "./timeline.js";
import { WordDiff } from "./diff.js";
import { PairBody, isPairKind } from "./pairs.js";

/** The case in full, or why it cannot be shown; null while it is unpacked. */
function useCase(index, place) {
  const [found, set] = useState(null);
  useEffect(() => {
    let isWanted = true;
    loadCase(index, place).then(
      (row) => isWanted && set({ place, row }),
      (error) => isWanted && set({ place, error }),
    );
    return () => {
      isWanted = false;
    };
  }, [index, place]);
  return found?.place === place ? found : null;
}

function Answers({ index, row, at, onChoose, isBeside }) {
  const single = row.answers.length === 1;
  if (single) return null;
  const label = (answer) => [index.columns[answer.column], answer.round].filter(Boolean).join(", ");
  const tabs = [...row.answers.keys()];
  const move = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const next = (at + step + tabs.length) % tabs.length;
    onChoose(next);
    event.currentTarget.querySelectorAll("[role=tab]")[next].focus();
  };
  return html`<div class="tabs"><div role="tablist" aria-label="Answers" onKeyDown=${move}>
    ${row.answers.map((answer, n) => {
      const { sign, tone, label: word } = index.states[answer.state];
      const isOn = !isBeside && n === at;
      return html`<button type="button" role="tab" id=${`tab-${n}`} aria-controls="answer" aria-selected=${isOn}
        tabindex=${n === at ? 0 : -1} onClick=${() => onChoose(n)}>
        <span class=${tone} aria-hidden="true">${sign}</span> <bdi>${label(answer)}</bdi>
        <span class="hidden">, ${word}</span>${answer.value && html`<span class="dim"> ${answer.value}</span>`}</button>`;
    })}</div>
    <button type="button" aria-pressed=${isBeside} onClick=${() => onChoose(at, !isBeside)}>Side by side</button></div>`;
}

function AnswerChoice({ label, row, index, value, onChoose }) {
  return html`<label class="choice"><span>${label}</span><select value=${value} onChange=${(event) => onChoose(Number(event.target.value))}>
    ${row.answers.map((answer, n) => html`<option value=${n} selected=${n === value}>${index.columns[answer.column]}${answer.round && `, ${answer.round}`}</option>`)}
  </select></label>`;
}

function Beside({ index, row, questions, a, b, onChoose }) {
  const [first, second] = [row.answers[a], row.answers[b]];
  const names = [...new Set([...first.opinions, ...second.opinions].map((group) => group.title))];
  const group = (answer, name) => answer.opinions.find((one) => one.title === name);
  const cell = (answer, name) => {
    const found = group(answer, name);
    return found?.result ? html`<${Badge} tone=${found.tone}>${found.result}<//>` : "–";
  };
  const reasons = (answer, name) => group(answer, name)?.rows.map((row) => html`<p dir="auto">${visible(row.rationale)}</p>`);
  const state = (answer) => index.states[answer.state];
  return html`<div class="beside">
    <div class="choices">
      <${AnswerChoice} label="from" row=${row} index=${index} value=${a} onChoose=${(n) => onChoose(n, b)} />
      <${AnswerChoice} label="to" row=${row} index=${index} value=${b} onChoose=${(n) => onChoose(a, n)} />
    </div>
    <h3>output</h3>
    <${WordDiff} a=${first.output} b=${second.output} />
    <h3>judgments</h3>
    <div class="wide"><table class="pair"><thead><tr><th scope="col">criterion</th>${[first, second].map((answer) =>
      html`<th scope="col"><bdi>${index.columns[answer.column]}</bdi> ${answer.round}</th>`)}</tr></thead>
      <tbody><tr><th scope="row">verdict</th>${[first, second].map((answer) =>
        html`<td><${Badge} tone=${state(answer).tone}>${state(answer).label} ${answer.value ?? ""}<//></td>`)}</tr>
      ${names.map((name) => html`<tr><th scope="row" title=${questions[name] ?? null}><bdi>${visible(name)}</bdi></th>
        ${[first, second].map((answer) => html`<td>${cell(answer, name)}${reasons(answer, name)}</td>`)}</tr>`)}</tbody></table></div>
  </div>`;
}

// Beside the output a reader needs these to judge it; what was asked comes first.
const BELOW = ["reference", "context"];

function RunBody({ index, row, state, change, body, areKeysOn }) {
  const questions = { ...index.questions, ...row.questions };
  const wanted = state.answer ?? state.variant;
  // An address has no lone surrogates: there they become U+FFFD, and the name must still be found.
  const name = (n) =>
    [index.columns[row.answers[n].column], row.answers[n].round].filter(Boolean).join(", ").replace(/\p{Cs}/gu, "\ufffd");
  const places = [...row.answers.keys()];
  const named = (text) => {
    const exact = places.findIndex((n) => name(n) === text);
    // Of several tries the last one counts.
    return exact >= 0 ? exact : places.findLastIndex((n) => index.columns[row.answers[n].column] === text);
  };
  const at = Math.max(0, named(wanted));
  const beside = named(state.with);
  const answer = row.answers[at];
  const [quote, setQuote] = useState(null);
  const [isPromptOpen, openPrompt] = useState(false);
  // Where the two columns do not fit beside each other, one of them is shown.
  const isNarrow = useMedia("(max-width: 60rem)");
  const [part, setPart] = useState("texts");
  useEffect(() => setQuote(null), [row, at]);
  const marked = useMemo(() => {
    if (!answer) return [];
    return [...answer.marks, ...(answer.steps?.marks ?? [])].map((mark) => mark.no);
  }, [answer]);
  /** Brings a part of the case into view, after it was drawn. */
  const show = (name, selector, then = () => {}) => {
    setPart(name);
    requestAnimationFrame(() => requestAnimationFrame(() => {
      const found = body.current?.querySelector(selector);
      found?.scrollIntoView({ block: "nearest" });
      if (found) then(found);
    }));
  };
  const pickQuote = (no) => (setQuote(no), show("texts", `mark[data-quotes~="${no}"]`));
  const pickMark = (no) => (setQuote(no), show("judgments", `li[data-quote="${no}"]`));
  const choose = (n, isBeside = false) =>
    change({ answer: name(n), with: isBeside ? name((n + 1) % places.length) : "" });
  const step = (by) => () => places.length > 1 && beside < 0 && choose((at + by + places.length) % places.length);
  useKeys({
    ArrowLeft: step(-1),
    ArrowRight: step(1),
    e: () => marked.length > 0 && pickQuote(marked[(marked.indexOf(quote) + 1) % marked.length]),
    r: () => show("texts", '[data-text="reference"]', (found) => found.querySelector(".passage").focus()),
    p: () => {
      openPrompt(!isPromptOpen);
      show("judgments", ".exchange");
    },
  }, areKeysOn);
  const omitted = index.omitted.replies ?? "";
  const view = { quote, marked, isPromptOpen, omitted };
  const given = (isBelow) => row.texts.filter((text) => BELOW.includes(text.title) === isBelow).map((text) =>
    html`<section data-text=${text.title} class="given"><h3>${text.title}</h3>
      <${Passage} text=${text.text} images=${text.images} mono=${text.mono} label=${text.title} /></section>`);
  if (beside >= 0 && beside !== at) {
    return html`<${Answers} index=${index} row=${row} at=${at} onChoose=${choose} isBeside />
      <div id="answer"><${Beside} index=${index} row=${row} questions=${questions} a=${at} b=${beside}
        onChoose=${(a, b) => change({ answer: name(a), with: a === b ? name((a + 1) % places.length) : name(b) })} />${given(false)}${given(true)}</div>`;
  }
  return html`<${Answers} index=${index} row=${row} at=${at} onChoose=${choose} isBeside=${false} />
    ${answer && html`<div class="verdict"><${Badge} tone=${index.states[answer.state].tone}>
      ${index.states[answer.state].label} ${answer.value ?? ""}<//> <${Facts} facts=${[answer.round, ...answer.facts].filter(Boolean)} /></div>`}
    ${isNarrow && html`<div class="parts" role="group" aria-label="Show">${[["texts", "Output and texts"], ["judgments", "Judgments"]].map(([key, text]) =>
      html`<button type="button" aria-pressed=${part === key} onClick=${() => setPart(key)}>${text}</button>`)}</div>`}
    <div class="columns" id="answer" role=${places.length > 1 ? "tabpanel" : null} aria-labelledby=${places.length > 1 ? `tab-${at}` : null}>
      ${(!isNarrow || part === "texts") && html`<div>${given(false)}${answer && html`<${Output} answer=${answer} view=${{ ...view, pick: pickMark }} />`}
        ${given(true)}${answer?.trace.length > 0 && html`<h3>trace</h3><${Timeline} trace=${answer.trace} />`}</div>`}
      ${answer && (!isNarrow || part === "judgments") && html`<div><${Decisions} answer=${answer} questions=${questions} view=${{ ...view, pick: pickQuote }} /></div>`}
    </div>`;
}

export function Drawer({ index, place, rows, state, change, onClose, onMove, areKeysOn, onHelp }) {
  const found = useCase(index, place);
  const body = useRef(null);
  const [notice, setNotice] = useState("");
  const at = rows.indexOf(place);
  const id = index.ids[place];
  useEffect(() => {
    setNotice("");
    if (body.current) body.current.scrollTop = 0;
  }, [place]);
  const link = linkTo({ ...state, case: id });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(link);
      setNotice("Link copied.");
    } catch {
      setNotice(`The browser does not allow copying; the link is ${link}`);
    }
  };
  useKeys({ "[": () => onMove(-1), "]": () => onMove(1), j: () => onMove(1), k: () => onMove(-1), c: () => { copy(); }, "?": onHelp }, areKeysOn);
  const Body = isPairKind(index.kind) ? PairBody : RunBody;
  return html`<${Dialog} label=${`Case ${id}`} className="drawer" onClose=${onClose}>
    <div class="inside">
      <header>
        <h2><bdi>${id}</bdi></h2>
        <div class="actions">
          <button type="button" onClick=${() => onMove(-1)} disabled=${at <= 0} aria-label="Previous case" title="Previous case ([)">‹</button>
          <span class="dim">${at >= 0 ? `${(at + 1).toLocaleString("en")} of ${rows.length.toLocaleString("en")}` : "filtered out"}</span>
          <button type="button" onClick=${() => onMove(1)} disabled=${at >= rows.length - 1} aria-label="Next case" title="Next case (])">›</button>
          <button type="button" onClick=${copy} title="Copy a link to this case (c)">Copy link</button>
          <button type="button" onClick=${onHelp} aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)">?</button>
          <button type="button" onClick=${onClose} aria-label="Close" title="Close (Esc)">✕</button>
        </div>
        <p role="status" class="notice">${notice}</p>
      </header>
      <div class="body" ref=${body} aria-busy=${found === null}>
        ${found?.error && html`<p class="fail">This case cannot be shown: ${found.error.message}. Reload the page; if that does not help, write it again.</p>`}
        ${found?.row && html`<${Facts} facts=${found.row.facts ?? []} />
          <${Body} key=${place} index=${index} row=${found.row} state=${state} change=${change} body=${body} areKeysOn=${areKeysOn} />`}
      </div>
    </div>
  <//>`;
}
