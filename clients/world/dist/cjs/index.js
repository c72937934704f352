"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.createWorld = exports.WorkflowWorldError = void 0;
const client_js_1 = require("./client.js");
const config_js_1 = require("./config.js");
const events_js_1 = require("./events.js");
const queue_js_1 = require("./queue.js");
const reads_js_1 = require("./reads.js");
const streams_js_1 = require("./streams.js");
var errors_js_1 = require("./errors.js");
Object.defineProperty(exports, "WorkflowWorldError", { enumerable: true, get: function () { return errors_js_1.WorkflowWorldError; } });
/** Makes a world. It connects at its first use, and reads then what the configuration leaves out from the environment. */
const createWorld = (config = {}) => {
    let known;
    const current = () => {
        known ??= (0, config_js_1.settings)(config);
        return known;
    };
    const namespace = () => config.namespace ?? (process.env.WORKFLOW_QUEUE_NAMESPACE || undefined);
    const client = new client_js_1.Client(current);
    const events = new events_js_1.Events(client, namespace);
    const { queue, createQueueHandler } = new queue_js_1.Queues(client, events, namespace);
    const streams = new streams_js_1.Streams(client);
    const reads = new reads_js_1.Reads(client).storage();
    return {
        specVersion: events_js_1.SPEC_VERSION,
        ...reads,
        events: { ...reads.events, create: events.create },
        queue,
        createQueueHandler,
        getDeploymentId: async () => (0, config_js_1.deploymentId)(config),
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
exports.createWorld = createWorld;
exports.default = exports.createWorld;
