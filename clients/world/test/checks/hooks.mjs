// Hooks: many payloads, conflicts, disposal, the end of a run, and webhooks.
import assert from "node:assert/strict";
import { audit } from "../audit.mjs";

const webhook = "/.well-known/workflow/v1/webhook";

export const manyPayloads = async ({ app, book, id }) => {
  const numbers = Array.from({ length: 50 }, (_, n) => n);
  const runId = await app.start("collect", id, `${id}-token`, numbers.length);
  await book.reported(`${id} ready`);
  for (const n of numbers) await app.call("resume", `${id}-token`, n);
  assert.deepEqual(await app.result(runId), numbers);
  const { events } = await audit(app, runId);
  assert.equal(events.filter((e) => e.eventType === "hook_received").length, numbers.length);
};

export const payloadsAtOnce = async ({ app, book, id }) => {
  const numbers = Array.from({ length: 20 }, (_, n) => n);
  const runId = await app.start("collect", id, `${id}-token`, numbers.length);
  await book.reported(`${id} ready`);
  await Promise.all(numbers.map((n) => app.call("resume", `${id}-token`, n)));
  assert.deepEqual(
    (await app.result(runId)).sort((a, b) => a - b),
    numbers,
  );
  await audit(app, runId);
};

export const tokenConflict = async ({ app, book, id }) => {
  const first = await app.start("holder", id);
  await book.reported(`${id} held`);
  const second = await app.start("holder", id);
  assert.deepEqual(await app.result(second), { conflict: first });
  const third = await app.start("intruder", id);
  assert.equal(await app.result(third), "HookConflictError");
  for (const runId of [second, third]) {
    const { events } = await audit(app, runId);
    assert.equal(events.filter((e) => e.eventType === "hook_conflict").length, 1);
    assert.equal(events.filter((e) => e.eventType === "hook_created").length, 0);
  }
  assert.equal((await app.world("hooks.getByToken", id)).runId, first); // the ends of the others freed nothing
  await app.call("resume", id, "hello");
  assert.deepEqual(await app.result(first), { payload: "hello" });
  // The run's end frees the token.
  await assert.rejects(app.world("hooks.getByToken", id), { name: "HookNotFoundError" });
  await assert.rejects(app.call("resume", id, "too late"), { name: "HookNotFoundError" });
  assert.deepEqual((await app.world("hooks.list", { runId: first })).data, []);
  const next = await app.start("holder", id);
  await book.reported(`${id} held`, 2);
  await app.call("cancel", next); // and so does its cancellation
  await assert.rejects(app.world("hooks.getByToken", id), { name: "HookNotFoundError" });
};

export const disposedHook = async ({ app, book, id }) => {
  const runId = await app.start("disposer", id, `${id}-token`);
  await book.reported(`${id} first`);
  await app.call("resume", `${id}-token`, "one");
  await book.reported(`${id} second`);
  await app.call("resume", `${id}-token`, "two");
  assert.equal(await app.result(runId), "one two");
  const { events } = await audit(app, runId);
  assert.equal(events.filter((e) => e.eventType === "hook_disposed").length, 1);
};

export const plainWebhook = async ({ app, book, id }) => {
  const runId = await app.start("webhook", id);
  const [token] = await book.reported(`${id} webhook`);
  const answer = await fetch(`${app.url}${webhook}/${encodeURIComponent(token)}`, { method: "PUT", body: "hello" });
  assert.equal(answer.status, 202);
  assert.deepEqual(await app.result(runId), { method: "PUT", text: "hello" });
  const again = await fetch(`${app.url}${webhook}/${encodeURIComponent(token)}`, { method: "POST", body: "again" });
  assert.equal(again.status, 404);
};

export const answeringWebhook = async ({ app, book, id }) => {
  const runId = await app.start("manualWebhook", id);
  const [token] = await book.reported(`${id} webhook`);
  const answer = await fetch(`${app.url}${webhook}/${encodeURIComponent(token)}`, { method: "POST", body: "hello" });
  assert.deepEqual([answer.status, answer.headers.get("x-answer"), await answer.text()], [201, "yes", "you said hello"]);
  assert.equal(await app.result(runId), "hello");
};

export const hookIsNoWebhook = async ({ app, book, id }) => {
  const runId = await app.start("holder", id);
  await book.reported(`${id} held`);
  assert.equal((await fetch(`${app.url}${webhook}/${id}`, { method: "POST", body: "hello" })).status, 404);
  assert.equal((await fetch(`${app.url}${webhook}/unknown`, { method: "POST" })).status, 404);
  await app.call("cancel", runId);
};
