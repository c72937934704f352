// How many keys match: those that are known, and all of them when somebody has them counted.
import { useEffect, useRef, useState } from "preact/hooks";
import { count, percent, things } from "../format";
import { Button } from "../ui/controls";
import { toast } from "../ui/toasts";
import { every, type Match, passed, type Scan } from "./scan";

type Counting = { keys: number; part: number; over: boolean };

export function Tally({ scan, match }: { scan: Scan; match: Match }) {
  const [state, put] = useState<Counting | null>(null);
  const on = useRef(false);
  useEffect(
    () => () => {
      on.current = false;
    },
    [],
  );
  const go = async () => {
    on.current = true;
    let keys = 0;
    try {
      await every(match, async (found, part) => {
        keys += found.length;
        if (on.current) put({ keys, part, over: part === 1 });
        return on.current;
      });
    } catch (e) {
      put(null);
      toast((e as Error).message, "bad");
    }
  };
  const stop = () => {
    on.current = false;
    put(null);
  };
  const n = scan.found.length;
  if (scan.cursor === "0") return <span>{things(n, "key")}, all of them</span>;
  if (!state)
    return (
      <>
        <span>
          more than {count(n)}, {share(passed(scan.cursor))} of the database looked at
        </span>
        <Button kind="quiet" onClick={go}>
          Count them
        </Button>
      </>
    );
  if (state.over) return <span>{things(state.keys, "key")} match</span>;
  return (
    <>
      <span role="status">
        more than {count(state.keys)}, still counting ({share(state.part)})
      </span>
      <Button kind="quiet" onClick={stop}>
        Stop
      </Button>
    </>
  );
}

const share = (part: number) => percent(Math.floor(part * 100));
