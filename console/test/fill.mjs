// Fills a node for the benchmark, and calls it.
import assert from "node:assert/strict";
import { Agent, createServer, request } from "node:http";
import { until } from "./harness.mjs";

const scale = Number(process.env.SCALE ?? 1);
const count = (n) => Math.max(10, Math.round(n * scale));
const say = (...words) => console.log(...words);

/** client calls a node over connections that are kept. */
export function client(url, token) {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  return (path, { method = "POST", body, headers, raw } = {}) =>
    new Promise((done, fail) => {
      const r = request(
        url + path,
        { method, agent, headers: { Authorization: `Bearer ${token}`, ...headers } },
        (answer) => {
          let text = "";
          answer.setEncoding("utf8");
          answer.on("data", (part) => {
            text += part;
          });
          answer.on("end", () =>
            answer.statusCode < 300
              ? done(raw ? text : text ? JSON.parse(text) : null)
              : fail(new Error(`${path}: ${answer.statusCode} ${text}`)),
          );
        },
      );
      r.on("error", fail);
      r.end(body);
    });
}

/** parts asks for all of total, some at a time, four requests at once. */
async function parts(what, total, size, ask) {
  const began = Date.now();
  let next = 0;
  const work = async () => {
    while (next < total) {
      const from = next;
      next += size;
      await ask(from, Math.min(size, total - from));
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  say(`${total} ${what} in ${Math.round((Date.now() - began) / 1000)} s`);
}
const each = (from, n, of) => JSON.stringify(Array.from({ length: n }, (_, i) => of(from + i)));

/** sink answers deliveries: /bad refuses, /long answers at the end. */
export async function sink() {
  const s = createServer((q, r) => {
    q.resume();
    if (q.url.startsWith("/long")) return;
    r.writeHead(q.url.startsWith("/bad") ? 500 : 200).end("taken");
  });
  await new Promise((done) => s.listen(0, "127.0.0.1", done));
  s.unref();
  return `http://127.0.0.1:${s.address().port}`;
}

/** fill puts what views show into a node: at SCALE 1 a million keys, a million messages, a hundred thousand runs. */
export async function fill(ask, to) {
  const types = [
    (k, i) => ["SET", k, `value ${i}`],
    (k, i) => ["HSET", k, "name", `n${i}`, "plan", "basic"],
    (k, i) => ["ZADD", k, String(i), "m"],
    (k, i) => ["RPUSH", k, "a", String(i)],
  ];
  await parts("keys", count(1e6), 1000, (from, n) =>
    ask("/pipeline", { body: each(from, n, (i) => types[i % 10 < 7 ? 0 : (i % 10) - 6](`user:${i % 1000}:${i}`, i)) }),
  );
  await parts("messages", count(1e6), 500, (from, n) =>
    ask("/v2/batch", {
      body: each(from, n, (i) => ({
        destination: `${to}/hook/${i % 50}`,
        headers: { "Upstash-Label": `label-${i % 20}`, ...(i % 2 ? { "Upstash-Delay": "24h" } : {}) },
        body: JSON.stringify({ order: i }),
      })),
    }),
  );
  await parts("dead letters", count(1e4), 500, (from, n) =>
    ask("/v2/batch", {
      body: each(from, n, (i) => ({
        destination: `${to}/bad/${i % 50}`,
        headers: { "Upstash-Retries": "0" },
        body: JSON.stringify({ order: i }),
      })),
    }),
  );
  const runs = (from, n, of) => ask("/v2/batch", { body: each(from, n, of) });
  await parts("runs", count(1e5), 500, (from, n) =>
    runs(from, n, (i) => ({
      destination: `${to}/flow`,
      headers: {
        "Upstash-Workflow-Init": "true",
        "Upstash-Workflow-RunId": `wfr_bench${i}`,
        "Upstash-Workflow-Url": `${to}/flow`,
        "Upstash-Label": `flow-${i % 20}`,
      },
      body: "{}",
    })),
  );
  // The app of the long run never answers, and only one delivery of it is under way: its steps come from here.
  const flow = {
    "Upstash-Workflow-RunId": "wfr_long",
    "Upstash-Workflow-Url": `${to}/long`,
    "Upstash-Flow-Control-Key": "long",
    "Upstash-Flow-Control-Value": "parallelism=1",
  };
  await runs(0, 1, () => ({
    destination: `${to}/long`,
    headers: { "Upstash-Workflow-Init": "true", ...flow },
    body: "{}",
  }));
  const began = Date.now(),
    steps = count(1e4) - 1; // its payload is the first
  for (let from = 0; from < steps; from += 100) {
    await runs(from, Math.min(100, steps - from), (i) => ({
      destination: `${to}/long`,
      headers: { "Upstash-Workflow-Init": "false", ...flow },
      body: JSON.stringify({
        stepId: i + 1,
        stepName: `step ${i + 1}`,
        stepType: "Run",
        out: JSON.stringify({ result: i }),
        concurrent: 1,
      }),
    }));
  }
  say(`a run of ${steps} steps in ${Math.round((Date.now() - began) / 1000)} s`);
  await until(
    async () => {
      const text = await ask("/metrics", { method: "GET", raw: true });
      const of = (name) =>
        [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "gm"))].reduce(
          (sum, m) => sum + Number(m[1]),
          0,
        );
      assert.ok(
        of("trireme_dead_letters") >= count(1e4) && of("trireme_messages_running") <= 1,
        `${of("trireme_dead_letters")} dead letters, ${of("trireme_messages_running")} attempts under way`,
      );
    },
    "the deliveries",
    1800000,
  );
}
