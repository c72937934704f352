"use strict";
// Errors that the SDK's runtime knows by their names.
Object.defineProperty(exports, "__esModule", { value: true });
exports.refusal = exports.runNotSupported = exports.hookNotFound = exports.runNotFound = exports.contract = exports.stale = exports.throttled = exports.tooEarly = exports.expired = exports.conflict = exports.WorkflowWorldError = void 0;
/** An error of the world. With a status of 500 or more, or the code TRANSPORT, the runtime has the message delivered again. */
class WorkflowWorldError extends Error {
    status;
    code;
    retryAfter;
    url;
    constructor(message, options = {}, name = "WorkflowWorldError") {
        super(message, { cause: options.cause });
        this.name = name;
        if (options.status !== undefined)
            this.status = options.status;
        if (options.code !== undefined)
            this.code = options.code;
        if (options.retryAfter !== undefined)
            this.retryAfter = options.retryAfter;
        if (options.url !== undefined)
            this.url = options.url;
    }
}
exports.WorkflowWorldError = WorkflowWorldError;
const conflict = (message) => new WorkflowWorldError(message, { status: 409 }, "EntityConflictError");
exports.conflict = conflict;
const expired = (message) => new WorkflowWorldError(message, { status: 410 }, "RunExpiredError");
exports.expired = expired;
const tooEarly = (retryAfter) => new WorkflowWorldError(`the step is tried again in ${retryAfter} s`, { status: 425, retryAfter }, "TooEarlyError");
exports.tooEarly = tooEarly;
const throttled = (message, retryAfter) => new WorkflowWorldError(message, { status: 429, retryAfter }, "ThrottleError");
exports.throttled = throttled;
const stale = () => new WorkflowWorldError("there is a newer event than the caller has seen", { status: 412 }, "PreconditionFailedError");
exports.stale = stale;
/** The run will always fail in this way. */
const contract = (message, cause) => new WorkflowWorldError(message, { code: "WORLD_CONTRACT_ERROR", cause });
exports.contract = contract;
const named = (name, message, fields) => Object.assign(new Error(message), { name, ...fields });
const runNotFound = (runId) => named("WorkflowRunNotFoundError", `no run ${runId}`, { runId });
exports.runNotFound = runNotFound;
const hookNotFound = (token) => named("HookNotFoundError", `no hook ${token}`, { token });
exports.hookNotFound = hookNotFound;
const runNotSupported = (runSpecVersion, worldSpecVersion) => named("RunNotSupportedError", `the run needs version ${runSpecVersion} of a world, this one has ${worldSpecVersion}`, {
    runSpecVersion,
    worldSpecVersion,
});
exports.runNotSupported = runNotSupported;
/** The error of a refusal of a script: its kind, and what it adds. */
const refusal = (kind, detail, runId, event) => {
    switch (kind) {
        case "conflict":
            return (0, exports.conflict)(`${detail}: ${runId} ${event.correlationId ?? ""}`.trimEnd());
        case "expired":
            return (0, exports.expired)(`run ${runId} is ${detail}`);
        case "early":
            return (0, exports.tooEarly)(Number(detail));
        case "stale":
            return (0, exports.stale)();
        case "norun":
            return (0, exports.runNotFound)(runId);
        case "nohook":
            return (0, exports.hookNotFound)(String(event.eventData?.token ?? event.correlationId));
        case "nostep":
        case "nowait":
            return new WorkflowWorldError(`run ${runId} has no ${kind.slice(2)} ${event.correlationId}`, { status: 404 });
        case "full":
            return (0, exports.contract)(`run ${runId} has ${detail} events: WORKFLOW_MAX_EVENTS`);
        case "bad":
            return new WorkflowWorldError(`run ${runId}: ${detail}`, { status: 400 });
        default:
            return new WorkflowWorldError(`the database answered ${kind} ${detail ?? ""}`, { status: 500 });
    }
};
exports.refusal = refusal;
