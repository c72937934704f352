// Serves a workflow of five steps by the published client, starts it once, and prints what its endpoint got. In the middle of the
// third step it prints "half" and waits for a line on standard input: that is when the test kills the leader.
//
//   TRIREME_URLS            base URL of a node that is not killed
//   TRIREME_MESSAGES_TOKEN  the token of /v2
import http from "node:http";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { bodyOf, relay } from "./body.mjs";
import { Client, MessagesClient, createWorkflow, serveMany } from "./sdk.mjs";

const [baseUrl] = process.env.TRIREME_URLS.split(",");
const token = process.env.TRIREME_MESSAGES_TOKEN;
const got = []; // of the endpoint and of the third party: { to, traceparent }
const lines = createInterface({ input: process.stdin });
let halves = 0;
let flaws = 1;
let answers = 0;
let done;
const ended = new Promise((resolve) => (done = resolve));

const traced = createWorkflow(async (context) => {
  const one = await context.run("one", () => 1);
  await context.sleep("nap", 1);
  const half = await context.run("half", async () => {
    if (++halves === 1) {
      console.log("half");
      await once(lines, "line");
    }
    return 2;
  });
  const { status } = await context.call("ask", { url: `${base}/third`, method: "POST", body: "x", retries: 3, retryDelay: "50" });
  const flaky = await context.run("flaky", () => {
    if (flaws-- > 0) throw new Error("once");
    return 3;
  });
  done([one, half, status, flaky]);
  return "done";
});
const { POST } = serveMany({ traced }, { qstashClient: new MessagesClient({ baseUrl, token, retry: false }), verbose: false });

const server = http.createServer(async (req, res) => {
  const body = await bodyOf(req);
  if (body === null) return;
  got.push({ to: req.url, traceparent: req.headers.traceparent ?? "" });
  if (req.url === "/third") {
    res.statusCode = ++answers === 1 ? 500 : 200;
    return res.end("ok");
  }
  await relay(POST, base, req, res, body);
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const base = `http://127.0.0.1:${server.address().port}`;

const client = new Client({ baseUrl, token, retry: false });
const { workflowRunId } = await client.trigger({ url: `${base}/traced`, retries: 10, retryDelay: "50" });
const results = await ended;
for (;;) {
  const [run] = (await client.logs({ workflowRunId })).runs;
  if (run?.workflowState !== "RUN_STARTED") {
    console.log(JSON.stringify({ state: run?.workflowState, results, got }));
    break;
  }
  await new Promise((wait) => setTimeout(wait, 20));
}
lines.close();
server.closeAllConnections();
server.close();
