// The step that is selected in a run: its times, and what went into it and came out of it.
import { json, plain } from "../api";
import { figure, msSpan, things } from "../format";
import { Button, IconButton } from "../ui/controls";
import { A, Badge, Facts } from "../ui/layout";
import { Failed, useLoad } from "../ui/load";
import { Body, Headers, Url } from "../ui/text";
import { Ago } from "../ui/time";
import { type Row, took } from "../waterfall/row";
import { nameOf, type TimedStep, toneOf } from "../waterfall/run";
import { Attempts } from "./attempts";
import type { Step } from "./reply";

const of = "/v2/workflows/runs/steps";

type Props = {
  run: string;
  s: TimedStep;
  row: Row;
  now: number;
  close: () => void;
  /** wake notifies the event that the step waits for, runNow ends its delay. */
  wake?: () => void;
  runNow?: () => void;
  /** fork starts a run with the results up to this step. */
  fork?: () => void;
};

export function StepPanel({ run, s, row, now, close, wake, runNow, fork }: Props) {
  const time = took(row, now);
  return (
    <>
      <header class="panel-head">
        <h3>
          <bdi>{plain(nameOf(s)).slice(0, 200)}</bdi>
        </h3>
        {s.stepType && s.stepType !== s.stepName && <Badge>{s.stepType}</Badge>}
        <Badge tone={toneOf(s.state)}>{s.state.replace("STEP_", "").toLowerCase()}</Badge>
        <span class="push" />
        <IconButton icon="close" label="Close the step" onClick={close} />
      </header>
      {(wake || runNow || fork) && (
        <div class="acts gap">
          {wake && <Button onClick={wake}>Notify</Button>}
          {runNow && <Button onClick={runNow}>Run now</Button>}
          {fork && <Button onClick={fork}>Fork from here</Button>}
        </div>
      )}
      <Times s={s} took={time} />
      <Texts run={run} s={s} />
    </>
  );
}

function Times({ s, took: time }: { s: TimedStep; took: number | null }) {
  const { call: c, wait: w, invoked: i } = s;
  return (
    <Facts
      of={[
        ["Took", time === null ? "" : msSpan(time)],
        ["Due", s.dueAt && figure(of, "dueAt", s.dueAt)],
        ["Planned", s.plannedAt && figure(of, "plannedAt", s.plannedAt)],
        ["Recorded", s.createdAt && figure(of, "createdAt", s.createdAt)],
        ["Failed attempts", s.failures && things(s.failures.length, "failed attempt")],
        ["Next attempt", s.state === "STEP_RETRY" && s.nextAt ? <Ago at={s.nextAt} /> : ""],
        ["Sleeps until", s.wakesAt && figure(of, "wakesAt", s.wakesAt)],
        ["Waits for", w && <bdi>{plain(w.eventId)}</bdi>],
        ["Waits since", w && figure(of, "since", w.since)],
        [w?.timedOut ? "Timed out at" : "Waits until", w?.deadline && figure(of, "deadline", w.deadline)],
        ["Calls", c && <Url of={`${c.method} ${c.url}`} />],
        ["Answer", c?.status && <Badge tone={c.status < 300 ? "good" : "bad"}>{c.status}</Badge>],
        ["Called", c && figure(of, "calledAt", c.calledAt)],
        ["Answered", c?.answeredAt && figure(of, "answeredAt", c.answeredAt)],
        ["Failed calls", c?.failures && things(c.failures.length, "failed attempt")],
        [
          "Invoked run",
          i && (
            <A to="/runs" q={{ id: i.workflowRunId }}>
              {i.workflowRunId}
            </A>
          ),
        ],
        ["Its state", i?.workflowState],
      ]}
    />
  );
}

/** Texts are loaded for the step that is shown, and again when its state changes. */
function Texts({ run, s }: { run: string; s: TimedStep }) {
  const path = `/v2/workflows/runs/${encodeURIComponent(run)}/steps/${s.stepId}`;
  const failures = (s.failures?.length ?? 0) + (s.call?.failures?.length ?? 0);
  const load = useLoad(() => json<Step>(path), [path, s.state, s.createdAt, failures, s.call?.answeredAt]);
  if (load.error && !load.data) return <Failed error={load.error} again={load.again} />;
  if (!load.data)
    return (
      <div class="loading" role="status">
        <span class="spin" aria-hidden="true" /> Loading
      </div>
    );
  const d = load.data;
  return (
    <>
      <Part name="Input" text={d.callBody ?? d.invokedWorkflowRunBody} />
      <Part name={s.stepType === "Initial" ? "Payload" : "Output"} text={d.out} />
      <Part name="Answer" text={d.callResponseBody} />
      <Attempts name="Attempt" of={d.errors ?? d.attempts} />
      <Attempts name="Call" of={d.callAttempts} />
      {d.headers && (
        <details>
          <summary>Headers</summary>
          <Headers of={d.headers} />
        </details>
      )}
      {d.callHeaders && (
        <details>
          <summary>Headers of the call</summary>
          <Headers of={d.callHeaders} />
        </details>
      )}
      {d.callResponseHeaders && (
        <details>
          <summary>Headers of the answer</summary>
          <Headers of={d.callResponseHeaders} />
        </details>
      )}
    </>
  );
}

const Part = ({ name, text }: { name: string; text?: string }) =>
  text === undefined ? null : (
    <section>
      <h4>{name}</h4>
      <Body label={name} text={text} />
    </section>
  );
