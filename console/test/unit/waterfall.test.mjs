// Tests what a waterfall draws: runs and messages as spans of time, and the part of them that is seen.
import assert from "node:assert/strict";
import { test } from "vitest";
import { attempts, callbacksOf, messageBounds, messageRows } from "../../src/waterfall/message";
import { extent, took } from "../../src/waterfall/row";
import { firstOpen, runBounds, runRows } from "../../src/waterfall/run";
import { around, inside, isAll, keyAct, moved, pan, shown, ticks, zoom } from "../../src/waterfall/view";

/** of are the spans of a row in few words. */
const of = (row) => row.spans.map((s) => `${s.kind}${s.failed ? "!" : ""} ${s.from}-${s.to ?? ""}`);
const init = { stepId: 0, stepName: "init", stepType: "Initial", state: "STEP_SUCCESS", createdAt: 100 };
const one = (...steps) => steps.map((s) => ({ type: s.stepId === undefined ? "next" : "sequential", steps: [s] }));
const run = (groups, more) => ({ createdAt: 100, groups, ...more });
const done = { state: "STEP_SUCCESS" };

let rows;

test("A step that is done, one whose attempts failed before, one that failed for good", () => {
  rows = runRows(
    run(
      one(
        init,
        { stepId: 1, stepName: "a", stepType: "Run", ...done, dueAt: 100, createdAt: 160 },
        {
          stepId: 2,
          stepName: "b",
          stepType: "Run",
          ...done,
          dueAt: 160,
          createdAt: 900,
          failures: [
            { time: 200, status: 500 },
            { time: 400, status: 0 },
          ],
        },
        { stepId: 3, state: "STEP_FAILED", dueAt: 900, failures: [{ time: 950, status: 500 }] },
      ),
      { completedAt: 960 },
    ),
  );
  assert.deepEqual(rows.map(of), [
    [],
    ["work 100-160"],
    ["work! 160-200", "work! 200-400", "work 400-900"],
    ["work! 900-950"],
  ]);
  assert.deepEqual(
    rows.map((r) => [r.name, r.tone, r.note, r.pick]),
    [
      ["init", "good", "", "0"],
      ["a", "good", "", "1"],
      ["b", "good", "", "2"],
      ["next step", "bad", "failed", "3"],
    ],
  );
  assert.equal(rows[2].spans[1].text, "failed without an answer");
});

test("What goes on is open; a retry is due at a time", () => {
  rows = runRows(
    run(
      one(init, { stepId: 1, state: "STEP_RETRY", dueAt: 100, nextAt: 5000, failures: [{ time: 150, status: 503 }] }),
    ),
  );
  assert.deepEqual(rows.map(of), [[], ["work! 100-150", "retry 150-"]]);
  assert.equal(rows[1].spans[1].until, 5000);
  assert.equal(took(rows[1], 1100), 1000);
  rows = runRows(run(one(init, { stepId: 1, state: "STEP_PROGRESS", dueAt: 100 })));
  assert.deepEqual(of(rows[1]), ["queue 100-"]);
  rows = runRows(run(one(init, { stepId: 1, state: "STEP_PROGRESS", dueAt: 100, sentAt: 130 })));
  assert.deepEqual(of(rows[1]), ["queue 100-130", "work 130-"]);
});

test("What waited for its turn, what failed and waited for its delay, and what took less than a millisecond", () => {
  rows = runRows(
    run(
      one(
        init,
        {
          stepId: 1,
          stepName: "a",
          ...done,
          dueAt: 100,
          sentAt: 1210,
          createdAt: 1250,
          failures: [
            { sentAt: 140, time: 150, status: 500 },
            { sentAt: 650, time: 700, status: 500 },
          ],
        },
        { stepId: 2, stepName: "b", ...done, dueAt: 1250, sentAt: 1250, createdAt: 1250 },
        {
          stepId: 3,
          stepName: "c",
          state: "STEP_FAILED",
          dueAt: 1250,
          failures: [{ sentAt: 1260, time: 1260, status: 500 }],
        },
      ),
      { completedAt: 1260 },
    ),
  );
  assert.deepEqual(rows.slice(1).map(of), [
    ["queue 100-140", "work! 140-150", "retry 150-650", "work! 650-700", "retry 700-1210", "work 1210-1250"],
    ["work 1250-1250"],
    ["queue 1250-1260", "work! 1260-1260"],
  ]);
});

test("A start that was delayed, a sleep, a sleep that a cancelled run did not finish", () => {
  rows = runRows(
    run(
      one(
        init,
        { stepId: 1, stepName: "nap", stepType: "SleepFor", ...done, dueAt: 1000, createdAt: 1010, wakesAt: 4010 },
        {
          stepId: 2,
          stepName: "long",
          stepType: "SleepFor",
          state: "STEP_CANCELED",
          dueAt: 4010,
          createdAt: 4020,
          wakesAt: 90_000,
        },
      ),
      { completedAt: 5000 },
    ),
  );
  assert.deepEqual(rows.map(of), [
    ["sleep 100-1000"],
    ["work 1000-1010", "sleep 1010-4010"],
    ["work 4010-4020", "sleep 4020-5000"],
  ]);
});

test("Branches that sleep: one that is done, one that goes on, one that a cancelled run did not finish", () => {
  const nap = (more) => ({
    stepId: 1,
    stepType: "SleepFor",
    plannedAt: 200,
    createdAt: 200,
    dueAt: 900,
    wakesAt: 900,
    ...more,
  });
  const branches = (step, more) =>
    of(
      runRows(
        run(
          [
            { type: "sequential", steps: [init] },
            { type: "parallel", steps: [nap(step)] },
          ],
          more,
        ),
      )[2],
    );
  assert.deepEqual(branches({ ...done, createdAt: 930 }), ["sleep 200-900", "work 900-930"]);
  assert.deepEqual(branches({ state: "STEP_PROGRESS" }), ["sleep 200-900", "queue 900-"]);
  assert.deepEqual(branches({ state: "STEP_PROGRESS", sentAt: 910 }), ["sleep 200-900", "queue 900-910", "work 910-"]);
  assert.deepEqual(branches({ state: "STEP_CANCELED" }, { completedAt: 400 }), ["sleep 200-400"]);
});

test("A wait that is over and one that is not", () => {
  const wait = { eventId: "paid", since: 210, deadline: 9000, timedOut: false };
  rows = runRows(
    run(
      one(
        init,
        { stepId: 1, stepType: "Wait", ...done, dueAt: 200, createdAt: 700, wait },
        {
          stepId: 2,
          stepType: "Wait",
          state: "STEP_PROGRESS",
          dueAt: 700,
          createdAt: 710,
          wait: { ...wait, since: 710 },
        },
      ),
    ),
  );
  assert.deepEqual(rows.slice(1).map(of), [
    ["work 200-210", "event 210-700"],
    ["work 700-710", "event 710-"],
  ]);
  assert.equal(rows[2].spans[1].until, 9000);
});

test("A call that was retried, with a row of its own; one that goes on; one that is to be repeated", () => {
  const call = { url: "https://a.example/x", method: "PUT", calledAt: 120 };
  const called = (step, more) =>
    runRows(
      run(one(init, { stepId: 1, stepName: "c", stepType: "Call", dueAt: 100, ...step, call: { ...call, ...more } })),
    );
  rows = called({ ...done, createdAt: 400 }, { answeredAt: 300, status: 200, failures: [{ time: 200, status: 503 }] });
  assert.deepEqual(rows.slice(1).map(of), [
    ["work 100-120", "call! 120-200", "call 200-300", "work 300-400"],
    ["call! 120-200", "call 200-300"],
  ]);
  assert.deepEqual(
    [rows[2].name, rows[2].note, rows[2].depth, rows[2].pick],
    ["PUT https://a.example/x", "200", 1, "1"],
  );
  rows = called({ state: "STEP_PROGRESS", createdAt: 120 }, { sentAt: 120 });
  assert.deepEqual(rows.slice(1).map(of), [["work 100-120", "call 120-"], ["call 120-"]]);
  rows = called({ state: "STEP_RETRY", createdAt: 120, nextAt: 9000 }, { failures: [{ time: 200, status: 503 }] });
  assert.deepEqual(of(rows[2]), ["call! 120-200", "retry 200-"]);
  rows = called({ ...done, createdAt: 400 }, { answeredAt: 300, status: 502 });
  assert.deepEqual([of(rows[2]), rows[2].tone], [["call! 120-300"], "bad"]);
});

test("An invoked run", () => {
  const invoked = {
    workflowRunId: "wfr_c",
    workflowUrl: "u",
    workflowState: "RUN_SUCCESS",
    createdAt: 130,
    completedAt: 500,
  };
  rows = runRows(run(one(init, { stepId: 1, stepType: "Invoke", ...done, dueAt: 100, createdAt: 510, invoked })));
  assert.deepEqual(rows.slice(1).map(of), [["work 100-130", "run 130-500", "work 500-510"], ["run 130-500"]]);
  assert.deepEqual([rows[2].name, rows[2].note], ["wfr_c", "success"]);
});

test("A block: a heading that cannot be selected, and its branches below it", () => {
  const branch = (n, more) => ({ stepId: n, stepName: `p${n}`, stepType: "Run", dueAt: 110, ...more });
  const block = {
    type: "parallel",
    steps: [branch(1, { ...done, createdAt: 300 }), branch(2, { state: "STEP_PROGRESS" })],
  };
  rows = runRows(run([...one(init), block]));
  assert.deepEqual(
    rows.slice(1).map((r) => [r.name, r.depth, r.tone, r.pick, ...of(r)]),
    [
      ["2 in parallel", 0, "info", undefined],
      ["p1", 1, "good", "1", "work 110-300"],
      ["p2", 1, "info", "2", "queue 110-"],
    ],
  );
  assert.equal(extent(rows[1]), null);
  assert.equal(new Set(rows.map((r) => r.id)).size, rows.length);
  assert.equal(firstOpen([...one(init), block]), 1);
  assert.equal(firstOpen(one(init, { stepId: 1, ...done })), 1);
  assert.equal(firstOpen([]), 0);
  assert.deepEqual(runBounds(run([]), [], 400), { from: 100, to: 400 });
  assert.deepEqual(runBounds(run([], { completedAt: 300 }), [], 400), { from: 100, to: 300 });
  assert.deepEqual(runBounds(run([]), [], 100), { from: 100, to: 101 });
  // A resumed run has steps of the run before.
  const resumed = run(one(init, { stepId: 1, ...done, dueAt: 40, sentAt: 40, createdAt: 60 }));
  assert.deepEqual(runBounds(resumed, runRows(resumed), 400), { from: 40, to: 400 });
});

test("A message: refused once, then delivered; its callback", () => {
  const event = (time, state, more) => ({ time, state, messageId: "m", url: "https://a.example", ...more });
  const events = [
    event(100, "CREATED"),
    event(110, "ACTIVE"),
    event(150, "ERROR", { responseStatus: 500 }),
    event(150, "RETRY", { nextDeliveryTime: 1150 }),
    event(1160, "ACTIVE"),
    event(1200, "DELIVERED", { responseStatus: 200 }),
  ];
  const back = [event(1200, "CREATED"), event(1205, "ACTIVE"), event(1230, "DELIVERED", { responseStatus: 200 })].map(
    (e) => ({
      ...e,
      messageId: "cb",
      url: "https://a.example/cb",
      sourceMessageId: "m",
    }),
  );
  rows = messageRows(
    events,
    callbacksOf([...back, { ...back[0], sourceMessageId: "other", messageId: "x" }].reverse(), "m"),
  );
  assert.deepEqual(rows.map(of), [
    ["queue 100-110", "work! 110-150", "retry 150-1150"],
    ["queue 1150-1160", "work 1160-1200"],
    ["queue 1200-1205", "work 1205-1230"],
  ]);
  assert.deepEqual(
    rows.map((r) => [r.name, r.note, r.tone]),
    [
      ["Attempt 1", "500", "bad"],
      ["Attempt 2", "200", "good"],
      ["Callback", "delivered", "good"],
    ],
  );
  assert.deepEqual(
    attempts(events).map((a) => a.events),
    [
      [1, 2, 3],
      [4, 5],
    ],
  );
  assert.deepEqual(messageBounds(events, [back], 9999), { from: 100, to: 1230 });
  assert.deepEqual(messageBounds(events.slice(0, 5), [], 9999), { from: 100, to: 9999 });
  // One that waits, one that is sent at this moment, one whose retry was brought forward, one that was cancelled.
  assert.deepEqual(
    messageRows(events.slice(0, 1), []).map((r) => [r.name, ...of(r)]),
    [["Waiting", "queue 100-"]],
  );
  assert.deepEqual(messageRows(events.slice(0, 2), []).map(of), [["queue 100-110", "work 110-"]]);
  assert.deepEqual(of(messageRows(events.slice(0, 4), [])[0]), ["queue 100-110", "work! 110-150", "retry 150-"]);
  assert.deepEqual(messageRows([...events.slice(0, 4), event(300, "ACTIVE"), event(310, "DELIVERED")], []).map(of), [
    ["queue 100-110", "work! 110-150", "retry 150-300"],
    ["work 300-310"],
  ]);
  assert.deepEqual(of(messageRows([...events.slice(0, 4), event(700, "CANCELED")], [])[0]), [
    "queue 100-110",
    "work! 110-150",
    "retry 150-700",
  ]);
  assert.equal(messageRows([event(100, "CREATED"), event(900, "CANCELED")], [])[0].note, "canceled");
  assert.deepEqual(messageRows([], []), []);
});

test("The part that is seen", () => {
  const all = { from: 0, to: 1000 };
  assert.deepEqual(inside({ from: -50, to: 100 }, all), { from: 0, to: 150 });
  assert.deepEqual(inside({ from: 900, to: 1100 }, all), { from: 800, to: 1000 });
  assert.deepEqual(inside({ from: -5, to: 5000 }, all), all);
  assert.deepEqual(zoom(all, all, 0.5, 250), { from: 125, to: 625 });
  assert.deepEqual(zoom({ from: 125, to: 625 }, all, 2, 250), all);
  assert.ok(isAll(zoom({ from: 400, to: 500 }, all, 100, 450), all));
  let part = all;
  for (let i = 0; i < 100; i++) part = zoom(part, all, 0.5, 333.25);
  assert.ok(part.to - part.from === 2 && part.from <= 333.25 && part.to >= 333.25, JSON.stringify(part));
  assert.deepEqual(pan({ from: 100, to: 200 }, all, 0.2), { from: 120, to: 220 });
  assert.deepEqual(pan({ from: 100, to: 200 }, all, -2), { from: 0, to: 100 });
  assert.deepEqual(around(200, 300, all), { from: 185, to: 315 });
  assert.equal(keyAct("x", 10), null);
  assert.deepEqual(keyAct("PageUp", 10), { act: "select", by: -10 });
});

test("Selection jumps over headings and stays at the ends", () => {
  const picks = [{ pick: "a" }, {}, { pick: "b" }, { pick: "b" }, { pick: "c" }];
  assert.equal(moved(picks, 0, 1), 2);
  assert.equal(moved(picks, 2, -1), 0);
  assert.equal(moved(picks, 0, -1), 0);
  assert.equal(moved(picks, 0, 99), 4);
  assert.equal(moved(picks, 2, 1), 4);
  assert.equal(moved(picks, 4, -1), 2);
  assert.equal(moved(picks, -1, 1), 0);
  assert.equal(moved(picks, -1, -1), 4);
  assert.equal(moved([{}], -1, 1), -1);
});

test("Ticks are round and few, whatever is looked at; rows are those of the window", () => {
  for (let length = 2; length < 4e11; length *= 1.7) {
    const list = ticks({ from: 5000, to: 5000 + length }, 5000, 8);
    assert.ok(list.length >= 1 && list.length <= 9, `${length}: ${list.length}`);
    assert.equal(list[0].since, 0);
  }
  assert.deepEqual(
    ticks({ from: 250, to: 900 }, 100, 4).map((t) => t.since),
    [200, 400, 600, 800],
  );
  assert.deepEqual(shown(10_000, 28, 28_000, 560, 5), { from: 995, to: 1025 });
  assert.deepEqual(shown(3, 28, 0, 560), { from: 0, to: 3 });
});

test("Ten thousand steps are rows within a moment, and each has spans", () => {
  const many = Array.from({ length: 10_000 }, (_, i) => ({
    stepId: i + 1,
    stepName: `s${i}`,
    stepType: "Run",
    ...done,
    dueAt: 100 + i,
    createdAt: 101 + i,
  }));
  rows = runRows(run(one(init, ...many)));
  assert.equal(rows.length, 10_001);
  assert.ok(rows.slice(1).every((r) => r.spans.length === 1));
});
