// What goes in and comes out: sizes, bytes and types.
import { sleep } from "workflow";

async function echo<T>(value: T): Promise<T> {
  "use step";
  return value;
}

// The value passes a workflow's input, a step's input, its output and the workflow's output.
export async function values(value: unknown): Promise<unknown> {
  "use workflow";
  return echo(value);
}

async function letters(n: number): Promise<string> {
  "use step";
  return "x".repeat(n);
}

export async function large(bytes: Uint8Array): Promise<{ bytes: Uint8Array; text: string }> {
  "use workflow";
  const back = await echo(bytes);
  return { bytes: back, text: await letters(bytes.length) };
}

async function count(n: number): Promise<number> {
  "use step";
  return n + 1;
}

export async function many(steps: number): Promise<number> {
  "use workflow";
  let n = 0;
  while (n < steps) n = await count(n);
  return n;
}

export async function parallel(steps: number): Promise<number[]> {
  "use workflow";
  return Promise.all(Array.from({ length: steps }, (_, i) => count(i)));
}

// Steps and sleeps in parallel branches, each a sequence of its own.
export async function branches(n: number): Promise<number[]> {
  "use workflow";
  const branch = async (i: number) => {
    const one = await count(i);
    if (i % 2 === 0) await sleep(10);
    return count(one);
  };
  return Promise.all(Array.from({ length: n }, (_, i) => branch(i)));
}
