// The form of a queue.
import { useState } from "preact/hooks";
import { json } from "../api";
import { Field, Text } from "../ui/controls";
import { FormDialog } from "../ui/dialogs";
import type { Queue } from "./queue";

export function QueueForm({ q, close, done }: { q: Partial<Queue>; close: () => void; done: () => void }) {
  const [n, call] = useState(q.name ?? ""),
    [p, put] = useState(String(q.parallelism ?? 1));
  return (
    <FormDialog
      title={q.name ? "Edit queue" : "New queue"}
      close={close}
      verb="Save the queue"
      said="The queue is saved"
      go={() => json("/v2/queues", { data: { queueName: n, parallelism: Number(p) } })}
      then={done}
    >
      <div class="form">
        <Field label="Name" wide>
          <Text value={n} onText={call} required readOnly={!!q.name} />
        </Field>
        <Field label="Parallelism" help="Attempts at the same time">
          <Text type="number" min="1" value={p} onText={put} required />
        </Field>
      </div>
    </FormDialog>
  );
}
