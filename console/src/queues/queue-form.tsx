// The form of a queue.
import { useState } from "preact/hooks";
import { json } from "../api";
import { Button, Field, Text } from "../ui/controls";
import { Dialog } from "../ui/dialogs";
import { act } from "../ui/toasts";
import type { Queue } from "./queue";

export function QueueForm({ q, close, done }: { q: Partial<Queue>; close: () => void; done: () => void }) {
  const [n, call] = useState(q.name ?? ""),
    [p, put] = useState(String(q.parallelism ?? 1));
  return (
    <Dialog title={q.name ? "Edit queue" : "New queue"} close={close}>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          if (
            await act("The queue is saved", () =>
              json("/v2/queues", { data: { queueName: n, parallelism: Number(p) } }),
            )
          ) {
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
