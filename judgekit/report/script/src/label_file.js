// The answers of one annotator: kept in the browser or the store, written to and read from files.
//
// An answer is { choice, cannot, comment, at }; a choice is a score, or "first", "second", "tie".
// Whatever was changed last wins, so that files, tabs and sessions can be joined in any order.

export const OVERALL = "";

export function emptyWork(annotator) {
  return { annotator, answers: {}, flags: {}, seconds: {}, saved: null, changed: null };
}

export function answerOf(work, item, name) {
  return work.answers[item.id]?.[name] ?? null;
}

export function isAnswered(answer) {
  return answer != null && (answer.cannot || answer.choice != null);
}

/** Whether two answers would be stored alike; what has no answer is like one that was undone. */
export function isSame(one, other) {
  const [a, b] = [one, other].map((answer) => [answer?.choice ?? null, answer?.cannot ?? false, (answer?.comment ?? "").trim()]);
  return a.every((part, n) => part === b[n]);
}

/** The key of a criterion in the answers; a pair is judged as a whole where none is named. */
export const keyOf = (criterion) => criterion.name ?? OVERALL;

export function isGap(task, work, item, place) {
  const answer = answerOf(work, item, keyOf(task.criteria[place]));
  if (!isAnswered(answer)) return true;
  return task.reason && !answer.cannot && !answer.comment.trim();
}

export function isDone(task, work, item) {
  return item.criteria.every((place) => !isGap(task, work, item, place));
}

const later = (one, other) => ((other?.at ?? "") > (one?.at ?? "") ? other : one);

/** Two states of the same annotator's work as one. */
export function joined(work, other) {
  const whole = { ...work, answers: { ...work.answers }, flags: { ...work.flags }, seconds: { ...work.seconds } };
  for (const [id, own] of Object.entries(other.answers)) {
    const answers = { ...whole.answers[id] };
    for (const [name, answer] of Object.entries(own)) answers[name] = later(answers[name], answer);
    whole.answers[id] = answers;
  }
  for (const [id, flag] of Object.entries(other.flags)) whole.flags[id] = later(whole.flags[id], flag);
  for (const [id, seconds] of Object.entries(other.seconds)) {
    whole.seconds[id] = Math.max(whole.seconds[id] ?? 0, seconds);
  }
  const times = (name) => [work[name], other[name]].filter(Boolean).sort().at(-1) ?? null;
  return { ...whole, saved: times("saved"), changed: times("changed") };
}

// --- order

/** A number from a text, the same in every browser (FNV-1a, mixed once more). */
function hash(text) {
  let value = 2166136261;
  for (const character of text) {
    value = Math.imul(value ^ character.codePointAt(0), 16777619);
  }
  value = Math.imul(value ^ (value >>> 15), 2246822507);
  return (value ^ (value >>> 13)) >>> 0;
}

const APART = 10;

/** The items in the order of one annotator: no two see them in the same order. Python's `annotator_rank` is the same. */
export function ordered(task, annotator) {
  // Conflicts come as they are listed: whoever decides them sees every label anyway.
  if (task.adjudicates) return task.items;
  const rank = (item) => hash(`${task.packet} ${annotator} ${item.id}`);
  const once = task.items.filter((item) => !item.again);
  once.sort((a, b) => a.part - b.part || rank(a) - rank(b) || (a.id < b.id ? -1 : 1));
  // An item that is shown again comes when it is no longer remembered.
  for (const item of task.items.filter((one) => one.again)) {
    const first = once.findIndex((one) => one.id === item.again);
    once.splice(Math.min(once.length, first + APART + (rank(item) % APART)), 0, item);
  }
  return once;
}

// --- rows

/** The answers as rows of labels, in the order of the items. */
export function labelRows(task, work, items) {
  return items.flatMap((item, place) => {
    const keys = item.criteria.map((at) => keyOf(task.criteria[at]));
    const kept = keys.filter((name) => isAnswered(answerOf(work, item, name)) || answerOf(work, item, name)?.comment.trim());
    // A flag without an answer is kept too.
    const named = kept.length || !work.flags[item.id]?.on ? kept : keys.slice(0, 1);
    return named.map((name) => labelRow(task, work, item, name, place + 1));
  });
}

export function labelRow(task, work, item, name, position) {
  const answer = answerOf(work, item, name);
  const metadata = { packet: task.packet, position, labelled_at: answer?.at ?? new Date().toISOString() };
  if (work.seconds[item.id]) metadata.seconds = Math.round(work.seconds[item.id]);
  if (answer?.cannot) metadata.cannot_judge = true;
  if (work.flags[item.id]?.on) metadata.flagged = true;
  if (task.adjudicates) metadata.adjudicates = true;
  const row = { case_id: item.id };
  if (name !== OVERALL) row.criterion = name;
  row.annotator = work.annotator;
  if (answer && !answer.cannot && answer.choice != null) row[task.pairs ? "winner" : "raw"] = answer.choice;
  if (answer?.comment.trim()) row.rationale = answer.comment.trim();
  row.metadata = metadata;
  return row;
}

/** The work that rows of labels tell of; throws an Error whose message is for the annotator. */
export function workOfRows(task, rows) {
  const known = new Map(task.items.map((item) => [item.id, item]));
  const names = new Set(rows.map((row) => row.annotator));
  if (names.size > 1) throw new Error("This file has the answers of several people. Open a file of one person.");
  const work = emptyWork(String([...names][0] ?? ""));
  for (const row of rows) {
    const about = row.metadata ?? {};
    const item = known.get(row.case_id);
    if (about.packet !== task.packet || !item) {
      throw new Error("This file belongs to another labelling page, so that its answers do not fit here.");
    }
    const choice = row.raw ?? row.winner ?? null;
    const answer = { choice, cannot: about.cannot_judge === true, comment: String(row.rationale ?? ""), at: String(about.labelled_at ?? "") };
    work.answers[item.id] = { ...work.answers[item.id], [row.criterion ?? OVERALL]: answer };
    if (about.flagged) work.flags[item.id] = { on: true, at: answer.at };
    if (about.seconds) work.seconds[item.id] = about.seconds;
    if (answer.at > (work.changed ?? "")) work.changed = answer.at;
  }
  return work;
}

export function workOfFile(task, text) {
  const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
  let rows;
  try {
    rows = lines.map((line) => JSON.parse(line));
  } catch {
    throw new Error("This is not a file that this page has saved: it cannot be read.");
  }
  if (!rows.length || rows.some((row) => row === null || typeof row !== "object")) {
    throw new Error("This file has no answers.");
  }
  return workOfRows(task, rows);
}

// --- places to keep them

const kind = (task) => (task.adjudicates ? "judgekit-adjudicate" : "judgekit-label");
const place = (task, annotator) => `${kind(task)} ${task.packet} ${annotator}`;
const lastName = (task) => `${kind(task)}-name ${task.packet}`;

/** The work as the browser has it; null where there is none, or the browser keeps nothing. */
export function readKept(task, annotator) {
  try {
    const text = localStorage.getItem(place(task, annotator));
    return text ? joined(emptyWork(annotator), JSON.parse(text)) : null;
  } catch {
    return null;
  }
}

export function keptName(task) {
  try {
    return localStorage.getItem(lastName(task)) ?? "";
  } catch {
    return "";
  }
}

/** Keep the work in the browser, joined with what another tab has kept; whether that was possible. */
export function keep(task, work) {
  const whole = joined(work, readKept(task, work.annotator) ?? emptyWork(work.annotator));
  try {
    localStorage.setItem(place(task, work.annotator), JSON.stringify(whole));
    localStorage.setItem(lastName(task), work.annotator);
    return true;
  } catch {
    return false;
  }
}

export function isKeptAt(task, annotator, key) {
  return key === place(task, annotator);
}

export function download(name, rows) {
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  const address = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

export function fileName(annotator) {
  const plain = annotator.normalize("NFKD").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").toLowerCase();
  return `labels-${plain || "annotator"}.jsonl`;
}
