// One run: why it is where it is, its steps on a line of time, its result.
import { useMemo, useState } from "preact/hooks";
import { plain } from "../api";
import { count, figure, msSpan } from "../format";
import { mayWrite, runNow, tone } from "../messages/event";
import { query, set } from "../router";
import { A, Badge, Card, Empty, Facts, Page } from "../ui/layout";
import { Loaded } from "../ui/load";
import { Body } from "../ui/text";
import { runBounds, runRows, type TimedStep } from "../waterfall/run";
import { useNow } from "../waterfall/tick";
import { Waterfall } from "../waterfall/waterfall";
import { Started } from "./acts";
import { type Loaded as Data, useRun } from "./load";
import { Notify } from "./notify";
import type { Why as Reason, RunSteps } from "./reply";
import { StepPanel } from "./step";
import { Why } from "./why";

export function One({ id }: { id: string }) {
  const load = useRun(id);
  return (
    <Loaded of={load} isEmpty={(d) => !d.run} empty={<None id={id} />}>
      {(d) => d.run && <Found id={id} run={d.run} of={d} again={load.again} />}
    </Loaded>
  );
}

const None = ({ id }: { id: string }) => (
  <Page title="Run">
    <Card>
      <Empty
        icon="runs"
        title="Run not found"
        act={
          <A to="/runs" class="button">
            All runs
          </A>
        }
      >
        {plain(id)} was never started here, or is kept no longer.
      </Empty>
    </Card>
  </Page>
);

function Found({ id, run, of, again }: { id: string; run: RunSteps; of: Data; again: () => Promise<void> }) {
  const [notify, open] = useState<string | null>(null),
    live = run.workflowState === "RUN_STARTED",
    now = useNow(live, of.skew);
  return (
    <Page
      title="Run"
      sub={
        <>
          <A to="/runs">Runs</A> / <span class="mono">{plain(id)}</span>
        </>
      }
      acts={mayWrite() && live && <Started id={id} notify={() => open("")} again={again} />}
    >
      {of.why && <Why run={run} why={of.why} again={again} />}
      <Card>
        <About run={run} now={now} />
      </Card>
      <Card title="Steps">
        <Steps id={id} run={run} why={of.why} now={now} wake={open} again={again} />
      </Card>
      {run.workflowRunResponse !== undefined && (
        <Card title="Result">
          <Body label="Result" text={run.workflowRunResponse} />
        </Card>
      )}
      {run.failureFunction && <AfterFailure of={run.failureFunction} />}
      {notify !== null && <Notify event={notify} run={id} close={() => open(null)} done={again} />}
    </Page>
  );
}

function About({ run: r, now }: { run: RunSteps; now: number }) {
  const steps = r.steps.reduce((n, g) => n + g.steps.length, 0);
  return (
    <Facts
      of={[
        ["State", <Badge tone={tone(r.workflowState)}>{r.workflowState}</Badge>],
        ["URL", <bdi>{plain(r.workflowUrl)}</bdi>],
        ["Started", figure("/v2/workflows/logs", "workflowRunCreatedAt", r.workflowRunCreatedAt)],
        [
          "Duration",
          r.workflowRunCompletedAt
            ? msSpan(r.workflowRunCompletedAt - r.workflowRunCreatedAt)
            : `${msSpan(Math.max(0, now - r.workflowRunCreatedAt))} so far`,
        ],
        ["Steps", count(steps)],
        ["Labels", r.labels?.map(plain).join(", ") ?? r.label],
        ["Flow-control key", r.flowControlKey],
        [
          "Invoked by",
          r.invoker && (
            <A to="/runs" q={{ id: r.invoker.workflowRunId }}>
              {r.invoker.workflowRunId}
            </A>
          ),
        ],
        ["Caller's address", r.workflowRunCallerIp],
      ]}
    />
  );
}

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

type StepsProps = {
  id: string;
  run: RunSteps;
  why: Reason | null;
  now: number;
  wake: (event: string) => void;
  again: () => Promise<void>;
};

function Steps({ id, run, why, now, wake, again }: StepsProps) {
  const timed = {
    createdAt: run.workflowRunCreatedAt,
    completedAt: run.workflowRunCompletedAt,
    groups: run.steps,
  };
  const rows = useMemo(() => runRows(timed), [run]),
    steps = useMemo(() => run.steps.flatMap((g) => g.steps), [run]);
  const asked = query.value.get("step"),
    s = asked === null ? attention(steps) : steps.find((x) => String(x.stepId) === asked),
    picked = s && String(s.stepId),
    row = rows.find((r) => r.pick === picked);
  const mayAct = mayWrite() && run.workflowState === "RUN_STARTED",
    pick = (step: string | undefined) => set({ step: step ?? "none" }, true);
  const event = s?.state === "STEP_SUCCESS" ? undefined : s?.wait?.eventId,
    message = s && sleeps(s, why?.delivery) ? s.messageId : undefined;
  return (
    <Waterfall
      label="Steps of the run"
      rows={rows}
      bounds={runBounds(timed, now)}
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
          runNow={mayAct && message ? () => runNow(message).then(again) : undefined}
        />
      )}
    </Waterfall>
  );
}

const AfterFailure = ({ of }: { of: NonNullable<RunSteps["failureFunction"]> }) => (
  <Card title="Failure function">
    <Facts
      of={[
        ["State", of.state],
        ["Status of the failure", String(of.failStatus || "none")],
      ]}
    />
  </Card>
);
