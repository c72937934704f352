// Who shares a queue or a flow-control key.
import { count } from "../format";
import type { Messages } from "../schemas";
import { Card } from "../ui/layout";
import { Table } from "../ui/table";
import { B } from "./why";

type Tenant = Messages["Tenant"];

/** Tenants lists the first tenants by name, with their weights and what waits. */
export const Tenants = ({ of: rows, total }: { of: Tenant[]; total: number }) => (
  <>
    <h2>Tenants{total > rows.length && `: the first ${count(rows.length)} of ${count(total)}`}</h2>
    <Card class="flush">
      <Table
        label="Tenants"
        rows={rows}
        id={(t) => t.tenant}
        columns={[
          { name: "Tenant", class: "main-cell", of: (t) => (t.tenant ? <B of={t.tenant} /> : "without a tenant") },
          { name: "Weight", class: "num", of: (t) => count(t.weight) },
          { name: "Waiting", class: "num", of: (t) => count(t.waiting) },
          { name: "Unfinished", class: "num", of: (t) => count(t.unfinished) },
        ]}
      />
    </Card>
  </>
);
