// The rate limiter and the lock that are published for the client, unmodified, against
// running nodes: each instance talks to another one.
//
//   TRIREME_URLS   URLs of the nodes, separated by commas
//   TRIREME_TOKEN  the Standard token
import assert from "node:assert/strict";
import { test } from "node:test";
import { Lock } from "@upstash/lock";
import { Ratelimit } from "@upstash/ratelimit";
import { Redis } from "@upstash/redis";

const urls = (process.env.TRIREME_URLS ?? "").split(",").filter(Boolean);
const token = process.env.TRIREME_TOKEN ?? "";
if (urls.length === 0 || token === "") {
  console.error("TRIREME_URLS and TRIREME_TOKEN must be set");
  process.exit(2);
}

const run = Date.now().toString(36);
const redis = urls.map((url) => new Redis({ url, token, enableTelemetry: false, retry: { retries: 0 } }));
const limiters = (limiter, options = {}) =>
  redis.map((r) => new Ratelimit({ redis: r, limiter, prefix: `client-test:${run}`, ephemeralCache: false, enableTelemetry: false, timeout: 0, ...options }));

// spend asks all limiters in turn and tells how many of n requests were let through.
const spend = async (all, who, n) => {
  const answers = await Promise.all(Array.from({ length: n }, (_, i) => all[i % all.length].limit(who)));
  return answers.filter((a) => a.success).length;
};

test("fixed window", async () => {
  const all = limiters(Ratelimit.fixedWindow(10, "1 h"));
  const first = await all[0].limit("fixed");
  assert.deepEqual([first.success, first.limit, first.remaining], [true, 10, 9]);
  assert.ok(first.reset > Date.now());
  assert.equal(await spend(all, "fixed", 30), 9);
  assert.equal((await all[0].getRemaining("fixed")).remaining, 0);
  await all[0].resetUsedTokens("fixed");
  assert.equal(await spend(all, "fixed", 30), 10);
  assert.equal((await all[0].limit("another")).success, true);
});

test("sliding window", async () => {
  const all = limiters(Ratelimit.slidingWindow(10, "1 h"));
  assert.equal(await spend(all, "sliding", 30), 10);
  assert.equal((await all[1 % all.length].getRemaining("sliding")).remaining, 0);
  const { success, reset } = await limiters(Ratelimit.slidingWindow(1, "100 ms"))[0].limit("short");
  assert.equal(success, true);
  assert.ok(reset <= Date.now() + 200);
  const waited = await limiters(Ratelimit.slidingWindow(1, "100 ms"))[0].blockUntilReady("short", 10_000);
  assert.equal(waited.success, true);
});

test("token bucket", async () => {
  const all = limiters(Ratelimit.tokenBucket(5, "1 h", 20));
  assert.equal(await spend(all, "bucket", 50), 20);
  const refilled = limiters(Ratelimit.tokenBucket(1, "50 ms", 1))[0];
  assert.equal((await refilled.limit("refilled")).success, true);
  assert.equal((await refilled.blockUntilReady("refilled", 10_000)).success, true);
});

test("rates and analytics", async () => {
  const all = limiters(Ratelimit.fixedWindow(10, "1 h"), { analytics: true });
  const answer = await all[0].limit("weighty", { rate: 4 });
  assert.deepEqual([answer.success, answer.remaining], [true, 6]);
  await answer.pending;
  const kept = await redis[0].keys(`client-test:${run}:events:*`);
  assert.equal(kept.length, 1);
});

test("a lock is held by one at a time", async () => {
  const id = `client-test:${run}:lock`;
  const locks = redis.map((r) => new Lock({ id, redis: r, lease: 60_000, retry: { attempts: 1, delay: 1 } }));
  const got = await Promise.all(locks.map((l) => l.acquire()));
  assert.equal(got.filter(Boolean).length, 1);
  const holder = locks[got.indexOf(true)];
  assert.equal(await holder.getStatus(), "ACQUIRED");
  assert.equal(await holder.extend(60_000), true);
  assert.ok((await redis[0].ttl(id)) > 100);
  for (const l of locks) if (l !== holder) assert.equal(await l.release(), false);
  assert.equal(await holder.release(), true);
  assert.equal(await redis[0].exists(id), 0);
});

test("a lock guards a counter that everybody reads and writes", async () => {
  const [id, counter] = [`client-test:${run}:guard`, `client-test:${run}:counter`];
  const each = 5;
  await Promise.all(redis.map(async (r) => {
    for (let i = 0; i < each; i++) {
      const lock = new Lock({ id, redis: r, lease: 60_000, retry: { attempts: 10_000, delay: 2 } });
      assert.equal(await lock.acquire(), true);
      await r.set(counter, ((await r.get(counter)) ?? 0) + 1);
      assert.equal(await lock.release(), true);
    }
  }));
  assert.equal(await redis[0].get(counter), each * redis.length);
});
