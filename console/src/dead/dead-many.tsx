// Many dead letters, sent again or deleted at once.
import { json } from "../api";
import { count, things } from "../format";
import { sure } from "../ui/dialogs";
import { toast } from "../ui/toasts";
import type { Letters } from "./dead-letter";

export type What = "retry" | "delete" | "restart";
export type Progress = { done: number; of: number; what: string };
type Many = {
  root: string;
  filters: string;
  runs: boolean;
  picked: Set<string>;
  say: (p: Progress | null) => void;
  done: () => Promise<void>;
};

/** many counts what is picked or matches, asks, and then goes on fifty by fifty. */
export async function many(what: What, { root, filters, runs, picked, say, done }: Many) {
  const ids = picked.size ? [...picked] : await allOf(root, filters);
  if (!ids) return;
  const all = ids.length;
  if (!all) return toast("Nothing matches", "bad");
  const word = what === "delete" ? "Delete" : what === "restart" ? "Restart" : runs ? "Resume" : "Retry";
  sure({
    title: `${word} ${things(all, "dead letter")}`,
    name: String(all),
    verb: `${word} ${count(all)}`,
    done: `${word}: ${count(all)} done`,
    text: <p>{outcome(what, runs)}</p>,
    go: async () => {
      try {
        for (let i = 0; i < all; i += 50) {
          say({ done: i, of: all, what: word });
          const q = new URLSearchParams(ids.slice(i, i + 50).map((id) => ["dlqIds", id]));
          await json(
            what === "delete" ? `${root}?${q}` : `${root}/${runs && what === "retry" ? "resume" : what}?${q}`,
            { method: what === "delete" ? "DELETE" : "POST" },
          );
        }
      } finally {
        say(null);
        await done();
      }
    },
  });
}

const outcome = (what: What, runs: boolean) =>
  what === "delete"
    ? "They are deleted for good: nothing of them can be sent again."
    : runs
      ? "Each becomes a new run."
      : "Each is published anew, with all of its attempts, and leaves the dead letters.";

/** allOf are the ids of all dead letters that filters choose; null if that could not be known, which is said. */
async function allOf(root: string, filters: string): Promise<string[] | null> {
  const ids: string[] = [];
  let at = "";
  try {
    do {
      const r = await json<Letters>(`${root}?count=100&${filters}${at && `&cursor=${encodeURIComponent(at)}`}`);
      ids.push(...r.messages.map((m) => m.dlqId));
      at = r.cursor ?? "";
    } while (at);
  } catch (e) {
    toast((e as Error).message, "bad");
    return null;
  }
  return ids;
}
