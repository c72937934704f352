// Nodes of their own in a temporary folder, that live as long as the program: one, or three of which some can be killed.
//
//   node trireme.mjs [--nodes 3] COMMAND [ARGUMENT ...]   runs a command with the world of this repository on them
//   TRIREME_BIN                                           the program, by default bin/trireme of this repository
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const binary = process.env.TRIREME_BIN ?? fileURLToPath(new URL("../../../bin/trireme", import.meta.url));
export const world = fileURLToPath(new URL("..", import.meta.url));
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const patience = 60_000;

// until repeats a check until it returns something.
export async function until(what, check) {
  for (const end = Date.now() + patience; Date.now() < end; await pause(50)) {
    const found = await check();
    if (found) return found;
  }
  throw new Error(`in vain: ${what}`);
}

const listens = (port) =>
  new Promise((done) => {
    const server = createServer();
    server.once("error", () => done(false));
    server.listen(port, "127.0.0.1", () => server.close(() => done(true)));
  });

// freePorts gives the first of some free ports in a row.
async function freePorts(count) {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 10_000);
    const all = await Promise.all(Array.from({ length: count }, (_, i) => listens(first + i)));
    if (all.every(Boolean)) return first;
  }
}

// startTrireme gives the nodes, the variables of the world on them, and what ends them.
export async function startTrireme({ nodes: count = 1 } = {}) {
  const dir = mkdtempSync(join(tmpdir(), "trireme-world-"));
  const port = await freePorts(12);
  const args =
    count === 1
      ? ["dev", "--data-dir", dir, "--port", port, "--resp", "off"]
      : [
          "local-cluster",
          "--data-dir",
          dir,
          "--http-port",
          port,
          "--cluster-port",
          port + 3,
          "--gossip-port",
          port + 6,
          "--resp-port",
          0,
          "--sink=false",
        ];
  const main = spawn(binary, args.map(String), { env: {} });
  let out = "";
  let log = "";
  main.stdout.on("data", (b) => (out += b));
  main.stderr.on("data", (b) => (log = (log + b).slice(-20_000)));
  main.on("error", (e) => (log += e));
  const again = [];
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1)); // the nodes end with it
  process.once("exit", () => [main, ...again].forEach((p) => void p.kill("SIGKILL")));
  const running = count === 1 ? "is running at" : "An interrupt";
  await until("the nodes start", () => {
    if (main.exitCode !== null || main.pid === undefined) throw new Error(`trireme ended: ${log}${out}`);
    return out.includes(running) && out.includes("TRIREME_ADMIN_TOKEN");
  });
  const variable = (name) => out.match(new RegExp(`^${name}=(.*)$`, "m"))[1];
  const nodes = Array.from({ length: count }, (_, i) => ({
    id: `n${i + 1}`,
    url: `http://127.0.0.1:${port + i}`,
    pid: count === 1 ? main.pid : Number(out.match(new RegExp(`^n${i + 1} is process (\\d+)`, "m"))[1]),
  }));
  const headers = { Authorization: `Bearer ${variable("TRIREME_ADMIN_TOKEN")}` };
  const ask = (node, path) => fetch(`${node.url}${path}`, { headers }).catch(() => ({ ok: false }));
  return {
    nodes,
    env: {
      WORKFLOW_TARGET_WORLD: process.env.TRIREME_WORLD ?? world,
      WORKFLOW_TRIREME_URL: nodes.map((n) => n.url).join(","),
      WORKFLOW_TRIREME_TOKEN: variable("UPSTASH_REDIS_REST_TOKEN"),
      WORKFLOW_TRIREME_SIGNING_KEY: variable("QSTASH_CURRENT_SIGNING_KEY"),
      WORKFLOW_TRIREME_NEXT_SIGNING_KEY: variable("QSTASH_NEXT_SIGNING_KEY"),
    },
    admin: variable("TRIREME_ADMIN_TOKEN"),
    log: () => log,
    leader: () =>
      until("a leader", async () => {
        for (const node of nodes) {
          const answer = await ask(node, "/admin/cluster");
          if (!answer.ok) continue;
          const { leader } = await answer.json();
          if (leader) return nodes.find((n) => n.id === leader);
        }
      }),
    kill: (node) => process.kill(node.pid, "SIGKILL"),
    async restart(node) {
      const child = spawn(binary, ["serve", "--config", join(dir, `${node.id}.yaml`)], { stdio: "ignore", env: {} });
      again.push(child);
      node.pid = child.pid;
      await until(`${node.id} is ready`, async () => (await ask(node, "/readyz")).ok);
    },
    async stop() {
      for (const child of again) child.kill("SIGTERM");
      main.kill("SIGINT");
      await until("the nodes end", () => [main, ...again].every((p) => p.exitCode !== null || p.signalCode !== null));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const args = process.argv.slice(2);
  const nodes = args[0] === "--nodes" ? Number(args.splice(0, 2)[1]) : 1;
  const trireme = await startTrireme({ nodes });
  const child = spawn(args[0], args.slice(1), { stdio: "inherit", env: { ...process.env, ...trireme.env } });
  process.exitCode = (await new Promise((done) => child.once("exit", done))) ?? 1;
  await trireme.stop();
}
