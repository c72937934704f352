// A run of the contract's checks: its id and the events that are created for it.
import { randomBytes } from "node:crypto";

const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
export const specVersion = 3;
export const bytes = (text) => new TextEncoder().encode(text);
export const every = Uint8Array.from({ length: 256 }, (_, b) => b);

// newId makes a ULID of a moment, with a prefix.
export function newId(prefix = "wrun", time = Date.now()) {
  let text = "";
  for (let n = time, i = 0; i < 10; i++, n = Math.floor(n / 32)) text = digits[n % 32] + text;
  for (const b of randomBytes(16)) text += digits[b % 32];
  return `${prefix}_${text}`;
}

// timeOf is the time of the ULID behind the last "_" of an id.
export const timeOf = (id) => [...id.slice(id.lastIndexOf("_") + 1).slice(0, 10)].reduce((n, c) => n * 32 + digits.indexOf(c), 0);

export const created = (more = {}) => ({ deploymentId: "dpl_contract", workflowName: "workflow//./contract//żółć", input: every, ...more });

export class TestRun {
  constructor(world, runId) {
    this.world = world;
    this.runId = runId;
  }

  // begin creates a run that is running.
  static async begin(world, data) {
    const run = new TestRun(world, newId());
    await run.create("run_created", { eventData: created(data) });
    await run.create("run_started");
    return run;
  }

  create = (eventType, { params, ...event } = {}) => this.world.events.create(this.runId, { eventType, specVersion, ...event }, params);
  step = (type, correlationId, eventData, params) => this.create(`step_${type}`, { correlationId, eventData, params });
  newStep = async (correlationId = newId("step")) => {
    await this.step("created", correlationId, { stepName: "step//./contract//add", workflowName: created().workflowName, input: bytes("in") });
    return correlationId;
  };
  hook = (type, correlationId, eventData, params) => this.create(`hook_${type}`, { correlationId, eventData, params });
  wait = (type, correlationId, eventData) => this.create(`wait_${type}`, { correlationId, eventData });
  complete = () => this.create("run_completed", { eventData: { output: bytes("out") } });
  get = (params) => this.world.runs.get(this.runId, params);
  events = async (params = {}) => {
    const all = [];
    for (let cursor, page; !page || page.hasMore; cursor = page.cursor) {
      page = await this.world.events.list({ runId: this.runId, pagination: { limit: 1000, cursor }, ...params });
      all.push(...page.data);
    }
    return all;
  };
  types = async () => (await this.events()).map((e) => e.eventType);
}

export const conflict = { name: "EntityConflictError" };
export const expired = { name: "RunExpiredError" };
export const noHook = { name: "HookNotFoundError" };
