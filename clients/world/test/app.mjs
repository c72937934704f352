// A process with the application, as the test program sees it.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import v8 from "node:v8";

const folder = fileURLToPath(new URL("app", import.meta.url));

export class App {
  static all = new Set();
  output = "";

  // run starts a server with more variables of the environment, and arguments of node.
  static async run(env = {}, execArgv = []) {
    const app = new App();
    app.env = { ...process.env, ...env };
    app.execArgv = execArgv;
    await app.begin();
    App.all.add(app);
    return app;
  }

  async begin() {
    this.child = fork("server.mjs", { cwd: folder, env: this.env, execArgv: this.execArgv, silent: true });
    const keep = (b) => (this.output = (this.output + b).slice(-20_000));
    this.child.stdout.on("data", keep);
    this.child.stderr.on("data", keep);
    this.ended = new Promise((done) => this.child.once("exit", done));
    const { port } = await Promise.race([
      new Promise((done) => this.child.once("message", done)),
      this.ended.then((code) => Promise.reject(new Error(`the server ended (${code}): ${this.output}`))),
    ]);
    this.env.PORT = String(port); // a restarted server listens where it did
    this.url = `http://127.0.0.1:${port}`;
  }

  // kill ends the process without a chance to say goodbye.
  async kill() {
    this.child.kill("SIGKILL");
    await this.ended;
  }

  // end lets the process end by itself.
  async end() {
    App.all.delete(this);
    this.child.disconnect();
    await this.ended;
  }

  async close() {
    App.all.delete(this);
    if (this.child.exitCode === null && this.child.signalCode === null) await this.kill();
  }

  async #ask(name, args) {
    const answer = await fetch(`${this.url}/control/${name}`, { method: "POST", body: v8.serialize(args) });
    if (!answer.ok) throw new Error(`${name}: ${answer.status} ${await answer.text()}`);
    return answer;
  }

  async call(name, ...args) {
    const { error, value } = v8.deserialize(Buffer.from(await (await this.#ask(name, args)).arrayBuffer()));
    if (error) throw Object.assign(new Error(error.message), error);
    return value;
  }

  start = (name, ...args) => this.call("start", name, args);
  result = (runId) => this.call("result", runId);
  state = (runId) => this.call("ended", runId);
  world = (path, ...args) => this.call("world", path, args);
  run = async (name, ...args) => this.result(await this.start(name, ...args));

  // read gives the chunks of a run's stream one after another.
  async *read(runId, options) {
    let rest = "";
    const answer = await this.#ask("stream", [runId, options]);
    for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + part).split("\n");
      rest = lines.pop();
      for (const line of lines) yield v8.deserialize(Buffer.from(line, "base64"));
    }
  }

  // all follows the pages of a list to its end.
  async all(path, { limit, ...params }) {
    const items = [];
    let cursor;
    for (;;) {
      const page = await this.world(path, { ...params, pagination: { limit, cursor, ...params.pagination } });
      items.push(...page.data);
      if (!page.hasMore) return items;
      if (!page.cursor || page.cursor === cursor) throw new Error(`${path}: hasMore with the cursor ${page.cursor}`);
      cursor = page.cursor;
    }
  }

  events = (runId) => this.all("events.list", { runId, limit: 100 });
}
