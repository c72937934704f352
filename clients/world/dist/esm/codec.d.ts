/** A text with one character for each byte. */
export declare const latin1: (bytes: Uint8Array) => string;
/** The bytes of such a text. */
export declare const bytesOf: (text: string) => Uint8Array;
export declare const encode: (value: unknown) => string;
export declare const decode: (text: string) => any;
