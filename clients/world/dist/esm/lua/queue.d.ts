export declare const wakeRun: string;
export declare const sendStep: string;
export declare const putOff: string;
