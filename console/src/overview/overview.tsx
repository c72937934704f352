// The overview: is it well, how much does it do, what is full.
import { json, who } from "../api";
import { figure, things } from "../format";
import { query, set } from "../router";
import { Choose } from "../ui/controls";
import { A, Badge, Card, Note, Page } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { type Doctor, type History, type Node, readCluster } from "./cluster";
import { Databases } from "./databases";
import { Findings, open } from "./findings";
import { Graphs, Missing } from "./graphs";
import { OwnOverview } from "./own";
import { Stats } from "./stats";

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
  const cluster = useLoad(readCluster, [], 5000);
  const range = ranges.find(([name]) => name === query.value.get("range"))?.[0] ?? "6h";
  const node = query.value.get("node") ?? "";
  const history = useLoad<History>(
    (poll) => json(`/admin/history?of=cluster&range=${range}${node && `&node=${encodeURIComponent(node)}`}`, { poll }),
    [range, node],
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
      <Findings of={bad} />
      <nav class="ranges" aria-label="Range of time">
        {ranges.map(([name, text]) => (
          <A
            key={name}
            to="/"
            q={{ range: name === "6h" ? undefined : name, node }}
            aria-current={range === name || undefined}
          >
            {text}
          </A>
        ))}
        {nodes.length > 1 && <Whose nodes={nodes} node={node} />}
      </nav>
      <Loaded of={history}>
        {(h) => (
          <>
            <Missing of={h} />
            <Stats h={h} healthy={!!healthy} findings={open(bad).length} looked={!!doctor.data} />
            <Graphs h={h} />
            <Databases range={range} node={node} />
          </>
        )}
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

/** Whose chooses a node, or all of them together. */
const Whose = ({ nodes, node }: { nodes: Node[]; node: string }) => (
  <Choose
    aria-label="Of"
    class="push"
    of={[["", "All nodes"], ...nodes.map((n): [string, string] => [n.id, n.id])]}
    value={node}
    onText={(id) => set({ node: id || undefined })}
  />
);

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
