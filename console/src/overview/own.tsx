// The overview of credentials that don't administer: what they can reach.
import { database, json, poll, run, signedIn, str } from "../api";
import { count } from "../format";
import type { Event } from "../messages/event";
import { Stat } from "../ui/charts";
import { A, Badge, Card, Empty, Page } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Ago } from "../ui/time";

export function OwnOverview() {
  const me = signedIn();
  const keys = useLoad(async (p) => (me.keyspace ? str(await (p ? poll : run)("DBSIZE")) : ""), [], 5000);
  const events = useLoad<{ events: Event[] }>(
    (p) => (me.messages ? json("/v2/events?count=5", { poll: p }) : Promise.resolve({ events: [] })),
    [],
    10000,
  );
  return (
    <Page title="Overview" sub={`Signed in as ${me.name}`}>
      <div class="stats">
        {me.keyspace && (
          <Stat
            label={`Keys in ${database.value}`}
            value={keys.error ? "–" : count(Number(keys.data ?? 0))}
            sub={keys.error?.message}
            to="/data"
          />
        )}
        {me.keyspace && <Stat label="Command line" value={me.user ?? ""} sub="commands as this user" to="/cli" />}
        {me.messages && (
          <Stat label="Messages" value="Events" sub="what was delivered, and what was not" to="/messages" />
        )}
        {me.messages && <Stat label="Workflows" value="Runs" sub="steps, retries and waits" to="/runs" />}
      </div>
      {me.messages && (
        <Card title="Newest events">
          <Loaded
            of={events}
            isEmpty={(d) => !d.events.length}
            empty={
              <Empty
                icon="messages"
                title="No messages yet"
                act={
                  <A to="/connect" q={{ service: "Messages" }}>
                    Variables and code for an app
                  </A>
                }
              >
                A message is a request that Trireme delivers to a URL, again and again until it is taken.
              </Empty>
            }
          >
            {(d) => (
              <div class="nodes">
                {d.events.map((e, i) => (
                  <div key={i} class="node">
                    <Badge>{e.state}</Badge>
                    <A to="/messages" q={{ id: e.messageId }}>
                      {e.messageId}
                    </A>
                    <span class="dim push">
                      <Ago at={e.time} />
                    </span>
                  </div>
                ))}
              </div>
            )}
          </Loaded>
        </Card>
      )}
    </Page>
  );
}
