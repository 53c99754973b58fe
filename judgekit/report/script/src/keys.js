// Keyboard shortcuts of one key: they can be switched off, and are off where somebody types.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "./html.js";

const STORED = "judgekit-single-keys";

function areOn() {
  try {
    return localStorage.getItem(STORED) !== "off";
  } catch {
    // Storage may be refused; the keys then work until the page is left.
    return true;
  }
}

function store(isOn) {
  try {
    localStorage.setItem(STORED, isOn ? "on" : "off");
  } catch {
    // As above.
  }
}

export function useSingleKeys() {
  const [isOn, set] = useState(areOn);
  return [isOn, (next) => { store(next); set(next); }];
}

/** Calls the action of a key; `keys` maps `event.key` to functions. */
export function useKeys(keys, isOn) {
  const latest = useRef(null);
  latest.current = isOn ? keys : {};
  // Before the page is drawn: a key that is pressed as soon as a case is seen must not be lost.
  useLayoutEffect(() => {
    const press = (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]")) return;
      const action = latest.current[event.key];
      if (action && action() !== false) event.preventDefault();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}

/** A dialog over the page: the rest is out of reach, and `Esc` closes it. */
export function Dialog({ label, className, onClose, children }) {
  const dialog = useRef(null);
  useEffect(() => {
    dialog.current.showModal();
    // The browser would go to the first button; a reader begins at the top.
    dialog.current.focus();
  }, []);
  return html`<dialog ref=${dialog} class=${className} aria-label=${label} tabindex="-1"
    onCancel=${(event) => { event.preventDefault(); onClose(); }}
    onClick=${(event) => event.target === dialog.current && onClose()}>${children}</dialog>`;
}

export function Help({ rows, isOn, setOn, onClose }) {
  return html`<${Dialog} label="Keyboard shortcuts" className="help" onClose=${onClose}>
    <div class="inside">
      <header><h2>Keyboard shortcuts</h2><button type="button" onClick=${onClose} aria-label="Close">✕</button></header>
      <table><tbody>${rows.map(([keys, text]) => html`<tr>
        <th scope="row">${keys.split(" ").map((key) => html`<kbd>${key}</kbd> `)}</th><td>${text}</td></tr>`)}</tbody></table>
      <label class="check"><input type="checkbox" checked=${isOn} onChange=${(event) => setOn(event.target.checked)} />
        Use shortcuts of a single key</label>
    </div>
  <//>`;
}
