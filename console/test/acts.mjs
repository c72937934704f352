// What people do in the console, and what comes of it.
import assert from "node:assert/strict";
import { clean, downloaded, section, until } from "./harness.mjs";

export async function acts(page, { ask, to, run, later }) {
  section("acts");
  const dialog = page.getByRole("dialog");
  await dataActs(page, dialog, ask);
  await page.go("/messages");
  await page.getByRole("button", { name: "Publish" }).click();
  await dialog.getByPlaceholder("https://example.com/hook").fill(`${to}/from-the-form`);
  await dialog.locator("textarea").last().fill("{}");
  await dialog.getByRole("button", { name: "Publish" }).click();
  await page.locator(".card > .timeline", { hasText: "DELIVERED" }).waitFor();

  section("run now");
  await runNow(page, { ask, to, later });

  await page.go("/dead");
  const { groups } = await ask("/v2/dlq?groupBy=cause&order=latestFirst", { method: "GET" });
  const causes = page.getByRole("region", { name: "Causes" }).locator("tbody tr");
  await causes.first().waitFor();
  assert.ok(groups.length > 0 && (await causes.count()) === groups.length, "a line for each cause");
  for (const [i, g] of groups.entries()) {
    const cells = await causes.nth(i).locator("td").allInnerTexts();
    assert.deepEqual(cells.slice(0, 4), [String(g.count), String(g.responseStatus || "none"), g.text, g.host]);
  }
  await page.getByRole("button", { name: "Retry all that match" }).click();
  await dialog.locator("[data-sure]").fill("1");
  await dialog.getByRole("button", { name: "Retry 1" }).click();
  await dialog.waitFor({ state: "detached" });

  await page.go("/queues");
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("paused", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("paused", { exact: true }).waitFor({ state: "detached" });
  await schedules(page, dialog);
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
  await dialog.getByRole("button", { name: "I saved them" }).click();
  await page.go("/data?db=shop");
  await page.getByText("0 keys in database shop").waitFor();
  await page.go("/audit");
  await page.getByText("create database").waitFor();
  await page.go("/cluster");
  const backup = await downloaded(page, () => page.getByRole("button", { name: "Download a backup" }).click());
  assert.ok(backup.length > 1000);
  clean(page, "acts");
}

/** schedules looks at one, makes another, runs it, and sees what it has published. */
async function schedules(page, dialog) {
  await page.go("/schedules");
  await page.getByRole("link", { name: "daily" }).click();
  await until(async () => assert.equal(await page.locator(".times li").count(), 5), "the next five times");
  await page.getByText("At 09:00, every day", { exact: false }).first().waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  await dialog.getByLabel("Cron").fill("CRON_TZ=Europe/Berlin 30 7 * * 1-5");
  await dialog.getByText("At 07:30, Monday through Friday, in Europe/Berlin").waitFor();
  await until(async () => assert.equal(await dialog.locator(".times li").count(), 5), "the times of what is typed");
  await dialog.getByLabel("Show in").selectOption("Europe/Berlin");
  assert.match(await dialog.locator(".times li").first().innerText(), / 07:30:00/);
  await dialog.getByLabel("Cron").fill("30 7 * *");
  await dialog.locator(".bad-text").waitFor();
  await dialog.getByLabel("Cron").fill("30 7 * * 1-5");
  await dialog.getByRole("button", { name: "Save the schedule" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("At 07:30, Monday through Friday").first().waitFor();
  await page.getByRole("button", { name: "Run now" }).click();
  await page.locator("main tr", { hasText: "delivered" }).first().waitFor();
  await page.getByRole("link", { name: "Show the message" }).click();
  await page.locator(".card > .timeline", { hasText: "DELIVERED" }).waitFor();
}

async function dataActs(page, dialog, ask) {
  await page.go("/data");
  await page.getByRole("button", { name: "New key" }).click();
  await dialog.getByLabel("Name").fill("made:here");
  await dialog.getByLabel("Value").fill("first");
  await dialog.getByRole("button", { name: "Create the key" }).click();
  await page.locator(".key-name", { hasText: "made:here" }).waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  await page.locator("main textarea").fill("second ✓");
  await page.getByRole("button", { name: "Save" }).click();
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
  await dialog.getByText("2 keys of database default").waitFor();
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
}

/** runNow delivers what waits for its time: a delayed message, a retry, a sleep. */
async function runNow(page, { ask, to, later }) {
  const now = page.getByRole("button", { name: "Run now" });
  await page.go(`/messages?id=${later.messageId}`);
  await now.click();
  await page.locator(".card > .timeline", { hasText: "DELIVERED" }).waitFor();
  await now.waitFor({ state: "detached" });
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
  await now.click();
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
  const nap = page.getByRole("option").filter({ hasText: "nap" });
  await nap.locator(".dot.info").waitFor();
  await now.click();
  await nap.locator(".dot.good").waitFor();
  await now.waitFor({ state: "detached" });
}
