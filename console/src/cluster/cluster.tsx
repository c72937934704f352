import { useState } from "preact/hooks";
import { json } from "../api";
import { figure } from "../format";
import { type Doctor, type Node, readCluster } from "../overview/cluster";
import { Button } from "../ui/controls";
import { sure } from "../ui/dialogs";
import { Badge, Card, Note, Page } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Table } from "../ui/table";
import { act } from "../ui/toasts";
import { download } from "./download";
import { Findings } from "./findings";
import { Replace, remove } from "./members";

export function Cluster() {
  const cluster = useLoad(readCluster, [], 3000);
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
