// The data workbench: all parts of it, and what those see who may not do everything.
import assert from "node:assert/strict";
import { accessible, clean, open, section, signIn, until } from "./harness.mjs";
import { indexes, scripts } from "./indexes.mjs";
import { formatted, within } from "./inside.mjs";
import { keysAtOnce } from "./keys.mjs";
import { load } from "./load.mjs";

/** restricted: who may not list keys opens one by its name, and who may not ask for sizes sees the others' figures. */
async function restricted({ url, node, ask }) {
  const p = await open(`${url}/console/`);
  await signIn(p, { token: node.value("UPSTASH_REDIS_REST_READONLY_TOKEN") });
  await p.go("/data");
  await p.getByText("Your credential may not list keys").waitFor();
  await accessible(p, "data for who may not list keys");
  await p.getByLabel("Name of a key").fill("profile:1");
  await p.getByRole("button", { name: "Open" }).click();
  await p.locator("main td", { hasText: "Ann" }).waitFor();
  for (const path of [
    "/analysis",
    "/analysis?part=biggest",
    "/analysis?part=slow",
    "/indexes",
    "/scripts?part=functions",
  ]) {
    await p.go(path);
    await p.getByText("Your credential does not open this").first().waitFor();
    await accessible(p, `${path} for who may only read`);
  }
  clean(p, "data for who may not list keys");
  await p.context().close();

  await ask("/pipeline", {
    body: '[["ACL","SETUSER","lister","on",">a long password","~order:*","+@read","+@connection","-memory|usage"]]',
  });
  const q = await open(`${url}/console/`);
  await signIn(q, { user: "lister", password: "a long password" });
  await q.go("/data?match=order:1");
  const row = q.locator(".leaf-row", { hasText: "order:1" });
  await until(
    async () => assert.deepEqual(await row.locator("small").allInnerTexts(), ["string", "no expiry", "–"]),
    "a size that is not known",
  );
  await row.getByRole("link").click();
  await q.locator(".key-name", { hasText: "order:1" }).waitFor();
  assert.doesNotMatch(await q.locator("main .page-head").last().innerText(), /\d B/);
  clean(q, "data for who may not ask for sizes");
  await q.context().close();
  await ask("/", { body: '["ACL","DELUSER","lister"]' });
}

/** workbench tries all parts, or those of some names. */
export async function workbench(page, c, only = "") {
  for (const [name, part] of [
    ["many keys at once", () => keysAtOnce(page, c.ask)],
    ["what is inside values", () => within(page, c.ask)],
    ["formats and the editor", () => formatted(page, c.ask)],
    ["search and vector indexes", () => indexes(page, c.ask)],
    ["memory and load", () => load(page, c.ask)],
    ["scripts", () => scripts(page, c.ask)],
    ["rights to keys", () => restricted(c)],
  ]) {
    if (!name.includes(only)) continue;
    section(`  ${name}`);
    await part();
  }
}
