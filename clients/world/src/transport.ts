// How a request goes to a node: by node:http where there is one, at a third of the CPU of fetch, or else by fetch.
import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from "node:http";

export interface Answer {
  status: number;
  text: string;
  retryAfter: string | null;
}

type Request = (url: string, options: RequestOptions, answered: (response: IncomingMessage) => void) => ClientRequest;
type Send = (url: string, headers: Record<string, string>, body: string, ms: number) => Promise<Answer>;

const byFetch: Send = async (url, headers, body, ms) => {
  const response = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(ms) });
  return { status: response.status, text: await response.text(), retryAfter: response.headers.get("retry-after") };
};

const byRequest =
  (request: Request, agent: Agent): Send =>
  (url, headers, body, ms) =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(body);
      const sent = request(url, { method: "POST", agent, headers: { ...headers, "content-length": bytes.length }, timeout: ms }, (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString(), retryAfter: response.headers["retry-after"] ?? null }),
        );
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
export const post: Send = (url, headers, body, ms) => ((url.startsWith("https:") ? secure : plain) ?? byFetch)(url, headers, body, ms);
