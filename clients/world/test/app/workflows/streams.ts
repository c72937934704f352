// Streams that steps write and the outside reads.
import { getWritable } from "workflow";
import { tell } from "./book.js";

async function chunks(run: string, from: number, to: number, namespace?: string): Promise<void> {
  "use step";
  const writer = getWritable<{ n: number }>({ namespace }).getWriter();
  for (let n = from; n < to; n++) await writer.write({ n });
  writer.releaseLock();
  await tell(`${run} wrote ${to}`);
}

async function close(namespace?: string): Promise<void> {
  "use step";
  await getWritable({ namespace }).close();
}

// Two steps write one stream; the test reads the first half before the second is written.
export async function halves(run: string, n: number): Promise<void> {
  "use workflow";
  await chunks(run, 0, n / 2);
  await chunks(run, n / 2, n);
  await close();
}

export async function namespaces(run: string): Promise<void> {
  "use workflow";
  await Promise.all([chunks(run, 0, 3, "a"), chunks(run, 10, 13, "b")]);
  await Promise.all([close("a"), close("b")]);
}

async function bytes(n: number): Promise<void> {
  "use step";
  const writer = getWritable<Uint8Array>().getWriter();
  for (let i = 0; i < n; i++) await writer.write(Uint8Array.from({ length: 256 }, (_, b) => b));
  await writer.close();
}

export async function everyByte(n: number): Promise<void> {
  "use workflow";
  await bytes(n);
}
