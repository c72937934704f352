// Streams: Redis streams, read live by server-sent events.
import type { GetChunksOptions, StreamChunksResponse, StreamInfoResponse } from "@workflow/world" with { "resolution-mode": "import" };
import type { Client } from "./client.js";
import { bytesOf, latin1 } from "./codec.js";
import { WorkflowWorldError } from "./errors.js";
import { follow } from "./follow.js";
import { runKey } from "./reads.js";
import { scripts } from "./scripts.js";

type Chunk = string | Uint8Array;

/** How long a stream whose run is unknown is kept, such as that of a health check; milliseconds. */
const STRAY = 3_600_000;

export class Streams {
  readonly #client: Client;
  readonly #open = new Set<AbortController>();

  constructor(client: Client) {
    this.#client = client;
  }

  writeToStream = (name: string, runId: string | Promise<string>, chunk: Chunk): Promise<void> => this.#write(name, runId, [chunk], false);

  writeToStreamMulti = (name: string, runId: string | Promise<string>, chunks: Chunk[]): Promise<void> => this.#write(name, runId, chunks, false);

  closeStream = (name: string, runId: string | Promise<string>): Promise<void> => this.#write(name, runId, [], true);

  // Writes to a stream keep the order in which they were asked for, one after the other.
  readonly #last = new Map<string, Promise<void>>();

  #write(name: string, runId: string | Promise<string>, chunks: Chunk[], end: boolean): Promise<void> {
    const texts = chunks.map((c) => (typeof c === "string" ? latin1(new TextEncoder().encode(c)) : latin1(c))).filter((c) => c !== "");
    if (texts.length === 0 && !end) return Promise.resolve();
    const before = this.#last.get(name);
    const written = (async () => {
      await before?.catch(() => {});
      const { prefix } = this.#client.settings();
      const run = runKey(prefix, await runId);
      const nonce = crypto.randomUUID();
      await this.#client.run(scripts.streamWrite, [`${prefix}stream:${name}`, `${run}:streams`, run], [name, nonce, end ? 1 : 0, STRAY, ...texts]);
    })();
    this.#last.set(name, written);
    const forget = () => {
      if (this.#last.get(name) === written) this.#last.delete(name);
    };
    written.then(forget, forget);
    return written;
  }

  getStreamInfo = async (name: string): Promise<StreamInfoResponse> => {
    const [count, done] = (await this.#client.run(scripts.streamInfo, [`${this.#client.settings().prefix}stream:${name}`], [])) as [number, number];
    return { tailIndex: count - 1, done: done === 1 };
  };

  getStreamChunks = async (name: string, _runId: string, options: GetChunksOptions = {}): Promise<StreamChunksResponse> => {
    const { limit = 100, cursor } = options;
    if (cursor && !/^\d{1,15}$/.test(cursor)) throw new WorkflowWorldError(`${JSON.stringify(cursor)} is no cursor of this list`, { status: 400 });
    const from = Number(cursor || 0);
    const key = `${this.#client.settings().prefix}stream:${name}`;
    const [list, count, done] = (await this.#client.run(scripts.streamRead, [key], [from, Math.max(1, Math.min(limit, 1000))])) as [
      string[],
      number,
      number,
    ];
    const next = from + list.length;
    const hasMore = next < count;
    return {
      data: list.map((text, i) => ({ index: from + i, data: bytesOf(text) })),
      cursor: hasMore ? String(next) : null,
      hasMore,
      done: done === 1,
    };
  };

  listStreamsByRunId = async (runId: string): Promise<string[]> =>
    (await this.#client.command(["SMEMBERS", `${runKey(this.#client.settings().prefix, runId)}:streams`])) as string[];

  readFromStream = async (name: string, startIndex = 0): Promise<ReadableStream<Uint8Array>> => {
    const { tailIndex, done } = await this.getStreamInfo(name);
    const count = tailIndex + 1;
    const start = startIndex < 0 ? Math.max(0, count + startIndex) : startIndex;
    if (done && start >= count) return new ReadableStream({ start: (c) => c.close() });
    const stop = new AbortController();
    this.#open.add(stop);
    // A start beyond the end is waited for from the end on, so that an end that comes earlier is seen.
    const entries = follow(this.#client, `${this.#client.settings().prefix}stream:${name}`, Math.min(start, count), stop.signal);
    const over = () => {
      this.#open.delete(stop);
      stop.abort();
    };
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          for (;;) {
            const { value: entry, done: ended } = await entries.next();
            if (ended || entry.end) {
              over();
              controller.close();
              return;
            }
            if (entry.index < start) continue;
            controller.enqueue(bytesOf(entry.data));
            return;
          }
        } catch (error) {
          over();
          controller.error(error);
        }
      },
      cancel: over,
    });
  };

  close(): void {
    for (const stop of this.#open) stop.abort(new Error("the world is closed"));
    this.#open.clear();
  }
}
