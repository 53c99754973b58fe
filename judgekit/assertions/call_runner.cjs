// Calls a function, or code in a text, with given arguments; run by `script_runner.cjs` like a
// script. Its counterpart for Python is `call_runner.py`.
"use strict";

const path = require("node:path");
const { pathToFileURL } = require("node:url");

async function load(file) {
  const whole = path.resolve(file);
  if (/\.[cm]?ts$/.test(whole) && !process.features.typescript) {
    throw new Error(`TypeScript needs Node.js 22.18 or later, and this is ${process.version}`);
  }
  if (whole.endsWith(".mjs")) return import(pathToFileURL(whole));
  try {
    return require(whole);
  } catch (error) {
    if (!error || error.code !== "ERR_REQUIRE_ESM") throw error;
    return import(pathToFileURL(whole));
  }
}

// The part of one line after its last semicolon is the result, where it begins with a declaration.
function body(code) {
  const trimmed = code.trim().replace(/;+\s*$/, "");
  if (code.trimEnd().includes("\n")) return code;
  if (!/^(const|let|var)\s/.test(trimmed)) return `return ${trimmed}`;
  const last = trimmed.lastIndexOf(";");
  return last < 0 ? trimmed : `${trimmed.slice(0, last + 1)} return ${trimmed.slice(last + 1)}`;
}

function member(found, name) {
  const main = found && found.default !== undefined ? found.default : found;
  if (!name) return main;
  return (found && found[name]) || (main && main[name]);
}

module.exports = async function (_output, _case, params) {
  if (params.code !== undefined) {
    // As in promptfoo, code reaches modules only by `process.mainModule.require`.
    const shim = { ...process, mainModule: { require } };
    const made = new Function(...params.names, "process", body(params.code));
    return made(...params.arguments, shim);
  }
  const found = member(await load(params.file), params.function);
  if (Array.isArray(found)) return found; // tests that a file exports
  if (typeof found !== "function") throw new Error(`there is no function ${params.function || ""}`);
  if (params.provider === undefined) return found(...params.arguments);
  // A provider is a class with a method `callApi`, or a function.
  const isClass = found.prototype && typeof found.prototype.callApi === "function";
  return isClass ? new found(params.provider).callApi(...params.arguments) : found(...params.arguments);
};
