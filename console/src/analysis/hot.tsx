// The keys that commands name most often, counted while the view is open.
import { useEffect, useState } from "preact/hooks";
import { database, enc, list, num, plain, run, show, stream } from "../api";
import { keyQuery } from "../data/tree";
import { count, msSpan, perSecond, things } from "../format";
import { query } from "../router";
import { Button } from "../ui/controls";
import { A, Badge, Card, Empty, Note } from "../ui/layout";
import { Table } from "../ui/table";
import { Counter, type Heat, keysOf, type Places, wordsOf } from "./monitor";

type Seen = { top: Heat[]; commands: number; missed: number; ms: number };
const shown = 100;
const none: Places = { first: 0, last: 0, step: 0 };

/** places asks where the keys of a command are. */
async function places(name: string): Promise<Places> {
  const [row] = list(await run("COMMAND", "INFO", name));
  const [, , , first, last, step] = list(row);
  return { first: num(first), last: num(last), step: num(step) };
}

/** useHeat counts while on. */
function useHeat(on: boolean) {
  const [seen, see] = useState<Seen>({ top: [], commands: 0, missed: 0, ms: 0 }),
    [state, say] = useState("off");
  useEffect(() => {
    if (!on) return;
    const stop = new AbortController(),
      counter = new Counter(),
      known = new Map<string, Promise<Places>>(),
      began = performance.now();
    const add = async (words: string[]) => {
      const name = (words[0] ?? "").toUpperCase();
      if (!name) return;
      let of = known.get(name);
      if (!of) {
        of = places(name).catch(() => none);
        known.set(name, of);
      }
      counter.add(name, keysOf(words, await of));
    };
    const draw = () =>
      see({
        top: counter.top(shown),
        commands: counter.commands,
        missed: counter.missed,
        ms: performance.now() - began,
      });
    say("counting");
    draw();
    stream("/monitor", stop.signal, (line) => {
      add(wordsOf(enc(line)));
    }).then(say, (e) => !stop.signal.aborted && say((e as Error).message));
    const timer = setInterval(() => !document.hidden && draw(), 500);
    return () => {
      stop.abort();
      clearInterval(timer);
      draw();
      say("off");
    };
  }, [on, database.value]);
  return { seen, state };
}

export function Hot() {
  const [on, turn] = useState(false);
  const { seen, state } = useHeat(on);
  const db = query.value.get("db") ?? undefined;
  return (
    <Card
      class="flush"
      title={
        <Badge tone={state === "counting" ? "good" : "plain"}>{state === "off" ? "not counting" : plain(state)}</Badge>
      }
      acts={
        <Button kind={on ? undefined : "main"} onClick={() => turn(!on)}>
          {on ? "Stop counting" : "Start counting"}
        </Button>
      }
    >
      {seen.missed > 0 && (
        <Note>More than 10,000 different keys were named: those that came later are not counted.</Note>
      )}
      {seen.top.length ? (
        <Table
          label="Hot keys"
          rows={seen.top}
          id={(r) => r.key}
          columns={[
            { name: "Key", class: "main-cell", of: (r) => <Name of={r.key} db={db} /> },
            { name: "Commands", class: "num", of: (r) => count(r.count) },
            { name: "Rate", class: "num", of: (r) => perSecond(r.count / (seen.ms / 1e3)) },
            { name: "Most often", of: (r) => r.often },
          ]}
        />
      ) : (
        <Empty icon="chart" title={on ? "No command has named a key yet" : "Keys are counted while you look"}>
          The commands that all nodes execute in this database are counted by the keys that they name. Scripts and
          commands whose keys are not at a fixed place are not counted. Every node sends its commands here meanwhile,
          which costs it some time.
        </Empty>
      )}
      {seen.ms > 0 && (
        <div class="tree-foot" role="status">
          {things(seen.commands, "command")} in {msSpan(Math.round(seen.ms))}
        </div>
      )}
    </Card>
  );
}

const Name = ({ of, db }: { of: string; db?: string }) => (
  <A to="/data" q={{ db, ...keyQuery(of) }}>
    <bdi class="mono">{show(of).slice(0, 200)}</bdi>
  </A>
);
