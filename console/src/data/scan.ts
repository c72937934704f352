// Scans of keys: a page at a time, bounded by time, with how much of the database they have passed.
import { list, run, str, strs } from "../api";

/** Found is a key with its type. */
export type Found = { key: string; type: string };
/** Scan has the keys that were found so far. Cursor is "0" when all keys were looked at. */
export type Scan = { found: Found[]; cursor: string };
/** Match selects keys: by a pattern, and a type or "" for every type. */
export type Match = { pattern: string; type: string };

const longest = 700; // milliseconds of one turn, after which what was found is shown
const widest = 8192; // keys that one call passes

/** escaped is a text that a pattern matches by itself. */
export const escaped = (b: string) => b.replace(/[\\*?[\]]/g, (c) => `\\${c}`);

/** passed is the part of the database that a cursor has passed, from 0 to 1: keys stand in the order of 52-bit hashes,
 * and a cursor is the hash to go on with. */
export const passed = (cursor: string) => (cursor === "0" ? 1 : Math.min(1, Number(cursor) / 2 ** 52));

/** step is one call of SCAN. */
export async function step(m: Match, cursor: string, count: number): Promise<Scan> {
  const argv = ["SCAN", cursor, "MATCH", m.pattern || "*", "COUNT", String(count)];
  if (m.type) argv.push("TYPE", m.type);
  const [next, flat] = list(await run(...argv, "WITHTYPE"));
  const words = strs(flat);
  const found: Found[] = [];
  for (let i = 0; i + 1 < words.length; i += 2) found.push({ key: words[i], type: words[i + 1] });
  return { found, cursor: str(next) };
}

/** more goes on with a scan until it has found so many keys more, or has looked for a moment. */
export async function more(was: Scan | undefined, m: Match, most: number): Promise<Scan> {
  const found = new Map(was?.found.map((f) => [f.key, f]));
  const until = found.size + most,
    end = performance.now() + longest;
  let cursor = was?.cursor ?? "0",
    count = 1000;
  do {
    const one = await step(m, cursor, count);
    for (const f of one.found) found.set(f.key, f);
    cursor = one.cursor;
    count = Math.min(count * 2, widest);
  } while (cursor !== "0" && found.size < until && performance.now() < end);
  return { found: [...found.values()].sort((a, b) => (a.key < b.key ? -1 : 1)), cursor };
}

/** every passes all keys that match; each gets some, and how much of the database was passed. It ends when each returns
 * false. */
export async function every(m: Match, each: (found: Found[], part: number) => Promise<boolean | undefined>) {
  let cursor = "0";
  do {
    const one = await step(m, cursor, 1000);
    cursor = one.cursor;
    if ((await each(one.found, passed(cursor))) === false) return;
  } while (cursor !== "0");
}
