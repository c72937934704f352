// What this world promises beyond the interface: one commit for an event and its message, requests that are sent again, signatures, retention.
//   WORKFLOW_TRIREME_URL, WORKFLOW_TRIREME_TOKEN, WORKFLOW_TRIREME_SIGNING_KEY   the nodes, as for the world itself
import assert from "node:assert/strict";
import { createHash, createHmac, randomBytes } from "node:crypto";
import http from "node:http";
import { createRequire } from "node:module";

process.getBuiltinModule = undefined; // as where there is no Node.js: requests go by fetch here, and by node:http in the other tests
const { createWorld } = createRequire(import.meta.url)("..");
const urls = process.env.WORKFLOW_TRIREME_URL.split(",");
const token = process.env.WORKFLOW_TRIREME_TOKEN;
const key = process.env.WORKFLOW_TRIREME_SIGNING_KEY;
const name = "workflow//./own.ts//Größe";
const flow = `__wkf_workflow_${name}`;
const bytes = (text) => new TextEncoder().encode(text);

const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ulid = (now = Date.now()) => {
  let time = "";
  for (let rest = now; time.length < 10; rest = Math.floor(rest / 32)) time = digits[rest % 32] + time;
  return time + Array.from(randomBytes(16), (b) => digits[b % 32]).join("");
};
const id = (kind, now) => `${kind}_${ulid(now)}`;

// The application: it answers what a test says, and keeps what it was sent.
class Application {
  static async open() {
    const app = new Application();
    app.got = [];
    app.answer = () => 200;
    app.server = http.createServer(async (req, res) => {
      const parts = [];
      for await (const part of req) parts.push(part);
      const delivery = { url: req.url, headers: req.headers, body: Buffer.concat(parts) };
      res.statusCode = await app.answer(delivery);
      res.end("{}");
      app.got.push(delivery);
      app.heard?.();
    });
    await new Promise((done) => app.server.listen(0, "127.0.0.1", done));
    app.url = `http://127.0.0.1:${app.server.address().port}`;
    return app;
  }

  // of waits for the nth delivery of a run.
  async of(runId, n = 1) {
    for (;;) {
      const found = this.got.filter((d) => d.body.includes(runId));
      if (found.length >= n) return found;
      await new Promise((done) => (this.heard = done));
    }
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
  }
}

const command = async (...row) => {
  const answer = await fetch(urls[0], { method: "POST", headers: { authorization: `Bearer ${token}` }, body: JSON.stringify(row) });
  return (await answer.json()).result;
};

const part = (value) => Buffer.from(value).toString("base64url");
const sign = (body, { secret = key, exp = 300, alg = "HS256" } = {}) => {
  const now = Math.floor(Date.now() / 1000);
  const text = `${part(JSON.stringify({ alg, typ: "JWT" }))}.${part(JSON.stringify({ iss: "Upstash", nbf: now - 5, exp: now + exp, body: createHash("sha256").update(body).digest("base64url") }))}`;
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
};

// A delivery of a step's or a workflow's message, as a node makes it.
const delivery = (queue, message, { signature, headers = {} } = {}) => {
  const body = JSON.stringify(message);
  return new Request("http://app.example/.well-known/workflow/v1/step", {
    method: "POST",
    body,
    headers: {
      "x-vqs-queue-name": encodeURIComponent(queue),
      "upstash-message-id": `msg_${ulid()}`,
      "upstash-signature": signature ?? sign(body),
      ...headers,
    },
  });
};

const create = (world, runId, eventType, correlationId, eventData, params) =>
  world.events.create(runId, { eventType, specVersion: 3, ...(correlationId && { correlationId }), ...(eventData && { eventData }) }, params);

const begin = async (world, runId = id("wrun")) => {
  await Promise.all([
    create(world, runId, "run_created", undefined, { deploymentId: "d", workflowName: name, input: bytes("in") }),
    world.queue(flow, { runId, traceCarrier: {}, runInput: { input: bytes("in"), deploymentId: "d", workflowName: name, specVersion: 3 } }),
  ]);
  return runId;
};

const checks = {
  // start() creates and queues in one turn: one request, one commit, and the message need not carry the input.
  async "a run and its first message are one request"({ app, world, calls }) {
    const before = calls.length;
    const runId = await begin(world);
    assert.equal(calls.length - before, 1);
    const [first] = await app.of(runId);
    assert.equal(first.url, "/.well-known/workflow/v1/flow");
    assert.equal(decodeURIComponent(first.headers["x-vqs-queue-name"]), flow);
    assert.equal(JSON.parse(first.body).runInput, undefined);
    await assert.rejects(begin(world, runId), { name: "EntityConflictError" });
  },

  // The process ends between the event and the call that queues its message.
  async "an event's message is there without the call that queues it"({ app, world }) {
    const runId = await begin(world);
    await app.of(runId);
    const stepId = id("step");
    const flows = world.createQueueHandler("__wkf_workflow_", async () => {
      await create(world, runId, "run_started");
      await create(world, runId, "step_created", stepId, { stepName: "s", workflowName: name, input: bytes("x") });
      throw new Error("the process ended");
    });
    assert.equal((await flows(delivery(flow, { runId }))).status, 500);
    const step = (await app.of(runId, 2))[1];
    assert.equal(step.url, "/.well-known/workflow/v1/step");
    const { startedAt } = await world.runs.get(runId);
    const { requestedAt, ...message } = JSON.parse(step.body);
    assert.deepEqual(message, { workflowName: name, workflowRunId: runId, workflowStartedAt: +startedAt, stepId, traceCarrier: {} });
    const steps = world.createQueueHandler("__wkf_step_", async () => {
      await create(world, runId, "step_started", stepId, { stepName: "s" });
      await create(world, runId, "step_completed", stepId, { stepName: "s", workflowName: name, result: bytes("y") });
      throw new Error("the process ended");
    });
    assert.equal((await steps(delivery("__wkf_step_s", message))).status, 500);
    assert.equal((await app.of(runId, 3))[2].url, "/.well-known/workflow/v1/flow");
  },

  // The calls that the runtime makes after its events find the messages published.
  async "a message that an event has published is not published again"({ app, world, calls }) {
    const runId = await begin(world);
    await app.of(runId);
    const stepId = id("step");
    const flows = world.createQueueHandler("__wkf_workflow_", async () => {
      await create(world, runId, "run_started");
      await create(world, runId, "step_created", stepId, { stepName: "s", workflowName: name, input: bytes("x") });
      const before = calls.length;
      for (let i = 0; i < 2; i++)
        assert.ok((await world.queue("__wkf_step_s", { workflowName: name, workflowRunId: runId, stepId }, { idempotencyKey: stepId })).messageId);
      assert.equal(calls.length, before);
    });
    assert.equal((await flows(delivery(flow, { runId }))).status, 200);
    await app.of(runId, 2);
    // Another process that knows nothing finds the step known.
    assert.equal(
      (
        await createWorld({ baseUrl: app.url }).queue(
          "__wkf_step_s",
          { workflowName: name, workflowRunId: runId, stepId },
          { idempotencyKey: stepId },
        )
      ).messageId,
      null,
    );
    const hookId = id("hook");
    await create(world, runId, "hook_created", hookId, { token: hookId });
    await create(world, runId, "hook_received", hookId, { token: hookId, payload: bytes("p") });
    const before = calls.length;
    assert.ok((await world.queue(flow, { runId })).messageId);
    assert.equal(calls.length, before);
    await app.of(runId, 3);
    assert.equal(app.got.filter((d) => d.body.includes(runId)).length, 3);
  },

  // While a replay is held up, further wake-ups share one message.
  async "wake-ups that wait are one message"({ app, world }) {
    const runId = id("wrun");
    let release;
    const held = new Promise((done) => (release = done));
    let first;
    const reached = new Promise((done) => (first = done));
    app.answer = async (d) => {
      if (!d.body.includes(runId)) return 200;
      first();
      await held;
      return 200;
    };
    await begin(world, runId);
    await reached;
    const hookId = id("hook");
    await create(world, runId, "hook_created", hookId, { token: hookId });
    const messages = new Set();
    for (let i = 0; i < 20; i++) {
      await create(world, runId, "hook_received", hookId, { token: hookId, payload: bytes(String(i)) });
      messages.add((await world.queue(flow, { runId })).messageId);
    }
    assert.equal(messages.size, 1);
    release();
    await app.of(runId, 2);
    await create(world, runId, "hook_received", hookId, { token: hookId, payload: bytes("last") });
    await app.of(runId, 3);
    assert.equal(app.got.filter((d) => d.body.includes(runId)).length, 3);
    app.answer = () => 200;
  },

  // A message that is refused, or a write after it, leaves neither an event nor a message.
  async "what is refused leaves nothing"({ app, world }) {
    const runId = await begin(world);
    await app.of(runId);
    const [stepId, hookId] = [id("step"), id("hook")];
    const before = async () => [
      (await world.events.list({ runId })).data.length,
      await command("HLEN", `wkf:{${runId}}:steps`),
      await command("HLEN", `wkf:{${runId}}:hooks`),
    ];
    const handle = (w, f) => w.createQueueHandler("__wkf_workflow_", f)(delivery(flow, { runId }));
    await handle(world, () => create(world, runId, "run_started"));
    const was = await before();
    const step = { stepName: "s", workflowName: name, input: bytes("x") };
    const odd = createWorld({ baseUrl: app.url, steps: "parallelism=many" });
    await handle(odd, async () => {
      await create(odd, runId, "run_started");
      await assert.rejects(create(odd, runId, "step_created", stepId, step), /Flow-Control|flow/i);
    });
    assert.deepEqual(await before(), was);
    await command("SET", `wkf:{${runId}}:order`, "no list");
    await handle(world, async () => {
      await create(world, runId, "run_started");
      await assert.rejects(create(world, runId, "step_created", stepId, step), /WRONGTYPE/);
    });
    await command("SET", "odd:hooks", "no set");
    const apart = createWorld({ prefix: "odd:", baseUrl: app.url });
    const other = await begin(apart);
    await assert.rejects(create(apart, other, "hook_created", hookId, { token: hookId }), /WRONGTYPE/);
    await command("DEL", "odd:hooks");
    assert.deepEqual((await apart.events.list({ runId: other })).data.length, 1);
    assert.equal(await command("HLEN", `odd:{${other}}:hooks`), 0);
    assert.deepEqual(await before(), was);
    for (const key of [`odd:token:${hookId}`, `odd:hook:${hookId}`]) assert.equal(await command("EXISTS", key), 0);
    assert.ok(!app.got.some((d) => d.url.endsWith("/step") && d.body.includes(runId)));
  },

  // Each answer is lost once: the request is sent again, and nothing happens twice.
  async "requests whose answers are lost are applied once"({ app, lossy }) {
    const world = createWorld({ url: lossy.url, baseUrl: app.url });
    const runId = await begin(world);
    const [stepId, hookId, waitId] = [id("step"), id("hook"), id("wait")];
    await create(world, runId, "run_started");
    await create(world, runId, "step_created", stepId, { stepName: "s", workflowName: name, input: bytes("x") });
    assert.equal((await create(world, runId, "step_started", stepId, { stepName: "s" })).step.attempt, 1);
    await create(world, runId, "step_retrying", stepId, { stepName: "s", error: "again", retryAfter: new Date() });
    assert.equal((await create(world, runId, "step_started", stepId, { stepName: "s" })).step.attempt, 2);
    await create(world, runId, "step_completed", stepId, { stepName: "s", result: bytes("y") });
    await create(world, runId, "hook_created", hookId, { token: hookId });
    await create(world, runId, "hook_received", hookId, { token: hookId, payload: bytes("p") });
    const other = await begin(world);
    assert.equal((await create(world, other, "hook_created", id("hook"), { token: hookId })).event.eventType, "hook_conflict");
    await create(world, runId, "hook_disposed", hookId);
    await create(world, runId, "wait_created", waitId, { resumeAt: new Date() });
    await create(world, runId, "wait_completed", waitId);
    const stream = id("strm");
    for (const chunk of ["a", "b"]) await world.writeToStream(stream, runId, chunk);
    await world.closeStream(stream, runId);
    await create(world, runId, "run_completed", undefined, { output: bytes("out") });
    assert.deepEqual(
      (await world.events.list({ runId })).data.map((e) => e.eventType),
      [
        "run_created",
        "run_started",
        "step_created",
        "step_started",
        "step_retrying",
        "step_started",
        "step_completed",
        "hook_created",
        "hook_received",
        "hook_disposed",
        "wait_created",
        "wait_completed",
        "run_completed",
      ],
    );
    assert.equal((await world.events.list({ runId: other })).data.length, 2);
    assert.deepEqual(await world.getStreamInfo(stream), { tailIndex: 1, done: true });
    assert.ok(lossy.lost > 15, `${lossy.lost} answers were lost`);
  },

  async "only what a node has signed is handled"({ world }) {
    let handled = 0;
    const handle = world.createQueueHandler("__wkf_step_", async () => void handled++);
    const step = "__wkf_step_s";
    const body = JSON.stringify({ a: 1 });
    const status = async (options) => (await handle(delivery(step, { a: 1 }, options))).status;
    assert.equal(await status(), 200);
    for (const signature of [
      "",
      "a.b.c",
      sign(body, { secret: "other" }),
      sign(body, { exp: -600 }),
      sign("another body"),
      sign(body, { alg: "none" }),
      `${sign(body)}.x`,
    ]) {
      assert.equal(await status({ signature }), 401, signature);
    }
    assert.equal((await handle(delivery("__wkf_workflow_w", { a: 1 }))).status, 400);
    assert.equal(handled, 1);
    const open = createWorld({ signingKeys: [], baseUrl: "https://app.example" }).createQueueHandler("__wkf_step_", async () => void handled++);
    assert.equal((await open(delivery(step, { a: 1 }))).status, 500);
    assert.equal(handled, 1);
  },

  async "runs are forgotten when their retention is over"({ app }) {
    const prefix = `keep-${ulid()}:`;
    const world = createWorld({ prefix, retentionMs: 300, baseUrl: app.url });
    const runId = await begin(world);
    const [stepId, stream] = [id("step"), id("strm")];
    await create(world, runId, "run_started");
    await create(world, runId, "step_created", stepId, { stepName: "s", workflowName: name, input: bytes("x") });
    await world.writeToStream(stream, runId, "chunk");
    const { run } = await create(world, runId, "run_failed", undefined, { error: { message: "m", stack: "s" }, errorCode: "C" });
    assert.deepEqual(run.error, { message: "m", stack: "s", code: "C" });
    assert.equal(+run.expiredAt - +run.completedAt, 300);
    while ((await command("PTTL", `${prefix}{${runId}}`)) > 0) await command("PING");
    await begin(world, id("wrun")); // the next one cleans up
    const keys = await command("KEYS", `${prefix}*`);
    assert.ok(!keys.some((k) => k.includes(runId) || k.includes(stream)), keys.join(" "));
    for (const set of ["runs", "runs:failed", `named:${name}`]) assert.equal(await command("ZSCORE", prefix + set, runId), null);
    await assert.rejects(world.runs.get(runId), { name: "WorkflowRunNotFoundError" });
  },

  // What is put off is published once, however often its delivery is repeated, and is gone with its run.
  async "a delivery that was put off twice waits once"({ world }) {
    const runId = await begin(world);
    const handle = world.createQueueHandler("__wkf_workflow_", async () => {
      await create(world, runId, "run_started");
      return { timeoutSeconds: 86_400 };
    });
    const later = new Set();
    for (let i = 0; i < 3; i++) {
      assert.equal((await handle(delivery(flow, { runId }))).status, 200);
      later.add(await command("HGET", `wkf:{${runId}}:later`, ""));
    }
    assert.equal(later.size, 1);
    const [, message] = [...later][0].split(" ");
    assert.equal(Object.fromEntries(pairs(await command("MSG.GET", message))).state, "CREATED");
    await create(world, runId, "run_cancelled");
    assert.notEqual(Object.fromEntries(pairs(await command("MSG.GET", message))).state, "CREATED");
  },

  // An event's id has the server's time and tells its number.
  async "ids of events are in order"({ world }) {
    const runId = await begin(world);
    await create(world, runId, "run_started");
    await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        create(world, runId, "step_created", `step_${i}`, { stepName: "s", workflowName: name, input: bytes("x") }),
      ),
    );
    const { data } = await world.events.list({ runId });
    const ids = data.map((e) => e.eventId);
    assert.deepEqual(ids, ids.toSorted());
    assert.equal(new Set(ids).size, 52);
    for (const n of [0, 17, 51]) assert.deepEqual(await world.events.get(runId, ids[n]), data[n]);
    await assert.rejects(world.events.get(runId, ids[3].replace(/.{4}$/, "ZZZZ")), { name: "WorkflowWorldError", status: 404 });
  },

  // A database that was restored from a backup has other events than this process has read.
  async "events that were read before a restore are read again"({ world }) {
    const runId = await begin(world);
    let events;
    const handle = world.createQueueHandler("__wkf_workflow_", async () => {
      const started = await create(world, runId, "run_started");
      events = started.events;
    });
    for (let i = 0; i < 2; i++) assert.equal((await handle(delivery(flow, { runId }))).status, 200);
    const [, second] = await command("LRANGE", `wkf:{${runId}}:events`, 0, -1);
    await command(
      "LSET",
      `wkf:{${runId}}:events`,
      1,
      second.replace(/^\d+/, (ms) => String(Number(ms) + 1)),
    );
    const before = events[1].eventId;
    assert.equal((await handle(delivery(flow, { runId }))).status, 200);
    assert.notEqual(events[1].eventId, before);
  },

  // The SDK's command line sends an empty cursor for none.
  async "an empty cursor is none"({ world }) {
    const runId = await begin(world);
    const pagination = { cursor: "", limit: 1 };
    for (const list of [world.runs.list({ pagination }), world.events.list({ runId, pagination }), world.hooks.list({ pagination })]) {
      assert.ok((await list).data.length <= 1);
    }
    assert.equal((await world.events.list({ runId, pagination })).data[0].eventType, "run_created");
    assert.deepEqual((await world.steps.list({ runId, pagination })).data, []);
    assert.deepEqual((await world.getStreamChunks("none", runId, { cursor: "" })).data, []);
  },

  async "an id from another time is refused"({ world }) {
    for (const now of [Date.now() - 25 * 3_600_000, Date.now() + 10 * 60_000]) {
      await assert.rejects(begin(world, id("wrun", now)), { name: "WorkflowWorldError", status: 400 });
    }
  },
};

const pairs = (list) =>
  Array.isArray(list) ? Array.from({ length: list.length / 2 }, (_, i) => [list[2 * i], list[2 * i + 1]]) : Object.entries(list);

// A proxy that loses the first answer to every request for a change.
const losing = async () => {
  const seen = new Set();
  const proxy = { lost: 0 };
  const server = http.createServer(async (req, res) => {
    const parts = [];
    for await (const p of req) parts.push(p);
    const body = Buffer.concat(parts);
    const answer = await fetch(urls[0] + req.url, {
      method: req.method,
      headers: { authorization: req.headers.authorization },
      ...(body.length > 0 && { body }),
    });
    const text = await answer.text();
    const digest = body.toString();
    if (digest.includes('EVALSHA"') && !text.includes("NOSCRIPT") && !seen.has(digest)) {
      seen.add(digest);
      proxy.lost++;
      return req.socket.destroy();
    }
    res.statusCode = answer.status;
    res.end(text);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  proxy.url = `http://127.0.0.1:${server.address().port}`;
  proxy.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return proxy;
};

const app = await Application.open();
const lossy = await losing();
const world = createWorld({ baseUrl: app.url });
const calls = [];
const { fetch: plain } = globalThis;
globalThis.fetch = (...args) => {
  calls.push(String(args[0]));
  return plain(...args);
};
await create(world, await begin(world), "run_started"); // the database learns its scripts
let failures = 0;
for (const [title, check] of Object.entries(checks)) {
  try {
    await check({ app, world, calls, lossy });
    console.log(`ok    own: ${title}`);
  } catch (error) {
    failures++;
    console.log(`FAIL  own: ${title}\n${error.stack}`);
  }
}
app.close();
lossy.close();
await world.close();
console.log(`${Object.keys(checks).length - failures} checks passed, ${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;
