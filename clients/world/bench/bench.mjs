// Runs the same workflows with two worlds in turn, each with an application in a process of its own: this repository's on Trireme, and the
// published one on PostgreSQL. Prints a table with the throughput and the times of runs.
//
//   node bench.mjs [--nodes 1] [--seconds 3] [--rounds 2] [--only TEXT] [--profile FOLDER] [--workers N]
//
//   --nodes    1: trireme dev with a disk; 3: trireme local-cluster
//   --seconds  how long one turn of a world lasts
//   --rounds   how often the worlds take turns
//   --only     workflows whose names contain a text
//   --profile  write a CPU profile of the application with Trireme there
//   --workers  WORKFLOW_POSTGRES_WORKER_CONCURRENCY, 10 by default
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { App } from "../test/app.mjs";
import { build } from "../test/build.mjs";
import { startTrireme } from "../test/trireme.mjs";
import { cpuOf } from "./cpu.mjs";
import { startPostgres } from "./postgres.mjs";

const text = (value) => ({ type: "string", default: value });
const { values: flags } = parseArgs({
  options: { nodes: text("1"), seconds: text("3"), rounds: text("2"), only: text(""), profile: text(""), workers: text("10") },
});
const ms = Number(flags.seconds) * 1000;
const cases = [
  { title: "one step", name: "sequence", args: [1], steps: 1 },
  { title: "10 steps in sequence", name: "sequence", args: [10], steps: 10 },
  { title: "10 steps in parallel", name: "fan", args: [10], steps: 10 },
  { title: "100 steps in parallel", name: "fan", args: [100], steps: 100 },
  { title: "start only", name: "sequence", args: [1], measure: "start", most: 200 },
  { title: "stream of 100 chunks", name: "producer", args: [100], measure: "stream" },
].filter((c) => c.title.includes(flags.only));

const percentile = (times, p) => times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * p))];
const round = (n) => (n >= 100 ? String(Math.round(n)) : n >= 10 ? n.toFixed(1) : n.toFixed(2));
const ratio = (a, b) => `${(a / b).toFixed(2)} ×`;

const postgres = await startPostgres();
const trireme = await startTrireme({ nodes: Number(flags.nodes) });
process.on("exit", () => App.all.forEach((a) => void a.child.kill("SIGKILL")));
await build(fileURLToPath(new URL("../test/app", import.meta.url)));
const profile = flags.profile ? ["--cpu-prof", `--cpu-prof-dir=${flags.profile}`] : [];
const worlds = [
  { app: await App.run({ ...postgres.env, WORKFLOW_POSTGRES_WORKER_CONCURRENCY: flags.workers }), server: [postgres.pid] },
  { app: await App.run(trireme.env, profile), server: trireme.nodes.map((n) => n.pid) },
];

// measure gives a world's figures of a case, over all its turns.
const sum = () => ({ times: [], first: [], took: 0, app: 0, server: 0 });
async function measure(c, atOnce) {
  const sums = worlds.map(sum);
  for (let n = 0; n < Number(flags.rounds); n++) {
    for (const [i, { app, server }] of worlds.entries()) {
      const before = [cpuOf([app.child.pid]), cpuOf(server)];
      const { times, took } = await app.call("load", c.name, { measure: c.measure ?? "run", args: c.args, atOnce, ms, most: c.most });
      sums[i].times.push(...times.map((t) => t.total));
      sums[i].first.push(...times.map((t) => t.first));
      sums[i].took += took;
      sums[i].app += cpuOf([app.child.pid]) - before[0];
      sums[i].server += cpuOf(server) - before[1];
    }
  }
  return sums.map(({ times, first, took, app, server }) => ({
    rate: (times.length * 1000) / took,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    first50: c.measure === "stream" ? percentile(first, 0.5) : undefined,
    count: times.length,
    cpu: `${round(app / times.length)} + ${round(server / times.length)}`,
  }));
}

for (const { app } of worlds) await app.call("load", "sequence", { measure: "run", args: [2], atOnce: 10, ms: 2000 }); // both are warm
console.log(
  `Trireme with ${flags.nodes} node(s), PostgreSQL with ${flags.workers} workers; Node.js ${process.version}; ${flags.rounds} turns of ${flags.seconds} s each; CPU: of the application + of the server\n`,
);
// P is Postgres, T is Trireme.
const head = [
  "workflow",
  "at once",
  "runs/s P",
  "runs/s T",
  "ratio",
  "steps/s P / T",
  "p50 ms P",
  "p50 ms T",
  "ratio",
  "p99 ms P / T",
  "CPU ms a run P",
  "CPU ms a run T",
  "runs P / T",
];
const row = (cells) => console.log(`| ${cells.join(" | ")} |`);
row(head);
row(head.map((_, i) => (i === 0 ? "---" : "--:")));
for (const c of cases) {
  for (const { app } of worlds) await app.call("load", c.name, { measure: c.measure ?? "run", args: c.args, atOnce: 2, ms: 0 }); // warm
  for (const atOnce of [1, 10, 50]) {
    const [p, t] = await measure(c, atOnce);
    const steps = c.steps ? `${round(p.rate * c.steps)} / ${round(t.rate * c.steps)}` : "";
    const rates = [round(p.rate), round(t.rate), ratio(t.rate, p.rate), steps];
    row([
      c.title,
      atOnce,
      ...rates,
      round(p.p50),
      round(t.p50),
      ratio(t.p50, p.p50),
      `${round(p.p99)} / ${round(t.p99)}`,
      p.cpu,
      t.cpu,
      `${p.count} / ${t.count}`,
    ]);
    if (p.first50)
      row([`${c.title}: first chunk`, atOnce, "", "", "", "", round(p.first50), round(t.first50), ratio(t.first50, p.first50), "", "", "", ""]);
  }
}
for (const { app } of worlds) await app.end();
await trireme.stop();
await postgres.stop();
