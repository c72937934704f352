// What a waterfall draws: rows with spans of time. Times are unix milliseconds.

/** Kind says what a span of time was spent with. */
export type Kind = "work" | "call" | "run" | "sleep" | "event" | "retry" | "queue";
/** Span is open while it goes on: then it has no end. Until is the time at which it ends at the latest. */
export type Span = { kind: Kind; from: number; to?: number; until?: number; failed?: boolean; text: string };
export type Tone = "good" | "bad" | "warn" | "info" | "plain";

export type Row = {
  id: string;
  depth: number;
  name: string;
  /** note stands behind the name: a status, a state. */
  note?: string;
  tone: Tone;
  spans: Span[];
  /** whole is from when to when it was, if that is not what its spans say. */
  whole?: { from: number; to?: number };
  /** pick is what the row selects; a row without it is a heading. */
  pick?: string;
};

/** kinds have the words of the legend, in its order. */
export const kinds: Record<Kind, string> = {
  work: "Endpoint",
  call: "Call of a URL",
  run: "Invoked run",
  sleep: "Sleep",
  event: "Wait for an event",
  retry: "Retry delay",
  queue: "Waiting to be sent",
};

/** Bounds are the first and the last time that there is something to see of. */
export type Bounds = { from: number; to: number };

/** extent of a row is from its first span to its last; to is undefined while one is open. */
export function extent(r: Row): { from: number; to?: number } | null {
  if (!r.spans.length) return null;
  let from = Number.POSITIVE_INFINITY,
    to: number | undefined = 0;
  for (const s of r.spans) {
    from = Math.min(from, s.from);
    to = to === undefined || s.to === undefined ? undefined : Math.max(to, s.to);
  }
  return { from, to };
}

/** took is how long a row has taken so far; null if it has not begun. */
export function took(r: Row, now: number): number | null {
  const e = r.whole ?? extent(r);
  return e && e.from <= now ? Math.max(0, (e.to ?? now) - e.from) : null;
}

/** atOnce are kinds that may take no time: a call that is over within a millisecond has a mark. */
const atOnce = new Set<Kind>(["work", "call", "run"]);

/** span makes one, unless it would end before it begins, or there was nothing to wait for. */
export function span(kind: Kind, from: number, to: number | undefined, text: string, more?: Partial<Span>): Span[] {
  if (to !== undefined && (to < from || (to === from && !atOnce.has(kind)))) return [];
  return [{ kind, from, to, text, ...more }];
}
