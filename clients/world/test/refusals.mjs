// How the world takes what a node refuses: what may be different later is delivered again, what never will be fails the run. The node is a server of
// ours that answers with the texts of docs/api.md.
import assert from "node:assert/strict";
import http from "node:http";
import { createRequire } from "node:module";

const { createWorld } = createRequire(import.meta.url)("..");

let refusal;
let asked = 0;
const node = http.createServer((req, res) => {
  asked++;
  req.resume();
  res.writeHead(refusal.status, { "content-type": "application/json", ...refusal.headers });
  res.end(JSON.stringify({ error: refusal.error }));
});
await new Promise((done) => node.listen(0, "127.0.0.1", done));
const world = createWorld({ url: `http://127.0.0.1:${node.address().port}`, token: "t", signingKeys: ["k"], baseUrl: "http://127.0.0.1:1" });

const later = { name: "WorkflowWorldError", status: 503 };
const never = { name: "WorkflowWorldError", code: "WORLD_CONTRACT_ERROR", status: undefined };
const table = [
  [400, "ERR DB capacity quota exceeded. Limit: 1000 bytes, Actual: 1001 bytes. Setting: maxMemory", later],
  [400, "OOM command not allowed when used memory > 'maxmemory'.", later],
  [400, "ERR max body time exceeded. Limit: 1m0s, Actual: 1m1s", later],
  [400, "ERR max request size exceeded. Limit: 10485760 bytes, Actual: 10485761 bytes", never],
  [400, "ERR max single record size exceeded. Limit: 104857600 bytes, Actual: 104857601 bytes. Setting: max-record-size", never],
  [400, "ERR max request work exceeded by 'evalsha'. Limit: 10000000 steps, Actual: 10000001 steps. Setting: max-request-work", never],
  [400, "ERR max reply size of a request exceeded. Limit: 1 bytes, Actual: 2 bytes. Setting: max-reply-size", never],
  [400, "ERR script used up its budget of 100000000 steps", never],
  [400, "ERR quota maxRetries exceeded", never],
  [400, "ERR max daily request limit exceeded. Limit: 10000, Usage: 10000. Setting: dailyRequestLimit", { name: "ThrottleError", retryAfter: 5 }],
  [429, "ERR max request rate exceeded. Limit: 5 a second on each node", { name: "ThrottleError", retryAfter: 7 }, { "retry-after": "7" }],
  [413, "too large", never],
  [401, "WRONGPASS invalid token", { name: "WorkflowWorldError", status: 401 }],
];
for (const [status, error, wanted, headers] of table) {
  refusal = { status, error, headers };
  asked = 0;
  const { name, code, status: of, retryAfter } = await world.runs.get("wrun_x").then(assert.fail, (e) => e);
  assert.equal(asked, 1, `${error}: asked ${asked} times`); // a known outcome is not asked for again
  const got = { name, code, status: of, retryAfter };
  for (const [member, value] of Object.entries(wanted)) assert.equal(got[member], value, `${error}: ${JSON.stringify(got)}`);
}
console.log(`ok    refusals: ${table.length}`);
node.closeAllConnections();
node.close();
