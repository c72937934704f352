import { useEffect, useState } from "preact/hooks";
import { json, plain } from "./api";
import { count, figure, msSpan, things, unixMs } from "./format";
import { chosen, type Explanation, Filters, mayWrite, runNow, tone } from "./messages";
import { query, set } from "./router";
import {
  A,
  Ago,
  Area,
  act,
  Badge,
  Body,
  Button,
  Card,
  Code,
  Copy,
  clock,
  Dialog,
  Empty,
  Facts,
  Field,
  Headers,
  Loaded,
  Note,
  Page,
  sure,
  Table,
  Text,
  useLoad,
} from "./ui";

type Step = {
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
  errors?: { status?: number; time?: number | string; error?: string; body?: string }[];
};
type Run = {
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
type Why = Explanation & {
  curl?: string;
  mismatches?: { code: string; text: string }[];
  delivery?: { messageId: string; reason: string };
};
const states = ["RUN_STARTED", "RUN_SUCCESS", "RUN_FAILED", "RUN_CANCELED"];
const filters: [string, string][] = [
  ["workflowRunId", "Run id"],
  ["workflowUrl", "URL"],
  ["label", "Label"],
  ["flowControlKey", "Flow-control key"],
  ["callerIp", "Caller's address"],
  ["host", "Host"],
  ["path", "Path"],
];
const what = (s: Step) => s.stepName || s.stepType || "step";

/** waits is what a run waits for, by its newest steps. */
function waits(r: Run): { for: string; since: number } | null {
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

export function Runs() {
  const id = query.value.get("id");
  return id ? <One id={id} key={id} /> : <All />;
}

function All() {
  const q = query.value,
    p = chosen(filters.map(([n]) => n)).toString(),
    longer = Number(q.get("longer") ?? 0) * 60000;
  const [rest, add] = useState<{ runs: Run[]; cursor?: string } | null>(null),
    [starting, start] = useState(false),
    [notifying, notify] = useState(false),
    [busy, wait] = useState(false);
  const [minutes, put] = useState(q.get("longer") ?? "");
  const first = useLoad<{ runs: Run[]; cursor?: string }>(
    (poll) => json(`/v2/workflows/logs?count=10&trimBody=200&${p}`, { poll }),
    [p],
    4000,
  );
  useEffect(() => add(null), [p]);
  const cursor = rest ? rest.cursor : first.data?.cursor;
  const known = new Set<string>();
  const runs = [...(first.data?.runs ?? []), ...(rest?.runs ?? [])]
    .filter((r) => !known.has(r.workflowRunId) && known.add(r.workflowRunId))
    .filter((r) => {
      const w = waits(r);
      return !longer || (w && clock.value - w.since > longer);
    });
  const more = async (pages: number) => {
    wait(true);
    let at = cursor,
      all = rest?.runs ?? [];
    try {
      for (let i = 0; i < pages && at; i++) {
        const d = await json<{ runs: Run[]; cursor?: string }>(
          `/v2/workflows/logs?count=10&trimBody=200&cursor=${encodeURIComponent(at)}&${p}`,
        );
        all = [...all, ...d.runs];
        at = d.cursor;
        add({ runs: all, cursor: at });
      }
    } finally {
      wait(false);
    }
  };
  return (
    <Page
      title="Runs"
      sub="Workflow runs, the newest first"
      acts={
        mayWrite() && (
          <>
            <Button onClick={() => notify(true)}>Notify</Button>
            <Button kind="main" icon="plus" onClick={() => start(true)}>
              Start a run
            </Button>
          </>
        )
      }
    >
      <Filters of={filters} stateNames={states} at="/runs" />
      <form class="filters" onSubmit={(e) => e.preventDefault()}>
        <Field label="Waits longer than, in minutes">
          <Text
            type="number"
            min="0"
            value={minutes}
            onText={(t) => {
              put(t);
              setLonger(t);
            }}
          />
        </Field>
      </form>
      <Loaded
        of={first}
        isEmpty={(d) => !d.runs.length}
        empty={
          <Card>
            <Empty icon="runs" title={p ? "No run matches" : "No workflow has run yet"}>
              {p
                ? "Other filters may find some."
                : "A run is a program whose steps are kept: it goes on through crashes of your app and of nodes."}
            </Empty>
          </Card>
        }
      >
        {() => (
          <Card class="flush">
            <Table
              label="Runs"
              rows={runs}
              id={(r) => r.workflowRunId}
              columns={[
                { name: "Begun", class: "tight", of: (r) => <Ago at={r.workflowRunCreatedAt} /> },
                {
                  name: "State",
                  class: "tight",
                  of: (r) => <Badge tone={tone(r.workflowState)}>{r.workflowState.replace("RUN_", "")}</Badge>,
                },
                {
                  name: "Run",
                  class: "main-cell",
                  of: (r) => (
                    <A to="/runs" q={{ id: r.workflowRunId }}>
                      <span class="mono">{r.workflowRunId}</span>
                      <div class="dim">
                        <bdi>{plain(r.workflowUrl).slice(0, 200)}</bdi>
                      </div>
                    </A>
                  ),
                },
                {
                  name: "Steps",
                  class: "num",
                  of: (r) =>
                    count(r.steps.reduce((n, g) => n + g.steps.filter((s) => s.state === "STEP_SUCCESS").length, 0)),
                },
                {
                  name: "Took",
                  class: "num",
                  of: (r) =>
                    r.workflowRunCompletedAt ? msSpan(r.workflowRunCompletedAt - r.workflowRunCreatedAt) : "–",
                },
                {
                  name: "Waits for",
                  of: (r) => {
                    const w = waits(r);
                    return w ? (
                      <>
                        <bdi>{plain(w.for).slice(0, 80)}</bdi> <span class="dim">{msSpan(clock.value - w.since)}</span>
                      </>
                    ) : (
                      "–"
                    );
                  },
                },
                { name: "Label", of: (r) => <bdi>{plain(r.labels?.join(", ") ?? r.label ?? "–").slice(0, 80)}</bdi> },
              ]}
            />
            {cursor && (
              <div class="tree-foot">
                <Button kind="quiet" busy={busy} onClick={() => more(1)}>
                  Show older ones
                </Button>
                <Button kind="quiet" disabled={busy} onClick={() => more(10)}>
                  100 more
                </Button>
              </div>
            )}
          </Card>
        )}
      </Loaded>
      {starting && <Start close={() => start(false)} done={first.again} />}
      {notifying && <Notify close={() => notify(false)} done={first.again} />}
    </Page>
  );
}
const setLonger = (t: string) => set({ longer: t || undefined }, true);

function Start({ close, done }: { close: () => void; done: () => void }) {
  const [url, at] = useState(""),
    [body, put] = useState(""),
    [label, name] = useState("");
  return (
    <Dialog title="Start a run" close={close}>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          if (
            await act("The run has begun", () =>
              json(`/v2/trigger/${url}`, {
                method: "POST",
                body: body || undefined,
                headers: { "Content-Type": "application/json", ...(label ? { "Svc-Label": label } : {}) },
              }),
            )
          ) {
            close();
            done();
          }
        }}
      >
        <div class="form">
          <Field label="URL of the workflow" wide>
            <Text value={url} onText={at} required />
          </Field>
          <Field label="Label" wide>
            <Text value={label} onText={name} />
          </Field>
          <Field label="Payload" wide>
            <Area value={body} onText={put} />
          </Field>
        </div>
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="main">
            Start
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
function Notify({
  close,
  done,
  event = "",
  run,
}: {
  close: () => void;
  done: () => void;
  event?: string;
  run?: string;
}) {
  const [id, put] = useState(event),
    [data, write] = useState("");
  return (
    <Dialog title="Notify" close={close}>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          if (
            await act("Notified", () =>
              json(`/v2/notify/${run ? `${encodeURIComponent(run)}/` : ""}${encodeURIComponent(id)}`, {
                method: "POST",
                body: data || undefined,
                headers: { "Content-Type": "application/json" },
              }),
            )
          ) {
            close();
            done();
          }
        }}
      >
        <p class="dim">
          {run
            ? "The run goes on with this data, or keeps it until it waits."
            : "Every run that waits for the event goes on with this data."}
        </p>
        <br />
        <div class="form">
          <Field label="Event" wide>
            <Text value={id} onText={put} required readOnly={!!event} />
          </Field>
          <Field label="Data" wide>
            <Area value={data} onText={write} />
          </Field>
        </div>
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="main">
            Notify
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

const size = 100;

function One({ id }: { id: string }) {
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
              title="There is no such run"
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
                  ["Begun", figure("/v2/workflows/logs", "workflowRunCreatedAt", r.workflowRunCreatedAt)],
                  [
                    "Took",
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
                  ["Called by", r.workflowRunCallerIp],
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

// sleeps: the step waits for a time that can be skipped, that of a sleep, of a retry or of a delayed start.
const sleeps = (s: Step, delivery?: { messageId: string; reason: string }) =>
  !!s.messageId &&
  (s.state === "STEP_RETRY" ||
    (s.state === "STEP_PROGRESS" &&
      (!!s.sleepFor || !!s.sleepUntil || (delivery?.messageId === s.messageId && delivery.reason === "delay"))));

function StepBox({ s, wake, now }: { s: Step; wake?: () => void; now?: () => void }) {
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
