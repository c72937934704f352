// Serves a workflow by the published client that sets its state, takes updates that its rules accept, and gets an event that was sent before
// it waited.
import assert from "node:assert/strict";
import http from "node:http";
import { acceptUpdates, commit, commitAs, keepEvents, setState } from "../commit/index.js";
import { bodyOf, relay } from "./body.mjs";
import { ask, messages, node, standard, until, urls } from "./nodes.mjs";
import { Client, MessagesClient, createWorkflow, serveMany } from "./sdk.mjs";

let go;
const gate = new Promise((open) => (go = open));
const leaked = [];

const account = createWorkflow(async (context) => {
  await setState(context, "open", { left: 100 }, { spend: "@.update.amount <= @.state.left", close: "" });
  await context.run("gate", async () => void (await gate));
  const { eventData } = await context.waitForEvent("next", "spend", { timeout: "30s" });
  const left = await commit(context, "spent", () => ({
    commands: [["SET", "shop:left", 100 - eventData.amount]],
    state: { left: 100 - eventData.amount },
    updates: { close: "" },
    result: 100 - eventData.amount,
  }));
  const approved = await context.waitForEvent("approval", "approve-7", { timeout: "30s" });
  return { left, by: approved.eventData.by };
});
const { POST } = serveMany({ account }, { qstashClient: new MessagesClient({ baseUrl: urls[0], token: messages, retry: false }), verbose: false });
const server = http.createServer(async (req, res) => {
  const body = await bodyOf(req);
  if (body === null) return;
  if (Object.keys(req.headers).some((name) => /keep-events|-updates/.test(name))) leaked.push(req.headers);
  await relay(POST, base, req, res, body);
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const base = `http://127.0.0.1:${server.address().port}`;

const client = new Client({ baseUrl: node(), token: messages, retry: false });
const headers = { ...commitAs("default", standard), ...keepEvents("approve-*"), ...acceptUpdates({ early: "" }) };
const { workflowRunId } = await client.trigger({ url: `${base}/account`, headers });
const path = `/v2/workflows/runs/${workflowRunId}`;
const state = async () => (await ask("GET", `${path}/state`, messages)).body;
const update = (name, body, id) =>
  ask("POST", `${path}/updates/${name}`, messages, { body: JSON.stringify(body), headers: id ? { "Svc-Update-Id": id } : {} });

// An event that comes before the wait, and the state of a step that has been recorded.
const kept = await client.notify({ eventId: "approve-7", eventData: { by: "me" } });
assert.equal(kept.length, 1);
assert.equal(kept[0].kept, true);
assert.equal(kept[0].workflowRunId, workflowRunId);
const opened = await until(state, (s) => s.version === 1);
assert.deepEqual([opened.state, opened.stepName], [{ left: 100 }, "open"]);

// Updates are refused and accepted before the run waits for them, and count once.
const refused = await update("spend", { amount: 101 });
assert.equal(refused.status, 409);
assert.equal(refused.body.rule, "@.update.amount <= @.state.left");
assert.equal((await update("early", {})).status, 404); // a step has said otherwise since
for (const again of [false, true, true]) {
  const { status, body } = await update("spend", { amount: 30 }, "u-1");
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual([body.accepted, body.updateId, body.deduplicated ?? false], [true, "u-1", again]);
}
go();

const log = await until(
  async () => (await ask("GET", `/v2/workflows/logs?workflowRunId=${workflowRunId}`, messages)).body.runs[0],
  (r) => r && r.workflowState !== "RUN_STARTED",
);
assert.equal(log.workflowState, "RUN_SUCCESS", JSON.stringify(log));
assert.deepEqual(JSON.parse(log.workflowRunResponse), { left: 70, by: "me" });
const last = await state();
assert.deepEqual([last.state, last.version, last.updates], [{ left: 70 }, 2, { close: "" }]);
const { body: left } = await ask("POST", "/", standard, { body: JSON.stringify(["GET", "shop:left"]) });
assert.equal(left.result, "70");
assert.equal((await update("close", {})).status, 409);
assert.deepEqual(leaked, []);
server.closeAllConnections();
server.close();
