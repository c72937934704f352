// A run as rows: what /v2/workflows/runs/{id}/steps answers, on a line of time.

import type { Messages } from "../schemas";
import { type Bounds, extent, type Row, type Span, type Tone } from "./row";
import { callSpans, delay, invokedSpans, stepSpans } from "./spans";

export type Failure = Messages["TimedFailure"];
export type TimedStep = Messages["TimedStep"];
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
    whole: s.beganAt === undefined ? undefined : { from: s.beganAt, to: s.endedAt },
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

type Call = NonNullable<TimedStep["call"]>;
const callNote = (c: Call) => (c.status ? String(c.status) : c.answeredAt ? "" : "running");
const callTone = (c: Call): Tone => (c.status === undefined ? "info" : c.status < 300 ? "good" : "bad");

const runWord = (state: string) => state.replace("RUN_", "").toLowerCase();
const runTone = (i: { workflowState: string }): Tone =>
  i.workflowState === "RUN_SUCCESS" ? "good" : i.workflowState === "RUN_FAILED" ? "bad" : "info";

/** runBounds are from the beginning of a run to its end, or to now. A resumed run has older steps. */
export function runBounds(run: Timed, rows: Row[], now: number): Bounds {
  let from = run.createdAt;
  for (const r of rows) from = Math.min(from, extent(r)?.from ?? from);
  return { from, to: Math.max(run.completedAt ?? now, from + 1) };
}

/** firstOpen is the place of the first group that may change: what is before it need not be asked for again. */
export function firstOpen(groups: TimedGroup[]): number {
  const at = groups.findIndex((g) => g.type === "next" || g.steps.some((s) => s.state !== "STEP_SUCCESS"));
  return at < 0 ? Math.max(groups.length - 1, 0) : at;
}
