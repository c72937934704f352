// Why a run is where it is, and what to do about it.
import { plain } from "../api";
import { things } from "../format";
import { mayWrite } from "../messages/event";
import { Copy } from "../ui/controls";
import { Card, Note } from "../ui/layout";
import { Ago } from "../ui/time";
import { thrown } from "../waterfall/stack";
import { Answer } from "../waterfall/thrown";
import { Failed } from "./acts";
import type { Why as Reason, RunSteps } from "./reply";

const Mismatches = ({ of }: { of?: Reason["mismatches"] }) => (
  <>
    {of?.map((m) => (
      <div key={m.code}>
        <b>{m.code}</b>: {plain(m.text)}
      </div>
    ))}
  </>
);

/** heads are the words of the API's reasons. */
const heads: Record<string, string> = {
  succeeded: "Done",
  canceled: "Canceled",
  empty: "No steps",
  retrying: "Retrying",
  delay: "Starts later",
  delivery: "Working",
  abandoned: "Abandoned",
  event: "Waits for an event",
  sleep: "Sleeps",
  call: "Waits for a call",
  invoke: "Waits for another run",
};

/** Why is a note on a run that goes on, and the error of one that has failed. */
export function Why({ run, why, again }: { run: RunSteps; why: Reason; again: () => void }) {
  if (why.reason === "failed") return <Failure run={run} why={why} again={again} />;
  const kind = why.reason === "retrying" || why.mismatches?.length ? "warn" : "info";
  return (
    <Note kind={kind}>
      <b>{heads[why.reason] ?? why.reason}</b>: {plain(why.text)}.
      {why.next && (
        <>
          {" "}
          Next: <Ago at={why.next} />.
        </>
      )}
      <Mismatches of={why.mismatches} />
    </Note>
  );
}

function Failure({ run, why, again }: { run: RunSteps; why: Reason; again: () => void }) {
  const body = why.lastAttempt?.body || run.failureFunction?.failResponse || "",
    error = thrown(body),
    { dlqId } = run;
  const title = error
    ? `${error.name ? `${error.name}: ` : ""}${error.message}`
    : why.lastAttempt?.error || "The run has failed";
  return (
    <Card class="failure">
      <div role="alert">
        <h2>
          <bdi>{plain(title).slice(0, 300)}</bdi>
        </h2>
        <p class="dim">
          {why.lastAttempt?.status ? `Status ${why.lastAttempt.status}` : "No answer"}
          {why.attempts ? `, after ${things(why.attempts, "attempt")}` : ""}
          {why.errorStepName && (
            <>
              , in the step <bdi>{plain(why.errorStepName).slice(0, 200)}</bdi>
            </>
          )}
        </p>
      </div>
      <dl class="why">
        <dt>Why</dt>
        <dd>
          {plain(why.text.replace(/; resume it with its dlqId \S+$/, ""))}.
          <Mismatches of={why.mismatches} />
        </dd>
        <dt>What next</dt>
        <dd>
          {dlqId
            ? "Mend the cause, then resume the run: steps that are done are not run again. Restart runs all of them."
            : "The run was resumed, restarted or deleted from the dead letters."}
          <div class="acts">
            {dlqId && mayWrite() && <Failed dead={dlqId} again={again} />}
            {why.curl && <Copy label="Copy the call as curl" text={why.curl} />}
          </div>
        </dd>
      </dl>
      {body && (
        <details open={!!error?.frames.length}>
          <summary>{error?.stack ? "Stack" : "Last answer"}</summary>
          <Answer text={body} label="Last answer" />
        </details>
      )}
    </Card>
  );
}
