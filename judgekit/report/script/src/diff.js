// What changed between two texts: by words, of long ones by lines, of unlike ones not at all.
import { useMemo } from "preact/hooks";
import { diffLines, diffWords } from "diff";
import { html } from "./html.js";

// Longer, and opening a case would stall the page.
const TIMEOUT = 300;

// Below this share of common text, a diff of words is harder to read than both texts.
const LEAST_IN_COMMON = 0.2;

// The segmenter knows words of languages that do not put spaces between them.
const segmenter =
  typeof Intl.Segmenter === "function" ? new Intl.Segmenter(undefined, { granularity: "word" }) : undefined;

function changedParts(a, b) {
  // Each part is all of one text where the other is empty.
  if (!a || !b) return [{ value: a || b, removed: !b, added: !a }];
  return (
    diffWords(a, b, { intlSegmenter: segmenter, timeout: TIMEOUT }) ??
    diffLines(a, b, { timeout: TIMEOUT }) ??
    null
  );
}

function shareInCommon(parts, a, b) {
  const common = parts.filter((part) => !part.added && !part.removed);
  const length = common.reduce((sum, part) => sum + part.value.trim().length, 0);
  return length / Math.max(1, Math.min(a.trim().length, b.trim().length));
}

function countWords(text) {
  if (!segmenter) return text.split(/\s+/).filter(Boolean).length;
  return [...segmenter.segment(text)].filter((one) => one.isWordLike).length;
}

/** What a reader is told before the marked text, and the parts of it; null for both texts whole. */
export function compareTexts(a, b) {
  if (a === b) return { summary: a ? "Both texts are the same." : "Both texts are empty.", parts: [] };
  const parts = changedParts(a, b);
  if (parts && !parts.some((part) => part.added || part.removed)) {
    return { summary: "Only white space differs.", parts };
  }
  if (!parts || (a && b && shareInCommon(parts, a, b) < LEAST_IN_COMMON)) {
    return {
      summary: "The texts have little in common.",
      parts: [{ value: a, removed: true }, { value: b, added: true }],
      isWhole: true,
    };
  }
  const words = (kind) =>
    parts.reduce((sum, part) => sum + (part[kind] ? countWords(part.value) : 0), 0);
  return { summary: `Words removed: ${words("removed")}. Words added: ${words("added")}.`, parts };
}

function Part({ part, isWhole }) {
  if (!part.added && !part.removed) return part.value;
  // Signs for those who do not see the colours, words for those who do not see the signs.
  const [tag, words] = part.added ? ["ins", "added: "] : ["del", "removed: "];
  return html`<${tag} class=${isWhole ? "whole" : ""}><span class="hidden">${words}</span>${part.value}<span class="hidden">, end. </span></${tag}>`;
}

/** The words of `a` that are not in `b`, and the other way round, in one text. */
export function WordDiff({ a, b }) {
  const found = useMemo(() => compareTexts(a, b), [a, b]);
  return html`
    <div class="word-diff">
      <p class="note" role="status">${found.summary}</p>
      ${found.parts.length > 0 && html`
        <div class="diff-text" dir="auto" tabindex="-1">
          ${found.parts.map((part) => html`<${Part} part=${part} isWhole=${found.isWhole} />`)}
        </div>`}
    </div>`;
}
