// What the doctor has looked at.
import { useState } from "preact/hooks";
import { things } from "../format";
import type { Finding } from "../overview/cluster";
import { Button } from "../ui/controls";
import { Badge, Note } from "../ui/layout";

export const level = (l: string) => (l === "ok" ? "good" : l === "warning" ? "warn" : "bad");

export function Findings({ of }: { of: Finding[] }) {
  const [all, put] = useState(false);
  const bad = of.filter((f) => level(f.level) !== "good");
  return (
    <>
      {!bad.length && (
        <Note kind="good">Nothing to do: {of.length === 1 ? "1 check has" : `${of.length} checks have`} passed.</Note>
      )}
      {(all ? of : bad).map((f, i) => (
        <div key={i} class="node">
          <Badge tone={level(f.level)}>{f.level}</Badge>
          <b>{f.check}</b>
          <span class="dim">{f.about}</span>
          <span>{f.found}</span>
          {f.do && <span class="dim">{f.do}</span>}
        </div>
      ))}
      {bad.length < of.length && (
        <Button kind="quiet" onClick={() => put(!all)}>
          {all ? "Only what needs a look" : `All ${things(of.length, "check")}`}
        </Button>
      )}
    </>
  );
}
