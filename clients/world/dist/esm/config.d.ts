/** Settings of a world. What is missing is read from the environment when it is first needed. */
export interface TriremeWorldConfig {
    /** URL of a node, or of several, tried in turn. `WORKFLOW_TRIREME_URL` (with commas), or else `UPSTASH_REDIS_REST_URL`. */
    url?: string | string[];
    /** Token of the database. `WORKFLOW_TRIREME_TOKEN`, or else `UPSTASH_REDIS_REST_TOKEN`. */
    token?: string;
    /** Where nodes reach the application, without `/.well-known`. `WORKFLOW_TRIREME_BASE_URL`, `WORKFLOW_LOCAL_BASE_URL`, or localhost and `PORT`. */
    baseUrl?: string;
    /** Keys that sign deliveries: the current and the next one. `WORKFLOW_TRIREME_SIGNING_KEY` and `WORKFLOW_TRIREME_NEXT_SIGNING_KEY`, or those of `QSTASH_`. */
    signingKeys?: string[];
    /** What the names of keys begin with. `WORKFLOW_TRIREME_PREFIX`; `wkf:`. */
    prefix?: string;
    /** Milliseconds for which a run is kept after its end; 0 is for ever. `WORKFLOW_TRIREME_RETENTION`, such as `7d`. */
    retentionMs?: number;
    /** How long one delivery may take, such as `15m`. `WORKFLOW_TRIREME_TIMEOUT`; the node's maximum. */
    timeout?: string;
    /** Limit of the steps of one workflow, such as `parallelism=20` or `rate=10,period=1s`. `WORKFLOW_TRIREME_STEPS`. */
    steps?: string;
    /** Name of this deployment. `WORKFLOW_TRIREME_DEPLOYMENT`; `trireme`. */
    deploymentId?: string;
    /** Namespace of queues. `WORKFLOW_QUEUE_NAMESPACE`. */
    namespace?: string;
}
export interface Settings {
    urls: string[];
    token: string;
    signingKeys: string[];
    prefix: string;
    retentionMs: number;
    timeout: string;
    steps: string;
    deploymentId: string;
    baseUrl(): string;
}
/** Milliseconds of a duration such as `90s` or `7d`. */
export declare const milliseconds: (text: string) => number;
export declare const settings: (given: TriremeWorldConfig) => Settings;
export declare const deploymentId: (given: TriremeWorldConfig) => string;
/** Whether a URL is of this machine. */
export declare const isLoopback: (url: string) => boolean;
