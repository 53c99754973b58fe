// Tooltips: what a statistic means, and what a figure rests on. Without the script the browser shows
// the same texts as titles. They appear on hover, on focus and on a tap, and Esc closes them.

const GAP = 6;
let tip = null;
let owner = null;
let leaving = 0;

function element() {
  if (!tip) {
    tip = document.createElement("div");
    tip.id = "tip";
    tip.className = "tip";
    tip.setAttribute("role", "tooltip");
    // In the top layer no table with a scroll bar cuts it off, and it lies above an open dialog.
    tip.popover = "manual";
  }
  return tip;
}

function place(anchor) {
  const box = anchor.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.min(Math.max(GAP, box.left), Math.max(GAP, innerWidth - width - GAP));
  const below = box.bottom + GAP;
  const top = below + height > innerHeight && box.top > height + GAP ? box.top - height - GAP : below;
  tip.style.left = `${left}px`;
  tip.style.top = `${top}px`;
}

function show(anchor) {
  clearTimeout(leaving);
  if (owner === anchor) return;
  hide();
  owner = anchor;
  const shown = element();
  shown.textContent = anchor.dataset.tip;
  // An open dialog makes all outside it inert, and text outside of landmarks is skipped by some.
  (anchor.closest("dialog[open], main") ?? document.body).append(shown);
  shown.showPopover();
  place(anchor);
  // A point of a plot has the same words as its name.
  if (anchor.ariaLabel !== anchor.dataset.tip) anchor.setAttribute("aria-describedby", shown.id);
}

function hide() {
  clearTimeout(leaving);
  if (!owner) return;
  owner.removeAttribute("aria-describedby");
  owner = null;
  if (tip.matches(":popover-open")) tip.hidePopover();
}

/** The element with a tooltip that an event is about; its title becomes the tooltip's text. */
function found(target) {
  const anchor = target instanceof Element ? target.closest("[data-tip], .term[title], td[title], th[title]") : null;
  if (anchor?.title) {
    anchor.dataset.tip = anchor.title;
    anchor.removeAttribute("title");
  }
  return anchor;
}

/** Terms are reached by Tab; figures are not, since a table would have a stop for each. */
export function prepareTips(root = document) {
  for (const term of root.querySelectorAll(".term[title]")) {
    found(term);
    term.tabIndex = 0;
  }
  // The browser would show its own tip of the same words on top.
  for (const title of root.querySelectorAll("[data-tip] > * > title")) title.remove();
}

document.addEventListener("pointerover", (event) => {
  if (event.pointerType === "touch") return;
  const anchor = found(event.target);
  if (anchor) show(anchor);
  else if (tip?.contains(event.target)) clearTimeout(leaving);
  else if (owner) {
    // Time to move onto the tip, so that its text can be read at length or copied.
    clearTimeout(leaving);
    leaving = setTimeout(hide, 200);
  }
});
document.addEventListener("focusin", (event) => {
  const anchor = found(event.target);
  if (anchor) show(anchor);
});
document.addEventListener("focusout", hide);
document.addEventListener("click", (event) => {
  const anchor = found(event.target);
  if (anchor) show(anchor);
  else hide();
});
document.addEventListener("keydown", (event) => {
  // An open tip alone is closed: Esc then leaves the dialog below it open.
  if (event.key === "Escape" && owner) {
    hide();
    event.stopImmediatePropagation();
    event.preventDefault();
  }
}, true);
document.addEventListener("scroll", hide, { capture: true, passive: true });
