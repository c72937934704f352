// Messages as they are now, and their events counted, as the API has them.
import type { Event } from "./event";

/** Standing is a message with its state and how its last attempt ended. Times are unix milliseconds. */
export type Standing = Pick<
  Event,
  | "messageId"
  | "state"
  | "url"
  | "method"
  | "topicName"
  | "api"
  | "queueName"
  | "labels"
  | "time"
  | "maxRetries"
  | "nextDeliveryTime"
  | "responseStatus"
  | "responseBody"
  | "error"
> & { createdAt: number; attempts: number; attemptMs?: number };

/** Tally is how many events of each state there were in spans of time. */
export type Tally = {
  from: number;
  to: number;
  span: number;
  cursor?: string;
  groups: { time: number; counts: Record<string, number> }[];
};

/** outcomes are the states that a histogram shows, from the bottom up, and what it calls them. */
export const outcomes: [string, string, string][] = [
  ["DELIVERED", "delivered", "good"],
  ["ERROR", "failed attempts", "warn"],
  ["FAILED", "failed for good", "bad"],
  ["CANCELED", "canceled", "plain"],
];

/** Bin is a span of time with its outcomes, in their order. */
export type Bin = { time: number; of: number[]; all: number };

const fewest = 30; // spans

/** bins are the spans of a tally, those without events too, and earlier ones if there are few. */
export function bins(t: Tally): Bin[] {
  const at = new Map(t.groups.map((g) => [g.time, g.counts])),
    list: Bin[] = [];
  const from = Math.min(t.from, t.to - (fewest - 1) * t.span);
  for (let time = from - (from % t.span); time <= t.to; time += t.span) {
    const counts = at.get(time) ?? {},
      of = outcomes.map(([state]) => counts[state] ?? 0);
    list.push({ time, of, all: of.reduce((a, b) => a + b, 0) });
  }
  return list;
}

/** joined is a tally with the next page of it. */
export function joined(a: Tally, b: Tally): Tally {
  const groups = new Map(a.groups.map((g) => [g.time, { ...g.counts }]));
  for (const g of b.groups) {
    const counts = groups.get(g.time) ?? {};
    for (const [state, n] of Object.entries(g.counts)) counts[state] = (counts[state] ?? 0) + n;
    groups.set(g.time, counts);
  }
  return {
    ...a,
    cursor: b.cursor,
    groups: [...groups].sort(([x], [y]) => x - y).map(([time, counts]) => ({ time, counts })),
  };
}

/** Sum adds up a tally. Success is the share of what ended that ended well, null if nothing has. */
export type Sum = { delivered: number; errors: number; failed: number; success: number | null; perSecond: number };

export function sum(t: Tally): Sum {
  const all: Record<string, number> = {};
  for (const g of t.groups) for (const [state, n] of Object.entries(g.counts)) all[state] = (all[state] ?? 0) + n;
  const [delivered, errors, failed] = [all.DELIVERED ?? 0, all.ERROR ?? 0, all.FAILED ?? 0],
    ended = delivered + failed;
  return {
    delivered,
    errors,
    failed,
    success: ended ? delivered / ended : null,
    perSecond: (delivered * 1000) / Math.max(t.to - t.from, t.span),
  };
}

/** depths are how many messages were open at the end of each span, from how many are now and what has come and gone. */
export function depths(t: Tally, now: number): { time: number; depth: number }[] {
  const list = bins(t),
    at = new Map(t.groups.map((g) => [g.time, g.counts])),
    out: { time: number; depth: number }[] = [];
  let depth = now;
  for (const b of [...list].reverse()) {
    out.push({ time: b.time + t.span, depth: Math.max(0, depth) });
    const c = at.get(b.time) ?? {};
    depth += (c.DELIVERED ?? 0) + (c.FAILED ?? 0) + (c.CANCELED ?? 0) - (c.CREATED ?? 0);
  }
  return out.reverse();
}
