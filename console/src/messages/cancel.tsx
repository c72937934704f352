// The cancellation of all messages that match filters.
import { json } from "../api";
import { sure } from "../ui/dialogs";

export function cancelMany(p: string, done: () => Promise<void>) {
  sure({
    title: "Cancel all messages that match",
    name: "cancel",
    verb: "Cancel messages",
    done: "Canceled",
    text: (
      <>
        <p>
          Messages that are not delivered yet and match these filters are canceled. Attempts under way may still arrive.
        </p>
        <p class="mono">{decodeURIComponent(p)}</p>
      </>
    ),
    go: async () => {
      const q = new URLSearchParams(p);
      q.delete("state");
      await json(`/v2/messages?${q}`, { method: "DELETE" });
      await done();
    },
  });
}
