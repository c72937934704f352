// Entries of a stream as they come, by server-sent events. If the node goes away another one is asked for what follows the last entry.
import type { Client } from "./client.js";
import { throttled, WorkflowWorldError } from "./errors.js";

export interface Entry {
  index: number;
  end: boolean;
  data: string;
}

/** How many connections in turn may bring nothing before the reader fails, and the longest pause between them in milliseconds. */
const FAILURES = 20;
const PAUSE = 1000;

export async function* follow(client: Client, key: string, index: number, signal: AbortSignal): AsyncGenerator<Entry, undefined> {
  let next = index;
  for (let failures = 0; ; ) {
    try {
      for await (const entry of connection(client, key, next, signal)) {
        failures = 0;
        next = entry.index + 1;
        yield entry;
      }
    } catch (error) {
      if (signal.aborted || (error instanceof WorkflowWorldError && (error.status ?? 500) < 500) || failures >= FAILURES) throw error;
      client.elsewhere();
    }
    failures++;
    await new Promise((done) => setTimeout(done, Math.min(PAUSE, 10 * 2 ** failures)));
  }
}

async function* connection(client: Client, key: string, from: number, signal: AbortSignal): AsyncGenerator<Entry, undefined> {
  const { url, headers } = client.request();
  const { authorization } = headers as { authorization: string };
  // The first entry has the id 1-0, and what follows an id is asked for.
  const response = await fetch(`${url}/follow/${encodeURIComponent(key)}/${from === 0 ? "0" : `${from}-0`}`, {
    headers: { authorization, accept: "text/event-stream" },
    signal,
  });
  if (!response.ok || !response.body) {
    const text = `${url}: status ${response.status}: ${(await response.text()).slice(0, 500)}`;
    if (response.status === 429) throw throttled(text, 1);
    throw new WorkflowWorldError(text, { status: response.status, url });
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (!line.startsWith("data:")) continue;
        const entry = entryOf(line.slice(5));
        if (entry) yield entry;
      }
    }
  } finally {
    await reader.cancel().catch(() => {}); // it may have failed
  }
}

const entryOf = (data: string): Entry | undefined => {
  const [id, fields] = JSON.parse(data) as [string, string[]];
  if (typeof id !== "string" || !Array.isArray(fields)) return undefined;
  return { index: Number.parseInt(id, 10) - 1, end: fields[0] === "e", data: fields[1] ?? "" };
};
