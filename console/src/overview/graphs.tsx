// Rates, latencies and sizes over time.
import { useMemo } from "preact/hooks";
import { go } from "../router";
import { Chart } from "../ui/charts";
import { Card, Empty, Note } from "../ui/layout";
import { type History, shown } from "./cluster";

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

export function Graphs({ h }: { h: History }) {
  const s = useMemo(
    () => ({
      rate: [
        { name: "commands", data: h.commands },
        { name: "HTTP requests", data: h.requests },
      ],
      time: [
        { name: "p50", data: h.p50Ms },
        { name: "p99", data: h.p99Ms },
      ],
      sent: [
        { name: "delivered", data: h.delivered },
        { name: "failed", data: h.failed, tone: "c" as const },
      ],
      memory: [
        { name: "process", data: h.residentBytes },
        { name: "keyspace", data: h.memoryBytes },
      ],
      backlog: [
        { name: "messages", data: h.messages },
        { name: "dead letters", data: h.deadLetters, tone: "c" as const },
      ],
      age: [{ name: "most overdue", data: h.overdueSeconds }],
    }),
    [h],
  );
  const many = h.nodes.length > 1;
  return h.time.length < 2 ? (
    <Card>
      <Empty icon="overview" title="The charts begin with the second sample">
        A node looks at itself every ten seconds and keeps six hours of that, and a week by five minutes.
      </Empty>
    </Card>
  ) : (
    <div class="charts">
      <Card>
        <Chart
          label={many ? "Rates, of all nodes together" : "Rates"}
          time={h.time}
          series={s.rate}
          unit={shown("commands")}
        />
      </Card>
      <Card>
        <Chart
          label={many ? "Latency of commands on the slowest node" : "Latency of commands"}
          time={h.time}
          series={s.time}
          unit={shown("p99Ms")}
        />
      </Card>
      <Card>
        <Chart
          label={many ? "Delivery attempts, of all nodes together" : "Delivery attempts"}
          time={h.time}
          series={s.sent}
          unit={shown("delivered")}
          pick={(from, to) => go("/messages", { fromDate: String(from), toDate: String(to) })}
        />
      </Card>
      <Card>
        <Chart label="Kept" time={h.time} series={s.backlog} unit={shown("messages")} />
      </Card>
      <Card>
        <Chart label="Backlog age" time={h.time} series={s.age} unit={shown("overdueSeconds")} />
      </Card>
      <Card>
        <Chart
          label={many ? "Memory on the largest node" : "Memory"}
          time={h.time}
          series={s.memory}
          unit={shown("residentBytes")}
        />
      </Card>
    </div>
  );
}
