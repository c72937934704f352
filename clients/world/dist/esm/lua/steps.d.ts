export declare const stepCreated: string;
export declare const stepStarted: string;
export declare const stepEnded: string;
export declare const stepRead: string;
export declare const stepList: string;
export declare const eventList: string;
