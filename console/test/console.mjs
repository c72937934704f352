// Drives the console in a browser. TRIREME is the binary, CHROMIUM or FIREFOX the browser; with
// SCREENSHOTS, a folder, the pictures of docs/console.md are made.
import assert from "node:assert/strict";
import { acts } from "./acts.mjs";
import { emptyViews } from "./first.mjs";
import { accessible, end, gecko, open, section, signIn } from "./harness.mjs";
import { histogram } from "./histogram.mjs";
import { hostileViews } from "./hostile.mjs";
import { byKeyboard } from "./keyboard.mjs";
import { leaderDies } from "./leader.mjs";
import { startNode } from "./node.mjs";
import { palette } from "./palette.mjs";
import { presets } from "./presets.mjs";
import { everyRole } from "./roles.mjs";
import { signOut, singleSignOn } from "./signon.mjs";
import { tables } from "./table.mjs";
import { triggers } from "./triggers.mjs";
import { asksFirst, figuresAreKnown, sdkRun, shownOnce } from "./truth.mjs";
import { everyView } from "./views.mjs";
import { walks } from "./walks.mjs";
import { workbench } from "./workbench.mjs";

/** whole: Firefox has a shorter run, but for `make browsers`: the tests have to end in time. */
const whole = !gecko || !!process.env.EVERY_WIDTH;
let failed;
try {
  section("one node");
  const c = await startNode(),
    { url, admin, ask, to } = c;
  const page = await open(`${url}/console/`);
  await page.waitForSelector(".sign-in-card");
  assert.equal(await page.title(), "Sign in · Trireme");
  await accessible(page, "sign-in");
  await page.fill("input[name=token]", "wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").waitFor();
  assert.equal(page.faults.length, gecko ? 0 : 1); // Chromium reports the refusal
  page.faults = [];
  await signIn(page, { token: admin });
  const cookies = await page.context().cookies();
  assert.ok(cookies.every((c) => c.httpOnly && c.sameSite === "Strict"));

  section("every view, light and dark, wide and narrow");
  await everyView(page, c);

  section("by keyboard alone");
  await byKeyboard(page, c);

  section("messages, one a row, and their outcomes over time");
  await histogram(page, c);
  section("tables");
  await tables(page, c);

  section("the palette and shortcuts");
  await palette(page, c);
  await presets(page);
  await acts(page, c);

  if (!gecko) {
    // It holds requests back by what is in them, of which Firefox does not tell.
    section("the data workbench");
    await workbench(page, c);
  }

  section("triggers");
  await triggers(page, c);

  section("figures, questions, and what is shown once");
  await figuresAreKnown(page, ask);
  await sdkRun(page, url, admin, to);
  await asksFirst(page, ask);
  await shownOnce(page);

  if (!gecko) {
    // What replies contain is the server's affair, and Firefox does not tell what was asked for.
    section("roles: what a credential may not see is in no reply");
    await everyRole(c);
  }

  if (whole) {
    section("hostile content");
    const brave = await open(`${url}/console/`);
    await signIn(brave, { token: admin });
    await hostileViews(brave, ask, to);
    await brave.context().close();
  }

  section("single sign-on");
  await singleSignOn(c);

  section("an empty node says how to begin");
  await emptyViews();

  section("three tasks from a cold start, by clicks");
  await walks();

  section("sign-out and the link of dev");
  await signOut(page, cookies, c);

  section("three nodes: the leader dies while views are open");
  await leaderDies(to);
  console.log("ok");
} catch (e) {
  failed = e;
} finally {
  await end();
}
if (failed) {
  console.error(failed);
  process.exit(1);
}
process.exit(0);
