// The consumer groups of a stream, with what each has read and not acknowledged.
import { useState } from "preact/hooks";
import { list, num, type Reply, run, show, str, strs } from "../api";
import { count, figure, things } from "../format";
import { Badge } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Table } from "../ui/table";
import { Cell } from "./rows";

export const map = (r: Reply) => {
  const v = list(r),
    out: Record<string, Reply> = {};
  for (let i = 0; i + 1 < v.length; i += 2) out[str(v[i])] = v[i + 1];
  return out;
};

export function Groups({ name }: { name: string }) {
  const groups = useLoad(async () => list(await run("XINFO", "GROUPS", name)).map(map), [name]);
  return (
    <>
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
    </>
  );
}

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
