// The audit log: what was done to the cluster through this node.
import { useState } from "preact/hooks";
import { json } from "../api";
import { Field, Text } from "../ui/controls";
import { Badge, Card, Empty, Page } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Table } from "../ui/table";
import { Ago } from "../ui/time";

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
