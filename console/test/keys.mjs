// Keys in lists, and many of them at once.
import assert from "node:assert/strict";
import { accessible, clean } from "./harness.mjs";

/** keysAtOnce selects keys, sets their expiry, deletes them: some, all that match, and half of them. */
export async function keysAtOnce(page, ask) {
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
  const seconds = dialog.getByLabel("Seconds from now");
  await seconds.press("Control+A"); // Firefox, driven, adds to what is in a field of numbers
  await seconds.pressSequentially("100000");
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
