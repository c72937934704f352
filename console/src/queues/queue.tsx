// One queue: whether it works, why it waits, and what went through it.
import { useState } from "preact/hooks";
import { found, json, plain } from "../api";
import { count, things } from "../format";
import { mayWrite } from "../messages/event";
import { Tenants } from "../messages/tenants";
import { Traffic } from "../messages/traffic";
import { B, name, Waits } from "../messages/why";
import { go } from "../router";
import type { Messages } from "../schemas";
import { Button } from "../ui/controls";
import { sure } from "../ui/dialogs";
import { A, Badge, Card, Empty, Facts, Page } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Ago } from "../ui/time";
import { act } from "../ui/toasts";
import { QueueForm } from "./queue-form";

export type Queue = Messages["Queue"];

/** pauseOrResume changes what a queue does now. */
export const pauseOrResume = (q: Queue, again: () => Promise<void>) => {
  const post = (what: string) => json(`/v2/queues/${name(q.name)}/${what}`, { method: "POST" }).then(again),
    [on, off] = q.paused ? ["resume", "pause"] : ["pause", "resume"];
  return act(
    q.paused ? "Resumed" : "Paused",
    () => post(on),
    () => ({ name: "Undo", undo: () => post(off) }),
  );
};

/** remove asks, and deletes a queue. */
export const remove = (q: Queue, done: () => void) =>
  sure({
    title: "Delete this queue",
    name: q.name,
    verb: "Delete",
    done: "Deleted",
    text: <p>The queue and the {things(q.lag, "message")} in it are deleted.</p>,
    go: () => json(`/v2/queues/${name(q.name)}`, { method: "DELETE" }).then(done),
  });

export function One({ id }: { id: string }) {
  const [edit, open] = useState(false);
  const queue = useLoad(
    (poll) => found<Queue>(`/v2/queues/${name(id)}?explain=true&tenants=true&count=100`, poll),
    [id],
    4000,
  );
  return (
    <Loaded of={queue} isEmpty={(q) => !q} empty={<None id={id} />}>
      {(q) =>
        q && (
          <Page
            title="Queue"
            sub={
              <>
                <A to="/queues">Queues</A> / <B of={q.name} />
              </>
            }
            acts={
              mayWrite() && (
                <>
                  <Button onClick={() => pauseOrResume(q, queue.again)}>{q.paused ? "Resume" : "Pause"}</Button>
                  <Button onClick={() => open(true)}>Edit</Button>
                  <Button class="bad" onClick={() => remove(q, () => go("/queues"))}>
                    Delete
                  </Button>
                </>
              )
            }
          >
            {q.lag > 0 && <Waits of={q.explain} />}
            <Card>
              <Facts
                of={[
                  ["State", <Badge tone={q.paused ? "warn" : "good"}>{q.paused ? "paused" : "open"}</Badge>],
                  [
                    "Paused by",
                    q.pausedBy && (
                      <A to="/messages" q={{ id: q.pausedBy }}>
                        {q.pausedBy}
                      </A>
                    ),
                  ],
                  ["Not done", count(q.lag)],
                  ["Parallelism", count(q.parallelism)],
                  ["Created", <Ago at={q.createdAt} />],
                  ["Changed", <Ago at={q.updatedAt} />],
                ]}
              />
            </Card>
            {q.tenants && <Tenants of={q.tenants} total={q.tenantCount ?? 0} />}
            <Traffic of={{ queueName: q.name }} open={q.lag} />
            {edit && <QueueForm q={q} close={() => open(false)} done={queue.again} />}
          </Page>
        )
      }
    </Loaded>
  );
}

const None = ({ id }: { id: string }) => (
  <Page title="Queue">
    <Card>
      <Empty
        icon="queues"
        title="There is no such queue"
        act={
          <A to="/queues" class="button">
            All queues
          </A>
        }
      >
        {plain(id)} comes to be with its first message.
      </Empty>
    </Card>
  </Page>
);
