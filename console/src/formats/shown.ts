// What a value looks like in a format: lines of text, and what is wrong where it isn't of that format.

/** Shown is a value in a format. Problem says why it is none of that format, or that not all of it is. */
export type Shown = { text: string; problem?: string };

/** most is the length of a text that is shown, in characters. */
export const most = 1 << 20;

/** Out gathers text up to a length, and says whether there was more. */
export class Out {
  private parts: string[] = [];
  private length = 0;
  full = false;
  put(text: string) {
    if (this.full) return;
    this.length += text.length;
    this.full = this.length > most;
    if (!this.full) this.parts.push(text);
  }
  line(depth: number, text: string) {
    this.put(`${"  ".repeat(depth)}${text}\n`);
  }
  text() {
    return this.parts.join("") + (this.full ? "…" : "");
  }
}

/** Broken is why a value can't be read, and where. */
export class Broken extends Error {
  constructor(what: string, at: number) {
    super(`${what} at byte ${at}`);
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** textOf is the text of bytes; null if they are none. */
export function textOf(b: Uint8Array): string | null {
  try {
    return decoder.decode(b);
  } catch {
    return null;
  }
}

/** hexOf are bytes in hexadecimal: of many, the first. */
export const hexOf = (b: Uint8Array, first = 64) =>
  Array.from(b.subarray(0, first), (x) => x.toString(16).padStart(2, "0")).join("") + (b.length > first ? "…" : "");

/** attempt reads, and says what was wrong with what could not be read. */
export function attempt(read: () => string): Shown {
  try {
    return { text: read() };
  } catch (e) {
    return { text: "", problem: e instanceof RangeError ? "it ends too early" : (e as Error).message };
  }
}
