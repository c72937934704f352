// What goes wrong: messages handed over twice, lost answers, an application that is killed. A step's code may run twice then, so
// no check is among them that counts what steps do outside.
import assert from "node:assert/strict";
import { audit } from "../audit.mjs";
import * as basics from "./basics.mjs";
import * as hooks from "./hooks.mjs";
import * as values from "./values.mjs";

// within runs a check against another application with a fault.
const within =
  (fault, check) =>
  async ({ other, ...rest }) => {
    const app = await other({ HARNESS_FAULT: fault });
    try {
      await check({ ...rest, app, faulty: true });
    } finally {
      await app.close();
    }
  };

export const twiceAddition = within("twice", basics.addition);
export const twiceIdempotency = within("twice", basics.idempotency);
export const twiceHooks = within("twice", basics.hooks);
export const twicePayloads = within("twice", hooks.manyPayloads);
export const twiceParallel = within("twice", values.parallelSteps);
export const besideIdempotency = within("beside", basics.idempotency);
export const besidePayloads = within("beside", hooks.manyPayloads);
export const besideParallel = within("beside", values.parallelSteps);
export const lostAnswers = within("lost", basics.addition);

// The application dies in the middle of a step, and starts again: the step is made again and recorded once.
export const killedInAStep = async ({ other, book, id }) => {
  const release = book.hold(`${id} number 3`);
  const app = await other();
  const runId = await app.start("idempotency", id);
  await book.reported(`${id} number 3`);
  await app.kill();
  release();
  await app.begin();
  assert.deepEqual(
    await app.result(runId),
    Array.from({ length: 20 }, (_, n) => n),
  );
  assert.equal(book.reports(`${id} number 2`).length, 1);
  assert.equal(book.reports(`${id} number 3`).length, 2);
  await audit(app, runId);
  await app.close();
};
