// The form that limits the attempts of all messages.
import { useState } from "preact/hooks";
import { json } from "../api";
import { Field, Text } from "../ui/controls";
import { FormDialog } from "../ui/dialogs";

export function Limit({ of, close, done }: { of: number; close: () => void; done: () => void }) {
  const [most, put] = useState(String(of));
  const save = () => json("/v2/globalParallelism", { data: { parallelismMax: Number(most) } });
  return (
    <FormDialog
      title="Limit all attempts"
      close={close}
      verb="Set the limit"
      said="The limit is set"
      go={save}
      then={done}
    >
      <Field label="Attempts at the same time" help="0: no limit">
        <Text type="number" min="0" value={most} onText={put} />
      </Field>
    </FormDialog>
  );
}
