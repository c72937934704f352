// The lines of a stream while the view is open.
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, enc, show, stream } from "../api";
import { Button } from "../ui/controls";
import { Badge, Card } from "../ui/layout";

/** most is the number of lines that are kept. */
const most = 500;

/** Stream connects again, later each time, unless the API refuses. */
export function Stream({
  start,
  help,
  read = (s) => s,
}: {
  start: string;
  help: string;
  read?: (s: string) => string;
}) {
  const [lines, put] = useState<{ at: number; text: string }[]>([]);
  const [state, say] = useState("connecting");
  const [paused, pause] = useState(false);
  const [turn, again] = useState(0);
  const held = useRef<{ at: number; text: string }[]>([]),
    stopped = useRef(false);
  stopped.current = paused;
  useEffect(() => {
    const stop = new AbortController();
    let timer = 0,
      wait = 500;
    const go = async () => {
      say("connecting");
      try {
        const why = await stream(start, stop.signal, (text) => {
          say("open");
          wait = 500;
          held.current.push({ at: Date.now(), text: read(text) });
          if (held.current.length > most) held.current.shift();
        });
        say(why);
      } catch (e) {
        if (stop.signal.aborted) return;
        say((e as Error).message);
        if (e instanceof ApiError && e.status >= 400 && e.status < 500) return;
      }
      if (stop.signal.aborted) return;
      wait = Math.min(wait * 2, 10000);
      timer = window.setTimeout(go, wait);
    };
    go();
    const draw = setInterval(() => {
      if (!stopped.current && !document.hidden && held.current.length) {
        const more = held.current;
        held.current = [];
        put((l) => [...l, ...more].slice(-most));
      }
    }, 250);
    return () => {
      stop.abort();
      clearTimeout(timer);
      clearInterval(draw);
    };
  }, [start, turn]);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.scrollTo(0, box.current.scrollHeight);
  }, [lines]);
  return (
    <Card
      class="flush"
      title={<Badge tone={state === "open" ? "good" : state === "connecting" ? "info" : "warn"}>{state}</Badge>}
      acts={
        <>
          <Button kind="quiet" onClick={() => pause(!paused)}>
            {paused ? "Go on" : "Pause"}
          </Button>
          <Button kind="quiet" onClick={() => put([])}>
            Clear
          </Button>
          {state !== "open" && state !== "connecting" && (
            <Button kind="quiet" onClick={() => again(turn + 1)}>
              Connect
            </Button>
          )}
        </>
      }
    >
      <div class="lines" ref={box} role="log" aria-label="Lines" tabIndex={0}>
        {!lines.length && <p class="dim">{help}</p>}
        {lines.map((l, i) => (
          <div key={`${l.at}${i}`}>
            <span class="dim">{new Date(l.at).toLocaleTimeString()}</span> <bdi>{show(enc(l.text.slice(0, 4000)))}</bdi>
          </div>
        ))}
      </div>
    </Card>
  );
}
