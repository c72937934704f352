// Events of messages as the API has them.
import { raw, who } from "../api";
import { unixMs } from "../format";
import type { Messages } from "../schemas";
import { act, see } from "../ui/toasts";

/** Event has its time in unix milliseconds: a node with --spec-literal tells it as a text. */
export type Event = Omit<Messages["Event"], "time"> & { time: number };
export const timed = (e: Messages["Event"]): Event => ({ ...e, time: unixMs(e.time) });
/** Explanation says why a message or a run waits. */
export type Explanation = Messages["Explanation"];
/** Kept is a message that is not delivered yet, and so far has no event. */
export type Kept = Event & { bodyBase64?: string; explain?: Explanation };
export const tone = (s: string) =>
  /DELIVERED|SUCCESS/.test(s)
    ? "good"
    : /FAILED|ERROR/.test(s)
      ? "bad"
      : /RETRY|CANCEL|FAILING/.test(s)
        ? "warn"
        : "info";
export const states = ["CREATED", "ACTIVE", "RETRY", "ERROR", "IN_PROGRESS", "DELIVERED", "FAILED", "CANCELED"];
export const mayWrite = () => who.value?.messages === "all";
export const text64 = (b?: string) => {
  if (!b) return "";
  try {
    const s = atob(b);
    return new TextDecoder().decode(Uint8Array.from(s, (c) => c.charCodeAt(0)));
  } catch {
    return b;
  }
};

// runNow delivers a message at once that waits for its time. The server says which do.
export const runNow = (id: string) =>
  act("It is delivered now", () => raw(`/v2/messages/${encodeURIComponent(id)}/retry`, { method: "POST" }));

/** Published are the messages that a request has made: of one, or of many. */
export type Published = { messageId?: string; responses?: { messageId?: string }[] };
/** newMessage leads to the message that came of an act. */
export const newMessage = (p: Published) => {
  const id = p?.messageId ?? p?.responses?.[0]?.messageId;
  return id ? see("Show the message", "/messages", { id }) : undefined;
};
/** newRun leads to the run that came of an act. */
export const newRun = (p: { workflowRunId?: string }) =>
  p?.workflowRunId ? see("Show the run", "/runs", { id: p.workflowRunId }) : undefined;
