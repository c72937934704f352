// The published client, unmodified, with a Read Only token.
//
//   TRIREME_URLS            URLs of the nodes, separated by commas
//   TRIREME_READONLY_TOKEN  the Read Only token
//   TRIREME_TOKEN           a Standard token of the same database, for what is to be read
import assert from "node:assert/strict";
import { test } from "node:test";
import { Redis } from "@upstash/redis";

const urls = (process.env.TRIREME_URLS ?? "").split(",").filter(Boolean);
const token = process.env.TRIREME_READONLY_TOKEN ?? "";
const standard = process.env.TRIREME_TOKEN ?? "";
if (urls.length === 0 || token === "" || standard === "") {
  console.error("TRIREME_URLS, TRIREME_READONLY_TOKEN and TRIREME_TOKEN must be set");
  process.exit(2);
}

const quiet = { enableTelemetry: false, retry: { retries: 0 } };
let turn = 0;
const client = (options) => new Redis({ url: urls[turn++ % urls.length], ...quiet, token, ...options });
const writer = client({ token: standard });
const readers = {
  base64: client({}), raw: client({ responseEncoding: false }), single: client({ enableAutoPipelining: false }),
};
const prefix = `client-test:ro-${Date.now().toString(36)}`;

test("reads", async () => {
  const value = { text: "ünïcödé 😀", list: [1, null, "x"] };
  await writer.set(`${prefix}:s`, value);
  await writer.hset(`${prefix}:h`, { a: 1, b: "two" });
  await writer.rpush(`${prefix}:l`, "x", "y");
  await writer.zadd(`${prefix}:z`, { score: 1.5, member: "m" });
  for (const [name, redis] of Object.entries(readers)) {
    assert.deepEqual(await redis.get(`${prefix}:s`), value, name);
    assert.deepEqual(await redis.mget(`${prefix}:s`, `${prefix}:none`), [value, null], name);
    assert.deepEqual(await redis.hgetall(`${prefix}:h`), { a: 1, b: "two" }, name);
    assert.deepEqual(await redis.lrange(`${prefix}:l`, 0, -1), ["x", "y"], name);
    assert.equal(await redis.zscore(`${prefix}:z`, "m"), 1.5, name);
    assert.equal(await redis.ttl(`${prefix}:s`), -1, name);
    assert.equal(await redis.type(`${prefix}:h`), "hash", name);
    assert.equal(await redis.ping(), "PONG", name);
    assert.deepEqual(await redis.pipeline().get(`${prefix}:s`).exists(`${prefix}:h`).exec(), [value, 1], name);
    assert.deepEqual(await redis.multi().get(`${prefix}:s`).exists(`${prefix}:h`).exec(), [value, 1], name);
  }
});

test("auto-pipelining of 1,000 reads", async () => {
  await writer.mset(Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`${prefix}:${i}`, { i }])));
  for (const name of ["base64", "raw"]) {
    const got = await Promise.all(Array.from({ length: 1000 }, (_, i) => readers[name].get(`${prefix}:${i}`)));
    assert.deepEqual(got, Array.from({ length: 1000 }, (_, i) => ({ i })), name);
  }
});

test("nothing else", async () => {
  const denied = (command) => new RegExp(`NOPERM this user has no permissions to run the '${command}' command`);
  const key = `${prefix}:denied`;
  for (const redis of Object.values(readers)) {
    await assert.rejects(redis.set(key, 1), denied("set"));
    await assert.rejects(redis.del(key), denied("del"));
    await assert.rejects(redis.getex(key, { ex: 5 }), denied("getex"));
    await assert.rejects(redis.keys("*"), denied("keys"));
    await assert.rejects(redis.scan(0), denied("scan"));
    await assert.rejects(redis.publish("c", "m"), denied("publish"));
    await assert.rejects(redis.flushdb(), denied("flushdb"));
    // A transaction is refused as a whole.
    await assert.rejects(redis.multi().get(key).set(key, 1).exec(), denied("set"));
  }
  assert.equal(await writer.exists(key), 0);
});

test("no subscriptions", async () => {
  for (const open of [(r) => r.subscribe(["c"]), (r) => r.psubscribe(["c*"])]) {
    const subscription = open(readers.base64);
    const error = await new Promise((resolve, reject) => {
      subscription.on("error", resolve);
      for (const event of ["subscribe", "psubscribe"]) subscription.on(event, () => reject(new Error("subscribed")));
    });
    assert.match(String(error?.message ?? error), /NOPERM/);
  }
});
