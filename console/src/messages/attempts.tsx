// The attempts of a message and its callbacks on a line of time, and the one that is selected.
import { useMemo } from "preact/hooks";
import { figure, msSpan } from "../format";
import { query, set } from "../router";
import { IconButton } from "../ui/controls";
import { A, Badge, Facts } from "../ui/layout";
import { Url } from "../ui/text";
import { Ago } from "../ui/time";
import { type Attempt, attempts, messageBounds, messageRows } from "../waterfall/message";
import { useNow } from "../waterfall/tick";
import { Waterfall } from "../waterfall/waterfall";
import type { Course } from "./course";
import { Timeline } from "./timeline";

type Props = { of: Course; live: boolean };

export function Attempts({ of, live }: Props) {
  const { events, callbacks } = of,
    time = useNow(live, 0),
    now = Math.max(time, ...events.map((e) => e.time));
  const rows = useMemo(() => messageRows(events, callbacks, events[0]?.failureCallback), [of]),
    tries = useMemo(() => attempts(events), [of]);
  const asked = query.value.get("attempt"),
    last = tries.length ? `attempt ${tries.length}` : undefined,
    picked = asked ?? last,
    pick = (what: string | undefined) => set({ attempt: what ?? "none" }, true);
  const at = tries.findIndex((_, i) => `attempt ${i + 1}` === picked),
    callback = callbacks.find((c) => c[0].messageId === picked),
    close = () => pick(undefined);
  return (
    <Waterfall
      label="Attempts of the message"
      rows={rows}
      bounds={messageBounds(events, callbacks, now)}
      now={now}
      picked={picked}
      pick={pick}
    >
      {at >= 0 ? (
        <One n={at + 1} of={tries[at]} course={of} close={close} />
      ) : (
        callback && <Callback of={callback} close={close} />
      )}
    </Waterfall>
  );
}

function One({ n, of: a, course, close }: { n: number; of: Attempt; course: Course; close: () => void }) {
  const events = a.events.map((i) => course.events[i]),
    began = a.began ?? a.due;
  return (
    <>
      <header class="panel-head">
        <h3>Attempt {n}</h3>
        {a.over === undefined ? (
          <Badge tone="info">running</Badge>
        ) : (
          <Badge tone={a.failed ? "bad" : "good"}>{a.status || (a.failed ? "no answer" : "delivered")}</Badge>
        )}
        <span class="push" />
        <IconButton icon="close" label="Close the attempt" onClick={close} />
      </header>
      <Facts
        of={[
          ["Due", figure("/v2/events", "time", a.due)],
          ["Waited to be sent", began > a.due ? msSpan(began - a.due) : ""],
          ["Sent", figure("/v2/events", "time", began)],
          ["Took", a.over === undefined ? "" : msSpan(a.over - began)],
          ["Next attempt", a.next === undefined ? "" : <Ago at={a.next} />],
        ]}
      />
      <Timeline of={events} />
    </>
  );
}

function Callback({ of: events, close }: { of: Course["callbacks"][number]; close: () => void }) {
  const last = events[events.length - 1];
  return (
    <>
      <header class="panel-head">
        <h3>Callback</h3>
        <Badge>{last.state.toLowerCase()}</Badge>
        <span class="push" />
        <IconButton icon="close" label="Close the callback" onClick={close} />
      </header>
      <Facts
        of={[
          ["Destination", <Url of={last.url} />],
          [
            "Message",
            <A to="/messages" q={{ id: last.messageId }}>
              {last.messageId}
            </A>,
          ],
        ]}
      />
      <Timeline of={events} />
    </>
  );
}
