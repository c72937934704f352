// The queue: messages are published to the application's own routes, and the handler of a route verifies what it is sent.
import type { Queue } from "@workflow/world" with { "resolution-mode": "import" };
import type { Client, Reply } from "./client.js";
import { isLoopback } from "./config.js";
import { type Delivery, delivery, within } from "./delivery.js";
import { refusal } from "./errors.js";
import type { Events } from "./events.js";
import { flowArguments, type Options, queueName, stepArguments, wakeArguments, workflowPrefix } from "./messages.js";
import { runKey } from "./reads.js";
import { scripts } from "./scripts.js";
import { signed } from "./signature.js";
import { decodeMessage } from "./wire.js";

type Handler = Parameters<Queue["createQueueHandler"]>[1];
type Body = Record<string, unknown>;

/** The id of a message that is not published because one that serves is on its way. */
const id = (message: Reply | undefined): { messageId: never } => ({ messageId: (message || null) as never });

export class Queues {
  readonly #client: Client;
  readonly #events: Events;
  readonly #namespace: () => string | undefined;

  constructor(client: Client, events: Events, namespace: () => string | undefined) {
    this.#client = client;
    this.#events = events;
    this.#namespace = namespace;
  }

  queue: Queue["queue"] = async (queue, message, options = {}) => {
    const { kind, prefix } = queueName(queue);
    const body = message as Body;
    const given: Options = {
      ...(options.headers && { headers: options.headers }),
      ...(options.delaySeconds && { delaySeconds: options.delaySeconds }),
    };
    if (typeof body.stepId === "string") return this.#step(queue, body, given, options.idempotencyKey);
    if (kind === "workflow" && typeof body.runId === "string" && !given.delaySeconds) {
      if (body.runInput !== undefined) {
        const begun = this.#events.begin(body.runId, { prefix, body, options: given });
        if (begun) return id(await begun);
      } else if (body.replayDivergence === undefined && body.serverErrorRetryCount === undefined && options.idempotencyKey === undefined) {
        return this.#wake(prefix, body.runId, body, given, queue);
      }
    }
    return this.#plain(queue, body, { ...given, first: body.runInput !== undefined }, options.idempotencyKey);
  };

  // step publishes a step's message unless the event that made the step did. The key of the SDK is the step's id.
  async #step(queue: string, body: Body, given: Options, key: string | undefined): Promise<{ messageId: never }> {
    const stepId = body.stepId as string;
    const published = delivery()?.steps.get(stepId);
    if (published !== undefined) return id(published);
    const settings = this.#client.settings();
    const args = stepArguments(settings, queue, String(body.workflowName), body, { ...given, deduplication: deduplication(key) });
    return id(await this.#run(scripts.sendStep, String(body.workflowRunId), key ? stepId : "", ...args));
  }

  // wake has a run replayed. What an event has published already is taken instead.
  async #wake(prefix: string, runId: string, body: Body, given: Options, queue: string): Promise<{ messageId: never }> {
    const published = delivery()?.wakes.shift() ?? this.#events.notes.take(runId);
    if (published !== undefined) return id(published);
    try {
      return id(
        await this.#run(
          scripts.wakeRun,
          runId,
          ...wakeArguments(this.#client.settings(), prefix, runId, body, { ...given, deduplication: deduplication() }),
        ),
      );
    } catch (error) {
      if ((error as Error).name !== "WorkflowRunNotFoundError") throw error;
      return this.#plain(queue, body, given, undefined); // the handler reports it
    }
  }

  async #plain(queue: string, body: Body, given: Options, key: string | undefined): Promise<{ messageId: never }> {
    const settings = this.#client.settings();
    const options = { ...given, deduplication: deduplication(key) };
    const args =
      queueName(queue).kind === "step"
        ? stepArguments(settings, queue, queue, body, options)
        : flowArguments(settings, queue, typeof body.runId === "string" ? body.runId : undefined, body, options);
    return id((await this.#client.command(["MSG.PUBLISH", ...args])) as Reply);
  }

  async #run(s: (typeof scripts)[keyof typeof scripts], runId: string, ...args: (string | number)[]): Promise<Reply | undefined> {
    const { prefix } = this.#client.settings();
    const [kind, message] = (await this.#client.run(s, [runKey(prefix, runId)], [prefix, runId, "", "", "", "", ...args])) as Reply[];
    if (kind === "norun") throw refusal("norun", "", runId, {});
    return message;
  }

  createQueueHandler: Queue["createQueueHandler"] = (prefix, handler) => async (request) => {
    const bytes = new Uint8Array(await request.arrayBuffer());
    const refused = await this.#verify(request, bytes);
    if (refused) return refused;
    const header = (name: string) => request.headers.get(name);
    const queue = decodeURIComponent(header("x-vqs-queue-name") ?? "");
    const messageId = header("upstash-message-id");
    if (!messageId || !queue) return answer(400, { error: "the headers of a delivery are missing" });
    if (!queue.startsWith(prefix)) return answer(400, { error: `${queue} is for another handler than ${prefix}` });
    const body = decodeMessage(new TextDecoder().decode(bytes)) as Body;
    const d: Delivery = {
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
    } as never as Parameters<Handler>[1];
    try {
      const result = await within(d, () => handler(body, meta));
      if (typeof result?.timeoutSeconds !== "number") return answer(200, { ok: true });
      await this.#putOff(queue, body, result.timeoutSeconds, d);
      return answer(200, { timeoutSeconds: result.timeoutSeconds });
    } catch (error) {
      console.error(`[@trireme/world] ${queue}, message ${messageId}, attempt ${meta.attempt}:`, error);
      return answer(500, { error: error instanceof Error ? error.message : String(error) });
    }
  };

  // verify refuses what no node has sent. Without keys only an application that serves this machine alone trusts its requests.
  async #verify(request: Request, body: Uint8Array<ArrayBuffer>): Promise<Response | undefined> {
    const { signingKeys, baseUrl } = this.#client.settings();
    if (signingKeys.length === 0) {
      if (isLoopback(baseUrl())) return undefined;
      return answer(500, { error: "set WORKFLOW_TRIREME_SIGNING_KEY: deliveries can't be verified" });
    }
    if (await signed(request.headers.get("upstash-signature"), body, signingKeys)) return undefined;
    return answer(401, { error: "the signature of the delivery is missing or wrong" });
  }

  // putOff has a message delivered again later. It is published before the delivery is answered; a repeated one finds it.
  async #putOff(queue: string, body: Body, seconds: number, d: Delivery): Promise<void> {
    const settings = this.#client.settings();
    const options: Options = { ...(seconds > 0 && { delaySeconds: seconds }) };
    if (typeof body.stepId === "string") {
      const args = stepArguments(settings, queue, String(body.workflowName), body, options);
      await this.#run(scripts.putOff, String(body.workflowRunId), body.stepId, Math.ceil(seconds * 1000), ...args);
    } else if (typeof body.runId === "string") {
      const { runInput: _, ...rest } = body;
      if (seconds > 0)
        await this.#run(scripts.putOff, body.runId, "", Math.ceil(seconds * 1000), ...flowArguments(settings, queue, body.runId, rest, options));
      else await this.#run(scripts.wakeRun, body.runId, ...wakeArguments(settings, d.prefix, body.runId, rest, options));
    }
  }

  get workflowPrefix(): string {
    return workflowPrefix(this.#namespace());
  }
}

// A deduplication id has no colon, and without a key of the caller serves repeated requests alone.
const deduplication = (key?: string): string => (key ? `wkf-${key.replaceAll(":", "_")}` : `wkf-${crypto.randomUUID()}`);

const answer = (status: number, body: object): Response =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
