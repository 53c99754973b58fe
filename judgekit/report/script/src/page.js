// The script of every page: it brings to life what the static page has.
import { render } from "preact";
import { html } from "./html.js";
import { readIndex } from "./data.js";
import { Cases } from "./cases.js";
import { startEditor } from "./editor.js";
import { startHome } from "./home.js";
import { startLive } from "./live.js";

const index = readIndex();
const place = document.getElementById("cases");
if (index && place) {
  const title = place.querySelector("h2, h3")?.textContent ?? "Cases";
  place.replaceChildren();
  render(html`<${Cases} index=${index} title=${title} />`, place);
}

startEditor();
startHome();
startLive();
