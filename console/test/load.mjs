// What takes memory and time.
import assert from "node:assert/strict";
import { accessible, clean, until } from "./harness.mjs";

/** load shows what takes memory and time: its sums are those of the server. */
export async function load(page, ask) {
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
