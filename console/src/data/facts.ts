// The time to live and the size of keys in a list, loaded some at a time.
import { useEffect, useRef, useState } from "preact/hooks";
import { num, pipeline } from "../api";

/** Fact has the figures of a key in a list. Those that the credential may not know are missing. */
export type Fact = { ttl?: number; size?: number };

const together = 200;

/** useFacts loads what it does not have of keys. Another turn forgets all of it. */
export function useFacts(keys: string[], turn: string): Map<string, Fact> {
  const known = useRef({ turn, facts: new Map<string, Fact>() });
  const [, draw] = useState(0);
  if (known.current.turn !== turn) known.current = { turn, facts: new Map() };
  const { facts } = known.current;
  useEffect(() => {
    let on = true;
    const go = async () => {
      const lack = keys.filter((k) => !facts.has(k));
      for (let i = 0; i < lack.length && on; i += together) {
        const some = lack.slice(i, i + together);
        const replies = await pipeline(
          some.flatMap((k) => [
            ["PTTL", k],
            ["MEMORY", "USAGE", k],
          ]),
        ).catch(() => []);
        some.forEach((k, n) => {
          const [ttl, size] = [replies[2 * n], replies[2 * n + 1]].map((r) => (r?.t === "int" ? num(r) : undefined));
          facts.set(k, { ttl, size });
        });
        if (on) draw((n) => n + 1);
      }
    };
    go();
    return () => {
      on = false;
    };
  }, [keys, turn]);
  return facts;
}
