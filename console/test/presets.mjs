// Ranges of time that filters offer by name: the URL holds them, and the list asks for them.
import assert from "node:assert/strict";
import { accessible, clean, section } from "./harness.mjs";

export async function presets(page) {
  section("ranges of time by name");
  const now = await page.evaluate(() => Date.now());
  const midnight = await page.evaluate(() => new Date().setHours(0, 0, 0, 0));
  for (const at of ["/messages", "/dead", "/runs"]) {
    await page.go(`${at}?label=none&toDate=1`);
    for (const [name, from] of [
      ["Last hour", now - 3600000],
      ["Last 24 hours", now - 24 * 3600000],
      ["Today", midnight],
    ]) {
      const asked = page.waitForRequest((r) => {
        const q = new URL(r.url()).searchParams;
        return r.url().includes("/api/") && Number(q.get("fromDate")) >= from && !q.has("toDate");
      });
      await page.getByRole("button", { name, exact: true }).click();
      const sent = new URL((await asked).url()).searchParams;
      const shown = new URL(page.url()).searchParams;
      assert.equal(sent.get("fromDate"), shown.get("fromDate"), `${at}, ${name}`);
      assert.equal(shown.get("label"), "none", `${at}, ${name}: other filters stay`);
      assert.ok(Number(shown.get("fromDate")) - from < 600000, `${at}, ${name}: ${shown}`);
      await page.getByLabel("From", { exact: true }).waitFor();
    }
    await accessible(page, at);
  }
  clean(page, "ranges of time");
}
