/** How many characters of records are kept, over all runs. */
const MOST = 1 << 25;
export class Memory {
    #runs = new Map();
    #size = 0;
    /** The events of a run that are known, from the first one on, in a list of the caller's own. */
    of(runId) {
        return this.#runs.get(runId)?.events.slice() ?? [];
    }
    /** Takes down the first events of a run, and how many characters their records have. Runs that were not read for the longest time go first. */
    keep(runId, events, added) {
        const before = this.#runs.get(runId);
        const known = { events: events.slice(), size: (before?.size ?? 0) + added };
        this.#runs.delete(runId);
        this.#runs.set(runId, known);
        this.#size += added;
        for (const [oldest, { size }] of this.#runs) {
            if (this.#size <= MOST)
                return;
            this.#runs.delete(oldest);
            this.#size -= size;
        }
    }
    forget(runId) {
        this.#size -= this.#runs.get(runId)?.size ?? 0;
        this.#runs.delete(runId);
    }
}
