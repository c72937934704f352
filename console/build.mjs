// Builds the console: src into files of stable names, packed by gzip. `node build.mjs DIR`
// writes into another folder than dist, unpacked too, for the test that compares.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "dist");
mkdirSync(out, { recursive: true });

const result = await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.tsx" },
  bundle: true,
  minify: true,
  write: false,
  format: "iife",
  target: ["chrome109", "firefox115", "safari16.4"],
  outdir: out,
  charset: "utf8",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
});
const files = Object.fromEntries(result.outputFiles.map((f) => [f.path.split(/[\\/]/).pop(), f.contents]));
files["icon.svg"] = readFileSync(join(here, "src/icon.svg"));
files["licences.txt"] = Buffer.from(licences());

for (const [name, text] of Object.entries(files)) {
  writeFileSync(join(out, `${name}.gz`), gzipSync(text, { level: 9 }));
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
