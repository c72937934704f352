// Hooks: many payloads, conflicts, disposal and webhooks.
import { createHook, createWebhook, type RequestWithResponse } from "workflow";
import { tell } from "./book.js";

async function say(what: string, data?: unknown): Promise<void> {
  "use step";
  await tell(what, data);
}

export async function collect(run: string, token: string, n: number): Promise<number[]> {
  "use workflow";
  const hook = createHook<number>({ token });
  await say(`${run} ready`);
  const got: number[] = [];
  for await (const payload of hook) if (got.push(payload) === n) break;
  return got;
}

export async function holder(token: string): Promise<unknown> {
  "use workflow";
  const hook = createHook<string>({ token });
  const conflict = await hook.getConflict();
  if (conflict) return { conflict: conflict.runId };
  await say(`${token} held`);
  return { payload: await hook };
}

// The payload of a token that another run holds is refused to the workflow.
export async function intruder(token: string): Promise<string> {
  "use workflow";
  try {
    await createHook<string>({ token });
    return "it got a payload";
  } catch (e) {
    return (e as Error).name;
  }
}

export async function disposer(run: string, token: string): Promise<string> {
  "use workflow";
  const hook = createHook<string>({ token });
  await say(`${run} first`);
  const first = await hook;
  hook.dispose();
  await say(`${run} disposed`);
  const again = createHook<string>({ token });
  await say(`${run} second`);
  return `${first} ${await again}`;
}

async function respond(request: RequestWithResponse): Promise<string> {
  "use step";
  const text = await request.text();
  await request.respondWith(new Response(`you said ${text}`, { status: 201, headers: { "x-answer": "yes" } }));
  return text;
}

export async function manualWebhook(run: string): Promise<string> {
  "use workflow";
  const hook = createWebhook({ respondWith: "manual" });
  await say(`${run} webhook`, hook.token);
  return respond(await hook);
}

export async function webhook(run: string): Promise<{ method: string; text: string }> {
  "use workflow";
  const hook = createWebhook();
  await say(`${run} webhook`, hook.token);
  const request = await hook;
  return { method: request.method, text: await request.text() };
}
