export interface WorldErrorOptions {
    status?: number;
    code?: string;
    /** Seconds. */
    retryAfter?: number;
    url?: string;
    cause?: unknown;
}
/** An error of the world. With a status of 500 or more, or the code TRANSPORT, the runtime has the message delivered again. */
export declare class WorkflowWorldError extends Error {
    status?: number;
    code?: string;
    retryAfter?: number;
    url?: string;
    constructor(message: string, options?: WorldErrorOptions, name?: string);
}
export declare const conflict: (message: string) => WorkflowWorldError;
export declare const expired: (message: string) => WorkflowWorldError;
export declare const tooEarly: (retryAfter: number) => WorkflowWorldError;
export declare const throttled: (message: string, retryAfter: number) => WorkflowWorldError;
export declare const stale: () => WorkflowWorldError;
/** The run will always fail in this way. */
export declare const contract: (message: string, cause?: unknown) => WorkflowWorldError;
export declare const runNotFound: (runId: string) => Error;
export declare const hookNotFound: (token: string) => Error;
export declare const runNotSupported: (runSpecVersion: number, worldSpecVersion: number) => Error;
/** The error of a refusal of a script: its kind, and what it adds. */
export declare const refusal: (kind: string, detail: unknown, runId: string, event: {
    correlationId?: string;
    eventData?: Record<string, unknown>;
}) => Error;
