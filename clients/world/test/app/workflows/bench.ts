// What the benchmark runs.
import { getWritable } from "workflow";

async function noop(n: number): Promise<number> {
  "use step";
  return n;
}

export async function sequence(steps: number): Promise<number> {
  "use workflow";
  let sum = 0;
  for (let n = 0; n < steps; n++) sum += await noop(n);
  return sum;
}

export async function fan(steps: number): Promise<number> {
  "use workflow";
  const all = await Promise.all(Array.from({ length: steps }, (_, n) => noop(n)));
  return all.length;
}

async function produce(count: number): Promise<void> {
  "use step";
  const writer = getWritable<{ n: number; text: string }>().getWriter();
  for (let n = 0; n < count; n++) await writer.write({ n, text: "a piece of an answer" });
  await writer.close();
}

export async function producer(count: number): Promise<void> {
  "use workflow";
  await produce(count);
}
