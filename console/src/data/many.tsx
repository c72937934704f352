// What looks at all keys that match: finding the biggest.
import { useEffect, useState } from "preact/hooks";
import { num, pipeline, show } from "../api";
import { bytes, things } from "../format";
import { path } from "../router";
import { Dialog } from "../ui/dialogs";
import { A, Note } from "../ui/layout";
import { Table } from "../ui/table";
import { every } from "./scan";
import { keyQuery } from "./tree";

export function Biggest({ close, pattern }: { close: () => void; pattern: string }) {
  const [top, put] = useState<[string, number][]>([]),
    [seen, see] = useState(0),
    [busy, wait] = useState(true),
    [error, fail] = useState("");
  useEffect(() => {
    let on = true,
      best: [string, number][] = [],
      all = 0;
    every({ pattern, type: "" }, async (found) => {
      const sizes = await pipeline(found.map((f) => ["MEMORY", "USAGE", f.key]));
      best = [...best, ...found.map((f, i) => [f.key, num(sizes[i])] as [string, number])]
        .sort((a, b) => b[1] - a[1])
        .slice(0, 25);
      all += found.length;
      if (!on) return false;
      put(best);
      see(all);
    })
      .catch((e) => fail(e.message))
      .finally(() => on && wait(false));
    return () => {
      on = false;
    };
  }, []);
  return (
    <Dialog title="Biggest keys" close={close} wide light>
      <p class="dim" role="status">
        {busy ? "Looking: " : "All looked at: "}
        {things(seen, "key")}
        {pattern !== "*" && (
          <>
            {" "}
            that match <bdi>{show(pattern)}</bdi>
          </>
        )}
      </p>
      {error && <Note kind="bad">{error}</Note>}
      <Table
        label="Biggest keys"
        rows={top}
        id={(r) => r[0]}
        columns={[
          {
            name: "Key",
            of: (r) => (
              <A to={path.value} q={keyQuery(r[0])} onClick={close}>
                <bdi>{show(r[0]).slice(0, 200)}</bdi>
              </A>
            ),
          },
          { name: "Memory", class: "num", of: (r) => bytes(r[1]) },
        ]}
      />
    </Dialog>
  );
}
