// Runs one evaluation script: `module.exports = function (output, case, params) { … }`, or a script
// that reads the request from stdin and writes its answer to stdout itself.
"use strict";

const fs = require("node:fs");
const { pathToFileURL } = require("node:url");

const path = process.argv[2];
const realWrite = process.stdout.write.bind(process.stdout);
let held = [];

// Until it is known whether the script answers by a function, what it prints is held back.
process.stdout.write = (chunk, encoding, done) => {
  held.push(Buffer.from(chunk, typeof encoding === "string" ? encoding : "utf8"));
  const after = typeof encoding === "function" ? encoding : done;
  if (after) process.nextTick(after);
  return true;
};

function release(fd) {
  for (const chunk of held) {
    for (let at = 0; at < chunk.length; ) {
      try {
        at += fs.writeSync(fd, chunk, at);
      } catch (error) {
        if (error.code !== "EAGAIN") throw error;
      }
    }
  }
  held = [];
}

process.on("exit", () => {
  if (!isFunction) release(1);
});

async function load() {
  if (path.endsWith(".mjs")) return import(pathToFileURL(path));
  try {
    return require(path);
  } catch (error) {
    if (error.code !== "ERR_REQUIRE_ESM") throw error;
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
  process.argv.splice(1, 2, path);
  const evaluate = exported(await load());
  if (evaluate === undefined) {
    release(1);
    process.stdout.write = realWrite;
    return;
  }
  isFunction = true;
  release(2);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  const request = JSON.parse(fs.readFileSync(0, "utf8"));
  const found = await evaluate(request.output, request.case, request.params);
  held = [Buffer.from(JSON.stringify(found === undefined ? null : found), "utf8")];
  release(1);
  process.exit(0);
}

main().catch((error) => {
  process.stderr.write(`${(error && error.stack) || error}\n`);
  process.exit(1);
});
