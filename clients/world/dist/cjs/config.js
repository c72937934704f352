"use strict";
// The settings of a world, from the environment unless they are given.
Object.defineProperty(exports, "__esModule", { value: true });
exports.isLoopback = exports.deploymentId = exports.settings = exports.milliseconds = void 0;
const env = (name) => process.env[name] || undefined;
const need = (value, names) => {
    if (!value)
        throw new Error(`@trireme/world: set ${names}`);
    return value;
};
const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** Milliseconds of a duration such as `90s` or `7d`. */
const milliseconds = (text) => {
    const [, count, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? [];
    if (!count || !unit)
        throw new Error(`@trireme/world: ${JSON.stringify(text)} is no duration: a number and ms, s, m, h or d`);
    return Number(count) * (units[unit] ?? 0);
};
exports.milliseconds = milliseconds;
const settings = (given) => {
    const url = given.url ?? env("WORKFLOW_TRIREME_URL") ?? env("UPSTASH_REDIS_REST_URL");
    const urls = (Array.isArray(url) ? url : need(url, "WORKFLOW_TRIREME_URL").split(",")).map((u) => u.trim().replace(/\/+$/, ""));
    const retention = env("WORKFLOW_TRIREME_RETENTION");
    return {
        urls,
        token: need(given.token ?? env("WORKFLOW_TRIREME_TOKEN") ?? env("UPSTASH_REDIS_REST_TOKEN"), "WORKFLOW_TRIREME_TOKEN"),
        signingKeys: given.signingKeys ?? signingKeys(),
        prefix: given.prefix ?? env("WORKFLOW_TRIREME_PREFIX") ?? "wkf:",
        retentionMs: given.retentionMs ?? (retention ? (0, exports.milliseconds)(retention) : 0),
        timeout: given.timeout ?? env("WORKFLOW_TRIREME_TIMEOUT") ?? "",
        steps: given.steps ?? env("WORKFLOW_TRIREME_STEPS") ?? "",
        deploymentId: (0, exports.deploymentId)(given),
        baseUrl: () => baseUrl(given, urls),
    };
};
exports.settings = settings;
const deploymentId = (given) => given.deploymentId ?? env("WORKFLOW_TRIREME_DEPLOYMENT") ?? "trireme";
exports.deploymentId = deploymentId;
const signingKeys = () => {
    const current = env("WORKFLOW_TRIREME_SIGNING_KEY") ?? env("QSTASH_CURRENT_SIGNING_KEY");
    const next = env("WORKFLOW_TRIREME_NEXT_SIGNING_KEY") ?? env("QSTASH_NEXT_SIGNING_KEY");
    return [current, next].filter((key) => key !== undefined);
};
const baseUrl = (given, urls) => {
    const set = given.baseUrl ?? env("WORKFLOW_TRIREME_BASE_URL") ?? env("WORKFLOW_LOCAL_BASE_URL");
    if (set)
        return set.replace(/\/+$/, "");
    const port = env("PORT");
    if (port && urls.every(exports.isLoopback))
        return `http://localhost:${port}`;
    throw new Error(`@trireme/world: set WORKFLOW_TRIREME_BASE_URL, the URL at which nodes reach this application${port ? "" : " (or PORT, if both are on this machine)"}`);
};
/** Whether a URL is of this machine. */
const isLoopback = (url) => /^https?:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|\/|$)/.test(url);
exports.isLoopback = isLoopback;
