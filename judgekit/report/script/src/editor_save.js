// The changes of a file before it is written; and both versions where it was changed on disk.
import { diffLines, diffWordsWithSpace } from "diff";
import { useEffect, useRef } from "preact/hooks";
import { html } from "./html.js";
import { plural } from "./words.js";

const AROUND = 3;
const MOST_PAIRED = 40;
const TIMEOUT_MS = 300;

export function SaveDialog({ dialog, path, file, onSave, onSettle, onClose }) {
  const element = useRef(null);
  useEffect(() => {
    element.current.showModal();
  }, []);
  const n = file.problems.filter((one) => one.severity === "error" && one.path === path).length;
  const isConflict = dialog.kind === "conflict";
  const before = isConflict ? dialog.disk.text : file.saved;
  return html`
    <dialog class="ed-dialog" ref=${element} onClose=${onClose} aria-labelledby="ed-dialog-title">
      <h2 id="ed-dialog-title">${isConflict ? "Changed on disk" : `Changes to ${path}`}</h2>
      ${dialog.message && html`<p class="error" role="alert">${dialog.message}</p>`}
      ${isConflict
        ? html`<p>Below: what is on disk now (−), and what you have here (+).</p>`
        : n > 0 && html`<p class="fail">✗ With ${plural(n, "error")} it cannot be used until ${n === 1 ? "it is" : "they are"} corrected.</p>`}
      <${LineDiff} before=${before} after=${file.text} />
      <div class="ed-buttons">
        ${isConflict
          ? html`
              <button onClick=${() => onSettle(dialog.disk, true)}>Keep mine, and look at the changes again</button>
              <button onClick=${() => onSettle(dialog.disk, false)}>Discard mine, take the file on disk</button>`
          : html`<button class="ed-save" autofocus onClick=${onSave}>${n ? `Save with ${plural(n, "error")}` : "Save"} <kbd>Ctrl+S</kbd></button>`}
        <button onClick=${() => element.current.close()}>Cancel</button>
      </div>
    </dialog>`;
}

/** Two texts line by line; lines far from a change are folded. */
export function LineDiff({ before, after }) {
  const parts = diffLines(before, after, { timeout: TIMEOUT_MS });
  if (!parts) return html`<p class="note">The texts have too little in common to be compared line by line.</p>`;
  const rows = [];
  parts.forEach((part, place) => {
    const lines = part.value.replace(/\n$/, "").split("\n");
    if (!part.added && !part.removed) {
      rows.push(...folded(lines, place === 0, place === parts.length - 1));
      return;
    }
    const other = part.removed ? parts[place + 1] : parts[place - 1];
    const isPaired = other && (part.removed ? other.added : other.removed) && other.count === part.count && part.count <= MOST_PAIRED;
    const others = isPaired ? other.value.replace(/\n$/, "").split("\n") : [];
    lines.forEach((line, n) => rows.push({ sign: part.removed ? "−" : "+", line, other: others[n] }));
  });
  return html`
    <div class="ed-diff" tabindex="0" role="region" aria-label="Changed lines">
      ${rows.map((row) => {
        if (row.folded) return html`<div class="ed-fold">${row.folded} unchanged lines</div>`;
        if (!row.sign) return html`<div><span>  </span>${row.line}</div>`;
        const tag = row.sign === "+" ? "ins" : "del";
        return html`<${tag} class="ed-line"><span class="hidden">${row.sign === "+" ? "added: " : "removed: "}</span><span aria-hidden="true">${row.sign} </span><${Words} row=${row} /></${tag}>`;
      })}
    </div>`;
}

function folded(lines, isFirst, isLast) {
  const head = isFirst ? 0 : AROUND;
  const tail = isLast ? 0 : AROUND;
  if (lines.length <= head + tail + 1) return lines.map((line) => ({ line }));
  return [
    ...lines.slice(0, head).map((line) => ({ line })),
    { folded: lines.length - head - tail },
    ...(tail ? lines.slice(-tail).map((line) => ({ line })) : []),
  ];
}

/** A changed line with the words marked in which it differs from its other version. */
function Words({ row }) {
  const isAdded = row.sign === "+";
  const parts = row.other === undefined ? null
    : diffWordsWithSpace(isAdded ? row.other : row.line, isAdded ? row.line : row.other, { timeout: TIMEOUT_MS });
  if (!parts) return row.line;
  return parts
    .filter((part) => (isAdded ? !part.removed : !part.added))
    .map((part) => (part.added || part.removed ? html`<mark>${part.value}</mark>` : part.value));
}
