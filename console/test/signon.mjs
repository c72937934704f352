// Signing in at an identity provider, signing out, and the link of dev.
import assert from "node:assert/strict";
import { accessible, clean, open, reload } from "./harness.mjs";

export async function singleSignOn({ url, people, ask }) {
  const single = await open(`${url}/console/data?key=greeting`, {
    ignore: /Failed to load resource/,
    origins: [url, people.url],
  });
  await single.getByRole("link", { name: "Single sign-on" }).click();
  await single.locator(".key-name", { hasText: "greeting" }).waitFor(); // the view that was asked for
  assert.equal(await single.locator(".me b").textContent(), "ann@example.com");
  assert.ok(
    (await single.context().cookies(url)).every(
      (c) => c.httpOnly && /^trireme-console-[0-9a-f]{8}$/.test(c.name) && c.sameSite === "Strict",
    ),
  );
  // The console's sessions end with it, callers have an hour.
  await ask("/admin/tokens/admin/rotate", { body: '{"overlapMs":3600000}' });
  await reload(single);
  await single.waitForSelector(".sign-in-card");
  people.claims = { email: '<img src=x onerror="window.pwned=1">', groups: ["devs"] };
  await single.getByRole("link", { name: "Single sign-on" }).click();
  await single.waitForSelector(".shell");
  assert.equal(await single.locator(".me b").textContent(), people.claims.email);
  await single.getByRole("button", { name: "Sign out" }).click();
  people.claims = { email: "eve@example.com", groups: ["ops"] };
  await single.getByRole("link", { name: "Single sign-on" }).click();
  await single.getByText("none of your groups has a role here").waitFor();
  await accessible(single, "sign-in with single sign-on");
  clean(single, "single sign-on");
}

/** signOut signs out of page, whose cookies nobody can use after it. */
export async function signOut(page, cookies, { node, url }) {
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForSelector(".sign-in-card");
  await page.context().addCookies(cookies); // a copy, as a thief would have
  await page.goto(`${url}/console/data`);
  await page.waitForSelector(".sign-in-card");
  const link = /http\S+#enter=\S+/.exec(node.out)[0];
  const linked = await open(link);
  await linked.waitForSelector(".shell");
  assert.ok(!linked.url().includes("enter="));
  clean(linked, "link");
  const again = await open(link, { ignore: /Failed to load resource/ });
  await again.waitForSelector(".sign-in-card");
}
