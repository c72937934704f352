export declare const hookCreated: string;
export declare const hookReceived: string;
export declare const hookDisposed: string;
export declare const waitChanged: string;
export declare const hookRead: string;
export declare const hookList: string;
