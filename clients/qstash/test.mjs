// The published client of messages, unmodified, against running nodes that deliver to
// this program. Each call goes through one of three client objects, picked at random.
//
//   TRIREME_URLS            URLs of the nodes, separated by commas
//   TRIREME_MESSAGES_TOKEN  the token of /v2
//
// The provider of api/llm of these nodes answers {"choices":[],"asked":…}, or, if a
// stream is asked for, two events.
import assert from "node:assert/strict";
import http from "node:http";
import { after, before, test } from "node:test";
import { Client, Receiver, upstash } from "@upstash/qstash";
import { Calls } from "./methods.mjs";

const urls = (process.env.TRIREME_URLS ?? "").split(",").filter(Boolean);
const token = process.env.TRIREME_MESSAGES_TOKEN ?? "";
if (urls.length === 0 || token === "") {
  console.error("TRIREME_URLS and TRIREME_MESSAGES_TOKEN must be set");
  process.exit(2);
}
const clients = urls.map((baseUrl) => new Client({ baseUrl, token, retry: false, enableTelemetry: false }));
const calls = new Calls();
const client = () => calls.watch("client", clients[Math.floor(Math.random() * clients.length)]);

// What the destination got, by path, and how often it is to refuse each.
const got = new Map();
const refusals = new Map();
const waiting = new Set();
const server = http.createServer((req, res) => {
  const parts = [];
  req.on("data", (part) => parts.push(part));
  req.on("end", () => {
    const seen = got.get(req.url) ?? [];
    seen.push({ method: req.method, headers: req.headers, body: Buffer.concat(parts).toString() });
    got.set(req.url, seen);
    const left = refusals.get(req.url) ?? 0;
    refusals.set(req.url, left - 1);
    res.statusCode = left > 0 ? 503 : 200;
    res.end("answer");
    for (const look of waiting) look();
  });
});
let base;
before(() => new Promise((done) => server.listen(0, "127.0.0.1", () => ((base = `http://127.0.0.1:${server.address().port}`), done()))));
after(() => server.close());

// arrived waits until a path was asked so often and gives the requests.
const arrived = (path, times = 1) =>
  new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${path} was asked ${got.get(path)?.length ?? 0} times`)), 120_000);
    const look = () => {
      if ((got.get(path)?.length ?? 0) < times) return;
      clearTimeout(late);
      waiting.delete(look);
      resolve(got.get(path));
    };
    waiting.add(look);
    look();
  });

const keys = async () => {
  const answer = await fetch(`${urls[0]}/v2/keys`, { headers: { Authorization: `Bearer ${token}` } });
  return answer.json();
};
const receiver = async () => {
  const { current, next } = await keys();
  return new Receiver({ currentSigningKey: current, nextSigningKey: next });
};
const rotate = () => fetch(`${urls[0]}/v2/keys/rotate`, { method: "POST", headers: { Authorization: `Bearer ${token}` } });

test("a message arrives, signed", async () => {
  const { messageId } = await client().publishJSON({ url: `${base}/a?x=1`, body: { hello: "world" }, headers: { "X-Mine": "1" }, label: "l" });
  const [request] = await arrived("/a?x=1");
  assert.equal(request.method, "POST");
  assert.equal(request.body, '{"hello":"world"}');
  assert.equal(request.headers["x-mine"], "1");
  assert.equal(request.headers["content-type"], "application/json");
  assert.equal(request.headers["upstash-message-id"], messageId);
  assert.equal(request.headers["upstash-retried"], "0");
  const signed = { signature: request.headers["upstash-signature"], body: request.body };
  assert.equal(await (await receiver()).verify({ ...signed, url: `${base}/a?x=1` }), true);
  await assert.rejects((async () => (await receiver()).verify({ ...signed, url: `${base}/other` }))());
  await assert.rejects((async () => (await receiver()).verify({ ...signed, body: "forged" }))());
  const message = await client().messages.get(messageId);
  assert.equal(message.url, `${base}/a?x=1`);
  assert.equal(message.maxRetries, 3);
  assert.deepEqual(message.header, { "Content-Type": ["application/json"], "X-Mine": ["1"] });
});

test("a receiver goes on over one rotation", async () => {
  const old = await receiver();
  await rotate();
  await client().publishJSON({ url: `${base}/rotated`, body: {} });
  const [request] = await arrived("/rotated");
  assert.equal(await old.verify({ signature: request.headers["upstash-signature"], body: request.body }), true);
  await rotate();
  await client().publishJSON({ url: `${base}/rotated`, body: {} });
  const [, second] = await arrived("/rotated", 2);
  const signed = { signature: second.headers["upstash-signature"], body: second.body };
  await assert.rejects(old.verify(signed));
  assert.equal(await (await receiver()).verify(signed), true);
});

test("a refused message is sent again, and told", async () => {
  refusals.set("/again", 2);
  await client().publish({ url: `${base}/again`, method: "PUT", body: "x", retries: 2, retryDelay: "10", callback: `${base}/told` });
  const requests = await arrived("/again", 3);
  assert.deepEqual(requests.map((r) => r.headers["upstash-retried"]), ["0", "1", "2"]);
  assert.equal(new Set(requests.map((r) => r.headers["upstash-message-id"])).size, 1);
  const told = (await arrived("/told", 3)).map((r) => JSON.parse(r.body));
  assert.deepEqual(told.map((t) => t.status).sort(), [200, 503, 503]);
  assert.equal(Buffer.from(told[0].body, "base64").toString(), "answer");
});

test("one that is refused for ever is told as failed", async () => {
  refusals.set("/never", 100);
  await client().publish({ url: `${base}/never`, retries: 0, failureCallback: `${base}/failed` });
  const [request] = await arrived("/failed");
  const told = JSON.parse(request.body);
  assert.equal(told.status, 503);
  assert.ok(told.dlqId);
});

test("a batch, and a queue in order", async () => {
  const sent = await client().batchJSON([
    { url: `${base}/b1`, body: { n: 1 } },
    { url: `${base}/b2`, body: { n: 2 }, queueName: "q" },
  ]);
  assert.equal(sent.length, 2);
  await arrived("/b1");
  await arrived("/b2");
  await client().queue({ queueName: "line" }).upsert({ parallelism: 1 });
  for (const n of [1, 2, 3, 4]) await client().queue({ queueName: "line" }).enqueueJSON({ url: `${base}/line`, body: n });
  assert.deepEqual((await arrived("/line", 4)).map((r) => r.body), ["1", "2", "3", "4"]);
  assert.equal((await client().queue({ queueName: "line" }).get()).parallelism, 1);
  await client().queue({ queueName: "line" }).delete();
});

test("a message that waits is read and cancelled", async () => {
  const flowControl = { key: "k", parallelism: 2, rate: 10, period: "1m" };
  const { messageId } = await client().publishJSON({ url: `${base}/later`, delay: 1000, flowControl });
  const message = await client().messages.get(messageId);
  assert.equal(message.notBefore - message.createdAt, 1_000_000);
  assert.deepEqual([message.flowControlKey, message.parallelism, message.rate, message.period], ["k", 2, 10, 60]);
  await client().messages.delete(messageId);
  await assert.rejects(client().messages.delete(messageId), { status: 404 });
});

test("deduplication", async () => {
  const one = await client().publishJSON({ url: `${base}/once`, deduplicationId: "d" });
  const two = await client().publishJSON({ url: `${base}/once`, deduplicationId: "d" });
  assert.equal(two.messageId, one.messageId);
  assert.equal(two.deduplicated, true);
});

test("schedules", async () => {
  const { scheduleId } = await client().schedules.create({ destination: `${base}/tick`, cron: "@every 1s", scheduleId: "s", body: "tick" });
  assert.equal(scheduleId, "s");
  const [request] = await arrived("/tick");
  assert.equal(request.headers["upstash-schedule-id"], "s");
  await client().schedules.pause({ schedule: "s" });
  assert.equal((await client().schedules.get("s")).isPaused, true);
  await client().schedules.resume({ schedule: "s" });
  assert.equal((await client().schedules.list()).length, 1);
  await client().schedules.delete("s");
  await assert.rejects(client().schedules.get("s"), { status: 404 });
});

test("errors keep their status and text", async () => {
  await assert.rejects(client().publish({ url: "nowhere.example/x" }), { status: 400, message: /endpoint has invalid scheme/ });
  await assert.rejects(client().publish({ urlGroup: "nobody" }), { status: 404, message: /topic nobody not found/ });
});

// until asks again until an answer is as wanted.
const until = async (ask, good) => {
  for (const end = Date.now() + 120_000; ; await new Promise((done) => setTimeout(done, 10))) {
    const answer = await ask();
    if (good(answer)) return answer;
    if (Date.now() > end) throw new Error(`it stays ${JSON.stringify(answer)}`);
  }
};

test("URL groups", async () => {
  const groups = client().urlGroups;
  await groups.addEndpoints({ name: "group", endpoints: [{ url: `${base}/g1`, name: "the first" }, { url: `${base}/g2` }] });
  const sent = await client().publishJSON({ urlGroup: "group", body: { n: 1 } });
  assert.deepEqual(sent.map((m) => m.url), [`${base}/g1`, `${base}/g2`]);
  await arrived("/g1");
  const [request] = await arrived("/g2");
  assert.equal(request.headers["upstash-topic-name"], "group");
  assert.equal((await client().messages.get(sent[0].messageId)).urlGroup, "group");
  await groups.removeEndpoints({ name: "group", endpoints: [{ name: "the first" }] });
  assert.deepEqual((await groups.get("group")).endpoints, [{ url: `${base}/g2` }]);
  assert.ok((await groups.list()).some((g) => g.name === "group"));
  await groups.delete("group");
  await groups.delete("group");
  await assert.rejects(groups.get("group"), { status: 404 });
});

test("dead letters are listed, retried and deleted", async () => {
  refusals.set("/dead", 1000);
  for (const label of ["d1", "d2", "d3", "d4"]) await client().publish({ url: `${base}/dead`, body: label, retries: 0, label: ["dead", label] });
  const filter = { label: "dead" };
  const { messages } = await until(() => client().dlq.listMessages({ filter }), (page) => page.messages.length === 4);
  assert.deepEqual([messages[0].responseStatus, messages[0].responseBody, messages[0].labels.length], [503, "answer", 2]);
  const id = (label) => messages.find((m) => m.body === label).dlqId;
  const first = await client().dlq.listMessages({ filter, count: 3 });
  const rest = await client().dlq.listMessages({ filter, cursor: first.cursor });
  assert.deepEqual([first.messages.length, rest.messages.length, rest.cursor], [3, 1, undefined]);
  assert.equal((await client().dlq.listMessages({ dlqIds: [id("d1"), id("d2")] })).messages.length, 2);
  refusals.set("/dead", 0);
  const { responses } = await client().dlq.retry(id("d1"));
  assert.equal(responses.length, 1);
  const again = await client().dlq.retry({ filter: { label: "d2", responseStatus: 503, url: `${base}/dead` } });
  assert.deepEqual([again.responses.length, again.cursor], [1, undefined]);
  const seen = await arrived("/dead", 6);
  assert.deepEqual(seen.slice(4).map((r) => r.body).sort(), ["d1", "d2"]);
  assert.deepEqual(await client().dlq.delete(id("d3")), { deleted: 1 });
  await assert.rejects(client().dlq.delete(id("d3")), { status: 404 });
  assert.deepEqual(await client().dlq.deleteMany({ dlqIds: [id("d3"), id("d4")] }), { deleted: 1 });
  assert.deepEqual(await client().dlq.retry({ filter }), { responses: [], cursor: undefined });
  await assert.rejects(client().dlq.delete({ filter: { lable: "dead" } }), { status: 400 });
  await client().dlq.delete({ all: true });
  assert.deepEqual((await client().dlq.listMessages()).messages, []);
});

test("logs tell the life of a message", async () => {
  const { messageId } = await client().publish({ url: `${base}/logged`, retryDelay: "1000", flowControl: { key: "logged", parallelism: 1 }, body: "x" });
  const { logs } = await until(() => client().logs({ messageIds: [messageId] }), (page) => page.logs.length === 3);
  assert.deepEqual(logs.map((l) => l.state), ["DELIVERED", "ACTIVE", "CREATED"]);
  for (const log of logs) assert.deepEqual([log.url, log.retryDelayExpr, log.flowControlKey, log.maxRetries, atob(log.body)], [`${base}/logged`, "1000", "logged", 3, "x"]);
  const page = await client().logs({ count: 2, filter: { url: `${base}/logged` } });
  const next = await client().logs({ cursor: page.cursor, filter: { url: `${base}/logged` } });
  assert.deepEqual([page.logs.length, next.logs.length, next.cursor], [2, 1, undefined]);
  const { events } = await client().events({ filter: { state: "DELIVERED", host: new URL(base).host, path: "/logged" } });
  assert.equal(events.length, 1);
});

test("flow control", async () => {
  const flow = client().flowControl;
  await flow.pause("flow");
  await client().publish({ url: `${base}/flow`, flowControl: { key: "flow", rate: 7, period: 60 } });
  const held = await until(() => flow.get("flow"), (f) => f.waitListSize === 1);
  assert.deepEqual([held.isPaused, held.rateMax, held.ratePeriod, held.parallelismMax], [true, 7, 60, 0]);
  await flow.pin("flow", { parallelism: 3, rate: 5, period: 30 });
  await flow.resume("flow");
  await arrived("/flow");
  const pinned = await until(() => flow.get("flow"), (f) => f.rateCount === 1);
  assert.deepEqual([pinned.parallelismMax, pinned.rateMax, pinned.isPinnedParallelism, pinned.isPinnedRate], [3, 5, true, true]);
  await flow.resetRate("flow");
  assert.equal((await flow.get("flow")).rateCount, 0);
  await flow.unpin("flow", { parallelism: true });
  const unpinned = await flow.get("flow");
  assert.deepEqual([unpinned.isPinnedParallelism, unpinned.isPinnedRate], [false, true]);
  const { parallelismMax, parallelismCount } = await flow.getGlobalParallelism();
  assert.deepEqual([typeof parallelismMax, typeof parallelismCount], ["number", "number"]);
  await assert.rejects(flow.get("nothing"), { status: 404 });
});

test("messages are cancelled by ids, by filters, and all", async () => {
  await until(() => client().messages.cancel({ all: true }), ({ cancelled }) => cancelled === 0); // what the tests before have left
  const later = async (label) => (await client().publish({ url: `${base}/c`, delay: 1000, label })).messageId;
  const [a, b, c, d, e] = [await later("a"), await later("b"), await later("c"), await later("d"), await later("e")];
  const f = await later("f");
  assert.deepEqual(await client().messages.cancel(a), { cancelled: 1 });
  assert.deepEqual(await client().messages.cancel([a, b]), { cancelled: 1 });
  assert.deepEqual(await client().messages.cancel({ filter: { label: ["c", "x"], host: new URL(base).host } }), { cancelled: 1 });
  assert.equal(await client().messages.deleteMany([c, d]), 1);
  assert.deepEqual(await client().messages.cancel({ all: true }), { cancelled: 2 });
  assert.equal(await client().messages.deleteAll(), 0);
  for (const id of [e, f]) await until(() => client().logs({ messageIds: [id] }), ({ logs }) => logs[0].state === "CANCELED");
});

// The newest client has no methods for these yet: the requests are made by the client all the same, as its next release will.
const request = (method, path, query) => client().http.request({ method, path, query });
const runNow = (id) => client().http.request({ method: "POST", path: ["v2", "messages", id, "retry"], parseResponseAsJson: false });

test("a message that waits is run now", async () => {
  const { messageId } = await client().publish({ url: `${base}/now`, delay: 100_000, body: "now" });
  await runNow(messageId);
  const [seen] = await arrived("/now");
  assert.deepEqual([seen.body, seen.headers["upstash-message-id"], seen.headers["upstash-retried"]], ["now", messageId, "0"]);
  await assert.rejects(runNow(messageId), { status: 404 });
  refusals.set("/soon", 1);
  const again = await client().publish({ url: `${base}/soon`, retries: 1, retryDelay: "3600000" });
  await until(() => client().logs({ messageIds: [again.messageId] }), ({ logs }) => logs[0]?.state === "RETRY");
  await runNow(again.messageId);
  assert.equal((await arrived("/soon", 2))[1].headers["upstash-retried"], "1");
});

test("messages are cancelled by a bulk action", async () => {
  for (const label of ["bulk", "bulk", "other"]) await client().publish({ url: `${base}/bulk`, delay: 1000, label });
  assert.deepEqual(await request("GET", ["v2", "bulkActions", "preview"], { label: "bulk" }), { total: 2 });
  const { cancelled, actionId } = await request("DELETE", ["v2", "messages"], { label: "bulk", async: "true" });
  assert.equal(cancelled, 2);
  const done = await until(() => request("GET", ["v2", "bulkActions", actionId]), ({ state }) => state === "FINISHED");
  const { createdAt, completedAt, ...rest } = done;
  assert.deepEqual(rest, { actionId, kind: "cancel", state: "FINISHED", total: 2, processed: 2, filter: { label: ["bulk"] } });
  assert.ok(completedAt >= createdAt);
  const { bulkActions } = await request("GET", ["v2", "bulkActions"], { state: "FINISHED", count: 1 });
  assert.deepEqual(bulkActions, [done]);
  await assert.rejects(request("GET", ["v2", "bulkActions", "nosuch"]), { status: 404 });
  assert.deepEqual(await client().messages.cancel({ filter: { label: "other" } }), { cancelled: 1 });
});

test("queues are listed and paused, batches are raw", async () => {
  const queue = client().queue({ queueName: "paused" });
  await queue.upsert({ parallelism: 2, paused: true });
  await queue.enqueue({ url: `${base}/queued`, body: "x" });
  assert.deepEqual([(await queue.get()).lag, (await queue.get()).paused], [1, true]);
  await queue.resume();
  await arrived("/queued");
  await queue.pause();
  assert.ok((await queue.list()).some((q) => q.name === "paused" && q.paused));
  await queue.delete();
  const [sent] = await client().batch([{ url: `${base}/raw`, body: "raw", method: "PUT", headers: { "X-Mine": "1" } }]);
  const [request] = await arrived("/raw");
  assert.deepEqual([request.method, request.body, request.headers["x-mine"], request.headers["upstash-message-id"]], ["PUT", "raw", "1", sent.messageId]);
});

test("topics are URL groups under their old name", async () => {
  const { topics } = client();
  await topics.addEndpoints({ name: "old", endpoints: [{ url: `${base}/t1` }, { url: `${base}/t2` }] });
  await topics.removeEndpoints({ name: "old", endpoints: [{ url: `${base}/t1` }] });
  assert.equal((await topics.get("old")).endpoints.length, 1);
  assert.ok((await topics.list()).some((t) => t.name === "old"));
  await client().publishJSON({ topic: "old", body: 1 });
  await arrived("/t2");
  await topics.delete("old");
});

test("flow control is paused and counted from the beginning", async () => {
  const flow = client().flowControl;
  await flow.pause("again");
  assert.equal((await flow.get("again")).isPaused, true);
  await flow.resume("again");
  assert.equal((await flow.get("again")).isPaused, false);
});

test("a language model is asked at once, in pieces, and by a message", async () => {
  const ask = { provider: upstash(), model: "m", messages: [{ role: "user", content: "hello" }] };
  const answer = await client().chat().create({ ...ask });
  assert.equal(answer.asked.messages[0].content, "hello");
  const prompted = await client().chat().prompt({ provider: upstash(), model: "m", system: "s", user: "u" });
  assert.deepEqual(prompted.asked.messages.map((m) => m.role), ["system", "user"]);
  const pieces = [];
  for await (const piece of await client().chat().create({ ...ask, stream: true })) pieces.push(piece.n);
  assert.deepEqual(pieces, [1, 2]);
  await client().publishJSON({ api: { name: "llm", provider: upstash() }, body: { model: "m", messages: [] }, callback: `${base}/model` });
  const [request] = await arrived("/model");
  const told = JSON.parse(request.body);
  assert.equal(told.status, 200);
  assert.deepEqual(JSON.parse(Buffer.from(told.body, "base64").toString()).asked.messages, []);
});

test("every method was called", () => {
  // What chat's calls are made of, and says nothing to a server.
  const internal = ["chat.getAuthorizationToken"];
  assert.deepEqual(calls.missing().filter((name) => !internal.includes(name)), []);
});
