// Published adapters, unmodified, each a small program against three nodes whose leader is killed in the middle: what was written
// before has to be there afterwards, by the same connections. Run it by `make adapters`; it starts and stops the nodes itself.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const binary = process.env.TRIREME_BIN ?? new URL("../../bin/trireme", import.meta.url).pathname;
const dir = mkdtempSync(join(tmpdir(), "trireme-adapters-"));
const patience = 60_000;
export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// until repeats a check until it returns something, or fails.
export async function until(what, check) {
  for (const end = Date.now() + patience; Date.now() < end; await pause(50)) {
    const found = await check();
    if (found) return found;
  }
  throw new Error(`in vain: ${what}`);
}

// cluster runs the three nodes.
export async function cluster() {
  const child = spawn(binary, ["local-cluster", "--data-dir", dir, "--http-port", "28080", "--cluster-port", "27080", "--gossip-port", "27090", "--resp-port", "26379"]);
  let out = "";
  let err = "";
  child.stdout.on("data", (b) => (out += b));
  child.stderr.on("data", (b) => (err += b));
  let stopping = false;
  child.on("exit", (code, signal) => stopping || console.log(`local-cluster ended: ${signal ?? code}\n${err.slice(-2000)}`));
  await until("the nodes start", () => {
    if (child.exitCode !== null) throw new Error(`local-cluster ended: ${err}`);
    return out.includes("An interrupt");
  });
  const variable = (name) => out.match(new RegExp(`^${name}=(.*)$`, "m"))[1];
  const nodes = [0, 1, 2].map((i) => ({
    id: `n${i + 1}`, url: `http://127.0.0.1:${28080 + i}`, host: "127.0.0.1", port: 26379 + i, pid: Number(out.match(new RegExp(`^n${i + 1} is process (\\d+)`, "m"))[1]),
  }));
  const token = variable("UPSTASH_REDIS_REST_TOKEN");
  const admin = variable("TRIREME_ADMIN_TOKEN");
  const again = [];
  process.on("exit", () => [child, ...again].forEach((p) => p.kill("SIGKILL"))); // also after a failure of this program
  const ready = async (n) => {
    try {
      return (await fetch(`${n.url}/readyz`)).ok;
    } catch {
      return false;
    }
  };
  const leader = () => until("a leader", async () => {
    for (const n of nodes) {
      try {
        const v = await (await fetch(`${n.url}/admin/cluster`, { headers: { Authorization: `Bearer ${admin}` } })).json();
        if (v.leader) return nodes.find((n) => n.id === v.leader);
      } catch {} // the next one may answer
    }
  });
  return {
    token,
    nodes,
    // other is a node that does not lead, and the one that does.
    async pair() {
      const first = await leader();
      return { first, other: nodes.find((n) => n !== first) };
    },
    kill: (n) => process.kill(n.pid, "SIGKILL"),
    async restart(n) {
      const p = spawn(binary, ["serve", "--config", join(dir, `${n.id}.yaml`)], { stdio: "ignore", env: {} });
      again.push(p);
      n.pid = p.pid;
      await until(`${n.id} is ready`, () => ready(n));
    },
    async stop() {
      stopping = true;
      for (const p of again) p.kill("SIGTERM");
      child.kill("SIGINT");
      await until("the nodes end", () => [child, ...again].every((p) => p.exitCode !== null || p.signalCode !== null));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export class NotInstalled extends Error {}

// program runs a program of another language: it writes the version of its client, waits for a line, and ends with "ok".
const program = (name, command, args, missing) => async ({ resp }) => {
  const lacks = missing();
  if (lacks) throw new NotInstalled(lacks);
  const { host, port, password } = resp.ioredis;
  const child = spawn(command, [...args, host, port, password, name]);
  let out = "";
  let err = "";
  child.stdout.on("data", (b) => (out += b));
  child.stderr.on("data", (b) => (err += b));
  child.on("error", (e) => (err += e));
  const line = (n) => until(`line ${n} of ${name}`, () => {
    if (out.split("\n").length > n) return out.split("\n")[n - 1];
    if (child.exitCode !== null || child.pid === undefined) throw new Error(`${name} ended: ${err}`);
  });
  const adapter = {
    before: async () => (adapter.version = await line(1)),
    after: async () => {
      child.stdin.write("the leader is dead\n");
      assert.equal(await line(2), "ok");
    },
    end: () => child.kill("SIGTERM"),
  };
  return adapter;
};

// debian is a program with a client of Debian's packages.
const debian = (command, file, name) => program(name, command, [new URL(`debian/${file}`, import.meta.url).pathname], () =>
  spawnSync("dpkg-query", ["-W", name]).status !== 0 && "the Debian package is not installed");

// golang is the program of Go's clients, which make adapters builds.
const golangProgram = new URL("../../bin/adapters-go", import.meta.url).pathname;
const golang = (name) => program(name, golangProgram, [], () => !existsSync(golangProgram) && "bin/adapters-go was not built: make adapters builds it");

const silent = { child: () => silent, debug() {}, info() {}, warn() {}, error() {} };

// chat runs two servers of socket.io that share an adapter, and a client of each: what one emits reaches the other's.
async function chat(connect) {
  const { Server } = await import("socket.io");
  const { io } = await import("socket.io-client");
  const { createServer } = await import("node:http");
  const sides = [];
  for (const name of ["a", "b"]) {
    const { adapter, close } = await connect();
    const http = createServer();
    const server = new Server(http, { adapter });
    server.on("connection", (s) => s.join("room"));
    await new Promise((done) => http.listen(0, "127.0.0.1", done));
    const client = io(`http://127.0.0.1:${http.address().port}`, { transports: ["websocket"] });
    const got = [];
    client.on("news", (n) => got.push(n));
    await until(`the client of ${name}`, () => client.connected);
    sides.push({ server, client, got, close });
  }
  const [a, b] = sides;
  // The adapters subscribe behind their callers' back: the first message is repeated until it arrives.
  const cross = (n) => until(`message ${n}`, async () => {
    a.server.to("room").emit("news", n);
    await pause(50);
    return b.got.includes(n) && a.got.includes(n);
  });
  return {
    before: () => cross(1),
    after: async () => {
      await cross(2);
      assert.equal((await b.server.in("room").fetchSockets()).length, 2);
    },
    end: () => sides.forEach((s) => (s.client.close(), s.server.close(), s.close())),
  };
}

// Each adapter makes its clients of a node, and returns what it does before the leader is killed, at once after that, and at its end.
export const adapters = {
  async "@vercel/kv"({ url, token }) {
    const { createClient } = await import("@vercel/kv");
    const kv = createClient({ url, token });
    return {
      before: async () => {
        await kv.set("user:1", { name: "ann", visits: 1 });
        await kv.hset("cart:1", { apple: 2 });
      },
      after: async () => {
        assert.deepEqual(await kv.get("user:1"), { name: "ann", visits: 1 });
        assert.equal(await kv.hincrby("cart:1", "apple", 1), 3);
      },
    };
  },
  async "@auth/upstash-redis-adapter"({ url, token }) {
    const { UpstashRedisAdapter } = await import("@auth/upstash-redis-adapter");
    const { Redis } = await import("@upstash/redis");
    const a = UpstashRedisAdapter(new Redis({ url, token }), { baseKeyPrefix: "auth:" });
    let user;
    return {
      before: async () => {
        user = await a.createUser({ email: "ann@example.com", emailVerified: new Date(0), name: "Ann" });
        await a.linkAccount({ userId: user.id, provider: "github", providerAccountId: "7", type: "oauth" });
        await a.createSession({ sessionToken: "s1", userId: user.id, expires: new Date(Date.now() + 1e6) });
      },
      after: async () => {
        assert.equal((await a.getUserByEmail("ann@example.com")).id, user.id);
        assert.equal((await a.getUserByAccount({ provider: "github", providerAccountId: "7" })).id, user.id);
        assert.equal((await a.getSessionAndUser("s1")).user.name, "Ann");
        await a.deleteSession("s1");
        assert.equal(await a.getSessionAndUser("s1"), null);
      },
    };
  },
  async "connect-redis"({ resp }) {
    const { RedisStore } = await import("connect-redis");
    const { createClient } = await import("redis");
    const client = createClient(resp.nodeRedis);
    await client.connect();
    const store = new RedisStore({ client, prefix: "sess:" });
    const session = { cookie: { maxAge: 60_000 }, user: "ann" };
    return {
      before: () => store.set("a", session),
      after: async () => {
        assert.equal((await store.get("a")).user, "ann");
        await store.touch("a", session);
        assert.equal((await store.all()).length, 1);
        await store.destroy("a");
        assert.equal(await store.length(), 0);
      },
      end: () => client.destroy(),
    };
  },
  async "rate-limiter-flexible"({ resp }) {
    const { RateLimiterRedis } = require("rate-limiter-flexible");
    const { Redis } = await import("ioredis");
    const client = new Redis(resp.ioredis);
    const limiter = new RateLimiterRedis({ storeClient: client, points: 3, duration: 3600, keyPrefix: "rate" });
    return {
      before: async () => assert.equal((await limiter.consume("ann", 2)).remainingPoints, 1),
      after: async () => {
        assert.equal((await limiter.consume("ann")).remainingPoints, 0);
        await assert.rejects(limiter.consume("ann"), (refused) => refused.msBeforeNext > 0);
        await limiter.delete("ann");
        assert.equal(await limiter.get("ann"), null);
      },
      end: () => client.disconnect(),
    };
  },
  async "keyv, @keyv/redis"({ resp }) {
    const { default: Keyv } = await import("keyv");
    const { default: KeyvRedis } = await import("@keyv/redis");
    const keyv = new Keyv({ store: new KeyvRedis(resp.nodeRedis), namespace: "keyv" });
    return {
      before: () => keyv.set("a", { n: 1 }, 3_600_000),
      after: async () => {
        assert.deepEqual(await keyv.get("a"), { n: 1 });
        assert.equal(await keyv.delete("a"), true);
        assert.equal(await keyv.get("a"), undefined);
      },
      end: () => keyv.disconnect(),
    };
  },
  async "cache-manager"({ resp }) {
    const { createCache } = await import("cache-manager");
    const { default: Keyv } = await import("keyv");
    const { default: KeyvRedis } = await import("@keyv/redis");
    const cache = createCache({ stores: [new Keyv({ store: new KeyvRedis(resp.nodeRedis), namespace: "cache" })] });
    let made = 0;
    const get = () => cache.wrap("slow", async () => ({ made: ++made }), 3_600_000);
    return {
      before: async () => assert.deepEqual(await get(), { made: 1 }),
      after: async () => {
        assert.deepEqual(await get(), { made: 1 });
        await cache.del("slow");
        assert.deepEqual(await get(), { made: 2 });
      },
      end: () => cache.disconnect(),
    };
  },
  async redlock({ resp }) {
    const { default: Redlock } = require("redlock");
    const { Redis } = await import("ioredis");
    const client = new Redis(resp.ioredis);
    const locks = new Redlock([client], { retryCount: 0 });
    let lock;
    return {
      before: async () => {
        lock = await locks.acquire(["lock:a"], 600_000);
      },
      after: async () => {
        await assert.rejects(locks.acquire(["lock:a"], 600_000));
        lock = await lock.extend(600_000);
        await lock.release();
        await (await locks.acquire(["lock:a"], 600_000)).release();
      },
      end: () => client.disconnect(),
    };
  },
  async unstorage({ resp }) {
    const { createStorage } = await import("unstorage");
    const { default: driver } = await import("unstorage/drivers/redis");
    const storage = createStorage({ driver: driver({ base: "storage", ...resp.ioredis }) });
    return {
      before: () => storage.setItem("a:b", { n: 1 }),
      after: async () => {
        assert.deepEqual(await storage.getItem("a:b"), { n: 1 });
        assert.deepEqual(await storage.getKeys(), ["a:b"]);
        await storage.removeItem("a:b");
        assert.equal(await storage.hasItem("a:b"), false);
      },
      end: () => storage.dispose(),
    };
  },
  async "graphql-redis-subscriptions"({ resp }) {
    const { RedisPubSub } = await import("graphql-redis-subscriptions");
    const { Redis } = await import("ioredis");
    const [publisher, subscriber] = [new Redis(resp.ioredis), new Redis(resp.ioredis)];
    const pubsub = new RedisPubSub({ publisher, subscriber });
    const got = [];
    return {
      before: async () => {
        await pubsub.subscribe("news", (m) => got.push(m));
        await pubsub.publish("news", { n: 1 });
        await until("the first message", () => got.length === 1);
      },
      after: async () => {
        await pubsub.publish("news", { n: 2 });
        await until("the second message", () => got.length === 2);
        assert.deepEqual(got, [{ n: 1 }, { n: 2 }]);
      },
      end: () => pubsub.close(),
    };
  },
  async "bee-queue"({ resp }) {
    const Queue = require("bee-queue");
    const redis = { host: resp.ioredis.host, port: resp.ioredis.port, password: resp.ioredis.password };
    const queue = new Queue("jobs", { redis });
    const done = new Set();
    await queue.ready();
    return {
      before: async () => {
        for (let n = 1; n <= 5; n++) await queue.createJob({ n }).save();
      },
      after: async () => {
        queue.process(async (job) => done.add(job.data.n));
        await queue.createJob({ n: 6 }).save();
        await until("all jobs", () => done.size === 6);
      },
      end: () => queue.close(),
    };
  },
  async bullmq({ resp }) {
    const { FlowProducer, Queue, Worker } = await import("bullmq");
    const connection = { ...resp.ioredis, maxRetriesPerRequest: null };
    const open = [];
    const keep = (o) => {
      o.on("error", () => {}); // the connections that end with the leader
      open.push(o);
      return o;
    };
    const [children, parents, clock] = ["children", "parents", "clock"].map((name) => keep(new Queue(name, { connection })));
    const flow = keep(new FlowProducer({ connection }));
    let ticks = 0;
    let values;
    return {
      // A parent whose children nobody has done yet, and a job that is repeated.
      before: async () => {
        await flow.add({ name: "sum", queueName: "parents", children: [1, 2, 3].map((n) => ({ name: "child", queueName: "children", data: { n } })) });
        await clock.upsertJobScheduler("often", { every: 200 }, { name: "tick" });
        keep(new Worker("clock", async () => ticks++, { connection }));
        await until("two jobs of the scheduler", () => ticks >= 2);
      },
      after: async () => {
        keep(new Worker("children", async (job) => job.data.n, { connection }));
        keep(new Worker("parents", async (job) => (values = Object.values(await job.getChildrenValues()).sort()), { connection }));
        await until("the parent", () => values);
        assert.deepEqual(values, [1, 2, 3]);
        const seen = ticks;
        await until("more jobs of the scheduler", () => ticks >= seen + 2);
        assert.equal((await clock.getJobSchedulers()).length, 1);
        assert.equal(await clock.removeJobScheduler("often"), true);
        for (const worker of open.filter((o) => o instanceof Worker)) await worker.close();
        for (const queue of [children, parents, clock]) await queue.obliterate({ force: true });
      },
      end: () => Promise.allSettled(open.map((o) => o.close())),
    };
  },
  async "resumable-stream"({ resp }) {
    const { createResumableStreamContext } = await import("resumable-stream");
    const { createClient } = await import("redis");
    const [publisher, subscriber] = [createClient(resp.nodeRedis), createClient(resp.nodeRedis)];
    await Promise.all([publisher.connect(), subscriber.connect()]);
    const streams = createResumableStreamContext({ waitUntil: null, publisher, subscriber });
    let send;
    const source = new ReadableStream({ start: (c) => (send = c) });
    const text = async (stream) => {
      let all = "";
      for await (const part of stream) all += part;
      return all;
    };
    let first;
    return {
      before: async () => {
        first = text(await streams.createNewResumableStream("s1", () => source));
        send.enqueue("one ");
      },
      after: async () => {
        const second = text(await streams.resumeExistingStream("s1"));
        send.enqueue("two");
        send.close();
        assert.equal(await first, "one two");
        assert.equal(await second, "one two");
      },
      end: async () => {
        await Promise.allSettled([publisher.close(), subscriber.close()]);
      },
    };
  },
  async "@upstash/realtime"({ url, token }) {
    const { Realtime } = await import("@upstash/realtime");
    const { Redis } = await import("@upstash/redis");
    const z = await import("zod/v4");
    const rt = new Realtime({ redis: new Redis({ url, token }), schema: { chat: { message: z.object({ n: z.number() }) } }, history: { maxLength: 100 } });
    const got = [];
    return {
      before: async () => {
        await rt.channel("room").subscribe({ events: ["chat.message"], onData: (m) => got.push(m.data.n) });
        await rt.channel("room").emit("chat.message", { n: 1 });
        await until("the first message", () => got.includes(1));
      },
      after: async () => {
        await rt.channel("room").emit("chat.message", { n: 2 });
        await until("the second message", () => got.includes(2));
        assert.deepEqual((await rt.channel("room").history()).map((m) => m.data.n), [1, 2]);
      },
      end: () => rt.channel("room").unsubscribe(),
    };
  },
  async "@chat-adapter/state-redis"({ resp }) {
    const { createRedisState } = await import("@chat-adapter/state-redis");
    const state = createRedisState({ url: resp.nodeRedis.url, logger: silent });
    await state.connect();
    let lock;
    return {
      before: async () => {
        await state.subscribe("t1");
        lock = await state.acquireLock("t1", 60_000);
        assert.equal(await state.acquireLock("t1", 60_000), null);
        await state.appendToList("l", { n: 1 }, { maxLength: 2 });
        await state.enqueue("t1", { message: { id: "m1" }, enqueuedAt: Date.now(), expiresAt: Date.now() + 1e6 }, 10);
      },
      after: async () => {
        assert.equal(await state.isSubscribed("t1"), true);
        assert.equal(await state.extendLock(lock, 60_000), true);
        await state.releaseLock(lock);
        assert.notEqual(await state.acquireLock("t1", 1000), null);
        await state.appendToList("l", { n: 2 }, { maxLength: 2 });
        assert.deepEqual(await state.getList("l"), [{ n: 1 }, { n: 2 }]);
        assert.equal(await state.queueDepth("t1"), 1);
        assert.equal((await state.dequeue("t1")).message.id, "m1");
      },
      end: () => state.disconnect(),
    };
  },
  async "@fortedigital/nextjs-cache-handler"({ resp }) {
    const { default: createHandler } = await import("@fortedigital/nextjs-cache-handler/redis-strings");
    const { createClient } = await import("redis");
    const client = createClient(resp.nodeRedis);
    await client.connect();
    const cache = createHandler({ client, keyPrefix: "next:", keyExpirationStrategy: "EXAT" });
    const now = Math.floor(Date.now() / 1000);
    const page = (tags) => ({ lastModified: Date.now(), lifespan: { expireAt: now + 600 }, tags, value: { kind: "FETCH", data: { body: "page" } } });
    return {
      before: async () => {
        await cache.set("/a", page(["posts"]));
        await cache.set("/b", page(["users"]));
      },
      after: async () => {
        assert.equal((await cache.get("/a", { implicitTags: [] })).value.data.body, "page");
        await cache.revalidateTag("posts");
        assert.equal(await cache.get("/a", { implicitTags: [] }), null);
        assert.equal((await cache.get("/b", { implicitTags: [] })).value.data.body, "page");
      },
      end: () => client.close(),
    };
  },
  async "@socket.io/redis-adapter"({ resp }) {
    const { createAdapter } = await import("@socket.io/redis-adapter");
    const { default: Redis } = await import("ioredis");
    return chat(async () => {
      const pub = new Redis(resp.ioredis);
      const sub = pub.duplicate();
      return { adapter: createAdapter(pub, sub), close: () => [pub, sub].forEach((r) => r.disconnect()) };
    });
  },
  async "@socket.io/redis-streams-adapter"({ resp }) {
    const { createAdapter } = await import("@socket.io/redis-streams-adapter");
    const { default: Redis } = await import("ioredis");
    return chat(async () => {
      const redis = new Redis(resp.ioredis);
      return { adapter: createAdapter(redis), close: () => redis.disconnect() };
    });
  },
  "python3-redis": debian("/usr/bin/python3", "python.py", "python3-redis"),
  "python3-django-redis": debian("/usr/bin/python3", "python.py", "python3-django-redis"),
  "python3-rq": debian("/usr/bin/python3", "python.py", "python3-rq"),
  "python3-celery": debian("/usr/bin/python3", "python.py", "python3-celery"),
  "php-redis": debian("php", "php.php", "php-redis"),
  "php-predis": debian("php", "php.php", "php-predis"),
  "ruby-sidekiq": debian("ruby", "sidekiq.rb", "ruby-sidekiq"),
  rueidis: golang("rueidis"),
  redsync: golang("redsync"),
  asynq: golang("asynq"),
};

const version = (adapter, names) => adapter?.version ?? names.split(", ").map((n) => JSON.parse(readFileSync(new URL(`node_modules/${n}/package.json`, import.meta.url))).version).join(", ");

// within ends what takes too long.
export const within = (promise) => Promise.race([promise, pause(patience).then(() => Promise.reject(new Error("it takes too long")))]);

// rounds.mjs runs the same programs without a kill.
if (process.argv[1] === fileURLToPath(import.meta.url)) await withKills();

// withKills runs the programs that the command line names, or all of them.
async function withKills() {
  const c = await cluster();
  let failed = 0;
  for (const [name, make] of Object.entries(adapters)) {
    if (process.argv.length > 2 && !process.argv.slice(2).includes(name)) continue;
    const { first, other } = await c.pair();
    const where = { host: other.host, port: other.port, password: c.token };
    const resp = { ioredis: where, nodeRedis: { url: `redis://default:${encodeURIComponent(c.token)}@${other.host}:${other.port}` } };
    let killed = false;
    let adapter;
    try {
      adapter = await make({ url: other.url, token: c.token, resp });
      await within(adapter.before());
      c.kill(first);
      killed = true;
      await within(adapter.after());
      console.log(`ok      ${name} ${version(adapter, name)}`);
    } catch (e) {
      if (e instanceof NotInstalled) {
        console.log(`skipped ${name}: ${e.message}`);
        continue;
      }
      failed++;
      console.log(`FAILED  ${name}: ${e?.stack ?? e}`);
    }
    try {
      await adapter?.end?.();
    } catch {} // its connection may have ended with it
    if (killed) await c.restart(first);
  }
  await c.stop();
  process.exit(failed > 0 ? 1 : 0);
}
