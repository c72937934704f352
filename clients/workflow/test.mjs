// Runs the published client of workflows, unmodified, against the nodes: an app of ours
// serves workflows, the client starts them and reads them back, each request at a node of
// its own choice.
//
//   TRIREME_URLS            base URLs of the nodes, separated by commas
//   TRIREME_MESSAGES_TOKEN  the token of /v2
//   TRIREME_SDK             the module with the release, ./sdk.mjs by default
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { Calls } from "../calls.mjs";
import { World } from "./world.mjs";

const urls = (process.env.TRIREME_URLS ?? "").split(",").filter(Boolean);
const token = process.env.TRIREME_MESSAGES_TOKEN ?? "";
if (urls.length === 0 || token === "") {
  console.error("TRIREME_URLS and TRIREME_MESSAGES_TOKEN must be set");
  process.exit(2);
}
const sdk = await import(process.env.TRIREME_SDK ?? "./sdk.mjs");
const onlyModern = sdk.modern ? {} : { skip: "this release has it not" };
const calls = new Calls();
const clients = urls.map((baseUrl) => calls.watch(new sdk.Client({ baseUrl, token, retry: false }), { name: "client", parts: { dlq: { name: "dlq" } } }));
const client = () => clients[Math.floor(Math.random() * clients.length)];
const node = () => urls[Math.floor(Math.random() * urls.length)];

// ask sends a request that the client has no method for.
const ask = async (method, path, { body, headers } = {}) => {
  const answer = await fetch(node() + path, { method, body, headers: { Authorization: `Bearer ${token}`, ...headers } });
  const text = await answer.text();
  return { status: answer.status, body: text && JSON.parse(text) };
};

let world;
before(async () => {
  const { body: keys } = await ask("GET", "/v2/keys");
  world = new World({ sdk, urls, token, keys, calls });
  await world.open();
});
after(() => world.close());

const flow = (name) => `${world.base}/flows/${name}`;
const settings = { retries: 3, retryDelay: "100" };

// trigger starts a run and gives its id. Old releases reach the failure function only
// when asked to.
const trigger = async (name, options = {}) => {
  const { workflowRunId } = await client().trigger({ url: flow(name), ...settings, useFailureFunction: !options.failureUrl, ...options });
  return workflowRunId;
};

// until asks again until an answer is as wanted. A cluster without a leader is asked again too: on a busy machine one may be lost.
const until = async (query, good, what) => {
  for (const end = Date.now() + 120_000; ; await new Promise((done) => setTimeout(done, 20))) {
    const answer = await query().catch((error) => {
      if (error.message.includes("no leader")) return error;
      throw error;
    });
    if (!(answer instanceof Error) && good(answer)) return answer;
    if (Date.now() > end) throw new Error(`${what}: it stays ${JSON.stringify(answer)?.slice(0, 3000)}`);
  }
};

const log = async (workflowRunId) => (await client().logs({ workflowRunId })).runs[0];
const ended = (id) => until(() => log(id), (run) => run && run.workflowState !== "RUN_STARTED", `the end of ${id}`);

// result is what a run returned, once it has.
const result = async (id) => {
  const run = await ended(id);
  assert.equal(run.workflowState, "RUN_SUCCESS", JSON.stringify(run).slice(0, 3000));
  return run.workflowRunResponse === undefined ? undefined : JSON.parse(run.workflowRunResponse);
};
const failed = async (id) => {
  const run = await ended(id);
  assert.equal(run.workflowState, "RUN_FAILED", JSON.stringify(run).slice(0, 3000));
  return run;
};
// once holds a step to one execution for each attempt: one, unless a leader was lost.
const once = (id, ...steps) => {
  for (const step of steps) {
    const times = world.times(id, step);
    assert.ok(times >= 1 && times <= world.attempts(id), `${step} ran ${times} times in ${world.attempts(id)} attempts`);
  }
};
const states = (run) => run.steps.map((g) => g.steps.map((s) => `${s.stepType ?? g.type}:${s.stepName ?? ""}:${s.state}`).join("+"));
const waiting = (event, n = 1) => until(() => client().getWaiters({ eventId: event }), (w) => w.length === n, `${n} waiters of ${event}`);
const letters = async (id) => (await client().dlq.list({ filter: { workflowRunId: id } })).messages;
const letter = (id) => until(() => letters(id), (l) => l.length === 1, `the dead letter of ${id}`).then(([l]) => l);

describe("workflows", { concurrency: 4 }, () => {
  test("outputs of every kind", async () => {
    const id = await trigger("steps", { body: { a: "é" }, headers: { "X-User": "ada" } });
    assert.deepEqual(await result(id), {
      nothing: true, text: "Grüße <&> \u2028\u2029 \"日本\" \\", object: { input: { a: "é" }, deep: [1, null, { a: "" }] }, number: 42, nil: null, user: "ada",
    });
    once(id, "nothing", "text", "object", "nil");
    assert.equal(world.messagesOf(id).size, 6);
    const run = await log(id);
    assert.deepEqual(states(run), ["Initial:init:STEP_SUCCESS", ...["nothing", "text", "object", "number", "nil"].map((n) => `Run:${n}:STEP_SUCCESS`)]);
    assert.equal(run.steps[0].steps[0].out, '{"a":"é"}');
    assert.equal(run.steps[0].steps[0].headers["X-User"][0], "ada");
    assert.deepEqual(run.steps.slice(1).map((g) => g.steps[0].stepId), [1, 2, 3, 4, 5]);
    assert.ok(run.workflowRunCompletedAt >= run.workflowRunCreatedAt);
  });

  test("no payload, no result", async () => {
    const id = await trigger("quitter");
    const run = await ended(id);
    assert.equal(run.workflowState, "RUN_CANCELED");
    once(id, "before");
    assert.equal(world.times(id, "after"), 0);
  });

  test("sleeps", async () => {
    const id = await trigger("sleeps");
    const [start, number, date] = await result(id);
    assert.ok(number - start >= 1000, `a sleep of 1 took ${number - start} ms`);
    assert.ok(date - start >= 2500, `until ${date - start} ms`);
    const run = await log(id);
    const sleeps = run.steps.map((g) => g.steps[0]).filter((s) => s.stepType.startsWith("Sleep"));
    assert.deepEqual(sleeps.map((s) => [s.stepType, s.sleepFor]), [["SleepFor", 1000], ["SleepFor", 1000], ["SleepUntil", undefined], ["SleepUntil", undefined]]);
    assert.ok(Math.abs(sleeps[2].sleepUntil - start - 3000) < 1000);
  });

  test("calls", async () => {
    const workflowRunId = randomUUID();
    world.faults.set(`wfr_${workflowRunId}`, 2);
    const id = await trigger("calls", { workflowRunId });
    const got = await result(id);
    assert.deepEqual(got, {
      post: [200, { method: "POST", mine: "yes", body: '{"n":1}', url: "/out/echo/post?x=1" }], get: [200, "GET"],
      refused: [418, "status 418"], flaky: 200, text: "Grüße <&> \u2028 日本", nobody: true,
    });
    assert.deepEqual(world.visits.get(`/out/flaky/${id}`).map((v) => v.headers["upstash-retried"]).slice(0, 3), ["0", "1", "2"]);
    const [visit] = world.visits.get("/out/echo/post");
    assert.deepEqual(Object.keys(visit.headers).filter((h) => h.includes("workflow")), []);
    const steps = (await log(id)).steps.map((g) => g.steps[0]).filter((s) => s.stepType === "Call");
    assert.deepEqual(steps.map((s) => [s.stepName, s.callMethod, s.callResponseStatus]), [
      ["post", "POST", 200], ["get", "GET", 200], ["refused", "POST", 418], ["flaky", "PUT", 200], ["text", "GET", 200], ["nobody", "GET", steps[5].callResponseStatus],
    ]);
    assert.equal(steps[0].callUrl, `${world.base}/out/echo/post?x=1`);
    assert.equal(steps[0].callBody, '{"n":1}');
  });

  test("a provider's API", onlyModern, async () => {
    const id = await trigger("provider");
    assert.deepEqual(await result(id), [200, "POST", "/out/echo/v1/chat/completions", "hi"]);
  });

  test("a call of a workflow starts another run", async () => {
    const other = await result(await trigger("caller"));
    assert.equal((await result(other)).twice, 8);
  });

  test("parallel steps of every kind", async () => {
    const id = await trigger("parallel");
    assert.deepEqual(await result(id), { a: "A", status: 200, timeout: true, told: [], after: "after" });
    once(id, "a", "after");
    const run = await log(id);
    assert.deepEqual(run.steps.map((g) => g.type), ["sequential", "parallel", "sequential"]);
    assert.deepEqual(run.steps[1].steps.map((s) => [s.stepName, s.state, s.concurrent]), ["a", "nap", "call", "wait", "notify"].map((n) => [n, "STEP_SUCCESS", 5]));
  });

  test("a block of n costs at most 1 + 2n calls", async () => {
    const id = await trigger("wide");
    assert.equal(await result(id), 190);
    for (let i = 0; i < 20; i++) once(id, `branch ${i}`);
    // One for the start, one for each plan and each result. Those of results that the run
    // no longer needs are not made when it has ended meanwhile.
    const calls = world.messagesOf(id).size;
    assert.ok(calls > 21 && calls <= 41, `${calls} calls`);
  });

  test("blocks in blocks", async () => {
    const id = await trigger("nested");
    assert.equal(await result(id), "lx+ly|rx+ry");
    once(id, "l1", "l2", "l3", "r1", "r2", "r3", "join");
  });

  test("a wait that is notified", async () => {
    const event = `go-${randomUUID()}`;
    const ids = await Promise.all([1, 2].map(() => trigger("waiter", { body: { event } })));
    const waiters = await waiting(event, 2);
    assert.equal(waiters[0].url, flow("waiter"));
    const last = (await log(ids[0])).steps.at(-1);
    assert.deepEqual([last.steps.length, last.steps[0].stepType, last.steps[0].waitEventId], [1, "Wait", event]);
    const woken = await client().notify({ eventId: event, eventData: { hello: "Wörld" } });
    assert.deepEqual(woken.map((n) => n.workflowRunId).sort(), [...ids].sort());
    for (const id of ids) assert.deepEqual(await result(id), { eventData: { hello: "Wörld" }, late: false, after: "done" });
    assert.deepEqual(await client().notify({ eventId: event }), []);
    assert.deepEqual(await client().getWaiters({ eventId: event }), []);
    const wait = (await log(ids[0])).steps[1].steps[0];
    assert.deepEqual([wait.state, wait.waitTimeout ?? false, wait.waitTimeoutDuration], ["STEP_SUCCESS", false, "7d"]);
  });

  test("a wait that times out", async () => {
    const event = `never-${randomUUID()}`;
    const id = await trigger("waiter", { body: { event, timeout: "1s" } });
    assert.deepEqual(await result(id), { late: true, after: "done" });
    assert.equal((await log(id)).steps[1].steps[0].waitTimeout, true);
    assert.deepEqual(await client().notify({ eventId: event }), []);
  });

  test("one run notifies another", async () => {
    const event = `from-${randomUUID()}`;
    const waiter = await trigger("waiter", { body: { event } });
    await waiting(event);
    const notifier = await trigger("notifier", { body: { event, data: "plain text" } });
    assert.deepEqual(await result(notifier), { woken: [waiter], eventData: "plain text" });
    assert.equal((await result(waiter)).eventData, "plain text");
  });

  test("notifications that come before the wait", onlyModern, async () => {
    const id = await trigger("lookback");
    for (const n of [1, 2]) await client().notify({ eventId: "look", eventData: { n }, workflowRunId: id });
    world.say(`told ${id}`);
    assert.deepEqual(await result(id), [{ n: 1 }, { n: 2 }]);
  });

  test("webhooks", async () => {
    const id = await trigger("webhook");
    const url = await world.until(() => world.hooks.get(id), "the webhook's URL");
    const answers = [
      await fetch(`${url}?q=1`, { method: "PUT", body: "hook body", headers: { "X-Mine": "hook" } }),
      await fetch(url, { method: "POST", body: "" }),
    ];
    assert.deepEqual(answers.map((a) => a.status), [200, 200]);
    assert.deepEqual(await result(id), { seen: { method: "PUT", url: `${url}?q=1`, mine: "hook", text: "hook body" }, two: "POST", late: true, url });
    assert.equal((await fetch(url, { method: "POST" })).status, 404);
  });

  test("invoke", async () => {
    const id = await trigger("parent", { body: { x: 21 } });
    assert.deepEqual(await result(id), { body: { twice: 42, parent: id }, isFailed: false, isCanceled: false, kind: "object" });
    const step = (await log(id)).steps[1].steps[0];
    assert.deepEqual([step.stepType, step.state, step.invokedWorkflowUrl], ["Invoke", "STEP_SUCCESS", flow("child")]);
    const child = await log(step.invokedWorkflowRunId);
    assert.deepEqual(child.invoker.workflowRunId, id);
    assert.equal(step.invokedWorkflowCreatedAt, child.workflowRunCreatedAt);
  });

  test("invokes in invokes, in parallel", async () => {
    assert.equal(await result(await trigger("grandparent")), 2 * (2 * 1 + 2 * 10));
  });

  test("an invoked run that fails", async () => {
    const workflowRunId = randomUUID();
    world.faults.set(`child wfr_${workflowRunId}`, 100);
    const id = await trigger("parent", { workflowRunId, body: { x: 1 } });
    const got = await result(id);
    assert.deepEqual([got.isFailed, got.isCanceled, got.kind], [true, false, "undefined"]);
  });

  test("an invoked run that is cancelled", async () => {
    const [event, child] = [`stop-${randomUUID()}`, randomUUID()];
    const id = await trigger("patient", { body: { event, child } });
    await waiting(event);
    await client().cancel(sdk.modern ? `wfr_${child}` : { ids: `wfr_${child}` });
    assert.deepEqual(await result(id), { isCanceled: true, isFailed: false, body: null });
    assert.deepEqual(await client().getWaiters({ eventId: event }), []);
  });

  test("retries", async () => {
    const workflowRunId = randomUUID();
    world.faults.set(`flaky wfr_${workflowRunId}`, 2);
    const id = await trigger("flaky", { workflowRunId });
    assert.equal(id, `wfr_${workflowRunId}`);
    const { tries, retried } = await result(id);
    assert.ok(tries >= 3, `${tries} tries`);
    assert.equal(typeof retried, sdk.modern ? "number" : "object");
    assert.deepEqual(world.callsOf(id).map((c) => c.headers["upstash-retried"]).slice(0, 3), ["0", "1", "2"]);
  });

  test("a retry that the app puts off", async () => {
    const id = await trigger("later", { retryDelay: "600000" });
    assert.ok((await result(id)) >= 2);
  });

  test("a failure with a failure function", async () => {
    const id = await trigger("failing", { body: { why: 7 }, headers: { "X-User": "ada" }, retries: 1, retryDelay: "10" });
    const told = await world.until(() => world.failures.find((f) => f.runId === id), "the failure function");
    assert.deepEqual([told.failStatus, told.failResponse, told.payload, told.user], [500, "it is bad", { why: 7 }, "ada"]);
    const run = await until(() => log(id), (r) => r.failureFunction?.state === "CALLBACK_SUCCESS", "the state of the failure function");
    assert.equal(run.workflowState, "RUN_FAILED");
    once(id, "good");
    assert.ok(world.times(id, "bad") >= 1);
    assert.deepEqual([run.failureFunction.failStatus, run.failureFunction.responseStatus, run.failureFunction.url], [500, 200, flow("failing")]);
    assert.match(run.failureFunction.responseBody, /told/);
    const next = run.steps.at(-1);
    assert.deepEqual([next.type, next.steps[0].state], ["next", "STEP_FAILED"]);
    assert.ok(next.steps[0].errors.length >= 2);
    const dead = await letter(id);
    assert.equal(dead.dlqId, run.dlqId);
    assert.deepEqual([dead.body, dead.responseStatus, dead.workflowUrl, dead.failureCallbackInfo.state], ['{"why":7}', 500, flow("failing"), "CALLBACK_SUCCESS"]);
    assert.match(dead.responseBody, /it is bad/);
  });

  test("a failure that no retry mends", async () => {
    const id = await trigger("final");
    const run = await failed(id);
    once(id, "fatal");
    assert.equal(run.steps.at(-1).steps[0].errors.at(-1).status, 489);
    await world.until(() => world.failures.find((f) => f.runId === id), "the failure function");
  });

  test("a failure URL is told", async () => {
    const name = `url ${randomUUID()}`;
    world.faults.set(name, 100);
    const id = await trigger("mending", { body: { name }, retries: 0, failureUrl: `${world.base}/out/told/${name.slice(4)}` });
    const [visit] = await world.until(() => world.visits.get(`/out/told/${name.slice(4)}`), "the failure URL");
    const told = JSON.parse(visit.body);
    assert.deepEqual([told.status, told.workflowRunId, told.workflowUrl, atob(told.sourceBody)], [500, id, flow("mending"), JSON.stringify({ name })]);
    assert.equal(JSON.parse(atob(told.body)).message, `${name} is broken`);
    assert.equal((await letter(id)).failureCallback, `${world.base}/out/told/${name.slice(4)}`);
  });

  test("a failure function that fails is called again", async () => {
    const workflowRunId = randomUUID();
    const id = `wfr_${workflowRunId}`;
    world.faults.set(`failure function ${id}`, 100);
    await trigger("failing", { workflowRunId, retries: 1, retryDelay: "10" });
    const state = (s) => until(() => letters(id), (l) => l[0]?.failureCallbackInfo?.state === s, s);
    const [dead] = await state("CALLBACK_FAIL");
    world.faults.set(`failure function ${id}`, 0);
    await client().dlq.retryFailureFunction({ dlqId: dead.dlqId });
    await state("CALLBACK_SUCCESS");
    await assert.rejects(client().dlq.retryFailureFunction({ dlqId: dead.dlqId }), { status: 400 });
  });

  test("an app that refuses", async () => {
    const good = await trigger("unauthorized", { retries: 0, headers: { "X-User": "ada" } });
    assert.equal(await result(good), "open");
    const run = await failed(await trigger("unauthorized", { retries: 0 }));
    assert.equal(run.steps.at(-1).steps[0].errors.at(-1).status, 400);
  });

  test("a destination that is no workflow", async () => {
    const { workflowRunId: id } = await client().trigger({ url: `${world.base}/out/none`, ...settings });
    const run = await failed(id);
    assert.deepEqual(run.steps.map((g) => g.type), ["sequential", "next"]);
    const error = run.steps[1].steps[0].errors.at(-1);
    assert.match(error.error, /detected a non-workflow destination/);
    assert.equal(error.body, "answer");
    const visits = world.visits.get("/out/none").filter((v) => v.headers["upstash-workflow-runid"] === id && !v.headers["upstash-workflow-failure-callback"]);
    assert.ok(visits.length >= 1 && visits.length <= run.steps[1].steps[0].errors.length);
  });

  test("resume runs only what is missing", async () => {
    const name = `resume ${randomUUID()}`;
    world.faults.set(name, 100);
    const id = await trigger("mending", { body: { name }, retries: 0, headers: { "X-User": "ada" } });
    await failed(id);
    const { dlqId } = await letter(id);
    world.faults.set(name, 0);
    const resumed = sdk.modern ? (await client().dlq.resume(dlqId)).workflowRuns[0] : await client().dlq.resume({ dlqId });
    assert.notEqual(resumed.workflowRunId, id);
    assert.deepEqual(await result(resumed.workflowRunId), { same: true });
    assert.deepEqual(["one", "two"].map((s) => world.times(resumed.workflowRunId, s)), [0, 0]);
    once(resumed.workflowRunId, "three");
    assert.deepEqual(await letters(id), []);
    await assert.rejects(sdk.modern ? client().dlq.resume(dlqId) : client().dlq.resume({ dlqId }), { status: 404 });
  });

  test("resume of a parallel block", async () => {
    const name = `branches ${randomUUID()}`;
    world.faults.set(name, 100);
    const id = await trigger("branches", { body: { name }, retries: 0 });
    await failed(id);
    await until(() => log(id), (run) => run.steps[1]?.steps.find((s) => s.stepName === "left")?.state === "STEP_SUCCESS", "the other branch");
    const { dlqId } = await letter(id);
    world.faults.set(name, 0);
    const [{ workflowRunId }] = await client().dlq.resume({ dlqId: [dlqId] });
    assert.equal(await result(workflowRunId), "lm");
    assert.equal(world.times(workflowRunId, "left"), 0);
    once(workflowRunId, "middle");
  });

  test("restart runs everything again", async () => {
    const name = `restart ${randomUUID()}`;
    world.faults.set(name, 100);
    const id = await trigger("mending", { body: { name }, retries: 0 });
    await failed(id);
    const { dlqId } = await letter(id);
    world.faults.set(name, 0);
    const { workflowRunId } = await client().dlq.restart({ dlqId, retries: 1, flowControl: { key: "restarted", parallelism: 3 } });
    assert.deepEqual(await result(workflowRunId), { same: true });
    once(workflowRunId, "one", "two", "three");
  });

  test("bulk actions choose by label", onlyModern, async () => {
    const name = `bulk ${randomUUID()}`;
    world.faults.set(name, 100);
    const label = `bulk-${randomUUID()}`;
    const ids = (await client().trigger([1, 2, 3, 4].map((n) => ({ url: flow("mending"), body: { name }, retries: 0, label: [label, `n${n}-${label}`] })))).map((r) => r.workflowRunId);
    for (const id of ids) await failed(id);
    world.faults.set(name, 0);
    const { messages } = await until(() => client().dlq.list({ filter: { label } }), (l) => l.messages.length === 4, "dead letters");
    assert.deepEqual(messages[0].labels.slice(0, 1), [label]);
    assert.equal((await client().dlq.delete({ filter: { label: `n1-${label}` } })).deleted, 1);
    const first = await client().dlq.resume({ filter: { label }, count: 2 });
    assert.deepEqual([first.workflowRuns.length, typeof first.cursor], [2, "string"]);
    const second = await client().dlq.restart({ filter: { label }, count: 2, cursor: first.cursor });
    assert.deepEqual([second.workflowRuns.length, second.cursor], [1, undefined]);
    for (const { workflowRunId } of [...first.workflowRuns, ...second.workflowRuns]) assert.deepEqual(await result(workflowRunId), { same: true });
    const again = await client().logs({ filter: { label } });
    assert.equal(again.runs.length, 7);
  });

  test("60 steps", async () => {
    const id = await trigger("long");
    assert.equal(await result(id), 1830);
    for (let i = 1; i <= 60; i++) once(id, `step ${i}`);
    assert.equal(world.messagesOf(id).size, 61);
    assert.equal((await log(id)).steps.length, 61);
  });

  test("large outputs are fetched", async () => {
    const id = await trigger("large", { body: { text: "x".repeat(500_000) } });
    assert.deepEqual(await result(id), { total: 500_000 + 5 * 300_000, called: sdk.modern ? 400_000 : 400_002 }); // old releases send a text as JSON
    assert.ok(world.callsOf(id).some((c) => c.headers["content-length"] === "0"), "every delivery was inline");
    for (let i = 0; i < 5; i++) once(id, `large ${i}`);
  });

  // Larger than what a delivery may hold. TRIREME_LARGE=5242880 makes it as large as calls answer in practice.
  const large = Number(process.env.TRIREME_LARGE ?? 1_500_000);
  const lastStep = (id) => world.until(() => world.times(id, "after") > 0, "the last step", 120_000); // not by the log, which is as long

  test("a large answer of a call is whole", async () => {
    const id = await trigger("huge", { body: { bytes: large } });
    await lastStep(id);
    assert.deepEqual(await result(id), { status: 200, length: large, end: true });
    for (const name of ["before", "after"]) once(id, name);
  });

  test("a large error reaches the failure function", async () => {
    const id = await trigger("hugeError", { body: { bytes: large }, retries: 0 });
    const told = await world.until(() => world.failures.find((f) => f.runId === id), "the failure function", 120_000);
    assert.equal(told.failStatus, 500);
    assert.match(told.failResponse, /^x+/);
    assert.deepEqual(told.payload, { bytes: large });
    const run = await until(() => log(id), (r) => r.failureFunction?.state === "CALLBACK_SUCCESS", "the state of the failure function");
    assert.equal(run.workflowState, "RUN_FAILED");
    assert.match((await letter(id)).responseBody, /xxxx/);
  });

  test("a large failure of a called URL does not fail the run", async () => {
    const id = await trigger("hugeError", { body: { bytes: large, called: true } });
    await lastStep(id);
    assert.deepEqual(await result(id), { status: 500, length: large });
  });

  test("cancel", async () => {
    const event = `cancel-${randomUUID()}`;
    const ids = await Promise.all([1, 2, 3].map((n) => trigger("waiter", { body: { event }, label: `${event}-${n}` })));
    await waiting(event, 3);
    const cancel = (...all) => client().cancel(sdk.modern ? all : { ids: all });
    assert.equal((await cancel(ids[0])).cancelled, 1);
    assert.equal((await cancel(ids[0], "wfr_unknown")).cancelled, 0);
    assert.equal((await log(ids[0])).workflowState, "RUN_CANCELED");
    await waiting(event, 2);
    if (sdk.modern) assert.deepEqual(await client().cancel({ filter: { label: [`${event}-2`, `${event}-3`], workflowUrl: flow("waiter") } }), { cancelled: 2 });
    else assert.equal((await cancel(...ids)).cancelled, 2);
    assert.deepEqual(await client().notify({ eventId: event }), []);
    for (const id of ids) assert.equal(world.times(id, "after"), 0);
    assert.deepEqual(await letters(ids[0]), []);
  });

  test("a run that waits for its start is cancelled", async () => {
    const id = await trigger("long", { delay: 600 });
    assert.equal((await log(id)).workflowState, "RUN_STARTED");
    assert.equal((await client().cancel(sdk.modern ? id : { ids: [id] })).cancelled, 1);
    assert.equal(world.callsOf(id).length, 0);
  });

  test("the same run id starts one run", async () => {
    const workflowRunId = randomUUID();
    const ids = await Promise.all([1, 2, 3].map(() => trigger("steps", { workflowRunId, body: {} })));
    assert.equal(new Set(ids).size, 1);
    await result(ids[0]);
    assert.equal((await client().logs({ workflowRunId: ids[0] })).runs.length, 1);
    once(ids[0], "text");
    assert.equal(await trigger("steps", { workflowRunId, body: {} }), ids[0]); // its run has ended: the id is free again
    assert.equal((await client().logs({ workflowRunId: ids[0] })).runs.length, 2);
  });

  test("a plain first call starts a run", async () => {
    const answer = await ask("POST", `/v2/publish/${flow("child")}`, { body: '{"x":8}', headers: { "Content-Type": "application/json", "Upstash-Forward-X-Parent": "nobody" } });
    assert.equal(answer.status, 200);
    const call = await world.until(() => world.calls.find((c) => c.name === "child" && c.headers["x-parent"] === "nobody" && c.runId), "the run");
    assert.deepEqual(await result(call.runId), { twice: 16, parent: "nobody" });
  });

  test("the trigger of the REST API", onlyModern, async () => {
    const one = await ask("POST", `/v2/trigger/${flow("steps")}`, { body: '{"rest":1}', headers: { "Upstash-Forward-X-User": "ada", "Upstash-Label": "rest" } });
    assert.equal(one.status, 200);
    assert.equal((await result(one.body.workflowRunId)).user, "ada");
    const many = await ask("POST", "/v2/batch/trigger", { body: JSON.stringify([{ destination: flow("steps"), body: "{}" }, { destination: flow("child"), body: '{"x":1}', headers: { "Upstash-Workflow-RunId": `wfr_${randomUUID()}` } }]) });
    assert.deepEqual([many.status, many.body.length], [201, 2]);
    assert.equal((await result(many.body[1].workflowRunId)).twice, 2);
    const unknown = await ask("POST", `/v2/trigger/${flow("steps")}`, { body: '{"by":"hand"}', headers: { "Upstash-Workflow-Unknown-Sdk": "true", "Upstash-Forward-X-User": "eve" } });
    const got = await result(unknown.body.workflowRunId);
    assert.deepEqual([got.user, got.object.input], ["eve", { by: "hand" }]);
    const none = await ask("POST", `/v2/trigger/${world.base}/out/plain`, {});
    assert.match((await failed(none.body.workflowRunId)).steps.at(-1).steps[0].errors.at(-1).error, /only usable with sdk versions/);
  });

  test("each delivery of a run carries the trace of its trigger", onlyModern, async () => {
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const one = await ask("POST", `/v2/trigger/${flow("steps")}`, { body: '{"rest":1}', headers: { traceparent, tracestate: "a=1" } });
    const id = one.body.workflowRunId;
    await result(id);
    const calls = world.callsOf(id); // the client forwards the headers of the first to all others
    assert.ok(calls.length >= 6, `${calls.length} calls`);
    for (const { headers } of calls) assert.deepEqual([headers.traceparent, headers.tracestate], [traceparent, "a=1"]);
  });

  test("labels, flow control and pages of logs", async () => {
    const label = `limited-${randomUUID()}`;
    const options = { label, flowControl: { key: "limited", parallelism: 2 } };
    const ids = (await client().trigger(Array.from({ length: 12 }, () => ({ url: flow("limited"), ...settings, ...options })))).map((r) => r.workflowRunId);
    for (const id of ids) await result(id);
    // A leader that is lost leaves calls under way behind, which the next one makes again.
    const attempts = Math.max(...ids.map((id) => world.attempts(id)));
    assert.ok(world.most <= 2 * attempts, `${world.most} at once in ${attempts} attempts`);
    const find = (rest) => client().logs(sdk.modern ? { filter: { label, ...rest.filter }, cursor: rest.cursor, count: rest.count } : { workflowUrl: flow("limited"), ...rest });
    const page = await find({});
    assert.equal(page.runs.length, 10);
    assert.ok(page.cursor);
    const rest = await find({ cursor: page.cursor });
    assert.equal(rest.runs.length, 2);
    assert.ok(!rest.cursor);
    assert.deepEqual([...page.runs, ...rest.runs].map((r) => r.workflowRunId).sort(), [...ids].sort());
    assert.deepEqual([page.runs[0].label, page.runs[0].flowControlKey], [label, "limited"]);
    const created = page.runs.map((r) => r.workflowRunCreatedAt);
    assert.deepEqual(created, [...created].sort((a, b) => b - a));
  });

  test("a stuck run explains itself", async () => {
    const event = `stuck-${randomUUID()}`;
    const id = await trigger("waiter", { body: { event } });
    await waiting(event);
    const { status, body } = await ask("GET", `/v2/workflows/runs/${id}/explain`);
    assert.equal(status, 200);
    assert.match(JSON.stringify(body), new RegExp(event));
  });
});

// Old releases have fewer, and other tests.
test("every method was called", onlyModern, () => {
  for (const name of ["client.trigger", "dlq.restart", "context.run", "openai.call"]) assert.ok(calls.all.has(name), `${name} is not watched`);
  assert.deepEqual(calls.missing(), []);
});
