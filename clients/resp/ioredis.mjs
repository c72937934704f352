// The published client ioredis, unmodified, against running nodes: in its RESP2 and its
// RESP3 form, and as a client of a cluster. See nodes.mjs for the variables.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Cluster, Redis } from "ioredis";
import { key, nodes, random, token, unique, until } from "./nodes.mjs";

const open = [];
after(() => open.forEach((c) => c.disconnect()));
const connect = (node, options = {}) => {
  const c = new Redis({ ...node, password: token, maxRetriesPerRequest: 3, ...options });
  open.push(c);
  return c;
};
const cluster = (options = {}) => {
  const c = new Cluster(nodes, { redisOptions: { password: token }, ...options });
  open.push(c);
  return c;
};

// Each form gives the client that a call goes through, and one connection of its own for
// what belongs to a connection.
const forms = {
  RESP2: () => nodes.map((n) => connect(n, { protocol: 2 })),
  RESP3: () => nodes.map((n) => connect(n, { protocol: 3 })),
  cluster: () => [cluster(), cluster({ scaleReads: "slave" })],
};

for (const [form, make] of Object.entries(forms)) {
  const clients = make();
  const redis = new Proxy({}, {
    get: (_, name) => (...args) => random(clients)[name](...args),
  });

  test(`${form}: strings and keys`, async () => {
    const k = key("string");
    assert.equal(await redis.set(k, "value", "EX", 100), "OK");
    assert.equal(await redis.set(k, "other", "NX"), null);
    assert.equal(await redis.get(k), "value");
    assert.ok((await redis.ttl(k)) > 90);
    assert.equal(await redis.append(k, "-more"), 10);
    assert.deepEqual(await redis.getBuffer(k), Buffer.from("value-more"));
    const [a, b, n] = [key("m"), key("m"), key("n")];
    assert.equal(await redis.mset({ [a]: "1", [b]: "2" }), "OK");
    assert.deepEqual(await redis.mget(a, key("none"), b), ["1", null, "2"]);
    assert.equal(await redis.incrby(n, 42), 42);
    assert.equal(await redis.incrbyfloat(n, 0.5), "42.5");
    assert.equal(await redis.del(a, b), 2);
    assert.equal(await redis.type(k), "string");
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    assert.equal(await redis.set(k, bytes), "OK");
    assert.deepEqual(await redis.getBuffer(k), bytes);
  });

  test(`${form}: hashes`, async () => {
    const k = key("hash");
    assert.equal(await redis.hset(k, { a: 1, b: "two" }), 2);
    assert.deepEqual(await redis.hgetall(k), { a: "1", b: "two" });
    assert.deepEqual(await redis.hmget(k, "a", "none"), ["1", null]);
    assert.equal(await redis.hincrby(k, "a", 5), 6);
    assert.deepEqual(await redis.hscan(k, 0), ["0", ["a", "6", "b", "two"]]);
    assert.equal(await redis.hdel(k, "a", "none"), 1);
  });

  test(`${form}: lists`, async () => {
    const [k, to] = [key("list"), key("list")];
    assert.equal(await redis.rpush(k, "a", "b", "c"), 3);
    assert.deepEqual(await redis.lrange(k, 0, -1), ["a", "b", "c"]);
    assert.equal(await redis.lmove(k, to, "LEFT", "RIGHT"), "a");
    assert.equal(await redis.rpop(k), "c");
    assert.deepEqual(await redis.lpop(k, 5), ["b"]);
    assert.equal(await redis.lpop(k), null);
  });

  test(`${form}: sets and sorted sets`, async () => {
    const [s, t, z] = [key("set"), key("set"), key("zset")];
    assert.equal(await redis.sadd(s, "a", "b", "c"), 3);
    assert.equal(await redis.sadd(t, "b", "c", "d"), 3);
    assert.deepEqual((await redis.sinter(s, t)).sort(), ["b", "c"]);
    assert.deepEqual(await redis.smismember(s, "a", "z"), [1, 0]);
    assert.equal(await redis.zadd(z, 1, "one", 2.5, "two", "+inf", "last"), 3);
    assert.equal(await redis.zscore(z, "two"), "2.5");
    assert.deepEqual(await redis.zrange(z, 0, -1, "WITHSCORES"), ["one", "1", "two", "2.5", "last", "inf"]);
    assert.deepEqual(await redis.zrangebyscore(z, "(1", 3), ["two"]);
    assert.deepEqual(await redis.zpopmin(z), ["one", "1"]);
  });

  test(`${form}: streams with groups`, async () => {
    const k = key("stream");
    assert.equal(await redis.xgroup("CREATE", k, "group", "$", "MKSTREAM"), "OK");
    const ids = await Promise.all([1, 2, 3].map((i) => redis.xadd(k, "*", "n", i)));
    assert.ok(unique(ids));
    assert.equal(await redis.xlen(k), 3);
    const [[name, entries]] = await redis.xreadgroup("GROUP", "group", "me", "COUNT", 10, "STREAMS", k, ">");
    assert.equal(name, k);
    assert.deepEqual(entries.map(([id]) => id), [...ids].sort((a, b) => (a < b ? -1 : 1)));
    assert.equal(await redis.xack(k, "group", ids[0], ids[1]), 2);
    const [left] = await redis.xpending(k, "group", "-", "+", 10);
    assert.deepEqual([left[0], left[1], left[3]], [ids[2], "me", 1]);
    assert.deepEqual((await redis.xautoclaim(k, "group", "other", 0, "0", "JUSTID")).slice(1), [[ids[2]], []]);
    const info = await redis.xinfo("GROUPS", k);
    assert.equal(info.length, 1);
  });

  test(`${form}: pipelines`, async () => {
    const k = key("pipeline");
    const c = random(clients);
    const p = c.pipeline();
    for (let i = 0; i < 500; i++) p.rpush(k, i);
    p.llen(k).incr(k);
    const replies = await p.exec();
    assert.deepEqual(replies[500], [null, 500]);
    assert.match(replies[501][0].message, /^WRONGTYPE/);
  });

  test(`${form}: transactions`, async () => {
    const k = key("multi");
    const replies = await random(clients).multi().set(k, 1).incr(k).lpush(k, "x").get(k).exec();
    assert.deepEqual(replies.map(([err, v]) => (err ? "error" : v)), ["OK", 2, "error", "2"]);
  });

  test(`${form}: messages`, async () => {
    const channel = key("channel");
    const got = [];
    const listeners = form === "cluster" ? [cluster()] : nodes.map((n) => connect(n, { protocol: form === "RESP2" ? 2 : 3 }));
    for (const l of listeners) {
      l.on("message", (c, m) => got.push([c, m]));
      l.on("pmessage", (p, c, m) => got.push([p, c, m]));
      assert.equal(await l.subscribe(channel), 1);
      assert.equal(await l.psubscribe(`${channel}*`), 2);
    }
    assert.equal(await redis.publish(channel, "first"), 2 * listeners.length);
    await redis.publish(`${channel}x`, "second");
    await until("messages", () => got.length === 3 * listeners.length);
    const count = (message) => got.filter((g) => g.join(" ") === message).length;
    assert.equal(count(`${channel} first`), listeners.length);
    assert.equal(count(`${channel}* ${channel} first`), listeners.length);
  });

  test(`${form}: blocking pops`, async () => {
    const [k, z, x, to] = [key("queue"), key("zqueue"), key("stream"), key("moved")];
    const waiting = form === "cluster" ? [cluster()] : nodes.map((n) => connect(n, { protocol: form === "RESP2" ? 2 : 3 }));
    const popped = Promise.all(waiting.map((w) => w.blpop(k, 20)));
    const elements = waiting.map((_, i) => `element ${i}`);
    for (const e of elements) await redis.rpush(k, e);
    assert.deepEqual((await popped).map(([, e]) => e).sort(), elements);
    const w = waiting[0];
    const least = w.bzpopmin(z, 20);
    assert.equal(await redis.zadd(z, 3, "m"), 1);
    assert.deepEqual(await least, [z, "m", "3"]);
    const read = w.xread("BLOCK", 20_000, "STREAMS", x, "$");
    // Whether it waits already can't be seen from here: entries are added until it has one.
    let entry = null;
    read.then((r) => (entry = r));
    while (entry === null) {
      await redis.xadd(x, "*", "f", "v");
      await new Promise((done) => setTimeout(done, 5));
    }
    assert.deepEqual(entry[0][1][0][1], ["f", "v"]);
    const moved = w.blmove(k, to, "LEFT", "LEFT", 20);
    await redis.rpush(k, "moving");
    assert.equal(await moved, "moving");
    assert.equal(await w.blpop(k, 0.05), null);
  });

  test(`${form}: scripts`, async () => {
    const k = key("script");
    const c = random(clients);
    c.defineCommand("addTo", { numberOfKeys: 1, lua: "return redis.call('INCRBY', KEYS[1], ARGV[1])" });
    assert.equal(await c.addTo(k, 2), 2);
    assert.equal(await c.addTo(k, 3), 5);
    assert.deepEqual(await redis.eval("return {KEYS[1], ARGV[1], 3}", 1, k, "x"), [k, "x", 3]);
    await assert.rejects(redis.eval("return redis.error_reply('MINE of a script')", 0), /MINE of a script/);
  });
}

test("WATCH notices changes through any node", async () => {
  const k = key("watched");
  const counters = nodes.flatMap((n) => [connect(n), connect(n)]);
  const add = async (c) => {
    for (;;) {
      await c.watch(k);
      const n = Number((await c.get(k)) ?? 0);
      if ((await c.multi().set(k, n + 1).exec()) !== null) return;
    }
  };
  await Promise.all(counters.map(async (c) => { for (let i = 0; i < 5; i++) await add(c); }));
  assert.equal(await counters[0].get(k), String(counters.length * 5));
});

test("a cluster client knows all nodes", async () => {
  const c = cluster();
  await until("a connection", () => c.status === "ready");
  const ports = c.nodes("all").map((n) => n.options.port).sort();
  assert.deepEqual(ports, nodes.map((n) => n.port).sort());
  assert.equal(c.nodes("master").length, 1);
});

test("every node shows a write at once", async () => {
  const k = key("visible");
  const [writer, ...readers] = nodes.map((n) => connect(n));
  for (let i = 0; i < 100; i++) {
    await writer.set(k, i);
    for (const r of readers) assert.equal(await r.get(k), String(i));
  }
});

test("a wrong token is refused", async () => {
  const c = connect(nodes[0], { password: "nonsense", retryStrategy: null, lazyConnect: true });
  c.on("error", () => {});
  await assert.rejects(c.connect().then(() => c.get("k")));
});
