import { useState } from "preact/hooks";
import { json, plain, raw } from "./api";
import { count, figure, inMs, things } from "./format";
import { type Explanation, mayWrite } from "./messages";
import { query, set } from "./router";
import {
  A,
  Ago,
  Area,
  act,
  Badge,
  Button,
  Card,
  Choose,
  Copy,
  Dialog,
  Empty,
  Field,
  Loaded,
  Note,
  Page,
  sure,
  Table,
  Text,
  useLoad,
} from "./ui";

const name = (s: string) => encodeURIComponent(s);
const B = ({ of }: { of?: string }) => <bdi>{plain(of ?? "–").slice(0, 300)}</bdi>;

type Queue = { name: string; parallelism: number; createdAt: number; updatedAt: number; lag: number; paused: boolean };
export function Queues() {
  const queues = useLoad<Queue[]>((poll) => json("/v2/queues", { poll }), [], 4000);
  const [edit, open] = useState<Partial<Queue> | null>(null);
  const [why, ask] = useState("");
  return (
    <Page
      title="Queues"
      sub="Messages that are delivered in order, a few at a time"
      acts={
        mayWrite() && (
          <Button kind="main" icon="plus" onClick={() => open({})}>
            New queue
          </Button>
        )
      }
    >
      <Loaded
        of={queues}
        isEmpty={(d) => !d.length}
        empty={
          <Card>
            <Empty icon="queues" title="There are no queues">
              A queue comes to be with its first message, or here.
            </Empty>
          </Card>
        }
      >
        {(d) => (
          <Card class="flush">
            <Table
              label="Queues"
              rows={d}
              id={(q) => q.name}
              columns={[
                {
                  name: "Queue",
                  class: "main-cell",
                  of: (q) => (
                    <b>
                      <B of={q.name} />
                    </b>
                  ),
                },
                {
                  name: "State",
                  of: (q) => <Badge tone={q.paused ? "warn" : "good"}>{q.paused ? "paused" : "open"}</Badge>,
                },
                { name: "Waiting", class: "num", of: (q) => count(q.lag) },
                { name: "Parallelism", class: "num", of: (q) => q.parallelism },
                { name: "Changed", of: (q) => <Ago at={q.updatedAt} /> },
                {
                  name: "-Acts",
                  class: "acts-cell",
                  of: (q) => (
                    <>
                      <A to="/messages" q={{ queueName: q.name }} class="button quiet">
                        Messages
                      </A>
                      {q.lag > 0 && (
                        <Button kind="quiet" onClick={() => ask(q.name)}>
                          Why it waits
                        </Button>
                      )}
                      {mayWrite() && (
                        <>
                          <Button
                            kind="quiet"
                            onClick={() =>
                              act(q.paused ? "Resumed" : "Paused", () =>
                                json(`/v2/queues/${name(q.name)}/${q.paused ? "resume" : "pause"}`, { method: "POST" }),
                              ).then(queues.again)
                            }
                          >
                            {q.paused ? "Resume" : "Pause"}
                          </Button>
                          <Button kind="quiet" onClick={() => open(q)}>
                            Edit
                          </Button>
                          <Button
                            kind="quiet"
                            class="bad"
                            onClick={() =>
                              sure({
                                title: "Delete this queue",
                                name: q.name,
                                verb: "Delete",
                                done: "Deleted",
                                text: <p>The queue and the {things(q.lag, "message")} in it are deleted.</p>,
                                go: () => json(`/v2/queues/${name(q.name)}`, { method: "DELETE" }).then(queues.again),
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
      {edit && <QueueForm q={edit} close={() => open(null)} done={queues.again} />}
      {why && (
        <Why path={`/v2/queues/${name(why)}?explain=true`} title={`Why ${plain(why)} waits`} close={() => ask("")} />
      )}
    </Page>
  );
}
function QueueForm({ q, close, done }: { q: Partial<Queue>; close: () => void; done: () => void }) {
  const [n, call] = useState(q.name ?? ""),
    [p, put] = useState(String(q.parallelism ?? 1));
  return (
    <Dialog title={q.name ? "Edit queue" : "New queue"} close={close}>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          if (await act("Written", () => json("/v2/queues", { data: { queueName: n, parallelism: Number(p) } }))) {
            close();
            done();
          }
        }}
      >
        <div class="form">
          <Field label="Name" wide>
            <Text value={n} onText={call} required readOnly={!!q.name} />
          </Field>
          <Field label="Parallelism" help="Attempts under way at once">
            <Text type="number" min="1" value={p} onText={put} required />
          </Field>
        </div>
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="main">
            Write
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
function Why({ path, title, close }: { path: string; title: string; close: () => void }) {
  const one = useLoad<{ explain?: Explanation }>(() => json(path), [path]);
  return (
    <Dialog title={title} close={close}>
      <Loaded of={one}>
        {(d) => (
          <>
            {d.explain ? (
              <>
                <p>
                  <Badge tone="info">{d.explain.reason}</Badge>
                </p>
                <p>{plain(d.explain.text ?? "")}</p>
                {d.explain.next && (
                  <p>
                    Next: <Ago at={d.explain.next} />
                  </p>
                )}
              </>
            ) : (
              <p>Nothing is kept waiting.</p>
            )}
          </>
        )}
      </Loaded>
    </Dialog>
  );
}

type Flow = {
  flowControlKey: string;
  waitListSize: number;
  parallelismMax: number;
  parallelismCount: number;
  rateMax: number;
  rateCount: number;
  ratePeriod: number;
  ratePeriodStart: number;
  isPaused: boolean;
  isPinnedParallelism: boolean;
  isPinnedRate: boolean;
};
export function FlowControl() {
  const search = query.value.get("search") ?? "";
  const flows = useLoad<Flow[]>(
    (poll) => json(`/v2/flowControl${search ? `?search=${name(search)}` : ""}`, { poll }),
    [search],
    3000,
  );
  const global = useLoad<{ parallelismMax?: number; parallelismCount: number }>(
    (poll) => json("/v2/globalParallelism", { poll }),
    [],
    5000,
  );
  const [why, ask] = useState(""),
    [pin, open] = useState<Flow | null>(null),
    [most, limit] = useState<string | null>(null);
  const rows = flows.data ?? [];
  const change = (f: Flow, what: string, done: string) =>
    act(done, () => json(`/v2/flowControl/${name(f.flowControlKey)}/${what}`, { method: "POST" })).then(flows.again);
  return (
    <Page
      title="Flow control"
      sub="How many attempts run at once, and how many in a time, by key"
      acts={
        global.data && (
          <>
            <span class="dim">
              All attempts: {count(global.data.parallelismCount)} of{" "}
              {global.data.parallelismMax ? count(global.data.parallelismMax) : "any number"}
            </span>
            {mayWrite() && <Button onClick={() => limit(String(global.data?.parallelismMax ?? 0))}>Limit</Button>}
          </>
        )
      }
    >
      <form
        class="filters"
        onSubmit={(e) => {
          e.preventDefault();
          set({ search: new FormData(e.currentTarget).get("search") as string });
        }}
      >
        <Field label="Find a key">
          <input type="search" name="search" defaultValue={search} />
        </Field>
        <Button type="submit">Find</Button>
      </form>
      <Loaded
        of={flows}
        isEmpty={() => !rows.length}
        empty={
          <Card>
            <Empty icon="flow" title={search ? "No key matches" : "No key is in use"}>
              A key is there while messages or runs with it wait, run, or have run in its last window.
            </Empty>
          </Card>
        }
      >
        {() => (
          <Card class="flush">
            <Table
              label="Flow-control keys"
              rows={rows}
              id={(f) => f.flowControlKey}
              columns={[
                {
                  name: "Key",
                  class: "main-cell",
                  of: (f) => (
                    <>
                      <b>
                        <B of={f.flowControlKey} />
                      </b>{" "}
                      {f.isPaused && <Badge tone="warn">paused</Badge>}{" "}
                      {(f.isPinnedParallelism || f.isPinnedRate) && <Badge tone="info">pinned</Badge>}
                    </>
                  ),
                },
                { name: "Waiting", class: "num", of: (f) => count(f.waitListSize) },
                {
                  name: "Running",
                  class: "num",
                  of: (f) => `${count(f.parallelismCount)} of ${f.parallelismMax || "∞"}`,
                },
                {
                  name: "In this window",
                  class: "num",
                  of: (f) =>
                    f.rateMax
                      ? `${count(f.rateCount)} of ${count(f.rateMax)} in ` +
                        figure("/v2/flowControl", "ratePeriod", f.ratePeriod)
                      : "–",
                },
                {
                  name: "Window began",
                  of: (f) =>
                    f.ratePeriodStart ? (
                      <Ago at={inMs("/v2/flowControl", "ratePeriodStart", f.ratePeriodStart)} />
                    ) : (
                      "–"
                    ),
                },
                {
                  name: "-Acts",
                  class: "acts-cell",
                  of: (f) => (
                    <>
                      {f.waitListSize > 0 && (
                        <Button kind="quiet" onClick={() => ask(f.flowControlKey)}>
                          Why it waits
                        </Button>
                      )}
                      {mayWrite() && (
                        <>
                          <Button
                            kind="quiet"
                            onClick={() =>
                              change(f, f.isPaused ? "resume" : "pause", f.isPaused ? "Resumed" : "Paused")
                            }
                          >
                            {f.isPaused ? "Resume" : "Pause"}
                          </Button>
                          <Button
                            kind="quiet"
                            onClick={() =>
                              f.isPinnedParallelism || f.isPinnedRate
                                ? change(f, "unpin?parallelism=true&rate=true", "Unpinned")
                                : open(f)
                            }
                          >
                            {f.isPinnedParallelism || f.isPinnedRate ? "Unpin" : "Pin"}
                          </Button>
                          {f.rateMax > 0 && (
                            <Button
                              kind="quiet"
                              onClick={() =>
                                sure({
                                  title: "Begin a new window",
                                  text: (
                                    <p>
                                      What was counted in this window is forgotten: {count(f.waitListSize)} waiting ones
                                      may start at once.
                                    </p>
                                  ),
                                  verb: "Begin",
                                  go: () =>
                                    json(`/v2/flowControl/${name(f.flowControlKey)}/resetRate`, {
                                      method: "POST",
                                    }).then(flows.again),
                                })
                              }
                            >
                              New window
                            </Button>
                          )}
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
      {why && (
        <Why
          path={`/v2/flowControl/${name(why)}?explain=true`}
          title={`Why ${plain(why)} waits`}
          close={() => ask("")}
        />
      )}
      {pin && <Pin f={pin} close={() => open(null)} done={flows.again} />}
      {most !== null && (
        <Dialog title="Limit all attempts" close={() => limit(null)}>
          <form
            onSubmit={async (e) => {
              e.preventDefault();
              if (
                await act("The limit is set", () =>
                  json("/v2/globalParallelism", { data: { parallelismMax: Number(most) } }),
                )
              ) {
                limit(null);
                global.again();
              }
            }}
          >
            <Field label="Attempts under way at once" help="0: no limit">
              <Text type="number" min="0" value={most} onText={limit} />
            </Field>
            <footer>
              <Button type="submit" kind="main">
                Set
              </Button>
            </footer>
          </form>
        </Dialog>
      )}
    </Page>
  );
}
function Pin({ f, close, done }: { f: Flow; close: () => void; done: () => void }) {
  const [p, setP] = useState(String(f.parallelismMax || "")),
    [r, setR] = useState(String(f.rateMax || "")),
    [t, setT] = useState(String(f.ratePeriod || 1));
  return (
    <Dialog title={`Pin ${plain(f.flowControlKey)}`} close={close}>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          const q = new URLSearchParams();
          if (p) q.set("parallelism", p);
          if (r) {
            q.set("rate", r);
            q.set("period", t);
          }
          if (
            await act("Pinned", () => json(`/v2/flowControl/${name(f.flowControlKey)}/pin?${q}`, { method: "POST" }))
          ) {
            close();
            done();
          }
        }}
      >
        <p class="dim">Pinned values stay, whatever messages ask for.</p>
        <br />
        <div class="form">
          <Field label="Parallelism">
            <Text type="number" min="1" value={p} onText={setP} />
          </Field>
          <Field label="Rate">
            <Text type="number" min="1" value={r} onText={setR} />
          </Field>
          <Field label="Period in seconds">
            <Text type="number" min="1" value={t} onText={setT} />
          </Field>
        </div>
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="main">
            Pin
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

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
                  name: "-Acts",
                  class: "acts-cell",
                  of: (s) => (
                    <>
                      <Button kind="quiet" onClick={() => look(s.scheduleId)}>
                        Next five
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
              <Field label="In the zone">
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
          <Field label="Id" help="Empty: one is made">
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
                ["once", "Made up for once"],
                ["all", "All made up for"],
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
            Write
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

type Group = { name: string; endpoints: { name?: string; url?: string }[]; createdAt: number; updatedAt: number };
export function Groups() {
  const list = useLoad<Group[]>((poll) => json("/v2/topics", { poll }), [], 8000);
  const [add, open] = useState<string | null>(null),
    [n, call] = useState(""),
    [url, put] = useState(""),
    [label, named] = useState("");
  return (
    <Page
      title="URL groups"
      sub="One message to several destinations"
      acts={
        mayWrite() && (
          <Button
            kind="main"
            icon="plus"
            onClick={() => {
              open("");
              call("");
            }}
          >
            New group
          </Button>
        )
      }
    >
      <Loaded
        of={list}
        isEmpty={(d) => !d.length}
        empty={
          <Card>
            <Empty icon="groups" title="There are no URL groups">
              A message to a group is delivered to each of its endpoints by itself.
            </Empty>
          </Card>
        }
      >
        {(d) => (
          <>
            {d.map((g) => (
              <Card
                key={g.name}
                class="flush"
                title={<B of={g.name} />}
                acts={
                  mayWrite() && (
                    <>
                      <Button
                        kind="quiet"
                        icon="plus"
                        onClick={() => {
                          open(g.name);
                          call(g.name);
                        }}
                      >
                        Endpoint
                      </Button>
                      <Button
                        kind="quiet"
                        class="bad"
                        onClick={() =>
                          sure({
                            title: "Delete this URL group",
                            name: g.name,
                            verb: "Delete",
                            done: "Deleted",
                            text: (
                              <p>
                                Messages to {plain(g.name)} are refused then. Its endpoints,{" "}
                                {count(g.endpoints?.length ?? 0)} now, are forgotten.
                              </p>
                            ),
                            go: () => json(`/v2/topics/${name(g.name)}`, { method: "DELETE" }).then(list.again),
                          })
                        }
                      >
                        Delete
                      </Button>
                    </>
                  )
                }
              >
                <Table
                  label={`Endpoints of ${plain(g.name)}`}
                  rows={g.endpoints ?? []}
                  id={(e, i) => (e.name ?? "") + (e.url ?? "") + i}
                  columns={[
                    { name: "Name", of: (e) => <B of={e.name || "–"} /> },
                    { name: "URL", class: "main-cell", of: (e) => <B of={e.url} /> },
                    {
                      name: "-Acts",
                      class: "acts-cell",
                      of: (e) =>
                        mayWrite() && (
                          <Button
                            kind="quiet"
                            class="bad"
                            onClick={() =>
                              sure({
                                title: "Remove this endpoint",
                                verb: "Remove",
                                done: "Removed",
                                text: <p>{plain(e.url ?? "")} gets no more messages of this group.</p>,
                                go: () =>
                                  json(`/v2/topics/${name(g.name)}/endpoints`, {
                                    method: "DELETE",
                                    data: { endpoints: [e] },
                                  }).then(list.again),
                              })
                            }
                          >
                            Remove
                          </Button>
                        ),
                    },
                  ]}
                />
              </Card>
            ))}
          </>
        )}
      </Loaded>
      {add !== null && (
        <Dialog title={add ? "New endpoint" : "New URL group"} close={() => open(null)}>
          <form
            onSubmit={async (e) => {
              e.preventDefault();
              if (
                await act("Written", () =>
                  json(`/v2/topics/${name(n)}/endpoints`, {
                    data: { endpoints: [{ url, ...(label ? { name: label } : {}) }] },
                  }),
                )
              ) {
                open(null);
                put("");
                list.again();
              }
            }}
          >
            <div class="form">
              <Field label="Group" wide>
                <Text value={n} onText={call} readOnly={!!add} required />
              </Field>
              <Field label="URL" wide>
                <Text value={url} onText={put} required />
              </Field>
              <Field label="Name of the endpoint" help="May be empty" wide>
                <Text value={label} onText={named} />
              </Field>
            </div>
            <footer>
              <Button onClick={() => open(null)}>Cancel</Button>
              <Button type="submit" kind="main">
                Write
              </Button>
            </footer>
          </form>
        </Dialog>
      )}
    </Page>
  );
}

// Signing keys.

const unb64 = (s: string) => Uint8Array.from(atob(s.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const b64url = (u: ArrayBuffer) =>
  btoa(String.fromCharCode(...new Uint8Array(u)))
    .replace(/\+/g, "-")
    .replace(/\//g, "_");
const strip = (s: string) => s.replace(/=+$/, "");

type Claims = { iss: string; sub: string; nbf: number; exp: number; body?: string };

/** verify says why a signature fails, step by step. */
async function verify(
  token: string,
  body: string,
  keys: { current: string; next: string },
  url: string,
): Promise<[boolean, string][]> {
  const parts = token
      .trim()
      .replace(/^.*:\s*/, "")
      .split("."),
    out: [boolean, string][] = [];
  if (parts.length !== 3)
    return [
      [
        false,
        "This is no signature: it has three parts with dots between them. Is it the header Upstash-Signature, whole?",
      ],
    ];
  let head: { alg: string }, claims: Claims;
  try {
    head = JSON.parse(new TextDecoder().decode(unb64(parts[0])));
    claims = JSON.parse(new TextDecoder().decode(unb64(parts[1])));
  } catch {
    return [[false, "Its parts can't be decoded: a proxy may have changed the header."]];
  }
  out.push([head.alg === "HS256", `algorithm ${head.alg}`]);
  let signed = "";
  for (const [label, key] of [
    ["current", keys.current],
    ["next", keys.next],
  ]) {
    const k = await crypto.subtle.importKey(
      "raw",
      new TextEncoder().encode(key),
      { name: "HMAC", hash: "SHA-256" },
      false,
      ["sign"],
    );
    if (
      strip(b64url(await crypto.subtle.sign("HMAC", k, new TextEncoder().encode(`${parts[0]}.${parts[1]}`)))) ===
      strip(parts[2])
    )
      signed = label;
  }
  out.push([
    !!signed,
    signed
      ? `signed with the ${signed} key`
      : "signed with neither of the two keys: the app has keys of another cluster, or of before a rotation",
  ]);
  const now = Date.now() / 1000;
  out.push([claims.iss === "Upstash", `issuer ${claims.iss}`]);
  out.push([
    claims.nbf <= now + 5,
    claims.nbf <= now + 5
      ? "valid already"
      : `valid from ${new Date(claims.nbf * 1000).toISOString()} on: the app's clock is slow`,
  ]);
  out.push([
    claims.exp > now,
    claims.exp > now
      ? "not expired"
      : `expired at ${new Date(claims.exp * 1000).toISOString()}: ` +
        "expected of an old request; otherwise the app's clock is fast",
  ]);
  if (url)
    out.push([
      claims.sub === url,
      claims.sub === url
        ? "made for this URL"
        : `made for ${claims.sub}, not for ${url}: a proxy changes the host, the scheme or the path`,
    ]);
  else out.push([true, `made for ${claims.sub}`]);
  const sum = strip(b64url(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(body))));
  out.push([
    sum === strip(claims.body ?? ""),
    sum === strip(claims.body ?? "")
      ? "the body is the one that was signed"
      : "the body is not the one that was signed: verify the raw bytes, before anything parses them",
  ]);
  return out;
}

export function SigningKeys() {
  const keys = useLoad<{ current: string; next: string }>((poll) => json("/v2/keys", { poll }), []);
  const [shown, show] = useState(false),
    [token, put] = useState(""),
    [body, write] = useState(""),
    [url, at] = useState(""),
    [found, say] = useState<[boolean, string][]>([]);
  const mask = (k: string) => (shown ? k : `${k.slice(0, 7)}…`);
  return (
    <Page
      title="Signing keys"
      sub="With these, apps know that a request comes from here"
      acts={
        mayWrite() &&
        keys.data && (
          <Button
            class="bad"
            onClick={() =>
              sure({
                title: "Rotate the signing keys",
                name: "rotate",
                verb: "Rotate",
                done: "Rotated",
                text: (
                  <p>
                    The next key becomes the current one, and a new next key is drawn. Apps that know only the current
                    key refuse requests from now on: they need both.
                  </p>
                ),
                go: () => json("/v2/keys/rotate", { method: "POST" }).then(keys.again),
              })
            }
          >
            Rotate
          </Button>
        )
      }
    >
      <Loaded of={keys}>
        {(k) => (
          <>
            <Card
              title="Keys"
              acts={
                <Button kind="quiet" onClick={() => show(!shown)}>
                  {shown ? "Hide" : "Show"}
                </Button>
              }
            >
              {(["current", "next"] as const).map((n) => (
                <div key={n} class="node">
                  <b>{n}</b>
                  <span class="mono">{mask(k[n])}</span>
                  <span class="push">
                    <Copy text={k[n]} />
                  </span>
                </div>
              ))}
            </Card>
            <Card title="Why does my signature fail?">
              <form
                onSubmit={async (e) => {
                  e.preventDefault();
                  say(await verify(token, body, k, url));
                }}
              >
                <div class="form">
                  <Field label="The header Upstash-Signature as your app got it" wide>
                    <Area value={token} onText={put} rows={3} required />
                  </Field>
                  <Field label="The body as your app got it" wide>
                    <Area value={body} onText={write} rows={4} />
                  </Field>
                  <Field label="The URL that your app verifies against" help="Empty: not compared" wide>
                    <Text value={url} onText={at} />
                  </Field>
                  <div class="acts">
                    <Button type="submit" kind="main">
                      Check
                    </Button>
                    <span class="dim">It is checked in this page and sent nowhere.</span>
                  </div>
                </div>
              </form>
              {found.length > 0 && (
                <div role="status">
                  <br />
                  {found.map(([ok, text], i) => (
                    <div key={i} class="node">
                      <Badge tone={ok ? "good" : "bad"}>{ok ? "ok" : "fails"}</Badge>
                      {plain(text)}
                    </div>
                  ))}
                </div>
              )}
            </Card>
          </>
        )}
      </Loaded>
    </Page>
  );
}
