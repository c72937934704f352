// The five checks that every world has to pass.
import assert from "node:assert/strict";
import { audit } from "../audit.mjs";

export const addition = async ({ app }) => {
  const runId = await app.start("addition", 40, 2);
  assert.match(runId, /^wrun_[0-9A-Z]{26}$/);
  assert.equal(await app.result(runId), 42);
  const { run, steps } = await audit(app, runId);
  assert.ok(run.output instanceof Uint8Array && run.input instanceof Uint8Array);
  assert.equal(steps.length, 2);
};

export const idempotency = async ({ app, book, id, faulty }) => {
  const runId = await app.start("idempotency", id);
  const numbers = Array.from({ length: 20 }, (_, n) => n);
  assert.deepEqual(await app.result(runId), numbers);
  const ran = numbers.map((n) => book.reports(`${id} number ${n}`).length);
  if (!faulty)
    assert.deepEqual(
      ran,
      numbers.map(() => 1),
      "each step ran once",
    );
  const { steps } = await audit(app, runId);
  assert.equal(steps.length, 20);
};

export const hooks = async ({ app, id }) => {
  const runId = await app.start("hooks", id, { user: "Ann" });
  const read = app.read(runId);
  assert.equal((await read.next()).value, "waiting"); // while the run waits
  const hook = await app.call("hook", id);
  assert.deepEqual([hook.runId, hook.token, hook.metadata], [runId, id, { user: "Ann" }]);
  for (const text of ["one", "two", "three"]) {
    assert.equal(await app.call("resume", id, { text, last: text === "three" }), runId);
    assert.equal((await read.next()).value, `got ${text}`);
  }
  assert.equal((await read.next()).done, true);
  assert.deepEqual(await app.result(runId), ["one", "two", "three"]);
  await audit(app, runId);
  await assert.rejects(app.call("hook", id), { name: "HookNotFoundError" });
};

export const nullByte = async ({ app }) => assert.equal(await app.run("nullByte"), "null byte \0");

export const errors = async ({ app, book }) => {
  let first;
  book.answer("first attempt", (reports) => (first ??= reports.at(-1).now));
  const runId = await app.start("errors");
  const { attempt, waited, caught } = await app.result(runId);
  assert.equal(attempt, 2);
  assert.ok(waited >= 2000, `the second attempt came after ${waited} ms`);
  assert.equal(caught, "fatal: never again");
  const { events, steps } = await audit(app, runId);
  assert.deepEqual(steps.map((s) => s.status).sort(), ["completed", "failed"]);
  assert.equal(events.filter((e) => e.eventType === "step_retrying").length, 1);
};
