// Published programs, unmodified, again and again on three nodes and on redis-server: each has to see the same on both, and leave
// the same keys behind. `make adapters ROUNDS=100` runs it.
//
//   node rounds.mjs ROUNDS [NAME …]
//   KEYS   keys in the database of the rate limiter, 1,000,000 by default
//
// Programs: the adapters of test.mjs, of which those that begin with "python3", "php" and "ruby" need packages of Debian; "bee-queue,
// events"; "@upstash/ratelimit".
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis as Connection } from "ioredis";
import { adapters, cluster, NotInstalled, pause, until, within } from "./test.mjs";
import { rest } from "./rest.mjs";

const require = createRequire(import.meta.url);
const rounds = Number(process.argv[2]);
const names = process.argv.slice(3);
const keys = Number(process.env.KEYS ?? 1_000_000);
if (!Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(keys) || keys < 0) {
  console.error("expected a number of rounds from 1, and KEYS from 0");
  process.exit(2);
}

const respOf = (host, port, password) => ({
  ioredis: { host, port, password }, nodeRedis: { url: `redis://default:${encodeURIComponent(password)}@${host}:${port}` },
});

// redisServer is a redis-server with the token as its password, and the REST form in front of it.
async function redisServer(token) {
  const dir = mkdtempSync(join(tmpdir(), "trireme-rounds-"));
  const port = 26390;
  const child = spawn("redis-server", ["--port", String(port), "--bind", "127.0.0.1", "--requirepass", token, "--save", "", "--appendonly", "no", "--dir", dir], { stdio: "ignore" });
  process.on("exit", () => child.kill("SIGKILL"));
  const own = new Connection({ host: "127.0.0.1", port, password: token, retryStrategy: () => 100, maxRetriesPerRequest: null });
  own.on("error", () => {}); // until it listens
  await until("redis-server answers", () => {
    if (child.exitCode !== null || child.pid === undefined) throw new Error("redis-server is not installed, or its port is taken");
    return own.status === "ready";
  });
  const front = await rest(own);
  const place = { url: front.url, token, resp: respOf("127.0.0.1", port, token) };
  return { name: "redis-server", place: () => place, admin: own, stop: async () => {
    front.close();
    own.disconnect();
    child.kill("SIGTERM");
    await until("redis-server ends", () => child.exitCode !== null || child.signalCode !== null);
    rmSync(dir, { recursive: true, force: true });
  } };
}

// threeNodes uses another node in each round.
async function threeNodes() {
  const c = await cluster();
  const places = c.nodes.map((n) => ({ url: n.url, token: c.token, resp: respOf(n.host, n.port, c.token) }));
  const admin = new Connection(places[0].resp.ioredis);
  return { name: "three nodes", token: c.token, place: (round) => places[round % places.length], admin, stop: async () => {
    admin.disconnect();
    await c.stop();
  } };
}

// left is what a database holds: each kind of name, without what is drawn or counted, with its type and whether it expires.
async function left(admin) {
  const kinds = new Set();
  for (const key of await admin.keys("*")) {
    const kind = key.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|[A-Za-z0-9_-]{20,}|[0-9a-f]{12}|\d+/g, "#");
    kinds.add(`${kind} ${await admin.type(key)} ${(await admin.pttl(key)) > 0 ? "expires" : "stays"}`);
  }
  return [...kinds].sort();
}

// settled is what is left once three looks have found the same: a program may still be tidying up when its checks hold.
async function settled(admin) {
  for (let found = "", same = 0, looks = 0; ; looks++) {
    const kinds = await left(admin);
    same = found === String(kinds) ? same + 1 : 1;
    if (same === 3 || looks === 100) return kinds;
    found = String(kinds);
    await pause(30);
  }
}

// ofAdapter is a program of test.mjs without the kill: its own checks hold the values, and the keys are compared.
const ofAdapter = (make) => async (place, { admin }) => {
  await admin.flushall();
  const adapter = await make(place);
  try {
    await within(adapter.before());
    const between = await settled(admin);
    await within(adapter.after());
    return { between, after: await settled(admin) };
  } finally {
    try {
      await adapter.end?.();
    } catch {} // its connection may have ended
  }
};

// Jobs of a round of bee-queue, of which every fifth fails, and how long the last event may take.
const jobs = 20;
const eventPatience = 10_000;

// events is what each job of a queue is told: its progress, and its end. Workers wait already when jobs are added, so an event that
// overtakes the reply to the addition is lost.
async function events({ resp }, { admin }) {
  await admin.flushall();
  const Queue = require("bee-queue");
  const queue = new Queue("events", { redis: resp.ioredis, sendEvents: true, getEvents: true });
  await queue.ready();
  const told = Array.from({ length: jobs }, () => []);
  let ended = 0;
  try {
    queue.process(4, async (job) => {
      const { n } = job.data;
      await job.reportProgress(n);
      if (n % 5 === 0) throw new Error(`job ${n}`);
      return n * 2;
    });
    await Promise.all(told.map(async (list, n) => {
      const job = queue.createJob({ n });
      job.on("progress", (progress) => list.push(`progress ${progress}`));
      job.on("succeeded", (result) => (list.push(`succeeded ${result}`), ended++));
      job.on("failed", (e) => (list.push(`failed ${e.message}`), ended++));
      await job.save();
    }));
    for (const end = Date.now() + eventPatience; ended < jobs && Date.now() < end;) await pause(5);
    return { told, counts: await queue.checkHealth().then(({ succeeded, failed, waiting, active }) => ({ succeeded, failed, waiting, active })) };
  } finally {
    await queue.close(5000);
  }
}

// fill puts keys into a database that a limiter has nothing to do with.
async function fill(admin) {
  await admin.flushall();
  for (let n = 0; n < keys;) {
    const some = admin.pipeline();
    for (const end = Math.min(n + 1000, keys); n < end; n++) some.set(`filler:${n}`, "x");
    for (const [error] of await some.exec()) if (error) throw error;
  }
}

// limits is what three limiters answer: until they refuse, what is left, and after a reset, whose script scans all keys.
async function limits({ url, token }, { round }) {
  const { Ratelimit } = await import("@upstash/ratelimit");
  const { Redis } = await import("@upstash/redis");
  const redis = new Redis({ url, token, enableTelemetry: false, retry: { retries: 0 } });
  const all = { fixed: Ratelimit.fixedWindow(5, "3650 d"), sliding: Ratelimit.slidingWindow(5, "3650 d"), bucket: Ratelimit.tokenBucket(1, "3650 d", 5) };
  const seen = {};
  for (const [name, limiter] of Object.entries(all)) {
    const limit = new Ratelimit({ redis, limiter, prefix: `limit:${round}:${name}`, ephemeralCache: false, timeout: 0 });
    const list = (seen[name] = []);
    const ask = async (n, rate) => {
      for (let i = 0; i < n; i++) {
        const { success, remaining, limit: most } = await limit.limit("ann", rate && { rate });
        list.push([success, remaining, most]);
      }
    };
    await ask(7);
    list.push((await limit.getRemaining("ann")).remaining);
    await limit.resetUsedTokens("ann");
    list.push((await limit.getRemaining("ann")).remaining);
    await ask(2, 2);
  }
  return seen;
}

const programs = {
  ...Object.fromEntries(Object.entries(adapters).map(([name, make]) => [name, { run: ofAdapter(make) }])),
  "bee-queue, events": { run: events },
  "@upstash/ratelimit": { prepare: fill, run: limits },
};
// It reads subscriptions over HTTP, which rest.mjs does not have.
delete programs["@upstash/realtime"];

// attempt is what a program saw, or how it failed.
async function attempt(program, server, round) {
  try {
    return { saw: await program.run(server.place(round), { admin: server.admin, round }) };
  } catch (e) {
    if (e instanceof NotInstalled) throw e;
    return { failed: String(e?.stack ?? e) };
  }
}

// compare runs a program's rounds on all servers, and returns how many rounds were not the same.
async function compare(name, program, servers) {
  for (const server of servers) await program.prepare?.(server.admin);
  let different = 0;
  for (let round = 0; round < rounds; round++) {
    const [ours, theirs] = [await attempt(program, servers[0], round), await attempt(program, servers[1], round)];
    try {
      assert.deepEqual(ours, theirs);
      assert.equal(ours.failed, undefined, "it fails on both");
    } catch (e) {
      if (different++ < 3) console.log(`  ${name}, round ${round + 1}: ${e.message}`);
    }
  }
  return different;
}

const ours = await threeNodes();
const theirs = await redisServer(ours.token);
let failed = 0;
for (const [name, program] of Object.entries(programs)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const begin = Date.now();
  try {
    const different = await compare(name, program, [ours, theirs]);
    failed += different;
    console.log(`${different === 0 ? "ok     " : "DIFFERS"} ${name}: ${different} of ${rounds} rounds differ (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
  } catch (e) {
    if (!(e instanceof NotInstalled)) throw e;
    console.log(`skipped ${name}: ${e.message}`);
  }
}
await theirs.stop();
await ours.stop();
process.exit(failed > 0 ? 1 : 0);
