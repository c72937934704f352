// Serves a workflow by the published client whose steps commit commands, and a destination whose answers do, and looks at what
// became of them.
import assert from "node:assert/strict";
import http from "node:http";
import { commit, commitAs } from "../commit/index.js";
import { bodyOf, relay } from "./body.mjs";
import { ask, messages, node, standard, until, urls } from "./nodes.mjs";
import { Client, MessagesClient, createWorkflow, serveMany } from "./sdk.mjs";

const run = async (...command) => {
  const { body } = await ask("POST", "/", standard, { body: JSON.stringify(command) });
  if (body.error) throw new Error(body.error);
  return body.result;
};
const mail = [];
const leaked = [];
const tries = { draw: 0, order: 0 };

const transfer = createWorkflow(async (context) => {
  const moved = await commit(context, "draw", async () => {
    tries.draw++;
    // What is read first is out of date: the condition refuses the commands, and the step is repeated.
    const seen = tries.draw === 1 ? "99" : await run("GET", "shop:a");
    return {
      commands: [["IF", "shop:a", "EQ", seen], ["DECRBY", "shop:a", 30], ["INCRBY", "shop:b", 30], ["MSG.PUBLISH", `${base}/mail`, "moved"]],
      result: { from: seen },
    };
  });
  await commit(context, "note", [["LPUSH", "shop:notes", `moved from ${moved.from}`]]);
  return moved;
});
const { POST } = serveMany({ transfer }, { qstashClient: new MessagesClient({ baseUrl: urls[0], token: messages, retry: false }), verbose: false });

const server = http.createServer(async (req, res) => {
  const body = await bodyOf(req);
  if (body === null) return;
  if (Object.keys(req.headers).some((name) => name.includes("commit"))) leaked.push(req.headers);
  if (req.url === "/mail") {
    mail.push(body.toString());
    return res.end();
  }
  if (req.url === "/order") { // an outbox: the state of the order and the next message are one with "delivered"
    const first = ++tries.order === 1;
    res.setHeader("Svc-Commit", JSON.stringify([["IF", "shop:order", first ? "EXISTS" : "MISSING"], ["SET", "shop:order", "paid"]]));
    return res.end();
  }
  if (req.url === "/large") {
    res.setHeader("Upstash-Commit", "body");
    return res.end(JSON.stringify([["SET", "shop:large", "x".repeat(100_000)], ["MSG.PUBLISH", `${base}/mail`, "large"]]));
  }
  await relay(POST, base, req, res, body);
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const base = `http://127.0.0.1:${server.address().port}`;

await run("ACL", "SETUSER", "shop", "on", ">shop-password", "~shop:*", "+@all", "-@dangerous");
const secret = await run("ACL", "RESTTOKEN", "shop", "shop-password");
await run("MSET", "shop:a", "100", "shop:b", "0");

// A step commits once, after a refusal that the run's log shows.
const client = new Client({ baseUrl: node(), token: messages, retry: false });
const { workflowRunId } = await client.trigger({ url: `${base}/transfer`, retries: 3, retryDelay: "50", headers: commitAs("shop", secret) });
const log = await until(
  async () => (await ask("GET", `/v2/workflows/logs?workflowRunId=${workflowRunId}`, messages)).body.runs[0],
  (r) => r && r.workflowState !== "RUN_STARTED",
);
assert.equal(log.workflowState, "RUN_SUCCESS", JSON.stringify(log));
assert.deepEqual(JSON.parse(log.workflowRunResponse), { from: "100" });
assert.deepEqual([await run("GET", "shop:a"), await run("GET", "shop:b")], ["70", "30"]);
assert.deepEqual(await run("LRANGE", "shop:notes", 0, -1), ["moved from 100"]);
const { body: drawn } = await ask("GET", `/v2/workflows/runs/${workflowRunId}/steps/1`, messages);
assert.match(JSON.stringify(drawn.attempts), /command 1: CONDITION/);

// An answer commits with "delivered".
const publish = (path, headers, token = messages) => ask("POST", `/v2/publish/${base}${path}`, token, { body: "x", headers });
const order = await publish("/order", { ...commitAs("shop", secret), "Upstash-Retries": "2", "Upstash-Retry-Delay": "50" });
assert.equal(order.status, 200);
await until(() => run("GET", "shop:order"), (v) => v === "paid");
assert.equal(tries.order, 2);
const { body: events } = await ask("GET", `/v2/events?messageId=${order.body.messageId}`, messages);
assert.ok(JSON.stringify(events).includes("CONDITION"), JSON.stringify(events));
await publish("/large", { "Upstash-Commit-As": "shop", "Upstash-Commit-Token": standard, "Upstash-Header-Forward": "true" });
await until(() => run("STRLEN", "shop:large"), (n) => n === 100_000);
await until(() => mail.length, (n) => n === 2);

// Nobody lends rights that are not theirs, and where none were asked for commands are ignored.
assert.equal((await publish("/order", commitAs("default"))).status, 403);
assert.equal((await publish("/order", commitAs("default", secret))).status, 403);
assert.equal((await publish("/order", commitAs("nobody", standard))).status, 400);
await run("DEL", "shop:order");
tries.order = 1;
const ignored = await publish("/order", {});
await until(
  async () => (await ask("GET", `/v2/events?messageId=${ignored.body.messageId}`, messages)).body.events.map((e) => e.state),
  (states) => states.includes("DELIVERED"),
);
assert.equal(await run("GET", "shop:order"), null);
assert.deepEqual(leaked, []);
server.closeAllConnections();
server.close();
