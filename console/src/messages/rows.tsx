// Messages as rows: what became of each, and what can be done about it.
import { json, plain } from "../api";
import { count, figure, msSpan } from "../format";
import { Button } from "../ui/controls";
import { A, Badge } from "../ui/layout";
import { Table } from "../ui/table";
import { Url } from "../ui/text";
import { Ago } from "../ui/time";
import { act } from "../ui/toasts";
import { type Event, mayWrite, newMessage, type Published, runNow, text64, tone } from "./event";
import type { Standing } from "./now";

/** Messages are messages, one a row. */
export const MessageRows = ({ rows, again }: { rows: Standing[]; again: () => Promise<void> }) => (
  <Table
    label="Messages"
    rows={rows}
    id={(m) => m.messageId}
    columns={[
      { name: "State", class: "tight", of: (m) => <Badge tone={tone(m.state)}>{m.state.toLowerCase()}</Badge> },
      {
        name: "Destination",
        class: "main-cell",
        of: (m) => (
          <>
            <A to="/messages" q={{ id: m.messageId }}>
              <Url of={m.url || m.topicName || m.api} most={200} />
            </A>
            <Ended of={m} />
          </>
        ),
      },
      { name: "Attempts", class: "num", of: (m) => `${count(m.attempts)} of ${count(m.maxRetries + 1)}` },
      { name: "Took", class: "num", of: (m) => (m.attemptMs === undefined ? "" : msSpan(m.attemptMs)) },
      { name: "Queue", class: "less", of: (m) => m.queueName && <bdi>{plain(m.queueName).slice(0, 80)}</bdi> },
      { name: "Labels", class: "less", of: (m) => m.labels && <bdi>{plain(m.labels.join(", ")).slice(0, 80)}</bdi> },
      { name: "Published", class: "tight", of: (m) => <Ago at={m.createdAt} /> },
      { name: "-Acts", class: "acts-cell", of: (m) => <Acts of={m} again={again} /> },
    ]}
  />
);

/** Ended says in a line how the last attempt went, unless it was taken, and when the next one is due. */
function Ended({ of: m }: { of: Standing }) {
  const text = m.error || text64(m.responseBody);
  const next = m.state === "RETRY" && m.nextDeliveryTime;
  if (!text && !m.responseStatus && !next) return null;
  return (
    <div class="dim under">
      {!!m.responseStatus && m.state !== "DELIVERED" && <b>{m.responseStatus} </b>}
      <bdi>{plain(text.replace(/\s+/g, " ")).slice(0, 160)}</bdi>
      {next ? (
        <>
          {" "}
          Next attempt <Ago at={next} />.
        </>
      ) : null}
    </div>
  );
}

const retryOne = (id: string) =>
  json<Published>(`/v2/dlq/retry?messageId=${encodeURIComponent(id)}`, { method: "POST" });

function Acts({ of: m, again }: { of: Standing; again: () => Promise<void> }) {
  if (!mayWrite()) return null;
  if (m.state === "FAILED")
    return (
      <Button
        kind="quiet"
        onClick={() => act("It is published again", () => retryOne(m.messageId), newMessage).then(again)}
      >
        Retry
      </Button>
    );
  if (m.state === "RETRY" && !m.queueName)
    return (
      <Button kind="quiet" onClick={() => runNow(m.messageId).then(again)}>
        Run now
      </Button>
    );
  return null;
}

/** EventRows are events, one a row. */
export const EventRows = ({ rows }: { rows: Event[] }) => (
  <Table
    label="Events"
    rows={rows}
    id={(e, i) => e.messageId + e.time + i}
    columns={[
      { name: "When", class: "tight", of: (e) => figure("/v2/events", "time", e.time) },
      { name: "State", class: "tight", of: (e) => <Badge tone={tone(e.state)}>{e.state.toLowerCase()}</Badge> },
      {
        name: "Destination",
        class: "main-cell",
        of: (e) => (
          <A to="/messages" q={{ id: e.messageId }}>
            <Url of={e.url || e.topicName || e.api} most={200} />
          </A>
        ),
      },
      { name: "Answer", class: "num", of: (e) => e.responseStatus || "" },
      { name: "Queue", class: "less", of: (e) => e.queueName && <bdi>{plain(e.queueName).slice(0, 80)}</bdi> },
      { name: "Labels", of: (e) => e.labels && <bdi>{plain(e.labels.join(", ")).slice(0, 80)}</bdi> },
      { name: "Message", class: "less", of: (e) => <span class="mono dim">{e.messageId}</span> },
    ]}
  />
);
