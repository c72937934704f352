export declare const encodeMessage: (message: unknown) => string;
export declare const decodeMessage: (text: string) => unknown;
