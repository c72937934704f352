// The palette and the keys of the whole console.
import assert from "node:assert/strict";
import { accessible, clean, until } from "./harness.mjs";

/** palette goes to views, a key and a message by the keyboard alone. */
export async function palette(page, { sent }) {
  const dialog = page.getByRole("dialog", { name: "Go to" }),
    options = dialog.getByRole("option");
  const open = async () => {
    await page.keyboard.press("Control+K");
    await dialog.waitFor();
  };
  await page.go("/");
  await open();
  await accessible(page, "the palette");
  await page.keyboard.type("dead let");
  await until(
    async () =>
      assert.equal(
        await options
          .first()
          .innerText()
          .then((t) => t.split("\n")[0]),
        "Dead letters",
      ),
    "a view",
  );
  await page.keyboard.press("Enter");
  await page.waitForURL((u) => u.pathname.endsWith("/dead"));
  await dialog.waitFor({ state: "detached" });

  await open();
  await page.keyboard.type("profile:");
  const key = options.filter({ hasText: "profile:1" });
  await key.waitFor();
  while ((await key.getAttribute("aria-selected")) !== "true") await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL((u) => u.searchParams.get("key") === "profile:1");

  await open();
  await page.keyboard.type(sent.messageId);
  await page.keyboard.press("Enter");
  await page.waitForURL((u) => u.searchParams.get("id") === sent.messageId);

  await open();
  await page.keyboard.type("nothing is called so");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });

  await page.locator("#main").focus();
  await page.keyboard.press("g");
  await page.keyboard.press("q");
  await page.waitForURL((u) => u.pathname.endsWith("/queues"));
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await accessible(page, "the shortcuts");
  await page.keyboard.press("Escape");

  // Keys belong to what is typed into.
  await page.go("/messages");
  await page.getByLabel("Label", { exact: true }).fill("");
  await page.keyboard.type("g q ?");
  assert.equal(await page.getByLabel("Label", { exact: true }).inputValue(), "g q ?");
  assert.ok(new URL(page.url()).pathname.endsWith("/messages"));
  clean(page, "the palette");
}
