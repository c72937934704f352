"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.waitOf = exports.hookOf = exports.stepOf = exports.runOf = exports.pairs = exports.dataOf = exports.eventOf = exports.written = void 0;
const codec_js_1 = require("./codec.js");
const ids_js_1 = require("./ids.js");
/** The members of an event's data that hold payloads; without them events are small. */
const PAYLOADS = {
    run_created: ["input"],
    run_completed: ["output"],
    run_failed: ["error"],
    step_created: ["input"],
    step_completed: ["result"],
    step_failed: ["error"],
    step_retrying: ["error"],
    hook_created: ["metadata"],
    hook_received: ["payload"],
};
/** Head and payloads of an event, as scripts take them; the payloads are empty if it has none. */
const written = (event, occurredAt) => {
    const small = {};
    const large = {};
    for (const [name, value] of Object.entries(event.eventData ?? {})) {
        if (value !== undefined)
            (PAYLOADS[event.eventType]?.includes(name) ? large : small)[name] = value;
    }
    const head = (0, codec_js_1.encode)({ t: event.eventType, c: event.correlationId, v: event.specVersion, o: occurredAt?.getTime(), d: event.eventData && small });
    return [head, Object.keys(large).length > 0 ? (0, codec_js_1.encode)(large) : ""];
};
exports.written = written;
/** An event from its record. */
const eventOf = (runId, n, record) => {
    const space = record.indexOf(" ");
    const line = record.indexOf("\n");
    const head = (0, codec_js_1.decode)(record.slice(space + 1, line < 0 ? undefined : line));
    const data = line < 0 ? head.d : { ...head.d, ...(0, codec_js_1.decode)(record.slice(line + 1)) };
    const time = Number(record.slice(0, space));
    return {
        runId,
        eventId: (0, ids_js_1.eventId)(runId, time, n),
        eventType: head.t,
        createdAt: new Date(time),
        ...(head.c !== undefined && { correlationId: head.c }),
        ...(head.v !== undefined && { specVersion: head.v }),
        ...(head.o !== undefined && { occurredAt: new Date(head.o) }),
        ...(data !== undefined && { eventData: data }),
    };
};
exports.eventOf = eventOf;
/** The data of an event's record, or none. */
const dataOf = (record) => (record ? ((0, exports.eventOf)("", 1, record).eventData ?? {}) : {});
exports.dataOf = dataOf;
const pairs = (list) => {
    const out = {};
    for (let i = 0; i < list.length; i += 2)
        out[String(list[i])] = String(list[i + 1]);
    return out;
};
exports.pairs = pairs;
const date = (ms) => (ms && ms !== "0" ? new Date(Number(ms)) : undefined);
const only = (value) => Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined));
const structured = (data) => {
    if (!("error" in data))
        return undefined;
    const { error, stack, errorCode } = data;
    const given = typeof error === "object" && error !== null ? error : { message: error };
    const message = typeof given.message === "string" ? given.message : String(given.message ?? "Unknown error");
    return only({ message, stack: given.stack ?? stack, code: errorCode ?? given.code });
};
/** A run from its hash and the data of its first event and of the one that ended it. */
const runOf = (runId, hash, made, end) => only({
    runId,
    status: hash.s,
    deploymentId: hash.d,
    workflowName: hash.n,
    specVersion: Number(hash.v),
    executionContext: hash.x ? (0, codec_js_1.decode)(hash.x) : undefined,
    input: made.input,
    output: hash.s === "completed" ? end.output : undefined,
    error: hash.s === "failed" ? structured(end) : undefined,
    startedAt: date(hash.t),
    completedAt: date(hash.e),
    expiredAt: date(hash.p),
    createdAt: date(hash.c),
    updatedAt: date(hash.u),
});
exports.runOf = runOf;
const stepOf = (runId, stepId, packed, made, end) => {
    const [status, , , attempt, retryAfter, started, created, updated, completed, version] = packed.split(" ");
    return only({
        runId,
        stepId,
        stepName: made.stepName,
        status,
        input: made.input,
        output: end.result,
        error: structured(end),
        attempt: Number(attempt),
        startedAt: date(started),
        completedAt: date(completed),
        retryAfter: date(retryAfter),
        createdAt: date(created),
        updatedAt: date(updated),
        specVersion: Number(version) || undefined,
    });
};
exports.stepOf = stepOf;
/** What the types of the SDK want of a hook, and what no part of this world uses. */
const OWNER = { ownerId: "trireme", projectId: "trireme", environment: "trireme" };
const hookOf = (runId, hookId, packed, data) => {
    const [, , created, webhook, version] = packed.split(" ");
    return only({
        runId,
        hookId,
        token: String(data.token),
        ...OWNER,
        metadata: data.metadata,
        createdAt: new Date(Number(created)),
        isWebhook: webhook === "1",
        specVersion: Number(version) || undefined,
    });
};
exports.hookOf = hookOf;
const waitOf = (runId, correlationId, packed) => {
    const [status, resumeAt, created, updated, completed, version] = packed.split(" ");
    return only({
        waitId: `${runId}-${correlationId}`,
        runId,
        status,
        resumeAt: date(resumeAt),
        createdAt: date(created),
        updatedAt: date(updated),
        completedAt: date(completed),
        specVersion: Number(version) || undefined,
    });
};
exports.waitOf = waitOf;
