// A run as its page loads it: the steps that are done are asked for once.
import { useRef } from "preact/hooks";
import { found, json } from "../api";
import { type Load, useLoad } from "../ui/load";
import { firstOpen, type TimedGroup } from "../waterfall/run";
import type { RunSteps, State, Why } from "./reply";

export type Loaded = { run: RunSteps | null; why: Why | null; state: State | null; skew: number };

/** useRun loads a run, and again what may have changed of it while somebody looks. */
export function useRun(id: string): Load<Loaded> {
  const known = useRef<{ created: number; groups: TimedGroup[] }>({ created: 0, groups: [] }),
    last = useRef<Loaded | null>(null);
  const path = `/v2/workflows/runs/${encodeURIComponent(id)}`;
  return useLoad(
    async (poll) => {
      if (poll && last.current && isOver(last.current.run)) return last.current;
      if (!poll) known.current = { created: 0, groups: [] };
      const run = await steps(path, known.current, poll);
      const why =
        run?.workflowState === "RUN_STARTED" || run?.workflowState === "RUN_FAILED"
          ? await json<Why>(`${path}/explain`, { poll }).catch(() => null)
          : null;
      const state = run?.stateVersion ? await found<State>(`${path}/state`, poll).catch(() => null) : null;
      last.current = { run, why, state, skew: run ? steady(run.now - Date.now(), last.current?.skew) : 0 };
      return last.current;
    },
    [id],
    3000,
  );
}

/** steady is how far a clock is ahead: what it was, unless it differs by more than an answer may take. */
const steady = (skew: number, was: number | undefined) =>
  was !== undefined && Math.abs(skew - was) < 250 ? was : skew;

const isOver = (run: RunSteps | null) =>
  !!run && run.workflowState !== "RUN_STARTED" && run.failureFunction?.state !== "CALLBACK_INPROGRESS";

/** steps asks for a run and the groups that are not known to be done; null if there is no such run. */
async function steps(path: string, known: { created: number; groups: TimedGroup[] }, poll: boolean) {
  let cursor: string | undefined = String(firstOpen(known.groups)),
    groups = known.groups;
  for (;;) {
    const page: RunSteps | null = await found<RunSteps>(`${path}/steps?cursor=${cursor}`, poll);
    if (!page) return null;
    if (known.created && known.created !== page.workflowRunCreatedAt) {
      known.created = 0; // another run of that id
      known.groups = groups = [];
      cursor = "0";
      continue;
    }
    groups = followed(groups, page.first, page.steps);
    cursor = page.cursor;
    if (cursor) continue;
    known.created = page.workflowRunCreatedAt;
    known.groups = groups;
    return { ...page, steps: groups };
  }
}

/** followed are groups with those of a page from the place at which it begins; the same array if nothing changed. */
function followed(groups: TimedGroup[], first: number, page: TimedGroup[]): TimedGroup[] {
  const same = first + page.length === groups.length && JSON.stringify(groups.slice(first)) === JSON.stringify(page);
  return same ? groups : [...groups.slice(0, first), ...page];
}
