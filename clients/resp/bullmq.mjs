// The published queue BullMQ, unmodified, against running nodes: a queue on one node, its
// workers on the others. See nodes.mjs for the variables.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { FlowProducer, Queue, QueueEvents, Worker } from "bullmq";
import { key, nodes, token, unique, until } from "./nodes.mjs";

const connection = (i) => ({ ...nodes[i % nodes.length], password: token, maxRetriesPerRequest: null });
const prefix = key("bull").replaceAll(":", "-");
const open = [];
after(async () => { for (const o of open.reverse()) await o.close(); });
const keep = (o) => {
  o.on("error", (e) => console.error(e));
  open.push(o);
  return o;
};
const queue = (name) => keep(new Queue(name, { connection: connection(0), prefix }));
const worker = (name, node, work, options = {}) => keep(new Worker(name, work, { connection: connection(node), prefix, ...options }));

test("every job is done once, by workers on all nodes", async () => {
  const q = queue("plain");
  const done = [];
  const workers = nodes.map((_, i) => worker("plain", i, async (job) => { done.push(job.data.n); return job.data.n * 2; }, { concurrency: 5 }));
  let completed = 0;
  for (const w of workers) w.on("completed", (job, result) => { assert.equal(result, job.data.n * 2); completed++; });
  const wanted = Array.from({ length: 150 }, (_, n) => n);
  await q.addBulk(wanted.map((n) => ({ name: "job", data: { n } })));
  await until("all jobs", () => completed === wanted.length);
  assert.ok(unique(done));
  assert.deepEqual(done.sort((a, b) => a - b), wanted);
  const counts = await q.getJobCounts("completed", "failed", "waiting", "active");
  assert.deepEqual(counts, { completed: wanted.length, failed: 0, waiting: 0, active: 0 });
});

test("failures are tried again, priorities and delays are kept", async () => {
  const q = queue("retried");
  const order = [];
  let waited = 0;
  await q.add("low", {}, { priority: 10 });
  await q.add("high", {}, { priority: 1 });
  await q.add("late", {}, { delay: 300 });
  await q.add("bad", {}, { priority: 5, attempts: 3, backoff: { type: "fixed", delay: 20 } });
  worker("retried", 1, async (job) => {
    order.push(job.name);
    if (job.name === "late") waited = Date.now() - job.timestamp;
    if (job.name === "bad" && job.attemptsMade < 2) throw new Error("not yet");
  });
  await until("all attempts", () => order.length === 6);
  // On a busy machine the delays are over before the worker starts, so only the order by priority is certain.
  assert.ok(order.indexOf("high") < order.indexOf("bad") && order.indexOf("bad") < order.indexOf("low"), `in order: ${order}`);
  assert.equal(order.filter((n) => n === "bad").length, 3);
  assert.ok(waited >= 300, `a delay of 300 ms took ${waited}`);
});

test("events and results reach whoever waits", async () => {
  const q = queue("events");
  const events = keep(new QueueEvents("events", { connection: connection(2), prefix }));
  await events.waitUntilReady();
  worker("events", 1, async (job) => {
    await job.updateProgress(50);
    return { sum: job.data.a + job.data.b };
  });
  const job = await q.add("sum", { a: 1, b: 2 });
  assert.deepEqual(await job.waitUntilFinished(events, 60_000), { sum: 3 });
  assert.equal(await job.getState(), "completed");
});

test("a parent waits for its children", async () => {
  const flow = keep(new FlowProducer({ connection: connection(0), prefix }));
  const order = [];
  for (const [i, name] of ["children", "parents"].entries()) {
    worker(name, i + 1, async (job) => {
      order.push(name);
      return name === "parents" ? Object.values(await job.getChildrenValues()).sort() : job.data.n;
    });
  }
  const tree = await flow.add({ name: "parent", queueName: "parents", children: [1, 2, 3].map((n) => ({ name: "child", queueName: "children", data: { n } })) });
  await until("the parent", () => order.length === 4);
  assert.equal(order[3], "parents");
  const q = queue("parents");
  let value;
  for (let i = 0; i < 5000 && !value; i++) value = (await q.getJob(tree.job.id)).returnvalue;
  assert.deepEqual(value, [1, 2, 3]);
});

test("a scheduler makes jobs again and again", async () => {
  const q = queue("scheduled");
  let made = 0;
  worker("scheduled", 1, async () => { made++; });
  await q.upsertJobScheduler("often", { every: 100 }, { name: "tick" });
  await until("three jobs", () => made >= 3);
  assert.equal((await q.getJobSchedulers()).length, 1);
  assert.equal(await q.removeJobScheduler("often"), true);
});

test("a queue can be paused, emptied and removed", async () => {
  const q = queue("paused");
  await q.pause();
  await q.addBulk(Array.from({ length: 20 }, (_, n) => ({ name: "job", data: { n } })));
  assert.equal(await q.isPaused(), true);
  assert.equal(await q.count(), 20);
  await q.drain();
  assert.equal(await q.count(), 0);
  await q.obliterate();
  assert.equal((await q.getJobs()).length, 0);
});
