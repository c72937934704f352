// Tests the words for figures: src/format.ts, and that no page makes its own.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "vitest";
import * as f from "../../src/format";

const is = (got, want, what) => assert.equal(got, want, what);
const s = 1000,
  min = 60 * s,
  h = 60 * min,
  d = 24 * h;

let now;

test('Spans: each edge between two units, and nothing like "60 s", "60 min" or "24 h"', () => {
  for (const [ms, want] of [
    [0, "0"],
    [0.02, "0.02 ms"],
    [0.5, "0.50 ms"],
    [1, "1 ms"],
    [1.25, "1.3 ms"],
    [42.4, "42 ms"],
    [999, "999 ms"],
    [999.6, "1 s"],
    [s, "1 s"],
    [1500, "1.5 s"],
    [9.96 * s, "10 s"],
    [59.4 * s, "59 s"],
    [59.6 * s, "1 min"],
    [min, "1 min"],
    [90 * s, "1 min 30 s"],
    [10 * min + 59.7 * s, "11 min"],
    [59 * min + 59.6 * s, "1 h"],
    [h, "1 h"],
    [h + 29 * s, "1 h"],
    [23 * h + 59 * min + 50 * s, "1 d"],
    [d, "1 d"],
    [3 * d, "3 d"],
    [30 * d, "30 d"],
    [d + 12 * h, "1 d 12 h"],
    [-90 * s, "-1 min 30 s"],
    [-10 * min - 59.7 * s, "-11 min"],
  ])
    is(f.msSpan(ms), want, `${ms} ms`);
  for (let ms = 1; ms < 400 * d; ms = Math.ceil(ms * 1.0137)) {
    const text = f.msSpan(ms),
      size = { ms: 1, s, min, h, d };
    const back = [...text.matchAll(/([\d.]+) (ms|s|min|h|d)/g)].reduce((sum, [, n, u]) => sum + n * size[u], 0);
    assert.ok(Math.abs(back - ms) <= Math.max(0.05, 0.06 * ms), `${ms} ms is shown as ${text}`);
    assert.doesNotMatch(text, /\b(60 (s|min)|24 h|1000 ms)\b/, `${ms} ms`);
  }
  is(f.secondsSpan(90), "1 min 30 s");
  is(f.usSpan(12_345), "12 ms");
  is(f.usSpan(420), "0.42 ms");
});

test("Points in time: unix milliseconds, digits of them, RFC 3339", () => {
  now = 1_764_166_000_000;
  for (const [at, want] of [
    [now, "now"],
    [now - 10 * min - 59.7 * s, "11 min ago"],
    [now - 4 * s, "now"],
    [now + 2 * h, "in 2 h"],
    [now - 3 * d, "3 d ago"],
  ])
    is(f.msAgo(at, now), want);
  is(f.unixMs(now), now);
  is(f.unixMs(String(now)), now);
  is(f.unixMs(new Date(now).toISOString()), now);
  is(f.unixMs(undefined), 0);
  is(f.unixMs("never"), 0);

  for (const [n, want] of [
    [0, "0 B"],
    [50, "50 B"],
    [1023, "1023 B"],
    [1024, "1.0 KB"],
    [1536, "1.5 KB"],
    [1024 ** 2 - 1, "1.0 MB"],
    [104_857_600, "100 MB"],
    [1024 ** 3 - 1, "1.0 GB"],
    [-2048, "-2.0 KB"],
    [1024 ** 4, "1.0 TB"],
  ])
    is(f.bytes(n), want, `${n} bytes`);
  for (const [n, noun, want] of [
    [0, "key", "0 keys"],
    [1, "node", "1 node"],
    [2, "entry", "2 entries"],
    [1, "entry", "1 entry"],
    [2, "key", "2 keys"],
    [1234, "dead letter", "1,234 dead letters"],
  ])
    is(f.things(n, noun), want);
  for (const [n, want] of [
    [0, "0/s"],
    [0.04, "0.04/s"],
    [1.25, "1.3/s"],
    [9.96, "10/s"],
    [999.7, "1.0k/s"],
    [1234, "1.2k/s"],
  ])
    is(f.perSecond(n), want);
  is(f.percent(50), "50 %");
  is(f.percent(99.5), "99.5 %");
  is(f.count(1234567), "1,234,567");
  is(f.count(undefined), "0");
});

test("Figures of the API by their names, as a node answers them", () => {
  for (const [of, name, v, want] of [
    ["/v2/workflows/logs", "sleepFor", 3 * d, "3 d"], // sleep("3d")
    ["/v2/flowControl", "ratePeriod", 60, "1 min"],
    ["/v2/events", "timeout", 900_000, "15 min"],
    ["/v2/events", "period", 1, "1 s"],
    ["/admin/settings", "tenantMemoryPercent", 50, "50 %"],
    ["/admin/settings", "maxMemory", 1 << 30, "1.0 GB"],
    ["/admin/settings", "dailyRequestLimit", 10_000, "10,000"],
    ["/admin/settings", "maxRequestWork", 50_000_000, "50,000,000"],
    ["/admin/settings/messages", "eventRetentionMs", 7 * d, "7 d"],
    ["/admin/settings/messages", "dedupWindowMs", 10 * min, "10 min"],
    ["/admin/settings/messages", "maxMessageSize", 1 << 20, "1.0 MB"],
    ["/admin/settings/workflows", "maxInlineLog", 16384, "16.0 KB"],
    ["/admin/history", "p99Ms", 0.734, "0.73 ms"],
    ["/admin/history", "overdueSeconds", 75, "1 min 15 s"],
    ["/admin/history", "commands", 12.5, "13/s"],
    ["/admin/clients", "idleSeconds", 3600, "1 h"],
    ["/admin/cluster", "lastContactMs", 48, "48 ms"],
    ["SLOWLOG", "took", 15_321, "15 ms"],
    ["PTTL", "ttl", 899_000, "14 min 59 s"],
  ])
    is(f.figure(of, name, v), want, `${of} ${name}`);
  is(f.inMs("SLOWLOG", "time", 1_764_166_000), now);
  is(f.inMs("/v2/flowControl", "ratePeriodStart", 1_764_166_000), now);
  is(f.inMs("/v2/events", "time", now), now);
  is(f.anyFigure("/admin/settings", "maxMemory", 0, "none"), "none");
  is(
    f.anyFigure("/admin/settings", "somethingOfMemoryThatIsNew", 50),
    "50",
    "a figure of an unknown unit is shown as it is",
  );
});

test("Pages make no words of their own: whoever multiplies by a thousand has guessed a unit", () => {
  const src = join(dirname(fileURLToPath(import.meta.url)), "../../src");
  const own = new RegExp(
    [
      /toFixed\(/,
      /toLocaleString\((?!\))(?!"sv", \{ timeZone)/,
      /[*/] 1000\b/,
      /[*/] 1024\b/,
      /86400/,
      /=== 1\s+\? "[a-z]+"\s+: "[a-z]+s"/,
    ]
      .map((r) => r.source)
      .join("|"),
    "g",
  );
  // The success of deliveries in percent, a form's field, a JWT's claims, the axis of charts, the part of a value
  // that is
  // read.
  const allowed = [
    /\(1000 \* delivered\) \/ tried/,
    /Math\.ceil\(ttl \/ 1000\)/,
    /Date\.now\(\) \/ 1000/,
    /new Date\(claims\.\w+ \* 1000\)/,
    /t \/ 1000\)/,
    /256 \* 1024/,
  ];
  const pages = readdirSync(src, { recursive: true }).filter((n) => n.endsWith(".tsx"));
  assert.ok(pages.length > 30, `${pages.length} pages were looked at`);
  for (const name of pages) {
    let text = readFileSync(join(src, name), "utf8");
    for (const r of allowed) text = text.replaceAll(new RegExp(r.source, "g"), "");
    const found = [...text.matchAll(own)].map((m) => text.slice(m.index, m.index + 60));
    assert.deepEqual(found, [], `${name} makes its own words of a figure: use src/format.ts`);
  }
  // A time is on the clock that was chosen, and says which.
  const at = Date.UTC(2026, 0, 2, 3, 4, 5, 67);
  f.times.value = "UTC";
  assert.equal(f.msStamp(at), "2026-01-02 03:04:05.067 UTC");
  assert.equal(f.msTick(at, 60_000), "03:04:05");
  f.times.value = "local";
  const zone = process.env.TZ;
  for (const [name, want] of [
    ["Asia/Kolkata", "2026-01-02 08:34:05.067 UTC+5:30"],
    ["America/New_York", "2026-01-01 22:04:05.067 UTC-5"],
    ["UTC", "2026-01-02 03:04:05.067 UTC"],
  ]) {
    process.env.TZ = name;
    assert.equal(f.msStamp(at), want);
  }
  process.env.TZ = zone ?? "";
});
