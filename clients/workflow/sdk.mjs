// What the programs here use of the SDK, from the packages of this folder: the newest
// release. ../workflow02 has an old one, and the same programs run with both.
export { Client, WorkflowNonRetryableError, WorkflowRetryAfterError } from "@upstash/workflow";
export { createWorkflow, serveMany } from "@upstash/workflow/svelte";
export { Client as MessagesClient, Receiver } from "@upstash/qstash";

// modern reports whether the release has what came with 1.x: settings that stay with the
// trigger, filters, bulk actions, notifications of one run.
export const modern = true;
