// Tables: the head stays, a column keeps the width that it was dragged to, rows are low if somebody likes that.
import assert from "node:assert/strict";
import { clean, until } from "./harness.mjs";

export async function tables(page, { ask, to }) {
  for (let i = 0; i < 40; i++) await ask(`/v2/publish/${to}/good`, { headers: { "Svc-Delay": "1h" }, body: String(i) });
  await page.go("/messages");
  const rows = page.getByRole("region", { name: "Messages", exact: true }),
    head = rows.locator("th", { hasText: "Destination" }),
    cell = rows.locator("td").first();
  await until(async () => assert.ok((await rows.locator("tbody tr").count()) >= 40), "the messages");
  const top = (await head.boundingBox()).y;
  await rows.evaluate((e) => {
    e.scrollTop = 300;
  });
  assert.ok((await rows.evaluate((e) => e.scrollTop)) > 100, "the table scrolls");
  assert.ok(Math.abs((await head.boundingBox()).y - top) < 1, "the head has moved");

  const before = await cell.evaluate((e) => e.offsetHeight);
  await page.getByRole("button", { name: "Rows: roomy" }).click();
  assert.ok((await cell.evaluate((e) => e.offsetHeight)) < before, "rows are as high as before");
  await page.getByRole("button", { name: "Rows: dense" }).click();

  await rows.evaluate((e) => e.scrollIntoView({ block: "center" }));
  const box = await head.boundingBox(),
    at = { x: box.x + box.width - 4, y: box.y + box.height / 2 };
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x - 80, at.y, { steps: 4 });
  await page.mouse.up();
  const width = async () => Math.round((await head.boundingBox()).width);
  const dragged = await width();
  assert.ok(Math.abs(dragged - (box.width - 80)) <= 2, `${box.width} became ${dragged}`);
  await page.go("/runs");
  await page.go("/messages");
  await head.waitFor();
  assert.equal(await width(), dragged);
  await head.locator(".grip").dblclick();
  await until(async () => assert.notEqual(await width(), dragged), "the width that the browser gives");
  clean(page, "tables");
}
