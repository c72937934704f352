// Errors that the SDK's runtime knows by their names.

export interface WorldErrorOptions {
  status?: number;
  code?: string;
  /** Seconds. */
  retryAfter?: number;
  url?: string;
  cause?: unknown;
}

/** An error of the world. With a status of 500 or more, or the code TRANSPORT, the runtime has the message delivered again. */
export class WorkflowWorldError extends Error {
  status?: number;
  code?: string;
  retryAfter?: number;
  url?: string;

  constructor(message: string, options: WorldErrorOptions = {}, name = "WorkflowWorldError") {
    super(message, { cause: options.cause });
    this.name = name;
    if (options.status !== undefined) this.status = options.status;
    if (options.code !== undefined) this.code = options.code;
    if (options.retryAfter !== undefined) this.retryAfter = options.retryAfter;
    if (options.url !== undefined) this.url = options.url;
  }
}

export const conflict = (message: string): WorkflowWorldError => new WorkflowWorldError(message, { status: 409 }, "EntityConflictError");

export const expired = (message: string): WorkflowWorldError => new WorkflowWorldError(message, { status: 410 }, "RunExpiredError");

export const tooEarly = (retryAfter: number): WorkflowWorldError =>
  new WorkflowWorldError(`the step is tried again in ${retryAfter} s`, { status: 425, retryAfter }, "TooEarlyError");

export const throttled = (message: string, retryAfter: number): WorkflowWorldError =>
  new WorkflowWorldError(message, { status: 429, retryAfter }, "ThrottleError");

export const stale = (): WorkflowWorldError =>
  new WorkflowWorldError("there is a newer event than the caller has seen", { status: 412 }, "PreconditionFailedError");

/** The run will always fail in this way. */
export const contract = (message: string, cause?: unknown): WorkflowWorldError =>
  new WorkflowWorldError(message, { code: "WORLD_CONTRACT_ERROR", cause });

const named = <T extends object>(name: string, message: string, fields: T): Error & T => Object.assign(new Error(message), { name, ...fields });

export const runNotFound = (runId: string): Error => named("WorkflowRunNotFoundError", `no run ${runId}`, { runId });

export const hookNotFound = (token: string): Error => named("HookNotFoundError", `no hook ${token}`, { token });

export const runNotSupported = (runSpecVersion: number, worldSpecVersion: number): Error =>
  named("RunNotSupportedError", `the run needs version ${runSpecVersion} of a world, this one has ${worldSpecVersion}`, {
    runSpecVersion,
    worldSpecVersion,
  });

/** The error of a refusal of a script: its kind, and what it adds. */
export const refusal = (
  kind: string,
  detail: unknown,
  runId: string,
  event: { correlationId?: string; eventData?: Record<string, unknown> },
): Error => {
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
