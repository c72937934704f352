// A message and its callbacks, as its page loads them.
import { json } from "../api";
import type { Messages } from "../schemas";
import { attempts, callbacksOf } from "../waterfall/message";
import { type Event, type Kept, timed } from "./event";

export type Told = Event;
export type Course = { events: Told[]; message: Kept | null; callbacks: Told[][] };

/** most attempts are looked at for what tells of them: the newest. */
const most = 20;

const listOf = async (q: Record<string, string | number | string[]>, poll: boolean) => {
  const query = new URLSearchParams();
  for (const [k, v] of Object.entries(q)) for (const one of [v].flat()) query.append(k, String(one));
  return (await json<{ events: Messages["Event"][] }>(`/v2/events?${query}`, { poll })).events.map(timed);
};
const inOrder = (list: Told[]) => [...list].sort((a, b) => a.time - b.time);
const isOver = (list: Told[]) => list.some((e) => /DELIVERED|FAILED|CANCELED/.test(e.state));

/** isEnded: nothing will happen to the message and its callbacks any more. */
export const isEnded = (c: Course) => [c.events, ...c.callbacks].every(isOver);

/** Known are the callbacks of a message by the times at which they were made: each time is looked at once. */
export type Known = Map<number, string[]>;

/** courseOf loads what has happened to a message, what it is if it is not over, and its callbacks. */
export async function courseOf(id: string, known: Known, poll: boolean): Promise<Course> {
  const events = inOrder(await listOf({ count: 1000, order: "earliestFirst", messageId: id }, poll)),
    path = `/v2/messages/${encodeURIComponent(id)}?explain=true`;
  const message = isOver(events) || !events.length ? null : await json<Kept>(path, { poll }).catch(() => null);
  return { events, message, callbacks: await callbacks(id, events, known, poll).catch(() => []) };
}

/** callbacks are made at the very time at which an attempt is over: there they are looked for. */
async function callbacks(id: string, events: Told[], known: Known, poll: boolean): Promise<Told[][]> {
  const urls = [events[0]?.callback, events[0]?.failureCallback].filter((u) => u !== undefined),
    times = attempts(events).flatMap((a) => a.over ?? []);
  if (!urls.length) return [];
  const recent = [...new Set(times)].slice(-most);
  await Promise.all(
    recent.map(async (t) => {
      if (known.has(t)) return;
      const made = await listOf({ count: 1000, state: "CREATED", url: urls, fromDate: t, toDate: t }, poll);
      known.set(
        t,
        callbacksOf(made, id).map((list) => list[0].messageId),
      );
    }),
  );
  const ids = recent.flatMap((t) => known.get(t) ?? []);
  if (!ids.length) return [];
  return callbacksOf(await listOf({ count: 1000, order: "earliestFirst", messageId: ids }, poll), id);
}
