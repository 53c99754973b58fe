// Follows a run that has not ended, and loads the page again when it has.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { html } from "./html.js";

/** `lines` are the texts of the static page that say how far the run was. */
function Live({ address, lines }) {
  const [now, setNow] = useState(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const source = new EventSource(address);
    source.addEventListener("progress", (event) => {
      const data = JSON.parse(event.data);
      setNow(data);
      setProblem("");
      data.lines.forEach((text, n) => {
        if (lines[n]) lines[n].textContent = text;
      });
    });
    source.addEventListener("end", () => {
      source.close();
      location.reload();
    });
    source.addEventListener("problem", (event) => {
      source.close();
      setProblem(JSON.parse(event.data).text);
    });
    // The browser tries again by itself, as long as the page is open.
    source.onerror = () => setProblem("judgekit does not answer. Is it still running?");
    return () => source.close();
  }, [address]);
  if (!now) return html`<p class="note">${problem || "Loading the progress …"}</p>`;
  const share = now.total ? Math.min(1, now.done / now.total) : null;
  return html`
    <div class="live">
      <progress aria-label="Progress of the run" max=${now.total ?? undefined}
        value=${share === null ? undefined : Math.min(now.done, now.total)}></progress>
      <span class="live-text">${now.lines[0]}</span>
    </div>
    <p class="hidden" role="status">${spoken(now, share)}</p>
    ${now.hint && html`<p class="note">${now.hint}</p>`}
    ${problem && html`<p class="note" role="alert">${problem}</p>`}
  `;
}

/** What a screen reader says: not every answer, but every tenth of them. */
function spoken(now, share) {
  return share === null ? "" : `${Math.floor(share * 10) * 10} % of ${now.total}`;
}

export function startLive() {
  const place = document.getElementById("live");
  if (!place) return;
  const lines = document.querySelectorAll("main > dl dd");
  render(html`<${Live} address=${place.dataset.events} lines=${lines} />`, place);
}
