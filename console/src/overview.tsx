import { useMemo } from "preact/hooks";
import { database, json, poll, run, str, who } from "./api";
import { Ago, Badge, bytes, Card, Chart, count, Empty, Loaded, Note, Page, span, Stat, A, useLoad } from "./ui";

type History = { time: number[]; commands: number[]; p50Ms: number[]; p99Ms: number[]; requests: number[]; delivered: number[]; failed: number[]; messages: number[]; deadLetters: number[]; runs: number[]; overdueSeconds: number[]; memoryBytes: number[]; residentBytes: number[]; diskFreeBytes: number[] };
export type Node = { id: string; http: string; cluster: string; suffrage: string; state: string; appliedIndex: number; lastContactMs: number; version: string; leaving?: boolean };
export type ClusterStatus = { leader: string; term: number; nodes: Node[] };
export type Finding = { check: string; about?: string; level: string; found: string; do?: string };

const last = (list: number[]) => list[list.length - 1] ?? 0;
const rate = (n: number) => (n >= 1000 ? (n / 1000).toFixed(1) + "k" : n >= 10 || n === 0 ? n.toFixed(0) : n.toFixed(1)) + "/s";
const ms = (n: number) => (n === 0 ? "0" : n < 1 ? n.toFixed(2) + " ms" : n < 100 ? n.toFixed(1) + " ms" : span(n));

export function Overview() { return who.value?.admin ? <AdminOverview /> : <OwnOverview />; }

function AdminOverview() {
  const cluster = useLoad<ClusterStatus>((poll) => json("/admin/cluster", { poll }), [], 5000);
  const history = useLoad<History>((poll) => json("/admin/history", { poll }), [], 10000);
  const doctor = useLoad<any>((poll) => json("/admin/doctor", { poll }), [], 60000);
  const bad = ((doctor.data?.findings ?? []) as Finding[]).filter((f) => f.level !== "ok");
  const nodes = cluster.data?.nodes ?? [];
  const away = nodes.filter((n) => n.state === "unreachable");
  const healthy = cluster.data?.leader && !away.length;
  return <Page title="Overview" sub={cluster.data ? <>{nodes.length} {nodes.length === 1 ? "node" : "nodes"}, led by {cluster.data.leader || "nobody"} in term {cluster.data.term}</> : "Health, rates and sizes of this cluster"}>
    {cluster.error && !cluster.data && <Note kind="bad">{cluster.error.message}</Note>}
    {cluster.data && !healthy && <Note kind="bad">{cluster.data.leader ? `Not reachable: ${away.map((n) => n.id).join(", ")}` : "There is no leader: writes wait until the nodes have elected one."}</Note>}
    {bad.map((f, i) => <Note key={i} kind={f.level === "failure" ? "bad" : "warn"}><b>{f.check}{f.about && " " + f.about}</b>: {f.found}. {f.do}</Note>)}
    <Loaded of={history}>{(h) => <Charts h={h} healthy={!!healthy} findings={bad.length} looked={!!doctor.data} />}</Loaded>
    {cluster.data && <Card title="Nodes" acts={<A to="/cluster" class="button quiet">All about the cluster</A>}><div class="nodes">{nodes.map((n) => <NodeLine key={n.id} n={n} />)}</div></Card>}
  </Page>;
}

export const NodeLine = ({ n }: { n: Node }) => <div class="node"><Badge tone={n.state === "leader" ? "good" : n.state === "unreachable" ? "bad" : "plain"}>{n.state}</Badge><b>{n.id}</b><span class="dim">{n.http}</span><span class="dim push">index {count(n.appliedIndex)}{n.lastContactMs > 0 && <> · heard {span(n.lastContactMs)} ago</>}</span></div>;

function Charts({ h, healthy, findings, looked }: { h: History; healthy: boolean; findings: number; looked: boolean }) {
  const s = useMemo(() => ({
    rate: [{ name: "commands", data: h.commands }, { name: "HTTP requests", data: h.requests }],
    time: [{ name: "p50", data: h.p50Ms }, { name: "p99", data: h.p99Ms }],
    sent: [{ name: "delivered", data: h.delivered }, { name: "failed", data: h.failed, tone: "c" as const }],
    memory: [{ name: "process", data: h.residentBytes }, { name: "keyspace", data: h.memoryBytes }],
    backlog: [{ name: "messages", data: h.messages }, { name: "dead letters", data: h.deadLetters, tone: "c" as const }],
    age: [{ name: "most overdue", data: h.overdueSeconds }],
  }), [h]);
  const tried = h.delivered.reduce((a, b) => a + b, 0) + h.failed.reduce((a, b) => a + b, 0);
  return <>
    <div class="stats">
      <Stat label="Health" value={healthy ? (findings ? "Warning" : "Good") : "Bad"} tone={healthy ? (findings ? "warn" : "good") : "bad"} sub={looked ? (findings ? `${findings} ${findings === 1 ? "finding" : "findings"} of the doctor` : "the doctor finds nothing") : "examining"} to="/cluster" />
      <Stat label="Commands" value={rate(last(h.commands))} sub={`p99 ${ms(last(h.p99Ms))}`} />
      <Stat label="Messages" value={count(last(h.messages))} sub={last(h.overdueSeconds) > 1 ? `overdue ${span(last(h.overdueSeconds) * 1000)}` : "none overdue"} to="/messages" />
      <Stat label="Delivery success" value={tried ? (100 * h.delivered.reduce((a, b) => a + b, 0) / tried).toFixed(1) + " %" : "–"} sub="attempts of this node" to="/messages" />
      <Stat label="Dead letters" value={count(last(h.deadLetters))} tone={last(h.deadLetters) ? "warn" : ""} to="/dead" />
      <Stat label="Runs under way" value={count(last(h.runs))} to="/runs" />
      <Stat label="Memory" value={bytes(last(h.residentBytes))} sub={`${bytes(last(h.memoryBytes))} of keys`} />
      <Stat label="Disk free" value={bytes(last(h.diskFreeBytes))} />
    </div>
    {h.time.length < 2 ? <Card><Empty icon="overview" title="The charts begin in a few seconds">This node has just started: it looks at itself every ten seconds and keeps six hours.</Empty></Card> :
      <div class="charts">
        <Card><Chart label="Rates" time={h.time} series={s.rate} unit={rate} /></Card>
        <Card><Chart label="Latency of commands" time={h.time} series={s.time} unit={ms} /></Card>
        <Card><Chart label="Delivery attempts" time={h.time} series={s.sent} unit={rate} /></Card>
        <Card><Chart label="Kept" time={h.time} series={s.backlog} unit={(n) => count(Math.round(n))} /></Card>
        <Card><Chart label="Backlog age" time={h.time} series={s.age} unit={(n) => span(n * 1000)} /></Card>
        <Card><Chart label="Memory" time={h.time} series={s.memory} unit={bytes} /></Card>
      </div>}
  </>;
}

/** OwnOverview is for credentials that don't administer: what they can reach. */
function OwnOverview() {
  const me = who.value!;
  const keys = useLoad(async (p) => (me.keyspace ? str(await (p ? poll : run)("DBSIZE")) : ""), [], 5000);
  const events = useLoad<any>((p) => (me.messages ? json("/v2/events?count=5", { poll: p }) : Promise.resolve({ events: [] })), [], 10000);
  return <Page title="Overview" sub={`Signed in as ${me.name}`}>
    <div class="stats">
      {me.keyspace && <Stat label={"Keys in " + database.value} value={keys.error ? "–" : count(Number(keys.data ?? 0))} sub={keys.error?.message} to="/data" />}
      {me.keyspace && <Stat label="Command line" value={me.user ?? ""} sub="commands as this user" to="/cli" />}
      {me.messages && <Stat label="Messages" value="Events" sub="what was delivered, and what was not" to="/messages" />}
      {me.messages && <Stat label="Workflows" value="Runs" sub="steps, retries and waits" to="/runs" />}
    </div>
    {me.messages && <Card title="Newest events"><Loaded of={events} isEmpty={(d) => !d.events.length} empty={<Empty icon="messages" title="Nothing was published yet" />}>{(d) => <div class="nodes">{d.events.map((e: any, i: number) => <div key={i} class="node"><Badge>{e.state}</Badge><A to="/messages" q={{ id: e.messageId }}>{e.messageId}</A><span class="dim push"><Ago at={e.time} /></span></div>)}</div>}</Loaded></Card>}
  </Page>;
}
