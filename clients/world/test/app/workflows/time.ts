// Sleeps, retries, cancellation and failures.
import { FatalError, getStepMetadata, RetryableError, sleep } from "workflow";
import { tell } from "./book.js";

async function now(): Promise<number> {
  "use step";
  return Date.now();
}

export async function sleeping(ms: number): Promise<number> {
  "use workflow";
  const before = await now();
  await sleep(ms);
  return (await now()) - before;
}

async function say(what: string): Promise<void> {
  "use step";
  await tell(what);
}

// A sleep beside steps: which of both ends first is decided by the test.
export async function race(run: string, ms: number): Promise<string> {
  "use workflow";
  return Promise.race([say(`${run} held`).then(() => "step"), sleep(ms).then(() => "sleep")]);
}

// Three sleeps at once take as long as the longest.
export async function sleeps(ms: number): Promise<number> {
  "use workflow";
  const before = await now();
  await Promise.all([sleep(ms), sleep(ms), sleep(ms)]);
  return (await now()) - before;
}

// A step that the test holds while it cancels the run.
export async function cancelled(run: string): Promise<string> {
  "use workflow";
  await say(`${run} held`);
  await say(`${run} after`);
  return "not cancelled";
}

async function later(at: number): Promise<number> {
  "use step";
  if (getStepMetadata().attempt === 1) throw new RetryableError("at that time", { retryAfter: new Date(at) });
  return Date.now();
}

// The second attempt of a step is not made before a moment in the future.
export async function retryAt(at: number): Promise<number> {
  "use workflow";
  return later(at);
}

async function always(run: string): Promise<void> {
  "use step";
  await tell(`${run} attempt`);
  throw new RetryableError("it never works", { retryAfter: 1 });
}
always.maxRetries = 2;

export async function exhausted(run: string): Promise<string> {
  "use workflow";
  try {
    await always(run);
    return "it worked";
  } catch (e) {
    return (e as Error).message;
  }
}

async function broken(): Promise<void> {
  "use step";
  throw new FatalError("this is the end");
}

export async function failing(): Promise<void> {
  "use workflow";
  await broken();
}
