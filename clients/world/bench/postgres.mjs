// A PostgreSQL server of its own in a temporary folder, with its defaults, that lives as long as the program.
//
//   node postgres.mjs COMMAND [ARGUMENT ...]   runs a command with the world on Postgres
import { spawn, spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const installed = "/usr/lib/postgresql"; // where Debian keeps the versions
export const world = fileURLToPath(new URL("node_modules/@workflow/world-postgres", import.meta.url));

export const freePort = () =>
  new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });

// owner is the account that PostgreSQL runs as: it refuses to run as root.
function owner() {
  if (process.getuid() !== 0) return {};
  const id = (flag) => Number(spawnSync("id", [flag, "postgres"]).stdout);
  return { uid: id("-u"), gid: id("-g") };
}

function succeed(command, args, options) {
  const { status, stdout, stderr, error } = spawnSync(command, args, options);
  if (status !== 0) throw new Error(`${command}: ${error ?? `${stdout}${stderr}`}`);
}

// startPostgres gives the variables of the world on it, and what ends it.
export async function startPostgres() {
  const bin = join(installed, readdirSync(installed).sort((a, b) => b - a)[0], "bin");
  const account = owner();
  const dir = mkdtempSync(join(tmpdir(), "trireme-postgres-"));
  if (account.uid) chownSync(dir, account.uid, account.gid);
  const data = join(dir, "data");
  succeed(join(bin, "initdb"), ["--pgdata", data, "--auth", "trust", "--username", "world"], { ...account, cwd: dir });
  const port = await freePort();
  const server = spawn(join(bin, "postgres"), ["-D", data, "-p", String(port), "-h", "127.0.0.1", "-k", dir], { ...account, cwd: dir });
  let log = "";
  const ended = new Promise((done) => server.once("exit", done));
  await new Promise((done, failed) => {
    server.stderr.on("data", (b) => {
      log += b;
      if (log.includes("ready to accept connections")) done();
    });
    ended.then(() => failed(new Error(`PostgreSQL ended: ${log}`)));
  });
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1)); // the server ends with it
  process.once("exit", () => server.kill("SIGQUIT"));
  const env = { WORKFLOW_TARGET_WORLD: world, WORKFLOW_POSTGRES_URL: `postgres://world@127.0.0.1:${port}/world` };
  succeed(join(bin, "createdb"), ["-h", "127.0.0.1", "-p", String(port), "-U", "world", "world"], { cwd: dir });
  succeed(process.execPath, [join(world, "bin/setup.js")], { cwd: dir, env: { ...process.env, ...env } });
  return {
    env,
    pid: server.pid,
    async stop() {
      server.kill("SIGINT");
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const postgres = await startPostgres();
  const [command, ...args] = process.argv.slice(2);
  const child = spawn(command, args, { stdio: "inherit", env: { ...process.env, ...postgres.env } });
  const code = await new Promise((done) => child.once("exit", done));
  await postgres.stop();
  process.exitCode = code ?? 1;
}
