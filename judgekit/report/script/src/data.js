// The data of a page: the index of all cases, and the cases in full, unpacked when they are needed.

const FORMAT = "judgekit-page/1";

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

const chunks = new Map();

function loadChunk(number) {
  if (!chunks.has(number)) {
    const own = document.getElementById(`chunk-${number}`);
    const address = document.getElementById("page-index").dataset.chunks;
    chunks.set(
      number,
      own ? unpack(own.textContent) : fetch(`${address}${number}`).then((reply) => reply.json()),
    );
  }
  return chunks.get(number);
}

/** A case in full, by its place in the index. */
export async function loadCase(index, place) {
  const rows = await loadChunk(Math.floor(place / index.chunk));
  return rows[place % index.chunk];
}
