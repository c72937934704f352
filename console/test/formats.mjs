// Loads src/format.ts, which is pure, as the tests want it.

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const { outputFiles } = await build({
  entryPoints: [join(here, "../src/format.ts")],
  bundle: true,
  write: false,
  format: "esm",
});
export const formats = await import(
  `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`
);
