// Rates, latencies and sizes over time.
import { useMemo } from "preact/hooks";
import { go } from "../router";
import { Chart } from "../ui/charts";
import { Card, Empty, Note } from "../ui/layout";
import { type History, type Series, shown } from "./cluster";

/** Missing names the nodes of which nothing is known. */
export const Missing = ({ of: h }: { of: History }) =>
  h.missing.length > 0 ? (
    <Note kind="warn">
      Rates, latencies, memory and disk are of {h.nodes.join(", ")} alone.{" "}
      {h.missing.map((m) => (
        <div key={m.node}>
          <b>{m.node}</b> is missing: {m.why}
        </div>
      ))}
    </Note>
  ) : null;

type Graph = { one: string; all?: string; unit: Series; series: [string, Series, "c"?][]; dragged?: true };

/** graphs have a title for one node, and one for several where their figures are added or the worst counts. */
const graphs: Graph[] = [
  {
    one: "Rates",
    all: "Rates, of all nodes together",
    unit: "commands",
    series: [
      ["commands", "commands"],
      ["HTTP requests", "requests"],
    ],
  },
  {
    one: "Latency of commands",
    all: "Latency of commands on the slowest node",
    unit: "p99Ms",
    series: [
      ["p50", "p50Ms"],
      ["p99", "p99Ms"],
    ],
  },
  {
    one: "Delivery attempts",
    all: "Delivery attempts, of all nodes together",
    unit: "delivered",
    series: [
      ["delivered", "delivered"],
      ["failed", "failed", "c"],
    ],
    dragged: true,
  },
  {
    one: "Kept",
    unit: "messages",
    series: [
      ["messages", "messages"],
      ["dead letters", "deadLetters", "c"],
    ],
  },
  { one: "Backlog age", unit: "overdueSeconds", series: [["most overdue", "overdueSeconds"]] },
  {
    one: "Memory",
    all: "Memory on the largest node",
    unit: "residentBytes",
    series: [
      ["process", "residentBytes"],
      ["keyspace", "memoryBytes"],
    ],
  },
];
const toMessages = (from: number, to: number) => go("/messages", { fromDate: String(from), toDate: String(to) });

export function Graphs({ h }: { h: History }) {
  const many = h.nodes.length > 1,
    drawn = useMemo(
      () => graphs.map((g) => g.series.map(([name, of, tone]) => ({ name, data: h[of], ...(tone && { tone }) }))),
      [h],
    );
  return h.time.length < 2 ? (
    <Card>
      <Empty icon="overview" title="The charts begin with the second sample">
        A node looks at itself every ten seconds and keeps six hours of that, and a week by five minutes.
      </Empty>
    </Card>
  ) : (
    <div class="charts">
      {graphs.map((g, i) => (
        <Card key={g.one}>
          <Chart
            label={(many && g.all) || g.one}
            time={h.time}
            series={drawn[i]}
            unit={shown(g.unit)}
            bytes={g.unit.endsWith("Bytes")}
            pick={g.dragged && toMessages}
          />
        </Card>
      ))}
    </div>
  );
}
