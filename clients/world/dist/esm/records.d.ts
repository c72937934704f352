import type { Event, Hook, Step, Wait, WorkflowRun } from "@workflow/world" with { "resolution-mode": "import" };
export type Data = Record<string, unknown>;
export interface EventRequest {
    eventType: string;
    correlationId?: string;
    specVersion?: number;
    eventData?: Data;
}
/** Head and payloads of an event, as scripts take them; the payloads are empty if it has none. */
export declare const written: (event: EventRequest, occurredAt?: Date) => [string, string];
/** An event from its record. */
export declare const eventOf: (runId: string, n: number, record: string) => Event;
/** The data of an event's record, or none. */
export declare const dataOf: (record: string | undefined) => Data;
export declare const pairs: (list: unknown[]) => Record<string, string>;
/** A run from its hash and the data of its first event and of the one that ended it. */
export declare const runOf: (runId: string, hash: Record<string, string>, made: Data, end: Data) => WorkflowRun;
export declare const stepOf: (runId: string, stepId: string, packed: string, made: Data, end: Data) => Step;
export declare const hookOf: (runId: string, hookId: string, packed: string, data: Data) => Hook;
export declare const waitOf: (runId: string, correlationId: string, packed: string) => Wait;
