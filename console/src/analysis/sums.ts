// Sums of keys and bytes by what names begin with, over many calls of MEMORY PREFIXES.
import { list, num, run, str } from "../api";
import { Adder, type Sums } from "./adder";

const together = 8192; // keys that one call passes

/** addUp passes all keys; each gets the sums so far and the cursor, and returns false to stop. */
export async function addUp(prefix: string, separator: string, each: (s: Sums, cursor: string) => boolean) {
  const adder = new Adder();
  let cursor = "0";
  do {
    const argv = ["MEMORY", "PREFIXES", cursor, "COUNT", String(together), "PREFIX", prefix, "SEPARATOR", separator];
    const [next, rows] = list(await run(...argv));
    cursor = str(next);
    for (const row of list(rows)) {
      const [name, keys, bytes] = list(row);
      adder.add({ name: str(name), keys: num(keys), bytes: num(bytes) });
    }
    if (!each(adder.sums(), cursor)) return;
  } while (cursor !== "0");
}
