import type { Settings } from "./config.js";
export type Reply = string | number | null | Reply[];
/** A script, and whether it only reads: such a one does not go through the log. */
export interface Script {
    text: string;
    reads: boolean;
    sha?: Promise<string>;
}
export declare const script: (text: string, reads?: boolean) => Script;
export declare class Client {
    #private;
    readonly settings: () => Settings;
    constructor(settings: () => Settings);
    /** Runs a script. One that writes must know by a nonce among its arguments that it has been applied: it may be sent more than once. */
    run(s: Script, keys: string[], args: (string | number)[]): Promise<Reply>;
    /** Runs a command that may be applied twice. */
    command(row: (string | number)[]): Promise<Reply>;
    /** Headers of a request, and the URL of a node: another one after a failure. */
    request(): {
        url: string;
        headers: Record<string, string>;
    };
    /** Turns to the next node. */
    elsewhere(): void;
}
