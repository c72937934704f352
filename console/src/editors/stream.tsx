// Streams and their consumer groups.
import { useState } from "preact/hooks";
import { enc, list, num, type Reply, run, show, str, strs } from "../api";
import { count, figure, msStamp, things } from "../format";
import { Button } from "../ui/controls";
import { Badge, Table } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Cell, Drop, type Props, Rows, useForm, usePages } from "./rows";

const pairs = (r: Reply) => {
  const v = strs(r);
  return v.filter((_, i) => i % 2 === 0).map((n, i) => [n, v[2 * i + 1]] as const);
};
const map = (r: Reply) => {
  const v = list(r),
    out: Record<string, Reply> = {};
  for (let i = 0; i + 1 < v.length; i += 2) out[str(v[i])] = v[i + 1];
  return out;
};

export function StreamEditor({ name, changed }: Props) {
  const form = useForm();
  const size = useLoad(async () => num(await run("XLEN", name)), [name]);
  const groups = useLoad(async () => list(await run("XINFO", "GROUPS", name)).map(map), [name]);
  const pages = usePages(async (at) => {
    const v = list(await run("XREVRANGE", name, at ? `(${at}` : "+", "-", "COUNT", "50"));
    return {
      rows: v.map((e) => {
        const [id, fields] = list(e);
        return {
          id: str(id),
          cells: [
            str(id),
            stampOf(str(id)),
            pairs(fields)
              .map(([n, x]) => `${n}=${x}`)
              .join("  "),
          ],
        };
      }),
      next: v.length === 50 ? str(list(v[49])[0]) : undefined,
    };
  }, name);
  const again = async () => {
    await pages.load.again();
    await size.again();
    await groups.again();
    changed();
  };
  return (
    <>
      <Rows
        pages={pages}
        label="entry"
        order="the newest first"
        total={size.data ?? 0}
        columns={["Id", "Time", "Fields"]}
        add={
          <Button
            icon="plus"
            onClick={() =>
              form.open({
                title: "New entry",
                fields: [{ label: "Fields, a line of name=value each", area: true }],
                write: ([t]) =>
                  run(
                    "XADD",
                    name,
                    "*",
                    ...t
                      .split("\n")
                      .filter(Boolean)
                      .flatMap((l) => {
                        const [n, ...v] = l.split("=");
                        return [enc(n), enc(v.join("="))];
                      }),
                  ).then(again),
              })
            }
          >
            Entry
          </Button>
        }
        acts={(r) => <Drop what={`entry ${r.id}`} go={() => run("XDEL", name, r.id).then(again)} />}
      />
      <h3>Groups</h3>
      <Loaded of={groups} isEmpty={(g) => !g.length} empty={<p class="dim">No consumer group reads this stream.</p>}>
        {(g) => (
          <>
            {g.map((x) => (
              <Group key={str(x.name)} stream={name} g={x} />
            ))}
          </>
        )}
      </Loaded>
      {form.view}
    </>
  );
}
const stampOf = (id: string) => {
  const ms = Number(id.split("-")[0]);
  return ms > 1e11 && ms < 1e14 ? msStamp(ms) : "-";
};

function Group({ stream, g }: { stream: string; g: Record<string, Reply> }) {
  const [open, put] = useState(false);
  const name = str(g.name);
  const pending = useLoad(
    async () => (open ? list(await run("XPENDING", stream, name, "-", "+", "100")).map((r) => strs(r)) : []),
    [open],
  );
  return (
    <details onToggle={(e) => put(e.currentTarget.open)}>
      <summary>
        <b>
          <bdi>{show(name)}</bdi>
        </b>{" "}
        <Badge>{things(num(g.consumers), "consumer")}</Badge>{" "}
        <Badge tone={num(g.pending) ? "warn" : "plain"}>{count(num(g.pending))} pending</Badge>{" "}
        <span class="dim">
          last delivered {str(g["last-delivered-id"])}, lag {count(num(g.lag))}
        </span>
      </summary>
      {open && (
        <Loaded of={pending} isEmpty={(p) => !p.length} empty={<p class="dim">Nothing is pending.</p>}>
          {(p) => (
            <Table
              label="Pending entries"
              rows={p}
              id={(r) => r[0]}
              columns={[
                { name: "Id", of: (r) => r[0] },
                { name: "Consumer", of: (r) => <Cell of={r[1]} /> },
                { name: "Idle", class: "num", of: (r) => figure("XPENDING", "idle", Number(r[2])) },
                { name: "Deliveries", class: "num", of: (r) => r[3] },
              ]}
            />
          )}
        </Loaded>
      )}
    </details>
  );
}
