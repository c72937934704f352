// events.create: the only way in which a run changes. Each event is one script: it checks, changes the entity, appends the event and publishes
// the message that has to follow, all or nothing.
import type { CreateEventParams, Event, EventResult } from "@workflow/world" with { "resolution-mode": "import" };
import type { Client, Reply, Script } from "./client.js";
import { encode } from "./codec.js";
import { type Delivery, delivery, Notes } from "./delivery.js";
import { refusal, runNotSupported, WorkflowWorldError } from "./errors.js";
import { eventId, timeOf, ulid } from "./ids.js";
import { Memory } from "./memory.js";
import { type Options, stepArguments, wakeArguments, workflowPrefix } from "./messages.js";
import { runKey } from "./reads.js";
import { type Data, dataOf, type EventRequest, eventOf, hookOf, pairs, runOf, stepOf, waitOf, written } from "./records.js";
import { scripts } from "./scripts.js";
import { traceCarrier, traceHeaders } from "./traces.js";

/** The newest version of runs that this world can keep. */
export const SPEC_VERSION = 3;

/** How many events a run may have; the runtime fails it at that number. */
const maxEvents = (): number => Number(process.env.WORKFLOW_MAX_EVENTS) || 25_000;

// The runtime counts events when it loads them; until then steps that are under way may end.
const hardLimit = (): number => 2 * maxEvents();

/** The first message of a run. */
interface First {
  prefix: string;
  body: Record<string, unknown>;
  options: Options;
}

/** A run that is being created while its first message is being queued: both go in one commit. */
interface Beginning {
  message?: First;
  id: Promise<string>;
}

interface Applied {
  event: Event;
  /** What the reply has after kind, number and time. */
  rest: Reply[];
  kind: string;
  n: number;
}

export class Events {
  readonly #client: Client;
  readonly #beginnings = new Map<string, Beginning>();
  readonly #namespace: () => string | undefined;
  readonly #memory = new Memory();
  readonly notes = new Notes();

  constructor(client: Client, namespace: () => string | undefined) {
    this.#client = client;
    this.#namespace = namespace;
  }

  /** Takes the first message of a run that is being created in the same turn, and returns its id once both are committed. */
  begin(runId: unknown, message: First): Promise<string> | undefined {
    const beginning = this.#beginnings.get(String(runId));
    if (!beginning || beginning.message) return undefined;
    beginning.message = message;
    return beginning.id;
  }

  create = async (runId: string | null, event: EventRequest, params: CreateEventParams = {}): Promise<EventResult> => {
    const version = event.specVersion ?? 1;
    if (version > SPEC_VERSION) throw runNotSupported(version, SPEC_VERSION);
    if (version < 2) throw new WorkflowWorldError("events of version 1 are not supported: they belong to worlds without event logs", { status: 400 });
    if (event.eventType === "run_created") return this.#runCreated(runId ?? `wrun_${ulid(Date.now())}`, event, params);
    if (runId === null) throw new WorkflowWorldError(`${event.eventType} needs the id of a run`, { status: 400 });
    const handler = this.#handlers[event.eventType];
    if (!handler) throw new WorkflowWorldError(`an event of type ${event.eventType} can't be created`, { status: 400 });
    return handler(runId, event, params);
  };

  readonly #handlers: Record<string, (runId: string, event: EventRequest, params: CreateEventParams) => Promise<EventResult>> = {
    run_started: (runId, event) => this.#runStarted(runId, event),
    run_completed: (runId, event, params) => this.#runEnded(runId, event, params, "completed"),
    run_failed: (runId, event, params) => this.#runEnded(runId, event, params, "failed"),
    run_cancelled: (runId, event, params) => this.#runEnded(runId, event, params, "cancelled"),
    step_created: (runId, event, params) => this.#stepCreated(runId, event, params),
    step_started: (runId, event, params) => this.#stepStarted(runId, event, params),
    step_completed: (runId, event, params) => this.#stepEnded(runId, event, params, "completed"),
    step_failed: (runId, event, params) => this.#stepEnded(runId, event, params, "failed"),
    step_retrying: (runId, event, params) => this.#stepEnded(runId, event, params, "pending"),
    hook_created: (runId, event, params) => this.#hookCreated(runId, event, params),
    hook_received: (runId, event, params) => this.#hookReceived(runId, event, params),
    hook_disposed: (runId, event, params) => this.#hookDisposed(runId, event, params),
    wait_created: (runId, event, params) => this.#waitChanged(runId, event, params, "waiting"),
    wait_completed: (runId, event, params) => this.#waitChanged(runId, event, params, "completed"),
  };

  // apply runs the script of an event. Its reply is ok, number, time and more; or a refusal.
  async #apply(s: Script, runId: string, event: EventRequest, params: CreateEventParams, ...args: (string | number)[]): Promise<Applied> {
    const { prefix } = this.#client.settings();
    const [head, payloads] = written(event, params.occurredAt);
    const nonce = crypto.randomUUID().replaceAll("-", "");
    const all = [prefix, runId, nonce, params.stateUpdatedAt ?? "", head, payloads, ...args];
    const [kind, n, time, ...rest] = (await this.#client.run(s, [runKey(prefix, runId)], all)) as Reply[];
    if (kind !== "ok" && kind !== "taken") throw refusal(String(kind), n, runId, event);
    const made = {
      ...(params.resolveData === "none" ? eventOf(runId, 1, `0 ${head}`) : event),
      runId,
      eventId: eventId(runId, Number(time), Number(n)),
      createdAt: new Date(Number(time)),
      ...(params.occurredAt && { occurredAt: params.occurredAt }),
    };
    return { event: made as unknown as Event, rest, kind, n: Number(n) };
  }

  async #runCreated(runId: string, event: EventRequest, params: CreateEventParams): Promise<EventResult> {
    let settle!: (id: string) => void;
    let fail!: (error: unknown) => void;
    const beginning: Beginning = {
      id: new Promise((resolve, reject) => {
        settle = resolve;
        fail = reject;
      }),
    };
    beginning.id.catch(() => {}); // nobody waits for it unless a message joins
    this.#beginnings.set(runId, beginning);
    await null; // the first message is queued in this turn
    this.#beginnings.delete(runId);
    try {
      const m = beginning.message;
      // The run is there when the message comes, so it need not carry the input.
      const { runInput: _, ...body } = m?.body ?? {};
      const wake = m ? wakeArguments(this.#client.settings(), m.prefix, runId, body, { ...m.options, first: true }) : [];
      const { event: made, rest } = await this.#apply(scripts.runCreated, runId, event, params, hardLimit(), ...creation(runId, event), ...wake);
      settle(String(rest[0]));
      const at = String(+made.createdAt);
      return { event: made, run: runOf(runId, { ...hashOf(event), s: "pending", c: at, u: at }, event.eventData ?? {}, {}) } as EventResult;
    } catch (error) {
      fail(error);
      throw error;
    }
  }

  async #runStarted(runId: string, event: EventRequest): Promise<EventResult> {
    const d = delivery();
    if (d && !d.first && !event.eventData) {
      const resumed = await this.#resumed(runId, d);
      if (resumed) return resumed;
    }
    const made: EventRequest = { ...event, eventType: "run_created" };
    const [head] = written({ ...event, eventData: undefined } as EventRequest);
    const args = event.eventData?.workflowName === undefined ? ["", "", "", "", 0] : creation(runId, event);
    const { rest, n, event: at } = await this.#apply(scripts.runStarted, runId, made, {}, hardLimit(), ...args, head);
    const [hash, records, total] = rest as [string[], string[], number];
    const started = n > 0 ? { event: eventOf(runId, n, `${+at.createdAt} ${head}`) } : {};
    const loaded = records.length === total ? this.#loaded(runId, hash, [], records, 0, d) : await this.#resumed(runId, d);
    return { ...(loaded ?? { run: runOf(runId, pairs(hash), dataOf(records[0]), {}) }), ...started };
  }

  // resumed reads a running run with its events, those that are not known yet.
  async #resumed(runId: string, d: Delivery | undefined): Promise<EventResult | undefined> {
    const { prefix } = this.#client.settings();
    const known = this.#memory.of(runId);
    const reply = await this.#client.run(scripts.resumed, [runKey(prefix, runId)], [prefix, known.length, +(known.at(-1)?.createdAt ?? 0)]);
    const [kind, hash, records, next] = reply as [string, string[], string[], number];
    if (kind === "others") {
      this.#memory.forget(runId);
      return this.#resumed(runId, d);
    }
    return kind === "ok" ? this.#loaded(runId, hash, known, records, next, d) : undefined;
  }

  // loaded is a run with its events: those that were known, and the records that follow. The delivery takes down when it was started, and its
  // steps: their messages are published.
  #loaded(runId: string, list: string[], known: Event[], records: string[], next: number, d: Delivery | undefined): EventResult {
    const hash = pairs(list);
    const events = known;
    let added = 0;
    for (const record of records) {
      events.push(eventOf(runId, events.length + 1, record));
      added += record.length;
    }
    this.#memory.keep(runId, events, added);
    if (d) {
      d.startedAt = Number(hash.t);
      for (const e of events) if (e.eventType === "step_created") d.steps.set(e.correlationId, "");
    }
    const input = (events[0] as { eventData?: Data } | undefined)?.eventData ?? {};
    const cursor = events.length > 0 ? String(events.length) : null;
    return { run: runOf(runId, hash, input, {}), events, cursor, hasMore: next > 0, maxEvents: maxEvents() } as EventResult;
  }

  async #runEnded(runId: string, event: EventRequest, params: CreateEventParams, status: string): Promise<EventResult> {
    const { event: made, rest } = await this.#apply(scripts.runEnded, runId, event, params, status, this.#client.settings().retentionMs);
    this.#memory.forget(runId);
    return { event: made, run: runOf(runId, pairs(rest[0] as string[]), {}, event.eventData ?? {}) } as EventResult;
  }

  async #stepCreated(runId: string, event: EventRequest, params: CreateEventParams): Promise<EventResult> {
    const stepId = correlation(event);
    const d = delivery();
    const message = d?.startedAt === undefined ? [] : await this.#stepMessage(runId, stepId, event, d.startedAt);
    try {
      const { event: made, rest } = await this.#apply(
        scripts.stepCreated,
        runId,
        event,
        params,
        hardLimit(),
        stepId,
        event.specVersion ?? 0,
        ...message,
      );
      if (message.length > 0) d?.steps.set(stepId, String(rest[1]));
      return { event: made, step: stepOf(runId, stepId, String(rest[0]), event.eventData ?? {}, {}) } as EventResult;
    } catch (error) {
      if ((error as Error).name === "EntityConflictError") d?.steps.set(stepId, "");
      throw error;
    }
  }

  // stepMessage is the message that the runtime is about to queue for a step that it creates.
  async #stepMessage(runId: string, stepId: string, event: EventRequest, workflowStartedAt: number): Promise<string[]> {
    const { stepName, workflowName } = (event.eventData ?? {}) as { stepName?: string; workflowName?: string };
    if (stepName === undefined || workflowName === undefined) return [];
    const carrier = await traceCarrier();
    const body = { workflowName, workflowRunId: runId, workflowStartedAt, stepId, traceCarrier: carrier, requestedAt: new Date() };
    return stepArguments(this.#client.settings(), `__wkf_step_${stepName}`, workflowName, body, { headers: traceHeaders(carrier) });
  }

  // wakeMessage is the message that the runtime is about to queue for a run after an event of it.
  async #wakeMessage(runId: string): Promise<string[]> {
    const body = { runId, traceCarrier: await traceCarrier(), requestedAt: new Date() };
    return wakeArguments(this.#client.settings(), delivery()?.prefix ?? workflowPrefix(this.#namespace()), runId, body);
  }

  // woken takes down a message that an event has published, for the call that is about to queue it.
  #woken(runId: string, message: Reply | undefined): void {
    if (!message) return;
    const d = delivery();
    if (d) d.wakes.push(String(message));
    else this.notes.add(runId, String(message));
  }

  async #stepStarted(runId: string, event: EventRequest, params: CreateEventParams): Promise<EventResult> {
    const stepId = correlation(event);
    const { event: made, rest } = await this.#apply(scripts.stepStarted, runId, event, params, hardLimit(), stepId);
    return { event: made, step: stepOf(runId, stepId, String(rest[0]), dataOf(String(rest[1])), {}) } as EventResult;
  }

  async #stepEnded(runId: string, event: EventRequest, params: CreateEventParams, status: string): Promise<EventResult> {
    const stepId = correlation(event);
    const retryAfter = event.eventData?.retryAfter;
    const args = [hardLimit(), stepId, status, retryAfter ? +new Date(retryAfter as string | Date) : 0];
    // Outside of a delivery nobody may be about to queue a message: then the event is all.
    const wake = delivery() && status !== "pending" ? await this.#wakeMessage(runId) : [];
    const { event: made, rest } = await this.#apply(scripts.stepEnded, runId, event, params, ...args, ...wake);
    if (wake.length > 0) this.#woken(runId, rest[1]);
    return { event: made, step: stepOf(runId, stepId, String(rest[0]), event.eventData ?? {}, event.eventData ?? {}) } as EventResult;
  }

  async #hookCreated(runId: string, event: EventRequest, params: CreateEventParams): Promise<EventResult> {
    const hookId = correlation(event);
    const { token, isWebhook } = (event.eventData ?? {}) as { token?: string; isWebhook?: boolean };
    if (!token) throw new WorkflowWorldError("a hook needs a token", { status: 400 });
    const args = [hardLimit(), hookId, token, isWebhook ? 1 : 0, event.specVersion ?? 0];
    const { event: made, rest, kind } = await this.#apply(scripts.hookCreated, runId, event, params, ...args);
    if (kind === "taken") {
      const data = { token, ...(rest[0] ? { conflictingRunId: String(rest[0]) } : {}) };
      return { event: { ...made, eventType: "hook_conflict", eventData: data } } as unknown as EventResult;
    }
    const packed = `live 0 ${+made.createdAt} ${isWebhook ? 1 : 0} ${event.specVersion ?? 0}`;
    return { event: made, hook: hookOf(runId, hookId, packed, event.eventData ?? {}) } as EventResult;
  }

  async #hookReceived(runId: string, event: EventRequest, params: CreateEventParams): Promise<EventResult> {
    const wake = await this.#wakeMessage(runId);
    const { event: made, rest } = await this.#apply(scripts.hookReceived, runId, event, params, hardLimit(), correlation(event), ...wake);
    this.#woken(runId, rest[0]);
    return { event: made } as EventResult;
  }

  async #hookDisposed(runId: string, event: EventRequest, params: CreateEventParams): Promise<EventResult> {
    return { event: (await this.#apply(scripts.hookDisposed, runId, event, params, hardLimit(), correlation(event))).event } as EventResult;
  }

  async #waitChanged(runId: string, event: EventRequest, params: CreateEventParams, status: string): Promise<EventResult> {
    const at = event.eventData?.resumeAt;
    const args = [hardLimit(), correlation(event), at ? +new Date(at as string | Date) : 0, event.specVersion ?? 0, status];
    const { event: made, rest } = await this.#apply(scripts.waitChanged, runId, event, params, ...args);
    return { event: made, wait: waitOf(runId, correlation(event), String(rest[0])) } as EventResult;
  }
}

const correlation = (event: EventRequest): string => {
  if (event.correlationId) return event.correlationId;
  throw new WorkflowWorldError(`${event.eventType} needs a correlation id`, { status: 400 });
};

// hashOf are the fields of a run that its first event has.
const hashOf = (event: EventRequest): Record<string, string> => {
  const { workflowName, deploymentId, executionContext } = (event.eventData ?? {}) as Record<string, unknown>;
  return {
    n: String(workflowName),
    d: String(deploymentId),
    v: String(event.specVersion),
    x: executionContext === undefined ? "" : encode(executionContext),
  };
};

// creation are the arguments of scripts that make a run.
const creation = (runId: string, event: EventRequest): (string | number)[] => {
  const time = timeOf(runId);
  if (!runId.startsWith("wrun_") || Number.isNaN(time))
    throw new WorkflowWorldError(`${JSON.stringify(runId)} is no id of a run: wrun_ and a ULID`, { status: 400 });
  const { n, d, v, x } = hashOf(event) as { n: string; d: string; v: string; x: string };
  return [n, d, v, x, time];
};
