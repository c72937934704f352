// What went through a queue, a key, a schedule or a URL group: outcomes, how much was open, the latest messages.
import { useMemo } from "preact/hooks";
import { json } from "../api";
import { count, percent, perSecond } from "../format";
import { query, set } from "../router";
import { Chart, Stat } from "../ui/charts";
import { Button } from "../ui/controls";
import { A, Card } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Histogram } from "./histogram";
import { depths, type Standing, type Sum, sum, type Tally } from "./now";
import { Presets } from "./presets";
import { MessageRows } from "./rows";
import { useTally } from "./tally";

/** few messages are shown here: all of them are a view of their own. */
const few = 20;

/** Traffic shows the messages that a filter chooses. Open is how many of them are not done now, where that is known. */
export function Traffic({ of, open }: { of: Record<string, string>; open?: number }) {
  const from = query.value.get("fromDate"),
    to = query.value.get("toDate"),
    range = { ...(from ? { fromDate: from } : {}), ...(to ? { toDate: to } : {}) };
  const filters = new URLSearchParams({ ...of, ...range }).toString(),
    counts = useTally(filters);
  const latest = useLoad(
    (poll) => json<{ messages: Standing[] }>(`/v2/events?groupBy=message&count=${few}&${filters}`, { poll }),
    [filters],
    4000,
  );
  return (
    <>
      <div class="filters">
        <Presets pick={(fromDate) => set({ fromDate, toDate: undefined })} />
        {(from || to) && (
          <Button kind="quiet" onClick={() => set({ fromDate: undefined, toDate: undefined })}>
            All time
          </Button>
        )}
      </div>
      {counts.data && <Sums of={sum(counts.data)} />}
      <Histogram of={counts.data} />
      {counts.data && !counts.data.cursor && open !== undefined && !to && <Depth of={counts.data} open={open} />}
      <Loaded of={latest} isEmpty={(d) => !d.messages.length} empty={<p class="dim">No messages in this time.</p>}>
        {(d) => (
          <Card class="flush" title="Latest messages" acts={<All of={{ ...of, ...range }} />}>
            <MessageRows rows={d.messages} again={latest.again} />
          </Card>
        )}
      </Loaded>
    </>
  );
}

const All = ({ of }: { of: Record<string, string> }) => (
  <A to="/messages" q={of} class="button quiet">
    All of its messages
  </A>
);

const Sums = ({ of: s }: { of: Sum }) => (
  <div class="stats">
    <Stat label="Delivered" value={count(s.delivered)} sub={perSecond(s.perSecond)} />
    <Stat
      label="Ended well"
      value={s.success === null ? "–" : percent(Math.round(1000 * s.success) / 10)}
      sub="of the messages that ended"
    />
    <Stat
      label="Failed attempts"
      value={count(s.errors)}
      tone={s.errors ? "warn" : ""}
      sub="each is tried again or ends"
    />
    <Stat label="Failed for good" value={count(s.failed)} tone={s.failed ? "bad" : ""} sub="dead letters" to="/dead" />
  </div>
);

/** Depth goes back from how many were open at the time of the counts. */
function Depth({ of, open }: { of: Tally; open: number }) {
  const list = useMemo(() => depths(of, open), [of]);
  return (
    <Card>
      <Chart
        label="Messages that are not done, over time"
        time={list.map((d) => d.time)}
        series={[{ name: "open", data: list.map((d) => d.depth) }]}
        unit={count}
        pick={(from, to) => set({ fromDate: String(from), toDate: String(to) })}
      />
    </Card>
  );
}
