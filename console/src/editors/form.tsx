// Forms for one element of a value, and the question before one is deleted.
import { useState } from "preact/hooks";
import { Area, Button, Field, Text } from "../ui/controls";
import { FormDialog, sure } from "../ui/dialogs";

type FormProps = {
  title: string;
  fields: { label: string; value?: string; area?: boolean; optional?: boolean; fixed?: boolean }[];
  close: () => void;
  write: (texts: string[]) => Promise<unknown>;
};

/** Form asks for some texts and writes them. */
function Form({ title, fields, close, write }: FormProps) {
  const [texts, put] = useState(fields.map((f) => f.value ?? ""));
  return (
    <FormDialog title={title} close={close} verb="Save" said="Saved" go={() => write(texts)}>
      <div class="form">
        {fields.map((f, i) => (
          <Field key={f.label} label={f.label} wide>
            {f.area ? (
              <Area value={texts[i]} onText={(t) => put(texts.with(i, t))} />
            ) : (
              <Text value={texts[i]} readOnly={f.fixed} required={!f.optional} onText={(t) => put(texts.with(i, t))} />
            )}
          </Field>
        ))}
      </div>
    </FormDialog>
  );
}

export function useForm() {
  const [form, open] = useState<null | FormProps>(null);
  return {
    open: (f: Omit<FormProps, "close">) => open({ ...f, close: () => open(null) }),
    view: form && <Form {...form} />,
  };
}

export const Drop = ({ what, go }: { what: string; go: () => Promise<unknown> }) => (
  <Button
    kind="quiet"
    class="bad"
    onClick={() =>
      sure({
        title: `Delete ${what}`,
        text: <p>It is deleted at once, on all nodes.</p>,
        verb: "Delete",
        done: "Deleted",
        go,
      })
    }
  >
    Delete
  </Button>
);
