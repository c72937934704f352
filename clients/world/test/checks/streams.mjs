// Streams of runs, read while they are written and afterwards.
import assert from "node:assert/strict";
import { audit } from "../audit.mjs";

const range = (from, to) => Array.from({ length: to - from }, (_, i) => ({ n: from + i }));
const collect = async (read) => {
  const chunks = [];
  for await (const chunk of read) chunks.push(chunk);
  return chunks;
};

// The second half is written only when the first has been read.
export const liveStream = async ({ app, book, id }) => {
  const release = book.hold(`${id} wrote 10`);
  const runId = await app.start("halves", id, 20);
  const read = app.read(runId);
  for (const chunk of range(0, 10)) assert.deepEqual((await read.next()).value, chunk);
  const later = collect(app.read(runId, { startIndex: 15 })); // chunks that do not exist yet
  release();
  for (const chunk of range(10, 20)) assert.deepEqual((await read.next()).value, chunk);
  assert.equal((await read.next()).done, true);
  assert.deepEqual(await later, range(15, 20));
  await app.result(runId);
  await audit(app, runId);
};

export const startIndex = async ({ app, id }) => {
  const runId = await app.start("halves", id, 20);
  await app.result(runId);
  const cases = [
    [undefined, 0],
    [0, 0],
    [1, 1],
    [19, 19],
    [20, 20],
    [25, 20],
    [-1, 19],
    [-5, 15],
    [-20, 0],
    [-50, 0],
  ];
  for (const [startIndex, first] of cases)
    assert.deepEqual(await collect(app.read(runId, { startIndex })), range(first, 20), `startIndex ${startIndex}`);
  assert.equal(await app.call("tailIndex", runId), 19);
};

export const severalReaders = async ({ app, id }) => {
  const runId = await app.start("halves", id, 60);
  const all = await Promise.all(Array.from({ length: 5 }, () => collect(app.read(runId))));
  for (const chunks of all) assert.deepEqual(chunks, range(0, 60));
  await app.result(runId);
};

export const namespaces = async ({ app, id }) => {
  const runId = await app.start("namespaces", id);
  await app.result(runId);
  assert.deepEqual(await collect(app.read(runId, { namespace: "a" })), range(0, 3));
  assert.deepEqual(await collect(app.read(runId, { namespace: "b" })), range(10, 13));
  const names = await app.world("listStreamsByRunId", runId);
  assert.equal(new Set(names).size, 2);
  assert.equal(names.length, 2);
  for (const name of names) assert.match(name, /^strm_/);
};

export const chunksInPages = async ({ app, id }) => {
  const runId = await app.start("halves", id, 26);
  await app.result(runId);
  const [name] = await app.world("listStreamsByRunId", runId);
  assert.deepEqual(await app.world("getStreamInfo", name, runId), { tailIndex: 25, done: true });
  const chunks = [];
  for (let cursor; ; ) {
    const page = await app.world("getStreamChunks", name, runId, { limit: 10, cursor });
    chunks.push(...page.data);
    assert.equal(page.done, true);
    if (!page.hasMore) break;
    assert.equal(page.data.length, 10);
    assert.ok(page.cursor && page.cursor !== cursor);
    cursor = page.cursor;
  }
  assert.deepEqual(
    chunks.map((c) => c.index),
    Array.from({ length: 26 }, (_, i) => i),
  );
  for (const { data } of chunks) assert.ok(data instanceof Uint8Array && data.length > 0);
};

export const everyByte = async ({ app }) => {
  const runId = await app.start("everyByte", 10);
  const chunks = await collect(app.read(runId));
  const bytes = Buffer.concat(chunks.map((c) => Buffer.from(c)));
  assert.equal(bytes.length, 2560);
  for (const [i, b] of bytes.entries()) assert.equal(b, i % 256);
  await app.result(runId);
};
