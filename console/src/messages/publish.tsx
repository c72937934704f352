// The form that publishes a message.
import { useState } from "preact/hooks";
import { raw } from "../api";
import { go } from "../router";
import { Area, Button, Choose, Copy, Field, Text } from "../ui/controls";
import { Dialog } from "../ui/dialogs";
import { act } from "../ui/toasts";
import { type Event, text64 } from "./event";

export function curl(method: string, path: string, headers: Record<string, string>, body: string): string {
  const quote = (s: string) => `'${s.replace(/'/g, "'\\''")}'`;
  return [
    `curl -X ${method} ${quote(location.origin + path)}`,
    `-H "Authorization: Bearer $QSTASH_TOKEN"`,
    ...Object.entries(headers).map(([n, v]) => `-H ${quote(`${n}: ${v}`)}`),
    ...(body ? [`--data-raw ${quote(body)}`] : []),
  ].join(" \\\n  ");
}

export function asForm(e: Event): Form {
  return {
    to: e.url || e.topicName || "",
    method: e.method || "POST",
    body: text64(e.body),
    queue: e.queueName ?? "",
    delay: "",
    retries: String(e.maxRetries ?? ""),
    label: e.label ?? "",
    flow: e.flowControlKey ?? "",
    flowValue: [
      e.parallelism && `parallelism=${e.parallelism}`,
      e.rate && `rate=${e.rate}`,
      e.period && `period=${e.period}s`,
    ]
      .filter(Boolean)
      .join(", "),
    callback: e.callback ?? "",
    failureCallback: e.failureCallback ?? "",
    headers: Object.entries(e.header ?? {})
      .filter(([n]) => !/^(upstash-|svc-|content-length|user-agent)/i.test(n))
      .flatMap(([n, v]) => v.map((x) => `${n}: ${x}`))
      .join("\n"),
  };
}
type Form = {
  to: string;
  method: string;
  body: string;
  queue: string;
  delay: string;
  retries: string;
  label: string;
  flow: string;
  flowValue: string;
  callback: string;
  failureCallback: string;
  headers: string;
};
const blank: Form = {
  to: "",
  method: "POST",
  body: "",
  queue: "",
  delay: "",
  retries: "",
  label: "",
  flow: "",
  flowValue: "",
  callback: "",
  failureCallback: "",
  headers: "Content-Type: application/json",
};

export function Publish({
  close,
  done,
  from,
  title = "Publish a message",
}: {
  close: () => void;
  done: (id?: string) => void;
  from?: Event;
  title?: string;
}) {
  const [f, put] = useState<Form>(from ? asForm(from) : blank);
  const set = (n: keyof Form) => (t: string) => put((was) => ({ ...was, [n]: t }));
  const request = () => {
    const headers: Record<string, string> = {};
    for (const [n, v] of [
      ["Svc-Method", f.method === "POST" ? "" : f.method],
      ["Svc-Delay", f.delay],
      ["Svc-Retries", f.retries],
      ["Svc-Label", f.label],
      ["Svc-Flow-Control-Key", f.flow],
      ["Svc-Flow-Control-Value", f.flowValue],
      ["Svc-Callback", f.callback],
      ["Svc-Failure-Callback", f.failureCallback],
    ])
      if (v) headers[n] = v;
    for (const line of f.headers.split("\n")) {
      const i = line.indexOf(":");
      if (i < 1) continue;
      const n = line.slice(0, i).trim();
      headers[/^content-type$/i.test(n) ? "Content-Type" : `Svc-Forward-${n}`] = line.slice(i + 1).trim();
    }
    return { path: f.queue ? `/v2/enqueue/${encodeURIComponent(f.queue)}/${f.to}` : `/v2/publish/${f.to}`, headers };
  };
  return (
    <Dialog title={title} close={close} wide>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          const { path, headers } = request();
          let id: string | undefined;
          if (
            await act("Published", async () => {
              const r = await (await raw(path, { method: "POST", headers, body: f.body || undefined })).json();
              id = (Array.isArray(r) ? r[0] : r)?.messageId;
            })
          ) {
            close();
            done(id);
            if (id) go("/messages", { id });
          }
        }}
      >
        <div class="form">
          <Field label="Destination" help="A URL, or the name of a URL group" wide>
            <Text value={f.to} onText={set("to")} required placeholder="https://example.com/hook" autoFocus />
          </Field>
          <Field label="Method">
            <Choose value={f.method} of={["POST", "GET", "PUT", "PATCH", "DELETE"]} onText={set("method")} />
          </Field>
          <Field label="Queue" help="Leave empty for none">
            <Text value={f.queue} onText={set("queue")} />
          </Field>
          <Field label="Delay" help="10s, 5m, 2h">
            <Text value={f.delay} onText={set("delay")} />
          </Field>
          <Field label="Retries">
            <Text type="number" min="0" value={f.retries} onText={set("retries")} placeholder="3" />
          </Field>
          <Field label="Label">
            <Text value={f.label} onText={set("label")} />
          </Field>
          <Field label="Flow-control key">
            <Text value={f.flow} onText={set("flow")} />
          </Field>
          <Field label="Flow-control value">
            <Text value={f.flowValue} onText={set("flowValue")} placeholder="parallelism=2, rate=10, period=1m" />
          </Field>
          <Field label="Callback URL">
            <Text value={f.callback} onText={set("callback")} />
          </Field>
          <Field label="Failure callback URL">
            <Text value={f.failureCallback} onText={set("failureCallback")} />
          </Field>
          <Field label="Headers for the destination, one a line" wide>
            <Area value={f.headers} onText={set("headers")} rows={3} />
          </Field>
          <Field label="Body" wide>
            <Area value={f.body} onText={set("body")} rows={6} />
          </Field>
        </div>
        <footer>
          <Copy
            label="Copy as curl"
            text={() => {
              const { path, headers } = request();
              return curl("POST", path, headers, f.body);
            }}
          />
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="main">
            Publish
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
