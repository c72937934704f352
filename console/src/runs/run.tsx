// One run.
import { useState } from "preact/hooks";
import { json, plain } from "../api";
import { count, figure, msSpan } from "../format";
import { mayWrite, runNow, tone } from "../messages/event";
import { Button, Copy } from "../ui/controls";
import { sure } from "../ui/dialogs";
import { A, Badge, Card, Empty, Facts, Note, Page } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Body, Code } from "../ui/text";
import { Ago, clock } from "../ui/time";
import { act } from "../ui/toasts";
import { Notify } from "./notify";
import type { Run, Why } from "./reply";
import { StepBox, sleeps } from "./step";

const size = 100;

export function One({ id }: { id: string }) {
  const [notify, open] = useState<string | null>(null),
    [at, turn] = useState<number | null>(null);
  const load = useLoad(
    async (poll) => {
      const runs = (await json<{ runs: Run[] }>(`/v2/workflows/logs?workflowRunId=${encodeURIComponent(id)}`, { poll }))
        .runs;
      const why =
        runs[0]?.workflowState === "RUN_STARTED" || runs[0]?.workflowState === "RUN_FAILED"
          ? await json<Why>(`/v2/workflows/runs/${encodeURIComponent(id)}/explain`, { poll }).catch(() => null)
          : null;
      return { run: runs[0], why };
    },
    [id],
    3000,
  );
  return (
    <Loaded
      of={load}
      isEmpty={(d) => !d.run}
      empty={
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
              {id} was never started here, or is kept no longer.
            </Empty>
          </Card>
        </Page>
      }
    >
      {({ run: r, why }) => {
        const { dlqId } = r;
        const steps = r.steps.reduce((n, g) => n + g.steps.length, 0),
          pages = Math.ceil(r.steps.length / size),
          page = at ?? (r.workflowState === "RUN_STARTED" ? pages - 1 : 0);
        return (
          <Page
            title="Run"
            sub={
              <>
                <A to="/runs">Runs</A> / <span class="mono">{id}</span>
              </>
            }
            acts={
              mayWrite() && (
                <>
                  {r.workflowState === "RUN_STARTED" && (
                    <>
                      <Button onClick={() => open("")}>Notify</Button>
                      <Button
                        class="bad"
                        onClick={() =>
                          sure({
                            title: "Cancel this run",
                            text: (
                              <p>
                                No more of its steps are called, and what it has done is kept. A call under way may
                                still finish.
                              </p>
                            ),
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
                                .then(load.again),
                          })
                        }
                      >
                        Cancel
                      </Button>
                    </>
                  )}
                  {dlqId && (
                    <>
                      <Button
                        kind="main"
                        onClick={() =>
                          act("The run goes on as a new one", () =>
                            json(`/v2/workflows/dlq/resume/${encodeURIComponent(dlqId)}`, { method: "POST" }),
                          ).then(load.again)
                        }
                      >
                        Resume
                      </Button>
                      <Button
                        onClick={() =>
                          act("A new run has begun", () =>
                            json(`/v2/workflows/dlq/restart/${encodeURIComponent(dlqId)}`, { method: "POST" }),
                          ).then(load.again)
                        }
                      >
                        Restart
                      </Button>
                    </>
                  )}
                </>
              )
            }
          >
            {why && (
              <Note
                kind={
                  why.reason === "failed"
                    ? "bad"
                    : why.reason === "retrying" || why.mismatches?.length
                      ? "warn"
                      : "info"
                }
              >
                <b>{why.reason}</b>: {plain(why.text)}
                {why.next && (
                  <>
                    {" "}
                    <Ago at={why.next} />.
                  </>
                )}
                {why.mismatches?.map((m) => (
                  <div key={m.code}>
                    <b>{m.code}</b>: {plain(m.text)}
                  </div>
                ))}
              </Note>
            )}
            <Card>
              <Facts
                of={[
                  ["State", <Badge tone={tone(r.workflowState)}>{r.workflowState}</Badge>],
                  ["URL", <bdi>{plain(r.workflowUrl)}</bdi>],
                  ["Started", figure("/v2/workflows/logs", "workflowRunCreatedAt", r.workflowRunCreatedAt)],
                  [
                    "Duration",
                    r.workflowRunCompletedAt
                      ? msSpan(r.workflowRunCompletedAt - r.workflowRunCreatedAt)
                      : `${msSpan(clock.value - r.workflowRunCreatedAt)} so far`,
                  ],
                  ["Steps", count(steps)],
                  ["Labels", r.labels?.join(", ") ?? r.label],
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
              {why?.curl && (
                <>
                  <br />
                  <Copy label="Copy the call as curl" text={why.curl} />
                </>
              )}
            </Card>
            <Card
              title="Steps"
              acts={
                pages > 1 && (
                  <>
                    <Button kind="quiet" disabled={page === 0} onClick={() => turn(page - 1)}>
                      Earlier
                    </Button>
                    <span class="dim">
                      {page * size + 1} to {Math.min(r.steps.length, (page + 1) * size)} of {count(r.steps.length)}
                    </span>
                    <Button kind="quiet" disabled={page >= pages - 1} onClick={() => turn(page + 1)}>
                      Later
                    </Button>
                  </>
                )
              }
            >
              <div class="lanes">
                {r.steps.slice(page * size, (page + 1) * size).map((g, i) => (
                  <div
                    key={page * size + i}
                    class="lane"
                    role="group"
                    aria-label={g.type === "parallel" ? `${g.steps.length} parallel steps` : "step"}
                    tabIndex={g.steps.length > 3 ? 0 : undefined}
                  >
                    {g.steps.map((s, j) => {
                      const mayAct = mayWrite() && r.workflowState === "RUN_STARTED";
                      const { waitEventId, messageId } = s;
                      const waiting = mayAct && s.state !== "STEP_SUCCESS";
                      const asleep = mayAct && sleeps(s, why?.delivery);
                      return (
                        <StepBox
                          key={j}
                          s={s}
                          wake={waiting && waitEventId ? () => open(waitEventId) : undefined}
                          now={asleep && messageId ? () => runNow(messageId).then(load.again) : undefined}
                        />
                      );
                    })}
                  </div>
                ))}
              </div>
              {!r.steps.length && <p class="dim">No step is done yet.</p>}
            </Card>
            {r.workflowRunResponse !== undefined && (
              <Card title="Result">
                <Body label="Result" text={r.workflowRunResponse} />
              </Card>
            )}
            {r.failureFunction && (
              <Card title="Failure">
                <Facts
                  of={[
                    ["Status", String(r.failureFunction.failStatus || "none")],
                    ["State of the failure function", r.failureFunction.state],
                  ]}
                />
                <br />
                <Code label="Answer" text={r.failureFunction.failResponse ?? ""} />
              </Card>
            )}
            {notify !== null && <Notify event={notify} run={id} close={() => open(null)} done={load.again} />}
          </Page>
        );
      }}
    </Loaded>
  );
}
