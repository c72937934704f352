// Triggers: made, paused, read, followed and deleted in the console.
import assert from "node:assert/strict";
import { accessible, clean, open, signIn, until } from "./harness.mjs";
import { fits } from "./views.mjs";

/** triggers makes one to a URL and one to a stream by the form, and does with them what can be done. */
export async function triggers(page, c) {
  const { ask, to } = c;
  const main = page.locator("main"),
    dialog = page.getByRole("dialog"),
    run = async (...words) => (await ask("/", { body: JSON.stringify(words) })).result,
    row = (name) => main.locator("tbody tr").filter({ has: page.getByRole("link", { name, exact: true }) }),
    form = async (name, makes, target, more) => {
      await page.go("/triggers");
      await main
        .getByRole("button", { name: /New trigger|Create the first trigger/ })
        .first()
        .click();
      await dialog.getByLabel("Name").fill(name);
      await dialog.getByLabel("Keys begin with").fill("watched:");
      await dialog.getByLabel("Makes").selectOption(makes);
      await dialog.getByLabel(/^(Destination|Stream)$/).fill(target);
      await more();
      await accessible(page, `the form of ${name}`);
      await dialog.getByRole("button", { name: "Save the trigger" }).click();
      await dialog.waitFor({ state: "detached" });
      await row(name).waitFor();
    };
  await form("hook", "message", `${to}/good`, async () => {
    await dialog.getByLabel("Events").fill("set, del");
    await dialog.getByLabel("Retries").fill("2");
  });
  await row("hook").getByRole("button", { name: "Pause" }).click();
  await row("hook").getByText("paused", { exact: true }).waitFor();
  await run("SET", "watched:1", "x");
  await run("EXPIRE", "watched:1", "1000");
  await until(async () => {
    const cells = await row("hook").locator("td").allInnerTexts();
    assert.deepEqual(cells.slice(2, 6), ["watched:*", "1", "1", "0"]);
  }, "the backlog of the paused trigger");
  await page.getByRole("button", { name: "Undo" }).click();
  await row("hook").getByText("on", { exact: true }).waitFor();
  await row("hook").getByRole("link", { name: "hook" }).click();
  await main.locator("tr", { hasText: "delivered" }).first().waitFor();
  const [message] = (await ask("/v2/events?groupBy=message&queueName=trigger.hook", { method: "GET" })).messages;
  assert.equal(message.maxRetries, 2);
  await main.getByRole("link", { name: "trigger.hook" }).first().click();
  await page.getByRole("heading", { name: "Queue" }).waitFor();

  await readsOnly(c);

  await form("log", "stream", "watched-log", async () => {
    await dialog.getByLabel("Values").selectOption("old,new");
    await dialog.getByLabel("Seconds of each").fill("1.5");
  });
  assert.equal(await row("log").getByRole("button", { name: "Pause" }).count(), 0, "a feed is not paused");
  await run("SET", "watched:1", "<b>y</b>");
  await page.go("/triggers?name=log");
  const change = main.getByRole("region", { name: "Latest changes" }).locator("tbody tr");
  assert.match(
    (await change.first().innerText()).replace(/\s+/g, " "),
    /^\d+-1 \S+.* set watched:1 string x <b>y<\/b>$/,
  );
  await main.getByText("each for 1.5 s").waitFor();
  await accessible(page, "a change feed");
  await fits(page, "a change feed");
  await main.getByRole("button", { name: "Edit" }).click();
  await dialog.getByLabel("Entries at most").fill("7");
  await dialog.getByRole("button", { name: "Save the trigger" }).click();
  await main.getByText("7 entries at most, each for 1.5 s").waitFor();

  for (const name of ["hook", "log"]) {
    await page.go(`/triggers?name=${name}`);
    await main.getByRole("button", { name: "Delete" }).click();
    const drop = dialog.getByRole("button", { name: "Delete" });
    assert.ok(await drop.isDisabled(), "a trigger is deleted without its name");
    await dialog.locator("[data-sure]").fill(name);
    await drop.click();
    await until(async () => assert.ok(!(await run("TRIGGER.LIST")).includes(name)), `${name} is deleted`);
  }
  await run("DEL", "watched:1", "watched-log");
  await page.go("/triggers?name=hook");
  await main.getByText("There is no such trigger").waitFor();
  clean(page, "triggers");
}

/** readsOnly looks at a trigger as a user who only reads: the node refuses what changes it. */
async function readsOnly({ url, ask }) {
  const reader = await open(`${url}/console/`, { ignore: /Failed to load resource/ });
  await signIn(reader, { user: "app", password: "a long password" });
  await reader.go("/triggers?name=hook");
  await reader.getByText("trigger.hook", { exact: true }).waitFor();
  assert.equal(await reader.getByRole("link", { name: "trigger.hook" }).count(), 0, "a queue that it may not see");
  await reader.getByRole("button", { name: "Pause" }).click();
  await reader.getByText("has no permissions to run the 'trigger.pause' command", { exact: false }).waitFor();
  const fields = (await ask("/", { body: '["TRIGGER.GET","hook"]' })).result;
  assert.equal(fields[fields.indexOf("paused") + 1], 0);
  clean(reader, "triggers, read only");
  await reader.context().close();
}
