// A run as rows: what /v2/workflows/runs/{id}/steps answers, on a line of time.
import { type Bounds, type Row, type Span, span, type Tone } from "./row";

export type Failure = { time: number; status: number };
export type TimedStep = {
  stepId: number;
  stepName?: string;
  stepType?: string;
  state: string;
  messageId?: string;
  createdAt?: number;
  plannedAt?: number; // of a branch of a block
  dueAt?: number;
  failures?: Failure[];
  nextAt?: number;
  wakesAt?: number;
  wait?: { eventId: string; since: number; deadline?: number; timedOut: boolean };
  call?: { url: string; method: string; calledAt: number; status?: number; answeredAt?: number; failures?: Failure[] };
  invoked?: {
    workflowRunId: string;
    workflowUrl: string;
    workflowState: string;
    createdAt: number;
    completedAt?: number;
  };
};
export type TimedGroup = { type: string; steps: TimedStep[] };
export type Timed = { createdAt: number; completedAt?: number; groups: TimedGroup[] };

const tones: Record<string, Tone> = {
  STEP_SUCCESS: "good",
  STEP_FAILED: "bad",
  STEP_RETRY: "warn",
  STEP_CANCELED: "warn",
};
const notes: Record<string, string> = {
  STEP_FAILED: "failed",
  STEP_RETRY: "retrying",
  STEP_PROGRESS: "running",
  STEP_CANCELED: "canceled",
};
export const toneOf = (state: string): Tone => tones[state] ?? "info";
export const noteOf = (state: string) => notes[state] ?? "";
/** nameOf is the name of a step, and of what comes next, which has none yet. */
export const nameOf = (s: TimedStep) => s.stepName || s.stepType || "next step";

/** runRows are the rows of a run, in its order: steps, branches of blocks, and below them what they call or invoke. */
export function runRows(run: Timed): Row[] {
  const rows: Row[] = [];
  for (const [i, g] of run.groups.entries()) {
    if (g.type !== "parallel") {
      for (const s of g.steps) rows.push(...stepRows(run, s, i, 0));
      continue;
    }
    rows.push({ id: `block ${i}`, depth: 0, name: `${g.steps.length} in parallel`, tone: blockTone(g), spans: [] });
    for (const s of g.steps) rows.push(...stepRows(run, s, i, 1));
  }
  return rows;
}

const blockTone = (g: TimedGroup): Tone => {
  for (const state of ["STEP_FAILED", "STEP_RETRY", "STEP_CANCELED", "STEP_PROGRESS"])
    if (g.steps.some((s) => s.state === state)) return toneOf(state);
  return "good";
};

/** stepRows are the row of a step, and one for the URL that it calls or the run that it invokes. */
function stepRows(run: Timed, s: TimedStep, group: number, depth: number): Row[] {
  const pick = String(s.stepId);
  const own: Row = {
    id: `step ${pick}`,
    depth,
    name: nameOf(s),
    note: noteOf(s.state),
    tone: toneOf(s.state),
    pick,
    spans: s.stepType === "Initial" ? delay(run, s, group) : stepSpans(run, s),
  };
  const inner = (name: string, note: string, tone: Tone, spans: Span[]): Row[] => [
    own,
    { id: `within ${pick}`, depth: depth + 1, name, note, tone, pick, spans },
  ];
  if (s.call) return inner(`${s.call.method} ${s.call.url}`, callNote(s.call), callTone(s.call), callSpans(run, s));
  if (s.invoked)
    return inner(s.invoked.workflowRunId, runWord(s.invoked.workflowState), runTone(s.invoked), invokedSpans(run, s));
  return [own];
}

/** delay is the time before the first call of the endpoint, of a run that was to begin later. */
function delay(run: Timed, s: TimedStep, group: number): Span[] {
  const first = run.groups[group + 1]?.steps[0]?.dueAt,
    from = s.createdAt ?? run.createdAt;
  return first === undefined ? [] : span("sleep", from, ended(run, first), "starts later", { until: first });
}

/** ended is a time, or that of the run's end if that was earlier. */
const ended = (run: Timed, at: number) => Math.min(at, run.completedAt ?? at);

/** stepSpans are what the step has spent its time with. */
function stepSpans(run: Timed, s: TimedStep): Span[] {
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
  const { spans, last } = failed("work", s.failures, due);
  if (s.state === "STEP_FAILED") return spans;
  if (s.state === "STEP_RETRY" && s.nextAt !== undefined && !s.call)
    return [...spans, ...span("retry", last, to, "waits for the next attempt", { until: s.nextAt })];
  return [...spans, ...span("work", last, to, "endpoint")];
}

/** failed are attempts that failed, each up to the time of its failure, the delay before it included. */
function failed(kind: "work" | "call", list: Failure[] | undefined, from: number): { spans: Span[]; last: number } {
  const spans: Span[] = [];
  let last = from;
  for (const f of list ?? []) {
    spans.push(
      ...span(kind, last, f.time, f.status ? `failed with ${f.status}` : "failed without an answer", { failed: true }),
    );
    last = Math.max(last, f.time);
  }
  return { spans, last };
}

function callSpans(run: Timed, s: TimedStep): Span[] {
  const c = s.call;
  if (!c) return [];
  const { spans, last } = failed("call", c.failures, c.calledAt),
    to = c.answeredAt ?? run.completedAt;
  if (c.answeredAt === undefined && s.state === "STEP_RETRY" && s.nextAt !== undefined)
    return [...spans, ...span("retry", last, to, "waits for the next attempt", { until: s.nextAt })];
  const bad = c.status !== undefined && c.status >= 300;
  return [...spans, ...span("call", last, to, c.status ? `answered ${c.status}` : "called", { failed: bad })];
}
type Call = NonNullable<TimedStep["call"]>;
const callNote = (c: Call) => (c.status ? String(c.status) : c.answeredAt ? "" : "running");
const callTone = (c: Call): Tone => (c.status === undefined ? "info" : c.status < 300 ? "good" : "bad");

function invokedSpans(run: Timed, s: TimedStep): Span[] {
  const i = s.invoked;
  if (!i) return [];
  const bad = i.workflowState === "RUN_FAILED";
  return span("run", i.createdAt, i.completedAt ?? run.completedAt, "the invoked run", { failed: bad });
}
const runWord = (state: string) => state.replace("RUN_", "").toLowerCase();
const runTone = (i: { workflowState: string }): Tone =>
  i.workflowState === "RUN_SUCCESS" ? "good" : i.workflowState === "RUN_FAILED" ? "bad" : "info";

/** runBounds are from the beginning of a run to its end, or to now. */
export const runBounds = (run: Timed, now: number): Bounds => ({
  from: run.createdAt,
  to: Math.max(run.completedAt ?? now, run.createdAt + 1),
});

/** firstOpen is the place of the first group that may change: what is before it need not be asked for again. */
export function firstOpen(groups: TimedGroup[]): number {
  const at = groups.findIndex((g) => g.type === "next" || g.steps.some((s) => s.state !== "STEP_SUCCESS"));
  return at < 0 ? Math.max(groups.length - 1, 0) : at;
}
