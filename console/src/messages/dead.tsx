// Dead letters of messages and of runs.
import { useState } from "preact/hooks";
import { json, plain } from "../api";
import { count, figure, things } from "../format";
import { go, query } from "../router";
import { Button } from "../ui/controls";
import { sure } from "../ui/dialogs";
import { A, Badge, Card, Empty, Facts, Page, Table, Tabs } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Body, Headers, Url } from "../ui/text";
import { Ago } from "../ui/time";
import { act, toast } from "../ui/toasts";
import { Causes } from "./causes";
import { type Event, mayWrite, text64 } from "./event";
import { chosen, Filters } from "./filters";
import { Publish } from "./publish";

type DeadLetter = Event & {
  dlqId: string;
  createdAt: number;
  workflowUrl?: string;
  workflowRunId?: string;
  bodyBase64?: string;
  responseHeader?: Record<string, string[]>;
  responseBodyBase64?: string;
};
type Letters = { messages: DeadLetter[]; cursor?: string };

const filters: [string, string][] = [
  ["url", "URL"],
  ["label", "Label"],
  ["responseStatus", "Status of the answer"],
  ["queueName", "Queue"],
  ["topicName", "URL group"],
  ["scheduleId", "Schedule"],
  ["flowControlKey", "Flow-control key"],
  ["messageId", "Message id"],
];

export function DeadLetters() {
  const runs = query.value.get("of") === "runs",
    id = query.value.get("id");
  const root = runs ? "/v2/workflows/dlq" : "/v2/dlq";
  const names = filters.map(([n]) => n),
    p = chosen(runs ? names.filter((n) => !["queueName", "topicName", "scheduleId"].includes(n)) : names).toString();
  const [rest, add] = useState<Letters | null>(null);
  const [picked, pick] = useState<Set<string>>(new Set());
  const [progress, say] = useState<{ done: number; of: number; what: string } | null>(null);
  const first = useLoad<Letters>(
    async (poll) => {
      if (!poll) add(null);
      return json(`${root}?count=100&${p}`, { poll });
    },
    [root, p],
    6000,
  );
  if (id) return <Letter root={root} id={id} runs={runs} />;
  const rows = [...(first.data?.messages ?? []), ...(rest?.messages ?? [])],
    cursor = rest ? rest.cursor : first.data?.cursor;
  const verb = runs ? "Resume" : "Retry";

  /** many counts what matches, asks, and then goes on page by page. */
  const many = async (what: "retry" | "delete" | "restart") => {
    let all = picked.size;
    const ids = [...picked];
    if (!all) {
      let at = "";
      try {
        do {
          const r = await json<Letters>(`${root}?count=100&${p}${at && `&cursor=${encodeURIComponent(at)}`}`);
          ids.push(...r.messages.map((m) => m.dlqId));
          at = r.cursor ?? "";
        } while (at);
      } catch (e) {
        return toast((e as Error).message, "bad");
      }
      all = ids.length;
    }
    if (!all) return toast("Nothing matches", "bad");
    const word = what === "delete" ? "Delete" : what === "restart" ? "Restart" : verb;
    sure({
      title: `${word} ${things(all, "dead letter")}`,
      name: String(all),
      verb: `${word} ${count(all)}`,
      done: `${word}: ${count(all)} done`,
      text: (
        <p>
          {what === "delete"
            ? "They are deleted for good: nothing of them can be sent again."
            : runs
              ? "Each becomes a new run."
              : "Each is published anew, with all of its attempts, and leaves the dead letters."}
        </p>
      ),
      go: async () => {
        try {
          for (let i = 0; i < ids.length; i += 50) {
            say({ done: i, of: all, what: word });
            const q = ids
              .slice(i, i + 50)
              .map((x) => `dlqIds=${encodeURIComponent(x)}`)
              .join("&");
            await json(
              what === "delete"
                ? `${root}?${q}`
                : `${root}/${runs ? (what === "restart" ? "restart" : "resume") : "retry"}?${q}`,
              { method: what === "delete" ? "DELETE" : "POST" },
            );
          }
        } finally {
          say(null);
          pick(new Set());
          await first.again();
        }
      },
    });
  };
  return (
    <Page
      title="Dead letters"
      sub="What could not be delivered, with its last answer"
      acts={
        mayWrite() &&
        rows.length > 0 && (
          <>
            <Button onClick={() => many("retry")}>
              {verb} {picked.size || "all that match"}
            </Button>
            {runs && <Button onClick={() => many("restart")}>Restart {picked.size || "all that match"}</Button>}
            <Button class="bad" onClick={() => many("delete")}>
              Delete {picked.size || "all that match"}
            </Button>
          </>
        )
      }
    >
      <Tabs
        now={runs ? "runs" : "messages"}
        to={(n) => (n === "runs" ? { of: "runs" } : {})}
        of={[
          ["messages", "Of messages"],
          ["runs", "Of workflow runs"],
        ]}
      />
      <Filters
        key={root}
        of={runs ? filters.filter(([n]) => !["queueName", "topicName", "scheduleId"].includes(n)) : filters}
        at="/dead"
      />
      <Causes filters={p} root={root} />
      {progress && (
        <Card>
          <b role="status">
            {progress.what}: {count(progress.done)} of {count(progress.of)}
          </b>
          <div class="progress">
            <div style={{ width: `${(100 * progress.done) / progress.of}%` }} />
          </div>
        </Card>
      )}
      <Loaded
        of={first}
        isEmpty={(d) => !d.messages.length}
        empty={
          <Card>
            <Empty icon="dead" title={p ? "No dead letter matches" : "No dead letters"}>
              {p
                ? "Other filters may find some."
                : "What fails with its last attempt is kept here, to be looked at and sent again."}
            </Empty>
          </Card>
        }
      >
        {() => (
          <Card class="flush">
            <Table
              label="Dead letters"
              rows={rows}
              id={(m) => m.dlqId}
              columns={[
                ...(mayWrite()
                  ? [
                      {
                        name: "-Selected",
                        class: "tight",
                        of: (m: DeadLetter) => (
                          <input
                            type="checkbox"
                            aria-label={`Choose ${m.dlqId}`}
                            checked={picked.has(m.dlqId)}
                            onChange={() => {
                              const s = new Set(picked);
                              if (!s.delete(m.dlqId)) s.add(m.dlqId);
                              pick(s);
                            }}
                          />
                        ),
                      },
                    ]
                  : []),
                { name: "Since", class: "tight", of: (m) => <Ago at={m.createdAt} /> },
                {
                  name: "Answer",
                  class: "tight",
                  of: (m) =>
                    m.responseStatus ? <Badge tone="bad">{m.responseStatus}</Badge> : <Badge tone="warn">none</Badge>,
                },
                {
                  name: "Destination",
                  class: "main-cell",
                  of: (m) => (
                    <A to="/dead" q={{ id: m.dlqId, of: runs ? "runs" : undefined }}>
                      <Url of={m.workflowUrl ?? m.url} most={200} />
                    </A>
                  ),
                },
                {
                  name: runs ? "Run" : "Message",
                  of: (m) => <span class="mono dim">{m.workflowRunId ?? m.messageId}</span>,
                },
                { name: "Label", of: (m) => <bdi>{plain(m.labels?.join(", ") ?? m.label ?? "–").slice(0, 80)}</bdi> },
              ]}
            />
            {cursor && (
              <div class="tree-foot">
                <Button
                  kind="quiet"
                  onClick={async () => {
                    const more = await json<Letters>(`${root}?count=100&cursor=${encodeURIComponent(cursor)}&${p}`);
                    add({ messages: [...(rest?.messages ?? []), ...more.messages], cursor: more.cursor });
                  }}
                >
                  Show more
                </Button>
              </div>
            )}
          </Card>
        )}
      </Loaded>
    </Page>
  );
}

function Letter({ root, id, runs }: { root: string; id: string; runs: boolean }) {
  const [edit, open] = useState(false);
  const one = useLoad<DeadLetter>(() => json(`${root}/${encodeURIComponent(id)}`), [id]);
  const back = () => go("/dead", runs ? { of: "runs" } : {});
  return (
    <Page
      title="Dead letter"
      sub={
        <>
          <A to="/dead" q={runs ? { of: "runs" } : {}}>
            Dead letters
          </A>{" "}
          / <span class="mono">{id}</span>
        </>
      }
      acts={
        mayWrite() &&
        one.data && (
          <>
            {runs ? (
              <>
                <Button
                  kind="main"
                  onClick={async () => {
                    if (
                      await act("The run goes on as a new one", () =>
                        json(`${root}/resume/${encodeURIComponent(id)}`, { method: "POST" }),
                      )
                    )
                      back();
                  }}
                >
                  Resume
                </Button>
                <Button
                  onClick={async () => {
                    if (
                      await act("A new run has begun", () =>
                        json(`${root}/restart/${encodeURIComponent(id)}`, { method: "POST" }),
                      )
                    )
                      back();
                  }}
                >
                  Restart
                </Button>
              </>
            ) : (
              <>
                <Button
                  kind="main"
                  onClick={async () => {
                    if (
                      await act("Published anew", () =>
                        json(`${root}/retry/${encodeURIComponent(id)}`, { method: "POST" }),
                      )
                    )
                      back();
                  }}
                >
                  Retry
                </Button>
                <Button onClick={() => open(true)}>Edit and retry</Button>
              </>
            )}
            <Button
              class="bad"
              onClick={() =>
                sure({
                  title: "Delete this dead letter",
                  text: <p>It is deleted for good: it can't be sent again.</p>,
                  verb: "Delete",
                  done: "Deleted",
                  go: () => json(`${root}/${encodeURIComponent(id)}`, { method: "DELETE" }).then(back),
                })
              }
            >
              Delete
            </Button>
          </>
        )
      }
    >
      <Loaded of={one}>
        {(m) => (
          <>
            <Card>
              <Facts
                of={[
                  ["Destination", <Url of={m.url} />],
                  ["Method", m.method],
                  ["Answer", m.responseStatus ? <Badge tone="bad">{m.responseStatus}</Badge> : "none"],
                  ["Created", figure("/v2/dlq", "createdAt", m.createdAt)],
                  [
                    runs ? "Run" : "Message",
                    <A to={runs ? "/runs" : "/messages"} q={{ id: m.workflowRunId ?? m.messageId }}>
                      {m.workflowRunId ?? m.messageId}
                    </A>,
                  ],
                  ["Queue", m.queueName],
                  ["Error", m.error && <bdi>{plain(m.error)}</bdi>],
                  ["Labels", m.labels?.join(", ") ?? m.label],
                ]}
              />
            </Card>
            <div class="two">
              <Card title="Last answer">
                <Headers of={m.responseHeader} />
                <br />
                <Body label="Answer" text={m.responseBody || text64(m.responseBodyBase64)} />
              </Card>
              <Card title="Request">
                <Headers of={m.header} />
                <br />
                <Body label="Body" text={m.body || text64(m.bodyBase64)} />
              </Card>
            </div>
            {edit && (
              <Publish
                title="Edit and retry"
                from={{
                  ...m,
                  body: m.bodyBase64 ?? btoa(String.fromCharCode(...new TextEncoder().encode(m.body ?? ""))),
                }}
                close={() => open(false)}
                done={(sent) => {
                  if (sent)
                    act("The dead letter was replaced by the new message", () =>
                      json(`${root}/${encodeURIComponent(id)}`, { method: "DELETE" }),
                    );
                }}
              />
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}
