// Development servers of Trireme for tests, with a clock that the test owns. docs/testing.md describes the API behind it.
import { spawn, type ChildProcess } from "node:child_process";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

export interface StartOptions {
  /** The binary. Default: TRIREME_BIN, else trireme on the path. */
  binary?: string;
  /** More flags of "trireme dev". */
  flags?: string[];
  /** How long the server may take to be ready, in milliseconds of real time. Default: a minute. */
  startTimeout?: number;
}

/** A request that the server has sent. */
export interface Delivery {
  number: number;
  /** Unix milliseconds of the server's time. */
  at: number;
  messageId: string;
  scheduleId?: string;
  workflowRunId?: string;
  method: string;
  url: string;
  header: Record<string, string[]>;
  body: string;
  status?: number;
  responseBody?: string;
  error?: string;
}

export interface DeliveryFilters {
  messageId?: string;
  scheduleId?: string;
  workflowRunId?: string;
  /** The beginning of the URL. */
  url?: string;
  method?: string;
  status?: number;
  /** Only deliveries after the one of this number. */
  since?: number;
}

/** One response of a sink. */
export interface Reply {
  /** Default: 200. */
  status?: number;
  header?: Record<string, string>;
  body?: string;
  /** Milliseconds of real time before the response. */
  delayMs?: number;
  /** Closes the connection without a response. */
  hangUp?: boolean;
}

/** A request that a sink has received. */
export interface Received {
  /** Unix milliseconds of the server's time. */
  at: number;
  method: string;
  path: string;
  header: Record<string, string[]>;
  body: string;
}

const lastVariable = "TRIREME_ADMIN_TOKEN";

/** A running server. Start one for each test file, or for each test: they don't disturb one another. */
export class Trireme {
  /** The variables that clients read: UPSTASH_REDIS_REST_URL, QSTASH_TOKEN and so on. */
  readonly env: Record<string, string>;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, env: Record<string, string>) {
    this.#process = process;
    this.env = env;
  }

  /** Starts a server with a frozen clock. */
  static async start(options: StartOptions = {}): Promise<Trireme> {
    const binary = options.binary ?? process.env.TRIREME_BIN ?? "trireme";
    const args = ["dev", "--clock", "frozen", "--http", "127.0.0.1:0", "--resp", "off", ...(options.flags ?? [])];
    const child = spawn(binary, args, { stdio: ["ignore", "pipe", "pipe"] });
    let log = "";
    child.stderr!.on("data", (text) => (log = (log + text).slice(-64_000)));
    const kill = () => child.kill("SIGKILL");
    process.once("exit", kill);
    child.once("exit", () => process.off("exit", kill));
    return new Promise((resolve, reject) => {
      const env: Record<string, string> = {};
      const fail = (why: string) => {
        child.kill("SIGKILL");
        reject(new Error(`${binary} ${args.join(" ")}: ${why}\n${log}`));
      };
      const late = setTimeout(() => fail("not ready in time"), options.startTimeout ?? 60_000);
      child.once("error", (error) => fail(error.message));
      child.once("exit", () => fail("ended before it was ready"));
      createInterface({ input: child.stdout! }).on("line", (line) => {
        const at = line.indexOf("=");
        if (at > 0 && /^[A-Z_]+$/.test(line.slice(0, at))) env[line.slice(0, at)] = line.slice(at + 1);
        if (!line.startsWith(lastVariable + "=")) return;
        clearTimeout(late);
        child.removeAllListeners("exit").once("exit", () => process.off("exit", kill));
        resolve(new Trireme(child, env));
      });
    });
  }

  /** The base URL of the keyspace, of /v2 and of /test. */
  get url(): string {
    return this.#variable("UPSTASH_REDIS_REST_URL");
  }

  /** Options for new Redis() of @upstash/redis. */
  get redis(): { url: string; token: string } {
    return { url: this.url, token: this.#variable("UPSTASH_REDIS_REST_TOKEN") };
  }

  /** Options for new Client() of @upstash/qstash and @upstash/workflow. */
  get qstash(): { baseUrl: string; token: string } {
    return { baseUrl: this.url, token: this.#variable("QSTASH_TOKEN") };
  }

  /** Options for new Receiver() of @upstash/qstash. */
  get signingKeys(): { currentSigningKey: string; nextSigningKey: string } {
    return { currentSigningKey: this.#variable("QSTASH_CURRENT_SIGNING_KEY"), nextSigningKey: this.#variable("QSTASH_NEXT_SIGNING_KEY") };
  }

  #variable(name: string): string {
    const value = this.env[name];
    if (value === undefined) throw new Error(`the server has not printed ${name}`);
    return value;
  }

  /** The server's time. */
  async now(): Promise<Date> {
    return new Date((await this.#call<{ now: number }>("GET", "/test/clock")).now);
  }

  /** Moves time forward, by milliseconds or a duration such as "90m" or "7d", runs everything that becomes due, in order, and returns when it has settled. */
  async advance(by: number | string): Promise<void> {
    await this.#call("POST", "/test/clock", { advance: typeof by === "number" ? `${by}ms` : by });
  }

  /** advance to a moment. */
  async advanceTo(at: Date | number): Promise<void> {
    await this.#call("POST", "/test/clock", { to: Number(at) });
  }

  /** Has time move to the next due time by itself whenever nothing is in progress. */
  async auto(): Promise<void> {
    await this.#call("POST", "/test/clock", { mode: "auto" });
  }

  /** Ends auto. */
  async freeze(): Promise<void> {
    await this.#call("POST", "/test/clock", { mode: "frozen" });
  }

  /** Waits until no delivery, callback or step is in progress or due. */
  async waitIdle(): Promise<void> {
    await this.#call("POST", "/test/idle");
  }

  /** The requests that the server has sent, the oldest first. */
  async deliveries(filters: DeliveryFilters = {}): Promise<Delivery[]> {
    const query = new URLSearchParams(Object.entries(filters).map(([name, value]): [string, string] => [name, String(value)]));
    return (await this.#call<{ deliveries: Delivery[] }>("GET", `/test/deliveries?${query}`)).deliveries;
  }

  /** A destination on the server itself. */
  sink(name: string): Sink {
    const path = `/test/sink/${encodeURIComponent(name)}`;
    return new Sink(this.url + path, (method, body) => this.#call(method, path, body));
  }

  /** Deletes keys, messages, queues, schedules, groups, runs, events, deliveries and sinks. Tokens and time stay. */
  async reset(): Promise<void> {
    await this.#call("POST", "/test/reset");
  }

  /** Stops the server and waits for its end. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill("SIGTERM");
    const late = setTimeout(() => this.#process.kill("SIGKILL"), 15_000);
    await ended;
    clearTimeout(late);
  }

  async #call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await fetch(this.url + path, {
      method, body: body === undefined ? undefined : JSON.stringify(body), headers: { Authorization: `Bearer ${this.#variable(lastVariable)}` },
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }
}

/** A destination on the server itself. Without a script it responds 200. */
export class Sink {
  constructor(readonly url: string, private readonly call: <T>(method: string, body?: unknown) => Promise<T>) {}

  /** Has the sink respond so, one reply after the other; the last one is repeated. */
  async script(...replies: Reply[]): Promise<void> {
    await this.call("PUT", { replies });
  }

  /** The requests that the sink has received, the oldest first. */
  async received(): Promise<Received[]> {
    return (await this.call<{ requests: Received[] }>("GET")).requests;
  }
}

/** An application that a test serves on loopback. */
export interface App {
  url: string;
  close(): Promise<void>;
}

/** Serves a handler of requests, such as one of @upstash/workflow, on a free port of loopback. */
export async function serve(handler: (request: Request) => Promise<Response>): Promise<App> {
  const server = createServer(async (incoming, outgoing) => {
    try {
      const parts: Buffer[] = [];
      for await (const part of incoming) parts.push(part as Buffer);
      const { method = "GET" } = incoming;
      const request = new Request(url + incoming.url, {
        method, headers: incoming.headers as Record<string, string>, body: method === "GET" || method === "HEAD" ? undefined : Buffer.concat(parts),
      });
      const answer = await handler(request);
      outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
      outgoing.end(Buffer.from(await answer.arrayBuffer()));
    } catch (error) {
      outgoing.writeHead(500);
      outgoing.end(String(error));
    }
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const url = `http://127.0.0.1:${address.port}`;
  return {
    url,
    close: () => new Promise<void>((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    }),
  };
}
