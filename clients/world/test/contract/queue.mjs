// The queue: what is delivered, when, and how often.
import assert from "node:assert/strict";
import { every, newId } from "./run.mjs";

const workflow = "__wkf_workflow_workflow//./contract//żółć";
const step = "__wkf_step_step//./contract//add";
const stepMessage = (stepId = newId("step")) => ({
  workflowName: "workflow//./contract//w",
  workflowRunId: newId(),
  workflowStartedAt: Date.now(),
  stepId,
});

export const aMessageArrivesAsItWas = async ({ world, inbox }) => {
  const runInput = { input: every, deploymentId: "dpl", workflowName: "w", specVersion: 3, executionContext: { a: "ż" } };
  const message = { runId: newId(), traceCarrier: { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" }, runInput };
  const { messageId } = await world.queue(workflow, message, { deploymentId: await world.getDeploymentId(), specVersion: 3 });
  const [got] = await inbox.got((d) => d.message.runId === message.runId);
  assert.deepEqual(got.message, message);
  assert.deepEqual([got.meta.attempt, got.meta.queueName], [1, workflow]);
  assert.equal(typeof got.meta.messageId, "string");
  if (messageId !== null) assert.equal(typeof messageId, "string");
};

export const aFailedAttemptIsRepeated = async ({ world, inbox }) => {
  const message = stepMessage();
  inbox.answer(message.stepId, (n) => {
    if (n === 1) throw new Error("the first attempt fails");
  });
  await world.queue(step, message);
  const all = await inbox.got((d) => d.message.stepId === message.stepId, 2);
  assert.deepEqual(
    all.map((d) => d.message),
    [message, message],
  );
  assert.deepEqual(
    all.map((d) => d.meta.attempt),
    [1, 2],
  );
};

export const aMessageComesAgainAsAsked = async ({ world, inbox }) => {
  const message = stepMessage();
  const times = [];
  inbox.answer(message.stepId, (n) => {
    times.push(Date.now());
    return [undefined, { timeoutSeconds: 0 }, { timeoutSeconds: 2 }][n];
  });
  await world.queue(step, message, { idempotencyKey: message.stepId });
  const all = await inbox.got((d) => d.message.stepId === message.stepId, 3);
  for (const d of all) assert.deepEqual(d.message, message);
  assert.ok(times[2] - times[1] >= 1950, `it came again after ${times[2] - times[1]} ms`);
};

export const aDelayedMessageWaits = async ({ world, inbox }) => {
  const message = stepMessage();
  const began = Date.now();
  await world.queue(step, message, { delaySeconds: 2 });
  const [got] = await inbox.got((d) => d.message.stepId === message.stepId);
  assert.ok(got.at - began >= 1950, `it came after ${got.at - began} ms`);
};

// While a message with a key waits or runs others with the same key are dropped.
export const aKeyIsDeliveredOnce = async ({ world, inbox }) => {
  const message = stepMessage();
  let release;
  inbox.answer(message.stepId, () => new Promise((done) => (release = done)));
  const queue = () => world.queue(step, message, { idempotencyKey: message.stepId });
  await Promise.all([queue(), queue()]);
  await inbox.got((d) => d.message.stepId === message.stepId);
  await queue();
  const other = stepMessage();
  await world.queue(step, other);
  await inbox.got((d) => d.message.stepId === other.stepId); // one that was queued later has come
  assert.equal(inbox.deliveries.filter((d) => d.message.stepId === message.stepId).length, 1);
  release();
};

export const stepsRunBesideEachOther = async ({ world, inbox }) => {
  const messages = Array.from({ length: 5 }, () => stepMessage());
  const all = inbox.got((d) => messages.some((m) => m.stepId === d.message.stepId), 5);
  for (const m of messages) inbox.answer(m.stepId, () => all);
  await Promise.all(messages.map((m) => world.queue(step, m)));
  await all; // each is answered only when all have come
};

export const replaysOfARunAreInTurn = async ({ world, inbox }) => {
  const runId = newId();
  let inside = 0;
  let most = 0;
  inbox.answer(runId, async () => {
    most = Math.max(most, ++inside);
    const other = stepMessage();
    await world.queue(step, other);
    await inbox.got((d) => d.message.stepId === other.stepId);
    inside--;
  });
  await Promise.all(Array.from({ length: 5 }, (_, i) => world.queue(workflow, { runId, requestedAt: new Date(Date.now() + i) })));
  const before = Date.now();
  await world.queue(workflow, { runId });
  await inbox.got((d) => d.message.runId === runId && d.at > before); // messages that wait may be merged, but not with one under way
  assert.equal(most, 1);
};

export const foreignRequestsAreRefused = async ({ inbox }) => {
  const before = inbox.deliveries.length;
  for (const headers of [{}, { "x-vqs-queue-name": "__other_x", "x-vqs-message-id": "msg_1", "x-vqs-message-attempt": "1" }]) {
    const answer = await fetch(`${inbox.url}/.well-known/workflow/v1/flow`, {
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json", ...headers },
    });
    assert.ok(answer.status >= 400 && answer.status < 500, `status ${answer.status}`);
  }
  assert.equal(inbox.deliveries.length, before);
};
