// The histogram of messages, and the list of them: what they show is what the API counts.
import assert from "node:assert/strict";
import { until } from "./harness.mjs";

/** histogram holds the messages' view to the API, and chooses a time in it by the keyboard. */
export async function histogram(page, { ask }) {
  const get = (path) => ask(path, { method: "GET" });
  await page.go("/messages");
  const bars = page.getByRole("slider", { name: "Outcomes over time" });
  await bars.waitFor();
  await until(async () => {
    const { groups } = await get("/v2/events?groupBy=time"),
      all = {};
    for (const g of groups) for (const [state, n] of Object.entries(g.counts)) all[state] = (all[state] ?? 0) + n;
    const shown = await page.locator(".outcome b").allInnerTexts();
    assert.deepEqual(
      shown.map(Number),
      ["DELIVERED", "ERROR", "FAILED", "CANCELED"].map((state) => all[state] ?? 0),
    );
  }, "the numbers of the legend");
  await until(async () => {
    const { messages } = await get("/v2/events?groupBy=message&count=100"),
      rows = page.getByRole("region", { name: "Messages" }).locator("tbody tr");
    assert.equal(await rows.count(), messages.length);
    for (const [i, m] of messages.entries()) {
      const cells = await rows.nth(i).locator("td").allInnerTexts();
      assert.equal(cells[0], m.state.toLowerCase());
      assert.ok(cells[1].startsWith(m.url), `${cells[1]}, want ${m.url}`);
      assert.equal(cells[2], `${m.attempts} of ${m.maxRetries + 1}`);
    }
  }, "a row for each message");

  // The whole row leads to the message.
  const failed = (await get("/v2/events?groupBy=message&state=FAILED")).messages[0];
  await page.go("/messages?state=FAILED");
  const state = await page.getByRole("region", { name: "Messages" }).locator("tbody tr td").first().boundingBox();
  await page.mouse.click(state.x + 20, state.y + state.height / 2);
  await page.waitForURL((u) => u.searchParams.get("id") === failed.messageId);

  await page.go("/messages");
  await bars.focus();
  await page.keyboard.press("End");
  const when = await bars.getAttribute("aria-valuetext");
  await page.keyboard.press("Shift+ArrowLeft");
  assert.notEqual(await bars.getAttribute("aria-valuetext"), when);
  await page.keyboard.press("Shift+Enter");
  await page.waitForURL((u) => u.searchParams.has("fromDate"));
  const q = new URL(page.url()).searchParams,
    span = Number(q.get("toDate")) - Number(q.get("fromDate")) + 1;
  assert.ok(span > 0 && span % 2000 === 0, `two spans, not ${span} ms`);

  await page.go("/messages?show=events");
  await page.getByRole("region", { name: "Events" }).locator("tbody tr").first().waitFor();
}
