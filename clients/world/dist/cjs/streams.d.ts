import type { GetChunksOptions, StreamChunksResponse, StreamInfoResponse } from "@workflow/world" with { "resolution-mode": "import" };
import type { Client } from "./client.js";
type Chunk = string | Uint8Array;
export declare class Streams {
    #private;
    constructor(client: Client);
    writeToStream: (name: string, runId: string | Promise<string>, chunk: Chunk) => Promise<void>;
    writeToStreamMulti: (name: string, runId: string | Promise<string>, chunks: Chunk[]) => Promise<void>;
    closeStream: (name: string, runId: string | Promise<string>) => Promise<void>;
    getStreamInfo: (name: string) => Promise<StreamInfoResponse>;
    getStreamChunks: (name: string, _runId: string, options?: GetChunksOptions) => Promise<StreamChunksResponse>;
    listStreamsByRunId: (runId: string) => Promise<string[]>;
    readFromStream: (name: string, startIndex?: number) => Promise<ReadableStream<Uint8Array>>;
    close(): void;
}
export {};
