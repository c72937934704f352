// Runs workflows with the published Workflow SDK against a world: an application of our own in a process, checks from outside.
//
//   node test.mjs [check ...]   all checks, or those whose names contain one of the texts
//   WORKFLOW_TARGET_WORLD       the world, by default the package of this repository
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { App } from "./app.mjs";
import { Book } from "./book.mjs";
import { build } from "./build.mjs";

process.env.WORKFLOW_TARGET_WORLD ??= fileURLToPath(new URL("..", import.meta.url));
const limit = 120_000; // of one check
const wanted = process.argv.slice(2);
const groups = ["basics", "time", "values", "hooks", "streams", "processes", "faults"]; // those of faults have the world to themselves

await build(fileURLToPath(new URL("app", import.meta.url)));
const book = new Book();
await book.open();
const other = (env) => App.run({ BOOK_URL: book.url, ...env });
const app = await other();
let failures = 0;
let passed = 0;
process.on("exit", () => App.all.forEach((a) => a.child.kill("SIGKILL")));

async function check(name, run) {
  const began = performance.now();
  let late;
  const timeout = new Promise((_, reject) => (late = setTimeout(() => reject(new Error(`not done in ${limit} ms`)), limit)));
  try {
    await Promise.race([run({ app, other, book, id: `t-${randomUUID()}` }), timeout]);
    passed++;
    console.log(`ok    ${name} (${Math.round(performance.now() - began)} ms)`);
  } catch (e) {
    failures++;
    console.log(`FAIL  ${name} (${Math.round(performance.now() - began)} ms)\n${e.stack ?? e}`);
  } finally {
    clearTimeout(late);
  }
}

for (const group of groups) {
  if (group === "faults") await app.close();
  for (const [name, run] of Object.entries(await import(`./checks/${group}.mjs`))) {
    const title = `${group}: ${name.replace(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`)}`;
    if (wanted.length === 0 || wanted.some((w) => title.includes(w))) await check(title, run);
  }
}
console.log(`${passed} checks passed, ${failures} failed, against ${process.env.WORKFLOW_TARGET_WORLD}`);
if (failures > 0) console.log(`the application's last words:\n${app.output}`);
book.close();
process.exit(failures === 0 && passed > 0 ? 0 : 1);
