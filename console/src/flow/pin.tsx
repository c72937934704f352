// The form that pins the limits of a flow-control key.
import { useState } from "preact/hooks";
import { json, plain } from "../api";
import { name } from "../messages/why";
import { Field, Text } from "../ui/controls";
import { FormDialog } from "../ui/dialogs";
import type { Flow } from "./flow-key";

export function Pin({ f, close, done }: { f: Flow; close: () => void; done: () => void }) {
  const [p, setP] = useState(String(f.parallelismMax || "")),
    [r, setR] = useState(String(f.rateMax || "")),
    [t, setT] = useState(String(f.ratePeriod || 1)),
    [b, setB] = useState(String(f.burst || ""));
  return (
    <FormDialog
      title={`Pin ${plain(f.flowControlKey)}`}
      close={close}
      verb="Pin"
      said="Pinned"
      go={() => {
        const q = new URLSearchParams();
        if (p) q.set("parallelism", p);
        if (r) {
          q.set("rate", r);
          q.set("period", t);
          if (b) q.set("burst", b);
        }
        return (() => json(`/v2/flowControl/${name(f.flowControlKey)}/pin?${q}`, { method: "POST" }))();
      }}
      then={done}
    >
      <p class="dim">Pinned values stay, whatever messages ask for.</p>
      <br />
      <div class="form">
        <Field label="Parallelism">
          <Text type="number" min="1" value={p} onText={setP} />
        </Field>
        <Field label="Rate">
          <Text type="number" min="1" value={r} onText={setR} />
        </Field>
        <Field label="Period in seconds">
          <Text type="number" min="1" value={t} onText={setT} />
        </Field>
        <Field label="Burst, without windows">
          <Text type="number" min="1" value={b} onText={setB} />
        </Field>
      </div>
    </FormDialog>
  );
}
