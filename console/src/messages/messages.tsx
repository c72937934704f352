// The view of all messages.
import { useEffect, useState } from "preact/hooks";
import { json } from "../api";
import { go, query } from "../router";
import type { Messages as Schemas } from "../schemas";
import { Button } from "../ui/controls";
import { First } from "../ui/first";
import { A, Card, Empty, Page, Tabs } from "../ui/layout";
import { type Load, Loaded, useLoad } from "../ui/load";
import { cancelMany } from "./cancel";
import { type Event, mayWrite, states, timed } from "./event";
import { chosen, Filters } from "./filters";
import { Histogram } from "./histogram";
import { Message } from "./message";
import type { Standing } from "./now";
import { Publish } from "./publish";
import { ReachOf } from "./reach";
import { EventRows, MessageRows } from "./rows";
import { useTally } from "./tally";

const filters: [string, string, string?][] = [
  ["url", "URL"],
  ["label", "Label"],
  ["host", "Host"],
  ["messageId", "Message id"],
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

/** Rows is a page of messages as they are now, or of events. */
type Rows = { messages: Standing[]; events: Event[]; cursor?: string };

type Read = { messages: Standing[]; events: Schemas["Event"][]; cursor?: string };

const read = async (p: string, events: boolean, count: number, poll = false): Promise<Rows> => {
  const page = await json<Partial<Read>>(`/v2/events?count=${count}&${events ? "" : "groupBy=message&"}${p}`, { poll });
  return { messages: page.messages ?? [], events: (page.events ?? []).map(timed), cursor: page.cursor };
};

function List() {
  const p = chosen(filters.map(([n]) => n)).toString(),
    events = query.value.get("show") === "events";
  const [publishing, publish] = useState(query.value.has("publish"));
  const first = useLoad((poll) => read(p, events, 100, poll), [p, events], 4000),
    counts = useTally(p);
  return (
    <Page
      title="Messages"
      sub={events ? "Everything that happened to messages, the latest first" : "The latest activity first"}
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
      <Tabs
        of={[
          ["", "Messages"],
          ["events", "Events"],
        ]}
        now={events ? "events" : ""}
        to={(show) => ({ ...Object.fromEntries(new URLSearchParams(p)), show })}
      />
      <Filters of={filters} stateNames={states} at="/messages" keep={["show"]} />
      <ReachOf kind="events" />
      <Histogram of={counts.data} />
      <Listed of={first} p={p} events={events} publish={() => publish(true)} />
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

/** Listed is the list, which grows by older pages. */
function Listed({ of, p, events, publish }: { of: Load<Rows>; p: string; events: boolean; publish: () => void }) {
  const [older, add] = useState<Rows | null>(null);
  useEffect(() => add(null), [p, events]);
  const cursor = older ? older.cursor : of.data?.cursor,
    newer = new Set(of.data?.messages.map((m) => m.messageId));
  const more = async () => {
    const page = await read(`${p}&cursor=${encodeURIComponent(cursor ?? "")}`, events, 500);
    add({
      messages: [...(older?.messages ?? []), ...page.messages],
      events: [...(older?.events ?? []), ...page.events],
      cursor: page.cursor,
    });
  };
  return (
    <Loaded
      of={of}
      isEmpty={(d) => !d.messages.length && !d.events.length && !d.cursor}
      empty={<None filtered={!!p} publish={publish} />}
    >
      {(d) => (
        <Card class="flush">
          {events ? (
            <EventRows rows={[...d.events, ...(older?.events ?? [])]} />
          ) : (
            <MessageRows
              rows={[...d.messages, ...(older?.messages ?? []).filter((m) => !newer.has(m.messageId))]}
              again={of.again}
            />
          )}
          {cursor && (
            <div class="tree-foot">
              <Button kind="quiet" onClick={more}>
                Show older
              </Button>
            </div>
          )}
        </Card>
      )}
    </Loaded>
  );
}

const None = ({ filtered, publish }: { filtered: boolean; publish: () => void }) =>
  filtered ? (
    <Card>
      <Empty
        icon="messages"
        title="No message matches"
        act={
          <A to="/messages" class="button">
            All messages
          </A>
        }
      >
        Other filters may find more.
      </Empty>
    </Card>
  ) : (
    <First
      icon="messages"
      title="No messages yet"
      act={
        mayWrite() && (
          <Button kind="main" onClick={publish}>
            Publish a message
          </Button>
        )
      }
      shell={"trireme messages publish https://example.com/orders '{\"item\":17}'"}
      service="Messages"
    >
      A message is a request that Trireme delivers to a URL, again and again until it is taken.
    </First>
  );
