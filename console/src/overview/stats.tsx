// The cluster in single figures.
import { percent, things } from "../format";
import { Stat } from "../ui/charts";
import { type History, last, latest, type Series } from "./cluster";

type Props = { h: History; healthy: boolean; findings: number; looked: boolean };

export function Stats({ h, healthy, findings, looked }: Props) {
  const sum = (name: Series) => h[name].reduce((a, b) => a + b, 0),
    delivered = sum("delivered"),
    tried = delivered + sum("failed");
  const many = h.nodes.length > 1,
    whose = many ? `of ${things(h.nodes.length, "node")}` : h.missing.length ? `of ${h.nodes[0]} alone` : "";
  const of = (text: string, what: string) => [text, many ? what : whose].filter(Boolean).join(", ");
  return (
    <div class="stats">
      <Stat
        label="Health"
        value={healthy ? (findings ? "Warning" : "Good") : "Bad"}
        tone={healthy ? (findings ? "warn" : "good") : "bad"}
        sub={
          looked
            ? findings
              ? `${things(findings, "finding")} of the doctor`
              : "the doctor finds nothing"
            : "examining"
        }
        to="/cluster"
      />
      <Stat
        label="Commands"
        value={latest(h, "commands")}
        sub={of(`p99 ${latest(h, "p99Ms")}`, "on the slowest node")}
      />
      <Stat
        label="Messages"
        value={latest(h, "messages")}
        sub={last(h.overdueSeconds) > 1 ? `overdue ${latest(h, "overdueSeconds")}` : "none overdue"}
        to="/messages"
      />
      <Stat
        label="Delivery success"
        value={tried ? percent(Math.round((1000 * delivered) / tried) / 10) : "–"}
        sub={`attempts of ${h.nodes.length > 1 ? things(h.nodes.length, "node") : h.nodes[0]}`}
        to="/messages"
      />
      <Stat label="Dead letters" value={latest(h, "deadLetters")} tone={last(h.deadLetters) ? "warn" : ""} to="/dead" />
      <Stat label="Runs under way" value={latest(h, "runs")} to="/runs" />
      <Stat
        label="Memory"
        value={latest(h, "residentBytes")}
        sub={of(`${latest(h, "memoryBytes")} of keys`, "on the largest node")}
      />
      <Stat label="Disk free" value={latest(h, "diskFreeBytes")} sub={many ? "on the fullest node" : whose} />
    </div>
  );
}
