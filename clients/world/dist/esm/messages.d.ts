import type { Settings } from "./config.js";
export interface QueueName {
    prefix: string;
    kind: "workflow" | "step";
    name: string;
}
export declare const queueName: (queue: string) => QueueName;
/** What names of queues of workflows begin with. */
export declare const workflowPrefix: (namespace: string | undefined) => string;
export interface Options {
    headers?: Record<string, string>;
    first?: boolean;
    deduplication?: string;
    delaySeconds?: number;
}
/** Arguments of wake in scripts, which adds the workflow's name: a message that has a run replayed. */
export declare const wakeArguments: (settings: Settings, prefix: string, runId: string, body: unknown, o?: Options) => string[];
/** Arguments of MSG.PUBLISH for a message of a workflow. */
export declare const flowArguments: (settings: Settings, queue: string, runId: string | undefined, body: unknown, o?: Options) => string[];
/** Arguments of MSG.PUBLISH for a message of a step of a workflow. */
export declare const stepArguments: (settings: Settings, queue: string, workflow: string, body: unknown, o?: Options) => string[];
