// Deleting many keys, and setting when they expire: what it will do, how far it is, what has come of it.
import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, database, plain, show } from "../api";
import { bytes, count, percent, secondsSpan, things } from "../format";
import { Button, Field, Text } from "../ui/controls";
import { Dialog } from "../ui/dialogs";
import { Note } from "../ui/layout";
import { typeName } from "./types";
import { type Preview, perform, preview, type Target } from "./work";

export type { Target } from "./work";

type Stage = "count" | "ask" | "work" | "over";

export function Bulk({ of, close, done }: { of: Target; close: () => void; done: () => void }) {
  const [stage, to] = useState<Stage>("count"),
    [seen, see] = useState<Preview | null>(null),
    [keys, tell] = useState(0),
    [part, put] = useState(0),
    [error, fail] = useState("");
  const [never, keep] = useState(false),
    [seconds, set] = useState("3600"),
    [typed, type] = useState("");
  const on = useRef(true),
    mounted = useRef(true);
  const report = (n: number, p: number) => {
    if (mounted.current) {
      tell(n);
      put(p);
    }
    return on.current;
  };
  useEffect(() => {
    preview(of, report).then(
      (p) => {
        if (!mounted.current) return;
        see(p);
        to("ask");
      },
      (e: ApiError) => {
        fail(e.message);
        to("over");
      },
    );
    return () => {
      mounted.current = false;
      on.current = false;
    };
  }, []);
  const act = of.act === "expire" && never ? "persist" : of.act;
  const go = async () => {
    to("work");
    put(0);
    tell(0);
    try {
      tell(await perform({ ...of, act }, seconds, report));
    } catch (e) {
      fail((e as Error).message);
    }
    if (mounted.current) to("over");
    done();
  };
  const leave = () => {
    on.current = false;
    close();
  };
  const verb = act === "delete" ? "Delete" : act === "expire" ? "Expire" : "Keep";
  const must = act === "delete" && "match" in of ? String(seen?.keys ?? 0) : "";
  return (
    <Dialog
      title={of.act === "delete" ? "Delete keys" : "Set the expiry of keys"}
      close={leave}
      kept={stage === "work"}
    >
      {(stage === "count" || stage === "work") && (
        <>
          <Progress part={part} label={stage === "count" ? "Counting" : "Working"} />
          <p role="status">
            {stage === "count" ? `${things(keys, "key")} so far` : `${done_(act)} ${things(keys, "key")} so far`}
          </p>
        </>
      )}
      {stage === "ask" && seen && (
        <form
          onSubmit={(e) => {
            e.preventDefault();
            go();
          }}
        >
          <What of={of} seen={seen} />
          {of.act === "expire" && seen.keys > 0 && (
            <div class="form">
              <Field label="Seconds from now" help={Number(seconds) > 0 ? secondsSpan(Number(seconds)) : undefined}>
                <Text type="number" min="1" value={seconds} onText={set} required={!never} disabled={never} />
              </Field>
              <label class="check">
                <input type="checkbox" checked={never} onChange={() => keep(!never)} /> Never expire
              </label>
            </div>
          )}
          {seen.keys > 0 && <p>{will(act, seen, seconds)}</p>}
          {must && seen.keys > 0 && (
            <Field label={`Type ${must} to go on`}>
              <Text onText={type} value={typed} data-sure inputMode="numeric" />
            </Field>
          )}
          <footer>
            <Button onClick={leave}>Cancel</Button>
            <Button
              type="submit"
              kind={act === "delete" ? "bad" : "main"}
              disabled={!seen.keys || (!!must && typed.replace(/,/g, "") !== must)}
            >
              {verb} {things(seen.keys, "key")}
            </Button>
          </footer>
        </form>
      )}
      {stage === "over" && (
        <Note kind={error ? "bad" : "good"}>
          {error && <bdi>{plain(error)} </bdi>}
          {seen && `${done_(act)} ${things(keys, "key")}.`}
          {!error && !on.current && ` Stopped: the other keys are as they were.`}
        </Note>
      )}
      {stage !== "ask" && (
        <footer>
          {stage === "work" ? (
            <Button
              onClick={() => {
                on.current = false;
              }}
            >
              Stop
            </Button>
          ) : (
            <Button onClick={leave}>{stage === "over" ? "Close" : "Cancel"}</Button>
          )}
        </footer>
      )}
    </Dialog>
  );
}

const done_ = (act: Target["act"]) =>
  act === "delete" ? "Deleted" : act === "expire" ? "Set the expiry of" : "Took the expiry from";
const will = (act: Target["act"], seen: Preview, seconds: string) =>
  act === "delete"
    ? "They are deleted on all nodes, and can't be restored."
    : act === "expire"
      ? `They are deleted ${secondsSpan(Number(seconds) || 0)} from now. ${
          seen.expiring
            ? `${count(seen.expiring)} of them have an expiry, which is replaced.`
            : "None has an expiry now."
        }`
      : `They stay until somebody deletes them. ${count(seen.expiring)} of them have an expiry now.`;

function Progress({ part, label }: { part: number; label: string }) {
  return <progress class="progress" value={part} max={1} aria-label={`${label}: ${percent(Math.round(part * 100))}`} />;
}

/** What says which keys it is about, and what they hold. */
function What({ of, seen }: { of: Target; seen: Preview }) {
  return (
    <div class="dialog-text">
      <p>
        <b>{things(seen.keys, "key")}</b> of database {database.value}
        {"match" in of && (
          <>
            {" "}
            that match{" "}
            <code>
              <bdi>{show(of.match.pattern)}</bdi>
            </code>
            {of.match.type && ` and hold a ${typeName(of.match.type)}`}, at this moment
          </>
        )}
        {seen.bytes !== undefined && seen.keys > 0 && `, ${bytes(seen.bytes)} in all`}.
      </p>
      <p class="dim">{[...seen.types].map(([t, n]) => things(n, typeName(t))).join(", ")}</p>
      <ul class="sample">
        {seen.first.map((k) => (
          <li key={k}>
            <bdi>{show(k).slice(0, 120)}</bdi>
          </li>
        ))}
        {seen.keys > seen.first.length && <li class="dim">and {count(seen.keys - seen.first.length)} more</li>}
      </ul>
      {"match" in of && <p class="dim">Keys written meanwhile that match are changed, too.</p>}
    </div>
  );
}
