// Loads sources that are pure, as the tests want them.

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const src = join(dirname(fileURLToPath(import.meta.url)), "../src");

/** load is a source of src with what it imports. */
export async function load(name) {
  const { outputFiles } = await build({ entryPoints: [join(src, name)], bundle: true, write: false, format: "esm" });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}
export const formats = await load("format.ts");
