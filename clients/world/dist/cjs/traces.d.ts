export declare const traceCarrier: () => Promise<Record<string, string>>;
export declare const traceHeaders: (carrier: Record<string, string>) => Record<string, string>;
