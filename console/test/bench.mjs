// The benchmark of the console: `make console-bench` (ARGS="views" or "cost", SCALE=0.01 for a small run).
//
// views fills a node (at SCALE 1: 1,000,000 keys, 1,000,000 messages, 10,000 dead letters, 100,000 runs and one run of
// 10,000 steps) and measures in Chromium how long each view takes to show its first data, how many frames a second
// scrolling draws, and zooming the long run, and how much memory the node needs for it.
// cost opens the console on every node of a cluster of three and measures what that adds to the leader's processor time
// at RATE requests a second (10,000), in ROUNDS of DURATION seconds each without and with the consoles.
//
// Results are printed as rows of docs/performance.md and written to .bench/console.json.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { client, fill, sink } from "./fill.mjs";
import { end, open, row, settled, signIn, start, until } from "./harness.mjs";

const scale = Number(process.env.SCALE ?? 1),
  rate = Number(process.env.RATE ?? 10000),
  seconds = Number(process.env.DURATION ?? 20),
  rounds = Number(process.env.ROUNDS ?? 5);
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const say = (...words) => console.log(...words);
const result = {};

/** memory is that of a process, and what is alive in its heap after a collection, in MB. */
async function memory(pid, profiles) {
  await (await fetch(`${profiles}/debug/pprof/heap?gc=1`)).arrayBuffer();
  const text = await (await fetch(`${profiles}/debug/pprof/heap?gc=1&debug=1`)).text();
  const rss = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
  return { rss, heap: Number(/^# HeapAlloc = (\d+)/m.exec(text)[1]) / (1 << 20) };
}

/**
 * frames counts what is drawn in two seconds in which what is shown is scrolled down and up, or in which the wheel is
 * turned over a waterfall, in and out.
 */
const frames = (page, how = "scroll") =>
  page.evaluate((how) => {
    const boxes = [...document.querySelectorAll("main, main *")].filter(
      (e) => e.scrollHeight > e.clientHeight + 50 && /auto|scroll/.test(getComputedStyle(e).overflowY),
    );
    const scrolled = [document.scrollingElement, ...boxes],
      rows = document.querySelector(".fall-rows");
    const acts = {
      scroll: (at) => {
        for (const e of scrolled) e.scrollTop = ((1 - Math.cos(at / 200)) / 2) * (e.scrollHeight - e.clientHeight);
      },
      zoom: (at) => {
        const box = rows.getBoundingClientRect();
        const deltaY = Math.sin(at / 300) > 0 ? -20 : 20,
          clientX = box.left + box.width * 0.8;
        rows.dispatchEvent(new WheelEvent("wheel", { ctrlKey: true, cancelable: true, deltaY, clientX }));
      },
    };
    return new Promise((done) => {
      let n = 0,
        longest = 0,
        began = 0,
        last = 0;
      const step = (now) => {
        longest = Math.max(longest, now - last);
        last = now;
        n++;
        if (now - began > 2000) return done({ fps: ((n - 1) / (now - began)) * 1000, longest });
        acts[how](now - began);
        requestAnimationFrame(step);
      };
      // Looking for what can be scrolled lays out what is hidden: the frame of that is not one of scrolling.
      requestAnimationFrame(() =>
        requestAnimationFrame((now) => {
          began = last = now;
          step(now);
        }),
      );
    });
  }, how);

async function views() {
  const profiles = `127.0.0.1:${await row()}`;
  const node = await start(
    ["dev", "--port", "0", "--resp", "off", "--log-level", "error", "--pprof", profiles],
    /#enter=\S+\n/,
  );
  const url = node.value("TRIREME_URL"),
    token = node.value("TRIREME_ADMIN_TOKEN"),
    ask = client(url, token);
  await fill(ask, await sink());
  const logs = await ask("/v2/logs?count=1", { method: "GET" });
  const page = await open(`${url}/console/`, { ignore: /Failed to load resource/ });
  await signIn(page, { token });
  const before = await memory(node.p.pid, `http://${profiles}`);
  const shown = [
    "/",
    "/connect",
    "/data",
    "/data?prefix=user:",
    "/data?match=user:7:*",
    "/data?key=user:8:8",
    "/analysis",
    "/indexes",
    "/cli",
    "/live?part=slow",
    "/live?part=clients",
    "/messages",
    "/messages?state=DELIVERED",
    "/messages?label=label-7",
    `/messages?id=${logs.events[0].messageId}`,
    "/dead",
    "/dead?of=runs",
    "/queues",
    "/flow",
    "/schedules",
    "/groups",
    "/keys",
    "/runs",
    "/runs?label=flow-7",
    "/runs?id=wfr_long",
    "/cluster",
    "/access",
    "/access?part=users",
    "/audit",
  ];
  result.views = {};
  say(
    "\n| View | First data, median of 5 (ms) | Slowest (ms) | Frames a second | Longest frame (ms) |" +
      "\n|---|---|---|---|---|",
  );
  for (const path of shown) {
    const times = [];
    for (let i = 0; i < 5; i++) {
      const began = performance.now();
      await page.goto(`${url}/console${path}`);
      await settled(page);
      times.push(performance.now() - began);
    }
    const f = await frames(page);
    const name = path.replace(/msg_\w+/, "…");
    result.views[name] = { first: median(times), slowest: Math.max(...times), ...f };
    say(
      `| \`${name}\` | ${Math.round(median(times))} | ${Math.round(Math.max(...times))} | ` +
        `${Math.round(f.fps)} | ${Math.round(f.longest)} |`,
    );
  }
  await page.goto(`${url}/console/runs?id=wfr_long`);
  await settled(page);
  const zoomed = await frames(page, "zoom");
  result.views["/runs?id=wfr_long, zooming"] = { first: 0, slowest: 0, ...zoomed };
  say(`| \`/runs?id=wfr_long\`, zooming | | | ${Math.round(zoomed.fps)} | ${Math.round(zoomed.longest)} |`);
  assert.deepEqual(page.faults, []);
  const after = await memory(node.p.pid, `http://${profiles}`);
  result.memory = { before, after };
  say(
    `\nmemory of the node: heap ${before.heap.toFixed(1)} MB before, ${after.heap.toFixed(1)} MB after; ` +
      `resident ${before.rss.toFixed(1)} MB before, ${after.rss.toFixed(1)} MB after`,
  );
  const all = Object.values(result.views);
  return [
    [
      `first data within 1 s (slowest median ${Math.round(Math.max(...all.map((v) => v.first)))} ms)`,
      all.every((v) => v.first < 1000),
    ],
    [
      `60 frames a second, rounded (fewest ${Math.min(...all.map((v) => v.fps)).toFixed(1)})`,
      all.every((v) => Math.round(v.fps) >= 60),
    ],
    [`heap grows by less than 20 MB (${(after.heap - before.heap).toFixed(1)} MB)`, after.heap - before.heap < 20],
  ];
}

/** load sends SETs over HTTP at a rate, as far as they are answered; stop says how many were. */
function load(port, token, perSecond) {
  const body = (i) =>
    `["SET","load:${i % 100000}","a value of some sixty-four bytes, which is what rows of the table use"]`;
  const message = (i) => {
    const b = body(i);
    return `POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${b.length}\r\n\r\n${b}`;
  };
  let sent = 0,
    answered = 0,
    wrong = 0,
    owed = 0,
    last = performance.now();
  const idle = [],
    sockets = Array.from({ length: 64 }, () => {
      const s = connect(port, "127.0.0.1", () => idle.push(s));
      s.setNoDelay();
      s.on("data", (b) => {
        const text = b.toString("latin1");
        if (!text.includes('"OK"')) return;
        if (!text.startsWith("HTTP/1.1 200")) wrong++;
        answered++;
        idle.push(s);
      });
      s.on("error", () => {
        wrong++;
      });
      return s;
    });
  const timer = setInterval(() => {
    const now = performance.now();
    // What a busy node can't take is not caught up.
    owed = Math.min(owed + ((now - last) * perSecond) / 1000, perSecond / 5);
    last = now;
    for (; owed >= 1 && idle.length; owed--) idle.pop().write(message(sent++));
  }, 1);
  return {
    count: () => answered,
    stop: () => {
      clearInterval(timer);
      for (const s of sockets) s.destroy();
      return wrong;
    },
  };
}

/** used is the processor time of a process in seconds. */
const used = (pid) => {
  const f = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(f[11]) + Number(f[12])) / 100;
};

async function cost() {
  const base = await row(),
    cluster = await start(
      [
        "local-cluster",
        "--http-port",
        base,
        "--cluster-port",
        base + 10,
        "--gossip-port",
        base + 20,
        "--resp-port",
        "0",
        "--log-level",
        "error",
      ].map(String),
      /An interrupt/,
    );
  const token = cluster.value("TRIREME_ADMIN_TOKEN"),
    at = (i) => `http://127.0.0.1:${base + i}`;
  const leader = await until(async () => {
    const s = await client(at(0), token)("/admin/cluster", { method: "GET" });
    assert.ok(s.leader);
    return s.leader;
  }, "a leader");
  const pid = Number(new RegExp(`${leader} is process (\\d+)`).exec(cluster.out)[1]),
    led = Number(leader[1]) - 1;
  const traffic = load(base + led, token, rate);
  const measure = async () => {
    await new Promise((go) => setTimeout(go, 1000));
    const time = performance.now(),
      cpu = used(pid),
      n = traffic.count();
    await new Promise((go) => setTimeout(go, seconds * 1000));
    const requests = traffic.count() - n;
    return { rate: (requests / (performance.now() - time)) * 1000, perRequest: ((used(pid) - cpu) / requests) * 1e6 };
  };
  result.cost = [];
  say(
    "\n| Requests a second, without and with | Leader's processor time for one (us), without | with the consoles |" +
      " Difference |\n|---|---|---|---|",
  );
  for (let i = 0; i < rounds; i++) {
    const one = {},
      order = i % 2 ? ["with", "without"] : ["without", "with"];
    for (const what of order) {
      const pages = [];
      if (what === "with")
        for (let j = 0; j < 3; j++) {
          const p = await open(`${at(j)}/console/`, { ignore: /Failed to load resource/ });
          await signIn(p, { token });
          await settled(p);
          pages.push(p);
        }
      one[what] = await measure();
      for (const p of pages) await p.context().close();
    }
    one.more = (one.with.perRequest / one.without.perRequest - 1) * 100;
    result.cost.push(one);
    say(
      `| ${Math.round(one.without.rate)}, ${Math.round(one.with.rate)} | ${one.without.perRequest.toFixed(2)} | ` +
        `${one.with.perRequest.toFixed(2)} | ${one.more.toFixed(2)} % |`,
    );
  }
  const wrong = traffic.stop(),
    more = median(result.cost.map((c) => c.more));
  return [
    ["every reply is right", wrong === 0],
    [`the consoles add less than 1 % to the leader's processor time (median ${more.toFixed(2)} %)`, more < 1],
  ];
}

let code = 0;
try {
  const wanted = process.argv.slice(2),
    lines = [];
  if (!wanted.length || wanted.includes("views")) lines.push(...(await views()));
  if (!wanted.length || wanted.includes("cost")) lines.push(...(await cost()));
  say("");
  for (const [what, holds] of lines) {
    say(`${holds ? "holds" : "MISSED"}: ${what}`);
    if (!holds) code = 1;
  }
  const folder = fileURLToPath(new URL("../../.bench/", import.meta.url));
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}console.json`, `${JSON.stringify({ scale, rate, seconds, rounds, ...result }, null, 1)}\n`);
} catch (e) {
  console.error(e);
  code = 2;
} finally {
  await end();
}
process.exit(code);
