// Every view, as a person sees it: in light and dark, wide and narrow.
import assert from "node:assert/strict";
import { join } from "node:path";
import { accessible, clean, open, signIn } from "./harness.mjs";

export const keys = (k) => `/data?key=${encodeURIComponent(k)}`;

/** viewsOf are the views of what startNode has put into a node, and those of them that stand for their kind. */
export function viewsOf({ hostile, sent, run }) {
  const views = [
    "/",
    "/?range=7d",
    "/data",
    ...[
      "greeting",
      "order:1",
      "profile:1",
      "jobs",
      "tags",
      "board",
      "events",
      "doc",
      "visitors",
      "bits",
      "big",
      "evil",
      "evil-json",
      hostile,
      "none",
    ].map(keys),
    `/data?bytes=${btoa("binary")}`,
    "/data?prefix=order:",
    "/data?match=*e*&type=hash",
    "/cli",
    "/live",
    "/live?part=events",
    "/live?part=monitor",
    "/live?part=slow",
    "/live?part=clients",
    "/messages",
    "/messages?state=FAILED",
    "/messages?show=events",
    `/messages?id=${sent.messageId}`,
    "/messages?id=msg_none",
    "/dead",
    "/dead?of=runs",
    "/queues",
    "/flow",
    "/schedules",
    "/groups",
    "/keys",
    "/runs",
    `/runs?id=${run.workflowRunId}`,
    "/cluster",
    "/access",
    "/access?part=users",
    "/access?part=settings",
    "/audit",
    "/nowhere",
  ];
  const short = new Set([
    "/",
    "/?range=7d",
    "/data",
    keys("profile:1"),
    keys("doc"),
    keys(hostile),
    "/cli",
    "/live",
    "/messages",
    `/messages?id=${sent.messageId}`,
    "/dead",
    "/queues",
    "/schedules",
    "/keys",
    "/runs",
    `/runs?id=${run.workflowRunId}`,
    "/cluster",
    "/access",
    "/access?part=users",
    "/audit",
  ]);
  return { views, short };
}

export async function everyView(page, c) {
  const { url, admin, sent, run } = c,
    { views, short } = viewsOf(c);
  const shots = {
    "/": "overview",
    "/cli": "command-line",
    [`/messages?id=${sent.messageId}`]: "message",
    [`/runs?id=${run.workflowRunId}`]: "run",
  };
  const shown = [
    ["light", 1440],
    ["dark", 390],
    ["dark", 1440],
    ["light", 390],
  ];
  for (const path of views) {
    for (const [theme, width] of shown) {
      const first = theme === "light" && width === 1440;
      if (!first && !(theme === "dark" && width === 390) && !short.has(path)) continue;
      const where = `${path.slice(0, 60)} ${theme} ${width}`;
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      await page.setViewportSize({ width, height: 900 });
      if (first) await page.go(path);
      clean(page, where);
      await accessible(page, where);
      assert.ok(
        await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1),
        `${where} is wider than the page`,
      );
      assert.equal(await page.evaluate(() => window.pwned), undefined, where);
      const picture = first
        ? shots[path]
        : theme === "dark" && width === 1440 && path === "/messages"
          ? "messages-dark"
          : theme === "dark" && width === 390 && path === "/"
            ? "overview-narrow"
            : null;
      if (process.env.SCREENSHOTS && picture) {
        const png = await page.screenshot({ path: join(process.env.SCREENSHOTS, `${picture}.png`) });
        assert.ok(png.length < 150000, `${picture}.png has ${png.length} bytes`);
      }
    }
  }
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await page.setViewportSize({ width: 1440, height: 900 });
  const phone = await open(`${url}/console/`, { theme: "dark", width: 390 });
  await signIn(phone, { token: admin });
  for (const path of ["/", "/data", "/messages", "/runs"]) {
    await phone.go(path);
    await accessible(phone, `opened on a phone: ${path}`);
    clean(phone, `opened on a phone: ${path}`);
  }
  await phone.context().close();
}
