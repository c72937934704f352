// Serves an application by the published client three times, as a hoster does of three deployments, and follows runs that name theirs: one is
// moved while it waits, one fails.
import assert from "node:assert/strict";
import http from "node:http";
import { bodyOf, relay } from "./body.mjs";
import { ask, messages, node, until, urls } from "./nodes.mjs";
import { Client, MessagesClient, createWorkflow, serveMany } from "./sdk.mjs";

const visits = [];
const failed = [];
const servers = [];

// deploy serves the application and returns its URL.
async function deploy(name) {
  const child = createWorkflow(async (context) => await context.run("where", () => name));
  const parent = createWorkflow(async (context) => {
    const before = await context.run("before", () => name);
    await context.waitForEvent("moved", "moved", { timeout: "60s" });
    const after = await context.run("after", () => name);
    await context.sleep("nap", 1);
    const { body } = await context.invoke("child", { workflow: child, body: {} });
    return [before, after, body];
  });
  const failing = createWorkflow(async (context) => await context.run("fail", () => Promise.reject(new Error("as it should"))), {
    failureFunction: async () => void failed.push(name),
  });
  const { POST } = serveMany(
    { parent, child, failing },
    { qstashClient: new MessagesClient({ baseUrl: urls[0], token: messages, retry: false }), verbose: false },
  );
  const server = http.createServer(async (req, res) => {
    const body = await bodyOf(req);
    if (body === null) return;
    visits.push([name, req.headers["upstash-workflow-deployment"], req.headers["upstash-deployment"]].join(" "));
    await relay(POST, `http://127.0.0.1:${server.address().port}`, req, res, body);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  servers.push(server);
  return `http://127.0.0.1:${server.address().port}`;
}

const home = await deploy("home");
for (const name of ["v1", "v2"]) {
  const made = await ask("PUT", `/v2/workflows/deployments/${name}`, messages, { body: JSON.stringify({ url: await deploy(name) }) });
  assert.equal(made.status, 200, JSON.stringify(made.body));
}
const client = new Client({ baseUrl: node(), token: messages, retry: false });
const { workflowRunId } = await client.trigger({ url: `${home}/parent`, headers: { "Upstash-Deployment": "v1" } });
const explain = async () => (await ask("GET", `/v2/workflows/runs/${workflowRunId}/explain`, messages)).body;
await until(explain, (x) => x.reason === "event");
assert.ok(visits.length > 0 && visits.every((visit) => visit === "v1 v1 "), JSON.stringify(visits));

const kept = (await ask("GET", "/v2/workflows/deployments/v1/explain", messages)).body;
assert.deepEqual([kept.runs.length, kept.runs[0].workflowRunId, kept.runs[0].reason], [1, workflowRunId, "event"]);
assert.equal((await ask("DELETE", "/v2/workflows/deployments/v1", messages)).status, 412);
const moved = await ask("POST", "/v2/workflows/deployments/v1/move", messages, { body: JSON.stringify({ to: "v2" }) });
assert.deepEqual([moved.status, moved.body], [200, { moved: 1 }]);
assert.equal((await ask("DELETE", "/v2/workflows/deployments/v1", messages)).status, 200);
visits.length = 0;
await client.notify({ eventId: "moved", eventData: {} });
const { runs } = await until(() => client.logs({ workflowRunId }), ({ runs }) => runs[0].workflowState !== "RUN_STARTED");
assert.deepEqual([runs[0].workflowState, runs[0].workflowRunResponse], ["RUN_SUCCESS", '["v1","v2","v2"]']);
assert.ok(visits.every((visit) => visit === "v2 v2 "), JSON.stringify(visits));

// The failure function of the deployment is called.
await client.trigger({ url: `${home}/failing`, headers: { "Upstash-Deployment": "v2" }, retries: 0, useFailureFunction: true });
await until(async () => failed, (list) => list.length > 0);
assert.deepEqual(failed, ["v2"]);
assert.ok(visits.every((visit) => visit === "v2 v2 "), JSON.stringify(visits));
for (const server of servers) server.close();
