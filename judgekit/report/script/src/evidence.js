// Foreign texts: every character is kept, passages that a judge quoted are marked in place.
import { html } from "./html.js";

// What would act on a reader unseen: control and direction characters, zero-width and tag
// characters. Line breaks and tabs are text; the joiners belong to emoji and scripts.
const UNSEEN =
  /\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\udb40[\udc00-\udc7f]/g;
const FENCE = /^ {0,3}(```|~~~)[^\n]*\n[\s\S]*?(?:^ {0,3}\1[^\n]*$|$(?![\s\S]))/gm;

/** A text with a visible chip in the place of each character that nobody would see. */
export function visible(text) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(UNSEEN)) {
    const code = `U+${found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
    parts.push(text.slice(end, found.index), html`<span class="chip" title="invisible character">${code}</span>`);
    end = found.index + found[0].length;
  }
  return end ? [...parts, text.slice(end)] : text;
}

/** Where the text is cut, so that no piece lies across an end of a mark or of a code block. */
function pieces(text, marks, codes) {
  const cuts = new Set([0, text.length]);
  for (const { start, end } of [...marks, ...codes]) cuts.add(start).add(end);
  const ends = [...cuts].sort((a, b) => a - b);
  return ends.slice(1).map((end, n) => {
    const start = ends[n];
    const holds = (range) => range.start <= start && end <= range.end;
    return { start, end, marks: marks.filter(holds), isCode: codes.some(holds) };
  });
}

/** The images of a text, below it. */
export const Pictures = ({ images = [] }) => images.map(({ src, title }) => html`<img class="picture" src=${src} alt=${title} title=${title} />`);

/** A foreign text with its marks; `at` is the quote that is looked at. */
export function Passage({ text, images = [], mono = false, marks = [], at = null, onPick = null, label = null }) {
  const codes = mono ? [] : [...text.matchAll(FENCE)].map((found) => ({ start: found.index, end: found.index + found[0].length }));
  const shown = pieces(text, marks, codes).map((piece) => {
    const content = visible(text.slice(piece.start, piece.end));
    const inner = piece.isCode ? html`<span class="code">${content}</span>` : content;
    if (piece.marks.length === 0) return inner;
    // A mark is a quote with its number, or a passage with a note, such as one hidden from the judge.
    const quotes = piece.marks.filter((mark) => mark.no);
    const notes = piece.marks.map((mark) => mark.note).filter(Boolean);
    const numbers = quotes.map((mark) => mark.no);
    const isLast = quotes.filter((mark) => mark.end === piece.end).map((mark) => mark.no);
    const named = numbers.length > 0 ? [`${numbers.length > 1 ? "quotes" : "quote"} ${numbers.join(", ")}`] : [];
    const kinds = [`n${Math.min(3, piece.marks.length)}`, numbers.includes(at) && "at", notes.length > 0 && "scrubbed"];
    return html`<mark class=${kinds.filter(Boolean).join(" ")}
      data-quotes=${numbers.join(" ")} data-ends=${isLast.join(" ") || null}
      title=${[...named, ...notes].join("; ")}
      onClick=${onPick && numbers.length > 0 ? () => onPick(numbers[0]) : null}>${inner}${
        notes.length > 0 && html`<span class="hidden"> (${notes.join("; ")})</span>`
      }</mark>`;
  });
  // A long text scrolls in a box of its own, which the keyboard must reach.
  return html`<div class=${`passage${mono ? " mono" : ""}`} dir="auto" tabindex="0" role="group" aria-label=${label}>${shown}</div><${Pictures} images=${images} />`;
}
