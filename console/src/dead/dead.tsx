// Dead letters of messages and of runs.
import { useState } from "preact/hooks";
import { json } from "../api";
import { count } from "../format";
import { mayWrite } from "../messages/event";
import { chosen, Filters } from "../messages/filters";
import { query } from "../router";
import { Button } from "../ui/controls";
import { A, Card, Empty, Page, Tabs } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Causes } from "./causes";
import { Letter, type Letters } from "./dead-letter";
import { many, type Progress, type What } from "./dead-many";
import { DeadRows } from "./dead-rows";

const filters: [string, string][] = [
  ["url", "URL"],
  ["label", "Label"],
  ["responseStatus", "Status of the answer"],
  ["queueName", "Queue"],
  ["topicName", "URL group"],
  ["scheduleId", "Schedule"],
  ["flowControlKey", "Flow-control key"],
  ["messageId", "Message id"],
];

export function DeadLetters() {
  const runs = query.value.get("of") === "runs",
    id = query.value.get("id");
  const root = runs ? "/v2/workflows/dlq" : "/v2/dlq";
  const names = filters.map(([n]) => n),
    p = chosen(runs ? names.filter((n) => !["queueName", "topicName", "scheduleId"].includes(n)) : names).toString();
  const [rest, add] = useState<Letters | null>(null);
  const [picked, pick] = useState<Set<string>>(new Set());
  const [progress, say] = useState<Progress | null>(null);
  const first = useLoad<Letters>(
    async (poll) => {
      if (!poll) add(null);
      return json(`${root}?count=100&${p}`, { poll });
    },
    [root, p],
    6000,
  );
  if (id) return <Letter root={root} id={id} runs={runs} />;
  const rows = [...(first.data?.messages ?? []), ...(rest?.messages ?? [])],
    cursor = rest ? rest.cursor : first.data?.cursor;
  const verb = runs ? "Resume" : "Retry";

  const act = (what: What) =>
    many(what, {
      root,
      filters: p,
      runs,
      picked,
      say,
      done: async () => {
        pick(new Set());
        await first.again();
      },
    });
  return (
    <Page
      title="Dead letters"
      sub="What could not be delivered, with its last answer"
      acts={
        mayWrite() &&
        rows.length > 0 && (
          <>
            <Button onClick={() => act("retry")}>
              {verb} {picked.size || "all that match"}
            </Button>
            {runs && <Button onClick={() => act("restart")}>Restart {picked.size || "all that match"}</Button>}
            <Button class="bad" onClick={() => act("delete")}>
              Delete {picked.size || "all that match"}
            </Button>
          </>
        )
      }
    >
      <Tabs
        now={runs ? "runs" : "messages"}
        to={(n) => (n === "runs" ? { of: "runs" } : {})}
        of={[
          ["messages", "Of messages"],
          ["runs", "Of workflow runs"],
        ]}
      />
      <Filters
        key={root}
        of={runs ? filters.filter(([n]) => !["queueName", "topicName", "scheduleId"].includes(n)) : filters}
        at="/dead"
      />
      <Causes filters={p} root={root} />
      {progress && (
        <Card>
          <b role="status">
            {progress.what}: {count(progress.done)} of {count(progress.of)}
          </b>
          <div class="progress">
            <div style={{ width: `${(100 * progress.done) / progress.of}%` }} />
          </div>
        </Card>
      )}
      <Loaded
        of={first}
        isEmpty={(d) => !d.messages.length}
        empty={
          <Card>
            <Empty
              icon="dead"
              title={p ? "No dead letter matches" : "No dead letters"}
              act={
                !p && (
                  <A to={runs ? "/runs" : "/messages"} q={{ state: runs ? "RUN_STARTED" : "RETRY" }} class="button">
                    {runs ? "Runs under way" : "Messages that wait for a retry"}
                  </A>
                )
              }
            >
              {p
                ? "Other filters may find some."
                : "What fails with its last attempt is kept here, to be looked at, edited and sent again."}
            </Empty>
          </Card>
        }
      >
        {() => (
          <Card class="flush">
            <DeadRows rows={rows} runs={runs} picked={picked} pick={pick} />
            {cursor && (
              <div class="tree-foot">
                <Button
                  kind="quiet"
                  onClick={async () => {
                    const more = await json<Letters>(`${root}?count=100&cursor=${encodeURIComponent(cursor)}&${p}`);
                    add({ messages: [...(rest?.messages ?? []), ...more.messages], cursor: more.cursor });
                  }}
                >
                  Show more
                </Button>
              </div>
            )}
          </Card>
        )}
      </Loaded>
    </Page>
  );
}
