// What can be done with a message.
import { json } from "../api";
import { Button, Copy } from "../ui/controls";
import { sure } from "../ui/dialogs";
import { type Event, type Kept, runNow } from "./event";
import { asForm, curl } from "./publish";

type Props = { id: string; of: Event; message: Kept | null; again: () => Promise<void>; republish: () => void };

export function MessageActs({ id, of: e, message, again, republish }: Props) {
  const delayed = /^(delay|backoff)$/.test(message?.explain?.reason ?? "") && !e.queueName;
  return (
    <>
      <Copy label="Copy as curl" text={() => asCurl(e)} />
      <Button onClick={republish}>Edit and republish</Button>
      {delayed && <Button onClick={() => runNow(id).then(again)}>Run now</Button>}
      {message && (
        <Button
          class="bad"
          onClick={() =>
            sure({
              title: "Cancel this message",
              text: <p>It will not be delivered. An attempt under way may still arrive at {e.url}.</p>,
              verb: "Cancel the message",
              done: "Canceled",
              go: () => json(`/v2/messages/${encodeURIComponent(id)}`, { method: "DELETE" }).then(again),
            })
          }
        >
          Cancel
        </Button>
      )}
    </>
  );
}

function asCurl(e: Event) {
  const f = asForm(e),
    lines = f.headers.split("\n").filter(Boolean);
  const headers = lines.map((l) => [`Svc-Forward-${l.split(":")[0]}`, l.slice(l.indexOf(":") + 1).trim()]);
  return curl("POST", `/v2/publish/${f.to}`, Object.fromEntries(headers), f.body);
}
