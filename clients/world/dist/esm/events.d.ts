import type { CreateEventParams, EventResult } from "@workflow/world" with { "resolution-mode": "import" };
import type { Client } from "./client.js";
import { Notes } from "./delivery.js";
import { type Options } from "./messages.js";
import { type EventRequest } from "./records.js";
/** The newest version of runs that this world can keep. */
export declare const SPEC_VERSION = 3;
/** The first message of a run. */
interface First {
    prefix: string;
    body: Record<string, unknown>;
    options: Options;
}
export declare class Events {
    #private;
    readonly notes: Notes;
    constructor(client: Client, namespace: () => string | undefined);
    /** Takes the first message of a run that is being created in the same turn, and returns its id once both are committed. */
    begin(runId: unknown, message: First): Promise<string> | undefined;
    create: (runId: string | null, event: EventRequest, params?: CreateEventParams) => Promise<EventResult>;
}
export {};
