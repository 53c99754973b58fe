// Runs one evaluation script: `module.exports = function (output, case, params) { … }`, or a script
// that reads the request from stdin and writes its answer to stdout itself.
"use strict";

const fs = require("node:fs");
const { pathToFileURL } = require("node:url");

const path = process.argv[2];
const mostBytes = Number(process.argv[3]);
let held = [];
let heldBytes = 0;

// Node queues in memory what a busy script prints; written at once, it is stopped for too much.
function put(fd, bytes) {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += fs.writeSync(fd, bytes, at);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

function release(fd) {
  for (const bytes of held) put(fd, bytes);
  held = [];
}

function writer(take) {
  return (chunk, encoding, done) => {
    take(Buffer.from(chunk, typeof encoding === "string" ? encoding : "utf8"));
    const after = typeof encoding === "function" ? encoding : done;
    if (after) process.nextTick(after);
    return true;
  };
}

function hold(bytes) {
  held.push(bytes);
  heldBytes += bytes.length;
  if (heldBytes > mostBytes) release(1);
}

// Node lets writes to a pipe that is full fail (EAGAIN) or end early once it has made a stream of
// it, as is done here. A script that writes by `fs.writeSync` waits instead, and is then stopped.
for (const stream of [process.stdout, process.stderr]) {
  if (stream._handle && stream._handle.setBlocking) stream._handle.setBlocking(true);
}

// Until it is known whether the script answers by a function, what it prints is held back.
process.stdout.write = writer(hold);
process.stderr.write = writer((bytes) => put(2, bytes));

process.on("exit", () => {
  if (!isFunction) release(1);
});

async function load() {
  if (/\.[cm]?ts$/.test(path) && !process.features.typescript) {
    throw new Error(`TypeScript needs Node.js 22.18 or later, and this is ${process.version}`);
  }
  if (path.endsWith(".mjs")) return import(pathToFileURL(path));
  try {
    return require(path);
  } catch (error) {
    if (!error || error.code !== "ERR_REQUIRE_ESM") throw error;
    return import(pathToFileURL(path));
  }
}

function exported(found) {
  const places = [found, found && found.evaluate, found && found.default];
  places.push(found && found.default && found.default.evaluate);
  return places.find((each) => typeof each === "function");
}

let isFunction = false;

async function main() {
  process.argv.splice(1, 3, path);
  const evaluate = exported(await load());
  if (evaluate === undefined) {
    release(1);
    process.stdout.write = writer((bytes) => put(1, bytes));
    return;
  }
  isFunction = true;
  release(2);
  process.stdout.write = process.stderr.write;
  const request = JSON.parse(fs.readFileSync(0, "utf8"));
  const found = await evaluate(request.output, request.case, request.params);
  const said = JSON.stringify(found);
  held = [Buffer.from(said === undefined ? "null" : said, "utf8")];
  release(1);
  process.exit(0);
}

main().catch((error) => {
  process.stderr.write(`${(error && error.stack) || error}\n`);
  process.exit(1);
});
