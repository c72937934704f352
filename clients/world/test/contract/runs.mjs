// The life of a run.
import assert from "node:assert/strict";
import { bytes, conflict, created, every, expired, newId, specVersion, TestRun } from "./run.mjs";

const ends = [
  ["run_completed", { output: bytes("out") }],
  ["run_failed", { error: "why", errorCode: "USER_ERROR" }],
  ["run_cancelled", undefined],
];
const statuses = { run_completed: "completed", run_failed: "failed", run_cancelled: "cancelled" };

export const aRunIsCreated = async ({ world }) => {
  const run = new TestRun(world, newId());
  const executionContext = { workflowCoreVersion: "4.8.9", traceCarrier: { traceparent: "00-1" }, deep: [{ a: null }] };
  const { run: made, event } = await run.create("run_created", { eventData: created({ executionContext }) });
  for (const r of [made, await run.get()]) {
    assert.deepEqual([r.runId, r.status, r.deploymentId, r.workflowName], [run.runId, "pending", "dpl_contract", created().workflowName]);
    assert.deepEqual(r.input, every);
    assert.deepEqual(r.executionContext, executionContext);
    assert.equal(r.specVersion, specVersion);
    assert.ok(r.createdAt instanceof Date && r.updatedAt instanceof Date);
    for (const member of ["startedAt", "completedAt", "output", "error"]) assert.equal(r[member] ?? undefined, undefined);
  }
  assert.deepEqual([event.runId, event.eventType], [run.runId, "run_created"]);
  assert.ok(event.createdAt instanceof Date && Math.abs(event.createdAt - Date.now()) < 60_000);
  assert.deepEqual((await run.events())[0].eventData.input, every);
  await assert.rejects(run.create("run_created", { eventData: created() }), conflict);
};

export const theWorldMakesAnId = async ({ world }) => {
  const { run } = await new TestRun(world, null).create("run_created", { eventData: created() });
  assert.match(run.runId, /^wrun_[0-9A-Z]{26}$/);
  assert.equal((await world.runs.get(run.runId)).status, "pending");
};

export const idsOfOtherTimesAreRefused = async ({ world }) => {
  for (const minutes of [-25 * 60, 10]) {
    const run = new TestRun(world, newId("wrun", Date.now() + minutes * 60_000));
    await assert.rejects(run.create("run_created", { eventData: created() }), `${minutes} minutes`);
    await assert.rejects(run.get(), { name: "WorkflowRunNotFoundError" });
  }
  const old = new TestRun(world, newId("wrun", Date.now() - 23 * 3_600_000));
  await old.create("run_created", { eventData: created() });
};

export const aStartIsRecordedOnce = async ({ world }) => {
  const run = new TestRun(world, newId());
  await run.create("run_created", { eventData: created() });
  const first = await run.create("run_started");
  assert.equal(first.run.status, "running");
  assert.ok(first.run.startedAt instanceof Date);
  assert.deepEqual(
    first.events.map((e) => e.eventType),
    ["run_created", "run_started"],
  );
  assert.deepEqual([first.hasMore, typeof first.cursor, first.maxEvents], [false, "string", 25_000]);
  const again = await run.create("run_started");
  assert.deepEqual([again.run.status, again.run.startedAt], ["running", first.run.startedAt]);
  assert.deepEqual(await run.types(), ["run_created", "run_started"]);
  const later = await world.events.list({ runId: run.runId, pagination: { cursor: first.cursor } });
  assert.deepEqual([later.data, later.hasMore], [[], false]);
};

export const startsAtOnceAreRecordedOnce = async ({ world }) => {
  const run = new TestRun(world, newId());
  const all = await Promise.all(Array.from({ length: 8 }, () => run.create("run_started", { eventData: created() })));
  for (const { run: r } of all) assert.equal(r.status, "running");
  assert.deepEqual(await run.types(), ["run_created", "run_started"]);
};

export const aStartMayCreateTheRun = async ({ world }) => {
  const run = new TestRun(world, newId());
  const { run: made } = await run.create("run_started", { eventData: created() });
  assert.deepEqual([made.status, made.workflowName], ["running", created().workflowName]);
  assert.deepEqual((await run.get()).input, every);
  const [first, second] = await run.events();
  assert.deepEqual([first.eventType, second.eventType], ["run_created", "run_started"]);
  assert.deepEqual(first.eventData.input, every);
  assert.equal(second.eventData?.input, undefined);
  await assert.rejects(run.create("run_created", { eventData: created() }), conflict);
  await assert.rejects(new TestRun(world, newId()).create("run_started")); // no run and no data
};

export const aRunEndsOnce = async ({ world }) => {
  for (const [type, eventData] of ends) {
    const run = await TestRun.begin(world);
    const { run: ended } = await run.create(type, { eventData });
    assert.equal(ended.status, statuses[type]);
    assert.ok(ended.completedAt instanceof Date);
    assert.equal((await run.get()).status, statuses[type]);
    await assert.rejects(run.create("run_started"), expired, type);
    for (const [other, data] of ends) {
      if (type === "run_cancelled" && other === type) continue;
      await assert.rejects(run.create(other, { eventData: data }), conflict, `${other} after ${type}`);
    }
    await assert.rejects(run.newStep(), conflict);
    await assert.rejects(run.hook("created", newId("hook"), { token: newId("t") }), conflict);
    await assert.rejects(run.wait("created", newId("wait"), { resumeAt: new Date() }), conflict);
    assert.equal((await run.events()).filter((e) => e.eventType === type).length, 1);
  }
};

export const endsAtOnceAreOne = async ({ world }) => {
  const run = await TestRun.begin(world);
  const all = await Promise.allSettled(
    Array.from({ length: 8 }, (_, i) =>
      run.create(
        ...[
          ["run_completed", { eventData: { output: bytes("a") } }],
          ["run_failed", { eventData: { error: "b" } }],
        ][i % 2],
      ),
    ),
  );
  assert.equal(all.filter((r) => r.status === "fulfilled").length, 1);
  for (const r of all.filter((r) => r.status === "rejected")) assert.equal(r.reason.name, "EntityConflictError");
  assert.equal((await run.events()).length, 3);
};

export const resultsAndErrors = async ({ world }) => {
  const done = await TestRun.begin(world);
  await done.create("run_completed", { eventData: { output: every } });
  assert.deepEqual((await done.get()).output, every);
  const text = await TestRun.begin(world);
  await text.create("run_failed", { eventData: { error: "why", errorCode: "RUNTIME_ERROR" } });
  assert.deepEqual([(await text.get()).error.message, (await text.get()).error.code], ["why", "RUNTIME_ERROR"]);
  const object = await TestRun.begin(world);
  await object.create("run_failed", { eventData: { error: { message: "why", stack: "at line 1" }, errorCode: "USER_ERROR" } });
  const { error } = await object.get();
  assert.deepEqual([error.message, error.stack, error.code], ["why", "at line 1", "USER_ERROR"]);
};

export const aCancelledRunIsCancelledAgain = async ({ world }) => {
  const run = new TestRun(world, newId());
  await run.create("run_created", { eventData: created() });
  for (let i = 0; i < 2; i++) assert.equal((await run.create("run_cancelled")).run.status, "cancelled");
  assert.equal((await run.get()).status, "cancelled");
};

export const unknownRuns = async ({ world }) => {
  const run = new TestRun(world, newId());
  await assert.rejects(run.get(), { name: "WorkflowRunNotFoundError" });
  assert.deepEqual(await run.events(), []);
  for (const type of ["run_completed", "run_cancelled"]) await assert.rejects(run.create(type));
};

export const newerRunsAreRefused = async ({ world }) => {
  assert.equal(world.specVersion, specVersion);
  const run = new TestRun(world, newId());
  const newer = async () => {
    await world.events.create(run.runId, { eventType: "run_created", specVersion: 99, eventData: created() });
    await run.create("run_started");
  };
  await assert.rejects(newer(), { name: "RunNotSupportedError" });
};
