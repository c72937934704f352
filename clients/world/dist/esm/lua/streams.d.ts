export declare const streamWrite: string;
export declare const streamInfo: string;
export declare const streamRead: string;
