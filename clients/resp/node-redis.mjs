// The published client redis (node-redis), unmodified, against running nodes: in its RESP2
// and its RESP3 form, and as a client of a cluster. See nodes.mjs for the variables.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createClient, createCluster, WatchError } from "redis";
import { key, nodes, random, token, unique, until } from "./nodes.mjs";

const open = [];
after(() => open.forEach((c) => c.destroy()));
const started = async (c) => {
  c.on("error", (e) => console.error(e));
  await c.connect();
  open.push(c);
  return c;
};
const connect = (node, options = {}) => started(createClient({ socket: node, password: token, ...options }));
const cluster = () =>
  started(createCluster({ rootNodes: nodes.map((socket) => ({ socket })), defaults: { password: token }, useReplicas: true }));

const forms = {
  RESP2: () => Promise.all(nodes.map((n) => connect(n, { RESP: 2 }))),
  RESP3: () => Promise.all(nodes.map((n) => connect(n, { RESP: 3 }))),
  cluster: async () => [await cluster()],
};

for (const [form, make] of Object.entries(forms)) {
  let clients = [];
  before(async () => (clients = await make()));
  const redis = new Proxy({}, { get: (_, name) => (...args) => random(clients)[name](...args) });
  const single = (n) => connect(n, { RESP: form === "RESP2" ? 2 : 3 });

  test(`${form}: strings and keys`, async () => {
    const k = key("string");
    assert.equal(await redis.set(k, "value", { EX: 100 }), "OK");
    assert.equal(await redis.set(k, "other", { NX: true }), null);
    assert.equal(await redis.get(k), "value");
    assert.ok((await redis.ttl(k)) > 90);
    const [a, b, n] = [key("m"), key("m"), key("n")];
    assert.equal(await redis.mSet({ [a]: "1", [b]: "2" }), "OK");
    assert.deepEqual(await redis.mGet([a, key("none"), b]), ["1", null, "2"]);
    assert.equal(await redis.incrBy(n, 42), 42);
    assert.equal(await redis.incrByFloat(n, 0.5), "42.5");
    assert.equal(await redis.exists([a, b]), 2);
    assert.equal(await redis.del([a, b]), 2);
    assert.equal(await redis.type(k), "string");
  });

  test(`${form}: hashes`, async () => {
    const k = key("hash");
    assert.equal(await redis.hSet(k, { a: 1, b: "two" }), 2);
    assert.deepEqual({ ...(await redis.hGetAll(k)) }, { a: "1", b: "two" });
    assert.deepEqual(await redis.hmGet(k, ["a", "none"]), ["1", null]);
    assert.equal(await redis.hIncrByFloat(k, "a", 0.25), "1.25");
    assert.deepEqual(await redis.hExpire(k, ["a", "none"], 100), [1, -2]);
    assert.equal(await redis.hDel(k, "a"), 1);
  });

  test(`${form}: lists`, async () => {
    const [k, to] = [key("list"), key("list")];
    assert.equal(await redis.rPush(k, ["a", "b", "c"]), 3);
    assert.deepEqual(await redis.lRange(k, 0, -1), ["a", "b", "c"]);
    assert.equal(await redis.lMove(k, to, "LEFT", "RIGHT"), "a");
    assert.deepEqual(await redis.lPopCount(k, 5), ["b", "c"]);
    assert.equal(await redis.lPop(k), null);
  });

  test(`${form}: sets and sorted sets`, async () => {
    const [s, t, z] = [key("set"), key("set"), key("zset")];
    assert.equal(await redis.sAdd(s, ["a", "b", "c"]), 3);
    assert.equal(await redis.sAdd(t, ["b", "c", "d"]), 3);
    assert.deepEqual((await redis.sInter([s, t])).sort(), ["b", "c"]);
    assert.equal(await redis.sIsMember(s, "a"), 1);
    assert.equal(await redis.zAdd(z, [{ score: 1, value: "one" }, { score: 2.5, value: "two" }, { score: Infinity, value: "last" }]), 3);
    assert.equal(await redis.zScore(z, "two"), 2.5);
    assert.deepEqual(await redis.zRangeWithScores(z, 0, -1), [
      { value: "one", score: 1 }, { value: "two", score: 2.5 }, { value: "last", score: Infinity },
    ]);
    assert.deepEqual({ ...(await redis.zPopMin(z)) }, { value: "one", score: 1 });
  });

  test(`${form}: streams with groups`, async () => {
    const k = key("stream");
    assert.equal(await redis.xGroupCreate(k, "group", "$", { MKSTREAM: true }), "OK");
    const ids = [];
    for (const n of ["1", "2", "3"]) ids.push(await redis.xAdd(k, "*", { n }));
    assert.ok(unique(ids));
    const [stream] = await redis.xReadGroup("group", "me", { key: k, id: ">" }, { COUNT: 10 });
    assert.deepEqual(stream.messages.map((m) => [m.id, m.message.n]), ids.map((id, i) => [id, String(i + 1)]));
    assert.equal(await redis.xAck(k, "group", ids.slice(0, 2)), 2);
    const summary = await redis.xPending(k, "group");
    assert.deepEqual([summary.pending, summary.firstId], [1, ids[2]]);
    const claimed = await redis.xAutoClaim(k, "group", "other", 0, "0");
    assert.deepEqual(claimed.messages.map((m) => m.id), [ids[2]]);
    const [info] = await redis.xInfoGroups(k);
    assert.deepEqual([info.name, info.consumers, info.pending], ["group", 2, 1]);
  });

  test(`${form}: JSON documents`, async () => {
    const json = new Proxy({}, { get: (_, name) => (...args) => random(clients).json[name](...args) });
    const [k, none] = [key("json"), key("none")];
    assert.equal(await json.set(k, "$", { n: 1, f: 1.5, s: "x", a: [1, 2], o: { n: 2 }, b: true, $d: 7 }), "OK");
    assert.deepEqual(await json.numIncrBy(k, "$..n", 2), [4, 3]);
    assert.deepEqual(await json.numIncrBy(k, "$.s", 1), [null]);
    assert.deepEqual(await json.numMultBy(k, "$.f", 3), [4.5]);
    assert.deepEqual(await json.numIncrBy(k, ".n", 1), form === "RESP2" ? 4 : [4]);
    assert.deepEqual(await json.type(k, { path: "$.s" }), ["string"]);
    assert.equal(await json.type(k, { path: ".s" }), "string");
    assert.equal(await json.type(none), null);
    assert.deepEqual(await json.get(k, { path: "$.a" }), [[1, 2]]);
    assert.equal(await json.get(k, { path: "$d" }), 7);
    assert.equal(await json.get(none), null);
    assert.deepEqual(await json.arrLen(k, { path: "$.a" }), [2]);
    assert.deepEqual(await json.arrPop(k, { path: "$.a" }), [2]);
    assert.deepEqual(await json.toggle(k, "$.b"), [0]);
    assert.deepEqual(await json.objKeys(k, { path: "$.o" }), [["n"]]);
    assert.deepEqual(await json.strLen(k, { path: "$.s" }), [1]);
    assert.deepEqual(await json.mGet([k], "$.s"), [["x"]]);
    assert.equal(await json.del(k), 1);
  });

  test(`${form}: pipelines and transactions`, async () => {
    const k = key("pipeline");
    const lengths = await Promise.all(Array.from({ length: 500 }, (_, i) => clients[0].rPush(k, String(i))));
    assert.deepEqual(lengths, Array.from({ length: 500 }, (_, i) => i + 1));
    const n = key("multi");
    assert.deepEqual(await random(clients).multi().set(n, 1).incr(n).get(n).exec(), ["OK", 2, "2"]);
    await assert.rejects(random(clients).multi().set(n, 1).lPush(n, "x").exec(), /1 commands failed/);
  });

  test(`${form}: scripts`, async () => {
    assert.deepEqual(await redis.eval("return {KEYS[1], ARGV[1], 3}", { keys: ["{k}"], arguments: ["x"] }), ["{k}", "x", 3]);
    await assert.rejects(redis.eval("return redis.error_reply('MINE of a script')", { keys: ["{k}"] }), /MINE of a script/);
  });

  if (form === "cluster") continue;

  test(`${form}: messages`, async () => {
    const channel = key("channel");
    const got = [];
    const listeners = await Promise.all(nodes.map(single));
    for (const l of listeners) {
      await l.subscribe(channel, (m, c) => got.push([c, m]));
      await l.pSubscribe(`${channel}*`, (m, c) => got.push(["pattern", c, m]));
    }
    assert.equal(await redis.publish(channel, "first"), 2 * listeners.length);
    assert.equal(await redis.publish(`${channel}x`, "second"), listeners.length);
    await until("messages", () => got.length === 3 * listeners.length);
    assert.equal(got.filter(([c]) => c === channel).length, listeners.length);
    for (const l of listeners) await l.unsubscribe();
    assert.equal(await redis.publish(channel, "third"), listeners.length);
  });

  test(`${form}: blocking pops`, async () => {
    const [k, z] = [key("queue"), key("zqueue")];
    const waiting = await Promise.all(nodes.map(single));
    const popped = Promise.all(waiting.map((w) => w.blPop(k, 20)));
    const elements = waiting.map((_, i) => `element ${i}`);
    for (const e of elements) await redis.rPush(k, e);
    assert.deepEqual((await popped).map((p) => p.element).sort(), elements);
    const least = waiting[0].bzPopMin(z, 20);
    await redis.zAdd(z, { score: 3, value: "m" });
    assert.deepEqual({ ...(await least) }, { key: z, value: "m", score: 3 });
    assert.equal(await waiting[0].blPop(k, 0.05), null);
  });

  test(`${form}: WATCH notices changes through any node`, async () => {
    const k = key("watched");
    const counters = await Promise.all(nodes.map(single));
    const add = async (c) => {
      for (;;) {
        await c.watch(k);
        const n = Number((await c.get(k)) ?? 0);
        try {
          return await c.multi().set(k, n + 1).exec();
        } catch (e) {
          if (!(e instanceof WatchError)) throw e;
        }
      }
    };
    await Promise.all(counters.map(async (c) => { for (let i = 0; i < 10; i++) await add(c); }));
    assert.equal(await counters[0].get(k), String(counters.length * 10));
  });
}

test("a cluster client knows all nodes", async () => {
  const c = await cluster();
  const ports = [...c.masters, ...c.replicas].map((n) => n.port).sort();
  assert.deepEqual(ports, nodes.map((n) => n.port).sort());
  assert.equal(c.masters.length, 1);
});
