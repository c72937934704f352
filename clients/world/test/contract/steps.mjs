// The life of a step, waits, and the guard against stale writers.
import assert from "node:assert/strict";
import { bytes, conflict, created, every, expired, newId, TestRun, timeOf } from "./run.mjs";

export const aStepIsCreatedAndStarted = async ({ world }) => {
  const run = await TestRun.begin(world);
  const stepId = newId("step");
  const { step, event } = await run.step("created", stepId, { stepName: "step//ä/ö", input: every });
  assert.deepEqual([step.stepId, step.runId, step.stepName, step.status, step.attempt], [stepId, run.runId, "step//ä/ö", "pending", 0]);
  assert.equal(event.correlationId, stepId);
  await assert.rejects(run.step("created", stepId, { stepName: "again", input: every }), conflict);
  const first = (await run.step("started", stepId)).step;
  assert.deepEqual([first.status, first.attempt, first.input], ["running", 1, every]);
  const second = (await run.step("started", stepId)).step;
  assert.deepEqual([second.attempt, second.startedAt], [2, first.startedAt]);
  const { step: done } = await run.step("completed", stepId, { result: every });
  assert.equal(done.status, "completed");
  for (const s of [await world.steps.get(run.runId, stepId), await world.steps.get(undefined, stepId)]) {
    assert.deepEqual([s.status, s.attempt, s.output, s.input], ["completed", 2, every, every]);
    assert.ok(s.completedAt instanceof Date && s.createdAt instanceof Date && s.updatedAt instanceof Date);
  }
  assert.deepEqual((await run.events()).at(-1).eventData.result, every);
};

export const aStepEndsOnce = async ({ world }) => {
  const run = await TestRun.begin(world);
  for (const [type, eventData] of [
    ["completed", { result: bytes("r") }],
    ["failed", { error: "why", stack: "at line 1" }],
  ]) {
    const stepId = await run.newStep();
    await run.step("started", stepId);
    await run.step(type, stepId, eventData);
    const before = (await run.events()).length;
    await assert.rejects(run.step("completed", stepId, { result: bytes("x") }), conflict);
    await assert.rejects(run.step("failed", stepId, { error: "x" }), conflict);
    await assert.rejects(run.step("retrying", stepId, { error: "x" }), conflict);
    await assert.rejects(run.step("started", stepId), conflict);
    assert.equal((await run.events()).length, before);
    assert.equal((await world.steps.get(run.runId, stepId)).status, type);
  }
};

export const stepsThatFail = async ({ world }) => {
  const run = await TestRun.begin(world);
  const stepId = await run.newStep();
  await run.step("started", stepId);
  const { step } = await run.step("failed", stepId, { error: "żółć", stack: "at line 1" });
  assert.deepEqual([step.status, step.error.message, step.error.stack], ["failed", "żółć", "at line 1"]);
};

export const endsOfAStepAtOnce = async ({ world }) => {
  const run = await TestRun.begin(world);
  const stepId = await run.newStep();
  await run.step("started", stepId);
  const all = await Promise.allSettled(Array.from({ length: 10 }, (_, i) => run.step("completed", stepId, { result: bytes(String(i)) })));
  assert.equal(all.filter((r) => r.status === "fulfilled").length, 1);
  for (const r of all.filter((r) => r.status === "rejected")) assert.equal(r.reason.name, "EntityConflictError");
  assert.equal((await run.types()).filter((t) => t === "step_completed").length, 1);
};

export const aRetryWaits = async ({ world }) => {
  const run = await TestRun.begin(world);
  const stepId = await run.newStep();
  await run.step("started", stepId);
  const retryAfter = new Date(Date.now() + 1500);
  const { step } = await run.step("retrying", stepId, { error: "not yet", stack: "at line 1", retryAfter });
  assert.deepEqual([step.status, step.error.message, step.retryAfter.getTime()], ["pending", "not yet", retryAfter.getTime()]);
  let refused = 0;
  let started;
  while (!started) {
    try {
      ({ step: started } = await run.step("started", stepId));
    } catch (e) {
      assert.equal(e.name, "TooEarlyError", e.stack);
      assert.ok(e.retryAfter > 0 && e.retryAfter <= 2, `retryAfter ${e.retryAfter}`);
      refused++;
    }
  }
  assert.ok(refused > 0);
  assert.ok(Date.now() >= retryAfter.getTime() - 50, "it started too early");
  assert.deepEqual([started.attempt, started.retryAfter ?? undefined], [2, undefined]);
  const again = await run.newStep();
  await run.step("started", again);
  await run.step("retrying", again, { error: "at once" });
  assert.equal((await run.step("started", again)).step.attempt, 2);
};

export const unknownSteps = async ({ world }) => {
  const run = await TestRun.begin(world);
  for (const [type, data] of [["started"], ["completed", { result: bytes("") }], ["failed", { error: "x" }], ["retrying", { error: "x" }]]) {
    await assert.rejects(run.step(type, newId("step"), data), { name: "WorkflowWorldError" }, type);
  }
  await assert.rejects(world.steps.get(run.runId, newId("step")));
};

export const stepsAfterTheEndOfTheRun = async ({ world }) => {
  const run = await TestRun.begin(world);
  const [waiting, one, two] = [await run.newStep(), await run.newStep(), await run.newStep()];
  for (const stepId of [one, two]) await run.step("started", stepId);
  await run.create("run_cancelled");
  await assert.rejects(run.step("started", waiting), expired);
  assert.equal((await run.step("completed", one, { result: bytes("late") })).step.status, "completed");
  assert.equal((await run.step("failed", two, { error: "late" })).step.status, "failed");
};

export const stepsOfTwoRunsWithOneId = async ({ world }) => {
  const [a, b] = [await TestRun.begin(world), await TestRun.begin(world)];
  const stepId = newId("step");
  await a.newStep(stepId);
  await b.newStep(stepId);
  await a.step("started", stepId);
  assert.equal((await world.steps.get(b.runId, stepId)).status, "pending");
  assert.equal((await world.steps.get(a.runId, stepId)).status, "running");
};

export const waits = async ({ world }) => {
  const run = await TestRun.begin(world);
  const waitId = newId("wait");
  const resumeAt = new Date(Date.now() + 3_600_000);
  const { wait } = await run.wait("created", waitId, { resumeAt });
  assert.deepEqual([wait.runId, wait.status, wait.resumeAt], [run.runId, "waiting", resumeAt]);
  await assert.rejects(run.wait("created", waitId, { resumeAt }), conflict);
  assert.equal((await run.wait("completed", waitId, { resumeAt })).wait.status, "completed");
  await assert.rejects(run.wait("completed", waitId, { resumeAt }), conflict);
  const created = (await run.events()).find((e) => e.eventType === "wait_created");
  assert.deepEqual(created.eventData.resumeAt, resumeAt);
  await assert.rejects(run.wait("completed", newId("wait"), {}));
};

// Only what comes from outside of the workflow makes its writer stale: a payload of a hook, and the end of a step.
export const staleWriters = async ({ world }) => {
  const run = await TestRun.begin(world);
  const [token, hookId, stepId] = [newId("token"), newId("hook"), await run.newStep()];
  await run.hook("created", hookId, { token });
  await run.step("started", stepId);
  const create = (stateUpdatedAt) => run.step("created", newId("step"), { stepName: "s", input: bytes("") }, { stateUpdatedAt });
  await create(1); // nothing has come yet
  for (const outside of [
    () => run.hook("received", hookId, { token, payload: bytes("p") }),
    () => run.step("completed", stepId, { result: bytes("r") }),
  ]) {
    const marker = timeOf((await outside()).event.eventId);
    await assert.rejects(create(marker - 1), (e) => e.name === "PreconditionFailedError" && e.status === 412);
    await create(marker);
    await create(undefined);
  }
  await run.create("run_completed", { eventData: { output: created().input } });
};

// Each event that the runtime decides upon in a replay is held against the marker.
export const everyStaleEvent = async ({ world }) => {
  const run = await TestRun.begin(world);
  const [hookId, stepId, other] = [newId("hook"), await run.newStep(), await run.newStep()];
  await run.hook("created", hookId, { token: newId("token") });
  for (const id of [stepId, other]) await run.step("started", id);
  await run.wait("created", "wait_1", { resumeAt: new Date() });
  const { event } = await run.step("completed", other, { result: bytes("r") });
  const params = { stateUpdatedAt: timeOf(event.eventId) - 1 };
  const before = await run.types();
  for (const [eventType, correlationId, eventData] of [
    ["step_created", newId("step"), { stepName: "s", input: bytes("") }],
    ["step_completed", stepId, { result: bytes("r") }],
    ["step_failed", stepId, { error: "why" }],
    ["step_retrying", stepId, { error: "why" }],
    ["hook_created", newId("hook"), { token: newId("token") }],
    ["hook_received", hookId, { payload: bytes("p") }],
    ["hook_disposed", hookId],
    ["wait_created", "wait_2", { resumeAt: new Date() }],
    ["wait_completed", "wait_1"],
    ["run_completed", undefined, { output: bytes("out") }],
    ["run_failed", undefined, { error: { message: "why" } }],
    ["run_cancelled"],
  ]) {
    await assert.rejects(run.create(eventType, { correlationId, eventData, params }), { name: "PreconditionFailedError", status: 412 }, eventType);
  }
  assert.deepEqual(await run.types(), before);
};
