// The five checks that every world has to pass.
import { createHook, FatalError, getStepMetadata, getWritable, RetryableError } from "workflow";
import { tell } from "./book.js";

async function add(a: number, b: number): Promise<number> {
  "use step";
  return a + b;
}

export async function addition(a: number, b: number): Promise<number> {
  "use workflow";
  return add(await add(a, b), 0);
}

async function number(run: string, n: number): Promise<number> {
  "use step";
  await tell(`${run} number ${n}`);
  return n;
}

export async function idempotency(run: string): Promise<number[]> {
  "use workflow";
  const numbers: number[] = [];
  for (let n = 0; n < 10; n++) numbers.push(await number(run, n));
  const rest = await Promise.all(Array.from({ length: 10 }, (_, i) => number(run, 10 + i)));
  return [...numbers, ...rest];
}

async function write(text: string): Promise<void> {
  "use step";
  const writer = getWritable<string>().getWriter();
  await writer.write(text);
  writer.releaseLock();
}

async function end(): Promise<void> {
  "use step";
  await getWritable().close();
}

export async function hooks(token: string, metadata: { user: string }): Promise<string[]> {
  "use workflow";
  const payloads: string[] = [];
  const hook = createHook<{ text: string; last?: boolean }>({ token, metadata });
  await write("waiting");
  for await (const payload of hook) {
    payloads.push(payload.text);
    await write(`got ${payload.text}`);
    if (payload.last) break;
  }
  await end();
  return payloads;
}

async function nothing(): Promise<string> {
  "use step";
  return "null byte \0";
}

export async function nullByte(): Promise<string> {
  "use workflow";
  return nothing();
}

async function retried(): Promise<{ attempt: number; waited: number }> {
  "use step";
  const { attempt } = getStepMetadata();
  const first = (await tell("first attempt", { attempt, now: Date.now() })) as number;
  if (attempt === 1) throw new RetryableError("again, please", { retryAfter: 2000 });
  return { attempt, waited: Date.now() - first };
}

async function fatal(): Promise<void> {
  "use step";
  throw new FatalError("never again");
}

export async function errors(): Promise<{ attempt: number; waited: number; caught: string }> {
  "use workflow";
  const again = await retried();
  let caught = "nothing";
  try {
    await fatal();
  } catch (e) {
    caught = FatalError.is(e) ? `fatal: ${e.message}` : String(e);
  }
  return { ...again, caught };
}
