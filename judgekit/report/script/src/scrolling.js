// Boxes that scroll sideways are reached by Tab, so that the arrow keys scroll them.

function update(box) {
  if (box.scrollWidth > box.clientWidth) {
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", label(box));
  } else {
    for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
  }
}

/** The heading above a box, or what its first column is called. */
function label(box) {
  for (let at = box; at && at.id !== "main"; at = at.parentElement) {
    for (let before = at.previousElementSibling; before; before = before.previousElementSibling) {
      if (/^H[1-6]$/.test(before.tagName)) return before.textContent;
    }
  }
  return box.querySelector("th, figcaption, svg")?.textContent || document.title;
}

export function prepareScrolling() {
  const watcher = new ResizeObserver((entries) => entries.forEach((one) => update(one.target)));
  for (const box of document.querySelectorAll(".wide")) watcher.observe(box);
}
