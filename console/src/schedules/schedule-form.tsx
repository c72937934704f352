// The form of a schedule.
import { useState } from "preact/hooks";
import { raw } from "../api";
import { Area, Choose, Field, Text } from "../ui/controls";
import { FormDialog } from "../ui/dialogs";
import { Note } from "../ui/layout";
import { Preview } from "./cron";
import type { Schedule } from "./schedule";

export function ScheduleForm({ s, close, done }: { s: Partial<Schedule>; close: () => void; done: () => void }) {
  const [f, put] = useState({
    id: s.scheduleId ?? "",
    cron: s.cron ?? "*/5 * * * *",
    to: s.destination ?? "",
    method: s.method ?? "POST",
    retries: String(s.retries ?? 3),
    misfire: s.misfire ?? "once",
    body: s.body ?? "",
    queue: s.queueName ?? "",
  });
  const on = (n: keyof typeof f) => (t: string) => put((was) => ({ ...was, [n]: t }));
  return (
    <FormDialog
      title={s.scheduleId ? "Edit schedule" : "New schedule"}
      close={close}
      wide
      verb="Save the schedule"
      said="The schedule is saved"
      go={() => {
        const headers: Record<string, string> = {
          "Svc-Cron": f.cron,
          "Svc-Method": f.method,
          "Svc-Retries": f.retries,
          "Svc-Misfire": f.misfire,
          "Content-Type": "application/json",
        };
        if (f.id) headers["Svc-Schedule-Id"] = f.id;
        if (f.queue) headers["Svc-Queue-Name"] = f.queue;
        return (() => raw(`/v2/schedules/${f.to}`, { method: "POST", headers, body: f.body || undefined }))();
      }}
      then={done}
    >
      <div class="form">
        <Field label="Destination" wide>
          <Text value={f.to} onText={on("to")} required />
        </Field>
        <Field label="Cron" help="CRON_TZ=Europe/Berlin 0 9 * * 1-5, @daily, @every 30s">
          <Text value={f.cron} onText={on("cron")} required />
        </Field>
        <Preview of={f.cron} />
        <Field label="Id" help="Leave empty to generate one">
          <Text value={f.id} onText={on("id")} readOnly={!!s.scheduleId} />
        </Field>
        <Field label="Method">
          <Choose of={["POST", "GET", "PUT", "PATCH", "DELETE"]} value={f.method} onText={on("method")} />
        </Field>
        <Field label="Retries">
          <Text type="number" min="0" value={f.retries} onText={on("retries")} />
        </Field>
        <Field label="Missed times">
          <Choose
            of={[
              ["once", "Publish once for all of them"],
              ["all", "Publish once for each"],
              ["none", "Dropped"],
            ]}
            value={f.misfire}
            onText={on("misfire")}
          />
        </Field>
        <Field label="Queue">
          <Text value={f.queue} onText={on("queue")} />
        </Field>
        <Field label="Body" wide>
          <Area value={f.body} onText={on("body")} />
        </Field>
      </div>
      {s.scheduleId && (
        <Note kind="warn">The schedule is overwritten whole: settings that this form does not show go.</Note>
      )}
    </FormDialog>
  );
}
