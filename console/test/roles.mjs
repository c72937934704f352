// Every role: which views it has, and that what its credential may not see is in no reply.
import assert from "node:assert/strict";
import { clean, open, reload, section, signIn } from "./harness.mjs";
import { keys, viewsOf } from "./views.mjs";

export async function everyRole(c) {
  const { node, url, to, watcher, admin, standard, ask } = c,
    { views, short } = viewsOf(c);
  const canary = (what) => `canary-of-${what}-7f3a`;
  await ask("/", { body: JSON.stringify(["SET", "private:1", canary("values")]) });
  await ask("/", { body: JSON.stringify(["SET", "order:3", canary("orders")]) });
  await ask(`/v2/publish/${to}/good`, {
    headers: { "Svc-Forward-X-Canary": canary("headers"), "Svc-Delay": "2h" },
    body: canary("bodies"),
  });
  await ask("/db/shop/", { body: JSON.stringify(["SET", "private:2", canary("tenants")]) });
  await ask("/admin/databases", { body: JSON.stringify({ name: canary("databases") }) });
  const keys1 = await ask("/v2/keys", { method: "GET" });
  const every = ["values", "orders", "headers", "bodies", "tenants", "databases"]
    .map(canary)
    .concat(keys1.current, keys1.next, "console sign-in");
  const data = [canary("values"), canary("orders")],
    mail = [canary("headers"), canary("bodies")];
  const seesData = ["Data", "Indexes", "Triggers", "Memory and load", "Scripts", "Command line", "Live", "Access"],
    seesMail = [
      "Messages",
      "Dead letters",
      "Queues",
      "Flow control",
      "Schedules",
      "URL groups",
      "Signing keys",
      "Runs",
    ];
  const roles = [
    {
      form: { token: admin },
      name: "admin",
      sees: [...seesData.slice(0, -1), ...seesMail, "Cluster", "Access", "Audit log"],
      gets: every.filter((c) => c !== canary("tenants")),
      may: [canary("tenants")],
    },
    { form: { token: standard }, name: "standard", sees: seesData, gets: data },
    {
      form: { token: node.value("UPSTASH_REDIS_REST_READONLY_TOKEN") },
      name: "read only",
      sees: seesData,
      refused: true,
      gets: data,
    },
    {
      form: { token: node.value("QSTASH_TOKEN") },
      name: "messages",
      sees: seesMail,
      gets: [...mail, keys1.current, keys1.next],
    },
    { form: { token: watcher }, name: "messages, read only", sees: seesMail, refused: true, gets: mail },
    {
      form: { user: "app", password: "a long password" },
      name: "app",
      sees: seesData,
      refused: true,
      gets: [canary("orders")],
    },
  ];
  const visited = [
    ...views.filter((v) => short.has(v) || !v.startsWith("/data")),
    keys("private:1"),
    keys("order:3"),
    "/messages?state=CREATED",
    "/data?db=shop&key=private:2",
  ];
  for (const role of roles) {
    const p = await open(`${url}/console/`, { ignore: /Failed to load resource/, bodies: true });
    section(`  ${role.name}`);
    await signIn(p, role.form);
    assert.equal(await p.locator(".me b").textContent(), role.name);
    assert.deepEqual(await p.locator(".nav-group a").allTextContents(), ["Overview", "Connect", ...role.sees]);
    for (const path of role.name === "admin" ? visited.filter((v) => short.has(v) || !views.includes(v)) : visited) {
      await p.go(path);
      assert.deepEqual(p.faults, [], `${role.name} ${path}`);
    }
    const waiting = await ask("/v2/logs?state=CREATED", { method: "GET" });
    for (const id of new Set(waiting.events.map((e) => e.messageId))) await p.go(`/messages?id=${id}`);
    await typed(p, role);
    await Promise.all(p.bodies);
    const got = every.filter((c) => p.replies.some((r) => r.text.includes(c)));
    assert.deepEqual(
      got.filter((c) => !role.may?.includes(c)).sort(),
      [...role.gets].sort(),
      `${role.name}: what is in its replies`,
    );
    const bad = p.replies.filter(
      (r) =>
        r.status < 300 &&
        ((!role.sees.includes("Cluster") && r.path.includes("/api/admin")) ||
          (!role.sees.includes("Messages") && r.path.includes("/api/v2/")) ||
          (!role.sees.includes("Data") && /\/api\/(pipeline)?$/.test(r.path))),
    );
    assert.deepEqual(bad, [], role.name);
    if (!role.refused)
      assert.deepEqual(
        p.replies
          .filter((r) => r.status >= 400 && r.path.includes("/api/"))
          .map((r) => `${r.path} ${r.status}`)
          .filter((x) => !x.includes("/messages/msg_")),
        [],
        role.name,
      );
    if (role.name === "app") {
      await p.go("/data?key=order:1");
      await ask("/", { body: '["ACL","DELUSER","app"]' });
      await reload(p);
      await p.waitForSelector(".sign-in-card");
      await p.getByText("Your session has ended: its credential opens nothing any more. Sign in again.").waitFor();
    }
    await p.context().close();
  }
}

/** typed types into the palette: whoever may not look for keys finds none, and nothing fails. */
async function typed(p, role) {
  p.faults = [];
  const looked = role.sees.includes("Data")
    ? p.waitForResponse((r) => r.request().postData()?.includes("no such key") ?? false)
    : null;
  await p.keyboard.press("Control+K");
  const dialog = p.getByRole("dialog", { name: "Go to" });
  await dialog.getByRole("combobox").fill("no such key");
  await looked;
  await dialog.getByRole("option").first().waitFor();
  await p.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  clean(p, `${role.name}: the palette`);
}
