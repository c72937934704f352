// The API as the console calls it. Keys, values and replies are byte strings: one
// character for each byte, so that nothing binary is lost on the way.
import { signal } from "@preact/signals";

export type Who = {
  name: string;
  admin: boolean;
  messages: "" | "read" | "all";
  keyspace: boolean;
  database?: string;
  user?: string;
  person?: string;
  session: string;
};

/** who is signed in; null: nobody; undefined: not known yet. */
export const who = signal<Who | null | undefined>(undefined);
/** signedIn is who in a view, which is drawn only while somebody is signed in. */
export function signedIn(): Who {
  if (!who.value) throw new Error("nobody is signed in");
  return who.value;
}
/** ended says why a session is over that this page had. */
export const ended = signal("");
/** database is the one whose keys are shown. */
export const database = signal("default");

export class ApiError extends Error {
  constructor(
    public status: number,
    text: string,
  ) {
    super(text);
  }
  get denied() {
    return this.status === 403 || /^NOPERM/.test(this.message);
  }
}

export const base = new URL(document.baseURI).pathname.replace(/\/$/, "");

/** sentence is a text of the node's as a sentence. */
export const sentence = (text: string) => `${text.charAt(0).toUpperCase() + text.slice(1)}.`;

/** asked is the header without which the node takes nothing from a browser: a link can't send it. */
export const asked = { "X-Console": "1" };

type Ask = {
  method?: string;
  body?: BodyInit | null;
  headers?: Record<string, string>;
  poll?: boolean;
  signal?: AbortSignal;
};

export async function raw(path: string, o: Ask = {}): Promise<Response> {
  const headers: Record<string, string> = { ...asked, ...o.headers };
  if (o.poll) headers["X-Console-Poll"] = "1";
  let r: Response;
  try {
    r = await fetch(`${base}/api${path}`, {
      method: o.method ?? "GET",
      body: o.body,
      headers,
      signal: o.signal,
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
    });
  } catch (e) {
    if ((e as Error).name === "AbortError") throw e;
    throw new ApiError(0, "This node does not answer. The console tries again.");
  }
  if (r.ok) return r;
  const text = await r.text();
  let message = text.slice(0, 500) || r.statusText;
  try {
    message = JSON.parse(text).error ?? message;
  } catch {
    /* not JSON */
  }
  if (r.status === 401 && who.value) {
    ended.value = sentence(
      r.headers.get("X-Console-Ended") ?? "your session has ended: its credential opens nothing any more",
    );
    who.value = null;
  }
  throw new ApiError(r.status, String(message));
}

export async function json<T = unknown>(path: string, o: Ask & { data?: unknown } = {}): Promise<T> {
  const ask: Ask = { ...o };
  if (o.data !== undefined) {
    ask.body = JSON.stringify(o.data);
    ask.headers = { "Content-Type": "application/json", ...o.headers };
    ask.method ??= "POST";
  }
  const text = await (await raw(path, ask)).text();
  return (text ? JSON.parse(text) : null) as T;
}

/** found asks for one thing: null if there is none of that name. */
export const found = <T>(path: string, poll: boolean): Promise<T | null> =>
  json<T>(path, { poll }).catch((e) => {
    if (e instanceof ApiError && e.status === 404) return null;
    throw e;
  });

// Byte strings.
const encoder = new TextEncoder();
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function toBytes(b: string): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(b.length);
  for (let i = 0; i < b.length; i++) out[i] = b.charCodeAt(i);
  return out;
}
export function fromBytes(u: Uint8Array): string {
  let s = "";
  for (let i = 0; i < u.length; i += 8192) s += String.fromCharCode(...u.subarray(i, i + 8192));
  return s;
}
/** enc makes a byte string of text that somebody typed. */
export const enc = (text: string) => fromBytes(encoder.encode(text));
/** utf8 is the text of a byte string; null if it is none. */
export function utf8(b: string): string | null {
  try {
    return strict.decode(toBytes(b));
  } catch {
    return null;
  }
}
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for.
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
/** plain makes text readable: control characters and marks that turn its direction are escaped. */
export const plain = (text: string) =>
  text.replace(hidden, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
/** lines ends lines with \n alone where all of them end with \r\n (INFO, many bodies): \r would be shown escaped. */
export const lines = (text: string) =>
  /\r\n/.test(text) && !/(^|[^\r])\n|\r(?!\n)/.test(text) ? text.replace(/\r\n/g, "\n") : text;
/** show is plain for a byte string; of one that is no text the bytes are escaped. */
export function show(b: string): string {
  const text = utf8(b);
  if (text !== null) return plain(text);
  return b.replace(/[^\x20-\x7e]|\\/g, (c) =>
    c === "\\" ? "\\\\" : `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
}

// RESP2, in which replies keep their types and bytes.
export type Reply =
  | { t: "str"; v: string }
  | { t: "status"; v: string }
  | { t: "int"; v: string }
  | { t: "err"; v: string }
  | { t: "nil" }
  | { t: "list"; v: Reply[] };

export function parseResp(u: Uint8Array): Reply[] {
  let at = 0;
  const line = () => {
    const end = u.indexOf(13, at);
    const s = fromBytes(u.subarray(at, end));
    at = end + 2;
    return s;
  };
  const one = (): Reply => {
    const kind = u[at++];
    const head = line();
    const n = Number(head);
    switch (kind) {
      case 43:
        return { t: "status", v: head };
      case 45:
        return { t: "err", v: head };
      case 58:
        return { t: "int", v: head };
      case 36: {
        if (n < 0) return { t: "nil" };
        const v = fromBytes(u.subarray(at, at + n));
        at += n + 2;
        return { t: "str", v };
      }
      case 42: {
        if (n < 0) return { t: "nil" };
        const v: Reply[] = [];
        for (let i = 0; i < n; i++) v.push(one());
        return { t: "list", v };
      }
    }
    throw new ApiError(0, "this reply can't be read");
  };
  const all: Reply[] = [];
  while (at < u.length) all.push(one());
  return all;
}

function words(argv: string[]): string {
  const escaped = (c: string) =>
    c === '"' || c === "\\" ? `\\${c}` : `\\u00${c.charCodeAt(0).toString(16).padStart(2, "0")}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has them escaped.
  return `[${argv.map((a) => `"${a.replace(/["\\\x00-\x1f]/g, escaped)}"`).join(",")}]`;
}

export const root = () => (database.value === "default" ? "" : `/db/${encodeURIComponent(database.value)}`);

async function send(path: string, body: string, poll?: boolean): Promise<Reply[]> {
  const r = await raw(root() + path, {
    method: "POST",
    body: toBytes(body),
    poll,
    headers: { "Content-Type": "application/json", "Svc-Response-Format": "resp2" },
  }).catch((e) => {
    const commandFailed = e instanceof ApiError && e.message.startsWith("-");
    throw commandFailed ? new ApiError(e.status, e.message.slice(1).trim()) : e;
  });
  return parseResp(new Uint8Array(await r.arrayBuffer()));
}

/** run runs one command of byte strings. Errors are thrown. It goes as a pipeline, whose status is
 * 200 whatever its rows say: browsers report every other status as an error of the page. */
export async function run(...argv: string[]): Promise<Reply> {
  return one(await send("/pipeline", `[${words(argv)}]`));
}
/** poll is run for what a page asks by itself. */
export async function poll(...argv: string[]): Promise<Reply> {
  return one(await send("/pipeline", `[${words(argv)}]`, true));
}
function one(replies: Reply[]): Reply {
  if (replies[0]?.t === "err") throw new ApiError(400, replies[0].v);
  return replies[0];
}
/** pipeline runs several; their errors are among the replies. */
export async function pipeline(rows: string[][], poll?: boolean): Promise<Reply[]> {
  return rows.length ? send("/pipeline", `[${rows.map(words).join(",")}]`, poll) : [];
}

export const str = (r: Reply | undefined): string => (r && r.t !== "nil" && r.t !== "list" ? r.v : "");
export const num = (r: Reply | undefined): number => Number(str(r)) || 0;
export const list = (r: Reply | undefined): Reply[] => (r?.t === "list" ? r.v : []);
export const strs = (r: Reply | undefined): string[] => list(r).map(str);

/** stream reads server-sent events until the signal is aborted or the server ends it. */
export async function stream(path: string, signal: AbortSignal, line: (data: string) => void): Promise<string> {
  const r = await raw(root() + path, { method: "POST", signal, poll: true });
  if (!r.body) throw new ApiError(0, "this reply has no body");
  const reader = r.body.getReader();
  const decoder = new TextDecoder();
  let rest = "",
    data: string[] = [],
    why = "the server has ended the stream";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return why;
    rest += decoder.decode(value, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const l of lines) {
      if (l.startsWith("data:")) data.push(l.slice(5).replace(/^ /, ""));
      else if (l.startsWith(": closed")) why = l.slice(10);
      else if (l === "" && data.length) {
        line(data.join("\n"));
        data = [];
      }
    }
  }
}
