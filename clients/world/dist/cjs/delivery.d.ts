export interface Delivery {
    /** Whether this is a first message, which begins its run. */
    first: boolean;
    /** What names of queues of workflows begin with. */
    prefix: string;
    /** When the run was started, in milliseconds. */
    startedAt?: number;
    /** Open steps whose messages have been published. */
    steps: Map<string, string>;
    /** Messages that wake the run and that no call has taken yet. */
    wakes: string[];
}
export declare const delivery: () => Delivery | undefined;
export declare const within: <T>(d: Delivery, handle: () => Promise<T>) => Promise<T>;
/** Notes of messages that were published outside of deliveries, by run. */
export declare class Notes {
    #private;
    add(runId: string, message: string): void;
    take(runId: string): string | undefined;
}
