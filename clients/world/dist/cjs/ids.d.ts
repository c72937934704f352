/** Milliseconds of the ULID behind the last underscore, or NaN. */
export declare const timeOf: (id: string) => number;
export declare const ulid: (now: number) => string;
export declare const eventId: (runId: string, time: number, n: number) => string;
/** The number of an event, NaN if the text is no event's id. */
export declare const eventNumber: (id: string) => number;
