"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Queues = void 0;
const config_js_1 = require("./config.js");
const delivery_js_1 = require("./delivery.js");
const errors_js_1 = require("./errors.js");
const messages_js_1 = require("./messages.js");
const reads_js_1 = require("./reads.js");
const scripts_js_1 = require("./scripts.js");
const signature_js_1 = require("./signature.js");
const wire_js_1 = require("./wire.js");
/** The id of a message that is not published because one that serves is on its way. */
const id = (message) => ({ messageId: (message || null) });
class Queues {
    #client;
    #events;
    #namespace;
    constructor(client, events, namespace) {
        this.#client = client;
        this.#events = events;
        this.#namespace = namespace;
    }
    queue = async (queue, message, options = {}) => {
        const { kind, prefix } = (0, messages_js_1.queueName)(queue);
        const body = message;
        const given = {
            ...(options.headers && { headers: options.headers }),
            ...(options.delaySeconds && { delaySeconds: options.delaySeconds }),
        };
        if (typeof body.stepId === "string")
            return this.#step(queue, body, given, options.idempotencyKey);
        if (kind === "workflow" && typeof body.runId === "string" && !given.delaySeconds) {
            if (body.runInput !== undefined) {
                const begun = this.#events.begin(body.runId, { prefix, body, options: given });
                if (begun)
                    return id(await begun);
            }
            else if (body.replayDivergence === undefined && body.serverErrorRetryCount === undefined && options.idempotencyKey === undefined) {
                return this.#wake(prefix, body.runId, body, given, queue);
            }
        }
        return this.#plain(queue, body, { ...given, first: body.runInput !== undefined }, options.idempotencyKey);
    };
    // step publishes a step's message unless the event that made the step did. The key of the SDK is the step's id.
    async #step(queue, body, given, key) {
        const stepId = body.stepId;
        const published = (0, delivery_js_1.delivery)()?.steps.get(stepId);
        if (published !== undefined)
            return id(published);
        const settings = this.#client.settings();
        const args = (0, messages_js_1.stepArguments)(settings, queue, String(body.workflowName), body, { ...given, deduplication: deduplication(key) });
        return id(await this.#run(scripts_js_1.scripts.sendStep, String(body.workflowRunId), key ? stepId : "", ...args));
    }
    // wake has a run replayed. What an event has published already is taken instead.
    async #wake(prefix, runId, body, given, queue) {
        const published = (0, delivery_js_1.delivery)()?.wakes.shift() ?? this.#events.notes.take(runId);
        if (published !== undefined)
            return id(published);
        try {
            return id(await this.#run(scripts_js_1.scripts.wakeRun, runId, ...(0, messages_js_1.wakeArguments)(this.#client.settings(), prefix, runId, body, { ...given, deduplication: deduplication() })));
        }
        catch (error) {
            if (error.name !== "WorkflowRunNotFoundError")
                throw error;
            return this.#plain(queue, body, given, undefined); // the handler reports it
        }
    }
    async #plain(queue, body, given, key) {
        const settings = this.#client.settings();
        const options = { ...given, deduplication: deduplication(key) };
        const args = (0, messages_js_1.queueName)(queue).kind === "step"
            ? (0, messages_js_1.stepArguments)(settings, queue, queue, body, options)
            : (0, messages_js_1.flowArguments)(settings, queue, typeof body.runId === "string" ? body.runId : undefined, body, options);
        return id((await this.#client.command(["MSG.PUBLISH", ...args])));
    }
    async #run(s, runId, ...args) {
        const { prefix } = this.#client.settings();
        const [kind, message] = (await this.#client.run(s, [(0, reads_js_1.runKey)(prefix, runId)], [prefix, runId, "", "", "", "", ...args]));
        if (kind === "norun")
            throw (0, errors_js_1.refusal)("norun", "", runId, {});
        return message;
    }
    createQueueHandler = (prefix, handler) => async (request) => {
        const bytes = new Uint8Array(await request.arrayBuffer());
        const refused = await this.#verify(request, bytes);
        if (refused)
            return refused;
        const header = (name) => request.headers.get(name);
        const queue = decodeURIComponent(header("x-vqs-queue-name") ?? "");
        const messageId = header("upstash-message-id");
        if (!messageId || !queue)
            return answer(400, { error: "the headers of a delivery are missing" });
        if (!queue.startsWith(prefix))
            return answer(400, { error: `${queue} is for another handler than ${prefix}` });
        const body = (0, wire_js_1.decodeMessage)(new TextDecoder().decode(bytes));
        const d = {
            first: header("x-vqs-first") === "1",
            prefix: prefix.replace(/wkf_step_$/, "wkf_workflow_"),
            steps: new Map(),
            wakes: [],
        };
        const meta = {
            attempt: Number(header("upstash-retried") ?? 0) + 1,
            queueName: queue,
            messageId,
            requestId: messageId,
        };
        try {
            const result = await (0, delivery_js_1.within)(d, () => handler(body, meta));
            if (typeof result?.timeoutSeconds !== "number")
                return answer(200, { ok: true });
            await this.#putOff(queue, body, result.timeoutSeconds, d);
            return answer(200, { timeoutSeconds: result.timeoutSeconds });
        }
        catch (error) {
            console.error(`[@trireme/world] ${queue}, message ${messageId}, attempt ${meta.attempt}:`, error);
            return answer(500, { error: error instanceof Error ? error.message : String(error) });
        }
    };
    // verify refuses what no node has sent. Without keys only an application that serves this machine alone trusts its requests.
    async #verify(request, body) {
        const { signingKeys, baseUrl } = this.#client.settings();
        if (signingKeys.length === 0) {
            if ((0, config_js_1.isLoopback)(baseUrl()))
                return undefined;
            return answer(500, { error: "set WORKFLOW_TRIREME_SIGNING_KEY: deliveries can't be verified" });
        }
        if (await (0, signature_js_1.signed)(request.headers.get("upstash-signature"), body, signingKeys))
            return undefined;
        return answer(401, { error: "the signature of the delivery is missing or wrong" });
    }
    // putOff has a message delivered again later. It is published before the delivery is answered; a repeated one finds it.
    async #putOff(queue, body, seconds, d) {
        const settings = this.#client.settings();
        const options = { ...(seconds > 0 && { delaySeconds: seconds }) };
        if (typeof body.stepId === "string") {
            const args = (0, messages_js_1.stepArguments)(settings, queue, String(body.workflowName), body, options);
            await this.#run(scripts_js_1.scripts.putOff, String(body.workflowRunId), body.stepId, Math.ceil(seconds * 1000), ...args);
        }
        else if (typeof body.runId === "string") {
            const { runInput: _, ...rest } = body;
            if (seconds > 0)
                await this.#run(scripts_js_1.scripts.putOff, body.runId, "", Math.ceil(seconds * 1000), ...(0, messages_js_1.flowArguments)(settings, queue, body.runId, rest, options));
            else
                await this.#run(scripts_js_1.scripts.wakeRun, body.runId, ...(0, messages_js_1.wakeArguments)(settings, d.prefix, body.runId, rest, options));
        }
    }
    get workflowPrefix() {
        return (0, messages_js_1.workflowPrefix)(this.#namespace());
    }
}
exports.Queues = Queues;
// A deduplication id has no colon, and without a key of the caller serves repeated requests alone.
const deduplication = (key) => (key ? `wkf-${key.replaceAll(":", "_")}` : `wkf-${crypto.randomUUID()}`);
const answer = (status, body) => new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
