"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.post = void 0;
const byFetch = async (url, headers, body, ms) => {
    const response = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(ms) });
    return { status: response.status, text: await response.text(), retryAfter: response.headers.get("retry-after") };
};
const byRequest = (request, agent) => (url, headers, body, ms) => new Promise((resolve, reject) => {
    const bytes = Buffer.from(body);
    const sent = request(url, { method: "POST", agent, headers: { ...headers, "content-length": bytes.length }, timeout: ms }, (response) => {
        const parts = [];
        response.on("data", (part) => parts.push(part));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString(), retryAfter: response.headers["retry-after"] ?? null }));
        response.on("error", reject);
    });
    sent.on("error", reject);
    sent.on("timeout", () => sent.destroy(new Error(`no answer in ${ms} ms`)));
    sent.end(bytes);
});
// The modules are asked for by name, so that bundlers for other places than Node.js find no import.
const builtin = typeof process === "undefined" ? undefined : process.getBuiltinModule?.bind(process);
const http = builtin?.("node:http");
const https = builtin?.("node:https");
const plain = http && byRequest(http.request, new http.Agent({ keepAlive: true }));
const secure = https && byRequest(https.request, new https.Agent({ keepAlive: true }));
/** Posts a text and reads the answer. It fails if the connection does, or if nothing comes for some milliseconds. */
const post = (url, headers, body, ms) => ((url.startsWith("https:") ? secure : plain) ?? byFetch)(url, headers, body, ms);
exports.post = post;
