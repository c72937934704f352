// Triggers, as the server describes them. What is not a figure is a byte string.
import { list, num, pipeline, poll, type Reply, run, str, strs } from "../api";
import { map } from "../indexes/load";
import { type Query, query } from "../router";

export type Trigger = {
  name: string;
  prefix: string;
  events: string[];
  types: string[];
  values: string[];
  to: "message" | "run" | "stream";
  destination: string;
  queue: string; // empty: queues of its own
  flowControlKey: string;
  stream: string;
  maxlen: number;
  keepMs: number;
  lanes: number;
  user: string;
  paused: boolean;
  fired: number;
  missed: number;
  backlog: number;
  createdAt: number;
  updatedAt: number;
  firedAt: number;
  error: string;
};

/** to is a query that stays in the database that is shown. */
export const to = (q: Query): Query => ({ db: query.value.get("db") ?? undefined, ...q });

const words = (r: Reply | undefined) => str(r).split(",").filter(Boolean);

/** read is a reply of TRIGGER.GET; null if there is no such trigger. */
export function read(r: Reply): Trigger | null {
  if (r.t !== "list") return null;
  const m = map(r);
  return {
    name: str(m.name),
    prefix: str(m.prefix),
    events: words(m.events),
    types: words(m.types),
    values: words(m.values),
    to: str(m.to) as Trigger["to"],
    destination: str(m.destination),
    queue: str(m.queue),
    flowControlKey: str(m.flowControlKey),
    stream: str(m.stream),
    maxlen: num(m.maxlen),
    keepMs: num(m.keep),
    lanes: num(m.lanes),
    user: str(m.user),
    paused: num(m.paused) === 1,
    fired: num(m.fired),
    missed: num(m.missed),
    backlog: num(m.backlog),
    createdAt: num(m.createdAt),
    updatedAt: num(m.updatedAt),
    firedAt: num(m.firedAt),
    error: str(m.error),
  };
}

/** ask runs a command, as a page does by itself if it polls. */
const ask = (polls: boolean) => (polls ? poll : run);

export const trigger = async (name: string, polls: boolean) => read(await ask(polls)("TRIGGER.GET", name));

/** triggers are all of a database: it has at most 100. */
export async function triggers(polls: boolean): Promise<Trigger[]> {
  const names = strs(await ask(polls)("TRIGGER.LIST"));
  const replies = await pipeline(
    names.map((n) => ["TRIGGER.GET", n]),
    polls,
  );
  return replies.map(read).filter((t) => t !== null);
}

/** Change is an entry of a change feed. */
export type Change = { id: string; fields: Record<string, string> };

/** changes are the latest entries of a stream, the newest first. */
export async function changes(stream: string, polls: boolean): Promise<Change[]> {
  const r = await ask(polls)("XREVRANGE", stream, "+", "-", "COUNT", "20");
  return list(r).map((e) => {
    const [id, fields] = list(e),
      m = map(fields);
    return { id: str(id), fields: Object.fromEntries(Object.entries(m).map(([n, v]) => [n, str(v)])) };
  });
}
