// The script of every page: it brings to life what the static page has.
import { render } from "preact";
import { html } from "./html.js";
import { readIndex } from "./data.js";
import { Cases } from "./cases.js";
import { prepareScrolling } from "./scrolling.js";
import { prepareTips } from "./tips.js";
import { enliven } from "./changes.js";
import { startEditor } from "./editor.js";
import { startHome } from "./home.js";
import { startLive } from "./live.js";
import { startLabelling } from "./label.js";

const index = readIndex();
const place = document.getElementById("cases");
if (index && place) {
  // The static table stays for print, which cannot scroll.
  place.querySelector(".static").classList.add("print-only");
  const live = document.createElement("div");
  live.className = "screen-only";
  place.querySelector(".static").before(live);
  render(html`<${Cases} index=${index} />`, live);
}

prepareTips();
prepareScrolling();
enliven(document);
startEditor();
startHome();
startLive();
startLabelling();
