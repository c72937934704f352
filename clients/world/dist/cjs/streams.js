"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Streams = void 0;
const codec_js_1 = require("./codec.js");
const errors_js_1 = require("./errors.js");
const follow_js_1 = require("./follow.js");
const reads_js_1 = require("./reads.js");
const scripts_js_1 = require("./scripts.js");
/** How long a stream whose run is unknown is kept, such as that of a health check; milliseconds. */
const STRAY = 3_600_000;
class Streams {
    #client;
    #open = new Set();
    constructor(client) {
        this.#client = client;
    }
    writeToStream = (name, runId, chunk) => this.#write(name, runId, [chunk], false);
    writeToStreamMulti = (name, runId, chunks) => this.#write(name, runId, chunks, false);
    closeStream = (name, runId) => this.#write(name, runId, [], true);
    // Writes to a stream keep the order in which they were asked for, one after the other.
    #last = new Map();
    #write(name, runId, chunks, end) {
        const texts = chunks.map((c) => (typeof c === "string" ? (0, codec_js_1.latin1)(new TextEncoder().encode(c)) : (0, codec_js_1.latin1)(c))).filter((c) => c !== "");
        if (texts.length === 0 && !end)
            return Promise.resolve();
        const before = this.#last.get(name);
        const written = (async () => {
            await before?.catch(() => { });
            const { prefix } = this.#client.settings();
            const run = (0, reads_js_1.runKey)(prefix, await runId);
            const nonce = crypto.randomUUID();
            await this.#client.run(scripts_js_1.scripts.streamWrite, [`${prefix}stream:${name}`, `${run}:streams`, run], [name, nonce, end ? 1 : 0, STRAY, ...texts]);
        })();
        this.#last.set(name, written);
        const forget = () => {
            if (this.#last.get(name) === written)
                this.#last.delete(name);
        };
        written.then(forget, forget);
        return written;
    }
    getStreamInfo = async (name) => {
        const [count, done] = (await this.#client.run(scripts_js_1.scripts.streamInfo, [`${this.#client.settings().prefix}stream:${name}`], []));
        return { tailIndex: count - 1, done: done === 1 };
    };
    getStreamChunks = async (name, _runId, options = {}) => {
        const { limit = 100, cursor } = options;
        if (cursor && !/^\d{1,15}$/.test(cursor))
            throw new errors_js_1.WorkflowWorldError(`${JSON.stringify(cursor)} is no cursor of this list`, { status: 400 });
        const from = Number(cursor || 0);
        const key = `${this.#client.settings().prefix}stream:${name}`;
        const [list, count, done] = (await this.#client.run(scripts_js_1.scripts.streamRead, [key], [from, Math.max(1, Math.min(limit, 1000))]));
        const next = from + list.length;
        const hasMore = next < count;
        return {
            data: list.map((text, i) => ({ index: from + i, data: (0, codec_js_1.bytesOf)(text) })),
            cursor: hasMore ? String(next) : null,
            hasMore,
            done: done === 1,
        };
    };
    listStreamsByRunId = async (runId) => (await this.#client.command(["SMEMBERS", `${(0, reads_js_1.runKey)(this.#client.settings().prefix, runId)}:streams`]));
    readFromStream = async (name, startIndex = 0) => {
        const { tailIndex, done } = await this.getStreamInfo(name);
        const count = tailIndex + 1;
        const start = startIndex < 0 ? Math.max(0, count + startIndex) : startIndex;
        if (done && start >= count)
            return new ReadableStream({ start: (c) => c.close() });
        const stop = new AbortController();
        this.#open.add(stop);
        // A start beyond the end is waited for from the end on, so that an end that comes earlier is seen.
        const entries = (0, follow_js_1.follow)(this.#client, `${this.#client.settings().prefix}stream:${name}`, Math.min(start, count), stop.signal);
        const over = () => {
            this.#open.delete(stop);
            stop.abort();
        };
        return new ReadableStream({
            async pull(controller) {
                try {
                    for (;;) {
                        const { value: entry, done: ended } = await entries.next();
                        if (ended || entry.end) {
                            over();
                            controller.close();
                            return;
                        }
                        if (entry.index < start)
                            continue;
                        controller.enqueue((0, codec_js_1.bytesOf)(entry.data));
                        return;
                    }
                }
                catch (error) {
                    over();
                    controller.error(error);
                }
            },
            cancel: over,
        });
    };
    close() {
        for (const stop of this.#open)
            stop.abort(new Error("the world is closed"));
        this.#open.clear();
    }
}
exports.Streams = Streams;
