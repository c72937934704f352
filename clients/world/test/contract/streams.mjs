// Streams, by the methods of the world.
import assert from "node:assert/strict";
import { bytes, every, newId, TestRun } from "./run.mjs";

const text = (chunk) => Buffer.from(chunk).toString();
const stream = () => ({ name: newId("strm"), runId: newId() });

async function collect(readable) {
  const chunks = [];
  for await (const chunk of readable) chunks.push(text(chunk));
  return chunks;
}

// filled is a stream with numbers as chunks.
async function filled(world, count, closed = true) {
  const { name, runId } = stream();
  await world.writeToStream(name, runId, "0");
  if (count > 1)
    await (world.writeToStreamMulti?.(name, runId, numbers(1, count)) ??
      numbers(1, count).reduce((p, c) => p.then(() => world.writeToStream(name, runId, c)), Promise.resolve()));
  if (closed) await world.closeStream(name, runId);
  return { name, runId };
}

const numbers = (from, to) => Array.from({ length: to - from }, (_, i) => String(from + i));

export const chunksComeAsWritten = async ({ world }) => {
  const { name, runId } = stream();
  const written = [every, "żółć", bytes("\0"), "a\nb", every.slice().reverse()];
  for (const chunk of written) await world.writeToStream(name, Promise.resolve(runId), chunk);
  await world.closeStream(name, Promise.resolve(runId));
  const read = [];
  for await (const chunk of await world.readFromStream(name)) {
    assert.ok(chunk instanceof Uint8Array);
    read.push(Buffer.from(chunk));
  }
  assert.deepEqual(
    read,
    written.map((c) => Buffer.from(c)),
  );
};

export const liveReaders = async ({ world }) => {
  const { name, runId } = await filled(world, 2, false);
  const readers = await Promise.all([0, 0, 1].map(async (start) => (await world.readFromStream(name, start)).getReader()));
  const next = async (reader) => {
    const { value, done } = await reader.read();
    return done ? undefined : text(value);
  };
  for (const [i, reader] of readers.entries()) for (const chunk of numbers(i === 2 ? 1 : 0, 2)) assert.equal(await next(reader), chunk);
  for (const chunk of numbers(2, 30)) {
    await world.writeToStream(name, runId, chunk);
    for (const reader of readers) assert.equal(await next(reader), chunk);
  }
  const ended = readers.map(next);
  await world.closeStream(name, runId);
  assert.deepEqual(await Promise.all(ended), [undefined, undefined, undefined]);
};

export const aStreamThatDoesNotExistYet = async ({ world }) => {
  const { name, runId } = stream();
  const read = collect(await world.readFromStream(name));
  const later = collect(await world.readFromStream(name, 1));
  await world.writeToStream(name, runId, "0");
  await world.writeToStream(name, runId, "1");
  await world.closeStream(name, runId);
  assert.deepEqual([await read, await later], [["0", "1"], ["1"]]);
};

export const startIndices = async ({ world }) => {
  const { name } = await filled(world, 10);
  for (const [start, first] of [
    [0, 0],
    [1, 1],
    [9, 9],
    [10, 10],
    [99, 10],
    [-1, 9],
    [-10, 0],
    [-99, 0],
  ]) {
    assert.deepEqual(await collect(await world.readFromStream(name, start)), numbers(first, 10), `startIndex ${start}`);
  }
};

export const negativeStartsOfOpenStreams = async ({ world }) => {
  const { name, runId } = await filled(world, 10, false);
  const reader = (await world.readFromStream(name, -3)).getReader();
  for (const chunk of numbers(7, 10)) assert.equal(text((await reader.read()).value), chunk);
  await world.writeToStream(name, runId, "10");
  assert.equal(text((await reader.read()).value), "10");
  await reader.cancel();
  await world.closeStream(name, runId);
};

export const nothingComesAfterTheEnd = async ({ world }) => {
  const { name, runId } = await filled(world, 3);
  await Promise.allSettled([world.writeToStream(name, runId, "late"), world.closeStream(name, runId)]);
  assert.deepEqual(await collect(await world.readFromStream(name)), numbers(0, 3));
  assert.deepEqual(await world.getStreamInfo(name, runId), { tailIndex: 2, done: true });
};

export const anEmptyStreamEnds = async ({ world }) => {
  const { name, runId } = stream();
  assert.deepEqual(await world.getStreamInfo(name, runId), { tailIndex: -1, done: false });
  await world.closeStream(name, runId);
  assert.deepEqual(await collect(await world.readFromStream(name)), []);
  assert.deepEqual(await world.getStreamInfo(name, runId), { tailIndex: -1, done: true });
  const { data, hasMore, done } = await world.getStreamChunks(name, runId);
  assert.deepEqual([data, hasMore, done], [[], false, true]);
};

export const chunksInPages = async ({ world }) => {
  const { name, runId } = await filled(world, 25, false);
  const pages = async (cursor) => {
    const all = [];
    for (;;) {
      const page = await world.getStreamChunks(name, runId, { limit: 10, cursor });
      all.push(...page.data);
      if (!page.hasMore) return { all, page };
      assert.ok(page.cursor && page.cursor !== cursor);
      cursor = page.cursor;
    }
  };
  const before = await pages();
  assert.deepEqual(
    before.all.map((c) => [c.index, text(c.data)]),
    numbers(0, 25).map((n) => [Number(n), n]),
  );
  assert.equal(before.page.done, false);
  assert.deepEqual(await world.getStreamInfo(name, runId), { tailIndex: 24, done: false });
  await world.closeStream(name, runId);
  const after = await pages();
  assert.deepEqual([after.all.length, after.page.done], [25, true]);
  assert.equal((await world.getStreamChunks(name, runId, { limit: 1000 })).data.length, 25);
};

export const namesOfARunsStreams = async ({ world }) => {
  const { runId } = await TestRun.begin(world);
  const names = Array.from({ length: 3 }, () => newId("strm")).sort();
  for (const name of names) await world.writeToStream(name, runId, "x");
  assert.deepEqual((await world.listStreamsByRunId(runId)).sort(), names);
  assert.deepEqual(await world.listStreamsByRunId(newId()), []);
};

export const aThousandChunksInOrder = async ({ world }) => {
  const { name, runId } = stream();
  const read = collect(await world.readFromStream(name));
  for (let n = 0; n < 1000; n += 50)
    await (world.writeToStreamMulti
      ? world.writeToStreamMulti(name, runId, numbers(n, n + 50))
      : numbers(n, n + 50).reduce((p, c) => p.then(() => world.writeToStream(name, runId, c)), Promise.resolve()));
  await world.closeStream(name, runId);
  assert.deepEqual(await read, numbers(0, 1000));
};

export const largeChunks = async ({ world }) => {
  const { name, runId } = stream();
  const chunk = new Uint8Array(300_000).map((_, i) => i * 7);
  await world.writeToStream(name, runId, chunk);
  await world.writeToStream(name, runId, chunk.slice(1));
  await world.closeStream(name, runId);
  const read = [];
  for await (const c of await world.readFromStream(name)) read.push(Buffer.from(c));
  assert.ok(read.length === 2 && read[0].equals(Buffer.from(chunk)) && read[1].equals(Buffer.from(chunk.slice(1))));
};

export const healthStreams = async ({ world }) => {
  const [name, runId] = [`__health_check__${newId("c")}`, newId()];
  await world.writeToStream(name, runId, '{"healthy":true}');
  await world.closeStream(name, runId);
  assert.deepEqual(await collect(await world.readFromStream(name)), ['{"healthy":true}']);
};
