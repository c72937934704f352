export declare const prelude: string;
export declare const pages: string;
