// The data of a page: the index of all cases, and the cases in full, unpacked when they are needed.

const FORMAT = "judgekit-page/1";

/** A value as terminals print it: one halfway between two hundredths goes to the even one. */
export function twoDecimals(value) {
  // Of the numbers with a binary fraction only odd eighths lie exactly halfway.
  const isHalfway = Math.abs((value * 8) % 2) === 1;
  return (isHalfway ? Math.round(value * 50) / 50 : value).toFixed(2);
}

export function readIndex() {
  const element = document.getElementById("page-index");
  if (!element) return null;
  const index = JSON.parse(element.textContent);
  // A page written by another version keeps its static table.
  return index.format === FORMAT ? index : null;
}

async function unpack(text) {
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

async function download(address) {
  const reply = await fetch(address).catch(() => {
    throw new Error("judgekit view does not answer");
  });
  if (reply.ok) return reply.json();
  // The guard answers in plain text, routes in JSON.
  const isJson = reply.headers.get("content-type")?.startsWith("application/json");
  throw new Error((isJson ? (await reply.json()).error : await reply.text()) || `the server answered ${reply.status}`);
}

const chunks = new Map();
// A reader goes from case to case: a few chunks serve that, all of them would fill the memory.
const MOST_CHUNKS = 8;

function loadChunk(number) {
  let chunk = chunks.get(number);
  if (!chunk) {
    const own = document.getElementById(`chunk-${number}`);
    const address = document.getElementById("page-index").dataset.chunks;
    chunk = own ? unpack(own.textContent) : download(`${address}${number}`);
    // What failed once may succeed later, for example after the server was started again.
    chunk.catch(() => chunks.delete(number));
  }
  chunks.delete(number);
  chunks.set(number, chunk);
  if (chunks.size > MOST_CHUNKS) chunks.delete(chunks.keys().next().value);
  return chunk;
}

/** A case in full, by its place in the index. */
export async function loadCase(index, place) {
  const rows = await loadChunk(Math.floor(place / index.chunk));
  return rows[place % index.chunk];
}

const fullTexts = [];

// What no reader sees as a text: how it is coloured, how a quote was found, the bytes of a picture.
const NO_TEXTS = new Set(["tone", "match", "src"]);

function* strings(value) {
  if (typeof value === "string") yield value;
  else if (value && typeof value === "object") {
    for (const [key, part] of Object.entries(value)) if (!NO_TEXTS.has(key)) yield* strings(part);
  }
}

/** Whether the texts of a chunk were read before. */
export function areTextsRead(index, number) {
  return fullTexts[number * index.chunk] !== undefined;
}

/** The texts of the cases of a chunk in lower case; they are read from the cases once. */
export async function chunkTexts(index, number) {
  const first = number * index.chunk;
  if (!areTextsRead(index, number)) {
    const rows = await loadChunk(number);
    rows.forEach((row, n) => {
      fullTexts[first + n] = [...strings(row)].join("\n").toLowerCase();
    });
  }
  return fullTexts.slice(first, first + index.chunk);
}
