// What pages say, beside what is so: units with values from the API, dialogs that must not go, the figures of several
// nodes.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { bodyOf } from "../../clients/workflow/body.mjs";
import { formats } from "./formats.mjs";
import { accessible, clean, until } from "./harness.mjs";

/** figuresAreKnown: every figure of settings has a unit, and the page shows it in that. */
export async function figuresAreKnown(page, ask) {
  await page.go("/access?part=settings");
  const text = await page.locator("main").innerText();
  for (const path of ["/admin/settings", "/admin/settings/messages", "/admin/settings/workflows"]) {
    for (const [name, v] of Object.entries(await ask(path, { method: "GET" }))) {
      if (typeof v !== "number") continue;
      assert.ok(name in formats.units[path], `${path} has ${name}, whose unit console/src/format.ts does not know`);
      const want = formats.anyFigure(path, name, v, "none");
      assert.match(
        text,
        new RegExp(`${name.replace(/[A-Z]/g, "$&")}\\s+${want.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(\\s|$)`, "i"),
        `${name} is ${v}`,
      );
    }
  }
  assert.match(text, /tenantMemoryPercent\s+50 %/i);
}

/** stepsAreTold selects each step of the SDK's run, and holds what is shown of it to the API. */
async function stepsAreTold(page, url, token, run) {
  const read = async () => {
    const r = await fetch(`${url}/v2/workflows/runs/${run}/steps`, { headers: { Authorization: `Bearer ${token}` } });
    assert.equal(r.status, 200);
    return (await r.json()).steps.flatMap((g) => g.steps);
  };
  const named = (list, name) => list.find((s) => s.stepName === name);
  const steps = await until(async () => {
    const list = await read();
    assert.ok(named(list, "an event")?.wait && named(list, "ninety")?.wakesAt && named(list, "three days")?.wakesAt);
    return list;
  }, "the block of the run");
  const facts = async (name) => {
    await page.getByRole("option").filter({ hasText: name }).click();
    const panel = page.locator(".fall-panel");
    await panel.locator("h3", { hasText: name }).waitFor();
    return Object.fromEntries(
      await panel
        .locator(".facts > div")
        .evaluateAll((list) => list.map((d) => [...d.children].map((c) => c.innerText))),
    );
  };
  const { msStamp } = formats;
  for (const [name, span] of [
    ["a blink", 1000],
    ["ninety", 90_000],
    ["three days", 3 * 86_400_000],
  ]) {
    const s = named(steps, name),
      told = await facts(name);
    assert.equal(s.wakesAt - s.createdAt, span, name);
    assert.equal(told["Sleeps until"], msStamp(s.wakesAt), name);
    assert.equal(told.Recorded, msStamp(s.createdAt), name);
  }
  const flaky = named(steps, "a flaky one"),
    tried = await facts("a flaky one");
  assert.equal(flaky.failures.length, 2);
  assert.equal(tried["Failed attempts"], "2 failed attempts");
  for (const [i, f] of flaky.failures.entries()) {
    assert.equal(f.status, 500);
    await page
      .locator(".fall-panel")
      .getByText(`attempt ${i + 1} fails`)
      .first()
      .waitFor();
  }
  assert.ok(flaky.failures[1].sentAt - flaky.failures[0].time >= 290, "the delay before the second attempt");
  const call = named(steps, "a call").call,
    told = await facts("a call");
  assert.equal(told.Answer, String(call.status));
  assert.equal(told.Calls, `${call.method} ${call.url}`);
  assert.equal(told.Answered, msStamp(call.answeredAt));
  const { wait } = named(steps, "an event"),
    waits = await facts("an event");
  assert.equal(wait.deadline - wait.since, 2 * 3_600_000);
  assert.equal(waits["Waits for"], "ev-truth");
  assert.equal(waits["Waits until"], msStamp(wait.deadline));
}

/** toldByCLI runs a command of the command line in a pipe, and returns what it prints. */
const toldByCLI = (args, url, token) =>
  execFileSync(process.env.TRIREME, args, {
    env: { ...process.env, TRIREME_URL: url, TRIREME_TOKEN: token, TRIREME_ADMIN_TOKEN: token, QSTASH_TOKEN: token },
    encoding: "utf8",
  });

/** toldAlike: page and command line say of the steps that are done how long the API says that they took. */
async function toldAlike(page, url, token, run) {
  const steps = JSON.parse(toldByCLI(["runs", "steps", run, "-o", "json"], url, token)),
    text = toldByCLI(["runs", "get", run], url, token);
  const read = await fetch(`${url}/v2/workflows/runs/${run}/steps`, { headers: { Authorization: `Bearer ${token}` } });
  const api = (await read.json()).steps.flatMap((g) => g.steps),
    rows = await page
      .locator(".fall-row")
      .evaluateAll((list) => list.map((r) => [...r.children].map((c) => c.innerText)));
  const done = api.filter((s) => s.endedAt !== undefined && s.stepId > 0);
  assert.ok(done.length >= 3, JSON.stringify(api));
  for (const s of done) {
    const took = s.endedAt - s.beganAt,
      row = rows.find(([name]) => name.trim() === s.stepName),
      line = text.split("\n").find((l) => l.includes(`  ${s.stepName}  `));
    assert.equal(row[1].trim(), formats.msSpan(took), `${s.stepName} in the page`);
    assert.equal(steps.find((x) => x.stepId === s.stepId).tookMs, took, `${s.stepName} in JSON`);
    const told = took < 1000 ? `${took} ms` : took < 10_000 ? `${(took / 1000).toFixed(2)} s` : null;
    assert.ok(told === null || line.includes(`  ${told}`), `${s.stepName}: ${took} ms is ${line}`);
  }
}

/** sdkRun runs the published SDK's sleep, call and wait, and reads the run's page. */
export async function sdkRun(page, url, token, to) {
  const sdk = new URL("../../clients/workflow/sdk.mjs", import.meta.url);
  if (!existsSync(new URL("../../clients/workflow/node_modules/@upstash/workflow", import.meta.url))) {
    console.log("  the workflow SDK is not installed: clients/setup.sh");
    return;
  }
  const { Client, MessagesClient, createWorkflow, serveMany } = await import(sdk);
  let tries = 0;
  const words = createWorkflow(async (context) => {
    await context.run("a flaky one", () => {
      if (++tries < 3) throw new Error(`attempt ${tries} fails`);
      return "at last";
    });
    await context.sleep("a blink", 1);
    await context.call("a call", { url: `${to}/good`, method: "POST", body: "x" });
    await Promise.all([
      context.sleep("three days", "3d"),
      context.sleep("ninety", 90),
      context.waitForEvent("an event", "ev-truth", { timeout: "2h" }),
    ]);
  });
  const { POST } = serveMany(
    { words },
    { qstashClient: new MessagesClient({ baseUrl: url, token, retry: false }), verbose: false },
  );
  let base;
  const server = createServer(async (req, res) => {
    const body = await bodyOf(req);
    if (body === null) return;
    const request = new Request(base + req.url, { method: req.method, headers: req.headers, body });
    const answer = await POST({ request, url: new URL(request.url) });
    res.writeHead(answer.status, Object.fromEntries(answer.headers));
    res.end(Buffer.from(await answer.arrayBuffer()));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  base = `http://127.0.0.1:${server.address().port}`;
  try {
    const { workflowRunId } = await new Client({ baseUrl: url, token, retry: false }).trigger({
      url: `${base}/words`,
      retries: 3,
      retryDelay: "300",
    });
    await page.go(`/runs?id=${workflowRunId}`);
    await stepsAreTold(page, url, token, workflowRunId);
    await toldAlike(page, url, token, workflowRunId);
    const text = await page.locator("main").innerText();
    assert.doesNotMatch(text, /Duration\s+\d+ ms so far/, text); // its first sleep took a second
    assert.doesNotMatch(text, /\b60 (s|min)\b|\b24 h\b|\d{3,} d\b/, text);
    clean(page, "the run of the SDK");
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** asksFirst: commands that take away more than they name ask, and INFO has lines. */
export async function asksFirst(page, ask) {
  const dialog = page.getByRole("dialog"),
    line = page.getByLabel("Command", { exact: true });
  const type = async (text) => {
    await line.fill(text);
    await page.keyboard.press("Enter");
  };
  await ask("/", { body: '["SET","stays","1"]' });
  await page.go("/cli");
  const readOnly = page.getByLabel("Read only");
  if (await readOnly.isChecked()) await readOnly.uncheck();
  for (const command of [
    "FLUSHALL",
    "flushdb async",
    "SCRIPT FLUSH",
    "FUNCTION FLUSH",
    "SWAPDB 0 1",
    "ACL DELUSER nobody-at-all",
  ]) {
    await type(command);
    await dialog.waitFor();
    assert.ok(
      await dialog.getByRole("button", { name: "Run the command" }).isDisabled(),
      `${command} runs without the name of the database`,
    );
    await accessible(page, command);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
  }
  assert.equal((await ask("/", { body: '["EXISTS","stays"]' })).result, 1);
  await line.fill("INFO server");
  await page.keyboard.press("Enter");
  const reply = page.locator(".reply", { hasText: "redis_version" });
  await reply.waitFor();
  const text = await reply.innerText();
  assert.ok(text.split("\n").length > 5 && !text.includes("u000d"), text);
  clean(page, "asks first");
}

/** shownOnce: no Esc, no click beside and no navigation closes the only view of a token. */
export async function shownOnce(page) {
  const dialog = page.getByRole("dialog");
  const stays = async (title) => {
    const token = await dialog.locator(".mono").first().innerText();
    for (let i = 0; i < 3; i++) await page.keyboard.press("Escape");
    await page.mouse.click(5, 5);
    page.mayStay = true;
    const asked = page.waitForEvent("dialog", (d) => d.type() === "beforeunload"); // the harness answers: stay
    await page.evaluate(() => history.back());
    await asked;
    page.mayStay = false;
    await page.keyboard.press("Escape");
    assert.equal(await dialog.locator(".mono").first().innerText(), token, `${title} is gone`);
    assert.equal(await dialog.getByRole("button", { name: "Close" }).count(), 0);
    await dialog.getByRole("button", { name: /^I saved/ }).click();
    await dialog.waitFor({ state: "detached" });
  };
  await page.go("/access");
  await page.getByRole("button", { name: "New database" }).click();
  await dialog.getByLabel("Name").fill("once");
  await page.mouse.click(5, 5); // what was typed stays
  assert.equal(await dialog.getByLabel("Name").inputValue(), "once");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("They are shown this once").waitFor();
  await stays("the tokens of a new database");
  await page.go("/access");
  await page.getByRole("row", { name: /once/ }).getByRole("button", { name: "Replace tokens" }).click();
  await dialog.locator("[data-sure]").fill("once");
  await dialog.getByRole("button", { name: "Replace the tokens" }).click();
  await dialog.getByText("They are shown this once").waitFor();
  await stays("the new tokens of a database");
  await page.go("/access?part=users");
  await page.getByRole("row", { name: /app/ }).getByRole("button", { name: "Token" }).click();
  await dialog.getByRole("button", { name: "Create it" }).click();
  await dialog.getByText("It is shown this once").waitFor();
  await stays("the token of a user");
  clean(page, "shown once");
}

/** allNodes: the rates of a cluster are those of its nodes together, on whichever node the page is. */
export async function allNodes(page, urls, token) {
  let on = true;
  const load = (async () => {
    while (on)
      await Promise.all(
        urls.map((u) =>
          fetch(`${u}/set/k/v`, { headers: { Authorization: `Bearer ${token}` } }).then(
            (r) => r.text(),
            () => {},
          ),
        ),
      );
  })();
  try {
    await page.go("/");
    await until(async () => {
      const [all, own] = await page.evaluate(() =>
        Promise.all(
          ["?of=cluster", ""].map((q) =>
            fetch(`api/admin/history${q}`, { headers: { "X-Console": "1", "X-Console-Poll": "1" } }).then((r) =>
              r.json(),
            ),
          ),
        ),
      );
      assert.deepEqual([...all.nodes].sort(), ["n1", "n2", "n3"]);
      assert.deepEqual(all.missing, []);
      const last = (h) => h.commands[h.commands.length - 1] ?? 0;
      assert.ok(last(own) > 1 && last(all) > 1.5 * last(own), `${last(all)} of all, ${last(own)} of this node`);
    }, "the commands of three nodes together");
  } finally {
    on = false;
    await load;
  }
  await page.go("/");
  await page.getByText("attempts of 3 nodes").waitFor();
  await page.getByText("on the slowest node", { exact: false }).first().waitFor();
}
