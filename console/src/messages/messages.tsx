// The view of the events of all messages.
import { useEffect, useState } from "preact/hooks";
import { json, plain } from "../api";
import { msStamp, things } from "../format";
import { go, query } from "../router";
import { Button } from "../ui/controls";
import { sure } from "../ui/dialogs";
import { A, Badge, Card, Empty, Page, Table } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Ago } from "../ui/time";
import { type Event, mayWrite, states, tone } from "./event";
import { chosen, Filters } from "./filters";
import { Message } from "./message";
import { Publish } from "./publish";
import { ReachOf } from "./reach";

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
      <ReachOf kind="events" />
      {histogram.data && histogram.data.events.length > 1 && <Histogram of={histogram.data.events} />}
      <Loaded
        of={first}
        isEmpty={(d) => !d.events.length}
        empty={
          <Card>
            <Empty
              icon="messages"
              title={p ? "No event matches" : "No messages yet"}
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
                  Show older
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
