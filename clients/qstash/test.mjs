// The published client of messages, unmodified, against running nodes that deliver to
// this program. Each call goes through one of three client objects, picked at random.
//
//   TRIREME_URLS            URLs of the nodes, separated by commas
//   TRIREME_MESSAGES_TOKEN  the token of /v2
import assert from "node:assert/strict";
import http from "node:http";
import { after, before, test } from "node:test";
import { Client, Receiver } from "@upstash/qstash";

const urls = (process.env.TRIREME_URLS ?? "").split(",").filter(Boolean);
const token = process.env.TRIREME_MESSAGES_TOKEN ?? "";
if (urls.length === 0 || token === "") {
  console.error("TRIREME_URLS and TRIREME_MESSAGES_TOKEN must be set");
  process.exit(2);
}
const clients = urls.map((baseUrl) => new Client({ baseUrl, token, retry: false, enableTelemetry: false }));
const client = () => clients[Math.floor(Math.random() * clients.length)];

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
    const late = setTimeout(() => reject(new Error(`${path} was asked ${got.get(path)?.length ?? 0} times`)), 20_000);
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
  await fetch(`${urls[0]}/v2/keys/rotate`, { method: "POST", headers: { Authorization: `Bearer ${token}` } });
  await client().publishJSON({ url: `${base}/rotated`, body: {} });
  const [request] = await arrived("/rotated");
  assert.equal(await old.verify({ signature: request.headers["upstash-signature"], body: request.body }), true);
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
