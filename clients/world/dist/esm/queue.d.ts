import type { Queue } from "@workflow/world" with { "resolution-mode": "import" };
import type { Client } from "./client.js";
import type { Events } from "./events.js";
export declare class Queues {
    #private;
    constructor(client: Client, events: Events, namespace: () => string | undefined);
    queue: Queue["queue"];
    createQueueHandler: Queue["createQueueHandler"];
    get workflowPrefix(): string;
}
