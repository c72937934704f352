// Connections of the RESP port of this node.
import { enc, json, show } from "../api";
import { figure } from "../format";
import { Button } from "../ui/controls";
import { sure } from "../ui/dialogs";
import { A, Card, Empty } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Table } from "../ui/table";

type Client = {
  id: number;
  addr: string;
  name: string;
  database: string;
  user: string;
  command: string;
  ageSeconds: number;
  idleSeconds: number;
};
export function Clients() {
  const clients = useLoad<{ clients: Client[] }>((p) => json("/admin/clients", { poll: p }), [], 3000);
  return (
    <Loaded
      of={clients}
      isEmpty={(d) => !d.clients.length}
      empty={
        <Card>
          <Empty icon="live" title="No client is connected">
            Connections of the RESP port of this node are listed here, those of every database.{" "}
            <A to="/connect" q={{ service: "Keyspace" }}>
              Variables and code for an app
            </A>
          </Empty>
        </Card>
      }
    >
      {(d) => (
        <Card class="flush">
          <Table
            label="Clients"
            rows={d.clients}
            id={(r) => String(r.id)}
            columns={[
              { name: "Id", class: "num", of: (r) => r.id },
              { name: "Address", of: (r) => r.addr },
              { name: "Name", of: (r) => <bdi>{show(enc(r.name)) || "–"}</bdi> },
              { name: "Database", of: (r) => r.database },
              { name: "User", of: (r) => <bdi>{show(enc(r.user)) || "–"}</bdi> },
              { name: "Age", class: "num", of: (r) => figure("/admin/clients", "ageSeconds", r.ageSeconds) },
              { name: "Idle", class: "num", of: (r) => figure("/admin/clients", "idleSeconds", r.idleSeconds) },
              { name: "Last command", of: (r) => r.command },
              {
                name: "-Actions",
                class: "acts-cell",
                of: (r) => (
                  <Button
                    kind="quiet"
                    class="bad"
                    onClick={() =>
                      sure({
                        title: `Kill connection ${r.id}`,
                        text: <p>The connection from {r.addr} is closed. Its client may connect again.</p>,
                        verb: "Kill",
                        done: "Killed",
                        go: () => json(`/admin/clients/${r.id}`, { method: "DELETE" }).then(clients.again),
                      })
                    }
                  >
                    Kill
                  </Button>
                ),
              },
            ]}
          />
        </Card>
      )}
    </Loaded>
  );
}
