// Hooks and their tokens.
import assert from "node:assert/strict";
import { bytes, conflict, every, newId, noHook, TestRun } from "./run.mjs";

const claim = (run, token, hookId = newId("hook"), more = {}) => run.hook("created", hookId, { token, ...more });

export const aHookIsFound = async ({ world }) => {
  const run = await TestRun.begin(world);
  const [token, hookId] = [`a token/with: "strange" ŻÓŁĆ?&#% ${newId("t")}`, newId("hook")];
  const { hook } = await claim(run, token, hookId, { metadata: every });
  for (const h of [
    hook,
    await world.hooks.get(hookId),
    await world.hooks.getByToken(token),
    (await world.hooks.list({ runId: run.runId })).data[0],
  ]) {
    assert.deepEqual([h.runId, h.hookId, h.token, h.isWebhook ?? false], [run.runId, hookId, token, false]);
    assert.deepEqual(h.metadata, every);
    assert.ok(h.createdAt instanceof Date);
    for (const member of ["ownerId", "projectId", "environment"]) assert.equal(typeof h[member], "string");
  }
  const webhook = await claim(run, newId("t"), newId("hook"), { isWebhook: true });
  assert.equal(webhook.hook.isWebhook, true);
  await assert.rejects(world.hooks.get(newId("hook")), noHook);
  await assert.rejects(world.hooks.getByToken(newId("token")), noHook);
};

export const aTokenHasOneHolder = async ({ world }) => {
  const [a, b] = [await TestRun.begin(world), await TestRun.begin(world)];
  const [token, first, second] = [newId("token"), newId("hook"), newId("hook")];
  await claim(a, token, first);
  await assert.rejects(claim(a, token, first), conflict);
  const { event, hook } = await claim(b, token, second);
  assert.equal(hook, undefined);
  assert.deepEqual(
    [event.eventType, event.correlationId, event.eventData.token, event.eventData.conflictingRunId],
    ["hook_conflict", second, token, a.runId],
  );
  const stored = (await b.events()).at(-1);
  assert.deepEqual([stored.eventType, stored.eventId, stored.eventData.conflictingRunId], ["hook_conflict", event.eventId, a.runId]);
  await assert.rejects(world.hooks.get(second), noHook);
  assert.equal((await world.hooks.getByToken(token)).runId, a.runId);
  await b.complete();
  assert.equal((await world.hooks.getByToken(token)).runId, a.runId);
};

export const manyClaimsAtOnce = async ({ world }) => {
  const runs = await Promise.all(Array.from({ length: 10 }, () => TestRun.begin(world)));
  const token = newId("token");
  const results = await Promise.all(runs.map((run) => claim(run, token)));
  const winners = results.filter((r) => r.event.eventType === "hook_created");
  assert.equal(winners.length, 1);
  for (const r of results.filter((r) => r !== winners[0])) {
    assert.equal(r.event.eventType, "hook_conflict");
    assert.equal(r.event.eventData.conflictingRunId, winners[0].event.runId);
  }
};

export const payloads = async ({ world }) => {
  const run = await TestRun.begin(world);
  const [token, hookId] = [newId("token"), newId("hook")];
  await claim(run, token, hookId);
  for (const payload of [every, bytes(""), bytes("żółć \0")]) {
    const { event } = await run.hook("received", hookId, { token, payload });
    assert.equal(event.eventType, "hook_received");
    assert.deepEqual((await run.events()).at(-1).eventData.payload, payload);
  }
  assert.equal((await world.hooks.getByToken(token)).hookId, hookId);
  await assert.rejects(run.hook("received", newId("hook"), { payload: every }), noHook);
};

export const aDisposedHookIsGone = async ({ world }) => {
  const [a, b] = [await TestRun.begin(world), await TestRun.begin(world)];
  const [token, hookId] = [newId("token"), newId("hook")];
  await claim(a, token, hookId);
  await a.hook("disposed", hookId, { token });
  await assert.rejects(world.hooks.getByToken(token), noHook);
  await assert.rejects(a.hook("received", hookId, { token, payload: every }), noHook);
  await assert.rejects(a.hook("disposed", hookId, { token }), (e) => ["EntityConflictError", "HookNotFoundError"].includes(e.name));
  assert.equal((await claim(b, token)).event.eventType, "hook_created");
  assert.equal((await world.hooks.getByToken(token)).runId, b.runId);
};

export const theEndOfARunFreesTokens = async ({ world }) => {
  for (const end of [
    (run) => run.complete(),
    (run) => run.create("run_failed", { eventData: { error: "x" } }),
    (run) => run.create("run_cancelled"),
  ]) {
    const run = await TestRun.begin(world);
    const hooks = Array.from({ length: 3 }, () => ({ token: newId("token"), hookId: newId("hook") }));
    for (const { token, hookId } of hooks) await claim(run, token, hookId);
    await end(run);
    assert.deepEqual((await world.hooks.list({ runId: run.runId })).data, []);
    const next = await TestRun.begin(world);
    for (const { token, hookId } of hooks) {
      await assert.rejects(world.hooks.getByToken(token), noHook);
      await assert.rejects(world.hooks.get(hookId), noHook);
      await assert.rejects(run.hook("received", hookId, { token, payload: every }), noHook);
      assert.equal((await claim(next, token)).event.eventType, "hook_created");
    }
  }
};

// A payload is either before the run's end in its log, or refused.
export const payloadsBesideTheEnd = async ({ world }) => {
  for (let round = 0; round < 5; round++) {
    const run = await TestRun.begin(world);
    const [token, hookId] = [newId("token"), newId("hook")];
    await claim(run, token, hookId);
    const sent = Array.from({ length: 20 }, () => run.hook("received", hookId, { token, payload: bytes("p") }));
    const [, ...results] = await Promise.allSettled([run.complete(), ...sent]);
    const types = await run.types();
    assert.equal(types.at(-1), "run_completed");
    assert.equal(types.filter((t) => t === "hook_received").length, results.filter((r) => r.status === "fulfilled").length);
    for (const r of results.filter((r) => r.status === "rejected")) assert.equal(r.reason.name, "HookNotFoundError");
  }
};

export const conflictsAreMadeByTheWorldAlone = async ({ world }) => {
  const run = await TestRun.begin(world);
  await assert.rejects(run.create("hook_conflict", { correlationId: newId("hook"), eventData: { token: newId("token") } }));
  assert.deepEqual(await run.types(), ["run_created", "run_started"]);
};

export const listsOfHooks = async ({ world }) => {
  const run = await TestRun.begin(world);
  const ids = Array.from({ length: 5 }, () => newId("hook"));
  for (const hookId of ids) await claim(run, newId("token"), hookId);
  const first = await world.hooks.list({ runId: run.runId, pagination: { limit: 3 } });
  assert.equal(first.hasMore, true);
  const second = await world.hooks.list({ runId: run.runId, pagination: { limit: 3, cursor: first.cursor } });
  assert.equal(second.hasMore, false);
  assert.deepEqual(
    [...first.data, ...second.data].map((h) => h.hookId),
    ids,
    "hooks come oldest first",
  );
  const all = [];
  for (let cursor, page; !page || page.hasMore; cursor = page.cursor) {
    page = await world.hooks.list({ pagination: { limit: 1000, cursor } });
    all.push(...page.data);
  }
  for (const hookId of ids) assert.ok(all.some((h) => h.hookId === hookId));
};
