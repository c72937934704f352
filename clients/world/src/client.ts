// The HTTP client: scripts of the database, several in one request if they are asked for at once, and sent again until their outcome is known.
import type { Settings } from "./config.js";
import { contract, throttled, WorkflowWorldError } from "./errors.js";
import { post } from "./transport.js";

export type Reply = string | number | null | Reply[];

/** A script, and whether it only reads: such a one does not go through the log. */
export interface Script {
  text: string;
  reads: boolean;
  sha?: Promise<string>;
}

export const script = (text: string, reads = false): Script => ({ text, reads });

interface Call {
  row: (string | number)[];
  bytes: number;
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

/** What one request has at most: rows, of reads fewer since a reply may have 4 MB, and characters. */
const ROWS = { reads: 16, writes: 200 };
const BYTES = 1 << 19;

/** How long a request is repeated, how long one may take, and the pauses between, in milliseconds. */
const PATIENCE = 20_000;
const LIMIT = 30_000;
const PAUSES = [10, 40, 160, 500];

const soon: (f: () => void) => void = typeof setImmediate === "function" ? setImmediate : queueMicrotask;

export class Client {
  readonly settings: () => Settings;
  #at = 0;
  #waiting: Record<"reads" | "writes", Call[]> = { reads: [], writes: [] };

  constructor(settings: () => Settings) {
    this.settings = settings;
  }

  /** Runs a script. One that writes must know by a nonce among its arguments that it has been applied: it may be sent more than once. */
  async run(s: Script, keys: string[], args: (string | number)[]): Promise<Reply> {
    s.sha ??= sha1(s.text);
    const row = [s.reads ? "EVALSHA_RO" : "EVALSHA", await s.sha, keys.length, ...keys, ...args];
    const reply = await this.#call(row, s.reads);
    if (!(reply instanceof Unknown)) return reply;
    await this.command(["SCRIPT", "LOAD", s.text]);
    const again = await this.#call(row, s.reads);
    if (again instanceof Unknown) throw new WorkflowWorldError("a script was forgotten at once", { status: 503 });
    return again;
  }

  /** Runs a command that may be applied twice. */
  async command(row: (string | number)[]): Promise<Reply> {
    return this.#call(row, false) as Promise<Reply>;
  }

  /** Headers of a request, and the URL of a node: another one after a failure. */
  request(): { url: string; headers: Record<string, string> } {
    const { urls, token } = this.settings();
    return { url: urls[this.#at % urls.length] as string, headers: { authorization: `Bearer ${token}`, "content-type": "application/json" } };
  }

  /** Turns to the next node. */
  elsewhere(): void {
    this.#at++;
  }

  #call(row: (string | number)[], reads: boolean): Promise<Reply | Unknown> {
    return new Promise((resolve, reject) => {
      const list = this.#waiting[reads ? "reads" : "writes"];
      let bytes = 0;
      for (const argument of row) bytes += String(argument).length;
      list.push({ row, bytes, resolve: resolve as Call["resolve"], reject });
      if (list.length === 1) soon(() => this.#flush(reads ? "reads" : "writes"));
    });
  }

  #flush(kind: "reads" | "writes"): void {
    const list = this.#waiting[kind];
    this.#waiting[kind] = [];
    for (let from = 0; from < list.length; ) {
      let to = from;
      for (let bytes = 0; to < list.length && to - from < ROWS[kind] && (to === from || bytes + (list[to]?.bytes ?? 0) <= BYTES); to++)
        bytes += list[to]?.bytes ?? 0;
      void this.#send(list.slice(from, to));
      from = to;
    }
  }

  async #send(calls: Call[]): Promise<void> {
    const one = calls.length === 1;
    const body = JSON.stringify(one ? calls[0]?.row : calls.map((c) => c.row));
    let answer: unknown;
    try {
      answer = await this.#post(one ? "/" : "/pipeline", body);
    } catch (error) {
      for (const call of calls) call.reject(error as Error);
      return;
    }
    const answers = one ? [answer] : Array.isArray(answer) ? answer : calls.map(() => answer);
    calls.forEach((call, i) => {
      const { result, error } = (answers[i] ?? { error: "no answer" }) as { result?: Reply; error?: string };
      if (error === undefined) call.resolve(result as Reply);
      else if (error.startsWith("NOSCRIPT")) call.resolve(new Unknown() as unknown as Reply);
      else call.reject(refused(error));
    });
  }

  async #post(path: string, body: string): Promise<unknown> {
    const end = Date.now() + PATIENCE;
    for (let tries = 0; ; tries++) {
      const { url, headers } = this.request();
      const answer = await post(url + path, headers, body, LIMIT).catch((error: unknown) => ({ error }));
      let failure: WorkflowWorldError;
      if ("error" in answer) {
        failure = new WorkflowWorldError(`${url}: ${reason(answer.error)}`, { code: "TRANSPORT", url, cause: answer.error });
      } else {
        const { status, text, retryAfter } = answer;
        if ((status >= 200 && status < 300) || status === 400) return parsed(text, url);
        failure = answered(status, text, retryAfter, url);
        if (status < 500) throw failure;
      }
      if (Date.now() > end) throw failure;
      this.elsewhere();
      await new Promise((done) => setTimeout(done, (PAUSES[Math.min(tries, PAUSES.length - 1)] ?? 0) * (0.5 + Math.random())));
    }
  }
}

/** A script that the database does not know. */
class Unknown {}

// parsed reads an answer. One that is no JSON comes from something between this process and the node.
const parsed = (text: string, url: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new WorkflowWorldError(`${url}: the answer is no JSON: ${text.slice(0, 200)}`, { status: 502, url, cause });
  }
};

const reason = (error: unknown): string => {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
};

const answered = (status: number, text: string, retryAfter: string | null, url: string): WorkflowWorldError => {
  const message = `${url}: status ${status}: ${text.slice(0, 500)}`;
  if (status === 429) return throttled(message, Math.max(1, Number(retryAfter) || 1));
  if (status === 413) return contract(message);
  return new WorkflowWorldError(message, { status, url });
};

// What is too large for the database stays so, and fails the run. Everything else may be different later: memory, quotas.
const TOO_LARGE = /max [a-z ]*(size|work)( of a request)? exceeded|used up its budget|quota max\w+ exceeded/;
const QUOTA = /max (daily request limit|request rate) exceeded/;

/** Seconds after which something is tried again that a quota has refused. */
const QUOTA_PAUSE = 5;

const refused = (error: string): WorkflowWorldError => {
  if (QUOTA.test(error)) return throttled(error, QUOTA_PAUSE);
  if (TOO_LARGE.test(error)) return contract(error);
  return new WorkflowWorldError(error, { status: 503 });
};

const sha1 = async (text: string): Promise<string> => {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text)));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
};
