// Texts before and after on the static page: the words that changed in their place.
import { render } from "preact";
import { html } from "./html.js";
import { WordDiff } from "./diff.js";

export function enliven(page) {
  for (const place of page.querySelectorAll(".text-change")) {
    const [before, after] = [...place.querySelectorAll("pre")].map((text) => text.textContent);
    place.replaceChildren();
    render(html`<${WordDiff} a=${before} b=${after} />`, place);
  }
}
