/** Whether one of the keys has signed a body, and the signature is valid now. */
export declare const signed: (token: string | null, body: Uint8Array<ArrayBuffer>, signingKeys: string[]) => Promise<boolean>;
