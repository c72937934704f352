// The form that notifies runs of an event.
import { useState } from "preact/hooks";
import { json } from "../api";
import { Area, Field, Text } from "../ui/controls";
import { FormDialog } from "../ui/dialogs";

export function Notify({
  close,
  done,
  event = "",
  run,
}: {
  close: () => void;
  done: () => void;
  event?: string;
  run?: string;
}) {
  const [id, put] = useState(event),
    [data, write] = useState("");
  return (
    <FormDialog
      title="Notify"
      close={close}
      verb="Notify"
      said="Notified"
      go={() =>
        json(`/v2/notify/${run ? `${encodeURIComponent(run)}/` : ""}${encodeURIComponent(id)}`, {
          method: "POST",
          body: data || undefined,
          headers: { "Content-Type": "application/json" },
        })
      }
      then={done}
    >
      <p class="dim">
        {run
          ? "The run goes on with this data, or keeps it until it waits."
          : "Every run that waits for the event goes on with this data."}
      </p>
      <br />
      <div class="form">
        <Field label="Event" wide>
          <Text value={id} onText={put} required readOnly={!!event} />
        </Field>
        <Field label="Data" wide>
          <Area value={data} onText={write} />
        </Field>
      </div>
    </FormDialog>
  );
}
