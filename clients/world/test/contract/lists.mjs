// Reads: order, pages, cursors, and what is left out.
import assert from "node:assert/strict";
import { bytes, created, every, newId, TestRun, timeOf } from "./run.mjs";

// follow reads what comes after a cursor, in pages.
async function follow(list, params, limit, cursor) {
  const items = [];
  for (;;) {
    const page = await list({ ...params, pagination: { limit, cursor } });
    items.push(...page.data);
    if (page.data.length > 0) assert.equal(typeof page.cursor, "string", "a page with items has a cursor");
    else assert.equal(page.hasMore, false);
    if (!page.hasMore) return { items, cursor: page.cursor ?? cursor };
    assert.ok(page.cursor !== cursor && page.data.length === limit);
    cursor = page.cursor;
  }
}

export const cursorsPointBehindTheLastItem = async ({ world }) => {
  const run = await TestRun.begin(world);
  const ids = [];
  let cursor;
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < 5; i++) ids.push(await run.newStep());
    const { items, cursor: next } = await follow(world.events.list, { runId: run.runId }, round === 1 ? 2 : 1000, cursor);
    const created = items.filter((e) => e.eventType === "step_created").map((e) => e.correlationId);
    assert.deepEqual(created, ids.slice(-5), `round ${round}`);
    cursor = next;
  }
  const nothing = await world.events.list({ runId: run.runId, pagination: { cursor } });
  assert.deepEqual([nothing.data, nothing.hasMore], [[], false]);
  await run.complete();
  const end = await world.events.list({ runId: run.runId, pagination: { cursor } });
  assert.deepEqual(
    end.data.map((e) => e.eventType),
    ["run_completed"],
  );
};

export const emptyLists = async ({ world }) => {
  const runId = newId();
  for (const list of [world.events.list, world.steps.list, world.hooks.list])
    assert.deepEqual(await list({ runId }), { data: [], cursor: null, hasMore: false });
  assert.deepEqual(await world.events.listByCorrelationId({ correlationId: newId("step") }), { data: [], cursor: null, hasMore: false });
};

// What a reader has seen of a log stays a prefix of it, while many write.
export const readersSeePrefixes = async ({ world }) => {
  const run = await TestRun.begin(world);
  let writing = true;
  const writers = Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let i = 0; i < 15; i++) await run.newStep();
    }),
  ).finally(() => (writing = false));
  const seen = [];
  for (let cursor; writing; ) {
    const page = await follow(world.events.list, { runId: run.runId }, 7, cursor);
    seen.push(...page.items);
    cursor = page.cursor;
  }
  await writers;
  const all = (await follow(world.events.list, { runId: run.runId }, 50)).items.map((e) => e.eventId);
  assert.equal(all.length, 122);
  assert.deepEqual(
    seen.map((e) => e.eventId),
    all.slice(0, seen.length),
  );
  assert.deepEqual(all, [...all].sort(), "ids ascend");
  assert.equal(new Set(all).size, all.length);
  const times = all.map(timeOf);
  for (const [i, t] of times.entries()) assert.ok(i === 0 || t >= times[i - 1], "the times in ids ascend");
};

export const orders = async ({ world }) => {
  const run = await TestRun.begin(world);
  const ids = [];
  for (let i = 0; i < 6; i++) ids.push(await run.newStep());
  const steps = async (pagination) => (await world.steps.list({ runId: run.runId, pagination })).data.map((s) => s.stepId);
  assert.deepEqual(await steps(), ids.toReversed());
  assert.deepEqual(await steps({ sortOrder: "desc", limit: 2 }), ids.toReversed().slice(0, 2));
  assert.deepEqual(await steps({ sortOrder: "asc" }), ids);
  const types = async (sortOrder) => (await world.events.list({ runId: run.runId, pagination: { sortOrder } })).data.map((e) => e.eventType);
  assert.equal((await types())[0], "run_created");
  assert.equal((await types("asc"))[0], "run_created");
  assert.equal((await types("desc")).at(-1), "run_created");
};

export const descendingPages = async ({ world }) => {
  const run = await TestRun.begin(world);
  for (let i = 0; i < 10; i++) await run.newStep();
  const all = (await run.events()).map((e) => e.eventId);
  const seen = [];
  for (let cursor, page; !page || page.hasMore; cursor = page.cursor) {
    page = await world.events.list({ runId: run.runId, pagination: { limit: 5, cursor, sortOrder: "desc" } });
    seen.push(...page.data.map((e) => e.eventId));
  }
  assert.deepEqual(seen, all.toReversed());
};

export const runsByNameAndStatus = async ({ world }) => {
  const workflowName = `workflow//./contract//${newId("name")}`;
  const runs = [];
  for (let i = 0; i < 5; i++) runs.push(await TestRun.begin(world, { workflowName }));
  await runs[0].complete();
  await runs[1].create("run_failed", { eventData: { error: "x" } });
  await runs[2].create("run_cancelled");
  const ids = async (params) => (await follow(world.runs.list, { workflowName, ...params }, 2)).items.map((r) => r.runId);
  assert.deepEqual(await ids(), runs.map((r) => r.runId).toReversed());
  assert.deepEqual(await ids({ status: "running" }), [runs[4].runId, runs[3].runId]);
  for (const [i, status] of ["completed", "failed", "cancelled"].entries()) assert.deepEqual(await ids({ status }), [runs[i].runId]);
  assert.deepEqual(await ids({ status: "pending" }), []);
  const latest = await world.runs.list({ pagination: { limit: 1 } });
  assert.deepEqual([latest.data[0].runId, latest.hasMore], [runs[4].runId, true]);
  assert.equal((await world.runs.list({})).data.length, 20);
};

export const withoutData = async ({ world }) => {
  const run = await TestRun.begin(world);
  const [done, failed, hookId, token] = [await run.newStep(), await run.newStep(), newId("hook"), newId("token")];
  for (const stepId of [done, failed]) await run.step("started", stepId);
  await run.step("retrying", done, { error: "large", stack: "large" });
  await run.step("started", done);
  await run.step("completed", done, { result: every });
  await run.step("failed", failed, { error: "large", stack: "large" });
  await run.hook("created", hookId, { token, metadata: every });
  await run.hook("received", hookId, { token, payload: every });
  await run.complete();
  const large = ["input", "output", "error", "result", "metadata", "payload"];
  const all = await run.events({ resolveData: "none" });
  assert.deepEqual(
    all.map((e) => e.eventId),
    (await run.events()).map((e) => e.eventId),
  );
  for (const e of all) for (const member of large) assert.equal(e.eventData?.[member], undefined, `${member} of ${e.eventType}`);
  const of = (type) => all.find((e) => e.eventType === type).eventData;
  assert.equal(of("run_created").workflowName, created().workflowName);
  assert.equal(of("hook_created").token, token);
  assert.equal(of("step_created").stepName, "step//./contract//add");
  const bare = await run.get({ resolveData: "none" });
  assert.deepEqual([bare.status, bare.input, bare.output], ["completed", undefined, undefined]);
  const full = await run.get({ resolveData: "all" });
  assert.deepEqual([full.input, full.output], [every, bytes("out")]);
  for (const s of (await world.steps.list({ runId: run.runId, resolveData: "none" })).data)
    assert.deepEqual([s.input, s.output], [undefined, undefined]);
  const step = await world.steps.get(run.runId, done, { resolveData: "none" });
  assert.deepEqual([step.status, step.input, step.output], ["completed", undefined, undefined]);
};

export const eventsOfOneCorrelation = async ({ world }) => {
  const [a, b] = [await TestRun.begin(world), await TestRun.begin(world)];
  const stepId = newId("step");
  for (const run of [a, b]) {
    await run.newStep(stepId);
    await run.newStep();
    await run.step("started", stepId);
  }
  await a.step("completed", stepId, { result: every });
  const list = async (params) => (await follow(world.events.listByCorrelationId, { correlationId: stepId, ...params }, 2)).items;
  assert.deepEqual(
    (await list({ runId: a.runId })).map((e) => e.eventType),
    ["step_created", "step_started", "step_completed"],
  );
  assert.deepEqual(
    (await list({ runId: b.runId })).map((e) => e.eventType),
    ["step_created", "step_started"],
  );
  const some = (await list()).filter((e) => e.runId === a.runId).length; // ids are unique within a run only: which run is the world's choice
  assert.ok(some === 0 || some === 3);
  assert.deepEqual((await list({ runId: a.runId, resolveData: "none" }))[2].eventData?.result, undefined);
};

export const oneEvent = async ({ world }) => {
  const run = await TestRun.begin(world);
  for (const e of await run.events()) assert.deepEqual(await world.events.get(run.runId, e.eventId), e);
  await assert.rejects(world.events.get(run.runId, newId("evnt")));
};

// A world may refuse a cursor that it has not made, in one way.
export const foreignCursors = async ({ world }) => {
  const run = await TestRun.begin(world);
  const asked = await world.events.list({ runId: run.runId, pagination: { cursor: "no cursor: ż" } }).catch((e) => e);
  if (asked instanceof Error) assert.deepEqual([asked.name, asked.status], ["WorkflowWorldError", 400]);
};

export const largePayloads = async ({ world }) => {
  const input = new Uint8Array(1 << 20).map((_, i) => (i * 31) >> 3);
  const run = await TestRun.begin(world, { input });
  assert.ok(Buffer.from(input).equals((await run.get()).input));
  const stepId = newId("step");
  await run.step("created", stepId, { stepName: "s", input });
  const { step } = await run.step("started", stepId);
  assert.ok(Buffer.from(input).equals(step.input));
  await run.step("completed", stepId, { result: input });
  const events = await run.events();
  assert.ok(Buffer.from(input).equals(events[0].eventData.input));
  assert.ok(Buffer.from(input).equals(events.at(-1).eventData.result));
};
