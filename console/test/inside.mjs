// What is inside values, and the formats that they are shown and edited in.
import assert from "node:assert/strict";
import { accessible, clean, until } from "./harness.mjs";

/** within filters and sorts what is inside values, a page at a time. */
export async function within(page, ask) {
  const main = page.locator("main"),
    rows = main.locator(".rows tbody tr");
  const numbers = Array.from({ length: 1200 }, (_, i) => i);
  await ask("/pipeline", {
    body: JSON.stringify([
      ["HSET", "in:hash", ...numbers.flatMap((i) => [`field-${i}`, String(5000 - i)]), "long", "x".repeat(50000)],
      ["SADD", "in:set", ...numbers.map((i) => `member-${i}`)],
      ["ZADD", "in:zset", ...numbers.flatMap((i) => [String(i * 2), `m${i}`])],
      ["RPUSH", "in:list", ...numbers.map((i) => `e${i}`)],
      ...numbers.slice(0, 120).map((i) => ["XADD", "in:stream", `${1764160000000 + i * 60000}-0`, "n", String(i)]),
    ]),
  });
  let asked = [];
  page.on("request", (r) => asked.push(r.postData() ?? ""));
  const filter = async (label, text) => {
    await main.getByLabel(label, { exact: true }).fill(text);
    await main.getByRole("button", { name: "Filter" }).click();
  };
  const listed = (n) =>
    until(async () => {
      const further = main.getByRole("button", { name: /^(Load more|Look further)$/ }); // a search ends after a moment
      // The button may be of the list before, which goes at any moment.
      if (n < 100 && (await further.isEnabled({ timeout: 10 }).catch(() => false)))
        await further.click({ timeout: 500 }).catch(() => {});
      assert.equal(await main.getByText(new RegExp(`; ${n} listed$`)).count(), 1);
    }, `${n} listed`);
  const first = async (want) =>
    until(async () => assert.equal((await rows.first().innerText()).split("\n")[0].split("\t")[0].trim(), want), want);

  await page.go("/data?key=in:hash");
  await main.getByText(/^1,201 fields; 1\d\d listed$/).waitFor();
  await filter("Field", "field-11?");
  await listed(10);
  await main.getByLabel("Sort what is loaded").selectOption("Value");
  await first("field-119");
  await filter("Field", "long");
  await rows.filter({ hasText: "48.8 KB, not loaded" }).waitFor();
  assert.ok(
    !asked.some((a) => a.includes("HGETALL") || a.includes('"HGET",')),
    "a long value is loaded when it is looked at",
  );
  await rows.getByRole("button", { name: "View" }).click();
  await page.getByRole("dialog").getByText("48.8 KB").waitFor();
  await page.keyboard.press("Escape");
  await filter("Field", "nothing like it");
  await main.getByText("No field matches").waitFor();

  await page.go("/data?key=in:set");
  await filter("Member", "member-77");
  await listed(11);
  await page.go("/data?key=in:zset");
  await main.getByLabel(/^Order/).selectOption("Highest score first");
  await first("2398");
  await filter("Score to", "100");
  await first("100");
  await listed(51);
  await filter("Member", "m4");
  await listed(11);
  await page.go("/data?key=in:list");
  await main.getByLabel(/^From/).selectOption("The tail");
  await first("1199");
  await main.getByRole("button", { name: "Load more" }).click();
  await listed(200);
  await filter("Leave out the first", "1150");
  await first("49");
  await listed(50);
  await page.go("/data?key=in:stream");
  await first("1764167140000-0");
  await main.getByLabel(/^Order/).selectOption("Oldest first");
  await filter("To", "1764160120000");
  await listed(3);
  asked = [];
  await filter("From", "soon");
  await main.getByText("is neither an id nor a time").waitFor();
  await accessible(page, "a filter that can't be read");
  await ask("/", { body: '["DEL","in:hash","in:set","in:zset","in:list","in:stream"]' });
  clean(page, "within values");
}

/** formatted shows values in their formats, and edits JSON in an editor that says what is wrong. */
export async function formatted(page, ask) {
  const main = page.locator("main"),
    code = main.locator(".code pre");
  const raw = (key, b) =>
    ask("/", {
      headers: { "Content-Type": "application/octet-stream" },
      body: Buffer.concat([
        Buffer.from(`["SET","${key}","`),
        ...b.map((x) => (x < 32 ? Buffer.from(`\\u00${x.toString(16).padStart(2, "0")}`) : Buffer.from([x]))),
        Buffer.from('"]'),
      ]),
    });
  await raw("fmt:msgpack", [0x82, 0xa1, 0x61, 0x01, 0xa1, 0x62, 0xc3]);
  await raw("fmt:protobuf", [0x0a, 0x03, 0xff, 0xfe, 0xfd, 0x10, 0x96, 0x01]);
  await ask("/", { body: JSON.stringify(["SET", "fmt:base64", Buffer.from('{"inner":true}').toString("base64")]) });
  await ask("/", { body: JSON.stringify(["SET", "fmt:json", '{"id":12345678901234567890,"list":[1]}']) });
  const shows = async (key, format, want) => {
    await page.go(`/data?key=${key}`);
    if (format) await main.getByRole("button", { name: format, exact: true }).click();
    await until(async () => assert.equal((await code.innerText()).trim(), want), `${key} as ${format}`);
  };
  await shows("fmt:msgpack", "", '{\n  "a": 1,\n  "b": true\n}');
  await shows("fmt:protobuf", "", "1: <bytes 3 fffefd>\n2: 150");
  await shows("fmt:base64", "", Buffer.from('{"inner":true}').toString("base64"));
  await shows("fmt:base64", "Base64", '{\n  "inner": true\n}');
  await shows("fmt:json", "", '{\n  "id": 12345678901234567890,\n  "list": [\n    1\n  ]\n}');
  await main.getByRole("button", { name: "MessagePack" }).click();
  await main.getByText("This value is not MessagePack").waitFor();
  await accessible(page, "a value in a format that it does not have");

  await page.go("/data?key=doc");
  await main.getByRole("button", { name: "Edit" }).click();
  const editor = main.locator(".cm-content");
  await editor.waitFor();
  await accessible(page, "the editor of JSON");
  assert.equal(await editor.getAttribute("aria-label"), "JSON");
  await editor.click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type('{"a":');
  await main.getByText("This is not JSON yet").waitFor();
  await main.locator(".cm-lint-marker-error").waitFor();
  assert.ok(await main.getByRole("button", { name: "Save" }).isDisabled());
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type('{"edited":[1,2]}');
  await main.getByRole("button", { name: "Save" }).click();
  await until(
    async () => assert.equal((await ask("/", { body: '["JSON.GET","doc"]' })).result, '{"edited":[1,2]}'),
    "the edited document",
  );
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  await main.getByRole("button", { name: "Edit" }).click();
  await editor.waitFor();
  await accessible(page, "the editor in the dark");
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await ask("/", { body: JSON.stringify(["JSON.SET", "doc", "$", '{"a":[1,2,{"b":null}],"s":"text"}']) });
  clean(page, "formats, and the editor"); // no policy was violated
}
