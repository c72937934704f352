// The settings of a world, from the environment unless they are given.

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

const env = (name: string): string | undefined => process.env[name] || undefined;

const need = (value: string | undefined, names: string): string => {
  if (!value) throw new Error(`@trireme/world: set ${names}`);
  return value;
};

const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a duration such as `90s` or `7d`. */
export const milliseconds = (text: string): number => {
  const [, count, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? [];
  if (!count || !unit) throw new Error(`@trireme/world: ${JSON.stringify(text)} is no duration: a number and ms, s, m, h or d`);
  return Number(count) * (units[unit] ?? 0);
};

export const settings = (given: TriremeWorldConfig): Settings => {
  const url = given.url ?? env("WORKFLOW_TRIREME_URL") ?? env("UPSTASH_REDIS_REST_URL");
  const urls = (Array.isArray(url) ? url : need(url, "WORKFLOW_TRIREME_URL").split(",")).map((u) => u.trim().replace(/\/+$/, ""));
  const retention = env("WORKFLOW_TRIREME_RETENTION");
  return {
    urls,
    token: need(given.token ?? env("WORKFLOW_TRIREME_TOKEN") ?? env("UPSTASH_REDIS_REST_TOKEN"), "WORKFLOW_TRIREME_TOKEN"),
    signingKeys: given.signingKeys ?? signingKeys(),
    prefix: given.prefix ?? env("WORKFLOW_TRIREME_PREFIX") ?? "wkf:",
    retentionMs: given.retentionMs ?? (retention ? milliseconds(retention) : 0),
    timeout: given.timeout ?? env("WORKFLOW_TRIREME_TIMEOUT") ?? "",
    steps: given.steps ?? env("WORKFLOW_TRIREME_STEPS") ?? "",
    deploymentId: deploymentId(given),
    baseUrl: () => baseUrl(given, urls),
  };
};

export const deploymentId = (given: TriremeWorldConfig): string => given.deploymentId ?? env("WORKFLOW_TRIREME_DEPLOYMENT") ?? "trireme";

const signingKeys = (): string[] => {
  const current = env("WORKFLOW_TRIREME_SIGNING_KEY") ?? env("QSTASH_CURRENT_SIGNING_KEY");
  const next = env("WORKFLOW_TRIREME_NEXT_SIGNING_KEY") ?? env("QSTASH_NEXT_SIGNING_KEY");
  return [current, next].filter((key) => key !== undefined);
};

const baseUrl = (given: TriremeWorldConfig, urls: string[]): string => {
  const set = given.baseUrl ?? env("WORKFLOW_TRIREME_BASE_URL") ?? env("WORKFLOW_LOCAL_BASE_URL");
  if (set) return set.replace(/\/+$/, "");
  const port = env("PORT");
  if (port && urls.every(isLoopback)) return `http://localhost:${port}`;
  throw new Error(
    `@trireme/world: set WORKFLOW_TRIREME_BASE_URL, the URL at which nodes reach this application${port ? "" : " (or PORT, if both are on this machine)"}`,
  );
};

/** Whether a URL is of this machine. */
export const isLoopback = (url: string): boolean => /^https?:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|\/|$)/.test(url);
