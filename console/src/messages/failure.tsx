// Why a message was not delivered, and the way to send it again.
import { json, plain } from "../api";
import { things } from "../format";
import { go } from "../router";
import { Button } from "../ui/controls";
import { Card } from "../ui/layout";
import { act } from "../ui/toasts";
import { attempts } from "../waterfall/message";
import { thrown } from "../waterfall/stack";
import { Answer } from "../waterfall/thrown";
import type { Course } from "./course";
import { type Event, mayWrite, text64 } from "./event";

/** Failure is the last answer to a message that has failed for good. */
export function Failure({ of: e, course }: { of: Event; course: Course }) {
  const body = text64(e.responseBody),
    error = thrown(body);
  const title = error
    ? `${error.name ? `${error.name}: ` : ""}${error.message}`
    : e.error || `The destination has answered ${e.responseStatus}`;
  return (
    <Card class="failure">
      <div role="alert">
        <h2>
          <bdi>{plain(title).slice(0, 300)}</bdi>
        </h2>
        <p class="dim">
          {e.responseStatus ? `Status ${e.responseStatus}` : "No answer"}, after{" "}
          {things(Math.max(1, attempts(course.events).length), "attempt")}
        </p>
      </div>
      <dl class="why">
        <dt>What next</dt>
        <dd>
          Mend the cause, then retry: the message is published anew, with all of its attempts.
          {mayWrite() && (
            <div class="acts">
              <Button kind="main" onClick={() => retry(e.messageId)}>
                Retry
              </Button>
            </div>
          )}
        </dd>
      </dl>
      {body && (
        <details>
          <summary>{error?.stack ? "Stack" : "Last answer"}</summary>
          <Answer text={body} label="Last answer" />
        </details>
      )}
    </Card>
  );
}

/** retry publishes a message anew and goes to the new one. */
async function retry(id: string) {
  let made = "";
  const done = await act("It is published again: this is the new message", async () => {
    const path = `/v2/dlq/retry?messageId=${encodeURIComponent(id)}`,
      { responses } = await json<{ responses: { messageId: string }[] }>(path, { method: "POST" });
    if (!responses.length) throw new Error("It is no dead letter any more: it was retried or deleted");
    made = responses[0].messageId;
  });
  if (done) go("/messages", { id: made });
}
