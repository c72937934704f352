// What the tests and the benchmark of the console share: nodes and pages.
// TRIREME is the binary, CHROMIUM or FIREFOX the browser.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, firefox } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const downloads = mkdtempSync(join(tmpdir(), "console-")),
  processes = [],
  folders = [downloads];
/** gecko: it is Firefox, as it was installed, which is spoken to by WebDriver BiDi. */
export const gecko = !!process.env.FIREFOX;
export const browser = gecko
  ? await firefox.launch({
      channel: "moz-firefox",
      executablePath: process.env.FIREFOX,
      downloadsPath: downloads,
      firefoxUserPrefs: { "ui.prefersReducedMotion": 1, "layout.css.prefers-color-scheme.content-override": 1 },
    })
  : await chromium.launch({
      executablePath: process.env.CHROMIUM,
      args: process.getuid() === 0 ? ["--no-sandbox"] : [],
    });

/** look gives a page another theme and width. Firefox emulates no theme: its page has the button for it. */
export async function look(page, theme, width) {
  if (gecko) {
    const button = page.locator("button[aria-label^='Theme:']");
    for (let i = 0; i < 3 && (await page.evaluate(() => document.documentElement.dataset.theme)) !== theme; i++)
      await button.evaluate((b) => b.click());
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), theme);
  } else await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
  await page.setViewportSize({ width, height: 900 });
}

/** start runs the binary until a line says that it is ready, and gives what it has printed. */
export function start(args, ready, env = {}) {
  const dir = mkdtempSync(join(tmpdir(), "console-"));
  folders.push(dir);
  const p = spawn(process.env.TRIREME, [...args, "--data-dir", dir], {
    cwd: dir,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  processes.push(p);
  return new Promise((done, fail) => {
    let out = "",
      err = "";
    p.stderr.on("data", (b) => {
      err += b;
    });
    p.stdout.on("data", (b) => {
      out += b;
      if (ready.test(out)) done({ p, out, value: (name) => new RegExp(`^${name}=(.*)$`, "m").exec(out)?.[1] });
    });
    p.on("exit", (code) => fail(new Error(`${args[0]} ended with ${code}: ${err}`)));
  });
}

/** until asks again and again until fn does not throw. */
export async function until(fn, what, ms = 120000) {
  const end = Date.now() + ms;
  for (;;) {
    try {
      return await fn();
    } catch (e) {
      if (Date.now() > end) throw new Error(`${what}: ${e.message}`);
    }
    await new Promise((go) => setTimeout(go, 50));
  }
}

/** lost ends the wait for a body of which the browser tells no more once its page was left. */
const lost = () =>
  new Promise((done) => {
    setTimeout(done, 30_000).unref();
  });

/** open opens a page that fails the test by any error of its console, script or policy. */
export async function open(
  url,
  { theme = "light", width = 1440, ignore, bodies, origins = [new URL(url).origin] } = {},
) {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: theme,
    reducedMotion: "reduce",
  });
  // Firefox tells of what its policy refuses by this event alone.
  await context.addInitScript(() =>
    addEventListener("securitypolicyviolation", (e) => console.error(`${e.violatedDirective} refuses ${e.blockedURI}`)),
  );
  context.setDefaultTimeout(120000); // the machine may be busy with other tests
  const page = await context.newPage();
  page.faults = [];
  page.replies = [];
  page.bodies = [];
  page.on("console", (m) => {
    if (["error", "warning"].includes(m.type()) && !ignore?.test(m.text())) page.faults.push(m.text());
  });
  page.on("pageerror", (e) => page.faults.push(e.message));
  page.on("dialog", (d) => {
    if (!(page.mayStay && d.type() === "beforeunload")) page.faults.push(`a dialog opened: ${d.type()} ${d.message()}`);
    d.dismiss();
  });
  page.on("response", (r) => {
    const reply = { status: r.status(), path: new URL(r.url()).pathname, text: "" };
    page.replies.push(reply);
    if (bodies && reply.path.includes("/api/") && !/event-stream/.test(r.headers()["content-type"] ?? ""))
      page.bodies.push(
        Promise.race([r.text(), lost()]).then(
          (text) => {
            reply.text = text ?? "";
          },
          () => {},
        ),
      ); // its page was left
  });
  page.on("request", (r) => {
    if (!origins.includes(new URL(r.url()).origin)) page.faults.push(`loaded from elsewhere: ${r.url()}`);
  });
  await page.goto(url);
  page.go = async (path) => {
    await page.goto(url + path.replace(/^\//, ""));
    await settled(page);
    await Promise.all(page.bodies); // a body that is not read yet is lost with its page
  };
  return page;
}
/** downloaded is the file that the browser keeps after an act. Firefox tells of none: its folder has it. */
export async function downloaded(page, act) {
  if (!gecko) {
    const file = page.waitForEvent("download");
    await act();
    return readFileSync(await (await file).path());
  }
  await act();
  return until(() => {
    const [name, more] = readdirSync(downloads);
    assert.ok(name && !more, "one file that is complete");
    const bytes = readFileSync(join(downloads, name));
    assert.ok(bytes.length > 0);
    return bytes;
  }, "the download");
}
export async function settled(page) {
  await page.waitForSelector("main .page-head");
  await page.waitForFunction(() => !document.querySelector("main .loading"));
}
export async function signIn(page, form) {
  await page.waitForSelector(".sign-in-card");
  if (form.user) await page.getByRole("button", { name: "ACL user" }).click();
  for (const [name, value] of Object.entries(form)) await page.fill(`input[name=${name}]`, value);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForSelector(".shell");
}
export async function accessible(page, where) {
  const broken = /\b(undefined|NaN|Invalid Date)\b|\[object /.exec(await page.evaluate(() => document.body.innerText));
  assert.equal(broken, null, `${where}: ${broken?.input.slice(Math.max(0, broken.index - 80), broken.index + 80)}`);
  await page.evaluate(`${axe};0`);
  const found = await page.evaluate(() =>
    axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], resultTypes: ["violations"] }),
  );
  assert.deepEqual(
    found.violations.map((v) => `${where}: ${v.id}: ${v.nodes[0].html.slice(0, 200)} ${v.nodes[0].failureSummary}`),
    [],
  );
}
export const clean = (page, where) => assert.deepEqual(page.faults, [], where);
export const section = (name) => console.log(name);

/** end stops everything that was started. */
export async function end() {
  for (const p of processes) {
    p.removeAllListeners("exit");
    p.kill("SIGINT");
  }
  await browser.close();
  await Promise.all(
    processes.map((p) => (p.exitCode !== null || p.signalCode ? 0 : new Promise((done) => p.on("exit", done)))),
  );
  for (const f of folders) rmSync(f, { recursive: true, force: true });
}

/** row finds a base of free ports for three nodes. */
export async function row() {
  for (;;) {
    const base = 20000 + Math.floor(Math.random() * 12000); // below the ports that systems give to clients
    const taken = await Promise.all(
      [0, 1, 2, 10, 11, 12, 20, 21, 22].map(
        (i) =>
          new Promise((done) => {
            const s = connect(base + i, "127.0.0.1");
            s.on("connect", () => {
              s.destroy();
              done(true);
            });
            s.on("error", () => done(false));
          }),
      ),
    );
    if (!taken.includes(true)) return base;
  }
}

/** reload asks for the view again, unless the page has noticed by itself that its session has ended. */
export const reload = (p) =>
  p
    .getByRole("button", { name: "Reload" })
    .click({ timeout: 5_000 })
    .catch(() => {});
