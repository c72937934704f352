export declare const runCreated: string;
export declare const runStarted: string;
export declare const runEnded: string;
export declare const resumed: string;
export declare const runRead: string;
export declare const runList: string;
