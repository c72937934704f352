// Schedules.
import { useState } from "preact/hooks";
import { json, plain, raw } from "../api";
import { Area, Button, Choose, Field, Text } from "../ui/controls";
import { Dialog, sure } from "../ui/dialogs";
import { A, Badge, Card, Empty, Note, Page, Table } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Ago } from "../ui/time";
import { act } from "../ui/toasts";
import { mayWrite } from "./event";
import { B, name } from "./why";

type Schedule = {
  scheduleId: string;
  cron: string;
  destination: string;
  isPaused: boolean;
  method?: string;
  body?: string;
  retries: number;
  lastScheduleTime?: number;
  nextScheduleTime?: number;
  nextScheduleTimes?: number[];
  error?: string;
  timeZone?: string;
  misfire?: string;
  queueName?: string;
  label?: string;
  header?: Record<string, string[]>;
};
export function Schedules() {
  const list = useLoad<Schedule[]>((poll) => json("/v2/schedules", { poll }), [], 5000);
  const [edit, open] = useState<Partial<Schedule> | null>(null),
    [next, look] = useState("");
  return (
    <Page
      title="Schedules"
      sub="Messages that are published again and again"
      acts={
        mayWrite() && (
          <Button kind="main" icon="plus" onClick={() => open({})}>
            New schedule
          </Button>
        )
      }
    >
      <Loaded
        of={list}
        isEmpty={(d) => !d.length}
        empty={
          <Card>
            <Empty icon="schedules" title="There are no schedules">
              A schedule publishes a message by a cron expression, in a zone of your choice.
            </Empty>
          </Card>
        }
      >
        {(d) => (
          <Card class="flush">
            <Table
              label="Schedules"
              rows={d}
              id={(s) => s.scheduleId}
              columns={[
                {
                  name: "Schedule",
                  class: "main-cell",
                  of: (s) => (
                    <>
                      <b>
                        <B of={s.scheduleId} />
                      </b>
                      <div class="dim">
                        <B of={s.destination} />
                      </div>
                      {s.error && <Badge tone="bad">{s.error}</Badge>}
                    </>
                  ),
                },
                { name: "Cron", of: (s) => <span class="mono">{s.cron}</span> },
                {
                  name: "State",
                  of: (s) => <Badge tone={s.isPaused ? "warn" : "good"}>{s.isPaused ? "paused" : "on"}</Badge>,
                },
                { name: "Last", of: (s) => <Ago at={s.lastScheduleTime} /> },
                { name: "Next", of: (s) => (s.isPaused ? "–" : <Ago at={s.nextScheduleTime} />) },
                {
                  name: "-Actions",
                  class: "acts-cell",
                  of: (s) => (
                    <>
                      <Button kind="quiet" onClick={() => look(s.scheduleId)}>
                        Next five times
                      </Button>
                      <A to="/messages" q={{ scheduleId: s.scheduleId }} class="button quiet">
                        Messages
                      </A>
                      {mayWrite() && (
                        <>
                          <Button kind="quiet" onClick={() => runNow(s)}>
                            Run now
                          </Button>
                          <Button
                            kind="quiet"
                            onClick={() =>
                              act(s.isPaused ? "Resumed" : "Paused", () =>
                                json(`/v2/schedules/${name(s.scheduleId)}/${s.isPaused ? "resume" : "pause"}`, {
                                  method: "POST",
                                }),
                              ).then(list.again)
                            }
                          >
                            {s.isPaused ? "Resume" : "Pause"}
                          </Button>
                          <Button kind="quiet" onClick={() => open(s)}>
                            Edit
                          </Button>
                          <Button
                            kind="quiet"
                            class="bad"
                            onClick={() =>
                              sure({
                                title: "Delete this schedule",
                                name: s.scheduleId,
                                verb: "Delete",
                                done: "Deleted",
                                text: <p>Nothing is published by it any more. Messages that it has published stay.</p>,
                                go: () =>
                                  json(`/v2/schedules/${name(s.scheduleId)}`, { method: "DELETE" }).then(list.again),
                              })
                            }
                          >
                            Delete
                          </Button>
                        </>
                      )}
                    </>
                  ),
                },
              ]}
            />
          </Card>
        )}
      </Loaded>
      {next && <NextTimes id={next} close={() => look("")} />}
      {edit && <ScheduleForm s={edit} close={() => open(null)} done={list.again} />}
    </Page>
  );
}
const runNow = (s: Schedule) =>
  sure({
    title: "Run it now",
    verb: "Publish",
    done: "Published",
    text: (
      <p>
        One message is published to {plain(s.destination)} now, as the schedule would. Its timetable does not change.
      </p>
    ),
    go: () => {
      const headers: Record<string, string> = {
        ...(s.method && s.method !== "POST" ? { "Svc-Method": s.method } : {}),
        ...(s.label ? { "Svc-Label": s.label } : {}),
        "Svc-Retries": String(s.retries),
      };
      for (const [n, v] of Object.entries(s.header ?? {}))
        if (!/^(upstash-|svc-|content-length)/i.test(n))
          headers[/^content-type$/i.test(n) ? n : `Svc-Forward-${n}`] = v[0];
      return raw(s.queueName ? `/v2/enqueue/${name(s.queueName)}/${s.destination}` : `/v2/publish/${s.destination}`, {
        method: "POST",
        headers,
        body: s.body,
      });
    },
  });
function NextTimes({ id, close }: { id: string; close: () => void }) {
  const one = useLoad<Schedule>(() => json(`/v2/schedules/${name(id)}`), [id]);
  const [zone, put] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone);
  return (
    <Dialog title="The next five times" close={close}>
      <Loaded of={one}>
        {(s) => {
          const zones = [...new Set([s.timeZone || "UTC", zone, "UTC"])];
          return (
            <>
              <Field label="Time zone">
                <Choose
                  of={[...zones, ...Intl.supportedValuesOf("timeZone").filter((z) => !zones.includes(z))]}
                  value={zone}
                  onText={put}
                />
              </Field>
              <br />
              <ol>
                {(s.nextScheduleTimes ?? []).map((t) => (
                  <li key={t}>
                    {new Date(t).toLocaleString("sv", { timeZone: zone })}{" "}
                    <span class="dim">
                      (<Ago at={t} />)
                    </span>
                  </li>
                ))}
              </ol>
              {!s.nextScheduleTimes?.length && (
                <p class="dim">None: it is paused, or its expression has no more times.</p>
              )}
            </>
          );
        }}
      </Loaded>
    </Dialog>
  );
}
function ScheduleForm({ s, close, done }: { s: Partial<Schedule>; close: () => void; done: () => void }) {
  const [f, put] = useState({
    id: s.scheduleId ?? "",
    cron: s.cron ?? "*/5 * * * *",
    to: s.destination ?? "",
    method: s.method ?? "POST",
    retries: String(s.retries ?? 3),
    misfire: s.misfire ?? "once",
    body: s.body ?? "",
    queue: s.queueName ?? "",
  });
  const on = (n: keyof typeof f) => (t: string) => put((was) => ({ ...was, [n]: t }));
  return (
    <Dialog title={s.scheduleId ? "Edit schedule" : "New schedule"} close={close} wide>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          const headers: Record<string, string> = {
            "Svc-Cron": f.cron,
            "Svc-Method": f.method,
            "Svc-Retries": f.retries,
            "Svc-Misfire": f.misfire,
            "Content-Type": "application/json",
          };
          if (f.id) headers["Svc-Schedule-Id"] = f.id;
          if (f.queue) headers["Svc-Queue-Name"] = f.queue;
          if (
            await act("Written", () =>
              raw(`/v2/schedules/${f.to}`, { method: "POST", headers, body: f.body || undefined }),
            )
          ) {
            close();
            done();
          }
        }}
      >
        <div class="form">
          <Field label="Destination" wide>
            <Text value={f.to} onText={on("to")} required />
          </Field>
          <Field label="Cron" help="CRON_TZ=Europe/Berlin 0 9 * * 1-5, @daily, @every 30s">
            <Text value={f.cron} onText={on("cron")} required />
          </Field>
          <Field label="Id" help="Leave empty to generate one">
            <Text value={f.id} onText={on("id")} readOnly={!!s.scheduleId} />
          </Field>
          <Field label="Method">
            <Choose of={["POST", "GET", "PUT", "PATCH", "DELETE"]} value={f.method} onText={on("method")} />
          </Field>
          <Field label="Retries">
            <Text type="number" min="0" value={f.retries} onText={on("retries")} />
          </Field>
          <Field label="Missed times">
            <Choose
              of={[
                ["once", "Publish once for all of them"],
                ["all", "Publish once for each"],
                ["none", "Dropped"],
              ]}
              value={f.misfire}
              onText={on("misfire")}
            />
          </Field>
          <Field label="Queue">
            <Text value={f.queue} onText={on("queue")} />
          </Field>
          <Field label="Body" wide>
            <Area value={f.body} onText={on("body")} />
          </Field>
        </div>
        {s.scheduleId && (
          <Note kind="warn">The schedule is overwritten whole: settings that this form does not show go.</Note>
        )}
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="main">
            Save the schedule
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
