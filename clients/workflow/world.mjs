// The world around the workflows: one HTTP server on loopback that serves them and the
// third parties that they call, and a book of everything that happened.
import http from "node:http";
import { bodyOf } from "./body.mjs";
import { makeWorkflows } from "./workflows.mjs";

export class World {
  calls = []; // of workflow URLs: { name, runId, headers, status }
  visits = new Map(); // of third parties: path -> [{ method, headers, body }]
  effects = new Map(); // "run/step" -> how often the step's function ran
  faults = new Map(); // name -> how many more times it is to fail
  failures = []; // what failure functions were told
  hooks = new Map(); // run -> the URL of its webhook
  inside = 0; // steps of the limited workflow in progress, and the most there ever were
  most = 0;
  #said = new Set();
  #watchers = new Set();

  constructor({ sdk, urls, token, keys, calls }) {
    this.sdk = sdk;
    this.library = calls; // which methods of the SDK were called
    const receiver = new sdk.Receiver({ currentSigningKey: keys.current, nextSigningKey: keys.next });
    // One set of routes a node, so that every call talks to a node of its own choice.
    this.routes = urls.map((baseUrl) => {
      const qstashClient = new sdk.MessagesClient({ baseUrl, token, retry: false });
      return sdk.serveMany(makeWorkflows(this, sdk), { qstashClient, receiver }).POST;
    });
    this.server = http.createServer((req, res) => this.#serve(req, res));
    this.server.keepAliveTimeout = 120_000; // longer than nodes keep a connection: none closes as it is used again
  }

  async open() {
    await new Promise((done) => this.server.listen(0, "127.0.0.1", done));
    this.base = `http://127.0.0.1:${this.server.address().port}`;
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
  }

  // did counts an effect of a step and gives how often it has happened.
  did(context, step) {
    const key = `${context.workflowRunId}/${step}`;
    const times = (this.effects.get(key) ?? 0) + 1;
    this.effects.set(key, times);
    this.#changed();
    return times;
  }

  times(runId, step) {
    return this.effects.get(`${runId}/${step}`) ?? 0;
  }

  // fault throws as often as was asked for.
  fault(name, error = new Error(`${name} is broken`)) {
    const left = this.faults.get(name) ?? 0;
    if (left === 0) return;
    this.faults.set(name, left - 1);
    throw error;
  }

  failed(told) {
    this.failures.push(told);
    this.#changed();
  }

  // say tells a step that waits to hear it to go on.
  say(what) {
    this.#said.add(what);
    this.#changed();
  }

  heard(what) {
    return this.until(() => this.#said.has(what), what);
  }

  publish(runId, url) {
    this.hooks.set(runId, url);
    this.#changed();
  }

  enter() {
    this.most = Math.max(this.most, ++this.inside);
  }

  leave() {
    this.inside--;
  }

  callsOf(runId) {
    return this.calls.filter((c) => c.runId === runId);
  }

  // messagesOf are the deliveries of a run, each once.
  messagesOf(runId) {
    return new Set(this.callsOf(runId).map((c) => c.headers["upstash-message-id"]));
  }

  // attempts is how often the delivery of a run was made that was made most often: once,
  // unless a leader was lost meanwhile, or the test has the step fail.
  attempts(runId) {
    const counts = new Map();
    for (const c of this.callsOf(runId)) {
      const id = c.headers["upstash-message-id"];
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return Math.max(0, ...counts.values());
  }

  // until waits for what the book has to show.
  until(look, what, ms = 120_000) {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => (this.#watchers.delete(watch), reject(new Error(`still waiting: ${what}`))), ms);
      const watch = () => {
        const found = look();
        if (found === undefined || found === false) return;
        clearTimeout(late);
        this.#watchers.delete(watch);
        resolve(found);
      };
      this.#watchers.add(watch);
      watch();
    });
  }

  #changed() {
    for (const watch of [...this.#watchers]) watch();
  }

  async #serve(req, res) {
    const body = await bodyOf(req);
    if (body === null) return;
    const [path] = req.url.split("?");
    try {
      if (path.startsWith("/flows/")) await this.#flow(req, res, path.slice("/flows/".length), body);
      else this.#visit(req, res, path, body);
    } catch (error) {
      res.statusCode = 500;
      res.end(String(error));
    }
    this.#changed();
  }

  async #flow(req, res, name, body) {
    const call = { name, runId: req.headers["upstash-workflow-runid"], headers: req.headers, size: body.length };
    this.calls.push(call);
    const request = new Request(this.base + req.url, { method: req.method, headers: req.headers, body: body.length ? body : undefined });
    const route = this.routes[Math.floor(Math.random() * this.routes.length)];
    const answer = await route({ request, url: new URL(request.url) });
    call.status = answer.status;
    res.writeHead(answer.status, Object.fromEntries(answer.headers));
    res.end(Buffer.from(await answer.arrayBuffer()));
  }

  // A third party: /out/echo answers what it got, /out/status/N that status, /out/flaky/NAME
  // fails as often as the fault says, /out/bytes bytes that are no text, /out/huge/N a document with a
  // text of N bytes, /out/hugefailure/N the same with status 500.
  #visit(req, res, path, body) {
    const seen = this.visits.get(path) ?? [];
    seen.push({ method: req.method, headers: req.headers, body: body.toString() });
    this.visits.set(path, seen);
    const [, , kind, rest] = path.split("/");
    switch (kind) {
      case "echo":
        res.setHeader("Content-Type", "application/json");
        return res.end(JSON.stringify({ method: req.method, mine: req.headers["x-mine"], body: body.toString(), url: req.url }));
      case "status":
        res.writeHead(Number(rest), { "Content-Type": "text/plain" });
        return res.end(`status ${rest}`);
      case "flaky":
        try {
          this.fault(rest);
        } catch {
          res.writeHead(503, { "Content-Type": "text/plain" });
          return res.end("later");
        }
        return res.end("well");
      case "hugefailure":
      case "huge":
        res.writeHead(kind === "huge" ? 200 : 500, { "Content-Type": "application/json" });
        return res.end(JSON.stringify({ text: "z".repeat(Number(rest)), end: true }));
      case "text":
        res.setHeader("Content-Type", "text/plain; charset=utf-8");
        return res.end("Grüße <&> \u2028 日本");
    }
    res.end("answer");
  }
}
