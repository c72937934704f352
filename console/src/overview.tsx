import { useMemo } from "preact/hooks";
import { database, json, poll, run, signedIn, str, who } from "./api";
import { count, figure, percent, things } from "./format";
import type { Event } from "./messages/event";
import { go, query } from "./router";
import { Chart, Stat } from "./ui/charts";
import { A, Badge, Card, Empty, Note, Page } from "./ui/layout";
import { Loaded, useLoad } from "./ui/load";
import { Ago } from "./ui/time";

type Series =
  | "commands"
  | "p50Ms"
  | "p99Ms"
  | "requests"
  | "delivered"
  | "failed"
  | "messages"
  | "deadLetters"
  | "runs"
  | "overdueSeconds"
  | "memoryBytes"
  | "residentBytes"
  | "diskFreeBytes";
/** History is that of the cluster: of nodes, but not of those in missing. */
type History = { time: number[]; nodes: string[]; missing: { node: string; why: string }[] } & Record<Series, number[]>;
export type Node = {
  id: string;
  http: string;
  cluster: string;
  suffrage: string;
  state: string;
  appliedIndex: number;
  lastContactMs: number;
  version: string;
  leaving?: boolean;
};
export type ClusterStatus = { leader: string; term: number; nodes: Node[] };
export type Doctor = { findings?: Finding[] };
export type Finding = { check: string; about?: string; level: string; found: string; do?: string };

const last = (list: number[]) => list[list.length - 1] ?? 0;
const latest = (h: History, name: Series) => figure("/admin/history", name, last(h[name]));
const shown = (name: Series) => (n: number) => figure("/admin/history", name, n);

/** ranges that the charts show, by their names in the API. */
const ranges: [string, string][] = [
  ["6h", "Last 6 hours"],
  ["24h", "Last 24 hours"],
  ["7d", "Last 7 days"],
];

export function Overview() {
  return who.value?.admin ? <AdminOverview /> : <OwnOverview />;
}

function AdminOverview() {
  const cluster = useLoad<ClusterStatus>((poll) => json("/admin/cluster", { poll }), [], 5000);
  const range = ranges.find(([name]) => name === query.value.get("range"))?.[0] ?? "6h";
  const history = useLoad<History>(
    (poll) => json(`/admin/history?of=cluster&range=${range}`, { poll }),
    [range],
    range === "6h" ? 10000 : 60000,
  );
  const doctor = useLoad<Doctor>((poll) => json("/admin/doctor", { poll }), [], 60000);
  const bad = (doctor.data?.findings ?? []).filter((f) => f.level !== "ok");
  const nodes = cluster.data?.nodes ?? [];
  const away = nodes.filter((n) => n.state === "unreachable");
  const healthy = cluster.data?.leader && !away.length;
  return (
    <Page
      title="Overview"
      sub={
        cluster.data ? (
          <>
            {things(nodes.length, "node")}, led by {cluster.data.leader || "nobody"} in term {cluster.data.term}
          </>
        ) : (
          "Health, rates and sizes of this cluster"
        )
      }
    >
      {cluster.error && !cluster.data && <Note kind="bad">{cluster.error.message}</Note>}
      {cluster.data && !healthy && (
        <Note kind="bad">
          {cluster.data.leader
            ? `Not reachable: ${away.map((n) => n.id).join(", ")}`
            : "There is no leader: writes wait until the nodes have elected one."}
        </Note>
      )}
      {bad.map((f, i) => (
        <Note key={i} kind={f.level === "failure" ? "bad" : "warn"}>
          <b>
            {f.check}
            {f.about && ` ${f.about}`}
          </b>
          : {f.found}
          {f.do && `; ${f.do}`}
        </Note>
      ))}
      <nav class="ranges" aria-label="Range of time">
        {ranges.map(([name, text]) => (
          <A
            key={name}
            to="/"
            q={{ range: name === "6h" ? undefined : name }}
            aria-current={range === name || undefined}
          >
            {text}
          </A>
        ))}
      </nav>
      <Loaded of={history}>
        {(h) => <Charts h={h} healthy={!!healthy} findings={bad.length} looked={!!doctor.data} />}
      </Loaded>
      {cluster.data && (
        <Card
          title="Nodes"
          acts={
            <A to="/cluster" class="button quiet">
              Cluster details
            </A>
          }
        >
          <div class="nodes">
            {nodes.map((n) => (
              <NodeLine key={n.id} n={n} />
            ))}
          </div>
        </Card>
      )}
    </Page>
  );
}

export const NodeLine = ({ n }: { n: Node }) => (
  <div class="node">
    <Badge tone={n.state === "leader" ? "good" : n.state === "unreachable" ? "bad" : "plain"}>{n.state}</Badge>
    <b>{n.id}</b>
    <span class="dim">{n.http}</span>
    <span class="dim push">
      index {figure("/admin/cluster", "appliedIndex", n.appliedIndex)}
      {n.lastContactMs > 0 && <> · heard {figure("/admin/cluster", "lastContactMs", n.lastContactMs)} ago</>}
    </span>
  </div>
);

function Charts({ h, healthy, findings, looked }: { h: History; healthy: boolean; findings: number; looked: boolean }) {
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
  const sum = (name: Series) => h[name].reduce((a, b) => a + b, 0),
    delivered = sum("delivered"),
    tried = delivered + sum("failed");
  const many = h.nodes.length > 1,
    whose = many ? `of ${things(h.nodes.length, "node")}` : h.missing.length ? `of ${h.nodes[0]} alone` : "";
  const of = (text: string, what: string) => [text, many ? what : whose].filter(Boolean).join(", ");
  return (
    <>
      {h.missing.length > 0 && (
        <Note kind="warn">
          Rates, latencies, memory and disk are of {h.nodes.join(", ")} alone.{" "}
          {h.missing.map((m) => (
            <div key={m.node}>
              <b>{m.node}</b> is missing: {m.why}
            </div>
          ))}
        </Note>
      )}
      <div class="stats">
        <Stat
          label="Health"
          value={healthy ? (findings ? "Warning" : "Good") : "Bad"}
          tone={healthy ? (findings ? "warn" : "good") : "bad"}
          sub={
            looked
              ? findings
                ? `${things(findings, "finding")} of the doctor`
                : "the doctor finds nothing"
              : "examining"
          }
          to="/cluster"
        />
        <Stat
          label="Commands"
          value={latest(h, "commands")}
          sub={of(`p99 ${latest(h, "p99Ms")}`, "on the slowest node")}
        />
        <Stat
          label="Messages"
          value={latest(h, "messages")}
          sub={last(h.overdueSeconds) > 1 ? `overdue ${latest(h, "overdueSeconds")}` : "none overdue"}
          to="/messages"
        />
        <Stat
          label="Delivery success"
          value={tried ? percent(Math.round((1000 * delivered) / tried) / 10) : "–"}
          sub={`attempts of ${h.nodes.length > 1 ? things(h.nodes.length, "node") : h.nodes[0]}`}
          to="/messages"
        />
        <Stat
          label="Dead letters"
          value={latest(h, "deadLetters")}
          tone={last(h.deadLetters) ? "warn" : ""}
          to="/dead"
        />
        <Stat label="Runs under way" value={latest(h, "runs")} to="/runs" />
        <Stat
          label="Memory"
          value={latest(h, "residentBytes")}
          sub={of(`${latest(h, "memoryBytes")} of keys`, "on the largest node")}
        />
        <Stat label="Disk free" value={latest(h, "diskFreeBytes")} sub={many ? "on the fullest node" : whose} />
      </div>
      {h.time.length < 2 ? (
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
      )}
    </>
  );
}

/** OwnOverview is for credentials that don't administer: what they can reach. */
function OwnOverview() {
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
            empty={<Empty icon="messages" title="No messages yet" />}
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
