// What a filter does: how many documents each of its conditions matches alone. The server has no plan to show: it reads
// the documents of every condition, so these counts are what a query costs.
import { useState } from "preact/hooks";
import { type ApiError, enc, num, plain, run } from "../api";
import { count, percent } from "../format";
import { Button } from "../ui/controls";
import { Card, Note } from "../ui/layout";
import { Table } from "../ui/table";
import { conditions } from "./conditions";
import type { Definition } from "./load";

type Line = { text: string; matches: number };

export function Explain({ d, filter }: { d: Definition; filter: string }) {
  const [lines, put] = useState<Line[] | null>(null),
    [error, fail] = useState(""),
    [busy, wait] = useState(false);
  const go = async () => {
    wait(true);
    fail("");
    try {
      const out: Line[] = [];
      for (const c of conditions(filter))
        out.push({ text: c, matches: num(await run("SEARCH.COUNT", d.name, enc(c))) });
      put(out);
    } catch (e) {
      fail((e as ApiError).message);
    }
    wait(false);
  };
  return (
    <Card
      title="What each condition matches"
      acts={
        <Button busy={busy} onClick={go}>
          Explain
        </Button>
      }
    >
      {error && <Note kind="bad">{plain(error)}</Note>}
      {lines ? (
        <Table
          label="Conditions"
          rows={lines}
          id={(l, i) => l.text + i}
          columns={[
            { name: "Condition", class: "main-cell", of: (l) => <bdi class="mono">{plain(l.text).slice(0, 300)}</bdi> },
            { name: "Documents", class: "num", of: (l) => count(l.matches) },
            {
              name: "Of all",
              class: "num",
              of: (l) => (d.documents ? percent(Math.round((l.matches / d.documents) * 100)) : "–"),
            },
          ]}
        />
      ) : (
        <p class="dim">
          A query looks at the documents of each condition. This counts them one condition at a time, so that you see
          which one is expensive, and which one matches nothing.
        </p>
      )}
    </Card>
  );
}
