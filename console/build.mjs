// Builds the console: src into files that are packed by gzip, but for typefaces, which are packed already.
// `node build.mjs DIR` writes into another folder than dist, unpacked too, for the test that compares.
// Views are files of their own, which a browser loads when they are opened: their names change with what is in them.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { here, options } from "./options.mjs";

const out = process.argv[2] ?? join(here, "dist");
mkdirSync(out, { recursive: true });
for (const name of readdirSync(out)) {
  if (/\.(gz|woff2)$/.test(name)) rmSync(join(out, name)); // of the build before
}

const result = await build({ ...options, minify: true, write: false, define: { DEVELOPMENT: "false" } });
const files = Object.fromEntries(result.outputFiles.map((f) => [f.path.split(/[\\/]/).pop(), f.contents]));
files["icon.svg"] = readFileSync(join(here, "src/icon.svg"));
files["licences.txt"] = Buffer.from(licences());

for (const [name, text] of Object.entries(files)) {
  if (name.endsWith(".woff2")) writeFileSync(join(out, name), text);
  else writeFileSync(join(out, `${name}.gz`), gzipSync(text, { level: 9 }));
}
writeFileSync(join(out, "index.html"), readFileSync(join(here, "src/index.html")));
for (const [name, text] of Object.entries(files)) {
  console.log(`${name} ${text.length} bytes, packed ${gzipSync(text, { level: 9 }).length}`);
}

// licences lists what is built into the console, with the text that each asks to be kept.
function licences() {
  const own = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
  const lock = JSON.parse(readFileSync(join(here, "package-lock.json"), "utf8"));
  const names = new Set(Object.keys(own.dependencies));
  for (const name of names) {
    for (const more of Object.keys(lock.packages[`node_modules/${name}`].dependencies ?? {})) names.add(more);
  }
  const parts = [...names].sort().map((name) => {
    const about = lock.packages[`node_modules/${name}`];
    let text = "";
    for (const file of ["LICENSE", "LICENSE.md", "LICENSE.txt"]) {
      try {
        text = readFileSync(join(here, "node_modules", name, file), "utf8").trim();
        break;
      } catch {}
    }
    return `${name} ${about.version}: ${about.license}\n\n${text}\n`;
  });
  return `The console of Trireme contains these packages.\n\n${parts.join(`\n${"-".repeat(72)}\n\n`)}`;
}
