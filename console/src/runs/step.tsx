// One step of a run.
import { useState } from "preact/hooks";
import { plain } from "../api";
import { figure, things, unixMs } from "../format";
import { Button } from "../ui/controls";
import { A, Badge } from "../ui/layout";
import { Body, Headers } from "../ui/text";
import { Ago } from "../ui/time";
import { type Step, what } from "./reply";

// sleeps: the step waits for a time that can be skipped, that of a sleep, of a retry or of a delayed start.
export const sleeps = (s: Step, delivery?: { messageId: string; reason: string }) =>
  !!s.messageId &&
  (s.state === "STEP_RETRY" ||
    (s.state === "STEP_PROGRESS" &&
      (!!s.sleepFor || !!s.sleepUntil || (delivery?.messageId === s.messageId && delivery.reason === "delay"))));

export function StepBox({ s, wake, now }: { s: Step; wake?: () => void; now?: () => void }) {
  const [open, put] = useState(false);
  const kind =
    s.state === "STEP_SUCCESS"
      ? "good"
      : s.state === "STEP_FAILED"
        ? "bad"
        : s.state === "STEP_RETRY" || s.state === "STEP_CANCELED"
          ? "warn"
          : "info";
  return (
    <div class={`step ${kind}`}>
      <header>
        <b>
          <bdi>{plain(what(s)).slice(0, 200)}</bdi>
        </b>
        {s.stepType && s.stepType !== s.stepName && <Badge>{s.stepType}</Badge>}
        {s.state !== "STEP_SUCCESS" && <Badge tone={kind}>{s.state.replace("STEP_", "").toLowerCase()}</Badge>}
      </header>
      <div class="dim">
        {s.createdAt ? figure("/v2/workflows/logs", "createdAt", s.createdAt).slice(11) : ""}
        {!!s.errors?.length && ` · ${things(s.errors.length, "failed attempt")}`}
      </div>
      {!!s.sleepUntil && <div>sleeps until {figure("/v2/workflows/logs", "sleepUntil", s.sleepUntil)}</div>}
      {!!s.sleepFor && <div>sleeps for {figure("/v2/workflows/logs", "sleepFor", s.sleepFor)}</div>}
      {s.waitEventId && (
        <div>
          waits for{" "}
          <b>
            <bdi>{plain(s.waitEventId)}</bdi>
          </b>
          {!!s.waitTimeoutDeadline && (
            <> until {figure("/v2/workflows/logs", "waitTimeoutDeadline", s.waitTimeoutDeadline)}</>
          )}
          {s.waitTimeout && <Badge tone="warn">timed out</Badge>}{" "}
          {wake && (
            <Button kind="quiet" onClick={wake}>
              Notify
            </Button>
          )}
        </div>
      )}
      {s.callUrl && (
        <div>
          {s.callMethod} <bdi>{plain(s.callUrl)}</bdi>{" "}
          {!!s.callResponseStatus && (
            <Badge tone={s.callResponseStatus < 300 ? "good" : "bad"}>{s.callResponseStatus}</Badge>
          )}
        </div>
      )}
      {s.invokedWorkflowRunId && (
        <div>
          invokes{" "}
          <A to="/runs" q={{ id: s.invokedWorkflowRunId }}>
            {s.invokedWorkflowRunId}
          </A>
        </div>
      )}
      {!!s.nextDeliveryTime && s.state === "STEP_RETRY" && (
        <div>
          next attempt <Ago at={s.nextDeliveryTime} />
        </div>
      )}
      {now && (
        <div>
          <Button kind="quiet" onClick={now}>
            Run now
          </Button>
        </div>
      )}
      {(s.out !== undefined || s.errors?.length || s.callUrl || s.headers) && (
        <details onToggle={(e) => put(e.currentTarget.open)}>
          <summary>Inputs and outputs</summary>
          {open && (
            <>
              {s.callBody && (
                <>
                  <h3>Input</h3>
                  <Body label="Input" text={s.callBody} />
                </>
              )}
              {s.out !== undefined && (
                <>
                  <h3>Output</h3>
                  <Body label="Output" text={s.out} />
                </>
              )}
              {s.callResponseBody && (
                <>
                  <h3>Answer</h3>
                  <Body label="Answer" text={s.callResponseBody} />
                </>
              )}
              {s.errors?.map((e, i) => (
                <div key={i}>
                  <h3>Attempt {i + 1}</h3>
                  <p class="dim">
                    {e.status ? `status ${e.status}` : ""}{" "}
                    {e.time ? figure("/v2/workflows/logs", "time", unixMs(e.time)) : ""}{" "}
                    {e.error && plain(String(e.error))}
                  </p>
                  <Body label={`Attempt ${i + 1}`} text={String(e.body ?? "")} />
                </div>
              ))}
              {s.headers && (
                <>
                  <h3>Headers</h3>
                  <Headers of={s.headers} />
                </>
              )}
            </>
          )}
        </details>
      )}
    </div>
  );
}
