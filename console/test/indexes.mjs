// Search and vector indexes, and scripts.
import assert from "node:assert/strict";
import { accessible, clean, until } from "./harness.mjs";

/** indexes shows search and vector indexes, asks them, and explains a filter. */
export async function indexes(page, ask) {
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

/** scripts runs a script that reads, one that must not write, and keeps a library. */
export async function scripts(page, ask) {
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
