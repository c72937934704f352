// Keyspace events: what changes, as it changes.
import { database, run, strs } from "../api";
import { Button } from "../ui/controls";
import { sure } from "../ui/dialogs";
import { Note } from "../ui/layout";
import { Loaded, useLoad } from "../ui/load";
import { Stream } from "./stream";

export function Events() {
  const setting = useLoad(
    async () => strs(await run("CONFIG", "GET", "notify-keyspace-events"))[1] ?? "",
    [database.value],
  );
  return (
    <>
      <Loaded of={setting}>
        {(s) =>
          !s ? (
            <Note>
              Keyspace events are off in this database.{" "}
              <Button
                kind="quiet"
                onClick={() =>
                  sure({
                    title: "Turn on keyspace events",
                    verb: "Turn on",
                    done: "Keyspace events are on",
                    text: (
                      <p>
                        Every change of database {database.value} publishes its events then, on all nodes (
                        <code>notify-keyspace-events KEA</code>). It costs some time of every write.
                      </p>
                    ),
                    go: () => run("CONFIG", "SET", "notify-keyspace-events", "KEA").then(setting.again),
                  })
                }
              >
                Turn on
              </Button>
            </Note>
          ) : (
            <p class="dim">notify-keyspace-events is {s}</p>
          )
        }
      </Loaded>
      <Stream
        start={`/psubscribe/${encodeURIComponent("__keyevent@0__:*")}`}
        help="Each change appears as its event and its key."
        read={(s) => s.replace(/^pmessage,__keyevent@0__:\*,__keyevent@0__:/, "")}
      />
    </>
  );
}
