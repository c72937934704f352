// What can be done with a run.
import { json } from "../api";
import { newRun } from "../messages/event";
import { go } from "../router";
import { Button } from "../ui/controls";
import { sure } from "../ui/dialogs";
import { act } from "../ui/toasts";

/** askCancel cancels a run once its id is typed. */
const askCancel = (id: string, again: () => void) =>
  sure({
    title: "Cancel this run",
    text: <p>No more of its steps are called, and what it has done is kept. A call under way may still finish.</p>,
    name: id,
    verb: "Cancel the run",
    done: "Canceled",
    go: () =>
      json(`/v2/workflows/runs/${encodeURIComponent(id)}`, {
        method: "DELETE",
        headers: { "Upstash-Workflow-Cancel": "true" },
      })
        .catch(() =>
          json(`/v2/workflows/runs?workflowRunIds=${encodeURIComponent(id)}`, {
            method: "DELETE",
          }),
        )
        .then(again),
  });

/** Started are the acts on a run that goes on. */
export const Started = ({ id, notify, again }: { id: string; notify: () => void; again: () => void }) => (
  <>
    <Button onClick={notify}>Notify</Button>
    <Button class="bad" onClick={() => askCancel(id, again)}>
      Cancel
    </Button>
  </>
);

/** fork starts a run with the log of another one, up to the result of a step or whole, and shows it. */
export const fork = (id: string, step?: number) =>
  act(
    "A fork has begun",
    () =>
      json<{ workflowRunId: string }>(`/v2/workflows/runs/${encodeURIComponent(id)}/fork`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ step }),
      }),
    (made) => {
      go("/runs", { id: made.workflowRunId });
      return undefined;
    },
  );

/** anew resumes or restarts a run that has failed. */
const anew = (how: "resume" | "restart", dead: string) =>
  json<{ workflowRunId?: string }>(`/v2/workflows/dlq/${how}/${encodeURIComponent(dead)}`, { method: "POST" });

/** Failed are the acts on a run that has failed: as a new one it goes on, or begins again. */
export const Failed = ({ dead, again }: { dead: string; again: () => void }) => (
  <>
    <Button
      kind="main"
      onClick={() => act("The run goes on as a new one", () => anew("resume", dead), newRun).then(again)}
    >
      Resume
    </Button>
    <Button onClick={() => act("A new run has begun", () => anew("restart", dead), newRun).then(again)}>Restart</Button>
  </>
);
