// Content that wants to be more than text, everywhere where a client can put some.
import assert from "node:assert/strict";
import { until } from "./harness.mjs";

const script = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';
const text = `${script}\u202e\u2066gnp.exe\u200f\u0000/../a//b\u001b[31m`;
// biome-ignore lint/suspicious/noTemplateCurlyInString: no template may be found in it.
const attribute = '" autofocus onfocus="window.pwned=1" x=\'{{7*7}}${7*7}';
const printable = script + attribute; // what a header or a name without control characters may hold
const ten = "<b>".repeat(3400000); // more than 10 MB
const link = "javascript:window.pwned=1";

/** fill puts hostile content into a node; ask calls it. It returns the views that show it. */
async function fill(ask, to) {
  const run = (...commands) =>
    ask("/pipeline", { body: JSON.stringify(commands) }).then((list) => {
      for (const [i, r] of list.entries()) assert.ok(!r.error, `${commands[i][0]}: ${r.error}`);
    });
  const deep = `${"[".repeat(100)}{"x":1}${"]".repeat(100)}`;
  const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 20000 }, (_, i) => [`field${i}`, i])));
  await run(
    ["SET", text, text],
    ["SET", attribute, attribute],
    ["SET", link, link],
    ["SET", "a/b/../c//d", "slashes"],
    ["SET", "nul\u0000in\u0000it", "\u0000"],
    ["HSET", `h:${text}`, text, text, attribute, link],
    ["RPUSH", `l:${text}`, text, attribute],
    ["SADD", `s:${text}`, text],
    ["ZADD", `z:${text}`, "1", text],
    ["XADD", `x:${text}`, "*", text, text],
    ["XGROUP", "CREATE", `x:${text}`, text, "0"],
    ["JSON.SET", `j:${text}`, "$", JSON.stringify({ [text]: [text, { [attribute]: link }] })],
    ["JSON.SET", "deep", "$", deep],
    ["JSON.SET", "wide", "$", wide],
    ["SET", "deep-text", "[".repeat(100000)],
    ["SET", "one-line", "\u202e".repeat(1 << 20)],
    ["ACL", "SETUSER", `user${script.replaceAll(/\s/g, "")}`, "on", ">a long password", "~*", "+@read"],
  );
  await ask("/", { body: JSON.stringify(["SET", "ten", ten]) });
  for (let i = 0; i < 100000; i += 10000)
    await run(["HSET", "fields", ...Array.from({ length: 10000 }, (_, j) => [`f${i + j}`, script]).flat()]);
  await ask("/", {
    headers: { "Content-Type": "application/octet-stream" },
    body: Buffer.concat([
      Buffer.from('["HSET","raw","'),
      Buffer.from([0xff, 0xfe, 0x80, 0xc0]),
      Buffer.from('","'),
      Buffer.from([0xed, 0xa0, 0x80, 0xff]),
      Buffer.from('"]'),
    ]),
  });
  const headers = {
    "Svc-Label": printable,
    "Svc-Forward-X-Evil": printable,
    "Svc-Forward-Link": link,
    "Svc-Flow-Control-Key": "flow.evil-1",
    "Svc-Flow-Control-Value": "parallelism=1",
    "Svc-Retries": "0",
  };
  const good = await ask(`/v2/publish/${to}/good?q=${encodeURIComponent(script)}`, { headers, body: text });
  const big = await ask(`/v2/publish/${to}/good`, { headers, body: ten });
  const bad = await ask(`/v2/publish/${to}/bad/${encodeURIComponent(script)}`, { headers, body: deep });
  const started = await ask(`/v2/trigger/${to}/flow/${encodeURIComponent(script)}`, {
    headers: { "Svc-Label": printable, "Svc-Delay": "1h" },
    body: text,
  });
  const heavy = await ask(`/v2/trigger/${to}/flow/heavy`, {
    headers: { "Svc-Label": printable, "Svc-Delay": "1h" },
    body: ten,
  });
  const dead = await ask(`/v2/publish/${to}/bad/heavy`, { headers, body: ten });
  await until(
    async () =>
      assert.ok(
        (await ask(`/v2/dlq?label=${encodeURIComponent(printable)}`, { method: "GET" })).messages.filter(
          (m) => m.messageId === bad.messageId || m.messageId === dead.messageId,
        ).length === 2,
      ),
    "the hostile dead letter",
  );
  const key = (k) => `/data?key=${encodeURIComponent(k)}`;
  return [
    "/data",
    `/data?prefix=${encodeURIComponent("h:")}`,
    `/data?match=${encodeURIComponent(text)}`,
    ...[
      text,
      attribute,
      link,
      "a/b/../c//d",
      "nul\u0000in\u0000it",
      `h:${text}`,
      `l:${text}`,
      `s:${text}`,
      `z:${text}`,
      `x:${text}`,
      `j:${text}`,
      "deep",
      "wide",
      "deep-text",
      "one-line",
      "ten",
      "fields",
      "raw",
    ].map(key),
    "/messages",
    `/messages?id=${good.messageId}`,
    `/messages?id=${big.messageId}`,
    `/messages?id=${encodeURIComponent(script)}`,
    `/messages?label=${encodeURIComponent(printable)}`,
    "/dead",
    "/flow",
    "/runs",
    `/messages?id=${dead.messageId}`,
    `/runs?id=${started.workflowRunId}`,
    `/runs?id=${heavy.workflowRunId}`,
    `/runs?label=${encodeURIComponent(printable)}`,
    "/access?part=users",
    "/audit",
  ];
}

/** hostileViews looks at hostile content in every view that shows some: nothing runs, nothing hangs, all is text. */
export async function hostileViews(page, ask, to) {
  const views = await fill(ask, to);
  for (const path of views) {
    await page.go(path);
    const where = path.slice(0, 80);
    assert.deepEqual(page.faults, [], where);
    const seen = await page.evaluate(() => ({
      pwned: window.pwned,
      foreign: document.querySelectorAll(
        "main img:not([src='icon.svg']), main script, main iframe, main object, main [onerror], main [onfocus]",
      ).length,
      links: [...document.querySelectorAll("a")]
        .filter((a) => !["http:", "https:"].includes(a.protocol) && a.getAttribute("href"))
        .map((a) => a.href),
      // biome-ignore lint/suspicious/noControlCharactersInRegex: no page may show them.
      marks: /[\u0000\u202e\u2066\u200f\u001b]/.test(document.body.innerText),
      size: document.querySelectorAll("*").length,
    }));
    assert.deepEqual({ ...seen, size: 0 }, { pwned: undefined, foreign: 0, links: [], marks: false, size: 0 }, where);
    assert.ok(seen.size < 20000, `${where}: ${seen.size} elements`);
  }
  await page.go("/live?part=monitor");
  await page.getByText("open", { exact: true }).waitFor();
  await ask("/", { body: JSON.stringify(["SET", "watched", text]) });
  await page.locator(".lines", { hasText: "watched" }).waitFor();
  await page.go("/cli");
  for (const line of [
    `GET ${JSON.stringify(attribute)}`,
    "HGETALL fields",
    "JSON.GET deep",
    "GET ten",
    "SCAN 0 COUNT 100",
  ]) {
    const before = await page.locator(".asked").count();
    await page.getByLabel("Command", { exact: true }).fill(line);
    await page.keyboard.press("Enter");
    await page.locator(".asked").nth(before).waitFor();
  }
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.deepEqual(page.faults, [], "live and command line");
}
