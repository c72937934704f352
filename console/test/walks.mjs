// What people come for, walked from a cold start, with a limit of clicks. Typing is none; Enter and shortcuts are.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { accessible, clean, look, open, settled, signIn, start, until } from "./harness.mjs";
import { fits, picture } from "./views.mjs";

/** walker counts what somebody does on a page that has just been signed in to. */
async function walker(node, name, limit) {
  const page = await open(`${node.url}/console/`);
  await signIn(page, { token: node.admin });
  await settled(page);
  let clicks = 0;
  return {
    page,
    click: async (target) => {
      clicks++;
      await target.click();
    },
    press: async (key) => {
      clicks++;
      await page.keyboard.press(key);
    },
    end: async () => {
      await accessible(page, name);
      clean(page, name);
      assert.ok(clicks <= limit, `${name} took ${clicks} clicks, at most ${limit} are allowed`);
      console.log(`  ${name}: ${clicks} of ${limit} clicks`);
      await page.context().close();
    },
  };
}

/** shop is where messages and calls of runs go: it has no stock, and its bank is slow. */
async function startShop(node) {
  const shop = { stock: false, taken: [] };
  const server = createServer(async (q, r) => {
    let body = "";
    for await (const part of q) body += part;
    if (q.url === "/orders") {
      shop.taken.push(body);
      r.statusCode = shop.stock ? 200 : 500;
      return r.end(shop.stock ? "{}" : JSON.stringify({ error: "OutOfStockError", message: "the last oar was sold" }));
    }
    await checkout(node, shop.url, q.headers, body);
    r.setHeader("Upstash-Workflow-Sdk-Version", "1");
    r.end("{}");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  server.unref();
  shop.url = `http://127.0.0.1:${server.address().port}`;
  return shop;
}

const names = ["read the cart", "charge the card", "print the invoice"],
  slow = 600; // milliseconds that the second one takes

/** checkout does the next step of a run, as the SDKs do: it sends the result, or the end of the run. */
async function checkout(node, to, headers, body) {
  const run = headers["upstash-workflow-runid"],
    at = JSON.parse(body).length; // the payload and the results so far
  if (at > names.length) return node.ask(`/v2/workflows/runs/${run}?cancel=false`, { method: "DELETE", body: "{}" });
  if (at === 2) await new Promise((done) => setTimeout(done, slow)); // what is looked for
  const step = { stepId: at, stepName: names[at - 1], stepType: "Run", out: "1", concurrent: 1 };
  await node.ask("/v2/batch", {
    body: JSON.stringify([
      { destination: `${to}/checkout`, headers: ofRun(to, run, "false"), body: JSON.stringify(step) },
    ]),
  });
}
const ofRun = (to, run, init) => ({
  "content-type": "application/json",
  "upstash-method": "POST",
  "upstash-workflow-init": init,
  "upstash-workflow-runid": run,
  "upstash-workflow-url": `${to}/checkout`,
  "upstash-workflow-sdk-version": "1",
  "upstash-feature-set": "LazyFetch,InitialBody",
  "upstash-forward-upstash-workflow-sdk-version": "1",
  "upstash-label": "checkout",
});

async function startNode() {
  const dev = await start(["dev", "--port", "0", "--resp", "off", "--log-level", "error"], /#enter=\S+\n/);
  const node = { url: dev.value("TRIREME_URL"), admin: dev.value("TRIREME_ADMIN_TOKEN") };
  node.ask = async (path, { token = node.admin, ...o } = {}) => {
    const r = await fetch(node.url + path, {
      method: "POST",
      ...o,
      headers: { Authorization: `Bearer ${token}`, ...o.headers },
    });
    const text = await r.text();
    assert.ok(r.ok, `${path}: ${r.status} ${text}`);
    return text ? JSON.parse(text) : null;
  };
  return node;
}

/** walks fills a node, and walks. */
export async function walks() {
  const node = await startNode(),
    shop = await startShop(node);
  await undelivered(node, shop);
  await slowStep(node, shop);
  await fullTenant(node);
  await tenantsOverTime(node);
}

/** undelivered: why was order 4711 not delivered? Send it again. */
async function undelivered(node, shop) {
  for (const n of [4710, 4711, 4712]) {
    shop.stock = n !== 4711;
    const { messageId } = await node.ask(`/v2/publish/${shop.url}/orders`, {
      headers: { "Svc-Label": `order-${n},order`, "Svc-Retries": "1", "Svc-Retry-Delay": "10" },
      body: JSON.stringify({ order: n }),
    });
    await until(async () => {
      const { messages } = await node.ask(`/v2/events?groupBy=message&messageId=${messageId}`, { method: "GET" });
      assert.equal(messages[0].state, shop.stock ? "DELIVERED" : "FAILED");
    }, `order ${n}`);
  }
  shop.stock = true;
  shop.taken = [];
  const { page, click, press, end } = await walker(node, "send order 4711 again", 5);
  await press("Control+K");
  await page.getByRole("dialog", { name: "Go to" }).waitFor();
  await page.keyboard.type("order-4711");
  await page.getByRole("option", { name: "Messages with the label" }).waitFor();
  await press("Enter");
  await click(page.getByRole("link", { name: `${shop.url}/orders` }));
  // Why: the answer stands on top.
  const why = page.getByRole("alert");
  await why.getByText("OutOfStockError: the last oar was sold").waitFor();
  await why.getByText("Status 500, after 2 attempts").waitFor();
  await click(page.getByRole("button", { name: "Retry", exact: true }));
  await page.locator(".card > .timeline", { hasText: "DELIVERED" }).waitFor();
  assert.deepEqual(shop.taken, ['{"order":4711}']);
  await end();
}

/** slowStep: which step makes checkouts slow? */
async function slowStep(node, shop) {
  const ids = ["checkout-1", "checkout-2"];
  for (const id of ids)
    await node.ask("/v2/batch", {
      body: JSON.stringify([{ destination: `${shop.url}/checkout`, headers: ofRun(shop.url, id, "true"), body: "{}" }]),
    });
  for (const id of ids)
    await until(async () => {
      const { runs } = await node.ask(`/v2/workflows/logs?workflowRunId=${id}`, { method: "GET" });
      assert.equal(runs[0].workflowState, "RUN_SUCCESS");
    }, id);
  const { page, click, end } = await walker(node, "which step makes checkouts slow", 4);
  await click(page.getByRole("link", { name: "Runs", exact: true }));
  await page.getByLabel("Label", { exact: true }).fill("checkout");
  await click(page.getByRole("button", { name: "Find" }));
  await click(page.getByRole("link", { name: ids[0] }));
  const fact = page.getByRole("link", { name: /^charge the card, / });
  await fact.waitFor();
  await click(fact);
  await page.waitForURL((u) => u.searchParams.get("step") === "2");
  await end();
}

/** fullTenant: which tenant fills the memory? */
async function fullTenant(node) {
  for (const [name, size] of [
    ["anchors", 1000],
    ["oars", 2_000_000],
    ["sails", 50_000],
  ]) {
    const { token } = await node.ask("/admin/databases", { body: JSON.stringify({ name }) });
    await node.ask(`/db/${name}`, { token, body: JSON.stringify(["SET", "stock", "x".repeat(size)]) });
  }
  const { page, click, end } = await walker(node, "which tenant fills the memory", 3);
  await click(page.getByRole("link", { name: "Access", exact: true }));
  const first = page.getByRole("region", { name: "Databases" }).locator("tbody tr").first();
  await first.getByText("oars", { exact: true }).waitFor();
  await end();
}

/** tenantsOverTime are in the overview, wide and narrow. */
async function tenantsOverTime(node) {
  const page = await open(`${node.url}/console/`);
  await signIn(page, { token: node.admin });
  for (const [theme, width] of [
    ["light", 1440],
    ["dark", 390],
  ]) {
    await look(page, theme, width);
    const table = page.getByRole("region", { name: "Databases with most commands or most memory" });
    await until(async () => {
      await page.goto(`${node.url}/console/`); // a node looks at its databases every ten seconds
      await settled(page);
      await table.getByRole("img", { name: "Memory of oars, " }).waitFor({ timeout: 2000 });
    }, "the databases in the overview");
    for (const name of ["anchors", "oars", "sails"]) await table.getByText(name, { exact: true }).waitFor();
    await fits(page, `databases in the overview, ${theme}, ${width} pixels`);
    await accessible(page, `databases in the overview, ${theme}, ${width} pixels`);
    await picture(page, theme === "light" ? "overview" : "overview-narrow");
  }
  clean(page, "databases in the overview");
  await page.context().close();
}
