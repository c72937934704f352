// Every view, as a person sees it: in light and dark, wide and narrow.
import assert from "node:assert/strict";
import { join } from "node:path";
import { accessible, clean, gecko, look, open, signIn } from "./harness.mjs";

export const keys = (k) => `/data?key=${encodeURIComponent(k)}`;

/** viewsOf are the views of what startNode has put into a node, and those of them that stand for their kind. */
export function viewsOf({ hostile, sent, run }) {
  const views = [
    "/",
    "/?range=7d",
    "/connect",
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
    "/indexes",
    "/indexes?search=none",
    "/triggers",
    "/triggers?name=changed",
    "/triggers?name=none",
    "/analysis",
    "/analysis?part=biggest",
    "/analysis?part=hot",
    "/analysis?part=slow",
    "/scripts",
    "/scripts?part=functions",
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
    "/queues?name=mail",
    "/flow",
    "/flow?key=vendor",
    "/schedules",
    "/schedules?id=daily",
    "/groups",
    "/groups?name=all",
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
    "/connect",
    "/data",
    keys("profile:1"),
    keys("doc"),
    keys(hostile),
    "/indexes",
    "/triggers?name=changed",
    "/analysis",
    "/cli",
    "/live",
    "/messages",
    `/messages?id=${sent.messageId}`,
    "/dead",
    "/queues",
    "/queues?name=mail",
    "/schedules?id=daily",
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

/** all is set by `make browsers`: every view in each theme at each width is looked at by axe. */
const all = !!process.env.EVERY_WIDTH;
const shown = [
  ["light", 1440],
  ["dark", 390],
  ["dark", 1440],
  ["light", 390],
  ...(all
    ? [768, 1024, 1920].flatMap((w) => [
        ["light", w],
        ["dark", w],
      ])
    : []),
];
/** extra are pictures that are not of the light theme on a screen of 1440 pixels. */
const extra = { "/messages dark 1440": "messages-dark" };

/** fits holds a page to the width of the screen, and tables that are cards to theirs. */
export async function fits(page, where) {
  const wide = await page.evaluate(() => {
    const cards = [...document.querySelectorAll(".rows")].filter(
      (e) => innerWidth <= 640 && e.scrollWidth > e.clientWidth + 1,
    );
    if (cards.length) return cards.map((e) => e.getAttribute("aria-label")).join(", ");
    if (document.documentElement.scrollWidth <= innerWidth + 1) return "";
    const beyond = [...document.querySelectorAll("main *")].filter(
      (e) => e.getBoundingClientRect().right > innerWidth + 1,
    );
    return (
      beyond
        .map((e) => `${e.tagName}.${e.className}`)
        .slice(0, 5)
        .join(", ") || "the page"
    );
  });
  assert.equal(wide, "", `${where}: wider than the screen`);
}

export async function picture(page, name) {
  if (!process.env.SCREENSHOTS || !name) return;
  const png = await page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`) });
  assert.ok(png.length < 150000, `${name}.png has ${png.length} bytes`);
}

export async function everyView(page, c) {
  const { url, admin, sent, run } = c,
    { views, short } = viewsOf(c);
  const shots = {
    "/?range=7d": "overview-7d",
    [keys("profile:1")]: "data-hash",
    "/cli": "command-line",
    [`/messages?id=${sent.messageId}`]: "message",
    [`/runs?id=${run.workflowRunId}`]: "run",
    [keys(c.hostile)]: "key-hostile",
  };
  /** nameOf is the name of the picture of a view: what stands for its kind has one, the overview in walks.mjs. */
  const nameOf = (path) =>
    shots[path] ??
    (path !== "/" && short.has(path)
      ? path
          .slice(1)
          .replace(/\?\w+=/g, "-")
          .replace(/[^a-z0-9-]+/gi, "-")
      : null);
  for (const path of gecko && !all ? short : views) {
    for (const [theme, width] of shown) {
      const first = theme === "light" && width === 1440;
      const twice = short.has(path) && !gecko;
      if (!first && !(theme === "dark" && width === 390) && !twice && !all) continue;
      const where = `${path.slice(0, 60)} ${theme} ${width}`;
      if (first) await page.go(path);
      await look(page, theme, width);
      clean(page, where);
      await accessible(page, where);
      await fits(page, where);
      assert.equal(await page.evaluate(() => window.pwned), undefined, where);
      await picture(page, first ? nameOf(path) : extra[`${path} ${theme} ${width}`]);
    }
    for (const width of [768, 1024, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      await fits(page, `${path.slice(0, 60)} ${width}`);
    }
  }
  await look(page, "light", 1440);
  const phone = await open(`${url}/console/`, { theme: "dark", width: 390 });
  await signIn(phone, { token: admin });
  await look(phone, "dark", 390);
  for (const path of ["/", "/data", "/messages", "/runs"]) {
    await phone.go(path);
    await accessible(phone, `opened on a phone: ${path}`);
    clean(phone, `opened on a phone: ${path}`);
  }
  await phone.context().close();
}
