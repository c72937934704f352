// The form of an endpoint of a URL group, which makes the group if there is none.
import { useState } from "preact/hooks";
import { json } from "../api";
import { name } from "../messages/why";
import { Field, Text } from "../ui/controls";
import { FormDialog } from "../ui/dialogs";

/** EndpointForm asks for the group too if that is empty. */
export function EndpointForm({ group, close, done }: { group: string; close: () => void; done: () => void }) {
  const [n, call] = useState(group),
    [url, put] = useState(""),
    [label, named] = useState("");
  const endpoints = [{ url, ...(label ? { name: label } : {}) }],
    save = () => json(`/v2/topics/${name(n)}/endpoints`, { data: { endpoints } });
  return (
    <FormDialog
      title={group ? "New endpoint" : "New URL group"}
      close={close}
      verb="Save the endpoint"
      said="The endpoint is saved"
      go={save}
      then={done}
    >
      <div class="form">
        <Field label="Group" wide>
          <Text value={n} onText={call} readOnly={!!group} required />
        </Field>
        <Field label="URL" wide>
          <Text value={url} onText={put} required />
        </Field>
        <Field label="Name of the endpoint" help="Optional" wide>
          <Text value={label} onText={named} />
        </Field>
      </div>
    </FormDialog>
  );
}
