import { useState } from "preact/hooks";
import { json, raw } from "./api";
import { figure, things } from "./format";
import type { ClusterStatus, Doctor, Finding, Node } from "./overview";
import { Button, Choose, Field, Text } from "./ui/controls";
import { Dialog, sure } from "./ui/dialogs";
import { Badge, Card, Empty, Note, Page, Table } from "./ui/layout";
import { Loaded, useLoad } from "./ui/load";
import { Ago } from "./ui/time";
import { act } from "./ui/toasts";

export const level = (l: string) => (l === "ok" ? "good" : l === "warning" ? "warn" : "bad");

/** download has the browser keep a backup. A link can't ask for one: the node wants the console's header. */
async function download() {
  const at = URL.createObjectURL(await (await raw("/admin/backup")).blob());
  const a = Object.assign(document.createElement("a"), { href: at, download: "trireme.backup" });
  a.click();
  setTimeout(() => URL.revokeObjectURL(at), 60_000);
}

export function Cluster() {
  const cluster = useLoad<ClusterStatus>((poll) => json("/admin/cluster", { poll }), [], 3000);
  const doctor = useLoad<Doctor>((poll) => json("/admin/doctor", { poll }), []);
  const [replace, setReplace] = useState<Node | null>(null);
  const nodes = cluster.data?.nodes ?? [];
  const top = Math.max(0, ...nodes.map((n) => n.appliedIndex));
  const [shooting, shoot] = useState(false);
  const [saving, save] = useState(false);
  return (
    <Page
      title="Cluster"
      sub={
        cluster.data
          ? `${cluster.data.leader || "Nobody"} leads in term ${cluster.data.term}`
          : "Nodes, snapshots, backups"
      }
      acts={
        <>
          <Button
            icon="refresh"
            busy={shooting}
            onClick={async () => {
              shoot(true);
              await act("This node has written a snapshot", () => json("/admin/snapshot", { method: "POST" }));
              shoot(false);
            }}
          >
            Snapshot
          </Button>
          <Button
            busy={saving}
            onClick={async () => {
              save(true);
              await act("The backup is downloaded", download);
              save(false);
            }}
          >
            Download a backup
          </Button>
        </>
      }
    >
      <Loaded of={cluster}>
        {(c) => (
          <>
            {!c.leader && <Note kind="bad">There is no leader: writes wait until the nodes have elected one.</Note>}
            <Card title="Nodes" class="flush">
              <Table
                label="Nodes"
                rows={c.nodes}
                id={(n) => n.id}
                columns={[
                  { name: "Node", of: (n) => <b>{n.id}</b> },
                  {
                    name: "State",
                    of: (n) => (
                      <Badge tone={n.state === "leader" ? "good" : n.state === "unreachable" ? "bad" : "plain"}>
                        {n.leaving ? "leaving" : n.state}
                      </Badge>
                    ),
                  },
                  { name: "Vote", of: (n) => n.suffrage },
                  { name: "HTTP", of: (n) => n.http || "–" },
                  { name: "Cluster address", of: (n) => n.cluster },
                  {
                    name: "Lag",
                    class: "num",
                    of: (n) =>
                      n.state === "unreachable" ? "–" : figure("/admin/cluster", "appliedIndex", top - n.appliedIndex),
                  },
                  {
                    name: "Last contact",
                    class: "num",
                    of: (n) =>
                      n.lastContactMs < 0
                        ? "–"
                        : n.state === "leader"
                          ? "leads"
                          : figure("/admin/cluster", "lastContactMs", n.lastContactMs),
                  },
                  { name: "Version", of: (n) => n.version || "–" },
                  {
                    name: "-Actions",
                    class: "acts-cell",
                    of: (n) => (
                      <>
                        {n.state !== "leader" && n.suffrage === "voter" && (
                          <Button
                            kind="quiet"
                            onClick={() =>
                              sure({
                                title: `Make ${n.id} the leader`,
                                text: (
                                  <p>
                                    Leadership moves from {c.leader} to {n.id}. Writes wait for it, usually a few
                                    milliseconds.
                                  </p>
                                ),
                                verb: "Transfer",
                                done: `${n.id} leads`,
                                go: () =>
                                  json("/admin/cluster/transfer-leader", { data: { to: n.id } }).then(cluster.again),
                              })
                            }
                          >
                            Make leader
                          </Button>
                        )}
                        {c.nodes.some((o) => o.suffrage !== "voter") && n.suffrage === "voter" && (
                          <Button kind="quiet" onClick={() => setReplace(n)}>
                            Replace
                          </Button>
                        )}
                        <Button kind="quiet" class="bad" onClick={() => remove(n, c, cluster.again)}>
                          Remove
                        </Button>
                      </>
                    ),
                  },
                ]}
              />
            </Card>
          </>
        )}
      </Loaded>
      {replace && cluster.data && (
        <Replace node={replace} c={cluster.data} close={() => setReplace(null)} again={cluster.again} />
      )}
      <Card
        title="Doctor"
        acts={
          <Button kind="quiet" icon="refresh" onClick={doctor.again}>
            Check again
          </Button>
        }
      >
        <Loaded of={doctor}>{(d) => <Findings of={d.findings ?? []} />}</Loaded>
      </Card>
    </Page>
  );
}

function Findings({ of }: { of: Finding[] }) {
  const [all, put] = useState(false);
  const bad = of.filter((f) => level(f.level) !== "good");
  return (
    <>
      {!bad.length && (
        <Note kind="good">Nothing to do: {of.length === 1 ? "1 check has" : `${of.length} checks have`} passed.</Note>
      )}
      {(all ? of : bad).map((f, i) => (
        <div key={i} class="node">
          <Badge tone={level(f.level)}>{f.level}</Badge>
          <b>{f.check}</b>
          <span class="dim">{f.about}</span>
          <span>{f.found}</span>
          {f.do && <span class="dim">{f.do}</span>}
        </div>
      ))}
      {bad.length < of.length && (
        <Button kind="quiet" onClick={() => put(!all)}>
          {all ? "Only what needs a look" : `All ${things(of.length, "check")}`}
        </Button>
      )}
    </>
  );
}

function remove(n: Node, c: ClusterStatus, again: () => Promise<void>) {
  const voters = c.nodes.filter((o) => o.suffrage === "voter").length;
  const few = n.suffrage === "voter" && voters <= 3;
  sure({
    title: `Remove ${n.id} from the cluster`,
    name: n.id,
    verb: "Remove",
    done: `${n.id} is removed`,
    text: (
      <>
        <p>
          {n.id} leaves the cluster, which has {things(voters - (n.suffrage === "voter" ? 1 : 0), "voter")} then. Its
          data stay on its disk, and it can't come back with them.
        </p>
        {few && (
          <p>
            <b>
              Fewer than three voters stay: this is done by force, and the loss of one more node may stop the cluster.
            </b>
          </p>
        )}
      </>
    ),
    go: () =>
      json(`/admin/cluster/nodes/${encodeURIComponent(n.id)}${few ? "?force=true" : ""}`, { method: "DELETE" }).then(
        again,
      ),
  });
}

function Replace({
  node,
  c,
  close,
  again,
}: {
  node: Node;
  c: ClusterStatus;
  close: () => void;
  again: () => Promise<void>;
}) {
  const spare = c.nodes.filter((o) => o.suffrage !== "voter").map((o) => o.id);
  const [by, put] = useState(spare[0] ?? "");
  return (
    <Dialog title={`Replace ${node.id}`} close={close}>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          if (
            await act(`${by} has taken the place of ${node.id}`, () =>
              json(`/admin/cluster/nodes/${encodeURIComponent(node.id)}/replace`, { data: { with: by } }),
            )
          ) {
            close();
            again();
          }
        }}
      >
        <Field label="By the node">
          <Choose of={spare} value={by} onText={put} />
        </Field>
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="bad">
            Replace
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

type AuditRecord = {
  time: string;
  act: string;
  target?: string;
  outcome: string;
  who: string;
  from: string;
  session?: string;
  database?: string;
  detail?: string;
  reason?: string;
};
export function Audit() {
  const [find, put] = useState("");
  const records = useLoad<{ records: AuditRecord[] }>((poll) => json("/admin/audit", { poll }), [], 5000);
  return (
    <Page title="Audit log" sub="What was done to this cluster through this node since it started">
      <div class="filters">
        <Field label="Find">
          <Text value={find} onText={put} placeholder="act, target, who, session" type="search" />
        </Field>
      </div>
      <Loaded
        of={records}
        isEmpty={(d) => !d.records.length}
        empty={
          <Card>
            <Empty icon="audit" title="No actions recorded yet">
              Administrative acts appear here: sign-ins, databases, users, settings, nodes.
            </Empty>
          </Card>
        }
      >
        {(d) => (
          <Card class="flush">
            <Table
              label="Audit log"
              rows={d.records.filter((r) => JSON.stringify(r).toLowerCase().includes(find.toLowerCase()))}
              id={(r, i) => r.time + i}
              columns={[
                { name: "When", class: "tight", of: (r) => <Ago at={r.time} /> },
                {
                  name: "Action",
                  of: (r) => (
                    <>
                      <b>{r.act}</b> {r.target}
                    </>
                  ),
                },
                {
                  name: "Outcome",
                  of: (r) => (
                    <Badge tone={r.outcome === "done" ? "good" : r.outcome === "refused" ? "warn" : "bad"}>
                      {r.outcome}
                    </Badge>
                  ),
                },
                { name: "Who", of: (r) => r.who },
                { name: "From", of: (r) => r.from },
                { name: "Session", of: (r) => <span class="mono">{r.session ? r.session.slice(0, 8) : "–"}</span> },
                {
                  name: "Detail",
                  class: "main-cell",
                  of: (r) => <span class="dim">{[r.database, r.detail, r.reason].filter(Boolean).join(" · ")}</span>,
                },
              ]}
            />
          </Card>
        )}
      </Loaded>
    </Page>
  );
}
