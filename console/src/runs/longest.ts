// Which step of a run has taken the longest.
import { took } from "../waterfall/row";
import { runRows, type Timed } from "../waterfall/run";

export type Longest = { pick: string; name: string; ms: number };

/** longestStep is of the steps that have taken any time; what a step calls or invokes is a part of it. */
export function longestStep(run: Timed, now: number): Longest | null {
  let longest: Longest | null = null;
  for (const r of runRows(run)) {
    const ms = r.pick !== undefined && r.id === `step ${r.pick}` ? (took(r, now) ?? 0) : 0;
    if (r.pick !== undefined && ms > (longest?.ms ?? 0)) longest = { pick: r.pick, name: r.name, ms };
  }
  return longest;
}
