import { encodeMessage } from "./wire.js";
const QUEUE = /^(__(?:[a-z][a-z0-9]*_)?wkf_(workflow|step)_)(.+)$/;
const NAMESPACE = /^[a-z][a-z0-9]*$/;
export const queueName = (queue) => {
    const [, prefix, kind, name] = QUEUE.exec(queue) ?? [];
    if (!prefix || !name)
        throw new Error(`@trireme/world: ${JSON.stringify(queue)} is no name of a queue`);
    return { prefix, kind: kind, name };
};
/** What names of queues of workflows begin with. */
export const workflowPrefix = (namespace) => {
    if (namespace === undefined)
        return "__wkf_workflow_";
    if (!NAMESPACE.test(namespace))
        throw new Error(`@trireme/world: the namespace ${JSON.stringify(namespace)} must be lower-case letters and digits`);
    return `__${namespace}_wkf_workflow_`;
};
// The runtime gives up a message at the 48th attempt and reckons with 9 hours until then, 5 s growing to 15 min. A node that can't reach the
// application at all continues for another day before the message is a dead letter.
const RETRIES = "150";
const BACKOFF = "min(900000, 5000*pow(1.3, retried))";
const common = (settings, path, body, o) => {
    const args = [
        `${settings.baseUrl()}/.well-known/workflow/v1/${path}`,
        encodeMessage(body),
        "METHOD",
        "POST",
        "FORWARD-CONTENT-TYPE",
        "application/json",
        "RETRIES",
        RETRIES,
        "RETRY-DELAY",
        BACKOFF,
    ];
    for (const [name, value] of Object.entries(o.headers ?? {}))
        args.push(`FORWARD-${name}`, value);
    if (o.first)
        args.push("FORWARD-X-VQS-FIRST", "1");
    if (settings.timeout)
        args.push("TIMEOUT", settings.timeout);
    if (o.delaySeconds)
        args.push("DELAY", `${Math.ceil(o.delaySeconds)}s`);
    if (o.deduplication)
        args.push("DEDUPLICATION-ID", o.deduplication);
    return args;
};
const named = (queue) => [
    "FORWARD-X-VQS-QUEUE-NAME",
    encodeURIComponent(queue),
    "LABEL",
    queueName(queue)
        .name.replace(/[^\w./@-]/g, "_")
        .slice(-100),
];
// One replay of a run at a time, over all processes.
const alone = (settings, runId) => ["FLOW-CONTROL-KEY", settings.prefix + runId, "FLOW-CONTROL-VALUE", "parallelism=1"];
/** Arguments of wake in scripts, which adds the workflow's name: a message that has a run replayed. */
export const wakeArguments = (settings, prefix, runId, body, o = {}) => [
    prefix,
    ...common(settings, "flow", body, o),
    ...alone(settings, runId),
];
/** Arguments of MSG.PUBLISH for a message of a workflow. */
export const flowArguments = (settings, queue, runId, body, o = {}) => [
    ...common(settings, "flow", body, o),
    ...named(queue),
    ...(runId === undefined ? [] : alone(settings, runId)),
];
/** Arguments of MSG.PUBLISH for a message of a step of a workflow. */
export const stepArguments = (settings, queue, workflow, body, o = {}) => [
    ...common(settings, "step", body, o),
    ...named(queue),
    ...(settings.steps ? ["FLOW-CONTROL-KEY", `${settings.prefix}${workflow}`, "FLOW-CONTROL-VALUE", settings.steps] : []),
];
