// The biggest keys, found by looking at all of them.
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, database, num, pipeline, show } from "../api";
import { every, type Found } from "../data/scan";
import { keyQuery } from "../data/tree";
import { typeName } from "../data/types";
import { bytes, percent, things } from "../format";
import { query } from "../router";
import { Button } from "../ui/controls";
import { A, Card, Empty } from "../ui/layout";
import { Failed } from "../ui/load";
import { Table } from "../ui/table";

type Sized = Found & { size: number };
type State = { top: Sized[]; seen: number; part: number };

export function Biggest() {
  const [state, put] = useState<State>({ top: [], seen: 0, part: 0 }),
    [error, fail] = useState<ApiError | null>(null),
    [stopped, stop] = useState(false);
  const on = useRef(true);
  useEffect(() => {
    let here = true,
      now: State = { top: [], seen: 0, part: 0 };
    on.current = true;
    put(now);
    fail(null);
    stop(false);
    every({ pattern: "*", type: "" }, async (found, part) => {
      const sizes = await pipeline(found.map((f) => ["MEMORY", "USAGE", f.key]));
      const refused = sizes.find((s) => s.t === "err");
      if (refused?.t === "err" && sizes.every((s) => s.t === "err")) throw new ApiError(400, refused.v);
      const top = [...now.top, ...found.map((f, i) => ({ ...f, size: num(sizes[i]) }))]
        .sort((a, b) => b.size - a.size)
        .slice(0, 50);
      now = { top, seen: now.seen + found.length, part };
      if (here) put(now);
      return here && on.current;
    }).catch((e) => here && fail(e));
    return () => {
      here = false;
    };
  }, [database.value]);
  if (error) return <Failed error={error} />;
  const db = query.value.get("db") ?? undefined;
  return (
    <Card class="flush" title="Biggest keys">
      {state.top.length ? (
        <Table
          label="Biggest keys"
          rows={state.top}
          id={(r) => r.key}
          columns={[
            {
              name: "Key",
              class: "main-cell",
              of: (r) => (
                <A to="/data" q={{ db, ...keyQuery(r.key) }}>
                  <bdi class="mono">{show(r.key).slice(0, 200)}</bdi>
                </A>
              ),
            },
            { name: "Type", of: (r) => typeName(r.type) },
            { name: "Memory", class: "num", of: (r) => bytes(r.size) },
          ]}
        />
      ) : (
        <Empty icon="chart" title={state.part === 1 ? "This database is empty" : "Looking for keys"} />
      )}
      <div class="tree-foot">
        <span role="status">
          {things(state.seen, "key")}{" "}
          {state.part === 1
            ? "looked at, all of them"
            : `looked at so far, ${percent(Math.floor(state.part * 100))} of the database`}
        </span>
        {state.part < 1 && (
          <Button
            kind="quiet"
            disabled={stopped}
            onClick={() => {
              on.current = false;
              stop(true);
            }}
          >
            {stopped ? "Stopped" : "Stop"}
          </Button>
        )}
      </div>
    </Card>
  );
}
