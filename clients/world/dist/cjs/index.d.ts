/**
 * A World for Vercel's Workflow SDK on Trireme.
 *
 * Set `WORKFLOW_TARGET_WORLD=@trireme/world`. Nodes push messages to the application over HTTP, so nothing has to keep running in it, and an
 * event, what it changes and the message that follows it are one commit.
 *
 * @packageDocumentation
 */
import type { World } from "@workflow/world" with { "resolution-mode": "import" };
import { type TriremeWorldConfig } from "./config.js";
export type { TriremeWorldConfig } from "./config.js";
export { WorkflowWorldError } from "./errors.js";
/** Makes a world. It connects at its first use, and reads then what the configuration leaves out from the environment. */
export declare const createWorld: (config?: TriremeWorldConfig) => World;
export default createWorld;
