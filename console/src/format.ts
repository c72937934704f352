// Words for figures. Every function says in its name which unit it takes, and `units` says which unit each figure of
// the API has: pages show figures of the API by `figure`, so that none is shown in a unit that somebody has guessed.
import { signal } from "@preact/signals";

// Units.

/** bytes of a number of bytes. */
export function bytes(n: number): string {
  const sign = n < 0 ? "-" : "",
    names = ["B", "KB", "MB", "GB", "TB", "PB"];
  let v = Math.abs(n),
    i = 0;
  const text = () => (i === 0 || v >= 99.95 ? String(Math.round(v)) : v.toFixed(1));
  while (i < names.length - 1 && Number(text()) >= 1024) {
    v /= 1024;
    i++;
  }
  return `${sign + text()} ${names[i]}`;
}

/** count of a number of things; fractions of small ones are kept. */
export const count = (n: number | undefined) =>
  (n ?? 0).toLocaleString("en", { maximumFractionDigits: n && Math.abs(n) < 10 ? 2 : 0 });

/** things is a number with its noun: "1 node", "3 nodes", "2 entries". */
export const things = (n: number, noun: string) =>
  `${count(n)} ${n === 1 ? noun : /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`}`;

const parts: [string, number][] = [
  ["d", 86400_000],
  ["h", 3600_000],
  ["min", 60_000],
  ["s", 1000],
];

/** msSpan of a time in milliseconds, in its two largest units, rounded before it is cut into units. */
export function msSpan(ms: number): string {
  const sign = ms < 0 ? "-" : "";
  ms = Math.abs(ms);
  if (ms === 0) return "0";
  if (ms < 0.995) return `${sign + ms.toFixed(2)} ms`;
  if (ms < 9.95 && ms % 1) return `${sign + ms.toFixed(1)} ms`;
  if (Math.round(ms) < 1000) return `${sign + Math.round(ms)} ms`;
  if (Math.round(ms / 100) < 100) return `${sign + (Math.round(ms / 100) / 10).toFixed(1).replace(/\.0$/, "")} s`;
  for (let i = 0; i < parts.length; i++) {
    const [name, size] = parts[i],
      [small, unit] = parts[i + 1] ?? ["", size],
      whole = Math.round(ms / unit) * unit;
    if (whole < size) continue;
    const big = Math.floor(whole / size),
      rest = Math.round((whole - big * size) / unit);
    return `${sign}${big} ${name}${small && rest ? ` ${rest} ${small}` : ""}`;
  }
  return `${sign + Math.round(ms / 1000)} s`;
}
/** secondsSpan of a time in seconds. */
export const secondsSpan = (s: number) => msSpan(s * 1000);
/** usSpan of a time in microseconds. */
export const usSpan = (us: number) => msSpan(us / 1000);

/** perSecond of a rate. */
export const perSecond = (n: number) =>
  `${n >= 999.5 ? `${(n / 1000).toFixed(1)}k` : n >= 9.95 || n === 0 ? n.toFixed(0) : n.toFixed(n < 0.1 ? 2 : 1)}/s`;

/** percent of a share in percent. */
export const percent = (n: number) => `${Number.isInteger(n) ? String(n) : n.toFixed(1)} %`;

/** msAgo says how long ago a time is, or how far ahead, both in unix milliseconds. */
export function msAgo(at: number, now: number): string {
  const d = now - at;
  return Math.abs(d) < 5000 ? "now" : d > 0 ? `${msSpan(d)} ago` : `in ${msSpan(-d)}`;
}

export const timeModes = ["relative", "local", "UTC"] as const;
/** times is how times are shown: as ages, or on a clock. Axes have the clock of this machine, or that of UTC. */
export const times = signal<(typeof timeModes)[number]>("relative");
const zone = () => (times.value === "UTC" ? "UTC" : undefined);

/** secondsClock is a unix time in seconds on an axis: with seconds if steps are short, a day if they are long. */
export const secondsClock = (at: number, step: number) =>
  step >= 86400
    ? new Date(at * 1000).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: zone() })
    : new Date(at * 1000).toLocaleTimeString("en-GB", {
        hour: "2-digit",
        minute: "2-digit",
        ...(step < 60 && { second: "2-digit" }),
        timeZone: zone(),
      });
/** msTick is a unix time in milliseconds on an axis of a length in milliseconds. */
export const msTick = (at: number, range: number) =>
  new Date(at).toLocaleString("en-GB", {
    ...(range > 86400_000 && { day: "numeric", month: "short" }),
    hour: "2-digit",
    minute: "2-digit",
    ...(range < 600_000 && { second: "2-digit" }),
    timeZone: zone(),
  });
/** msOfSeconds are the milliseconds of a time in seconds. */
export const msOfSeconds = (s: number) => s * 1000;
/** secondsOfMs are the seconds of a time in milliseconds. */
export const secondsOfMs = (ms: number) => ms / 1000;
/** unixMs reads a time of the API: unix milliseconds, as a number or its digits, or RFC 3339. 0 if there is none. */
export function unixMs(at: number | string | undefined): number {
  if (at === undefined || at === "") return 0;
  return (typeof at === "string" && !/^-?\d+$/.test(at) ? Date.parse(at) : Number(at)) || 0;
}

/** offset is the zone of a time on the clock that is shown: UTC, or how far that of this machine is from it. */
function offset(ms: number): string {
  if (times.value === "UTC") return "UTC";
  const minutes = -new Date(ms).getTimezoneOffset(),
    part = Math.abs(minutes) % 60;
  if (!minutes) return "UTC";
  const hours = `${minutes < 0 ? "-" : "+"}${Math.floor(Math.abs(minutes) / 60)}`;
  return `UTC${hours}${part ? `:${String(part).padStart(2, "0")}` : ""}`;
}

/** msStamp is a time in unix milliseconds on the clock that is shown, with its zone. */
export const msStamp = (ms: number) =>
  `${new Date(ms).toLocaleString("sv", { timeZone: zone() }).replace(",", "")}.` +
  `${String(Math.floor(ms) % 1000).padStart(3, "0")} ${offset(ms)}`;

// Figures of the API.

const unit = {
  ms: msSpan,
  seconds: secondsSpan,
  us: usSpan,
  bytes,
  percent,
  count,
  perSecond,
  /** A point in time. */
  unixMs: msStamp,
  unixSeconds: (s: number) => msStamp(s * 1000),
};
type Unit = keyof typeof unit;

/** units of the figures of each answer that a page shows, by their names in the API. */
export const units = {
  "/admin/settings": {
    maxMemory: "bytes",
    dailyRequestLimit: "count",
    maxKeySize: "bytes",
    maxRecordSize: "bytes",
    maxPending: "count",
    maxRequestWork: "count",
    maxScriptSteps: "count",
    tenantWorkPercent: "percent",
    tenantScriptPercent: "percent",
    tenantMemoryPercent: "percent",
  },
  "/admin/settings/messages": {
    eventRetentionMs: "ms",
    eventBytes: "bytes",
    dlqRetentionMs: "ms",
    dlqBytes: "bytes",
    graceMs: "ms",
    dedupWindowMs: "ms",
    defaultRetries: "count",
    maxTimeoutMs: "ms",
    maxDelayMs: "ms",
    maxMessageSize: "bytes",
    maxRetries: "count",
    maxParallelism: "count",
    maxQueues: "count",
    maxSchedules: "count",
    maxTopics: "count",
    maxEndpointsPerTopic: "count",
    globalParallelism: "count",
  },
  "/admin/settings/workflows": {
    runRetentionMs: "ms",
    runBytes: "bytes",
    dlqRetentionMs: "ms",
    maxInlineLog: "bytes",
    storedNotificationBytes: "bytes",
    maxStoredNotifications: "count",
    maxInvokeDepth: "count",
  },
  "/admin/history": {
    everySeconds: "seconds",
    commands: "perSecond",
    requests: "perSecond",
    delivered: "perSecond",
    failed: "perSecond",
    p50Ms: "ms",
    p99Ms: "ms",
    messages: "count",
    deadLetters: "count",
    runs: "count",
    overdueSeconds: "seconds",
    memoryBytes: "bytes",
    residentBytes: "bytes",
    diskFreeBytes: "bytes",
  },
  "/admin/cluster": { appliedIndex: "count", lastContactMs: "ms", term: "count" },
  "/admin/clients": { ageSeconds: "seconds", idleSeconds: "seconds" },
  "/admin/databases": { keys: "count", bytes: "bytes", users: "count" },
  "/v2/events": {
    time: "unixMs",
    nextDeliveryTime: "unixMs",
    timeout: "ms",
    period: "seconds",
    maxRetries: "count",
    parallelism: "count",
    rate: "count",
    burst: "count",
    priority: "count",
    weight: "count",
    cost: "count",
  },
  "/v2/dlq": { createdAt: "unixMs", oldest: "unixMs", newest: "unixMs" },
  "/v2/queues": {
    lag: "count",
    parallelism: "count",
    createdAt: "unixMs",
    updatedAt: "unixMs",
    tenantCount: "count",
  },
  "/v2/flowControl": {
    waitListSize: "count",
    parallelismMax: "count",
    parallelismCount: "count",
    rateMax: "count",
    rateCount: "count",
    ratePeriod: "seconds",
    ratePeriodStart: "unixSeconds",
    burst: "count",
    tokens: "count",
    tenantCount: "count",
  },
  "/v2/schedules": { lastScheduleTime: "unixMs", nextScheduleTime: "unixMs" },
  "/v2/workflows/runs/{workflowRunId}/state": { updatedAt: "unixMs" },
  "/v2/workflows/logs": {
    workflowRunCreatedAt: "unixMs",
    workflowRunCompletedAt: "unixMs",
    createdAt: "unixMs",
    nextDeliveryTime: "unixMs",
    sleepFor: "ms",
    sleepUntil: "unixMs",
    waitTimeoutDeadline: "unixMs",
    time: "unixMs",
  },
  "/v2/workflows/runs/steps": {
    createdAt: "unixMs",
    plannedAt: "unixMs",
    dueAt: "unixMs",
    nextAt: "unixMs",
    wakesAt: "unixMs",
    since: "unixMs",
    deadline: "unixMs",
    calledAt: "unixMs",
    answeredAt: "unixMs",
  },
  SLOWLOG: { time: "unixSeconds", took: "us" },
  PTTL: { ttl: "ms" },
  XPENDING: { idle: "ms" },
} as const satisfies Record<string, Record<string, Unit>>;
export type Answer = keyof typeof units;

/** figure is a figure of an answer in its unit. Pages can name only figures that `units` has. */
export const figure = <A extends Answer>(
  of: A,
  name: keyof (typeof units)[A] & string,
  v: number | undefined,
): string => (v === undefined ? "–" : unit[units[of][name] as Unit](v));

/** anyFigure is a figure whose name is known only when it comes. If its unit isn't known, it is shown as it is.
 * None is the word for 0. */
export function anyFigure(of: Answer, name: string, v: number, none?: string): string {
  if (v === 0 && none !== undefined) return none;
  const known = (units[of] as Record<string, Unit>)[name];
  return known ? unit[known](v) : String(v);
}

/** inMs is a point in time of an answer in unix milliseconds, whatever unit it comes in. */
export function inMs<A extends Answer>(of: A, name: keyof (typeof units)[A] & string, v: number | undefined): number {
  return (v ?? 0) * (units[of][name] === "unixSeconds" ? 1000 : 1);
}
