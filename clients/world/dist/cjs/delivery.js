"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.Notes = exports.within = exports.delivery = void 0;
// What one delivery knows while the application handles it, and what is known outside of deliveries about messages that are on their way.
//
// The runtime writes an event first and queues its message then. Here the event's script publishes the message, in the same commit; the call that
// follows only takes note that it has been done. If the process ends between the two, the message is there.
const node_async_hooks_1 = require("node:async_hooks");
const current = new node_async_hooks_1.AsyncLocalStorage();
const delivery = () => current.getStore();
exports.delivery = delivery;
const within = (d, handle) => current.run(d, handle);
exports.within = within;
/** How long a message that was published with an event, outside of a delivery, is remembered for the call that follows; milliseconds. */
const MEMORY = 2000;
/** Notes of messages that were published outside of deliveries, by run. */
class Notes {
    #list = new Map();
    add(runId, message) {
        const now = Date.now();
        for (const [run, notes] of this.#list) {
            if ((notes.at(-1)?.until ?? 0) > now)
                break; // the oldest come first
            this.#list.delete(run);
        }
        const notes = this.#list.get(runId) ?? [];
        this.#list.delete(runId);
        notes.push({ message, until: now + MEMORY });
        this.#list.set(runId, notes);
    }
    take(runId) {
        const notes = this.#list.get(runId);
        const note = notes?.shift();
        if (notes?.length === 0)
            this.#list.delete(runId);
        return note && note.until > Date.now() ? note.message : undefined;
    }
}
exports.Notes = Notes;
