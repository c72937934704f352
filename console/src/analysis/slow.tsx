// The slow log of the node that answers.
import { database, list, num, poll, run, show, str, strs } from "../api";
import { figure, inMs } from "../format";
import { Button } from "../ui/controls";
import { sure } from "../ui/dialogs";
import { Card, Empty } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Table } from "../ui/table";
import { Ago } from "../ui/time";

export function Slow() {
  const slow = useLoad(
    async (p) => list(await (p ? poll : run)("SLOWLOG", "GET", "128")).map((r) => list(r)),
    [database.value],
    5000,
  );
  return (
    <Loaded
      of={slow}
      isEmpty={(d) => !d.length}
      empty={
        <Card>
          <Empty icon="live" title="No slow commands">
            Commands that take 10 milliseconds or more on this node are listed here.
          </Empty>
        </Card>
      }
    >
      {(d) => (
        <Card
          class="flush"
          title="Slow commands of this node"
          acts={
            <Button
              kind="quiet"
              onClick={() =>
                sure({
                  title: "Clear the slow log",
                  text: <p>This node forgets the slow commands of database {database.value}.</p>,
                  verb: "Clear it",
                  go: () => run("SLOWLOG", "RESET").then(slow.again),
                })
              }
            >
              Clear it
            </Button>
          }
        >
          <Table
            label="Slow commands"
            rows={d}
            id={(r) => str(r[0])}
            columns={[
              { name: "When", class: "tight", of: (r) => <Ago at={inMs("SLOWLOG", "time", num(r[1]))} /> },
              { name: "Duration", class: "num", of: (r) => figure("SLOWLOG", "took", num(r[2])) },
              {
                name: "Command",
                class: "main-cell",
                of: (r) => <bdi class="mono">{show(strs(r[3]).join(" ")).slice(0, 500)}</bdi>,
              },
              { name: "From", of: (r) => <bdi>{show(str(r[4])) || "HTTP"}</bdi> },
            ]}
          />
        </Card>
      )}
    </Loaded>
  );
}
