// What went wrong: dead letters that failed alike, counted.
import { json, plain } from "../api";
import { count, figure } from "../format";
import { A, Badge, Card } from "../ui/layout";
import { useLoad } from "../ui/load";
import { Table } from "../ui/table";

type Cause = {
  count: number;
  host: string;
  responseStatus: number;
  text: string;
  oldest: number;
  newest: number;
  dlqId: string;
};

const most = 8; // that are shown

/** Causes shows the most frequent causes of the newest dead letters that filters choose. */
export function Causes({ filters, root = "/v2/dlq" }: { filters: string; root?: string }) {
  const of = useLoad<{ groups: Cause[]; cursor?: string }>(
    (poll) => json(`${root}?groupBy=cause&order=latestFirst&${filters}`, { poll }),
    [filters, root],
    15000,
  );
  const groups = of.data?.groups ?? [];
  if (!groups.length) return null;
  return (
    <Card class="flush" title={of.data?.cursor ? "What went wrong with the newest 1,000" : "What went wrong"}>
      <Table
        label="Causes"
        rows={groups.slice(0, most)}
        id={(g) => g.dlqId}
        columns={[
          { name: "Dead letters", class: "num", of: (g) => count(g.count) },
          {
            name: "Response",
            class: "tight",
            of: (g) =>
              g.responseStatus ? <Badge tone="bad">{g.responseStatus}</Badge> : <Badge tone="warn">none</Badge>,
          },
          {
            name: "Cause",
            class: "main-cell",
            of: (g) => (
              <A to="/dead" q={{ id: g.dlqId, of: root === "/v2/dlq" ? undefined : "runs" }}>
                <bdi>{plain(g.text || "no text")}</bdi>
              </A>
            ),
          },
          { name: "Host", of: (g) => <bdi>{plain(g.host || "–")}</bdi> },
          { name: "Newest", class: "tight", of: (g) => figure("/v2/dlq", "newest", g.newest) },
        ]}
      />
    </Card>
  );
}
