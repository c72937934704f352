// What is done with many keys: first counted, then done some at a time, so that it can be stopped between.
import { ApiError, num, pipeline, run, str } from "../api";
import { every, type Found, type Match } from "./scan";

export type Act = "delete" | "expire" | "persist";
/** Target is an act, and the keys that it is for: those that were selected, or all that match. */
export type Target = { act: Act; keys: Found[] } | { act: Act; match: Match };

/** Preview counts what will be changed. Bytes are missing where they are not known of all keys. */
export type Preview = { keys: number; types: Map<string, number>; expiring: number; bytes?: number; first: string[] };
export type Report = (done: number, part: number) => boolean; // false: stop

const together = 500; // keys of a call
const measured = 20_000; // keys of which it is asked what they are

/** pass gives all keys of a target, some at a time. */
async function pass(t: Target, each: (found: Found[], part: number) => Promise<boolean | undefined>) {
  if ("match" in t) return every(t.match, each);
  for (let i = 0; i < t.keys.length; i += together)
    if ((await each(t.keys.slice(i, i + together), Math.min(1, (i + together) / t.keys.length))) === false) return;
}

/** preview looks at all keys of a target. */
export async function preview(t: Target, report: Report): Promise<Preview> {
  const p: Preview = { keys: 0, types: new Map(), expiring: 0, bytes: 0, first: [] };
  await pass(t, async (found, part) => {
    p.keys += found.length;
    for (const f of found) p.types.set(f.type, (p.types.get(f.type) ?? 0) + 1);
    p.first.push(...found.slice(0, Math.max(0, 8 - p.first.length)).map((f) => f.key));
    if (p.keys > measured) p.bytes = undefined;
    else await measure(p, found);
    return report(p.keys, part);
  });
  return p;
}

async function measure(p: Preview, found: Found[]) {
  const replies = await pipeline(
    found.flatMap((f) => [
      ["PTTL", f.key],
      ["MEMORY", "USAGE", f.key],
    ]),
  );
  for (let i = 0; i < replies.length; i += 2) {
    if (num(replies[i]) >= 0 && replies[i].t === "int") p.expiring++;
    if (replies[i + 1].t === "err") p.bytes = undefined;
    else if (p.bytes !== undefined) p.bytes += num(replies[i + 1]);
  }
}

/** perform does it, and says of how many keys. */
export async function perform(t: Target, seconds: string, report: Report): Promise<number> {
  let done = 0;
  await pass(t, async (found, part) => {
    const keys = found.map((f) => f.key);
    for (let i = 0; i < keys.length; i += together) {
      const some = keys.slice(i, i + together);
      done += t.act === "delete" ? num(await run("UNLINK", ...some)) : await expire(some, t.act, seconds);
      if (!report(done, part)) return false;
    }
    return report(done, part);
  });
  return done;
}

async function expire(keys: string[], act: Act, seconds: string): Promise<number> {
  const replies = await pipeline(keys.map((k) => (act === "persist" ? ["PERSIST", k] : ["EXPIRE", k, seconds])));
  const bad = replies.find((r) => r.t === "err");
  if (bad) throw new ApiError(400, str(bad));
  return replies.reduce((sum, r) => sum + num(r), 0);
}
