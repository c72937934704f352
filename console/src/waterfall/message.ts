// A message as rows: its attempts and its callbacks, from the events of /v2/events.
import { type Bounds, type Row, type Span, span, type Tone } from "./row";

export type Happened = {
  time: number;
  messageId: string;
  state: string;
  url: string;
  nextDeliveryTime?: number;
  responseStatus?: number;
  error?: string;
};
/** Attempt is one call of the destination. Events are the places of what has happened to it. */
export type Attempt = {
  due: number;
  began?: number;
  over?: number;
  next?: number;
  status?: number;
  failed: boolean;
  events: number[];
};

const final = /^(DELIVERED|FAILED|CANCELED|CANCELLED)$/;
const tries = (n: number) => `attempt ${n}`;

/** attempts are the calls of the destination, from events in the order of time. */
export function attempts(events: Happened[]): Attempt[] {
  const list: Attempt[] = [];
  let due = events[0]?.time ?? 0,
    now: Attempt | undefined;
  for (const [i, e] of events.entries()) {
    if (e.state === "ACTIVE") {
      now = { due, began: e.time, failed: false, events: [i] };
      list.push(now);
      continue;
    }
    if (!now) continue;
    now.events.push(i);
    if (e.state === "ERROR" || e.state === "DELIVERED") {
      now.over ??= e.time;
      now.failed = e.state === "ERROR";
      if (e.responseStatus) now.status = e.responseStatus;
    }
    if (e.state === "RETRY") {
      now.over ??= e.time;
      now.failed = true;
      now.next = e.nextDeliveryTime ?? e.time;
      due = now.next;
    }
    if (final.test(e.state)) now.over ??= e.time;
  }
  return list;
}

/** attemptSpans are what an attempt has waited for, itself, and the delay behind it. */
function attemptSpans(a: Attempt, n: number, after: Attempt | undefined, over: number | undefined): Span[] {
  const began = a.began ?? a.due;
  const spans = [
    ...span("queue", a.due, began, "waits to be sent"),
    { kind: "work", from: began, to: a.over, failed: a.failed, text: tries(n) } as Span,
  ];
  if (a.over === undefined || a.next === undefined) return spans;
  const sent = after?.began ?? over;
  const to = sent === undefined ? undefined : Math.min(sent, a.next);
  return [...spans, ...span("retry", a.over, to, "waits for the next attempt", { until: a.next })];
}

/** messageRows are the attempts of a message and its callbacks. */
export function messageRows(events: Happened[], callbacks: Happened[][], failure?: string): Row[] {
  const list = attempts(events),
    over = events.find((e) => final.test(e.state))?.time;
  const rows = list.map(
    (a, i): Row => ({
      id: `attempt ${i + 1}`,
      depth: 0,
      name: `Attempt ${i + 1}`,
      note: a.over === undefined ? "running" : a.status ? String(a.status) : a.failed ? "no answer" : "",
      tone: a.over === undefined ? "info" : a.failed ? "bad" : "good",
      pick: `attempt ${i + 1}`,
      spans: attemptSpans(a, i + 1, list[i + 1], over),
    }),
  );
  const first = events[0];
  if (!list.length && first)
    rows.push({
      id: "waiting",
      depth: 0,
      name: "Waiting",
      note: over === undefined ? "" : "canceled",
      tone: over === undefined ? "info" : "warn",
      pick: "waiting",
      spans: span("queue", first.time, over, "waits to be sent"),
    });
  return [...rows, ...callbacks.map((c) => callbackRow(c, failure))];
}

/** callbackRow is a message that tells of another one. */
function callbackRow(events: Happened[], failure?: string): Row {
  const list = attempts(events),
    last = events[events.length - 1],
    over = events.find((e) => final.test(e.state))?.time;
  const tone: Tone = last.state === "DELIVERED" ? "good" : last.state === "FAILED" ? "bad" : "info";
  return {
    id: last.messageId,
    depth: 1,
    name: last.url === failure ? "Failure callback" : "Callback",
    note: last.state.toLowerCase(),
    tone,
    pick: last.messageId,
    spans: list.length
      ? list.flatMap((a, i) => attemptSpans(a, i + 1, list[i + 1], over))
      : span("queue", events[0].time, over, "waits to be sent"),
  };
}

/** callbacksOf picks the callbacks of a message from events, in the order of time, and puts those of one together. */
export function callbacksOf<E extends Happened & { sourceMessageId?: string }>(events: E[], id: string): E[][] {
  const of = new Map<string, E[]>();
  for (const e of [...events].sort((a, b) => a.time - b.time)) {
    if (e.sourceMessageId === id) of.set(e.messageId, [...(of.get(e.messageId) ?? []), e]);
  }
  return [...of.values()];
}

/** messageBounds are from the first event to the last, or to now while something goes on. */
export function messageBounds(events: Happened[], callbacks: Happened[][], now: number): Bounds {
  const all = [events, ...callbacks].filter((list) => list.length);
  const from = Math.min(...all.map((list) => list[0].time));
  const open = all.some((list) => !list.some((e) => final.test(e.state)));
  const to = Math.max(...all.map((list) => list[list.length - 1].time), open ? now : 0);
  return { from, to: Math.max(to, from + 1) };
}
