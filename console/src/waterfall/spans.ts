// What a step of a run has spent its time with.
import { type Span, span } from "./row";
import type { Failure, Timed, TimedStep } from "./run";

/** delay is the time before the first call of the endpoint, of a run that was to begin later. */
export function delay(run: Timed, s: TimedStep, group: number): Span[] {
  const first = run.groups[group + 1]?.steps[0]?.dueAt,
    from = s.createdAt ?? run.createdAt;
  return first === undefined ? [] : span("sleep", from, ended(run, first), "starts later", { until: first });
}

/** ended is a time, or that of the run's end if that was earlier. */
const ended = (run: Timed, at: number) => Math.min(at, run.completedAt ?? at);

/** stepSpans divides the time of a step by what it was spent with. */
export function stepSpans(run: Timed, s: TimedStep): Span[] {
  const done =
      s.state === "STEP_SUCCESS" || s.wakesAt !== undefined || s.wait?.timedOut ? s.createdAt : run.completedAt,
    due = s.dueAt ?? s.createdAt ?? run.createdAt;
  if (s.wakesAt !== undefined && s.plannedAt !== undefined) {
    // A branch sleeps first; then the endpoint is called for it.
    const over = s.state === "STEP_SUCCESS" ? s.createdAt : run.completedAt,
      asleep = span("sleep", s.plannedAt, ended(run, s.wakesAt), "sleeps", { until: s.wakesAt });
    return over !== undefined && over < s.wakesAt ? asleep : [...asleep, ...endpoint(s, s.wakesAt, over)];
  }
  if (s.wakesAt !== undefined && s.createdAt !== undefined) {
    const wakes = ended(run, s.wakesAt);
    return [...endpoint(s, due, s.createdAt), ...span("sleep", s.createdAt, wakes, "sleeps", { until: s.wakesAt })];
  }
  if (s.wait) {
    const text = `waits for ${s.wait.eventId}`;
    return [...endpoint(s, due, s.wait.since), ...span("event", s.wait.since, done, text, { until: s.wait.deadline })];
  }
  if (s.call) {
    const back = s.call.answeredAt === undefined ? [] : span("work", s.call.answeredAt, done, "takes the answer");
    return [...endpoint(s, due, s.call.calledAt), ...callSpans(run, s), ...back];
  }
  if (s.invoked) {
    const { createdAt, completedAt } = s.invoked;
    const back = completedAt === undefined ? [] : span("work", completedAt, done, "takes the result");
    return [...endpoint(s, due, createdAt), ...invokedSpans(run, s), ...back];
  }
  return endpoint(s, due, done);
}

/** endpoint are the calls of the endpoint for a step: those that failed, and the one that did it or is to do it. */
function endpoint(s: TimedStep, due: number, to: number | undefined): Span[] {
  const retries = s.state === "STEP_RETRY" && !s.call ? s.nextAt : undefined;
  return calls(
    "work",
    s.failures,
    due,
    { to, sentAt: s.sentAt, retries, ended: s.state === "STEP_FAILED" },
    "endpoint",
  );
}

export function callSpans(run: Timed, s: TimedStep): Span[] {
  const c = s.call;
  if (!c) return [];
  const bad = c.status !== undefined && c.status >= 300,
    retries = c.answeredAt === undefined && s.state === "STEP_RETRY" ? s.nextAt : undefined,
    last = { to: c.answeredAt ?? run.completedAt, sentAt: c.sentAt, retries, failed: bad };
  return calls("call", c.failures, c.calledAt, last, c.status ? `answered ${c.status}` : "called");
}

/** Last is the attempt that ends a list: it goes on without to, is due at retries, or, if ended, there is none. */
type Last = { to?: number; sentAt?: number; retries?: number; ended?: boolean; failed?: boolean };

/** calls are attempts, those that failed and the last one, and what each has waited for: its turn, or its delay. */
function calls(kind: "work" | "call", failures: Failure[] | undefined, from: number, last: Last, text: string): Span[] {
  const spans: Span[] = [];
  let free = from;
  const wait = (to: number | undefined, until?: number) => {
    const again = spans.length > 0 || until !== undefined;
    spans.push(
      ...span(again ? "retry" : "queue", free, to, again ? "waits for the next attempt" : "waits to be sent", {
        until,
      }),
    );
    free = to ?? free;
  };
  for (const f of failures ?? []) {
    if (f.sentAt !== undefined) wait(f.sentAt);
    const to = Math.max(free, f.time);
    spans.push(
      ...span(kind, free, to, f.status ? `failed with ${f.status}` : "failed without an answer", { failed: true }),
    );
    free = to;
  }
  if (last.ended) return spans;
  if (last.sentAt !== undefined) wait(last.sentAt);
  else if (last.retries !== undefined || last.to === undefined) {
    wait(last.to, last.retries);
    return spans;
  }
  return [...spans, ...span(kind, free, last.to, text, { failed: last.failed })];
}

export function invokedSpans(run: Timed, s: TimedStep): Span[] {
  const i = s.invoked;
  if (!i) return [];
  const bad = i.workflowState === "RUN_FAILED";
  return span("run", i.createdAt, i.completedAt ?? run.completedAt, "the invoked run", { failed: bad });
}
