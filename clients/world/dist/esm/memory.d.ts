import type { Event } from "@workflow/world" with { "resolution-mode": "import" };
export declare class Memory {
    #private;
    /** The events of a run that are known, from the first one on, in a list of the caller's own. */
    of(runId: string): Event[];
    /** Takes down the first events of a run, and how many characters their records have. Runs that were not read for the longest time go first. */
    keep(runId: string, events: Event[], added: number): void;
    forget(runId: string): void;
}
