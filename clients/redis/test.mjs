// The published client, unmodified, against running nodes. Each call goes through one of
// three client objects, picked at random, so that every reply must be right whichever
// node gives it.
//
//   TRIREME_URLS   URLs of the nodes, separated by commas (one may stand three times)
//   TRIREME_TOKEN  the Standard token
//   TRIREME_SEED   the sequence of picks, printed by every run
import assert from "node:assert/strict";
import { test } from "node:test";
import { Redis } from "@upstash/redis";

const urls = (process.env.TRIREME_URLS ?? "").split(",").filter(Boolean);
const token = process.env.TRIREME_TOKEN ?? "";
if (urls.length === 0 || token === "") {
  console.error("TRIREME_URLS and TRIREME_TOKEN must be set");
  process.exit(2);
}

const seed = Number(process.env.TRIREME_SEED ?? Math.floor(Math.random() * 2 ** 31));
console.log(`TRIREME_SEED=${seed}`);
let state = seed >>> 0;
// A linear congruential generator: chance that can be repeated.
const random = (n) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * n);
};

const quiet = { token, enableTelemetry: false, retry: { retries: 0 } };
const clientsWith = (options) => [0, 1, 2].map((i) => new Redis({ url: urls[i % urls.length], ...quiet, ...options }));

// anyOf is an object with the client's methods, each call of which takes one of clients.
const anyOf = (clients) =>
  new Proxy({}, { get: (_, name) => (...args) => clients[random(clients.length)][name](...args) });

const redis = anyOf(clientsWith({}));
const single = anyOf(clientsWith({ enableAutoPipelining: false }));
const plain = anyOf(clientsWith({ responseEncoding: false }));
const text = anyOf(clientsWith({ automaticDeserialization: false }));
const node = () => urls[random(urls.length)].replace(/\/$/, "");

let keys = 0;
const run = `${Date.now().toString(36)}-${seed.toString(36)}`;
const key = (name) => `client-test:${run}:${name}:${keys++}`;

test("strings", async () => {
  const k = key("string");
  assert.equal(await redis.set(k, "value"), "OK");
  assert.equal(await redis.get(k), "value");
  assert.equal(await redis.append(k, "-more"), 10);
  assert.equal(await redis.strlen(k), 10);
  assert.equal(await redis.getrange(k, 0, 4), "value");
  assert.equal(await redis.setrange(k, 0, "V"), 10);
  assert.equal(await redis.getset(k, "new"), "Value-more");
  assert.equal(await redis.getdel(k), "new");
  assert.equal(await redis.get(k), null);
  assert.equal(await redis.setnx(k, "a"), 1);
  assert.equal(await redis.setnx(k, "b"), 0);
  const [a, b, c] = [key("m"), key("m"), key("m")];
  assert.equal(await redis.mset({ [a]: "1st", [b]: "2nd" }), "OK");
  assert.deepEqual(await redis.mget(a, c, b), ["1st", null, "2nd"]);
  assert.equal(await redis.msetnx({ [c]: "x", [a]: "y" }), 0);
  assert.equal(await redis.exists(a, b, c), 2);
  assert.equal(await redis.del(a, b, c), 2);
});

test("conditions and replies of SET", async () => {
  const k = key("set");
  assert.equal(await redis.set(k, "1", { xx: true }), null);
  assert.equal(await redis.set(k, "one", { nx: true }), "OK");
  assert.equal(await redis.set(k, "two", { nx: true }), null);
  assert.equal(await redis.set(k, "two", { get: true }), "one");
  assert.equal(await redis.set(k, "three", { xx: true, ex: 100 }), "OK");
  assert.equal(await redis.set(k, "four", { keepTtl: true }), "OK");
  const ttl = await redis.ttl(k);
  assert.ok(ttl > 90 && ttl <= 100, `ttl ${ttl}`);
});

test("lifetimes", async () => {
  const k = key("ttl");
  assert.equal(await redis.ttl(k), -2);
  await redis.set(k, "v");
  assert.equal(await redis.ttl(k), -1);
  assert.equal(await redis.expire(k, 50), 1);
  assert.equal(await redis.expire(k, 10, "gt"), 0);
  const left = await redis.pttl(k);
  assert.ok(left > 40_000 && left <= 50_000, `pttl ${left}`);
  assert.equal(await redis.persist(k), 1);
  assert.equal(await redis.expireat(k, Math.floor(Date.now() / 1000) + 60), 1);
  assert.equal(await redis.getex(k, { persist: true }), "v");
  assert.equal(await redis.ttl(k), -1);
  assert.equal(await redis.psetex(k, 60_000, "w"), "OK");
  assert.equal(await redis.setex(k, 60, "x"), "OK");
  assert.equal(await redis.pexpire(k, 1), 1);
  const deadline = Date.now() + 5000;
  while ((await redis.get(k)) !== null) assert.ok(Date.now() < deadline, "the key outlived its deadline");
  assert.equal(await redis.exists(k), 0);
});

test("objects", async () => {
  const k = key("object");
  const document = { name: "Zoë", tags: ["a", 1, null, { deep: [true, false] }], text: 'quote " slash \\ line\n', empty: {} };
  for (const value of [document, [1, 2, 3], { n: 1.5 }, true, false, "plain", "", 42, -0.5]) {
    await redis.set(k, value);
    assert.deepEqual(await redis.get(k), value);
    assert.deepEqual(await plain.get(k), value);
    assert.deepEqual(await single.get(k), value);
  }
  await redis.set(k, null);
  assert.equal(await text.get(k), "null");
  await assert.rejects(redis.set(k, undefined), /null args are not supported/);
  await assert.rejects(redis.set(k, Number.NaN), /null args are not supported/);
});

test("numbers", async () => {
  const k = key("number");
  assert.equal(await redis.incr(k), 1);
  assert.equal(await redis.incrby(k, 41), 42);
  assert.equal(await redis.decr(k), 41);
  assert.equal(await redis.decrby(k, 50), -9);
  assert.equal(await redis.incrbyfloat(k, 9.5), 0.5);
  await redis.set(k, 1e21);
  assert.equal(await text.get(k), "1e+21");
  await redis.set(k, "9007199254740993");
  assert.equal(await text.get(k), "9007199254740993");
  const reply = await fetch(node(), {
    method: "POST", headers: { Authorization: `Bearer ${token}` }, body: `["INCRBY","${key("big")}",9007199254740993]`,
  });
  assert.equal(await reply.text(), '{"result":9007199254740993}');
});

test("many adders of one counter", async () => {
  const k = key("counter");
  const each = await Promise.all(Array.from({ length: 300 }, () => single.incr(k)));
  assert.deepEqual(each.sort((a, b) => a - b), Array.from({ length: 300 }, (_, i) => i + 1));
  assert.equal(await redis.get(k), 300);
});

test("a write through any node is read through any other at once", async () => {
  const k = key("visible");
  for (let i = 0; i < 500; i++) {
    await single.set(k, `v${i}`);
    assert.equal(await single.get(k), `v${i}`);
  }
});

test("pipelines", async () => {
  const k = key("pipeline");
  const p = redis.pipeline();
  p.set(k, { a: 1 }).get(k).incr(key("n")).mget(k, key("none")).del(k);
  assert.deepEqual(await p.exec(), ["OK", { a: 1 }, 1, [{ a: 1 }, null], 1]);

  await redis.set(k, "text");
  const failing = () => redis.pipeline().set(k, "text").incr(k).get(k);
  await assert.rejects(failing().exec(), /Command 2 .*failed.*not an integer/s);
  const kept = await failing().exec({ keepErrors: true });
  assert.equal(kept[0].result, "OK");
  assert.match(kept[1].error, /^ERR value is not an integer/);
  assert.equal(kept[2].result, "text");

  const many = redis.pipeline();
  for (let i = 0; i < 1000; i++) many.set(`${k}:${i}`, i);
  assert.equal((await many.exec()).every((r) => r === "OK"), true);
  const back = redis.pipeline();
  for (let i = 0; i < 1000; i++) back.get(`${k}:${i}`);
  assert.deepEqual(await back.exec(), Array.from({ length: 1000 }, (_, i) => i));
});

test("transactions", async () => {
  const [a, b] = [key("a"), key("b")];
  assert.deepEqual(await redis.multi().set(a, 1).incrby(a, 4).get(a).mset({ [b]: "x" }).exec(), ["OK", 5, 5, "OK"]);
  // A failing row leaves the others standing.
  await assert.rejects(redis.multi().set(a, "text").incr(a).set(b, "after").exec(), /not an integer/);
  assert.equal(await redis.get(b), "after");
  // One that can't be run discards them all.
  const discarded = fetch(`${node()}/multi-exec`, {
    method: "POST", headers: { Authorization: `Bearer ${token}` }, body: JSON.stringify([["SET", a, "no"], ["GET"]]),
  }).then(async (r) => [r.status, await r.json(), r.headers.get("upstash-outcome")]);
  assert.deepEqual(await discarded, [400, { error: "ERR wrong number of arguments for 'get' command" }, "not-applied"]);
  assert.equal(await redis.get(a), "text");
  // Concurrent ones do not mix.
  const move = () => redis.multi().incrby(key2, 1).incrby(key3, -1).mget(key2, key3).exec();
  const [key2, key3] = [key("from"), key("to")];
  for (const [x, y, pair] of await Promise.all(Array.from({ length: 100 }, move))) {
    assert.deepEqual([x, y], [pair[0], pair[1]]);
    assert.equal(x + y, 0);
  }
});

test("auto-pipelining of 1,000 calls", async () => {
  const k = key("auto");
  const wrote = await Promise.all(Array.from({ length: 1000 }, (_, i) => redis.set(`${k}:${i}`, { i })));
  assert.equal(wrote.every((r) => r === "OK"), true);
  const read = await Promise.all(Array.from({ length: 1000 }, (_, i) => redis.get(`${k}:${i}`)));
  assert.deepEqual(read, Array.from({ length: 1000 }, (_, i) => ({ i })));
  const mixed = await Promise.allSettled(
    Array.from({ length: 1000 }, (_, i) => (i % 10 === 0 ? redis.incr(`${k}:${i}`) : redis.get(`${k}:${i}`))));
  mixed.forEach((r, i) => {
    assert.equal(r.status, i % 10 === 0 ? "rejected" : "fulfilled", `call ${i}`);
    if (i % 10 === 0) assert.match(String(r.reason), /not an integer/);
  });
});

test("text of every kind, in base64 and as it is", async () => {
  const k = key("text");
  for (const value of ["OK", "", " ", "ünïcödé", "日本語", "😀👩‍👩‍👧", "\u0000\u0001\u001f", "\u2028\u2029", "<&>'\"\\/", "YmFzZTY0", "a".repeat(300_000)]) {
    await redis.set(k, value);
    for (const [name, client] of Object.entries({ redis, single, plain, text })) {
      assert.equal(await client.get(k), value, `${name}: ${JSON.stringify(value.slice(0, 20))}`);
    }
    const spelled = `${k}:${value.slice(0, 50)}`;
    await redis.set(spelled, "v");
    assert.equal(await plain.get(spelled), "v");
    assert.equal(await redis.del(spelled), 1);
  }
});

test("statuses in base64", async () => {
  const k = key("status");
  await redis.set(k, "v");
  assert.equal(await redis.ping(), "PONG");
  assert.equal(await plain.ping(), "PONG");
  assert.equal(await redis.echo("hello"), "hello");
  assert.equal(await redis.type(k), "string");
  assert.equal(await plain.type(k), "string");
  assert.equal(await redis.type(key("none")), "none");
});

test("bytes that are not text", async () => {
  const k = key("bytes");
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  const headers = { Authorization: `Bearer ${token}` };
  const wrote = await fetch(`${node()}/set/${encodeURIComponent(k)}?EX=100`, { method: "POST", headers, body: bytes });
  assert.deepEqual([wrote.status, await wrote.text()], [200, '{"result":"OK"}']);
  const read = await fetch(`${node()}/get/${encodeURIComponent(k)}`, { headers: { ...headers, "Upstash-Response-Format": "resp2" } });
  assert.equal(read.headers.get("content-type"), "application/octet-stream");
  const raw = Buffer.from(await read.arrayBuffer());
  assert.deepEqual(raw, Buffer.concat([Buffer.from("$256\r\n"), Buffer.from(bytes), Buffer.from("\r\n")]));
  const coded = await fetch(`${node()}/get/${encodeURIComponent(k)}`, { headers: { ...headers, "Upstash-Encoding": "base64" } });
  assert.deepEqual(Buffer.from((await coded.json()).result, "base64"), Buffer.from(bytes));
});

test("keys", async () => {
  const prefix = key("scan");
  const all = Array.from({ length: 250 }, (_, i) => `${prefix}:${i}`).sort();
  await redis.mset(Object.fromEntries(all.map((k) => [k, "v"])));
  const found = new Set();
  let cursor = "0";
  do {
    const [next, page] = await redis.scan(cursor, { match: `${prefix}:*`, count: 37, type: "string" });
    page.forEach((k) => found.add(k));
    cursor = next;
  } while (cursor !== "0");
  assert.deepEqual([...found].sort(), all);
  assert.deepEqual((await redis.keys(`${prefix}:*`)).sort(), all);
  assert.equal(await redis.touch(all[0], key("none")), 1);
  assert.equal(await redis.rename(all[0], `${prefix}:renamed`), "OK");
  assert.equal(await redis.renamenx(`${prefix}:renamed`, all[1]), 0);
  assert.equal(await redis.copy(all[1], `${prefix}:copy`), "COPIED");
  assert.ok((await redis.dbsize()) >= 250);
  assert.equal(typeof (await redis.randomkey()), "string");
  assert.equal(await redis.unlink(...all), 249);
});

test("errors", async () => {
  const k = key("error");
  await redis.set(k, "text");
  await assert.rejects(redis.incr(k), { name: "UpstashError", message: /ERR value is not an integer or out of range/ });
  await assert.rejects(single.incr(k), { name: "UpstashError", message: /not an integer.*command was: \["incr"/s });
  await assert.rejects(plain.incr(k), /not an integer/);
  await assert.rejects(single.exec(["NOSUCH", "x"]), /Command is not available: 'NOSUCH'/);
  await assert.rejects(single.exec(["GET"]), /wrong number of arguments for 'get' command/);
  const stranger = new Redis({ url: node(), ...quiet, token: "nonsense", enableAutoPipelining: false });
  await assert.rejects(stranger.get(k), /WRONGPASS/);
  const strangers = new Redis({ url: node(), ...quiet, token: "nonsense" });
  await assert.rejects(strangers.get(k), /WRONGPASS/);
});

test("a sync token for every write", async () => {
  const seen = new Set();
  const k = key("token");
  const writes = [["/", ["SET", k, "1"]], ["/pipeline", [["SET", k, "2"], ["GET", k]]], ["/multi-exec", [["SET", k, "3"], ["INCR", k]]]];
  for (const [path, body] of [...writes, ...writes]) {
    const r = await fetch(node() + path, {
      method: "POST", headers: { Authorization: `Bearer ${token}`, "Upstash-Sync-Token": "" }, body: JSON.stringify(body),
    });
    assert.equal(r.status, 200);
    seen.add(r.headers.get("upstash-sync-token"));
  }
  assert.equal(seen.size, 6);
  assert.equal(seen.has(null), false);
});

// until waits for something that comes by a stream, and fails at an error of the stream.
const until = async (what, ready, errors = []) => {
  for (let i = 0; i < 6000; i++) {
    if (ready()) return;
    assert.deepEqual(errors, []);
    await new Promise((done) => setTimeout(done, 10));
  }
  assert.fail(`${what} did not come`);
};

test("subscriptions on every node", async (t) => {
  const channel = key("channel");
  const got = urls.map(() => []);
  const subscribed = [];
  const errors = [];
  const subscriptions = urls.map((url, i) => {
    const s = new Redis({ url, ...quiet }).subscribe([channel]);
    s.on("subscribe", (count) => subscribed.push(count));
    s.on("message", (e) => got[i].push(e));
    s.on("error", (e) => errors.push(e));
    t.after(() => s.unsubscribe());
    return s;
  });
  await until("a subscription", () => subscribed.length === urls.length, errors);
  assert.deepEqual(subscribed, urls.map(() => 1));
  assert.equal(await redis.publish(channel, "text, with a comma"), urls.length);
  assert.equal(await redis.publish(channel, { n: 1, list: ["é", null] }), urls.length);
  await Promise.all([...Array(50).keys()].map((n) => redis.publish(channel, { n })));
  await until("a message", () => got.every((list) => list.length === 52), errors);
  for (const list of got) {
    assert.deepEqual(list[0], { channel, message: "text, with a comma" });
    assert.deepEqual(list[1], { channel, message: { n: 1, list: ["é", null] } });
    assert.deepEqual(list, got[0]);
  }
  assert.deepEqual(await redis.exec(["PUBSUB", "NUMSUB", channel]), [channel, urls.length]);
  for (const s of subscriptions) await s.unsubscribe();
  let left = -1;
  for (let i = 0; i < 6000 && left !== 0; i++) {
    left = await redis.publish(channel, "nobody");
    await new Promise((done) => setTimeout(done, 10));
  }
  assert.equal(left, 0);
});

// The client takes messages of patterns for JSON and nothing else.
test("pattern subscriptions", async (t) => {
  const prefix = key("pattern");
  const got = [];
  let subscribed = false;
  const s = new Redis({ url: node(), ...quiet }).psubscribe([`${prefix}:*`]);
  t.after(() => s.unsubscribe());
  const errors = [];
  s.on("error", (e) => errors.push(e));
  s.on("psubscribe", () => (subscribed = true));
  s.on("pmessage", (e) => got.push(e));
  await until("a subscription", () => subscribed, errors);
  assert.equal(await redis.publish(`${prefix}:a`, [1, "a,b"]), 1);
  assert.equal(await redis.publish(`${prefix}-b`, "not this"), 0);
  assert.equal(await redis.publish(`${prefix}:c`, { third: 3 }), 1);
  await until("a message", () => got.length === 2, errors);
  assert.deepEqual(got, [
    { pattern: `${prefix}:*`, channel: `${prefix}:a`, message: [1, "a,b"] },
    { pattern: `${prefix}:*`, channel: `${prefix}:c`, message: { third: 3 } },
  ]);
});
