// The same as ../workflow/sdk.mjs, of the last release of 0.2.
export { Client, WorkflowNonRetryableError, WorkflowRetryAfterError } from "@upstash/workflow";
export { createWorkflow, serveMany } from "@upstash/workflow/svelte";
export { Client as MessagesClient, Receiver } from "@upstash/qstash";

export const modern = false;
