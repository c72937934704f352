// The form that limits the attempts of all messages.
import { useState } from "preact/hooks";
import { json } from "../api";
import { Button, Field, Text } from "../ui/controls";
import { Dialog } from "../ui/dialogs";
import { act } from "../ui/toasts";

export function Limit({ of, close, done }: { of: number; close: () => void; done: () => void }) {
  const [most, put] = useState(String(of));
  const save = () => json("/v2/globalParallelism", { data: { parallelismMax: Number(most) } });
  return (
    <Dialog title="Limit all attempts" close={close}>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          if (await act("The limit is set", save)) {
            close();
            done();
          }
        }}
      >
        <Field label="Attempts at the same time" help="0: no limit">
          <Text type="number" min="0" value={most} onText={put} />
        </Field>
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="main">
            Set the limit
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
