// Runs the example on three nodes while the leader is killed again and again: every order ends right, no step is lost and none recorded
// twice, and each reader of a stream gets every line once. Needs `npm run build` before.
//
//   node kills.mjs [--kills 20] [--orders 12] [--between 12]
//
//   --kills    how often the leader is killed (SIGKILL) and started again
//   --orders   how many orders are under way at once
//   --between  how many orders have to end after a node is back before the next leader is killed
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { audit } from "../test/audit.mjs";
import { startTrireme, until } from "../test/trireme.mjs";

const option = (value) => ({ type: "string", default: value });
const { values: flags } = parseArgs({ options: { kills: option("20"), orders: option("12"), between: option("12") } });
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const patience = 180_000; // of one order

const freePort = () =>
  new Promise((done) => {
    const server = createServer().listen(0, () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });

const trireme = await startTrireme({ nodes: 3 });
Object.assign(process.env, trireme.env, { PORT: String(await freePort()) });
const app = spawn(process.execPath, [".output/server/index.mjs"], { cwd: fileURLToPath(new URL(".", import.meta.url)), env: process.env });
let words = "";
for (const out of [app.stdout, app.stderr]) out.on("data", (b) => (words = (words + b).slice(-20_000)));
process.on("exit", () => app.kill("SIGKILL"));
const base = `http://localhost:${process.env.PORT}`;

// ask gives a status and a JSON body; a refused or broken connection is a status too.
async function ask(path, body) {
  try {
    const answer = await fetch(base + path, body && { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } });
    const text = await answer.text();
    return { status: answer.status, body: answer.ok ? JSON.parse(text) : text };
  } catch (e) {
    return { status: 0, body: String(e.cause ?? e) };
  }
}
await until("the application answers", async () => (await ask("/.well-known/workflow/v1/flow?__health")).status === 200);

// What the world has, read by a second instance of it.
const world = createRequire(import.meta.url)(process.env.WORKFLOW_TARGET_WORLD).createWorld();
const store = {
  world: (path, ...args) => path.split(".").reduce((o, m) => o[m], world)(...args),
  async all(path, { limit, ...params }) {
    const items = [];
    for (let cursor, page; !page || page.hasMore; cursor = page.cursor) {
      page = await this.world(path, { ...params, pagination: { limit, cursor } });
      items.push(...page.data);
    }
    return items;
  },
  events: (runId) => store.all("events.list", { runId, limit: 1000 }),
};

const figures = { failedStarts: 0, failedPayments: 0, brokenReads: 0, repeatedLines: 0, ended: 0, times: [] };

// read collects the lines of an order's progress; after a broken connection it continues after the last one.
async function read(runId) {
  const lines = [];
  for (;;) {
    try {
      const answer = await fetch(`${base}/api/runs/${runId}/progress?from=${lines.length}`);
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      let rest = "";
      for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
        const parts = (rest + part).split("\n");
        rest = parts.pop();
        lines.push(...parts);
      }
      if (lines.at(-1) === "sent") return lines;
    } catch {} // asked again
    figures.brokenReads++;
    await pause(50);
  }
}

async function pay(id, amount, open) {
  while (open()) {
    const { status } = await ask(`/api/orders/${id}/payment`, { amount });
    if (status === 200) return;
    if (status !== 404) figures.failedPayments++; // 404: it does not wait yet
    await pause(100);
  }
}

let last = 0;

// order runs one order to its end, and checks everything that is known about it.
async function order() {
  const id = `order-${++last}`;
  const items = Array.from({ length: 2 + (last % 5) }, (_, i) => ({ name: `thing ${i}`, price: last + i }));
  const total = items.reduce((sum, item) => sum + item.price, 0);
  const began = Date.now();
  const { status, body } = await ask("/api/orders", { id, items });
  if (status !== 200) {
    figures.failedStarts++; // it may have begun all the same: see the strays below
    return pause(100);
  }
  const { runId } = body;
  let running = true;
  const late = setTimeout(() => fail(new Error(`${runId} has not ended after ${patience} ms`)), patience);
  const [lines] = await Promise.all([read(runId), pay(id, total, () => running)]);
  const run = await until(`the result of ${runId}`, async () => {
    const answer = await ask(`/api/runs/${runId}`);
    return answer.body.status && answer.body.status !== "running" && answer.body;
  });
  running = false;
  clearTimeout(late);
  figures.times.push(Date.now() - began);
  assert.deepEqual(run, { status: "completed", result: { orderId: id, total, paid: total } });
  await check(runId, items, lines);
  figures.ended++;
}

async function check(runId, items, lines) {
  const { steps, events } = await audit(store, runId);
  assert.equal(steps.length, items.length + 5, "the steps of an order");
  for (const step of steps) assert.equal(step.status, "completed");
  assert.equal(events.filter((e) => e.eventType === "step_completed").length, steps.length);
  // A step that was made again may have written again: nothing may be missing, and what comes first is in order.
  const first = [...new Set(lines)];
  const total = first[1].match(/\d+/)[0];
  assert.deepEqual(first, ["received", `reserved for ${total}`, `paid ${total}`, ...items.map((i) => `packed ${i.name}`), "sent"]);
  figures.repeatedLines += lines.length - first.length;
  const [name] = await store.world("listStreamsByRunId", runId);
  assert.deepEqual(await store.world("getStreamInfo", name, runId), { tailIndex: lines.length - 1, done: true }, "the reader got each line once");
}

let fail;
const failed = new Promise((_, reject) => (fail = reject));
let killing = true;
const began = Date.now();
const workers = Promise.all(
  Array.from({ length: Number(flags.orders) }, async () => {
    while (killing) await order();
  }),
);
workers.catch(fail);

async function killLeaders() {
  for (let n = 1; n <= Number(flags.kills); n++) {
    const mark = figures.ended + Number(flags.between);
    await Promise.race([failed, untilEnded(mark)]);
    const leader = await trireme.leader();
    const at = Date.now();
    trireme.kill(leader);
    await trireme.restart(leader);
    console.log(`kill ${n}: ${leader.id}, ready again after ${Date.now() - at} ms; ${figures.ended} orders have ended`);
  }
  killing = false;
  await workers;
}

async function untilEnded(mark) {
  while (figures.ended < mark) await pause(20);
}

// strays are runs whose start was answered by an error: they wait for a payment, and end like the others.
async function endStrays() {
  const known = await store.all("hooks.list", { limit: 1000 });
  for (const { token } of known) await pay(token.slice("payment:".length), 0, () => true);
  const runs = await until("the end of all runs", async () => {
    const all = await store.all("runs.list", { limit: 1000, resolveData: "none" });
    return all.every((r) => !["pending", "running"].includes(r.status)) && all;
  });
  for (const { runId } of runs) await audit(store, runId);
  const completed = runs.filter((r) => r.status === "completed").length;
  assert.equal(completed, runs.length, "every run has completed");
  return { runs: runs.length, strays: known.length };
}

try {
  await Promise.race([failed, killLeaders()]);
  const { runs, strays } = await endStrays();
  const seconds = (Date.now() - began) / 1000;
  const times = figures.times.sort((a, b) => a - b);
  console.log(
    `${flags.kills} kills in ${seconds.toFixed(0)} s: ${runs} runs, all completed with the right result, each step recorded once, each line of each stream read once`,
  );
  console.log(
    `an order took ${times[times.length >> 1]} ms (median), at most ${times.at(-1)} ms; ${strays} runs began though their start was answered by an error`,
  );
  console.log(
    `failed starts ${figures.failedStarts}, failed payments ${figures.failedPayments}, broken reads ${figures.brokenReads}, lines written again ${figures.repeatedLines}`,
  );
  app.kill();
  await trireme.stop();
} catch (e) {
  console.log(`the application's last words:\n${words}`);
  throw e;
}
process.exit(0);
