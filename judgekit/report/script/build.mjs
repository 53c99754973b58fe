// Builds ../assets from src/: one script, one style sheet, and the licences of what is bundled.
// `--check` compares instead of writing, and fails where the files are not what src/ gives.
import { readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const assets = new URL("../assets/", import.meta.url);
const bundled = ["preact", "htm", "diff"];

async function bundle(entry, name, options) {
  const result = await build({
    entryPoints: [new URL(`src/${entry}`, import.meta.url).pathname],
    bundle: true,
    minify: true,
    write: false,
    charset: "utf8",
    legalComments: "none",
    banner: options.banner,
    target: ["chrome120", "firefox121", "safari17"],
    format: options.format,
  });
  return [name, result.outputFiles[0].text];
}

async function licences() {
  const texts = [];
  for (const name of bundled) {
    const folder = new URL(`node_modules/${name}/`, import.meta.url);
    const { version } = JSON.parse(await readFile(new URL("package.json", folder), "utf8"));
    const text = await readFile(new URL("LICENSE", folder), "utf8");
    texts.push(`${name} ${version}\n\n${text.trim()}\n`);
  }
  return ["LICENSES.txt", `page.js contains:\n\n${texts.join("\n\n")}`];
}

const banner = `/* judgekit, with ${bundled.join(", ")}: licences in LICENSES.txt */`;
const files = [
  await bundle("page.js", "page.js", { format: "iife", banner: { js: banner } }),
  await bundle("page.css", "page.css", {}),
  await licences(),
];

const isCheck = process.argv.includes("--check");
for (const [name, text] of files) {
  const place = new URL(name, assets);
  if (!isCheck) {
    await writeFile(place, text);
    console.log(`${name}: ${Buffer.byteLength(text)} bytes`);
  } else if ((await readFile(place, "utf8").catch(() => "")) !== text) {
    console.error(`${name} is not what src/ gives: run \`npm ci && npm run build\` and commit it`);
    process.exitCode = 1;
  }
}
