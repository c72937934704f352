// What can be done with a schedule.
import { json } from "../api";
import { newMessage, type Published } from "../messages/event";
import { name } from "../messages/why";
import { Button } from "../ui/controls";
import { sure } from "../ui/dialogs";
import { act } from "../ui/toasts";
import type { Schedule } from "./schedule";

const path = (s: Schedule, what = "") => `/v2/schedules/${name(s.scheduleId)}${what}`;

const post = (s: Schedule, what: string) => json(path(s, what), { method: "POST" });

/** ScheduleActs run a schedule now, pause it, edit it, delete it. */
export function ScheduleActs({ of: s, again, edit, gone, large }: ActProps) {
  const kind = large ? undefined : "quiet";
  return (
    <>
      <Button kind={kind} onClick={() => runNow(s).then(again)}>
        Run now
      </Button>
      <Button
        kind={kind}
        onClick={() =>
          act(
            s.isPaused ? "Resumed" : "Paused",
            () => post(s, s.isPaused ? "/resume" : "/pause").then(again),
            () => ({ name: "Undo", undo: () => post(s, s.isPaused ? "/pause" : "/resume").then(again) }),
          )
        }
      >
        {s.isPaused ? "Resume" : "Pause"}
      </Button>
      <Button kind={kind} onClick={edit}>
        Edit
      </Button>
      <Button
        kind={kind}
        class="bad"
        onClick={() =>
          sure({
            title: "Delete this schedule",
            name: s.scheduleId,
            verb: "Delete",
            done: "Deleted",
            text: <p>Nothing is published by it any more. Messages that it has published stay.</p>,
            go: () => json(path(s), { method: "DELETE" }).then(gone),
          })
        }
      >
        Delete
      </Button>
    </>
  );
}
type ActProps = { of: Schedule; again: () => void; edit: () => void; gone: () => void; large?: true };

const runNow = (s: Schedule) =>
  act(
    "Published: its timetable does not change",
    () => json<Published>(path(s, "/run"), { method: "POST" }),
    newMessage,
  );
