// Serves the console from its source, beside a node that runs: `node dev.mjs [URL] [PORT]`. What is not a file of the
// console goes to the node (http://127.0.0.1:8080 unless URL says otherwise). A page loads again when a source has changed.

import { readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { context } from "esbuild";
import { here, options } from "./options.mjs";

const node = new URL(process.argv[2] ?? "http://127.0.0.1:8080");
const port = Number(process.argv[3] ?? 5173);
const kinds = {
  js: "text/javascript",
  css: "text/css",
  svg: "image/svg+xml",
  woff2: "font/woff2",
  map: "application/json",
};

let files = new Map(); // by name
const pages = new Set(); // that wait for a change
const tell = {
  name: "tell",
  setup(build) {
    build.onEnd((result) => {
      if (result.errors.length) return; // esbuild prints them; the pages keep what they have
      files = new Map(result.outputFiles.map((f) => [f.path.split(/[\\/]/).pop(), f.contents]));
      for (const page of pages) page.write("data: changed\n\n");
    });
  },
};
const builder = await context({
  ...options,
  sourcemap: true,
  write: false,
  define: { DEVELOPMENT: "true" },
  plugins: [tell],
});
await builder.watch();

/** pass has the node answer a request. */
function pass(req, res) {
  const headers = { ...req.headers, host: node.host, ...(req.headers.origin && { origin: node.origin }) };
  const { hostname, port } = node;
  const asked = request({ hostname, port, path: req.url, method: req.method, headers }, (answer) => {
    res.writeHead(answer.statusCode, answer.headers);
    answer.pipe(res);
  });
  asked.on("error", (e) => {
    if (!res.headersSent) res.writeHead(502);
    res.end(`${node.origin} does not answer: ${e.message}`);
  });
  res.on("close", () => asked.destroy());
  req.pipe(asked);
}

/** page is the page of every view, without the policy that a node sends with it. */
function page() {
  const own = [...files.keys()].filter((name) => name.endsWith(".css") && name !== "app.css"); // of the page of all parts
  const links = own.map((name) => `<link rel="stylesheet" href="${name}">`).join("");
  return readFileSync(join(here, "src/index.html"), "utf8")
    .replace("{{base}}", "/console/")
    .replace("{{sign-on}}", "false")
    .replace("</head>", `${links}</head>`);
}

createServer((req, res) => {
  const { pathname } = new URL(req.url, "http://dev");
  const name = pathname.replace(/^\/console\//, "");
  if (pathname === "/console/changes") {
    res.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    pages.add(res);
    res.on("close", () => pages.delete(res));
    return;
  }
  if (!pathname.startsWith("/console/") || /^(api|session|oidc)(\/|$)/.test(name)) return pass(req, res);
  const file = name === "icon.svg" ? readFileSync(join(here, "src/icon.svg")) : files.get(name);
  if (!file && /\.\w+$/.test(name)) {
    res.writeHead(404);
    return res.end();
  }
  const kind = file ? kinds[name.split(".").pop()] : "text/html";
  res.writeHead(200, { "Content-Type": `${kind}; charset=utf-8`, "Cache-Control": "no-store" });
  res.end(file ?? page());
}).listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/console/ beside ${node.origin}`));
