// Calls a world's methods one by one: each rule of the World interface 4.5 for events, reads, streams and the queue.
//
//   node contract.mjs [text ...]   all checks, or those whose names contain one of the texts
//   WORKFLOW_TARGET_WORLD          the world, by default the package of this repository
import http from "node:http";
import { fileURLToPath } from "node:url";
import { getWorld } from "workflow/runtime";
import { Runner } from "./runner.mjs";

process.env.WORKFLOW_TARGET_WORLD ??= fileURLToPath(new URL("..", import.meta.url));

// The inbox is the application: it keeps what is delivered, and answers it as a check has said.
const inbox = {
  deliveries: [],
  answers: new Map(), // by the id of a step or run
  counts: new Map(),
  watchers: new Set(),
  answer: (id, reply) => inbox.answers.set(id, reply),
  answered: (id) => inbox.counts.get(id) ?? 0,
  got: (matches, times = 1) =>
    new Promise((resolve) => {
      const look = () => {
        const found = inbox.deliveries.filter(matches);
        if (found.length < times) return;
        inbox.watchers.delete(look);
        resolve(found);
      };
      inbox.watchers.add(look);
      look();
    }),
  async take(message, meta) {
    inbox.deliveries.push({ message, meta, at: Date.now() });
    const id = message.stepId ?? message.runId;
    const count = inbox.answered(id) + 1;
    inbox.counts.set(id, count);
    for (const look of inbox.watchers) look();
    return inbox.answers.get(id)?.(count);
  },
};

let handlers;
const server = http.createServer(async (req, res) => {
  const parts = [];
  for await (const part of req) parts.push(part);
  const handler = handlers[req.url.split("/").at(-1)];
  const answer =
    (await handler?.(
      new Request(`http://${req.headers.host}${req.url}`, {
        method: req.method,
        headers: req.headers,
        body: parts.length > 0 ? Buffer.concat(parts) : undefined,
      }),
    )) ?? new Response("", { status: 404 });
  res.writeHead(answer.status, Object.fromEntries(answer.headers));
  res.end(Buffer.from(await answer.arrayBuffer()));
});
await new Promise((done) => server.listen(Number(process.env.PORT ?? 0), done));
process.env.PORT = String(server.address().port);
inbox.url = `http://localhost:${process.env.PORT}`;
const world = getWorld();
handlers = { flow: world.createQueueHandler("__wkf_workflow_", inbox.take), step: world.createQueueHandler("__wkf_step_", inbox.take) };
await world.start?.();

const runner = new Runner();
for (const group of ["runs", "steps", "hooks", "lists", "streams", "queue"]) {
  await runner.group(group, await import(`./contract/${group}.mjs`), () => ({ world, inbox }));
}
process.exit(runner.end());
