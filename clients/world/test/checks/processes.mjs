// Several processes share a world: each starts runs, and any may make their steps.
import assert from "node:assert/strict";
import { audit } from "../audit.mjs";

export const threeProcesses = async ({ app, other }) => {
  const apps = [app, await other(), await other()];
  const starts = Array.from({ length: 30 }, async (_, i) => ({ i, runId: await apps[i % 3].start("branches", 4) }));
  for (const { i, runId } of await Promise.all(starts)) {
    assert.deepEqual(await apps[(i + 1) % 3].result(runId), [2, 3, 4, 5]);
    await audit(app, runId);
  }
  await Promise.all(apps.slice(1).map((a) => a.close()));
};

export const streamOfAnotherProcess = async ({ app, other, id }) => {
  const reader = await other();
  const runId = await app.start("halves", id, 20);
  const chunks = [];
  for await (const { n } of reader.read(runId)) chunks.push(n);
  assert.deepEqual(
    chunks,
    Array.from({ length: 20 }, (_, n) => n),
  );
  await app.result(runId);
  await reader.close();
};

export const hookOfAnotherProcess = async ({ app, other, book, id }) => {
  const resumer = await other();
  const runId = await app.start("collect", id, `${id}-token`, 10);
  await book.reported(`${id} ready`);
  for (let n = 0; n < 10; n++) await [app, resumer][n % 2].call("resume", `${id}-token`, n);
  assert.deepEqual(
    await resumer.result(runId),
    Array.from({ length: 10 }, (_, n) => n),
  );
  await audit(app, runId);
  await resumer.close();
};
