/**
 * A World for Vercel's Workflow SDK on Trireme.
 *
 * Set `WORKFLOW_TARGET_WORLD=@trireme/world`. Nodes push messages to the application over HTTP, so nothing has to keep running in it, and an
 * event, what it changes and the message that follows it are one commit.
 *
 * @packageDocumentation
 */
import type { World } from "@workflow/world" with { "resolution-mode": "import" };
import { Client } from "./client.js";
import { deploymentId, type Settings, settings, type TriremeWorldConfig } from "./config.js";
import { Events, SPEC_VERSION } from "./events.js";
import { Queues } from "./queue.js";
import { Reads } from "./reads.js";
import { Streams } from "./streams.js";

export type { TriremeWorldConfig } from "./config.js";
export { WorkflowWorldError } from "./errors.js";

/** Makes a world. It connects at its first use, and reads then what the configuration leaves out from the environment. */
export const createWorld = (config: TriremeWorldConfig = {}): World => {
  let known: Settings | undefined;
  const current = (): Settings => {
    known ??= settings(config);
    return known;
  };
  const namespace = () => config.namespace ?? (process.env.WORKFLOW_QUEUE_NAMESPACE || undefined);
  const client = new Client(current);
  const events = new Events(client, namespace);
  const { queue, createQueueHandler } = new Queues(client, events, namespace);
  const streams = new Streams(client);
  const reads = new Reads(client).storage();
  return {
    specVersion: SPEC_VERSION,
    ...reads,
    events: { ...reads.events, create: events.create as World["events"]["create"] },
    queue,
    createQueueHandler,
    getDeploymentId: async () => deploymentId(config),
    // The runtime writes a chunk at a time and waits for each: a timer that gathers chunks gathers none.
    streamFlushIntervalMs: 0,
    writeToStream: streams.writeToStream,
    writeToStreamMulti: streams.writeToStreamMulti,
    closeStream: streams.closeStream,
    readFromStream: streams.readFromStream,
    listStreamsByRunId: streams.listStreamsByRunId,
    getStreamChunks: streams.getStreamChunks,
    getStreamInfo: streams.getStreamInfo,
    // Nodes push, and no message is lost: there is nothing to start, and no run to queue again.
    start: async () => {
      current();
    },
    close: async () => streams.close(),
  };
};

export default createWorld;
