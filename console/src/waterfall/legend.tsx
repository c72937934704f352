// The words for the kinds of spans that are drawn.
import { useMemo } from "preact/hooks";
import { type Kind, kinds, type Row } from "./row";

export function Legend({ rows }: { rows: Row[] }) {
  const used = useMemo(() => {
    const set = new Set<Kind | "failed">();
    for (const r of rows) for (const s of r.spans) set.add(s.failed ? "failed" : s.kind);
    return set;
  }, [rows]);
  const names = Object.entries({ ...kinds, failed: "Failed" }).filter(([k]) => used.has(k as Kind));
  return (
    <ul class="fall-legend">
      {names.map(([kind, name]) => (
        <li key={kind}>
          <i class={`span ${kind === "failed" ? "work failed" : kind}`} />
          {name}
        </li>
      ))}
    </ul>
  );
}
