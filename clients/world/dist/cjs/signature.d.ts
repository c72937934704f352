type Bytes = Uint8Array<ArrayBuffer>;
/** Whether one of the keys has signed a body, and the signature is valid now. */
export declare const signed: (token: string | null, body: Bytes, signingKeys: string[]) => Promise<boolean>;
export {};
