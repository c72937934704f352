// Drives the console in Chromium. TRIREME is the binary, CHROMIUM the browser; with
// SCREENSHOTS, a folder, the pictures of docs/console.md are made.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { accessible, clean, end, open, row, section, settled, signIn, start, until } from "./harness.mjs";
import { hostileViews } from "./hostile.mjs";
import { startProvider } from "./provider.mjs";
import { allNodes, asksFirst, figuresAreKnown, sdkRun, shownOnce } from "./truth.mjs";

// reload asks for the view again, unless the page has noticed by itself that its session has ended: then the button is gone.
const reload = (p) =>
  p
    .getByRole("button", { name: "Reload" })
    .click({ timeout: 5_000 })
    .catch(() => {});

let failed;
try {
  // A destination of deliveries: what begins with /bad is refused.
  const sink = createServer((q, r) => {
    q.resume();
    r.statusCode = q.url.startsWith("/bad") ? 500 : 200;
    r.end("taken");
  });
  await new Promise((done) => sink.listen(0, "127.0.0.1", done));
  sink.unref();
  const to = `http://127.0.0.1:${sink.address().port}`;

  section("one node");
  const people = await startProvider({ email: "ann@example.com", groups: ["<b>ops</b>"] });
  const watcher = "a token that reads messages",
    signOn = [
      "--oidc-issuer",
      people.url,
      "--oidc-client-id",
      "console",
      "--oidc-roles",
      "<b>ops</b>=admin,devs=readonly:default",
    ];
  const node = await start(
    ["dev", "--port", "0", "--resp", "off", "--log-level", "error", "--max-request-size", "12MiB", ...signOn],
    /#enter=\S+\n/,
    { TRIREME_MESSAGES_READONLY_TOKEN: watcher },
  );
  const url = node.value("TRIREME_URL"),
    admin = node.value("TRIREME_ADMIN_TOKEN"),
    standard = node.value("UPSTASH_REDIS_REST_TOKEN");
  const ask = async (path, { token = admin, ...o } = {}) => {
    const r = await fetch(url + path, {
      method: "POST",
      ...o,
      headers: { Authorization: `Bearer ${token}`, ...o.headers },
    });
    const text = await r.text();
    assert.ok(r.ok, `${path}: ${r.status} ${text}`);
    return text ? JSON.parse(text) : null;
  };
  const hostile = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>\u202e\u0000/a/';
  await ask("/pipeline", {
    body: JSON.stringify([
      ["SET", "greeting", "hello"],
      ["SET", "order:1", '{"item":"book"}'],
      ["SET", "order:2", "x"],
      ["HSET", "profile:1", "name", "Ann", "city", "Bonn"],
      ["HEXPIRE", "profile:1", "900", "FIELDS", "1", "city"],
      ["RPUSH", "jobs", "a", "b", "c"],
      ["SADD", "tags", "x", "y"],
      ["ZADD", "board", "1", "ann", "2", "bob"],
      ["XADD", "events", "*", "kind", "start"],
      ["XGROUP", "CREATE", "events", "workers", "0"],
      ["XREADGROUP", "GROUP", "workers", "w1", "STREAMS", "events", ">"],
      ["JSON.SET", "doc", "$", '{"a":[1,2,{"b":null}],"s":"text"}'],
      ["PFADD", "visitors", "a", "b"],
      ["SETBIT", "bits", "7", "1"],
      ["SET", hostile, hostile],
      ["HSET", "evil", hostile, hostile],
      ["JSON.SET", "evil-json", "$", JSON.stringify({ [hostile]: hostile })],
      ["SET", "big", "x".repeat(3 << 20)],
      ["ACL", "SETUSER", "app", "on", ">a long password", "~order:*", "+@read", "+@connection"],
    ]),
  });
  await ask("/", {
    headers: { "Content-Type": "application/octet-stream" },
    body: Buffer.concat([Buffer.from('["SET","binary","'), Buffer.from([0xff, 0xfe, 0x80]), Buffer.from('"]')]),
  });
  await ask("/v2/queues", { body: JSON.stringify({ queueName: "mail", parallelism: 2 }) });
  await ask("/v2/topics/all/endpoints", {
    body: JSON.stringify({ endpoints: [{ url: `${to}/one`, name: "one" }, { url: `${to}/two` }] }),
  });
  await ask(`/v2/schedules/${to}/tick`, {
    headers: { "Svc-Cron": "0 9 * * *", "Svc-Schedule-Id": "daily" },
    body: "{}",
  });
  const sent = await ask(`/v2/publish/${to}/good`, {
    headers: { "Svc-Label": "<b>label</b>", "Svc-Forward-X-Evil": "<script>1</script>" },
    body: hostile,
  });
  await ask(`/v2/publish/${to}/bad`, {
    headers: { "Svc-Retries": "0", "Svc-Flow-Control-Key": "vendor", "Svc-Flow-Control-Value": "parallelism=1" },
    body: '{"order":1}',
  });
  const later = await ask(`/v2/publish/${to}/later`, { headers: { "Svc-Delay": "1h" } });
  const run = await ask(`/v2/trigger/${to}/flow`, { headers: { "Svc-Delay": "1h" }, body: '{"order":7}' });
  await until(async () => {
    const r = await fetch(`${url}/v2/dlq`, { headers: { Authorization: `Bearer ${admin}` } });
    assert.equal((await r.json()).messages.length, 1);
  }, "the dead letter");

  const page = await open(`${url}/console/`);
  await page.waitForSelector(".sign-in-card");
  assert.equal(await page.title(), "Sign in · Trireme");
  await accessible(page, "sign-in");
  await page.fill("input[name=token]", "wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").waitFor();
  assert.equal(page.faults.length, 1); // the browser reports the refusal
  page.faults = [];
  await signIn(page, { token: admin });
  const cookies = await page.context().cookies();
  assert.ok(cookies.every((c) => c.httpOnly && c.sameSite === "Strict"));

  section("every view, light and dark, wide and narrow");
  const keys = (k) => `/data?key=${encodeURIComponent(k)}`;
  const views = [
    "/",
    "/data",
    ...[
      "greeting",
      "order:1",
      "profile:1",
      "jobs",
      "tags",
      "board",
      "events",
      "doc",
      "visitors",
      "bits",
      "big",
      "evil",
      "evil-json",
      hostile,
      "none",
    ].map(keys),
    `/data?bytes=${btoa("binary")}`,
    "/data?prefix=order:",
    "/data?match=*e*&type=hash",
    "/cli",
    "/live",
    "/live?part=events",
    "/live?part=monitor",
    "/live?part=slow",
    "/live?part=clients",
    "/messages",
    "/messages?state=FAILED",
    `/messages?id=${sent.messageId}`,
    "/messages?id=msg_none",
    "/dead",
    "/dead?of=runs",
    "/queues",
    "/flow",
    "/schedules",
    "/groups",
    "/keys",
    "/runs",
    `/runs?id=${run.workflowRunId}`,
    "/cluster",
    "/access",
    "/access?part=users",
    "/access?part=settings",
    "/audit",
    "/nowhere",
  ];
  const short = new Set([
    "/",
    "/data",
    keys("profile:1"),
    keys("doc"),
    keys(hostile),
    "/cli",
    "/live",
    "/messages",
    `/messages?id=${sent.messageId}`,
    "/dead",
    "/queues",
    "/schedules",
    "/keys",
    "/runs",
    `/runs?id=${run.workflowRunId}`,
    "/cluster",
    "/access",
    "/access?part=users",
    "/audit",
  ]);
  const shots = {
    "/": "overview",
    "/cli": "command-line",
    [`/messages?id=${sent.messageId}`]: "message",
    [`/runs?id=${run.workflowRunId}`]: "run",
  };
  const shown = [
    ["light", 1440],
    ["dark", 390],
    ["dark", 1440],
    ["light", 390],
  ];
  for (const path of views) {
    for (const [theme, width] of shown) {
      const first = theme === "light" && width === 1440;
      if (!first && !(theme === "dark" && width === 390) && !short.has(path)) continue;
      const where = `${path.slice(0, 60)} ${theme} ${width}`;
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      await page.setViewportSize({ width, height: 900 });
      if (first) await page.go(path);
      clean(page, where);
      await accessible(page, where);
      assert.ok(
        await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1),
        `${where} is wider than the page`,
      );
      assert.equal(await page.evaluate(() => window.pwned), undefined, where);
      const picture = first
        ? shots[path]
        : theme === "dark" && width === 1440 && path === "/messages"
          ? "messages-dark"
          : theme === "dark" && width === 390 && path === "/"
            ? "overview-narrow"
            : null;
      if (process.env.SCREENSHOTS && picture) {
        const png = await page.screenshot({ path: join(process.env.SCREENSHOTS, `${picture}.png`) });
        assert.ok(png.length < 150000, `${picture}.png has ${png.length} bytes`);
      }
    }
  }
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await page.setViewportSize({ width: 1440, height: 900 });
  const phone = await open(`${url}/console/`, { theme: "dark", width: 390 });
  await signIn(phone, { token: admin });
  for (const path of ["/", "/data", "/messages", "/runs"]) {
    await phone.go(path);
    await accessible(phone, `opened on a phone: ${path}`);
    clean(phone, `opened on a phone: ${path}`);
  }
  await phone.context().close();

  section("acts");
  const dialog = page.getByRole("dialog");
  await page.go("/data");
  await page.getByRole("button", { name: "New key" }).click();
  await dialog.getByLabel("Name").fill("made:here");
  await dialog.getByLabel("Value").fill("first");
  await dialog.getByRole("button", { name: "Write" }).click();
  await page.locator(".key-name", { hasText: "made:here" }).waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  await page.locator("main textarea").fill("second ✓");
  await page.getByRole("button", { name: "Write" }).click();
  await until(
    async () => assert.equal((await ask("/", { body: '["GET","made:here"]' })).result, "second ✓"),
    "the edited value",
  );
  await page.getByRole("button", { name: "Delete" }).first().click();
  const drop = dialog.getByRole("button", { name: "Delete" });
  assert.ok(await drop.isDisabled(), "a key is deleted without its name");
  await dialog.locator("[data-sure]").fill("made:here");
  await drop.click();
  await until(
    async () => assert.equal((await ask("/", { body: '["EXISTS","made:here"]' })).result, 0),
    "the deleted key",
  );

  await page.go("/data?prefix=order:");
  await page.getByRole("button", { name: "Delete all that match" }).click();
  await dialog.getByText("2 at this moment").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });

  await page.go("/cli");
  await page.getByLabel("Command", { exact: true }).fill("hgeta");
  await page.getByRole("button", { name: "HGETALL" }).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.type("profile:1");
  await page.keyboard.press("Enter");
  await page.locator(".reply", { hasText: "Ann" }).waitFor();
  await page.getByLabel("Read only").check();
  await page.getByLabel("Command", { exact: true }).fill("SET k v");
  await page.keyboard.press("Enter");
  await page.getByText("The read-only switch is on").waitFor();
  await page.keyboard.press("ArrowUp");
  assert.equal(await page.getByLabel("Command", { exact: true }).inputValue(), "SET k v");
  assert.equal((await ask("/", { body: '["EXISTS","k"]' })).result, 0);

  await page.go("/live?part=monitor");
  await page.getByText("open", { exact: true }).waitFor();
  await ask("/", { body: '["SET","watched","1"]' });
  await page.locator(".lines", { hasText: "watched" }).waitFor();

  await page.go("/messages");
  await page.getByRole("button", { name: "Publish" }).click();
  await dialog.getByPlaceholder("https://example.com/hook").fill(`${to}/from-the-form`);
  await dialog.locator("textarea").last().fill("{}");
  await dialog.getByRole("button", { name: "Publish" }).click();
  await page.locator(".timeline", { hasText: "DELIVERED" }).waitFor();

  section("run now");
  const runNow = page.getByRole("button", { name: "Run now" });
  await page.go(`/messages?id=${later.messageId}`);
  await runNow.click();
  await page.locator(".timeline", { hasText: "DELIVERED" }).waitFor();
  await runNow.waitFor({ state: "detached" });
  const workflow = async (id, path, headers) => {
    await ask("/v2/batch", {
      body: JSON.stringify([
        {
          destination: to + path,
          headers: {
            "Upstash-Workflow-Init": "true",
            "Upstash-Workflow-RunId": id,
            "Upstash-Workflow-Url": to + path,
            ...headers,
          },
          body: "{}",
        },
      ]),
    });
    return id;
  };
  const trying = await workflow("wfr_trying", "/bad/flow", {
    "Upstash-Retries": "3",
    "Upstash-Retry-Delay": "3600000",
  });
  await page.go(`/runs?id=${trying}`);
  await page.getByText("1 failed attempt", { exact: false }).first().waitFor();
  await runNow.click();
  await page.getByText("2 failed attempts", { exact: false }).first().waitFor();
  const asleep = await workflow("wfr_asleep", "/flow", {});
  await ask("/v2/batch", {
    body: JSON.stringify([
      {
        destination: `${to}/flow`,
        headers: {
          "Upstash-Workflow-Init": "false",
          "Upstash-Workflow-RunId": asleep,
          "Upstash-Workflow-Url": `${to}/flow`,
          "Upstash-Delay": "3600s",
        },
        body: JSON.stringify({ stepId: 1, stepName: "nap", stepType: "SleepFor", sleepFor: 3600, concurrent: 1 }),
      },
    ]),
  });
  await page.go(`/runs?id=${asleep}`);
  await page.locator(".step.info", { hasText: "nap" }).waitFor();
  await runNow.click();
  await page.locator(".step.good", { hasText: "nap" }).waitFor();
  await runNow.waitFor({ state: "detached" });

  await page.go("/dead");
  await page.getByRole("button", { name: "Retry all that match" }).click();
  await dialog.locator("[data-sure]").fill("1");
  await dialog.getByRole("button", { name: "Retry 1" }).click();
  await dialog.waitFor({ state: "detached" });

  await page.go("/queues");
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("paused", { exact: true }).waitFor();
  await page.go("/schedules");
  await page.getByRole("button", { name: "Next five" }).click();
  await until(async () => assert.equal(await dialog.locator("li").count(), 5), "the next five times");
  await page.go(`/runs?id=${run.workflowRunId}`);
  await page.getByRole("button", { name: "Cancel" }).click();
  await dialog.locator("[data-sure]").fill(run.workflowRunId);
  await dialog.getByRole("button", { name: "Cancel the run" }).click();
  await page.getByText("RUN_CANCELED", { exact: true }).waitFor();

  await page.go("/access");
  await page.getByRole("button", { name: "New database" }).click();
  await dialog.getByLabel("Name").fill("shop");
  await dialog.getByRole("button", { name: "Create" }).click();
  await dialog.getByText("They are shown this once").waitFor();
  await dialog.getByRole("button", { name: "I have them" }).click();
  await page.go("/data?db=shop");
  await page.getByText("0 keys in database shop").waitFor();
  await page.go("/audit");
  await page.getByText("create database").waitFor();
  const backup = page.waitForEvent("download");
  await page.go("/cluster");
  await page.getByRole("button", { name: "Download a backup" }).click();
  assert.ok(readFileSync(await (await backup).path()).length > 1000);
  clean(page, "acts");

  section("figures, questions, and what is shown once");
  await figuresAreKnown(page, ask);
  await sdkRun(page, url, admin, to);
  await asksFirst(page, ask);
  await shownOnce(page);

  section("roles: what a credential may not see is in no reply");
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
  const seesData = ["Data", "Command line", "Live", "Access"],
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
      sees: [...seesData.slice(0, 3), ...seesMail, "Cluster", "Access", "Audit log"],
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
    assert.deepEqual(await p.locator(".nav-group a").allTextContents(), ["Overview", ...role.sees]);
    for (const path of role.name === "admin" ? visited.filter((v) => short.has(v) || !views.includes(v)) : visited) {
      await p.go(path);
      assert.deepEqual(p.faults, [], `${role.name} ${path}`);
    }
    const waiting = await ask("/v2/logs?state=CREATED", { method: "GET" });
    for (const id of new Set(waiting.events.map((e) => e.messageId))) await p.go(`/messages?id=${id}`);
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

  section("hostile content");
  const brave = await open(`${url}/console/`);
  await signIn(brave, { token: admin });
  await hostileViews(brave, ask, to);
  await brave.context().close();

  section("single sign-on");
  const single = await open(`${url}/console/data?key=greeting`, {
    ignore: /Failed to load resource/,
    origins: [url, people.url],
  });
  await single.getByRole("link", { name: "Single sign-on" }).click();
  await single.locator(".key-name", { hasText: "greeting" }).waitFor(); // the view that was asked for
  assert.equal(await single.locator(".me b").textContent(), "ann@example.com");
  assert.ok(
    (await single.context().cookies(url)).every(
      (c) => c.httpOnly && /^trireme-console-[0-9a-f]{8}$/.test(c.name) && c.sameSite === "Strict",
    ),
  );
  await ask("/admin/tokens/admin/rotate", { body: '{"overlapMs":3600000}' }); // the console's sessions end with it, callers have an hour
  await reload(single);
  await single.waitForSelector(".sign-in-card");
  people.claims = { email: '<img src=x onerror="window.pwned=1">', groups: ["devs"] };
  await single.getByRole("link", { name: "Single sign-on" }).click();
  await single.waitForSelector(".shell");
  assert.equal(await single.locator(".me b").textContent(), people.claims.email);
  await single.getByRole("button", { name: "Sign out" }).click();
  people.claims = { email: "eve@example.com", groups: ["ops"] };
  await single.getByRole("link", { name: "Single sign-on" }).click();
  await single.getByText("none of your groups has a role here").waitFor();
  await accessible(single, "sign-in with single sign-on");
  clean(single, "single sign-on");

  section("sign-out and the link of dev");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForSelector(".sign-in-card");
  await page.context().addCookies(cookies); // a copy, as a thief would have
  await page.goto(`${url}/console/data`);
  await page.waitForSelector(".sign-in-card");
  const link = /http\S+#enter=\S+/.exec(node.out)[0];
  const linked = await open(link);
  await linked.waitForSelector(".shell");
  assert.ok(!linked.url().includes("enter="));
  clean(linked, "link");
  const again = await open(link, { ignore: /Failed to load resource/ });
  await again.waitForSelector(".sign-in-card");

  section("three nodes: the leader dies while views are open");
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
  await elsewhere.getByRole("dialog").getByRole("button", { name: "Write" }).click();
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
  console.log("ok");
} catch (e) {
  failed = e;
} finally {
  await end();
}
if (failed) {
  console.error(failed);
  process.exit(1);
}
process.exit(0);
