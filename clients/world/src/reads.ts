// What is read: runs, steps, events and hooks, by id and in pages.
import type { Event, Hook, PaginationOptions, ResolveData, Step, Storage, WorkflowRun } from "@workflow/world" with { "resolution-mode": "import" };
import type { Client, Reply } from "./client.js";
import { hookNotFound, runNotFound, WorkflowWorldError } from "./errors.js";
import { eventNumber } from "./ids.js";
import { dataOf, eventOf, hookOf, pairs, runOf, stepOf } from "./records.js";
import { scripts } from "./scripts.js";

interface Page {
  pagination?: PaginationOptions;
  resolveData?: ResolveData;
}

interface Result<T> {
  data: T[];
  cursor: string | null;
  hasMore: boolean;
}

const MOST = 1000;

const limitOf = (p: PaginationOptions | undefined, usual: number): number => {
  const limit = p?.limit ?? usual;
  if (!Number.isInteger(limit) || limit < 1) throw new WorkflowWorldError(`the limit ${limit} of a page is no positive number`, { status: 400 });
  return Math.min(limit, MOST);
};

const badCursor = (cursor: string): WorkflowWorldError =>
  new WorkflowWorldError(`${JSON.stringify(cursor)} is no cursor of this list`, { status: 400 });

// placeOf reads a cursor that is a number: of the last element that was returned. An empty one is none, as the SDK's command line sends it.
const placeOf = (cursor: string | undefined): number => {
  if (!cursor) return 0;
  if (!/^[1-9]\d{0,9}$/.test(cursor)) throw badCursor(cursor);
  return Number(cursor);
};

export const runKey = (prefix: string, runId: string): string => `${prefix}{${runId}}`;

export class Reads {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  storage(): Omit<Storage, "events"> & { events: Omit<Storage["events"], "create"> } {
    return {
      runs: { get: this.#run.bind(this), list: this.#runs.bind(this) },
      steps: { get: this.#step.bind(this), list: this.#steps.bind(this) },
      events: { get: this.#event.bind(this), list: this.#events.bind(this), listByCorrelationId: this.#correlated.bind(this) },
      hooks: {
        get: (hookId, params) => this.#hook(hookId, "", params?.resolveData),
        getByToken: (token, params) => this.#hook("", token, params?.resolveData),
        list: this.#hooks.bind(this),
      },
    } as ReturnType<Reads["storage"]>;
  }

  #read(s: (typeof scripts)[keyof typeof scripts], runId: string, resolve: ResolveData | undefined, ...args: (string | number)[]): Promise<Reply> {
    const { prefix } = this.#client.settings();
    return this.#client.run(s, [runKey(prefix, runId)], [prefix, resolve === "none" ? "1" : "0", ...args]);
  }

  async #run(runId: string, params?: { resolveData?: ResolveData }): Promise<WorkflowRun> {
    const [hash, made, last] = (await this.#read(scripts.runRead, runId, params?.resolveData)) as [string[], string, string];
    if (!hash) throw runNotFound(runId);
    return runOf(runId, pairs(hash), dataOf(made), dataOf(last));
  }

  async #runs(params: Page & { workflowName?: string; status?: string } = {}): Promise<Result<WorkflowRun>> {
    const { prefix } = this.#client.settings();
    const { pagination: p, workflowName, status } = params;
    if (p?.cursor && !p.cursor.startsWith("wrun_")) throw badCursor(p.cursor);
    const set = workflowName !== undefined ? `named:${workflowName}` : status ? `runs:${status}` : "runs";
    const filter = workflowName !== undefined && status ? status : "";
    const args = [`${prefix}${set}`, p?.cursor ?? "", limitOf(p, 20), p?.sortOrder === "asc" ? "1" : "0", filter];
    const [list, last, more] = (await this.#read(scripts.runList, "", params.resolveData, ...args)) as [
      [string, string[], string, string][],
      string,
      number,
    ];
    return {
      data: list.map(([id, hash, made, end]) => runOf(id, pairs(hash), dataOf(made), dataOf(end))),
      cursor: last || null,
      hasMore: more === 1,
    };
  }

  async #step(runId: string | undefined, stepId: string, params?: { resolveData?: ResolveData }): Promise<Step> {
    const run = runId ?? (await this.#runWith(stepId));
    const [packed, made, last] =
      run === undefined ? [] : ((await this.#read(scripts.stepRead, run, params?.resolveData, stepId)) as [string, string, string]);
    if (run === undefined || packed === undefined) throw new WorkflowWorldError(`no step ${stepId}`, { status: 404 });
    return stepOf(run, stepId, packed, dataOf(made), dataOf(last));
  }

  // runWith looks for the newest run that has a step of an id, run by run: there is no index of steps.
  async #runWith(stepId: string): Promise<string | undefined> {
    const { prefix } = this.#client.settings();
    for (let cursor: string | undefined; ; ) {
      const page = await this.#runs({ resolveData: "none", pagination: { limit: MOST, ...(cursor && { cursor }) } });
      const found = await Promise.all(page.data.map((run) => this.#client.command(["HEXISTS", `${runKey(prefix, run.runId)}:steps`, stepId])));
      const at = found.indexOf(1);
      if (at >= 0) return page.data[at]?.runId;
      if (!page.hasMore || page.cursor === null) return undefined;
      cursor = page.cursor;
    }
  }

  async #steps(params: Page & { runId: string }): Promise<Result<Step>> {
    const { runId, pagination: p } = params;
    const up = p?.sortOrder === "asc";
    const from = p?.cursor ? placeOf(p.cursor) + (up ? 1 : -1) : "";
    const args = [from, limitOf(p, 20), up ? "1" : "0"];
    const [list, next, more] = (await this.#read(scripts.stepList, runId, params.resolveData, ...args)) as [
      [string, string, string, string][],
      number,
      number,
    ];
    const data = list.map(([id, packed, made, last]) => stepOf(runId, id, packed, dataOf(made), dataOf(last)));
    return { data, cursor: data.length > 0 ? String(next + (up ? -1 : 1)) : p?.cursor || null, hasMore: more === 1 };
  }

  async #event(runId: string, eventId: string, params?: { resolveData?: ResolveData }): Promise<Event> {
    const n = eventNumber(eventId);
    const page = Number.isNaN(n)
      ? undefined
      : await this.#events({ runId, ...params, pagination: { limit: 1, ...(n > 1 && { cursor: String(n - 1) }) } });
    const event = page?.data[0];
    if (event?.eventId !== eventId) throw new WorkflowWorldError(`run ${runId} has no event ${eventId}`, { status: 404 });
    return event;
  }

  async #events(params: Page & { runId: string }): Promise<Result<Event>> {
    const { runId, pagination: p } = params;
    const down = p?.sortOrder === "desc";
    const last = placeOf(p?.cursor);
    if (down && last === 1) return { data: [], cursor: "1", hasMore: false };
    const from = last === 0 ? 0 : last + (down ? -1 : 1);
    const reply = (await this.#read(scripts.eventList, runId, params.resolveData, from, limitOf(p, 100), down ? "1" : "0")) as [
      string,
      number,
      string[],
      number,
    ];
    if (reply[0] === "norun") return { data: [], cursor: null, hasMore: false };
    const [, first, list, rest] = reply;
    const data = list.map((record, i) => eventOf(runId, first + (down ? -i : i), record));
    return { data, cursor: data.length > 0 ? String(first + (down ? 1 - data.length : data.length - 1)) : p?.cursor || null, hasMore: rest > 0 };
  }

  async #correlated(params: Page & { correlationId: string; runId?: string }): Promise<Result<Event>> {
    const { correlationId, pagination: p } = params;
    const runId = params.runId ?? (await this.#runWith(correlationId)) ?? (await this.#runOfHook(correlationId));
    if (runId === undefined) return { data: [], cursor: null, hasMore: false };
    const limit = limitOf(p, 100);
    const data: Event[] = [];
    for (let cursor = p?.cursor; ; ) {
      const page = await this.#events({
        runId,
        resolveData: params.resolveData ?? "all",
        pagination: { ...p, limit: MOST, ...(cursor && { cursor }) },
      });
      for (const event of page.data) {
        if (event.correlationId !== correlationId) continue;
        if (data.length === limit) return { data, cursor: String(eventNumber(data.at(-1)?.eventId ?? "")), hasMore: true };
        data.push(event);
      }
      if (!page.hasMore || page.cursor === null) return { data, cursor: page.cursor || p?.cursor || null, hasMore: false };
      cursor = page.cursor;
    }
  }

  async #runOfHook(hookId: string): Promise<string | undefined> {
    return ((await this.#client.command(["GET", `${this.#client.settings().prefix}hook:${hookId}`])) as string | null) ?? undefined;
  }

  async #hook(hookId: string, token: string, resolve: ResolveData | undefined): Promise<Hook> {
    const [key, run, packed, made] = (await this.#read(scripts.hookRead, "", resolve, hookId, token)) as [string, string, string, string];
    if (key === undefined) throw hookNotFound(token || hookId);
    return hookOf(run, key, packed, dataOf(made));
  }

  async #hooks(params: Page & { runId?: string } = {}): Promise<Result<Hook>> {
    const { pagination: p, runId } = params;
    if (runId && p?.cursor) placeOf(p.cursor);
    const args = [p?.cursor ?? "", limitOf(p, 100), p?.sortOrder === "desc" ? "1" : "0", runId ?? ""];
    const [list, last, more] = (await this.#read(scripts.hookList, runId ?? "", params.resolveData, ...args)) as [
      [string, string, string, string][],
      string,
      number,
    ];
    return { data: list.map(([key, run, packed, made]) => hookOf(run, key, packed, dataOf(made))), cursor: last || null, hasMore: more === 1 };
  }
}
