// Queues.
import { useState } from "preact/hooks";
import { json, plain } from "../api";
import { count } from "../format";
import { mayWrite } from "../messages/event";
import { B, name, Why } from "../messages/why";
import { query } from "../router";
import { Button } from "../ui/controls";
import { First } from "../ui/first";
import { A, Badge, Card, Page } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Table } from "../ui/table";
import { Ago } from "../ui/time";
import { One, pauseOrResume, type Queue, remove } from "./queue";
import { QueueForm } from "./queue-form";

export function Queues() {
  const id = query.value.get("name");
  return id ? <One id={id} key={id} /> : <List />;
}

function List() {
  const queues = useLoad<Queue[]>((poll) => json("/v2/queues", { poll }), [], 4000);
  const [edit, open] = useState<Partial<Queue> | null>(null);
  const [why, ask] = useState("");
  return (
    <Page
      title="Queues"
      sub="Messages that are delivered in order, a few at a time"
      acts={
        mayWrite() && (
          <Button kind="main" icon="plus" onClick={() => open({})}>
            New queue
          </Button>
        )
      }
    >
      <Loaded
        of={queues}
        isEmpty={(d) => !d.length}
        empty={
          <First
            icon="queues"
            title="There are no queues"
            act={
              mayWrite() && (
                <Button kind="main" icon="plus" onClick={() => open({})}>
                  Create the first queue
                </Button>
              )
            }
            shell="trireme queues upsert emails --parallelism 2"
            service="Messages"
          >
            A queue delivers its messages in their order, one or a few at a time. A message with a queue's name creates
            it, too.
          </First>
        }
      >
        {(d) => (
          <Card class="flush">
            <Table
              label="Queues"
              rows={d}
              id={(q) => q.name}
              columns={[
                {
                  name: "Queue",
                  class: "main-cell",
                  of: (q) => (
                    <A to="/queues" q={{ name: q.name }}>
                      <B of={q.name} />
                    </A>
                  ),
                },
                {
                  name: "State",
                  of: (q) => <Badge tone={q.paused ? "warn" : "good"}>{q.paused ? "paused" : "open"}</Badge>,
                },
                { name: "Waiting", class: "num", of: (q) => count(q.lag) },
                { name: "Parallelism", class: "num", of: (q) => q.parallelism },
                { name: "Changed", of: (q) => <Ago at={q.updatedAt} /> },
                {
                  name: "-Actions",
                  class: "acts-cell",
                  of: (q) => (
                    <>
                      <A to="/messages" q={{ queueName: q.name }} class="button quiet">
                        Messages
                      </A>
                      {q.lag > 0 && (
                        <Button kind="quiet" onClick={() => ask(q.name)}>
                          Why it waits
                        </Button>
                      )}
                      {mayWrite() && (
                        <>
                          <Button kind="quiet" onClick={() => pauseOrResume(q, queues.again)}>
                            {q.paused ? "Resume" : "Pause"}
                          </Button>
                          <Button kind="quiet" onClick={() => open(q)}>
                            Edit
                          </Button>
                          <Button kind="quiet" class="bad" onClick={() => remove(q, queues.again)}>
                            Delete
                          </Button>
                        </>
                      )}
                    </>
                  ),
                },
              ]}
            />
          </Card>
        )}
      </Loaded>
      {edit && <QueueForm q={edit} close={() => open(null)} done={queues.again} />}
      {why && (
        <Why path={`/v2/queues/${name(why)}?explain=true`} title={`Why ${plain(why)} waits`} close={() => ask("")} />
      )}
    </Page>
  );
}
