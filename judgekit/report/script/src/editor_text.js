// The text of a file with its line numbers; lines with problems are marked.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "./html.js";

// As in editor.css; lines are never wrapped, so that each is as high as the others.
const LINE_PX = 20;

export function TextPane({ path, text, problems, isReadOnly, target, onInput }) {
  const area = useRef(null);
  const numbers = useRef(null);
  const [scroll, setScroll] = useState({ top: 0, height: 600 });
  const look = () => area.current && setScroll({ top: area.current.scrollTop, height: area.current.clientHeight });

  // Written only where it differs: setting it would take the browser's own undo away.
  useLayoutEffect(() => {
    if (area.current.value !== text) area.current.value = text;
  }, [text]);
  useEffect(() => {
    const watch = new ResizeObserver(look);
    watch.observe(area.current);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    numbers.current.style.transform = `translateY(${-(scroll.top % LINE_PX)}px)`;
  }, [scroll]);
  useEffect(() => {
    if (!target) return;
    const lines = text.split("\n");
    const start = lines.slice(0, target.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
    area.current.focus();
    area.current.setSelectionRange(start, start + (lines[target.line - 1] ?? "").length);
    area.current.scrollTop = Math.max(0, (target.line - 4) * LINE_PX);
    area.current.scrollLeft = 0;
    look();
  }, [target]);

  const marks = new Map();
  for (const problem of problems) {
    const known = marks.get(problem.line);
    marks.set(problem.line, {
      severity: known?.severity === "error" ? "error" : problem.severity,
      words: known ? `${known.words}\n${problem.message}` : problem.message,
    });
  }
  const n = text.split("\n").length;
  const first = Math.floor(scroll.top / LINE_PX);
  const shown = Math.min(n - first, Math.ceil(scroll.height / LINE_PX) + 1);
  return html`
    <div class="ed-text">
      <div class="ed-gutter" aria-hidden="true">
        <div ref=${numbers}>
          ${Array.from({ length: Math.max(0, shown) }, (_, place) => {
            const line = first + place + 1;
            const mark = marks.get(line);
            const sign = mark && (mark.severity === "error" ? "✗" : "!");
            return html`<div class=${mark ? `ed-${mark.severity}` : ""} title=${mark?.words}>${sign} ${line}</div>`;
          })}
        </div>
      </div>
      <textarea ref=${area} wrap="off" spellcheck=${false} autocomplete="off" aria-label=${`Text of ${path}`}
        readOnly=${isReadOnly} onScroll=${look} onInput=${(event) => onInput(event.target.value)} />
    </div>`;
}
