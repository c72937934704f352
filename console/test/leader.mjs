// Three nodes, whose leader dies while views are open.
import assert from "node:assert/strict";
import { accessible, clean, open, row, settled, signIn, start, until } from "./harness.mjs";
import { allNodes } from "./truth.mjs";

export async function leaderDies(to) {
  const base = await row(),
    cluster = await start(
      [
        "local-cluster",
        "--http-port",
        base,
        "--cluster-port",
        base + 10,
        "--gossip-port",
        base + 20,
        "--resp-port",
        "0",
        "--log-level",
        "error",
      ].map(String),
      /An interrupt/,
    );
  const token = cluster.value("TRIREME_ADMIN_TOKEN"),
    at = (i) => `http://127.0.0.1:${base + i}`;
  const status = async (i) =>
    (await fetch(`${at(i)}/admin/cluster`, { headers: { Authorization: `Bearer ${token}` } })).json();
  const old = await until(async () => {
    const s = await status(0);
    assert.ok(s.leader);
    return s.leader;
  }, "a leader");
  const led = Number(old[1]) - 1,
    other = (led + 1) % 3;
  const views3 = await open(`${at(other)}/console/`, { ignore: /Failed to load resource/ });
  await signIn(views3, { token });
  for (const path of [
    "/",
    "/data",
    "/live",
    "/messages",
    "/dead",
    "/queues",
    "/runs",
    "/cluster",
    "/access",
    "/audit",
  ]) {
    await views3.go(path);
    await accessible(views3, `three nodes: ${path}`);
    clean(views3, `three nodes: ${path}`);
  }
  await allNodes(views3, [0, 1, 2].map(at), token);
  await views3.go("/");
  await views3.getByText("Rates, of all nodes together").waitFor();
  await views3.getByRole("combobox", { name: "Of" }).selectOption(old);
  await views3.getByText("Rates", { exact: true }).waitFor();
  await views3.go("/cluster");
  const elsewhere = await views3.context().newPage(); // the same cookie on another node
  await elsewhere.goto(`${at((led + 2) % 3)}/console/data`);
  await settled(elsewhere);
  const list = await views3.context().newPage();
  await list.goto(`${at(other)}/console/messages`);
  await settled(list);
  process.kill(Number(new RegExp(`${old} is process (\\d+)`).exec(cluster.out)[1]), "SIGKILL");
  await views3.getByText("unreachable", { exact: true }).waitFor({ timeout: 120000 });
  await views3.waitForFunction(
    (was) => {
      const t = document.querySelector(".page-head p")?.textContent ?? "";
      return /^n\d leads/.test(t) && !t.startsWith(was);
    },
    old,
    { timeout: 120000 },
  );
  await elsewhere.getByRole("button", { name: "New key" }).click();
  await elsewhere.getByRole("dialog").getByLabel("Name").fill("after");
  await elsewhere.getByRole("dialog").getByLabel("Value").fill("1");
  await elsewhere.getByRole("dialog").getByRole("button", { name: "Create the key" }).click();
  await elsewhere.locator(".key-name", { hasText: "after" }).waitFor();
  const call = await fetch(`${at(other)}/v2/publish/${to}/good`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Svc-Label": "after-the-leader" },
  });
  assert.ok(call.ok, await call.text());
  await list.locator("main", { hasText: "after-the-leader" }).waitFor({ timeout: 120000 });
  await views3.go("/");
  await views3.getByText(`${old} is missing: it is not reached`, { exact: false }).waitFor();
  clean(views3, "three nodes");
}
