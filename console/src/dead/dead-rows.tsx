// Dead letters, one a row, of which several can be chosen.
import { plain } from "../api";
import { mayWrite } from "../messages/event";
import { A, Badge } from "../ui/layout";
import { Table } from "../ui/table";
import { Url } from "../ui/text";
import { Ago } from "../ui/time";
import type { DeadLetter } from "./dead-letter";

type Props = { rows: DeadLetter[]; runs: boolean; picked: Set<string>; pick: (ids: Set<string>) => void };

export const DeadRows = ({ rows, runs, picked, pick }: Props) => (
  <Table
    label="Dead letters"
    rows={rows}
    id={(m) => m.dlqId}
    columns={[
      ...(mayWrite()
        ? [
            {
              name: "-Selected",
              class: "tight",
              of: (m: DeadLetter) => (
                <input
                  type="checkbox"
                  aria-label={`Choose ${m.dlqId}`}
                  checked={picked.has(m.dlqId)}
                  onChange={() => {
                    const s = new Set(picked);
                    if (!s.delete(m.dlqId)) s.add(m.dlqId);
                    pick(s);
                  }}
                />
              ),
            },
          ]
        : []),
      { name: "Since", class: "tight", of: (m) => <Ago at={m.createdAt} /> },
      {
        name: "Answer",
        class: "tight",
        of: (m) => (m.responseStatus ? <Badge tone="bad">{m.responseStatus}</Badge> : <Badge tone="warn">none</Badge>),
      },
      {
        name: "Destination",
        class: "main-cell",
        of: (m) => (
          <A to="/dead" q={{ id: m.dlqId, of: runs ? "runs" : undefined }}>
            <Url of={m.workflowUrl ?? m.url} most={200} />
          </A>
        ),
      },
      {
        name: runs ? "Run" : "Message",
        of: (m) => <span class="mono dim">{m.workflowRunId ?? m.messageId}</span>,
      },
      { name: "Label", of: (m) => <bdi>{plain(m.labels?.join(", ") ?? m.label ?? "–").slice(0, 80)}</bdi> },
    ]}
  />
);
