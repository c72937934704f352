// The view of all runs.
import { useEffect, useState } from "preact/hooks";
import { json, plain } from "../api";
import { count, msSpan } from "../format";
import { mayWrite, tone } from "../messages/event";
import { chosen, Filters } from "../messages/filters";
import { ReachOf } from "../messages/reach";
import { query, set } from "../router";
import { Area, Button, Field, Text } from "../ui/controls";
import { FormDialog } from "../ui/dialogs";
import { First } from "../ui/first";
import { A, Badge, Card, Empty, Page } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Table } from "../ui/table";
import { Url } from "../ui/text";
import { Ago, clock } from "../ui/time";
import { Notify } from "./notify";
import { type Run, waits } from "./reply";
import { One } from "./run";

const states = ["RUN_STARTED", "RUN_SUCCESS", "RUN_FAILED", "RUN_CANCELED"];
const filters: [string, string][] = [
  ["workflowRunId", "Run id"],
  ["workflowUrl", "URL"],
  ["label", "Label"],
  ["flowControlKey", "Flow-control key"],
  ["deployment", "Deployment"],
  ["callerIp", "Caller's address"],
  ["host", "Host"],
  ["path", "Path"],
];

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
      <ReachOf kind="runs" />
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
          p ? (
            <Card>
              <Empty icon="runs" title="No run matches">
                Other filters may find some.
              </Empty>
            </Card>
          ) : (
            <First
              icon="runs"
              title="No workflow has run yet"
              act={
                mayWrite() && (
                  <Button kind="main" onClick={() => start(true)}>
                    Start the first run
                  </Button>
                )
              }
              service="Workflows"
            >
              A run is a function of your app whose steps are kept: it goes on through crashes of the app and of nodes.
            </First>
          )
        }
      >
        {() => (
          <Card class="flush">
            <Table
              label="Runs"
              rows={runs}
              id={(r) => r.workflowRunId}
              columns={[
                { name: "Started", class: "tight", of: (r) => <Ago at={r.workflowRunCreatedAt} /> },
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
                        <Url of={r.workflowUrl} most={200} />
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
                  name: "Duration",
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
                  Show older
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
    <FormDialog
      title="Start a run"
      close={close}
      verb="Start"
      said="The run has begun"
      go={() =>
        json(`/v2/trigger/${url}`, {
          method: "POST",
          body: body || undefined,
          headers: { "Content-Type": "application/json", ...(label ? { "Svc-Label": label } : {}) },
        })
      }
      then={done}
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
    </FormDialog>
  );
}
