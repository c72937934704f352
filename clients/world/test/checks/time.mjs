// Sleeps, retries, cancellation and failures.
import assert from "node:assert/strict";
import { audit } from "../audit.mjs";

const count = (events, type) => events.filter((e) => e.eventType === type).length;

export const sleep = async ({ app }) => {
  const runId = await app.start("sleeping", 1500);
  const slept = await app.result(runId);
  assert.ok(slept >= 1500, `it slept ${slept} ms`);
  const { events } = await audit(app, runId);
  assert.equal(count(events, "wait_completed"), 1);
};

export const threeSleepsAtOnce = async ({ app }) => {
  const runId = await app.start("sleeps", 2000);
  const slept = await app.result(runId);
  assert.ok(slept >= 2000 && slept < 6000, `they slept ${slept} ms`);
  const { events } = await audit(app, runId);
  assert.equal(count(events, "wait_completed"), 3);
};

// A sleep of an hour that the outside ends.
export const wakeUp = async ({ app, book, id }) => {
  const release = book.hold(`${id} held`);
  const runId = await app.start("race", id, 3_600_000);
  await book.reported(`${id} held`);
  assert.equal((await app.call("wakeUp", runId)).stoppedCount, 1);
  assert.equal(await app.result(runId), "sleep");
  release();
};

export const stepBeforeSleep = async ({ app, id }) => {
  const runId = await app.start("race", id, 3_600_000);
  assert.equal(await app.result(runId), "step");
  await audit(app, runId);
};

export const cancelWhileAStepRuns = async ({ app, book, id }) => {
  const release = book.hold(`${id} held`);
  const runId = await app.start("cancelled", id);
  await book.reported(`${id} held`);
  await app.call("cancel", runId);
  await app.call("cancel", runId); // again: no error
  release();
  await assert.rejects(app.result(runId), { name: "WorkflowRunCancelledError" });
  // The step that ran may record its end; nothing of the run comes after it.
  const next = await app.start("addition", 1, 1);
  await app.result(next);
  const { events } = await audit(app, runId);
  assert.equal(count(events, "step_created"), 1);
  assert.equal(book.reports(`${id} after`).length, 0);
};

export const retryAt = async ({ app }) => {
  const at = Date.now() + 3000;
  const runId = await app.start("retryAt", at);
  const ran = await app.result(runId);
  assert.ok(ran >= at, `the second attempt came ${at - ran} ms too early`);
  const { steps, events } = await audit(app, runId);
  assert.equal(steps[0].attempt, 2);
  assert.equal(steps[0].retryAfter ?? undefined, undefined);
  assert.equal(count(events, "step_retrying"), 1);
};

export const exhausted = async ({ app, book, id }) => {
  const runId = await app.start("exhausted", id);
  assert.match(await app.result(runId), /it never works/);
  assert.equal(book.reports(`${id} attempt`).length, 3); // the first and two more
  const { steps } = await audit(app, runId);
  assert.deepEqual([steps[0].status, steps[0].attempt], ["failed", 3]);
};

export const failing = async ({ app }) => {
  const runId = await app.start("failing");
  await assert.rejects(app.result(runId), (e) => e.name === "WorkflowRunFailedError" && /this is the end/.test(e.message));
  const { run } = await audit(app, runId);
  assert.match(run.error.message, /this is the end/);
};
