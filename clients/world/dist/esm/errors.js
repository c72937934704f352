// Errors that the SDK's runtime knows by their names.
/** An error of the world. With a status of 500 or more, or the code TRANSPORT, the runtime has the message delivered again. */
export class WorkflowWorldError extends Error {
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
export const conflict = (message) => new WorkflowWorldError(message, { status: 409 }, "EntityConflictError");
export const expired = (message) => new WorkflowWorldError(message, { status: 410 }, "RunExpiredError");
export const tooEarly = (retryAfter) => new WorkflowWorldError(`the step is tried again in ${retryAfter} s`, { status: 425, retryAfter }, "TooEarlyError");
export const throttled = (message, retryAfter) => new WorkflowWorldError(message, { status: 429, retryAfter }, "ThrottleError");
export const stale = () => new WorkflowWorldError("there is a newer event than the caller has seen", { status: 412 }, "PreconditionFailedError");
/** The run will always fail in this way. */
export const contract = (message, cause) => new WorkflowWorldError(message, { code: "WORLD_CONTRACT_ERROR", cause });
const named = (name, message, fields) => Object.assign(new Error(message), { name, ...fields });
export const runNotFound = (runId) => named("WorkflowRunNotFoundError", `no run ${runId}`, { runId });
export const hookNotFound = (token) => named("HookNotFoundError", `no hook ${token}`, { token });
export const runNotSupported = (runSpecVersion, worldSpecVersion) => named("RunNotSupportedError", `the run needs version ${runSpecVersion} of a world, this one has ${worldSpecVersion}`, {
    runSpecVersion,
    worldSpecVersion,
});
/** The error of a refusal of a script: its kind, and what it adds. */
export const refusal = (kind, detail, runId, event) => {
    switch (kind) {
        case "conflict":
            return conflict(`${detail}: ${runId} ${event.correlationId ?? ""}`.trimEnd());
        case "expired":
            return expired(`run ${runId} is ${detail}`);
        case "early":
            return tooEarly(Number(detail));
        case "stale":
            return stale();
        case "norun":
            return runNotFound(runId);
        case "nohook":
            return hookNotFound(String(event.eventData?.token ?? event.correlationId));
        case "nostep":
        case "nowait":
            return new WorkflowWorldError(`run ${runId} has no ${kind.slice(2)} ${event.correlationId}`, { status: 404 });
        case "full":
            return contract(`run ${runId} has ${detail} events: WORKFLOW_MAX_EVENTS`);
        case "bad":
            return new WorkflowWorldError(`run ${runId}: ${detail}`, { status: 400 });
        default:
            return new WorkflowWorldError(`the database answered ${kind} ${detail ?? ""}`, { status: 500 });
    }
};
