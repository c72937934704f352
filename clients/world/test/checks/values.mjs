// What goes in and comes out, and lists in pages.
import assert from "node:assert/strict";
import { audit } from "../audit.mjs";

const every = Uint8Array.from({ length: 256 }, (_, b) => b);

export const everyKindOfValue = async ({ app }) => {
  const value = {
    text: "żółć 🎉 \0 \u2028 \ud7ff",
    bytes: every,
    numbers: [0, -0, 1.5, Number.MAX_SAFE_INTEGER, Infinity, NaN],
    big: 2n ** 80n,
    date: new Date(1_700_000_000_123),
    map: new Map([["a", new Set([1, 2])]]),
    nothing: [null, undefined],
    "": { deep: { deeper: [] } },
  };
  assert.deepEqual(await app.run("values", value), value);
  for (const v of ["", 0, false, null, undefined, [], every]) assert.deepEqual(await app.run("values", v), v);
};

export const megabyte = async ({ app }) => {
  const bytes = new Uint8Array(1 << 20).map((_, i) => (i * 7919) >> 5);
  const runId = await app.start("large", bytes);
  const { bytes: back, text } = await app.result(runId);
  assert.ok(Buffer.from(bytes).equals(back), "the bytes differ");
  assert.equal(text, "x".repeat(bytes.length));
  const { events } = await audit(app, runId);
  const { data } = await app.world("events.list", { runId, resolveData: "none" });
  assert.equal(data.length, events.length);
  for (const e of data) {
    assert.equal(e.eventData?.input, undefined);
    assert.equal(e.eventData?.result, undefined);
    assert.equal(e.eventData?.output, undefined);
  }
};

// pages reads a list in pages of some size, and checks the contract of cursors on the way.
async function pages(app, path, params, limit) {
  const items = [];
  let cursor;
  for (;;) {
    const page = await app.world(path, { ...params, pagination: { limit, cursor, sortOrder: params.sortOrder } });
    items.push(...page.data);
    if (!page.hasMore) {
      assert.equal(typeof page.cursor, "string", "the last page has a cursor too");
      const after = await app.world(path, { ...params, pagination: { limit, cursor: page.cursor, sortOrder: params.sortOrder } });
      assert.deepEqual([after.data, after.hasMore], [[], false], "nothing comes after the last page");
      return items;
    }
    assert.equal(page.data.length, limit);
    assert.ok(page.cursor && page.cursor !== cursor, "the cursor moves on");
    cursor = page.cursor;
  }
}

export const threeHundredEventsInPages = async ({ app }) => {
  const runId = await app.start("many", 100);
  assert.equal(await app.result(runId), 100);
  const { events, steps } = await audit(app, runId);
  assert.equal(events.length, 303);
  const ids = events.map((e) => e.eventId);
  for (const limit of [7, 101, 303, 1000])
    assert.deepEqual(
      (await pages(app, "events.list", { runId }, limit)).map((e) => e.eventId),
      ids,
    );
  assert.deepEqual(
    (await pages(app, "events.list", { runId, sortOrder: "desc" }, 50)).map((e) => e.eventId),
    ids.toReversed(),
  );
  const stepIds = steps.map((s) => s.stepId);
  assert.deepEqual(
    (await pages(app, "steps.list", { runId }, 7)).map((s) => s.stepId),
    stepIds,
  );
  const sorted = steps.map((s) => s.createdAt.getTime());
  assert.deepEqual(
    sorted,
    [...sorted].sort((a, b) => b - a),
    "steps come newest first",
  );
};

export const runsInPages = async ({ app }) => {
  const before = await app.all("runs.list", { workflowName: undefined, limit: 1000 });
  const ids = [];
  for (let i = 0; i < 25; i++) ids.push(await app.start("addition", i, i));
  for (const [i, runId] of ids.entries()) assert.equal(await app.result(runId), 2 * i);
  const all = await pages(app, "runs.list", {}, 10);
  assert.equal(all.length, before.length + 25);
  assert.deepEqual(
    all.slice(0, 25).map((r) => r.runId),
    ids.toReversed(),
    "runs come newest first",
  );
  const { workflowName } = all[0];
  const named = await pages(app, "runs.list", { workflowName, status: "completed" }, 9);
  assert.deepEqual(
    named.slice(0, 25).map((r) => r.runId),
    ids.toReversed(),
  );
  for (const run of named) assert.deepEqual([run.workflowName, run.status], [workflowName, "completed"]);
  const bare = await app.world("runs.list", { resolveData: "none", pagination: { limit: 25 } });
  for (const run of bare.data) assert.deepEqual([run.input, run.output], [undefined, undefined]);
};

export const parallelSteps = async ({ app }) => {
  const runId = await app.start("parallel", 50);
  assert.deepEqual(
    await app.result(runId),
    Array.from({ length: 50 }, (_, i) => i + 1),
  );
  assert.equal((await audit(app, runId)).steps.length, 50);
};

export const branches = async ({ app }) => {
  const runId = await app.start("branches", 8);
  assert.deepEqual(
    await app.result(runId),
    Array.from({ length: 8 }, (_, i) => i + 2),
  );
  assert.equal((await audit(app, runId)).steps.length, 16);
};

export const runsAtOnce = async ({ app }) => {
  const ids = await Promise.all(Array.from({ length: 30 }, (_, i) => app.start("addition", i, 1)));
  assert.equal(new Set(ids).size, 30);
  assert.deepEqual(
    await Promise.all(ids.map(app.result)),
    ids.map((_, i) => i + 1),
  );
  for (const runId of ids) await audit(app, runId);
};
