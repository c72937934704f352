// Runs and their steps as the API has them.
import type { Messages } from "../schemas";
import type { TimedGroup } from "../waterfall/run";

/** Attempt is one that failed. */
export type Attempt = Messages["RunAttempt"];
/** Step has attempts if it was asked for by its number. */
export type Step = Messages["RunStep"] & { attempts?: Attempt[]; callAttempts?: Attempt[] };
export type Run = Messages["Run"];
/** RunSteps is a run with a page of its steps and their times. */
export type RunSteps = Omit<Run, "steps"> & {
  steps: TimedGroup[];
  now: number;
  groups: number;
  first: number;
  cursor?: string;
};
/** State is what the steps of a run have set, with the updates that it accepts. */
export type State = Messages["RunStateValue"];
export type Why = Messages["RunExplanation"];
export const what = (s: Step) => s.stepName || s.stepType || "step";

/** waits is what a run waits for, by its newest steps. */
export function waits(r: Run): { for: string; since: number } | null {
  if (r.workflowState !== "RUN_STARTED") return null;
  const last = r.steps[r.steps.length - 1]?.steps ?? [],
    s = last.find((x) => x.state !== "STEP_SUCCESS") ?? last[last.length - 1];
  if (!s) return { for: "its first step", since: r.workflowRunCreatedAt };
  const since = s.createdAt ?? r.workflowRunCreatedAt;
  if (s.waitEventId) return { for: `event ${s.waitEventId}`, since };
  if (s.sleepUntil) return { for: "a sleep", since };
  if (s.state === "STEP_RETRY") return { for: `a retry of ${what(s)}`, since };
  return { for: what(s), since };
}
