"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Client = exports.script = void 0;
const errors_js_1 = require("./errors.js");
const transport_js_1 = require("./transport.js");
const script = (text, reads = false) => ({ text, reads });
exports.script = script;
/** What one request has at most: rows, of reads fewer since a reply may have 4 MB, and characters. */
const ROWS = { reads: 16, writes: 200 };
const BYTES = 1 << 19;
/** How long a request is repeated, how long one may take, and the pauses between, in milliseconds. */
const PATIENCE = 20_000;
const LIMIT = 30_000;
const PAUSES = [10, 40, 160, 500];
const soon = typeof setImmediate === "function" ? setImmediate : queueMicrotask;
class Client {
    settings;
    #at = 0;
    #waiting = { reads: [], writes: [] };
    constructor(settings) {
        this.settings = settings;
    }
    /** Runs a script. One that writes must know by a nonce among its arguments that it has been applied: it may be sent more than once. */
    async run(s, keys, args) {
        s.sha ??= sha1(s.text);
        const row = [s.reads ? "EVALSHA_RO" : "EVALSHA", await s.sha, keys.length, ...keys, ...args];
        const reply = await this.#call(row, s.reads);
        if (!(reply instanceof Unknown))
            return reply;
        await this.command(["SCRIPT", "LOAD", s.text]);
        const again = await this.#call(row, s.reads);
        if (again instanceof Unknown)
            throw new errors_js_1.WorkflowWorldError("a script was forgotten at once", { status: 503 });
        return again;
    }
    /** Runs a command that may be applied twice. */
    async command(row) {
        return this.#call(row, false);
    }
    /** Headers of a request, and the URL of a node: another one after a failure. */
    request() {
        const { urls, token } = this.settings();
        return { url: urls[this.#at % urls.length], headers: { authorization: `Bearer ${token}`, "content-type": "application/json" } };
    }
    /** Turns to the next node. */
    elsewhere() {
        this.#at++;
    }
    #call(row, reads) {
        return new Promise((resolve, reject) => {
            const list = this.#waiting[reads ? "reads" : "writes"];
            let bytes = 0;
            for (const argument of row)
                bytes += String(argument).length;
            list.push({ row, bytes, resolve: resolve, reject });
            if (list.length === 1)
                soon(() => this.#flush(reads ? "reads" : "writes"));
        });
    }
    #flush(kind) {
        const list = this.#waiting[kind];
        this.#waiting[kind] = [];
        for (let from = 0; from < list.length;) {
            let to = from;
            for (let bytes = 0; to < list.length && to - from < ROWS[kind] && (to === from || bytes + (list[to]?.bytes ?? 0) <= BYTES); to++)
                bytes += list[to]?.bytes ?? 0;
            void this.#send(list.slice(from, to));
            from = to;
        }
    }
    async #send(calls) {
        const one = calls.length === 1;
        const body = JSON.stringify(one ? calls[0]?.row : calls.map((c) => c.row));
        let answer;
        try {
            answer = await this.#post(one ? "/" : "/pipeline", body);
        }
        catch (error) {
            for (const call of calls)
                call.reject(error);
            return;
        }
        const answers = one ? [answer] : Array.isArray(answer) ? answer : calls.map(() => answer);
        calls.forEach((call, i) => {
            const { result, error } = (answers[i] ?? { error: "no answer" });
            if (error === undefined)
                call.resolve(result);
            else if (error.startsWith("NOSCRIPT"))
                call.resolve(new Unknown());
            else
                call.reject(refused(error));
        });
    }
    async #post(path, body) {
        const end = Date.now() + PATIENCE;
        for (let tries = 0;; tries++) {
            const { url, headers } = this.request();
            const answer = await (0, transport_js_1.post)(url + path, headers, body, LIMIT).catch((error) => ({ error }));
            let failure;
            if ("error" in answer) {
                failure = new errors_js_1.WorkflowWorldError(`${url}: ${reason(answer.error)}`, { code: "TRANSPORT", url, cause: answer.error });
            }
            else {
                const { status, text, retryAfter } = answer;
                if ((status >= 200 && status < 300) || status === 400)
                    return parsed(text, url);
                failure = answered(status, text, retryAfter, url);
                if (status < 500)
                    throw failure;
            }
            if (Date.now() > end)
                throw failure;
            this.elsewhere();
            await new Promise((done) => setTimeout(done, (PAUSES[Math.min(tries, PAUSES.length - 1)] ?? 0) * (0.5 + Math.random())));
        }
    }
}
exports.Client = Client;
/** A script that the database does not know. */
class Unknown {
}
// parsed reads an answer. One that is no JSON comes from something between this process and the node.
const parsed = (text, url) => {
    try {
        return JSON.parse(text);
    }
    catch (cause) {
        throw new errors_js_1.WorkflowWorldError(`${url}: the answer is no JSON: ${text.slice(0, 200)}`, { status: 502, url, cause });
    }
};
const reason = (error) => {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return cause instanceof Error ? cause.message || cause.name : String(cause);
};
const answered = (status, text, retryAfter, url) => {
    const message = `${url}: status ${status}: ${text.slice(0, 500)}`;
    if (status === 429)
        return (0, errors_js_1.throttled)(message, Math.max(1, Number(retryAfter) || 1));
    if (status === 413)
        return (0, errors_js_1.contract)(message);
    return new errors_js_1.WorkflowWorldError(message, { status, url });
};
// What is too large for the database stays so, and fails the run. Everything else may be different later: memory, quotas.
const TOO_LARGE = /max [a-z ]*(size|work)( of a request)? exceeded|used up its budget|quota max\w+ exceeded/;
const QUOTA = /max (daily request limit|request rate) exceeded/;
/** Seconds after which something is tried again that a quota has refused. */
const QUOTA_PAUSE = 5;
const refused = (error) => {
    if (QUOTA.test(error))
        return (0, errors_js_1.throttled)(error, QUOTA_PAUSE);
    if (TOO_LARGE.test(error))
        return (0, errors_js_1.contract)(error);
    return new errors_js_1.WorkflowWorldError(error, { status: 503 });
};
const sha1 = async (text) => {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text)));
    return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
};
