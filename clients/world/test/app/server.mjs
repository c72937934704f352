// The application: the compiled handlers at their paths, as a framework's plugin mounts them, and a control path for the test program.
//
//   WORKFLOW_TARGET_WORLD  the world
//   PORT                   the port to listen at; a free one by default
//   HARNESS_FAULT          twice: each message is handed over once more afterwards; beside: twice at once;
//                          lost: the answers to the first two messages are lost
import { readFile } from "node:fs/promises";
import http from "node:http";
import { Readable } from "node:stream";
import { control } from "./control.mjs";

const routes = "/.well-known/workflow/v1";
const bundle = (name) => new URL(`.${routes}/${name}`, import.meta.url);
const manifest = await readFile(bundle("manifest.json"));
const fault = process.env.HARNESS_FAULT ?? "";
const lost = new Set();

// handOver gives a message to a handler, with the fault that the test asked for.
async function handOver(handler, request, body) {
  const deliver = () => handler(new Request(request.url, { method: request.method, headers: request.headers, body }));
  if (fault === "twice") await (await deliver()).text();
  if (fault === "beside") return (await Promise.all([deliver(), deliver()]))[0];
  const answer = await deliver();
  const message = String(body);
  if (fault !== "lost" || lost.size === 2 || lost.has(message)) return answer;
  lost.add(message);
  return new Response("the answer is lost", { status: 503 });
}

async function serve(handlers, req, res) {
  const { pathname } = new URL(req.url, "http://localhost");
  const request = new Request(`http://${req.headers.host}${req.url}`, { method: req.method, headers: req.headers });
  const parts = [];
  for await (const part of req) parts.push(part);
  const body = parts.length > 0 ? Buffer.concat(parts) : undefined;
  let answer;
  if (pathname.startsWith("/control/")) answer = await control(pathname.slice("/control/".length), body);
  else if (pathname === `${routes}/manifest.json`) answer = new Response(manifest, { headers: { "content-type": "application/json" } });
  else if (pathname === `${routes}/flow`) answer = await handOver(handlers.flow, request, body);
  else if (pathname === `${routes}/step`) answer = await handOver(handlers.step, request, body);
  else if (pathname.startsWith(`${routes}/webhook/`))
    answer = await handlers.webhook(new Request(request.url, { method: req.method, headers: req.headers, body }));
  else answer = new Response("not found", { status: 404 });
  res.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body)
    Readable.fromWeb(answer.body)
      .on("error", (e) => res.destroy(e))
      .pipe(res);
  else res.end();
}

// The handlers are loaded once the port is known, for worlds read PORT as they are made.
let ready;
const server = http.createServer(async (req, res) => {
  try {
    await serve(await ready, req, res);
  } catch (e) {
    console.error(`${req.url}:`, e);
    if (!res.headersSent) res.writeHead(500);
    res.end(String(e));
  }
});
server.keepAliveTimeout = 120_000; // longer than a world keeps a connection: none closes as it is used again
ready = new Promise((done) => {
  server.listen(Number(process.env.PORT ?? 0), () => {
    process.env.PORT = String(server.address().port);
    done();
  });
}).then(async () => {
  const [flow, step, webhook, { getWorld }] = await Promise.all([
    import(bundle("flow.cjs")),
    import(bundle("step.cjs")),
    import(bundle("webhook.mjs")),
    import("workflow/runtime"),
  ]);
  return { flow: flow.POST, step: step.POST, webhook: webhook.POST, world: getWorld() };
});
const { world } = await ready;
await world.start?.();
process.send?.({ port: Number(process.env.PORT) });
process.on("disconnect", () => process.exit()); // no server outlives its test program
