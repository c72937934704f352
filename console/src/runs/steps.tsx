// The steps of a run on a line of time, and the one that is selected.
import { useEffect, useMemo } from "preact/hooks";
import { mayWrite, runNow } from "../messages/event";
import { writes } from "../palette/shortcuts";
import { query, set } from "../router";
import { runBounds, runRows, type TimedStep } from "../waterfall/run";
import { Waterfall } from "../waterfall/waterfall";
import { fork } from "./acts";
import type { Why as Reason, RunSteps } from "./reply";
import { StepPanel } from "./step";

/** attention is the step that somebody wants to see first: the one that failed, or what the run waits for. */
function attention(steps: TimedStep[]): TimedStep | undefined {
  for (const state of ["STEP_FAILED", "STEP_RETRY", "STEP_PROGRESS"]) {
    const s = steps.find((x) => x.state === state);
    if (s) return s;
  }
}

/** sleeps: the step waits for a time that can be skipped, that of a sleep, of a retry or of a delayed start. */
const sleeps = (s: TimedStep, delivery: Reason["delivery"]) =>
  !!s.messageId &&
  (s.state === "STEP_RETRY" ||
    (s.state === "STEP_PROGRESS" &&
      (s.wakesAt !== undefined || (delivery?.messageId === s.messageId && delivery.reason === "delay"))));

/** useFork has the key f fork a run from a step, if it may be. */
function useFork(go: (() => void) | undefined) {
  useEffect(() => {
    const key = (e: KeyboardEvent) => {
      if (!go || e.key !== "f" || e.repeat || e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || writes(e))
        return;
      e.preventDefault();
      go();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, [go]);
}

type StepsProps = {
  id: string;
  run: RunSteps;
  why: Reason | null;
  now: number;
  wake: (event: string) => void;
  again: () => Promise<void>;
};

export function Steps({ id, run, why, now, wake, again }: StepsProps) {
  const { workflowRunCreatedAt: createdAt, workflowRunCompletedAt: completedAt, steps: groups } = run;
  // A poll that brought nothing new has the same groups: a run of 10,000 steps is not made into rows again.
  const timed = useMemo(() => ({ createdAt, completedAt, groups }), [createdAt, completedAt, groups]),
    rows = useMemo(() => runRows(timed), [timed]),
    steps = useMemo(() => groups.flatMap((g) => g.steps), [groups]);
  const asked = query.value.get("step"),
    s = asked === null ? attention(steps) : steps.find((x) => String(x.stepId) === asked),
    picked = s && String(s.stepId),
    row = rows.find((r) => r.pick === picked);
  const mayAct = mayWrite() && run.workflowState === "RUN_STARTED",
    pick = (step: string | undefined) => set({ step: step ?? "none" }, true);
  const event = s?.state === "STEP_SUCCESS" ? undefined : s?.wait?.eventId,
    message = s && sleeps(s, why?.delivery) ? s.messageId : undefined;
  // A step without a result is the next one of a fork that takes over all results.
  const from = s && (s.state === "STEP_SUCCESS" ? s.stepId : undefined),
    forks = useMemo(() => (s && mayWrite() ? () => void fork(id, from) : undefined), [id, from, !s]);
  useFork(forks);
  return (
    <Waterfall
      label="Steps of the run"
      rows={rows}
      bounds={runBounds(timed, rows, now)}
      now={now}
      picked={picked}
      pick={pick}
    >
      {s && row && (
        <StepPanel
          key={picked}
          run={id}
          s={s}
          row={row}
          now={now}
          close={() => pick(undefined)}
          wake={mayAct && event ? () => wake(event) : undefined}
          fork={forks}
          runNow={mayAct && message ? () => runNow(message).then(again) : undefined}
        />
      )}
    </Waterfall>
  );
}
