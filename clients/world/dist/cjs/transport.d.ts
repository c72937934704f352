export interface Answer {
    status: number;
    text: string;
    retryAfter: string | null;
}
type Send = (url: string, headers: Record<string, string>, body: string, ms: number) => Promise<Answer>;
/** Posts a text and reads the answer. It fails if the connection does, or if nothing comes for some milliseconds. */
export declare const post: Send;
export {};
