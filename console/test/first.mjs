// A node without anything: each view says what its things are, and how the first one is made.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { accessible, clean, open, signIn, start, until } from "./harness.mjs";

const sh = promisify(execFile);

/** firsts are the views that are empty on a new node, with what each offers: a button, code, a command. */
const firsts = [
  ["/data", "Write the first key", "New key", "Keyspace", "greeting"],
  ["/messages", "No messages yet", "Publish a message", "Messages", "https://example.com/orders"],
  ["/dead", "No dead letters"],
  ["/dead?of=runs", "No dead letters"],
  ["/queues", "There are no queues", "Create the first queue", "Messages", "emails"],
  ["/flow", "No key is in use", "", "Messages", "orders"],
  ["/schedules", "There are no schedules", "Create the first schedule", "Messages", "daily-report"],
  ["/groups", "There are no URL groups", "Create the first group", "Messages", "order-events"],
  ["/runs", "No workflow has run yet", "Start the first run", "Workflows"],
  ["/triggers", "There are no triggers", "Create the first trigger", "Keyspace", "orders"],
];

/** emptyViews looks at each view, follows what it offers, and types the command that it shows. */
export async function emptyViews() {
  const dev = await start(
    ["dev", "--port", "0", "--resp", "off", "--log-level", "error", "--quiet", "--egress-proxy", "http://127.0.0.1:1"],
    /#enter=\S+\n/,
  );
  const url = dev.value("TRIREME_URL"),
    admin = dev.value("TRIREME_ADMIN_TOKEN"),
    env = { ...process.env, TRIREME_URL: url, TRIREME_ADMIN_TOKEN: admin };
  const page = await open(`${url}/console/`);
  await signIn(page, { token: admin });
  for (const [path, title, act, service] of firsts) {
    await page.go(path);
    const main = page.locator("main");
    await main.getByRole("heading", { name: title }).waitFor();
    await accessible(page, path);
    if (act) {
      await main.locator(".empty").getByRole("button", { name: act }).click();
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    if (!service) continue;
    await main.getByRole("link", { name: "Variables and code for an app" }).click();
    await page.waitForURL((u) => u.pathname.endsWith("/connect") && u.searchParams.get("service") === service);
    await page.getByRole("region", { name: "Variables" }).waitFor();
  }
  for (const [path, title, , , made] of firsts.filter((f) => f[4])) {
    await page.go(path);
    const command = await page.locator("main .first pre").innerText();
    assert.match(command, /^trireme /);
    await sh("sh", ["-c", command.replace(/^trireme/, '"$TRIREME"')], { env });
    await until(async () => {
      await page.go(path);
      await page.locator("main").getByText(made, { exact: false }).first().waitFor({ timeout: 1000 });
      assert.equal(await page.getByRole("heading", { name: title }).count(), 0);
    }, `${path} has what the command makes`);
  }
  clean(page, "empty views");
  await page.context().close();
}
