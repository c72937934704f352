// Attempts of a step that failed alike.
import type { Attempt } from "./reply";

export type Alike = { first: number; last: number; of: Attempt };

/** alike puts attempts together that follow each other and failed for one reason; the newest of them stands for all. */
export function alike(list: Attempt[]): Alike[] {
  const out: Alike[] = [];
  for (const [i, e] of list.entries()) {
    const before = out[out.length - 1];
    if (before && why(before.of) === why(e)) Object.assign(before, { last: i + 1, of: e });
    else out.push({ first: i + 1, last: i + 1, of: e });
  }
  return out;
}
const why = (e: Attempt) => JSON.stringify([e.status ?? 0, e.error ?? "", e.body ?? ""]);
