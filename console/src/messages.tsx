import { useEffect, useState } from "preact/hooks";
import { json, plain, raw, who } from "./api";
import { figure, msSpan, msStamp, things } from "./format";
import { go, query } from "./router";
import {
  A,
  Ago,
  Area,
  act,
  Badge,
  Body,
  Button,
  Card,
  Choose,
  Copy,
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

export type Event = {
  time: number;
  messageId: string;
  state: string;
  url: string;
  method: string;
  header?: Record<string, string[]>;
  body?: string;
  topicName?: string;
  queueName?: string;
  scheduleId?: string;
  api?: string;
  nextDeliveryTime?: number;
  error?: string;
  responseStatus?: number;
  responseBody?: string;
  responseHeaders?: Record<string, string[]>;
  maxRetries: number;
  label?: string;
  labels?: string[];
  flowControlKey?: string;
  parallelism?: number;
  rate?: number;
  period?: number;
  timeout?: number;
  callback?: string;
  failureCallback?: string;
  retryDelayExpression?: string;
  callerIP?: string;
};
/** Explanation says why a message or a run waits. */
export type Explanation = { reason: string; text: string; next?: number };
/** Kept is a message that is not delivered yet, and so far has no event. */
type Kept = Event & { bodyBase64?: string; explain?: Explanation };
export const tone = (s: string) =>
  /DELIVERED|SUCCESS/.test(s)
    ? "good"
    : /FAILED|ERROR/.test(s)
      ? "bad"
      : /RETRY|CANCEL|FAILING/.test(s)
        ? "warn"
        : "info";
export const states = ["CREATED", "ACTIVE", "RETRY", "ERROR", "IN_PROGRESS", "DELIVERED", "FAILED", "CANCELED"];
export const mayWrite = () => who.value?.messages === "all";
export const text64 = (b?: string) => {
  if (!b) return "";
  try {
    const s = atob(b);
    return new TextDecoder().decode(Uint8Array.from(s, (c) => c.charCodeAt(0)));
  } catch {
    return b;
  }
};

const filters: [string, string, string?][] = [
  ["messageId", "Message id"],
  ["url", "URL"],
  ["host", "Host"],
  ["label", "Label"],
  ["queueName", "Queue"],
  ["topicName", "URL group"],
  ["scheduleId", "Schedule"],
  ["flowControlKey", "Flow-control key"],
  ["callerIp", "Caller's address"],
];

/** Filters edits the filters that stand in the URL. */
export function Filters({
  of,
  stateNames,
  at,
}: {
  of: [string, string, string?][];
  stateNames?: string[];
  at: string;
}) {
  const q = query.value;
  const now = () =>
    Object.fromEntries(
      [...q].filter(([n]) => of.some(([f]) => f === n) || n === "state" || n === "fromDate" || n === "toDate"),
    );
  const [form, put] = useState<Record<string, string>>(now());
  const [all, open] = useState(Object.keys(now()).some((n) => !["state", of[0][0], of[1][0], of[2]?.[0]].includes(n)));
  useEffect(() => put(now()), [q]);
  const set = (n: string) => (t: string) => put((f) => ({ ...f, [n]: t }));
  const local = (ms?: string) =>
    ms ? new Date(Number(ms) - new Date().getTimezoneOffset() * 60000).toISOString().slice(0, 16) : "";
  return (
    <form
      class="filters"
      onSubmit={(e) => {
        e.preventDefault();
        go(at, form);
      }}
    >
      {stateNames && (
        <Field label="State">
          <Choose
            value={form.state ?? ""}
            of={[["", "Every state"], ...stateNames.map((s) => [s, s] as [string, string])]}
            onText={(t) => {
              set("state")(t);
              go(at, { ...form, state: t });
            }}
          />
        </Field>
      )}
      {of.slice(0, all ? 99 : 3).map(([n, label]) => (
        <Field key={n} label={label}>
          <Text value={form[n] ?? ""} onText={set(n)} />
        </Field>
      ))}
      {all &&
        ["fromDate", "toDate"].map((n) => (
          <Field key={n} label={n === "fromDate" ? "From" : "To"}>
            <input
              type="datetime-local"
              value={local(form[n])}
              onInput={(e) => set(n)(e.currentTarget.value ? String(new Date(e.currentTarget.value).getTime()) : "")}
            />
          </Field>
        ))}
      <Button type="submit">Find</Button>
      {of.length > 3 && (
        <Button kind="quiet" onClick={() => open(!all)}>
          {all ? "Fewer filters" : "More filters"}
        </Button>
      )}
      {[...q].length > 0 && (
        <Button kind="quiet" onClick={() => go(at)}>
          Clear
        </Button>
      )}
    </form>
  );
}
export const chosen = (names: string[]) => {
  const p = new URLSearchParams();
  for (const [n, v] of query.value)
    if (v && (names.includes(n) || ["state", "fromDate", "toDate"].includes(n))) p.set(n, v);
  return p;
};

export function Messages() {
  const id = query.value.get("id");
  return id ? <Message id={id} key={id} /> : <List />;
}

function List() {
  const p = chosen(filters.map(([n]) => n)).toString();
  const [publishing, publish] = useState(query.value.has("publish"));
  const [rest, add] = useState<{ events: Event[]; cursor?: string } | null>(null);
  const first = useLoad<{ events: Event[]; cursor?: string }>(
    async (poll) => json(`/v2/events?count=200&${p}`, { poll }),
    [p],
    4000,
  );
  const histogram = useLoad<{ events: Event[] }>(
    async (poll) => json(`/v2/events?count=1000&${p}`, { poll }),
    [p],
    15000,
  );
  useEffect(() => add(null), [p]);
  const cursor = rest ? rest.cursor : first.data?.cursor;
  return (
    <Page
      title="Messages"
      sub="Every event of every message, the newest first"
      acts={
        mayWrite() && (
          <>
            {p && (
              <Button class="bad" onClick={() => cancelMany(p, first.again)}>
                Cancel all that match
              </Button>
            )}
            <Button kind="main" icon="plus" onClick={() => publish(true)}>
              Publish
            </Button>
          </>
        )
      }
    >
      <Filters of={filters} stateNames={states} at="/messages" />
      {histogram.data && histogram.data.events.length > 1 && <Histogram of={histogram.data.events} />}
      <Loaded
        of={first}
        isEmpty={(d) => !d.events.length}
        empty={
          <Card>
            <Empty
              icon="messages"
              title={p ? "No event matches" : "Nothing was published yet"}
              act={
                mayWrite() &&
                !p && (
                  <Button kind="main" onClick={() => publish(true)}>
                    Publish a message
                  </Button>
                )
              }
            >
              {p
                ? "Other filters may find more."
                : "A message is a request that Trireme delivers to a URL, again and again until it is taken."}
            </Empty>
          </Card>
        }
      >
        {(d) => (
          <Card class="flush">
            <Table
              label="Events"
              rows={[...d.events, ...(rest?.events ?? [])]}
              id={(e, i) => e.messageId + e.time + i}
              columns={[
                { name: "When", class: "tight", of: (e) => <Ago at={e.time} /> },
                { name: "State", class: "tight", of: (e) => <Badge tone={tone(e.state)}>{e.state}</Badge> },
                {
                  name: "Destination",
                  class: "main-cell",
                  of: (e) => (
                    <A to="/messages" q={{ id: e.messageId }}>
                      <bdi>{plain(e.url || e.topicName || e.api || "").slice(0, 200)}</bdi>
                    </A>
                  ),
                },
                { name: "Answer", class: "num", of: (e) => e.responseStatus || "–" },
                { name: "Queue", of: (e) => <bdi>{plain(e.queueName ?? "–")}</bdi> },
                { name: "Label", of: (e) => <bdi>{plain(e.labels?.join(", ") ?? e.label ?? "–").slice(0, 80)}</bdi> },
                { name: "Message", of: (e) => <span class="mono dim">{e.messageId}</span> },
              ]}
            />
            {cursor && (
              <div class="tree-foot">
                <Button
                  kind="quiet"
                  onClick={async () => {
                    const more = await json<{ events: Event[]; cursor?: string }>(
                      `/v2/events?count=500&cursor=${encodeURIComponent(cursor)}&${p}`,
                    );
                    add({ events: [...(rest?.events ?? []), ...more.events], cursor: more.cursor });
                  }}
                >
                  Show older ones
                </Button>
              </div>
            )}
          </Card>
        )}
      </Loaded>
      {publishing && (
        <Publish
          close={() => {
            publish(false);
            if (query.value.has("publish")) go("/messages", {}, true);
          }}
          done={first.again}
        />
      )}
    </Page>
  );
}

function Histogram({ of }: { of: Event[] }) {
  const from = Math.min(...of.map((e) => e.time)),
    to = Math.max(...of.map((e) => e.time)),
    n = 60,
    step = Math.max(1, (to - from) / n);
  const bins = Array.from({ length: n }, () => [0, 0]);
  for (const e of of) {
    const b = bins[Math.min(n - 1, Math.floor((e.time - from) / step))];
    b[0]++;
    if (/FAILED|ERROR|RETRY/.test(e.state)) b[1]++;
  }
  const top = Math.max(...bins.map((b) => b[0]));
  return (
    <Card>
      <div
        class="bars"
        role="img"
        aria-label={`${things(of.length, "event")} over time, from ${msStamp(from)} to ${msStamp(to)}`}
      >
        {bins.map((b, i) => (
          <div
            key={i}
            style={{ height: `${(100 * b[0]) / top}%` }}
            title={`${things(b[0], "event")}, ${b[1]} of failures`}
          >
            <i style={{ height: `${b[0] ? (100 * b[1]) / b[0] : 0}%` }} />
          </div>
        ))}
      </div>
      <div class="bars-foot">
        <span>{msStamp(from).slice(0, 19)}</span>
        <span>the newest {things(of.length, "event")}, failures in red</span>
        <span>{msStamp(to).slice(0, 19)}</span>
      </div>
    </Card>
  );
}

async function cancelMany(p: string, done: () => Promise<void>) {
  sure({
    title: "Cancel all messages that match",
    name: "cancel",
    verb: "Cancel messages",
    done: "Canceled",
    text: (
      <>
        <p>
          Messages that are not delivered yet and match these filters are canceled. Attempts under way may still arrive.
        </p>
        <p class="mono">{decodeURIComponent(p)}</p>
      </>
    ),
    go: async () => {
      const q = new URLSearchParams(p);
      q.delete("state");
      await json(`/v2/messages?${q}`, { method: "DELETE" });
      await done();
    },
  });
}

export function curl(method: string, path: string, headers: Record<string, string>, body: string): string {
  const quote = (s: string) => `'${s.replace(/'/g, "'\\''")}'`;
  return [
    `curl -X ${method} ${quote(location.origin + path)}`,
    `-H "Authorization: Bearer $QSTASH_TOKEN"`,
    ...Object.entries(headers).map(([n, v]) => `-H ${quote(`${n}: ${v}`)}`),
    ...(body ? [`--data-raw ${quote(body)}`] : []),
  ].join(" \\\n  ");
}

function asForm(e: Event): Form {
  return {
    to: e.url || e.topicName || "",
    method: e.method || "POST",
    body: text64(e.body),
    queue: e.queueName ?? "",
    delay: "",
    retries: String(e.maxRetries ?? ""),
    label: e.label ?? "",
    flow: e.flowControlKey ?? "",
    flowValue: [
      e.parallelism && `parallelism=${e.parallelism}`,
      e.rate && `rate=${e.rate}`,
      e.period && `period=${e.period}s`,
    ]
      .filter(Boolean)
      .join(", "),
    callback: e.callback ?? "",
    failureCallback: e.failureCallback ?? "",
    headers: Object.entries(e.header ?? {})
      .filter(([n]) => !/^(upstash-|svc-|content-length|user-agent)/i.test(n))
      .flatMap(([n, v]) => v.map((x) => `${n}: ${x}`))
      .join("\n"),
  };
}
type Form = {
  to: string;
  method: string;
  body: string;
  queue: string;
  delay: string;
  retries: string;
  label: string;
  flow: string;
  flowValue: string;
  callback: string;
  failureCallback: string;
  headers: string;
};
const blank: Form = {
  to: "",
  method: "POST",
  body: "",
  queue: "",
  delay: "",
  retries: "",
  label: "",
  flow: "",
  flowValue: "",
  callback: "",
  failureCallback: "",
  headers: "Content-Type: application/json",
};

export function Publish({
  close,
  done,
  from,
  title = "Publish a message",
}: {
  close: () => void;
  done: (id?: string) => void;
  from?: Event;
  title?: string;
}) {
  const [f, put] = useState<Form>(from ? asForm(from) : blank);
  const set = (n: keyof Form) => (t: string) => put((was) => ({ ...was, [n]: t }));
  const request = () => {
    const headers: Record<string, string> = {};
    for (const [n, v] of [
      ["Svc-Method", f.method === "POST" ? "" : f.method],
      ["Svc-Delay", f.delay],
      ["Svc-Retries", f.retries],
      ["Svc-Label", f.label],
      ["Svc-Flow-Control-Key", f.flow],
      ["Svc-Flow-Control-Value", f.flowValue],
      ["Svc-Callback", f.callback],
      ["Svc-Failure-Callback", f.failureCallback],
    ])
      if (v) headers[n] = v;
    for (const line of f.headers.split("\n")) {
      const i = line.indexOf(":");
      if (i < 1) continue;
      const n = line.slice(0, i).trim();
      headers[/^content-type$/i.test(n) ? "Content-Type" : `Svc-Forward-${n}`] = line.slice(i + 1).trim();
    }
    return { path: f.queue ? `/v2/enqueue/${encodeURIComponent(f.queue)}/${f.to}` : `/v2/publish/${f.to}`, headers };
  };
  return (
    <Dialog title={title} close={close} wide>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          const { path, headers } = request();
          let id: string | undefined;
          if (
            await act("Published", async () => {
              const r = await (await raw(path, { method: "POST", headers, body: f.body || undefined })).json();
              id = (Array.isArray(r) ? r[0] : r)?.messageId;
            })
          ) {
            close();
            done(id);
            if (id) go("/messages", { id });
          }
        }}
      >
        <div class="form">
          <Field label="Destination" help="A URL, or the name of a URL group" wide>
            <Text value={f.to} onText={set("to")} required placeholder="https://example.com/hook" autoFocus />
          </Field>
          <Field label="Method">
            <Choose value={f.method} of={["POST", "GET", "PUT", "PATCH", "DELETE"]} onText={set("method")} />
          </Field>
          <Field label="Queue" help="Empty: none">
            <Text value={f.queue} onText={set("queue")} />
          </Field>
          <Field label="Delay" help="10s, 5m, 2h">
            <Text value={f.delay} onText={set("delay")} />
          </Field>
          <Field label="Retries">
            <Text type="number" min="0" value={f.retries} onText={set("retries")} placeholder="3" />
          </Field>
          <Field label="Label">
            <Text value={f.label} onText={set("label")} />
          </Field>
          <Field label="Flow-control key">
            <Text value={f.flow} onText={set("flow")} />
          </Field>
          <Field label="Flow-control value">
            <Text value={f.flowValue} onText={set("flowValue")} placeholder="parallelism=2, rate=10, period=1m" />
          </Field>
          <Field label="Callback URL">
            <Text value={f.callback} onText={set("callback")} />
          </Field>
          <Field label="Failure callback URL">
            <Text value={f.failureCallback} onText={set("failureCallback")} />
          </Field>
          <Field label="Headers for the destination, one a line" wide>
            <Area value={f.headers} onText={set("headers")} rows={3} />
          </Field>
          <Field label="Body" wide>
            <Area value={f.body} onText={set("body")} rows={6} />
          </Field>
        </div>
        <footer>
          <Copy
            label="Copy as curl"
            text={() => {
              const { path, headers } = request();
              return curl("POST", path, headers, f.body);
            }}
          />
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="main">
            Publish
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

// runNow delivers a message at once that waits for its time. The server says which do.
export const runNow = (id: string) =>
  act("It is delivered now", () => raw(`/v2/messages/${encodeURIComponent(id)}/retry`, { method: "POST" }));

function Message({ id }: { id: string }) {
  const [again, republish] = useState(false);
  const view = useLoad(
    async (poll) => {
      const events = (
        await json<{ events: Event[] }>(
          `/v2/events?count=1000&order=earliestFirst&messageId=${encodeURIComponent(id)}`,
          { poll },
        )
      ).events;
      const over = events.some((e) => /DELIVERED|FAILED|CANCELED/.test(e.state));
      const message =
        over || !events.length
          ? null
          : await json<Kept>(`/v2/messages/${encodeURIComponent(id)}?explain=true`, { poll }).catch(() => null);
      return { events: [...events].sort((a, b) => a.time - b.time), message };
    },
    [id],
    2000,
  );
  return (
    <Loaded
      of={view}
      isEmpty={(d) => !d.events.length && !d.message}
      empty={
        <Page title="Message">
          <Card>
            <Empty
              icon="messages"
              title="There is no such message"
              act={
                <A to="/messages" class="button">
                  All messages
                </A>
              }
            >
              {id} was never published here, or is kept no longer.
            </Empty>
          </Card>
        </Page>
      }
    >
      {({ events, message }) => {
        const last: Event | undefined = events[events.length - 1],
          e = last ?? message,
          why = message?.explain;
        if (!e) return null;
        const body = last ? text64(last.body) : (e.body ?? text64(message?.bodyBase64));
        return (
          <Page
            title="Message"
            sub={
              <>
                <A to="/messages">Messages</A> / <span class="mono">{id}</span>
              </>
            }
            acts={
              mayWrite() && (
                <>
                  <Copy
                    label="Copy as curl"
                    text={() => {
                      const f = asForm(e);
                      return curl(
                        "POST",
                        `/v2/publish/${f.to}`,
                        Object.fromEntries(
                          f.headers
                            .split("\n")
                            .filter(Boolean)
                            .map((l) => [`Svc-Forward-${l.split(":")[0]}`, l.slice(l.indexOf(":") + 1).trim()]),
                        ),
                        f.body,
                      );
                    }}
                  />
                  <Button onClick={() => republish(true)}>Edit and republish</Button>
                  {/^(delay|backoff)$/.test(why?.reason ?? "") && !e.queueName && (
                    <Button onClick={() => runNow(id).then(view.again)}>Run now</Button>
                  )}
                  {message && (
                    <Button
                      class="bad"
                      onClick={() =>
                        sure({
                          title: "Cancel this message",
                          text: <p>It will not be delivered. An attempt under way may still arrive at {e.url}.</p>,
                          verb: "Cancel it",
                          done: "Canceled",
                          go: () =>
                            json(`/v2/messages/${encodeURIComponent(id)}`, { method: "DELETE" }).then(view.again),
                        })
                      }
                    >
                      Cancel
                    </Button>
                  )}
                </>
              )
            }
          >
            {why && (
              <Note kind={why.reason === "retrying" || /pause|wait|flow|queue/.test(why.reason) ? "warn" : "info"}>
                <b>Why it waits</b>: {plain(why.text)}
                {why.next && (
                  <>
                    {" "}
                    Next attempt: <Ago at={why.next} />.
                  </>
                )}
              </Note>
            )}
            <Card>
              <Facts
                of={[
                  ["State", <Badge tone={tone(last?.state ?? "CREATED")}>{last?.state ?? "CREATED"}</Badge>],
                  ["Destination", <bdi>{plain(e.url ?? "")}</bdi>],
                  ["Method", e.method],
                  [
                    "Queue",
                    e.queueName && (
                      <A to="/queues">
                        <bdi>{plain(e.queueName)}</bdi>
                      </A>
                    ),
                  ],
                  ["URL group", e.topicName],
                  ["Schedule", e.scheduleId && <A to="/schedules">{e.scheduleId}</A>],
                  ["Labels", e.labels?.join(", ") ?? e.label],
                  [
                    "Flow-control key",
                    e.flowControlKey && (
                      <A to="/flow" q={{ search: e.flowControlKey }}>
                        <bdi>{plain(e.flowControlKey)}</bdi>
                      </A>
                    ),
                  ],
                  ["Retries", String(e.maxRetries)],
                  ["Timeout", e.timeout ? figure("/v2/events", "timeout", e.timeout) : ""],
                  ["Callback", e.callback],
                  ["Failure callback", e.failureCallback],
                  ["Called by", e.callerIP],
                ]}
              />
            </Card>
            <div class="two">
              <Card title="Timeline">
                <ol class="timeline">
                  {events.map((x, i) => (
                    <li key={i} class={tone(x.state)}>
                      <header>
                        <b>{x.state}</b>
                        <span class="dim">{figure("/v2/events", "time", x.time)}</span>
                        {i > 0 && <span class="dim">+{msSpan(x.time - events[i - 1].time)}</span>}
                        {!!x.responseStatus && (
                          <Badge tone={x.responseStatus < 300 ? "good" : "bad"}>{x.responseStatus}</Badge>
                        )}
                      </header>
                      {x.error && (
                        <div>
                          <bdi>{plain(x.error).slice(0, 2000)}</bdi>
                        </div>
                      )}
                      {!!x.nextDeliveryTime && x.state !== "DELIVERED" && (
                        <div class="dim">
                          next attempt at {figure("/v2/events", "nextDeliveryTime", x.nextDeliveryTime)}
                        </div>
                      )}
                      {(x.responseBody || x.responseHeaders) && (
                        <details>
                          <summary>Answer</summary>
                          <Headers of={x.responseHeaders} />
                          <Body label="Answer" text={text64(x.responseBody)} />
                        </details>
                      )}
                    </li>
                  ))}
                </ol>
              </Card>
              <div>
                <Card title="Request">
                  <h3>Headers</h3>
                  <Headers of={e.header} />
                  <br />
                  <h3>Body</h3>
                  <Body label="Body of the request" text={body} />
                </Card>
              </div>
            </div>
            {again && (
              <Publish
                title="Edit and republish"
                from={
                  last ?? {
                    ...e,
                    body: message?.bodyBase64 ?? btoa(String.fromCharCode(...new TextEncoder().encode(e.body ?? ""))),
                  }
                }
                close={() => republish(false)}
                done={() => {}}
              />
            )}
          </Page>
        );
      }}
    </Loaded>
  );
}
