// Runs workflows with the published Workflow SDK against a world: an application of our own in a process, checks from outside.
//
//   node test.mjs [text ...]   all checks, or those whose names contain one of the texts
//   WORKFLOW_TARGET_WORLD      the world, by default the package of this repository
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { App } from "./app.mjs";
import { Book } from "./book.mjs";
import { build } from "./build.mjs";
import { Runner } from "./runner.mjs";

process.env.WORKFLOW_TARGET_WORLD ??= fileURLToPath(new URL("..", import.meta.url));
process.on("exit", () => App.all.forEach((a) => void a.child.kill("SIGKILL")));

await build(fileURLToPath(new URL("app", import.meta.url)));
const runner = new Runner();
const book = new Book();
await book.open();
const other = (env) => App.run({ BOOK_URL: book.url, ...env });
const app = await other();
for (const group of ["basics", "time", "values", "hooks", "streams", "processes", "faults"]) {
  if (group === "faults") await app.close(); // these have the world to themselves
  await runner.group(group, await import(`./checks/${group}.mjs`), () => ({ app, other, book, id: `t-${randomUUID()}` }));
}
const code = runner.end();
if (code !== 0) console.log(`the application's last words:\n${app.output}`);
book.close();
process.exit(code);
