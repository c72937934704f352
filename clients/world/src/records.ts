// How events and entities are written in the database, and read from there.
import type { Event, Hook, Step, Wait, WorkflowRun } from "@workflow/world" with { "resolution-mode": "import" };
import { decode, encode } from "./codec.js";
import { eventId } from "./ids.js";

/** The members of an event's data that hold payloads; without them events are small. */
const PAYLOADS: Record<string, string[]> = {
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

export type Data = Record<string, unknown>;

export interface EventRequest {
  eventType: string;
  correlationId?: string;
  specVersion?: number;
  eventData?: Data;
}

/** Head and payloads of an event, as scripts take them; the payloads are empty if it has none. */
export const written = (event: EventRequest, occurredAt?: Date): [string, string] => {
  const small: Data = {};
  const large: Data = {};
  for (const [name, value] of Object.entries(event.eventData ?? {})) {
    if (value !== undefined) (PAYLOADS[event.eventType]?.includes(name) ? large : small)[name] = value;
  }
  const head = encode({ t: event.eventType, c: event.correlationId, v: event.specVersion, o: occurredAt?.getTime(), d: event.eventData && small });
  return [head, Object.keys(large).length > 0 ? encode(large) : ""];
};

/** An event from its record. */
export const eventOf = (runId: string, n: number, record: string): Event => {
  const space = record.indexOf(" ");
  const line = record.indexOf("\n");
  const head = decode(record.slice(space + 1, line < 0 ? undefined : line));
  const data = line < 0 ? head.d : { ...head.d, ...decode(record.slice(line + 1)) };
  const time = Number(record.slice(0, space));
  return {
    runId,
    eventId: eventId(runId, time, n),
    eventType: head.t,
    createdAt: new Date(time),
    ...(head.c !== undefined && { correlationId: head.c }),
    ...(head.v !== undefined && { specVersion: head.v }),
    ...(head.o !== undefined && { occurredAt: new Date(head.o) }),
    ...(data !== undefined && { eventData: data }),
  } as Event;
};

/** The data of an event's record, or none. */
export const dataOf = (record: string | undefined): Data => (record ? ((eventOf("", 1, record) as { eventData?: Data }).eventData ?? {}) : {});

export const pairs = (list: unknown[]): Record<string, string> => {
  const out: Record<string, string> = {};
  for (let i = 0; i < list.length; i += 2) out[String(list[i])] = String(list[i + 1]);
  return out;
};

const date = (ms: string | undefined): Date | undefined => (ms && ms !== "0" ? new Date(Number(ms)) : undefined);

const only = <T extends object>(value: T): T => Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as T;

const structured = (data: Data): unknown => {
  if (!("error" in data)) return undefined;
  const { error, stack, errorCode } = data as { error: unknown; stack?: string; errorCode?: string };
  const given = typeof error === "object" && error !== null ? (error as { message?: unknown; stack?: string; code?: string }) : { message: error };
  const message = typeof given.message === "string" ? given.message : String(given.message ?? "Unknown error");
  return only({ message, stack: given.stack ?? stack, code: errorCode ?? given.code });
};

/** A run from its hash and the data of its first event and of the one that ended it. */
export const runOf = (runId: string, hash: Record<string, string>, made: Data, end: Data): WorkflowRun =>
  only({
    runId,
    status: hash.s,
    deploymentId: hash.d,
    workflowName: hash.n,
    specVersion: Number(hash.v),
    executionContext: hash.x ? decode(hash.x) : undefined,
    input: made.input,
    output: hash.s === "completed" ? end.output : undefined,
    error: hash.s === "failed" ? structured(end) : undefined,
    startedAt: date(hash.t),
    completedAt: date(hash.e),
    expiredAt: date(hash.p),
    createdAt: date(hash.c),
    updatedAt: date(hash.u),
  }) as unknown as WorkflowRun;

export const stepOf = (runId: string, stepId: string, packed: string, made: Data, end: Data): Step => {
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
  }) as unknown as Step;
};

/** What the types of the SDK want of a hook, and what no part of this world uses. */
const OWNER = { ownerId: "trireme", projectId: "trireme", environment: "trireme" };

export const hookOf = (runId: string, hookId: string, packed: string, data: Data): Hook => {
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
  }) as unknown as Hook;
};

export const waitOf = (runId: string, correlationId: string, packed: string): Wait => {
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
  }) as unknown as Wait;
};
