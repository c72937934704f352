// The data workbench: keys in lists, many at once, values by their parts and formats, indexes, memory and time.
import assert from "node:assert/strict";
import { accessible, clean, open, section, signIn, until } from "./harness.mjs";

/** keysAtOnce selects keys, sets their expiry, deletes them: some, all that match, and half of them. */
async function keysAtOnce(page, ask) {
  const dialog = page.getByRole("dialog");
  const one = async (...argv) => (await ask("/", { body: JSON.stringify(argv) })).result;
  const rows = Array.from({ length: 1500 }, (_, i) =>
    i % 3 ? ["SET", `many:${i}`, "v", "EX", "5000"] : ["HSET", `many:${i}`, "f", "v"],
  );
  await ask("/pipeline", { body: JSON.stringify(rows) });
  const left = async () => (await one("KEYS", "many:*")).length;

  await page.go("/data?prefix=many:");
  const foot = page.locator(".tree-foot");
  await foot.getByText(/^more than [\d,]+, \d+ % of the database looked at$/).waitFor();
  await foot.getByRole("button", { name: "Count them" }).click();
  await foot.getByText("1,500 keys match").waitFor();
  await foot.getByRole("button", { name: "Load more keys" }).click();
  await foot.getByText("1,500 keys, all of them").waitFor();
  const row = (name) => page.locator(".leaf-row", { has: page.getByRole("checkbox", { name, exact: true }) });
  await row("Select many:0").locator(".ttl", { hasText: "no expiry" }).waitFor();
  assert.deepEqual(await row("Select many:0").locator("small").allInnerTexts(), [
    "hash",
    "no expiry",
    `${await one("MEMORY", "USAGE", "many:0")} B`,
  ]);
  await row("Select many:1").locator(".ttl", { hasText: "1 h 23 min" }).waitFor();
  await accessible(page, "a list of 1,500 keys");

  // many:0, many:1, many:10 and many:100 stand in this order.
  await page.getByRole("checkbox", { name: "Select many:0", exact: true }).click();
  await page.getByRole("checkbox", { name: "Select many:100", exact: true }).click({ modifiers: ["Shift"] });
  await page.getByText("4 selected").waitFor();
  await page.getByRole("button", { name: "Set expiry" }).click();
  await dialog.getByText("4 keys of database default").waitFor();
  await dialog.getByText("1 hash, 3 strings").waitFor();
  await dialog.getByLabel("Seconds from now").fill("100000");
  await dialog.getByText("They are deleted 1 d 4 h from now. 3 of them have an expiry, which is replaced.").waitFor();
  await accessible(page, "the preview of an expiry");
  await dialog.getByRole("button", { name: "Expire 4 keys" }).click();
  await dialog.getByText("Set the expiry of 4 keys.").waitFor();
  await dialog.getByRole("button", { name: "Close", exact: true }).last().click();
  assert.ok((await one("TTL", "many:0")) > 90000 && (await one("TTL", "many:100")) > 90000);
  assert.ok((await one("TTL", "many:1000")) <= 5000, "a key that was not selected has its expiry");

  await page.getByRole("checkbox", { name: "Select many:1", exact: true }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await dialog.getByRole("button", { name: "Delete 1 key" }).waitFor();
  assert.equal(await left(), 1500, "nothing is deleted before somebody agrees");
  await dialog.locator(".sample li", { hasText: "many:1" }).waitFor();
  await dialog.getByRole("button", { name: "Delete 1 key" }).click();
  await dialog.getByText("Deleted 1 key.").waitFor();
  await dialog.getByRole("button", { name: "Close", exact: true }).last().click();
  assert.equal(await one("EXISTS", "many:1"), 0);

  // Stopped while the first 500 are being deleted.
  await page.getByRole("button", { name: "Delete all that match" }).click();
  await dialog.getByRole("button", { name: "Delete 1,499 keys" }).waitFor();
  assert.ok(await dialog.getByRole("button", { name: "Delete 1,499 keys" }).isDisabled());
  await dialog.locator("[data-sure]").fill("1,499");
  let held;
  const began = new Promise((done) => {
    held = done;
  });
  await page.route("**/api/pipeline", (route) =>
    route.request().postData()?.includes('"UNLINK"') ? held(route) : route.continue(),
  );
  await dialog.getByRole("button", { name: "Delete 1,499 keys" }).click();
  const route = await began;
  await dialog.getByRole("button", { name: "Stop" }).click();
  await route.continue();
  await dialog.getByText("Deleted 500 keys. Stopped: the other keys are as they were.").waitFor();
  await page.unroute("**/api/pipeline");
  assert.equal(await left(), 999);
  await dialog.getByRole("button", { name: "Close", exact: true }).last().click();

  await page.getByRole("button", { name: "Delete all that match" }).click();
  await dialog.locator("[data-sure]").fill("999");
  await dialog.getByRole("button", { name: "Delete 999 keys" }).click();
  await dialog.getByText("Deleted 999 keys.").waitFor();
  assert.equal(await left(), 0);
  assert.equal(await one("EXISTS", "greeting"), 1, "other keys stay");
  await dialog.getByRole("button", { name: "Close", exact: true }).last().click();
  await page.getByText("No key matches").waitFor();
  clean(page, "many keys at once");
}

/** restricted: who may not list keys opens one by its name, and who may not ask for sizes sees the others' figures. */
async function restricted({ url, node, ask }) {
  const p = await open(`${url}/console/`);
  await signIn(p, { token: node.value("UPSTASH_REDIS_REST_READONLY_TOKEN") });
  await p.go("/data");
  await p.getByText("Your credential may not list keys").waitFor();
  await accessible(p, "data for who may not list keys");
  await p.getByLabel("Name of a key").fill("profile:1");
  await p.getByRole("button", { name: "Open" }).click();
  await p.locator("main td", { hasText: "Ann" }).waitFor();
  for (const path of [
    "/analysis",
    "/analysis?part=biggest",
    "/analysis?part=slow",
    "/indexes",
    "/scripts?part=functions",
  ]) {
    await p.go(path);
    await p.getByText("Your credential does not open this").first().waitFor();
    await accessible(p, `${path} for who may only read`);
  }
  clean(p, "data for who may not list keys");
  await p.context().close();

  await ask("/pipeline", {
    body: '[["ACL","SETUSER","lister","on",">a long password","~order:*","+@read","+@connection","-memory|usage"]]',
  });
  const q = await open(`${url}/console/`);
  await signIn(q, { user: "lister", password: "a long password" });
  await q.go("/data?match=order:1");
  const row = q.locator(".leaf-row", { hasText: "order:1" });
  await until(
    async () => assert.deepEqual(await row.locator("small").allInnerTexts(), ["string", "no expiry", "–"]),
    "a size that is not known",
  );
  await row.getByRole("link").click();
  await q.locator(".key-name", { hasText: "order:1" }).waitFor();
  assert.doesNotMatch(await q.locator("main .page-head").last().innerText(), /\d B/);
  clean(q, "data for who may not ask for sizes");
  await q.context().close();
  await ask("/", { body: '["ACL","DELUSER","lister"]' });
}

/** within filters and sorts what is inside values, a page at a time. */
async function within(page, ask) {
  const main = page.locator("main"),
    rows = main.locator(".rows tbody tr");
  const numbers = Array.from({ length: 1200 }, (_, i) => i);
  await ask("/pipeline", {
    body: JSON.stringify([
      ["HSET", "in:hash", ...numbers.flatMap((i) => [`field-${i}`, String(5000 - i)]), "long", "x".repeat(50000)],
      ["SADD", "in:set", ...numbers.map((i) => `member-${i}`)],
      ["ZADD", "in:zset", ...numbers.flatMap((i) => [String(i * 2), `m${i}`])],
      ["RPUSH", "in:list", ...numbers.map((i) => `e${i}`)],
      ...numbers.slice(0, 120).map((i) => ["XADD", "in:stream", `${1764160000000 + i * 60000}-0`, "n", String(i)]),
    ]),
  });
  let asked = [];
  page.on("request", (r) => asked.push(r.postData() ?? ""));
  const filter = async (label, text) => {
    await main.getByLabel(label, { exact: true }).fill(text);
    await main.getByRole("button", { name: "Filter" }).click();
  };
  const listed = (n) =>
    until(async () => {
      const further = main.getByRole("button", { name: /^(Load more|Look further)$/ }); // a search ends after a moment
      if (n < 100 && (await further.isEnabled({ timeout: 10 }).catch(() => false))) await further.click();
      assert.equal(await main.getByText(new RegExp(`; ${n} listed$`)).count(), 1);
    }, `${n} listed`);
  const first = async (want) =>
    until(async () => assert.equal((await rows.first().innerText()).split("\n")[0].split("\t")[0].trim(), want), want);

  await page.go("/data?key=in:hash");
  await main.getByText(/^1,201 fields; 1\d\d listed$/).waitFor();
  await filter("Field", "field-11?");
  await listed(10);
  await main.getByLabel("Sort what is loaded").selectOption("Value");
  await first("field-119");
  await filter("Field", "long");
  await rows.filter({ hasText: "48.8 KB, not loaded" }).waitFor();
  assert.ok(
    !asked.some((a) => a.includes("HGETALL") || a.includes('"HGET",')),
    "a long value is loaded when it is looked at",
  );
  await rows.getByRole("button", { name: "View" }).click();
  await page.getByRole("dialog").getByText("48.8 KB").waitFor();
  await page.keyboard.press("Escape");
  await filter("Field", "nothing like it");
  await main.getByText("No field matches").waitFor();

  await page.go("/data?key=in:set");
  await filter("Member", "member-77");
  await listed(11);
  await page.go("/data?key=in:zset");
  await main.getByLabel(/^Order/).selectOption("Highest score first");
  await first("2398");
  await filter("Score to", "100");
  await first("100");
  await listed(51);
  await filter("Member", "m4");
  await listed(11);
  await page.go("/data?key=in:list");
  await main.getByLabel(/^From/).selectOption("The tail");
  await first("1199");
  await main.getByRole("button", { name: "Load more" }).click();
  await listed(200);
  await filter("Leave out the first", "1150");
  await first("49");
  await listed(50);
  await page.go("/data?key=in:stream");
  await first("1764167140000-0");
  await main.getByLabel(/^Order/).selectOption("Oldest first");
  await filter("To", "1764160120000");
  await listed(3);
  asked = [];
  await filter("From", "soon");
  await main.getByText("is neither an id nor a time").waitFor();
  await accessible(page, "a filter that can't be read");
  await ask("/", { body: '["DEL","in:hash","in:set","in:zset","in:list","in:stream"]' });
  clean(page, "within values");
}

/** formatted shows values in their formats, and edits JSON in an editor that says what is wrong. */
async function formatted(page, ask) {
  const main = page.locator("main"),
    code = main.locator(".code pre");
  const raw = (key, b) =>
    ask("/", {
      headers: { "Content-Type": "application/octet-stream" },
      body: Buffer.concat([
        Buffer.from(`["SET","${key}","`),
        ...b.map((x) => (x < 32 ? Buffer.from(`\\u00${x.toString(16).padStart(2, "0")}`) : Buffer.from([x]))),
        Buffer.from('"]'),
      ]),
    });
  await raw("fmt:msgpack", [0x82, 0xa1, 0x61, 0x01, 0xa1, 0x62, 0xc3]);
  await raw("fmt:protobuf", [0x0a, 0x03, 0xff, 0xfe, 0xfd, 0x10, 0x96, 0x01]);
  await ask("/", { body: JSON.stringify(["SET", "fmt:base64", Buffer.from('{"inner":true}').toString("base64")]) });
  await ask("/", { body: JSON.stringify(["SET", "fmt:json", '{"id":12345678901234567890,"list":[1]}']) });
  const shows = async (key, format, want) => {
    await page.go(`/data?key=${key}`);
    if (format) await main.getByRole("button", { name: format, exact: true }).click();
    await until(async () => assert.equal((await code.innerText()).trim(), want), `${key} as ${format}`);
  };
  await shows("fmt:msgpack", "", '{\n  "a": 1,\n  "b": true\n}');
  await shows("fmt:protobuf", "", "1: <bytes 3 fffefd>\n2: 150");
  await shows("fmt:base64", "", Buffer.from('{"inner":true}').toString("base64"));
  await shows("fmt:base64", "Base64", '{\n  "inner": true\n}');
  await shows("fmt:json", "", '{\n  "id": 12345678901234567890,\n  "list": [\n    1\n  ]\n}');
  await main.getByRole("button", { name: "MessagePack" }).click();
  await main.getByText("This value is not MessagePack").waitFor();
  await accessible(page, "a value in a format that it does not have");

  await page.go("/data?key=doc");
  await main.getByRole("button", { name: "Edit" }).click();
  const editor = main.locator(".cm-content");
  await editor.waitFor();
  await accessible(page, "the editor of JSON");
  assert.equal(await editor.getAttribute("aria-label"), "JSON");
  await editor.click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type('{"a":');
  await main.getByText("This is not JSON yet").waitFor();
  await main.locator(".cm-lint-marker-error").waitFor();
  assert.ok(await main.getByRole("button", { name: "Save" }).isDisabled());
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type('{"edited":[1,2]}');
  await main.getByRole("button", { name: "Save" }).click();
  await until(
    async () => assert.equal((await ask("/", { body: '["JSON.GET","doc"]' })).result, '{"edited":[1,2]}'),
    "the edited document",
  );
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  await main.getByRole("button", { name: "Edit" }).click();
  await editor.waitFor();
  await accessible(page, "the editor in the dark");
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await ask("/", { body: JSON.stringify(["JSON.SET", "doc", "$", '{"a":[1,2,{"b":null}],"s":"text"}']) });
  clean(page, "formats, and the editor"); // no policy was violated
}

/** indexes shows search and vector indexes, asks them, and explains a filter. */
async function indexes(page, ask) {
  const main = page.locator("main");
  const docs = Array.from({ length: 30 }, (_, i) => [
    "JSON.SET",
    `product:${i}`,
    "$",
    JSON.stringify({ title: `Blue boat ${i}`, price: i, brand: i % 3 ? "oar" : "sail" }),
  ]);
  await ask("/pipeline", { body: JSON.stringify(docs) });
  const create = "SEARCH.CREATE products ON JSON PREFIX 1 product: SCHEMA title TEXT price F64 FAST brand KEYWORD";
  for (const line of [
    create,
    "SEARCH.ALIASADD shop products",
    "SEARCH.WAITINDEXING products",
    "VECTOR.CREATE vec DIM 2 METRIC COSINE",
    "VECTOR.ADD vec east VALUES 2 1 0",
    "VECTOR.ADD vec north VALUES 2 0 1",
  ])
    await ask("/", { body: JSON.stringify(line.split(" ")) });
  await page.go("/indexes");
  const row = main.getByRole("region", { name: "Search indexes" }).locator("tbody tr");
  assert.match((await row.innerText()).replace(/\s+/g, " "), /^products 30 [\d.]+ KB ready JSON product: shop$/);
  const vectors = main.getByRole("region", { name: "Vector indexes" });
  await until(async () => assert.match(await vectors.locator("tbody tr").innerText(), /vec\s+2/), "the vectors");
  await accessible(page, "indexes");

  await row.getByRole("link").click();
  const filter = main.locator(".cm-content");
  await filter.waitFor();
  const type = async (text) => {
    await filter.click();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type(text);
  };
  const go = () => main.getByRole("button", { name: "Run the query" }).click();
  await type('{"title":"boat","brand":"sail","price":{"$gt":9}}');
  await main.getByLabel(/^Order/).selectOption("price, highest first");
  await go();
  await main.getByText("6 documents match").waitFor();
  const found = main.getByRole("region", { name: "Documents" }).locator("tbody tr");
  assert.deepEqual(
    (await found.locator("a").allInnerTexts()).map((k) => k.trim()),
    [27, 24, 21, 18, 15, 12].map((n) => `product:${n}`),
  );
  await main.getByRole("button", { name: "Explain" }).click();
  const lines = main.getByRole("region", { name: "Conditions" }).locator("tbody tr");
  await lines.nth(3).waitFor();
  assert.deepEqual(
    (await lines.allInnerTexts()).map((l) => l.split(/\s+/).slice(-3).join(" ")),
    ["6 20 %", "30 100 %", "10 33 %", "20 67 %"],
  );
  await accessible(page, "the query bench");
  await type("{}");
  await go();
  await main.getByText("30 documents match").waitFor();
  await main.getByRole("button", { name: "Load more" }).click();
  await until(async () => assert.equal(await found.count(), 30), "all documents");
  await type('{"nothing":1}');
  await go();
  await main.getByText("Unknown field: nothing").waitFor();

  await page.go("/indexes?vectors=vec");
  await main.getByLabel("To the vector of an id").fill("east");
  await main.getByRole("button", { name: "Find" }).click();
  const near = main.getByRole("region", { name: "Vectors" }).locator("tbody tr");
  await until(async () => assert.equal(await near.count(), 2), "the nearest vectors");
  assert.match(await near.first().innerText(), /east\s+1/);
  await accessible(page, "nearest vectors");
  await page.go("/indexes?search=none");
  await main.getByText("There is no index of this name").waitFor();
  await ask("/pipeline", {
    body: JSON.stringify([
      ["SEARCH.DROP", "products"],
      ["SEARCH.ALIASDEL", "shop"],
      ["DEL", "vec"],
      ["DEL", ...docs.map((d) => d[1])],
    ]),
  });
  clean(page, "indexes");
}

/** load shows what takes memory and time: its sums are those of the server. */
async function load(page, ask) {
  const main = page.locator("main");
  const one = async (...argv) => (await ask("/", { body: JSON.stringify(argv) })).result;
  const rows = Array.from({ length: 300 }, (_, i) => ["SET", `mem:${i % 3 ? "a" : "b"}:${i}`, "x".repeat(1000)]);
  await ask("/pipeline", { body: JSON.stringify(rows) });
  let all = 0;
  for (const key of await one("KEYS", "mem:*")) all += await one("MEMORY", "USAGE", key);
  await page.go("/analysis");
  const table = main.getByRole("region", { name: "Memory by prefix" }).locator("tbody tr");
  const mem = table.filter({ has: page.getByRole("link", { name: "mem:", exact: true }) });
  await mem.waitFor();
  await main.getByText(/, all of them$/).waitFor();
  const { formats } = await import("./formats.mjs");
  const cells = async (r) => (await r.locator("td").allInnerTexts()).map((t) => t.trim());
  assert.deepEqual(
    (await cells(mem)).filter((_, i) => i === 1 || i === 3),
    [formats.bytes(all), "300"],
  );
  await accessible(page, "memory by prefix");
  await mem.getByRole("link", { name: "mem:", exact: true }).click();
  await main.getByText(/^300 keys, .*, all of them$/).waitFor();
  assert.deepEqual(
    await Promise.all([0, 1].map(async (i) => (await cells(table.nth(i))).filter((_, n) => n === 0 || n === 3))),
    [
      ["mem:a:", "200"],
      ["mem:b:", "100"],
    ],
  );
  await main.getByRole("link", { name: "List" }).first().click();
  await main.locator(".tree-foot", { hasText: "200 keys, all of them" }).waitFor();

  await page.go("/analysis?part=biggest");
  await main.getByText(/looked at, all of them$/).waitFor();
  assert.match(await main.locator("tbody tr").first().innerText(), /big\s+string\s+3\.0 MB/);
  await accessible(page, "the biggest keys");
  await page.go("/analysis?part=hot");
  await main.getByRole("button", { name: "Start counting" }).click();
  const hot = main.getByRole("region", { name: "Hot keys" }).locator("tbody tr");
  await until(async () => {
    await ask("/pipeline", { body: '[["GET","mem:a:1"],["GET","mem:a:1"],["MSET","mem:a:2","x","mem:a:4","x"]]' });
    assert.ok((await hot.count()) >= 3);
  }, "the hot keys");
  assert.match(await hot.first().innerText(), /^mem:a:1\s+\d+\s+[\d.]+\/s\s+GET$/);
  await accessible(page, "the hot keys");
  await main.getByRole("button", { name: "Stop counting" }).click();
  await main.getByText("not counting").waitFor();
  await page.go("/analysis?part=slow");
  await accessible(page, "the slow log");
  await ask("/", { body: JSON.stringify(["DEL", ...rows.map((r) => r[1])]) });
  clean(page, "memory and load");
}

/** scripts runs a script that reads, one that must not write, and keeps a library. */
async function scripts(page, ask) {
  const main = page.locator("main"),
    dialog = page.getByRole("dialog");
  await page.go("/scripts");
  await main.locator(".cm-content").waitFor();
  await main.getByLabel("Keys, one a line").fill("greeting");
  await main.getByRole("button", { name: "Run the script" }).click();
  await main.locator(".reply.str", { hasText: '"hello"' }).waitFor();
  const type = async (where, text) => {
    await where.locator(".cm-content").click();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.insertText(text);
  };
  await type(main, 'return redis.call("SET", KEYS[1], ARGV[1])');
  await main.getByLabel("Arguments, one a line").fill("changed");
  await main.getByRole("button", { name: "Run the script" }).click();
  await main.locator(".reply.err").waitFor();
  assert.equal((await ask("/", { body: '["GET","greeting"]' })).result, "hello", "a script that may only read writes");
  await main.getByLabel("Read only: a script").uncheck();
  await accessible(page, "scripts");
  await main.getByRole("button", { name: "Run the script" }).click();
  await main.locator(".reply.status", { hasText: "OK" }).waitFor();
  assert.equal((await ask("/", { body: '["GET","greeting"]' })).result, "changed");
  await ask("/", { body: '["SET","greeting","hello"]' });

  await page.go("/scripts?part=functions");
  await main.getByRole("button", { name: "New library" }).click();
  await dialog.locator(".cm-content").waitFor();
  await accessible(page, "a new library");
  await type(dialog, "no library");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByRole("alert").waitFor();
  await type(dialog, '#!lua name=greet\nredis.register_function("hi", function() return "hi" end)');
  await dialog.getByRole("button", { name: "Save" }).click();
  await main.locator("tbody tr", { hasText: "greet" }).waitFor();
  assert.equal((await ask("/", { body: '["FCALL","hi","0"]' })).result, "hi");
  await main.getByRole("button", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await main.getByText("No library of functions").waitFor();
  clean(page, "scripts");
}

/** workbench tries all parts, or those of some names. */
export async function workbench(page, c, only = "") {
  for (const [name, part] of [
    ["many keys at once", () => keysAtOnce(page, c.ask)],
    ["what is inside values", () => within(page, c.ask)],
    ["formats and the editor", () => formatted(page, c.ask)],
    ["search and vector indexes", () => indexes(page, c.ask)],
    ["memory and load", () => load(page, c.ask)],
    ["scripts", () => scripts(page, c.ask)],
    ["rights to keys", () => restricted(c)],
  ]) {
    if (!name.includes(only)) continue;
    section(`  ${name}`);
    await part();
  }
}
