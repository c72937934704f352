import type { Client } from "./client.js";
export interface Entry {
    index: number;
    end: boolean;
    data: string;
}
export declare function follow(client: Client, key: string, index: number, signal: AbortSignal): AsyncGenerator<Entry, undefined>;
