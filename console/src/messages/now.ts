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
