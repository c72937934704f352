import type { Storage } from "@workflow/world" with { "resolution-mode": "import" };
import type { Client } from "./client.js";
export declare const runKey: (prefix: string, runId: string) => string;
export declare class Reads {
    #private;
    constructor(client: Client);
    storage(): Omit<Storage, "events"> & {
        events: Omit<Storage["events"], "create">;
    };
}
