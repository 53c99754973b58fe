// Numbers in words, as the server writes them.

/** A number of things: `1 item`, `1,200 items`. */
export function plural(n, one, many = `${one}s`) {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}
