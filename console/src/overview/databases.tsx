// Which databases the load and the memory are of, over time.
import { json } from "../api";
import { count } from "../format";
import { A, Card } from "../ui/layout";
import { useLoad } from "../ui/load";
import { Spark } from "../ui/spark";
import { Table } from "../ui/table";
import { type History, last, shown } from "./cluster";

type One = { name: string; commands: number[]; memoryBytes: number[] };
type ByDatabase = Pick<History, "time" | "nodes" | "missing"> & { databases?: One[] };

const most = (list: number[]) => Math.max(...list, 0),
  sum = (list: number[]) => list.reduce((a, b) => a + b, 0),
  rate = shown("commands"),
  bytes = shown("memoryBytes");

/** minute is often enough for a list that is read over hours. */
const minute = 60_000;

export function Databases({ range, node }: { range: string; node: string }) {
  const of = useLoad<ByDatabase>(
    (poll) =>
      json(`/admin/history?of=cluster&by=database&range=${range}${node && `&node=${encodeURIComponent(node)}`}`, {
        poll,
      }),
    [range, node],
    minute,
  );
  const all = of.data?.databases ?? [];
  if (all.length < 2) return null; // all that there is of one database is in the charts above
  const rows = all.toSorted((a, b) => sum(b.commands) - sum(a.commands) || most(b.memoryBytes) - most(a.memoryBytes));
  return (
    <Card
      class="flush"
      title="Databases with most commands or most memory"
      acts={
        <A to="/access" class="button quiet">
          All databases
        </A>
      }
    >
      <Table
        label="Databases with most commands or most memory"
        rows={rows}
        id={(d) => d.name}
        columns={[
          { name: "Database", of: (d) => <b>{d.name}</b> },
          { name: "Commands", of: (d) => rate(last(d.commands)) },
          { name: "At most", of: (d) => rate(most(d.commands)) },
          {
            name: "Over time",
            of: (d) => <Spark data={d.commands} label={`Commands of ${d.name}, ${rate(most(d.commands))} at most`} />,
          },
          { name: "Memory", of: (d) => (most(d.memoryBytes) ? bytes(last(d.memoryBytes)) : "–") },
          {
            name: "Memory over time",
            of: (d) =>
              most(d.memoryBytes) > 0 && (
                <Spark data={d.memoryBytes} label={`Memory of ${d.name}, ${bytes(most(d.memoryBytes))} at most`} />
              ),
          },
        ]}
      />
      <p class="dim foot">
        The {count(8)} with most commands in this time and the {count(8)} with most memory; 0 where one was not among
        the first {count(16)}.
      </p>
    </Card>
  );
}
