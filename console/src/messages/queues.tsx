// Queues.
import { useState } from "preact/hooks";
import { json, plain } from "../api";
import { count, things } from "../format";
import { Button, Field, Text } from "../ui/controls";
import { Dialog, sure } from "../ui/dialogs";
import { A, Badge, Card, Empty, Page, Table } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Ago } from "../ui/time";
import { act } from "../ui/toasts";
import { mayWrite } from "./event";
import { B, name, Why } from "./why";

type Queue = { name: string; parallelism: number; createdAt: number; updatedAt: number; lag: number; paused: boolean };
export function Queues() {
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
          <Card>
            <Empty icon="queues" title="There are no queues">
              A queue comes to be with its first message, or here.
            </Empty>
          </Card>
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
                    <b>
                      <B of={q.name} />
                    </b>
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
                          <Button
                            kind="quiet"
                            onClick={() =>
                              act(q.paused ? "Resumed" : "Paused", () =>
                                json(`/v2/queues/${name(q.name)}/${q.paused ? "resume" : "pause"}`, { method: "POST" }),
                              ).then(queues.again)
                            }
                          >
                            {q.paused ? "Resume" : "Pause"}
                          </Button>
                          <Button kind="quiet" onClick={() => open(q)}>
                            Edit
                          </Button>
                          <Button
                            kind="quiet"
                            class="bad"
                            onClick={() =>
                              sure({
                                title: "Delete this queue",
                                name: q.name,
                                verb: "Delete",
                                done: "Deleted",
                                text: <p>The queue and the {things(q.lag, "message")} in it are deleted.</p>,
                                go: () => json(`/v2/queues/${name(q.name)}`, { method: "DELETE" }).then(queues.again),
                              })
                            }
                          >
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
function QueueForm({ q, close, done }: { q: Partial<Queue>; close: () => void; done: () => void }) {
  const [n, call] = useState(q.name ?? ""),
    [p, put] = useState(String(q.parallelism ?? 1));
  return (
    <Dialog title={q.name ? "Edit queue" : "New queue"} close={close}>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          if (await act("Written", () => json("/v2/queues", { data: { queueName: n, parallelism: Number(p) } }))) {
            close();
            done();
          }
        }}
      >
        <div class="form">
          <Field label="Name" wide>
            <Text value={n} onText={call} required readOnly={!!q.name} />
          </Field>
          <Field label="Parallelism" help="Attempts at the same time">
            <Text type="number" min="1" value={p} onText={put} required />
          </Field>
        </div>
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="main">
            Save the queue
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
