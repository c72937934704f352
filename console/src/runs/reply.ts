// Runs and their steps as the API has them.
import type { Explanation } from "../messages/event";
import type { TimedGroup } from "../waterfall/run";

export type Step = {
  stepId?: number;
  stepName?: string;
  stepType?: string;
  callType?: string;
  messageId?: string;
  out?: string;
  concurrent?: number;
  state: string;
  createdAt?: number;
  retries: number;
  nextDeliveryTime?: number;
  sleepFor?: number;
  sleepUntil?: number;
  waitEventId?: string;
  waitTimeoutDeadline?: number;
  waitTimeout?: boolean;
  callUrl?: string;
  callMethod?: string;
  callHeaders?: Record<string, string[]>;
  callBody?: string;
  callResponseStatus?: number;
  callResponseBody?: string;
  callResponseHeaders?: Record<string, string[]>;
  invokedWorkflowRunId?: string;
  invokedWorkflowUrl?: string;
  headers?: Record<string, string[]>;
  errors?: Attempt[];
  attempts?: Attempt[];
  callAttempts?: Attempt[];
  invokedWorkflowRunBody?: string;
};
/** Attempt is one that failed. */
export type Attempt = {
  status?: number;
  time?: number | string;
  error?: string;
  body?: string;
};
export type Run = {
  workflowRunId: string;
  workflowUrl: string;
  workflowState: string;
  workflowRunCreatedAt: number;
  workflowRunCompletedAt?: number;
  workflowRunResponse?: string;
  workflowRunCallerIp?: string;
  dlqId?: string;
  label?: string;
  labels?: string[];
  flowControlKey?: string;
  invoker?: { workflowRunId: string };
  failureFunction?: { failStatus?: number; failResponse?: string; state: string };
  steps: { type: string; steps: Step[] }[];
};
/** RunSteps is a run with a page of its steps and their times. */
export type RunSteps = Omit<Run, "steps"> & {
  steps: TimedGroup[];
  now: number;
  groups: number;
  first: number;
  cursor?: string;
};
export type Why = Explanation & {
  curl?: string;
  lastAttempt?: Attempt;
  errorStepName?: string;
  attempts?: number;
  allowed?: number;
  mismatches?: { code: string; text: string }[];
  delivery?: { messageId: string; reason: string };
};
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
