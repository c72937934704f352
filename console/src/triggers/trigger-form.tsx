// The form of a trigger.
import { useState } from "preact/hooks";
import { enc, run, show } from "../api";
import { msOfSeconds, secondsOfMs } from "../format";
import { Choose, Field, Text } from "../ui/controls";
import { FormDialog } from "../ui/dialogs";
import { Note } from "../ui/layout";
import type { Trigger } from "./load";

type Form = Record<
  "name" | "prefix" | "events" | "types" | "values" | "to" | "target" | "retries" | "lanes" | "maxlen" | "keep",
  string
>;

const formOf = (t?: Trigger): Form => ({
  name: show(t?.name ?? ""),
  prefix: show(t?.prefix ?? ""),
  events: show((t?.events ?? []).join(",")),
  types: show((t?.types ?? []).join(",")),
  values: (t?.values ?? []).join(","),
  to: t?.to ?? "message",
  target: show(t?.destination || t?.stream || ""),
  retries: "",
  lanes: String(t?.lanes ?? 1),
  maxlen: t?.maxlen ? String(t.maxlen) : "",
  keep: t?.keepMs ? String(secondsOfMs(t.keepMs)) : "",
});

/** command is the TRIGGER.SET of what somebody has filled in. */
export function command(f: Form, was?: Trigger): string[] {
  const some = (name: string, text: string) => (text.trim() ? [name, enc(text.replace(/\s/g, ""))] : []),
    same = (text: string, is: string | undefined) => (is !== undefined && show(is) === text ? is : enc(text)),
    own = f.to === "message" && !was?.queue;
  const target =
    f.to === "stream"
      ? [
          "STREAM",
          same(f.target, was?.stream),
          ...some("MAXLEN", f.maxlen),
          ...(f.keep ? ["KEEP", String(Math.round(msOfSeconds(Number(f.keep))))] : []),
        ]
      : [
          f.to === "run" ? "RUN" : "MESSAGE",
          same(f.target, was?.destination),
          ...some("RETRIES", f.retries),
          ...(was?.queue && f.to === "message" ? ["QUEUE-NAME", was.queue] : []),
        ];
  return [
    "TRIGGER.SET",
    same(f.name, was?.name),
    same(f.prefix, was?.prefix),
    ...some("EVENTS", f.events),
    ...some("TYPES", f.types),
    ...some("VALUES", f.values),
    ...(own && f.lanes !== "1" ? ["LANES", f.lanes] : []),
    ...target,
  ];
}

export function TriggerForm({ t, close, done }: { t?: Trigger; close: () => void; done: () => void }) {
  const [f, put] = useState(formOf(t)),
    on = (n: keyof Form) => (text: string) => put((was) => ({ ...was, [n]: text })),
    text = (n: keyof Form) => ({ value: f[n], onText: on(n) });
  return (
    <FormDialog
      title={t ? "Edit trigger" : "New trigger"}
      close={close}
      wide
      verb="Save the trigger"
      said="The trigger is saved"
      go={() => run(...command(f, t))}
      then={done}
    >
      <div class="form">
        <Field label="Name">
          <Text {...text("name")} required readOnly={!!t} />
        </Field>
        <Field label="Keys begin with" help="Empty: all keys">
          <Text {...text("prefix")} placeholder="order:" />
        </Field>
        <Field label="Events" help="set, hset, del, expired; empty: all">
          <Text {...text("events")} />
        </Field>
        <Field label="Types" help="string, hash; empty: all">
          <Text {...text("types")} />
        </Field>
        <Field label="Values">
          <Choose
            of={[
              ["", "Not told"],
              ["new", "After the change"],
              ["old", "Before the change"],
              ["old,new", "Before and after the change"],
            ]}
            value={f.values}
            onText={on("values")}
          />
        </Field>
        <Field label="Makes">
          <Choose
            of={[
              ["message", "A message"],
              ["run", "A workflow run"],
              ["stream", "An entry of a stream"],
            ]}
            value={f.to}
            onText={on("to")}
          />
        </Field>
        <Target f={f} text={text} queue={t?.queue} />
      </div>
      {t && t.to !== "stream" && (
        <Note kind="warn">The trigger is overwritten whole: options that this form does not show go.</Note>
      )}
    </FormDialog>
  );
}

type Fields = (n: keyof Form) => { value: string; onText: (text: string) => void };

/** Target has the fields of what a trigger makes. */
const Target = ({ f, text, queue }: { f: Form; text: Fields; queue?: string }) =>
  f.to === "stream" ? (
    <>
      <Field label="Stream" wide>
        <Text {...text("target")} required placeholder="changes" />
      </Field>
      <Field label="Entries at most" help="Empty: any number">
        <Text type="number" min="0" {...text("maxlen")} />
      </Field>
      <Field label="Seconds of each" help="Empty: for ever">
        <Text type="number" min="0" step="any" {...text("keep")} />
      </Field>
    </>
  ) : (
    <>
      <Field label={f.to === "run" ? "URL of the workflow" : "Destination"} wide>
        <Text {...text("target")} required placeholder="https://example.com/orders" />
      </Field>
      <Field label="Retries" help="Empty: the default of the database">
        <Text type="number" min="0" {...text("retries")} />
      </Field>
      {f.to === "message" && !queue && (
        <Field label="Lanes" help="Queues among which keys are divided">
          <Text type="number" min="1" max="64" {...text("lanes")} required />
        </Field>
      )}
    </>
  );
