// Sends changes to the viewer. Only pages that may change something hold the token for it.

/** What the viewer answered to a request that failed; `status` is 0 where it did not answer. */
export class ApiError extends Error {
  constructor(message, status, reply = null) {
    super(message);
    this.status = status;
    this.reply = reply;
  }
}

/** Whether this page may change something. */
export function mayWrite() {
  return writeToken() !== undefined;
}

function writeToken() {
  return document.querySelector('meta[name="judgekit-token"]')?.content;
}

/** Post JSON to an address of the viewer, and give its JSON; an ApiError has the viewer's message. */
export async function postJson(path, body) {
  if (!mayWrite()) throw new ApiError("This page can change nothing: it is for reading only.", 0);
  let reply;
  try {
    reply = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-judgekit-token": writeToken() },
      body: JSON.stringify(body),
    });
  } catch {
    throw new ApiError("judgekit does not answer. Is it still running?", 0);
  }
  const text = await reply.text();
  const isJson = reply.headers.get("content-type")?.startsWith("application/json");
  const data = isJson ? JSON.parse(text) : null;
  // The guard answers in plain text, routes in JSON.
  if (!reply.ok) throw new ApiError(data?.error ?? text, reply.status, data);
  return data;
}
